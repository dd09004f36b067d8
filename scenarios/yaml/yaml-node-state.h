// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_YAML_YAML_NODE_STATE_H
#define WEIR_SCENARIOS_YAML_YAML_NODE_STATE_H

#include "scenarios/yaml/yaml-node.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace weir
{

enum class YamlKind : uint8_t
{
    Null,
    Scalar,
    Sequence,
    Map
};

/** A location in a file, from 1; line 0 if the text is not from a file. */
struct YamlMark
{
    int line{0};
    int column{0};
};

/** A value of a YAML tree; it keeps its own location when it is merged into another tree. */
struct YamlNode::State
{
    YamlKind kind{YamlKind::Null};
    std::string text; //!< of a scalar
    std::string file;
    std::string path; //!< dotted keys from the root of its file; empty at the root
    YamlMark mark;
    uint32_t bases{0};  //!< bases between the last file and the one that wrote it
    bool isRead{false}; //!< its text has been read
    YamlMark keyMark;   //!< location of its key, if any
    std::vector<std::pair<std::string, std::shared_ptr<State>>> entries; //!< of a map, in order
    std::vector<std::shared_ptr<State>> items;                           //!< of a sequence

    /** The value of @p key in a map, or null. */
    std::shared_ptr<State>* FindEntry(const std::string& key)
    {
        for (auto& [name, value] : entries)
        {
            if (name == key)
            {
                return &value;
            }
        }
        return nullptr;
    }

    std::shared_ptr<State> Clone() const
    {
        auto copy = std::make_shared<State>(*this);
        for (auto& entry : copy->entries)
        {
            entry.second = entry.second->Clone();
        }
        for (auto& item : copy->items)
        {
            item = item->Clone();
        }
        return copy;
    }
};

} // namespace weir

#endif // WEIR_SCENARIOS_YAML_YAML_NODE_STATE_H
