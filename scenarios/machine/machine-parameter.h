// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_MACHINE_MACHINE_PARAMETER_H
#define WEIR_SCENARIOS_MACHINE_MACHINE_PARAMETER_H

#include "collectives/nccl/node-cost.h"
#include "fabric/topology/cluster-spec.h"

#include <string>
#include <vector>

namespace weir
{

/** A figure of a node that measured runs may determine. */
struct MachineParameter
{
    std::string key;    //!< below `node` of a system: "nic.measured", "costs.llCall.value"
    NodeCostUnit unit;  //!< of its values
    double initial{0};  //!< of the node as it was described
    double least{0};    //!< of its range
    double most{0};     //!< of its range
    double spread{0};   //!< standard deviation of ln(value / initial) before anything is measured
    std::string source; //!< of the initial value

    /** What users call it: "nic.measured", "costs.llCall". */
    std::string Name() const;

    /** Where its source is said, below `node`: "nic.source", "costs.llCall.source". */
    std::string SourceKey() const;
};

/**
 * The figures of @p node that can be fitted: efficiencies and latencies of its NVLinks, PCIe slots
 * and network ports, what a host bridge carries, and the costs of messages, steps and launches.
 *
 * Thresholds in bytes are not among them (times do not depend on them smoothly), nor are costs of
 * zero, which stand for something that the machine does not do.
 */
std::vector<MachineParameter> ParametersOf(const NodeSpec& node);

/** As a YAML value of its unit: "0.946", "5.1us", "36.1GB/s"; to four digits. */
std::string ToYaml(NodeCostUnit unit, double value);

/** "0.946", "5.1 us", "36.1 GB/s". */
std::string ToText(NodeCostUnit unit, double value);

} // namespace weir

#endif // WEIR_SCENARIOS_MACHINE_MACHINE_PARAMETER_H
