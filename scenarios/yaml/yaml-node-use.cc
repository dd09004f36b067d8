// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/yaml/yaml-node-state.h"
#include "scenarios/yaml/yaml-node.h"

#include <algorithm>

namespace weir
{

bool
YamlNode::IsInherited() const
{
    return m_state->isInherited;
}

void
YamlNode::Inherit(State& state)
{
    state.isInherited = true;
    for (auto& entry : state.entries)
    {
        Inherit(*entry.second);
    }
    for (auto& item : state.items)
    {
        Inherit(*item);
    }
}

void
YamlNode::SetInherited()
{
    Inherit(*m_state);
}

void
YamlNode::CheckRead(const State& state, std::initializer_list<const char*> exempt)
{
    const bool isLeaf = state.kind == YamlKind::Scalar || state.kind == YamlKind::Null;
    if (isLeaf && !state.isRead && !state.isInherited)
    {
        const YamlNode node(std::make_shared<State>(state));
        node.Fail(node.Found() + ", which has no effect here, expected it left out");
    }
    for (const auto& [key, value] : state.entries)
    {
        const bool isExempt = std::any_of(
            exempt.begin(), exempt.end(), [&name = key](const char* one) { return name == one; });
        if (!isExempt)
        {
            CheckRead(*value, exempt);
        }
    }
    for (const auto& item : state.items)
    {
        CheckRead(*item, exempt);
    }
}

void
YamlNode::CheckAllRead(std::initializer_list<const char*> exempt) const
{
    CheckRead(*m_state, exempt);
}

} // namespace weir
