// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/flows/flow-selection.h"

#include "scenarios/readers/read-packets.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/yaml/input-error.h"

#include <functional>

namespace weir
{

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
    packets.Read("flows", selection.flows, ReadNumberRanges);
    packets.Read("sources", selection.sources, ReadNumberRanges);
    packets.Read("destinations", selection.destinations, ReadNumberRanges);
    if (const auto below = packets.Find("below"))
    {
        selection.below = below->AsBytes();
        if (*selection.below == Bytes())
        {
            below->Fail("found '" + below->AsString() + "', expected a size above zero");
        }
    }
    packets.Read("links", selection.links, ReadLinkNames);
    return selection;
}

} // namespace weir
