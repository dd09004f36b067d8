// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/yaml-node-state.h"
#include "scenarios/yaml/yaml-node.h"

#include <charconv>
#include <yaml-cpp/yaml.h>

namespace weir
{
namespace
{

std::vector<std::string>
SplitPath(const std::string& dottedPath)
{
    std::vector<std::string> keys;
    std::size_t start = 0;
    while (true)
    {
        const std::size_t dot = dottedPath.find('.', start);
        keys.push_back(dottedPath.substr(start, dot - start));
        if (dot == std::string::npos)
        {
            return keys;
        }
        start = dot + 1;
    }
}

/** Whether the value of @p key may be the name of a base or a map with that base. */
bool
IsReference(const std::string& key)
{
    return key == "system" || key == "model";
}

} // namespace

/** Sets the location of a value to the setting itself and the path at which it was set. */
void
YamlNode::Relocate(State& state, const std::string& file, const std::string& path)
{
    state.file = file;
    state.path = path;
    state.mark = YamlMark{};
    state.keyMark = YamlMark{};
    for (auto& [key, value] : state.entries)
    {
        Relocate(*value, file, path + "." + key);
    }
    for (std::size_t i = 0; i < state.items.size(); ++i)
    {
        Relocate(*state.items[i], file, path + "." + std::to_string(i));
    }
}

void
YamlNode::MakeBase()
{
    auto base = std::make_shared<State>(*m_state); // keeps its location
    m_state->kind = YamlKind::Map;
    m_state->text.clear();
    m_state->entries = {{"base", std::move(base)}};
}

void
YamlNode::Set(const std::string& dottedPath, const std::string& text)
{
    const std::string name = "--set " + dottedPath + "=" + text;
    auto value = std::make_shared<State>();
    if (!text.empty())
    {
        value = ParseArgument(text, name).m_state;
    }
    Relocate(*value, name, m_state->path.empty() ? dottedPath : m_state->path + "." + dottedPath);

    std::shared_ptr<State>* slot = &m_state;
    std::string path = m_state->path;
    std::string above; // key of the slot
    for (const std::string& key : SplitPath(dottedPath))
    {
        if ((*slot)->kind == YamlKind::Scalar && IsReference(above))
        {
            YamlNode(*slot).MakeBase();
        }
        above = key;
        State& parent = **slot;
        path += (path.empty() ? "" : ".") + key;
        if (key.empty())
        {
            throw InputError(name + ": found an empty key, expected key.path=value");
        }
        if (parent.kind == YamlKind::Sequence)
        {
            std::size_t index = 0;
            const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
            if (error != std::errc() || end != key.data() + key.size() ||
                index >= parent.items.size())
            {
                throw InputError(name + ": " + path + ": found the index '" + key +
                                 "', expected a whole number below " +
                                 std::to_string(parent.items.size()));
            }
            slot = &parent.items[index];
            continue;
        }
        if (parent.kind == YamlKind::Scalar)
        {
            throw InputError(name + ": " + path + ": " + YamlNode(*slot).Found() +
                             " above the key '" + key + "', expected a map or a list");
        }
        parent.kind = YamlKind::Map; // a null value becomes a map
        slot = parent.FindEntry(key);
        if (!slot)
        {
            auto added = std::make_shared<State>();
            added->file = name;
            added->path = path;
            parent.entries.emplace_back(key, std::move(added));
            slot = &parent.entries.back().second;
        }
    }
    *slot = std::move(value);
}

void
YamlNode::Overlay(const YamlNode& over)
{
    if (!IsMap())
    {
        Fail(Found() + ", expected a map");
    }
    if (!over.IsMap())
    {
        over.Fail(over.Found() + ", expected a map");
    }
    m_state->file = over.m_state->file;
    m_state->path = over.m_state->path;
    m_state->mark = over.m_state->mark;
    m_state->keyMark = over.m_state->keyMark;
    for (const auto& [key, value] : over.m_state->entries)
    {
        auto* mine = m_state->FindEntry(key);
        if (!mine)
        {
            m_state->entries.emplace_back(key, value->Clone());
        }
        else if ((*mine)->kind == YamlKind::Map && value->kind == YamlKind::Map)
        {
            YamlNode(*mine).Overlay(YamlNode(value));
        }
        else
        {
            *mine = value->Clone();
        }
    }
}

void
YamlNode::Emit(YAML::Emitter& out, const State& state)
{
    switch (state.kind)
    {
    case YamlKind::Null:
        out << YAML::Null;
        return;
    case YamlKind::Scalar:
        out << state.text;
        return;
    case YamlKind::Sequence:
        out << YAML::BeginSeq;
        for (const auto& item : state.items)
        {
            Emit(out, *item);
        }
        out << YAML::EndSeq;
        return;
    case YamlKind::Map:
        out << YAML::BeginMap;
        for (const auto& [key, value] : state.entries)
        {
            out << YAML::Key << key << YAML::Value;
            Emit(out, *value);
        }
        out << YAML::EndMap;
    }
}

std::string
YamlNode::Dump() const
{
    YAML::Emitter out;
    Emit(out, *m_state);
    return std::string(out.c_str()) + "\n";
}

std::string
YamlNode::InLine() const
{
    YAML::Emitter out;
    out.SetSeqFormat(YAML::Flow);
    out.SetMapFormat(YAML::Flow);
    Emit(out, *m_state);
    return out.c_str();
}

} // namespace weir
