// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-source.h"

namespace weir
{

std::string
ReadSource(const YamlNode& node)
{
    const YamlNode source = node.Get("source");
    std::string text = source.AsString();
    if (text.find_first_not_of(' ') == std::string::npos)
    {
        source.Fail("found an empty text, expected where the figures come from");
    }
    return text;
}

} // namespace weir
