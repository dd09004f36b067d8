// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-source.h"

#include "scenarios/readers/yaml-keys.h"

namespace weir
{

std::string
ReadSource(const YamlNode& node)
{
    const YamlNode source = node.Get("source");
    std::string text = source.AsString();
    if (text.find_first_not_of(' ') == std::string::npos)
    {
        source.Fail("found an empty text, expected the source of the values");
    }
    return text;
}

YamlNode
ReadSourced(const YamlNode& entry)
{
    entry.CheckKeys(YamlKeysOf("sourced"));
    ReadSource(entry);
    return entry.Get("value");
}

} // namespace weir
