// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SIMULATION_COLLECTIVE_SWEEP_H
#define WEIR_SCENARIOS_SIMULATION_COLLECTIVE_SWEEP_H

#include "collectives/algorithms/imported/imported-program.h"
#include "collectives/collective.h"
#include "collectives/fidelity.h"
#include "collectives/nccl/nccl-settings.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/transport/hybrid/coupling-spec.h"
#include "fabric/transport/packet/packet-spec.h"
#include "fabric/units.h"
#include "scenarios/bound/bound-judge.h"
#include "scenarios/bound/calibration.h"
#include "scenarios/bound/measured-bounds.h"
#include "scenarios/bound/regime-position.h"
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

/** One collective over many sizes, as nccl-tests runs it. */
struct CollectiveSweepSpec
{
    ClusterSpec cluster;
    uint32_t gpusPerNode{8}; //!< the first ones of every node take part
    CollectiveOp op{CollectiveOp::AllReduce};
    CollectiveOverrides overrides;
    std::vector<Bytes> sizes;               //!< as nccl-tests counts them
    std::vector<std::vector<Bytes>> counts; //!< of an all-to-all-v, by sender and receiver, whose
                                            //!< size is the largest row; empty: equal parts
    Fidelity fidelity{Fidelity::Stream};
    PacketSpec packets{};                   //!< where the fidelity is packet or hybrid
    CouplingSpec coupling{};                //!< where it is hybrid: which links have packets
    NcclSettings nccl;                      //!< decides what overrides leave open
    std::optional<ImportedProgram> program; //!< runs instead of NCCL's algorithms
    AutoSpec automatic{};                   //!< where the fidelity is auto
    SharingSpec sharing{};                  //!< of what is a fluid
    CorrectionSpec corrections{};           //!< as above
    std::string correctionsText;            //!< as given; empty: none
    bool onlyTimes{true};                   //!< what each link carries and each flow does is of no
                                            //!< interest
};

/** What one size took. */
struct CollectivePoint
{
    Bytes size;
    Time time;
    Algorithm algorithm{Algorithm::Ring};
    Protocol protocol{Protocol::Simple};
    uint32_t channels{1};
    Rate algorithmBandwidth;           //!< size over time
    Rate busBandwidth;                 //!< times BusBandwidthFactor
    RegimePosition position{};         //!< of its bound
    std::optional<ErrorBound> bound{}; //!< of a shortcut's time, once asked for
    Fidelity fidelity{Fidelity::Flow}; //!< that it was run in
};

/** How the run that @p spec describes uses NCCL: more channels than it finds are copies. */
NcclSettings SettingsOf(const CollectiveSweepSpec& spec);

/** The call of @p size among the ranks of @p communicator. */
CollectiveCall CallOf(const CollectiveSweepSpec& spec,
                      Planner& planner,
                      CommunicatorId communicator,
                      Bytes size);

/** Ranks that take part in @p spec: for send two, the first GPU and the last. */
std::vector<GpuId> SweepGpus(const CollectiveSweepSpec& spec);

/**
 * Runs every size alone, one after another, each on an idle fabric.
 * @throws InputError when the cluster cannot be wired, the overrides cannot be met or a size ends
 *         nowhere.
 */
std::vector<CollectivePoint> RunCollectiveSweep(const CollectiveSweepSpec& spec);

/** What is kept of a sweep. */
struct CollectiveSweepResult
{
    std::vector<CollectivePoint> points;
    RunResult result; //!< links, over all sizes one after another
};

/** Where the bounds of a sweep's points come from. */
struct SweepBounds
{
    const Calibration* calibration{nullptr}; //!< null: there are none
    double coverage{0};
};

/** Told how many of all sizes are done, before each; @return whether to go on. */
using SweepProgress = std::function<bool(std::size_t done, std::size_t sizes)>;

/**
 * As RunCollectiveSweep, and gives @p recording what was played: each size is a collective of its
 * own. Its file has the points as table /bandwidth.
 */
CollectiveSweepResult RecordCollectiveSweep(const CollectiveSweepSpec& spec,
                                            RunRecording& recording,
                                            const SweepBounds& bounds = {},
                                            const SweepProgress& progress = {});

/**
 * One JSON object: operation, ranks, nodes, system, NCCL version, fidelity, points with their
 * bounds, links.
 */
std::string ToJson(const CollectiveSweepSpec& spec, const CollectiveSweepResult& result);

/**
 * Gives every point its bound against the reference; one that was run in the reference's fidelity
 * is that time itself.
 * @throws std::invalid_argument when @p calibration does not know the coverage.
 */
void AddBounds(const Calibration& calibration,
               double coverage,
               std::vector<CollectivePoint>& points);

/**
 * Where measured times of unseen clusters lie from those of @p points: a line for each class of
 * sizes that @p measured knows, behind the table.
 */
std::string MeasuredLines(const CollectiveSweepSpec& spec,
                          const MeasuredBounds& measured,
                          double coverage,
                          const std::vector<CollectivePoint>& points);

/** nccl-tests' table, with algorithm, protocol, channels and bound behind its columns. */
std::string ToNcclTestsTable(const CollectiveSweepSpec& spec,
                             const std::vector<CollectivePoint>& points);

/**
 * CSV: collective,size_bytes,time_us,algbw_GBps,busbw_GBps; of points with bounds also
 * lower_us,upper_us,coverage,regime,region, the first two empty outside the calibrated region.
 */
std::string ToCsv(const CollectiveSweepSpec& spec, const std::vector<CollectivePoint>& points);

} // namespace weir

#endif // WEIR_SCENARIOS_SIMULATION_COLLECTIVE_SWEEP_H
