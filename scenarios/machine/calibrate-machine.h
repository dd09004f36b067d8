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

/** What was found of one parameter. */
struct FittedParameter
{
    MachineParameter parameter;
    double value{0}; //!< the initial one where the runs do not determine it
    double error{0}; //!< standard error, relative; that before the runs where undetermined
    bool isDetermined{false};
    std::string alike; //!< another that it cannot be told apart from; empty: none
};

/** Errors of the points of one class of sizes: ln(measured / predicted). */
struct ClassErrors
{
    std::string name;
    std::vector<double> before;  //!< of the system as it was described
    std::vector<double> after;   //!< of the fitted one
    std::vector<double> heldOut; //!< of what was fitted without the point's part of the runs
};

/** Figures that explain the runs about as well as the fitted ones, where they differ from these. */
using OtherExplanation = std::vector<std::pair<MachineParameter, double>>;

/** A machine's figures that its runs determine, and how far predictions are off. */
struct MachineCalibration
{
    std::vector<FittedParameter> parameters; //!< in the order of ParametersOf
    std::vector<OtherExplanation> others;    //!< that the runs do not exclude
    std::vector<ClassErrors> classes;        //!< by name; the last of all points
    std::vector<MeasuredBound> bounds;       //!< of the held-out errors, by class and coverage
    std::string heldOut;                     //!< what was left out in turn: "runs", ...
    std::size_t parts{0};                    //!< how often
    std::size_t points{0};
    double scatter{0}; //!< of the fitted points, outliers aside: ln
};

/** What is fitted, and with how many threads. */
struct MachineFitSpec
{
    std::string system;                   //!< a name of the catalogue or a file
    std::vector<MeasuredCollective> runs; //!< on it
    uint32_t threads{1};
};

/**
 * Fits the parameters of @p spec.system to its runs, in fidelity `stream`: Huber-weighted
 * Gauss-Newton in the logarithms of times and values, with normal priors at the values that the
 * system has (FitRobustly). What the runs do not determine keeps its value.
 *
 * A point's held-out error is of a fit without its run, or, of fewer than three runs, without its
 * class of sizes in its run. Their quantiles are the bounds. Three consecutive sizes of a run count
 * as ones that may err alike.
 *
 * Costs about ten runs of all sizes for each parameter, and as many for each other start of the
 * fit.
 * @param progress is told of every prediction of all runs
 * @throws InputError when a run cannot be predicted; std::invalid_argument without runs.
 */
MachineCalibration CalibrateMachine(const MachineFitSpec& spec,
                                    const Catalog& catalog,
                                    const std::function<void()>& progress);

} // namespace weir

#endif // WEIR_SCENARIOS_MACHINE_CALIBRATE_MACHINE_H
