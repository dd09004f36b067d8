// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SIMULATION_COLLECTIVE_SWEEP_H
#define WEIR_SCENARIOS_SIMULATION_COLLECTIVE_SWEEP_H

#include "collectives/algorithms/imported/imported-program.h"
#include "collectives/collective.h"
#include "collectives/fidelity.h"
#include "collectives/nccl/nccl-settings.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/transport/transport-spec.h"
#include "fabric/units.h"
#include "scenarios/bound/calibration.h"
#include "scenarios/bound/measured-bounds.h"
#include "scenarios/simulation/run-result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

class Planner;
class RunRecording;

/** A collective swept over several sizes, as nccl-tests does. */
struct CollectiveSweepSpec
{
    ClusterSpec cluster;
    uint32_t gpusPerNode{8}; //!< the first GPUs of every node participate
    CollectiveOp op{CollectiveOp::AllReduce};
    CollectiveOverrides overrides;
    std::vector<Bytes> sizes;               //!< as nccl-tests counts them
    std::vector<std::vector<Bytes>> counts; //!< of an all-to-all-v, by sender and receiver; its
                                            //!< size is the largest row sum; empty: equal counts
    Fidelity fidelity{Fidelity::Stream};
    PacketSpec packets{};                   //!< for fidelity packet or hybrid
    CouplingSpec coupling{};                //!< for fidelity hybrid: which links simulate packets
    NcclSettings nccl;                      //!< settings for what the overrides leave open
    std::optional<ImportedProgram> program; //!< replaces NCCL's algorithms
    AutoSpec automatic{};                   //!< for fidelity auto
    SharingSpec sharing{};                  //!< of fluid flows
    CorrectionSpec corrections{};           //!< of fluid flows
    std::string correctionsText;            //!< as given by the user; empty: none
    bool onlyTimes{true};                   //!< link usage and flow records are not needed
};

/** Result of one size. */
struct CollectivePoint
{
    Bytes size;
    Time time;
    Algorithm algorithm{Algorithm::Ring};
    Protocol protocol{Protocol::Simple};
    uint32_t channels{1};
    Rate algorithmBandwidth;           //!< size / time
    Rate busBandwidth;                 //!< algorithmBandwidth * BusBandwidthFactor
    RegimePosition position{};         //!< position in the regimes of its bound
    std::optional<ErrorBound> bound{}; //!< of a shortcut's time, if requested
    Fidelity fidelity{Fidelity::Flow}; //!< fidelity in which it was simulated
};

/** NCCL settings for the run of @p spec; channels beyond those that NCCL finds are copies. */
NcclSettings SettingsOf(const CollectiveSweepSpec& spec);

/** The call of @p size on the ranks of @p communicator. */
CollectiveCall CallOf(const CollectiveSweepSpec& spec,
                      Planner& planner,
                      CommunicatorId communicator,
                      Bytes size);

/** The ranks that participate in @p spec; for send, the first and the last GPU only. */
std::vector<GpuId> SweepGpus(const CollectiveSweepSpec& spec);

/**
 * Runs every size in isolation, one after another, each on an idle fabric.
 * @throws InputError when the cluster cannot be wired, the overrides cannot be met, or a call never
 *         ends.
 */
std::vector<CollectivePoint> RunCollectiveSweep(const CollectiveSweepSpec& spec);

/** Result of a sweep. */
struct CollectiveSweepResult
{
    std::vector<CollectivePoint> points;
    RunResult result; //!< link usage, over all sizes one after another
};

/** Source of the bounds of a sweep's points. */
struct SweepBounds
{
    const Calibration* calibration{nullptr}; //!< null: no bounds
    double coverage{0};
};

/**
 * Called before each size with the number of finished sizes and of all sizes.
 * @return whether to continue
 */
using SweepProgress = std::function<bool(std::size_t done, std::size_t sizes)>;

/**
 * Same as RunCollectiveSweep, and records the simulated calls with @p recording; each size is a
 * separate collective. The result file also has the points as table /bandwidth.
 * @throws as RunCollectiveSweep.
 */
CollectiveSweepResult RecordCollectiveSweep(const CollectiveSweepSpec& spec,
                                            RunRecording& recording,
                                            const SweepBounds& bounds = {},
                                            const SweepProgress& progress = {});

/**
 * A sweep as one JSON object: operation, ranks, nodes, system, NCCL version, fidelity, points with
 * their bounds, coupling of fidelity hybrid over all sizes, links.
 */
std::string ToJson(const CollectiveSweepSpec& spec, const CollectiveSweepResult& result);

/**
 * Sets the bound of every point against the reference. A point that was simulated in the
 * reference's fidelity gets the exact bound [1, 1].
 * @throws std::invalid_argument when @p calibration does not have the coverage.
 */
void AddBounds(const Calibration& calibration,
               double coverage,
               std::vector<CollectivePoint>& points);

/**
 * Comment lines after the table: intervals of measured times of unseen clusters relative to
 * @p points, one line per size class that @p measured has.
 */
std::string MeasuredLines(const CollectiveSweepSpec& spec,
                          const MeasuredBounds& measured,
                          double coverage,
                          const std::vector<CollectivePoint>& points);

/** The table of nccl-tests with additional columns for algorithm, protocol, channels and bound. */
std::string ToNcclTestsTable(const CollectiveSweepSpec& spec,
                             const std::vector<CollectivePoint>& points);

/**
 * CSV: collective,size_bytes,time_us,algbw_GBps,busbw_GBps; with bounds also
 * lower_us,upper_us,coverage,regime,region, where the first two are empty outside the calibrated
 * region; in fidelity auto also fidelity.
 */
std::string ToCsv(const CollectiveSweepSpec& spec, const std::vector<CollectivePoint>& points);

} // namespace weir

#endif // WEIR_SCENARIOS_SIMULATION_COLLECTIVE_SWEEP_H
