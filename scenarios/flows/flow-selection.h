// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_FLOWS_FLOW_SELECTION_H
#define WEIR_SCENARIOS_FLOWS_FLOW_SELECTION_H

#include "fabric/units.h"
#include "scenarios/flows/flow-results.h"
#include "scenarios/readers/number-range.h"
#include "scenarios/yaml/yaml-node.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/** Which flows move as packets where the others are a fluid: those that any of these names. */
struct FlowSelection
{
    std::vector<NumberRange> flows;        //!< by number, as in the CSV
    std::vector<NumberRange> sources;      //!< end points
    std::vector<NumberRange> destinations; //!< end points
    std::optional<Bytes> below;            //!< flows of fewer bytes
    std::vector<std::string> links;        //!< for CouplingSpec::links: flows over these

    /**
     * Marks the flows of @p results that it names, but for links. O(flows x ranges).
     * @throws InputError with the place of a range in which there is no flow.
     */
    void Apply(FlowResults& results) const;

    bool IsEmpty() const
    {
        return flows.empty() && sources.empty() && destinations.empty() && !below && links.empty();
    }
};

/**
 * Reads `packets` of the network of `weir flows`.
 * @throws InputError with the place of what is unknown or no number, range or size.
 */
FlowSelection ReadFlowSelection(const YamlNode& packets);

} // namespace weir

#endif // WEIR_SCENARIOS_FLOWS_FLOW_SELECTION_H
