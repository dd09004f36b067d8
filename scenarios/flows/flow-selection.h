// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_FLOWS_FLOW_SELECTION_H
#define WEIR_SCENARIOS_FLOWS_FLOW_SELECTION_H

#include "fabric/units.h"
#include "scenarios/flows/flow-results.h"
#include "scenarios/readers/read-traffic.h"
#include "scenarios/yaml/yaml-node.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/** Selects the flows that move as packets in hybrid fidelity: those that match any criterion. */
struct FlowSelection
{
    std::vector<NumberRange> flows;        //!< by number, as in the CSV
    std::vector<NumberRange> sources;      //!< end points
    std::vector<NumberRange> destinations; //!< end points
    std::optional<Bytes> below;            //!< flows of fewer bytes
    std::vector<std::string> links;        //!< flows over these links, by CouplingSpec::links

    /**
     * Marks the selected flows of @p results, except by links. O(flows x ranges).
     * @throws InputError with the location of a range that matches no flow.
     */
    void Apply(FlowResults& results) const;

    bool IsEmpty() const
    {
        return flows.empty() && sources.empty() && destinations.empty() && !below && links.empty();
    }
};

/**
 * Reads `packets` of the network of `weir flows`.
 * @throws InputError with the location of an unknown key, or of a wrong number, range or size.
 */
FlowSelection ReadFlowSelection(const YamlNode& packets);

} // namespace weir

#endif // WEIR_SCENARIOS_FLOWS_FLOW_SELECTION_H
