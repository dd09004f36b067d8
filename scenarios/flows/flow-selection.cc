// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/flows/flow-selection.h"

#include "scenarios/readers/yaml-keys.h"
#include "scenarios/yaml/input-error.h"

#include <charconv>
#include <functional>
#include <limits>

namespace weir
{

namespace
{

constexpr int64_t LARGEST = std::numeric_limits<uint32_t>::max();

std::optional<uint32_t>
WholeNumber(const std::string& text)
{
    uint32_t value = 0;
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && at == end ? std::optional(value) : std::nullopt;
}

/** "7" or "0-15". */
NumberRange
ReadRange(const YamlNode& node)
{
    const std::string text = node.AsString();
    const std::size_t dash = text.find('-');
    const auto first = WholeNumber(text.substr(0, dash));
    const auto last = dash == std::string::npos ? first : WholeNumber(text.substr(dash + 1));
    if (!first || !last || *last < *first)
    {
        node.Fail("found '" + text + "', expected a number from 0 to " + std::to_string(LARGEST) +
                  ", or two that ascend, such as 0-15");
    }
    return {*first, *last, node.Where()};
}

std::vector<NumberRange>
ReadRanges(const YamlNode& list)
{
    std::vector<NumberRange> ranges;
    for (const YamlNode& item : list.Items())
    {
        ranges.push_back(ReadRange(item));
    }
    return ranges;
}

} // namespace

void
FlowSelection::Apply(FlowResults& results) const
{
    const auto mark = [&](const NumberRange& range,
                          const char* what,
                          const std::function<uint32_t(std::size_t)>& numberOf) {
        bool isAny = false;
        for (std::size_t flow = 0; flow < results.Size(); flow++)
        {
            const uint32_t number = numberOf(flow);
            if (number >= range.first && number <= range.last)
            {
                results.MoveAsPackets(flow);
                isAny = true;
            }
        }
        if (!isAny)
        {
            const std::string first = std::to_string(range.first);
            const std::string last = std::to_string(range.last);
            throw InputError(range.where + ": found '" +
                             (range.first == range.last ? first : first + "-" + last) +
                             "', expected " + what + " of the flows, of which there are " +
                             std::to_string(results.Size()));
        }
    };
    for (const NumberRange& range : flows)
    {
        mark(range, "numbers", [](std::size_t flow) { return static_cast<uint32_t>(flow); });
    }
    for (const NumberRange& range : sources)
    {
        mark(range, "sources", [&](std::size_t flow) { return results.Source(flow); });
    }
    for (const NumberRange& range : destinations)
    {
        mark(range, "destinations", [&](std::size_t flow) { return results.Destination(flow); });
    }
    for (std::size_t flow = 0; below && flow < results.Size(); flow++)
    {
        if (results.GetBytes(flow) < *below)
        {
            results.MoveAsPackets(flow);
        }
    }
}

FlowSelection
ReadFlowSelection(const YamlNode& packets)
{
    packets.CheckKeys(YamlKeysOf("network.packets (weir flows)"));
    FlowSelection selection;
    packets.Read("flows", selection.flows, ReadRanges);
    packets.Read("sources", selection.sources, ReadRanges);
    packets.Read("destinations", selection.destinations, ReadRanges);
    if (const auto below = packets.Find("below"))
    {
        selection.below = below->AsBytes();
    }
    packets.Read("links", selection.links, &YamlNode::AsStrings);
    return selection;
}

} // namespace weir
