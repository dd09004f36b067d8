// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_MACHINE_CALIBRATE_MACHINE_H
#define WEIR_SCENARIOS_MACHINE_CALIBRATE_MACHINE_H

#include "collectives/nccl/node-costs.h"
#include "fabric/topology/cluster-spec.h"
#include "scenarios/bound/measured-bounds.h"
#include "scenarios/catalog.h"
#include "scenarios/validation/collective-table.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace weir
{

/** A figure of a node that can be fitted to measured runs. */
struct MachineParameter
{
    std::string key;    //!< key below `node` of a system: "nic.measured", "costs.llCall.value"
    NodeCostUnit unit;  //!< of its values
    double initial{0};  //!< value in the node's description
    double min{0};      //!< lower bound
    double max{0};      //!< upper bound
    double spread{0};   //!< prior: standard deviation of ln(value / initial)
    std::string source; //!< of the initial value

    /** The name for users: "nic.measured", "costs.llCall". */
    std::string Name() const;

    /** The key of its source, below `node`: "nic.source", "costs.llCall.source". */
    std::string SourceKey() const;
};

/**
 * The figures of @p node that can be fitted: efficiencies and latencies of its NVLinks, PCIe slots
 * and network ports, the rate of a host bridge, and the costs of messages, steps and launches.
 *
 * Excluded are thresholds in bytes, on which times do not depend smoothly, and costs of zero, which
 * stand for something that the machine does not do.
 */
std::vector<MachineParameter> ParametersOf(const NodeSpec& node);

/** A value with its unit as YAML: "0.946", "5.1us", "36.1GB/s". */
std::string ToYaml(NodeCostUnit unit, double value, int digits = 4);

/** A value with its unit for users: "0.946", "5.1 us", "36.1 GB/s"; to four digits. */
std::string ToText(NodeCostUnit unit, double value);

struct FittedParameter
{
    MachineParameter parameter;
    double value{0}; //!< the initial value where it is undetermined
    double error{0}; //!< relative standard error; the prior's where undetermined
    bool isDetermined{false};
    std::string alike; //!< a parameter that it cannot be distinguished from; empty: none
};

/** Errors of the points of one size class: ln(measured / predicted). */
struct ClassErrors
{
    std::string name;
    std::vector<double> before;  //!< with the system as described
    std::vector<double> after;   //!< with the fitted system
    std::vector<double> heldOut; //!< with a fit that excludes the point's part of the runs
};

/** An alternative fit about as good as the best one: the figures that differ from it. */
using OtherExplanation = std::vector<std::pair<MachineParameter, double>>;

/** The figures of a machine determined by its runs, and the errors of predictions. */
struct MachineCalibration
{
    std::vector<FittedParameter> parameters; //!< in the order of ParametersOf
    std::vector<OtherExplanation> others;    //!< alternatives that the runs do not exclude
    std::vector<ClassErrors> classes;        //!< by name; the last one holds all points
    std::vector<MeasuredBound> bounds;       //!< of the held-out errors, by class and coverage
    std::string heldOut;                     //!< what each part is: "runs", ...
    std::size_t parts{0};                    //!< number of parts left out in turn
    std::size_t points{0};
    double scatter{0}; //!< robust standard deviation of the fit's residuals, ln
};

struct MachineFitSpec
{
    std::string system;                   //!< a name in the catalog or a file
    std::vector<MeasuredCollective> runs; //!< measured on the system
    uint32_t threads{1};
};

/**
 * Fits the parameters of the system in @p spec to its runs, in fidelity `stream`: Huber-weighted
 * Gauss-Newton in the logarithms of times and values, with normal priors at the system's values
 * (FitRobustly). Parameters that the runs do not determine keep their values.
 *
 * A point's held-out error comes from a fit without its run or, with fewer than three runs, without
 * its size class in its run. The bounds are quantiles of these errors. Errors of three consecutive
 * sizes of a run are treated as correlated.
 *
 * The cost is about ten predictions of all runs for each parameter, and as many again for each
 * other start of the fit.
 * @param progress called after every prediction of all runs
 * @throws InputError when a run cannot be predicted
 * @throws std::invalid_argument without runs
 */
MachineCalibration CalibrateMachine(const MachineFitSpec& spec,
                                    const Catalog& catalog,
                                    const std::function<void()>& progress);

} // namespace weir

#endif // WEIR_SCENARIOS_MACHINE_CALIBRATE_MACHINE_H
