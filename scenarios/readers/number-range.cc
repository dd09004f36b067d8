// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/number-range.h"

#include <charconv>
#include <limits>
#include <optional>

namespace weir
{

namespace
{

std::optional<uint32_t>
WholeNumber(const std::string& text)
{
    uint32_t value = 0;
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && at == end ? std::optional(value) : std::nullopt;
}

NumberRange
ReadNumberRange(const YamlNode& node)
{
    const std::string text = node.AsString();
    const std::size_t dash = text.find('-');
    const auto first = WholeNumber(text.substr(0, dash));
    const auto last = dash == std::string::npos ? first : WholeNumber(text.substr(dash + 1));
    if (!first || !last || *last < *first)
    {
        node.Fail("found '" + text + "', expected a number from 0 to " +
                  std::to_string(std::numeric_limits<uint32_t>::max()) +
                  ", or two that ascend, such as 0-15");
    }
    return {*first, *last, node.Where()};
}

} // namespace

std::vector<NumberRange>
ReadNumberRanges(const YamlNode& list)
{
    std::vector<NumberRange> ranges;
    for (const YamlNode& item : list.Items())
    {
        ranges.push_back(ReadNumberRange(item));
    }
    return ranges;
}

} // namespace weir
