// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_PLANNER_H
#define WEIR_COLLECTIVES_PLANNER_H

#include "collectives/algorithms/imported/imported-program.h"
#include "collectives/algorithms/traffic.h"
#include "collectives/collective.h"
#include "collectives/communicator.h"
#include "collectives/nccl/nccl-settings.h"
#include "collectives/schedule/schedule.h"
#include "fabric/routing/routing.h"
#include "fabric/topology/cluster.h"

#include <memory>
#include <vector>

namespace weir
{

/** One channel of a collective, or several equal ones merged, as a single fluid flow. */
struct StreamLeg
{
    RouteId route; //!< the sum of all hops
    Bytes bytes;   //!< bytes on the wire over each hop (payload over protocol efficiency), in total
                   //!< for all merged channels
    Rate cap; //!< rate on the wire, in total for all merged channels; it includes waiting on the
              //!< path, such as filling pipelines
    double weight{1}; //!< in max-min sharing: number of merged channels, in a plan times the share
                      //!< of time that they are in flight on loaded links
};

/**
 * Equal channels whose slices cross stages one after the other, as a flow for each of some parts of
 * the stages. While the pipeline fills and drains, only some parts are busy.
 */
struct StreamPipeline
{
    /** Consecutive stages. */
    struct Part
    {
        RouteId route;  //!< the sum of its hops
        double head{0}; //!< fraction of the bytes that cross the part before until this one begins;
                        //!< the same fraction of this one's bytes follows the end of that part
        Time lead;      //!< from the start of the part before, or of the call, until this one
                        //!< begins, if uncontended
    };

    Bytes bytes;             //!< on the wire over each hop, of all channels
    Rate cap;                //!< as StreamLeg::cap
    double weight{1};        //!< as StreamLeg::weight
    std::vector<Part> parts; //!< in the order in which slices cross them
    Time drain;              //!< from the end of the last part to the end of the call
};

/** Number of back-to-back calls over which benchmarks average. [nccl-tests' default] */
constexpr uint32_t BENCHMARK_CALLS = 20;

/** What is known about a call before it runs. */
struct CollectivePlan
{
    CollectiveCall call;
    Algorithm algorithm{Algorithm::Ring};
    Protocol protocol{Protocol::Simple};
    uint32_t channels{1};
    Time latency; //!< in addition to the legs: base latency, latency of all hops and pacing delay
    std::vector<StreamLeg> legs; //!< for StreamEngine
    Time duration;               //!< closed form of the uncontended call: latency + slowest leg
    Time wire; //!< the part of it in which the slowest leg's bytes occupy links or thread blocks
    LinkId bottleneck;  //!< the bottleneck link of the slowest leg; invalid where a thread block is
                        //!< the bottleneck
    Time period;        //!< mean time that each of BENCHMARK_CALLS uncontended back-to-back calls
                        //!< equal to this one adds to the duration of the first
    uint32_t blocks{1}; //!< thread blocks of each rank's kernel
    bool isInLockstep{false}; //!< channels in lockstep, which in fidelity flow drift apart
    Time drain;               //!< the part of the latency after the legs; the rest is before them
    std::vector<StreamPipeline> pipelines{}; //!< unless empty, for StreamEngine instead of the legs

    /** Whether the next of back-to-back calls begins before this one has ended. */
    bool Overlaps() const
    {
        return period < duration;
    }
};

/** What NCCL's cost model estimates for one algorithm and protocol of a call. */
struct ChoiceEstimate
{
    Algorithm algorithm{Algorithm::Ring};
    Protocol protocol{Protocol::Simple};
    Time time; //!< infinite: disabled for this group
};

/**
 * Makes the plans of calls: finds channels, chooses algorithm, protocol and channel count as NCCL
 * does where the call leaves them open, and evaluates the closed form. Memoized: equal calls on one
 * communicator return the same plan.
 */
class Planner
{
  public:
    /**
     * @param settings how NCCL runs
     * All references must outlive the planner.
     * @throws std::invalid_argument when the version is unknown or there are no queue pairs.
     */
    Planner(const Cluster& cluster, Routing& routing, NcclSettings settings = {});
    ~Planner();

    /**
     * The communicator of these GPUs in rank order; the same group gets the same id. Channels are
     * searched at the first call that needs them.
     * @throws std::invalid_argument on an empty group, a repeated GPU, or one outside the cluster.
     */
    CommunicatorId AddCommunicator(const std::vector<GpuId>& gpus);

    /** The GPUs and nodes of a communicator, and its channels as far as calls have needed them. */
    const Communicator& GetGroup(CommunicatorId id);

    /** A communicator with all its channels and their paths. */
    const Communicator& GetCommunicator(CommunicatorId id);

    /**
     * Adds the traffic matrix of an all-to-all with unequal parts, one matrix row per sender. The
     * same parts get the same id. The size of a call with them is Traffic::LargestRow.
     * @throws std::invalid_argument as Traffic does.
     */
    TrafficId AddTraffic(const std::vector<std::vector<Bytes>>& parts);

    /**
     * Adds an imported schedule. Calls of its operation, ranks, root and sizes whose overrides ask
     * for Algorithm::Imported run it.
     * @throws std::invalid_argument with the first fault that CheckImportedProgram finds.
     */
    void AddProgram(ImportedProgram program);

    /**
     * The plan of @p call, valid as long as the planner.
     * @throws std::invalid_argument when the overrides cannot be met, the root is not a rank, the
     *         traffic does not fit the call, or the size is negative or above 2^58 bytes.
     * @throws std::runtime_error when no path connects two of the group's GPUs.
     */
    const CollectivePlan& Plan(const CollectiveCall& call);

    /**
     * From now on plans use closed forms where they would otherwise play the first passes of a call
     * (IdlePlayback). For engines that play every call themselves and do not use the times of
     * plans.
     */
    void UseClosedForms();

    /**
     * NCCL's estimates for @p call: of every algorithm and protocol that its overrides and the
     * tuner rules allow. Empty for operations outside NCCL's cost model, such as send and receive.
     * @throws as Plan does.
     */
    std::vector<ChoiceEstimate> Estimates(const CollectiveCall& call);

    /**
     * The call as primitives, for FlowEngine; memoized like plans.
     * @throws as Plan does, and std::length_error when a message has too many chunks to list.
     */
    const Schedule& GetSchedule(const CollectiveCall& call);

    /** As GetSchedule, without keeping the schedule. */
    Schedule MakeSchedule(const CollectiveCall& call);

    Routing& GetRouting();
    const Cluster& GetCluster() const;
    const NcclSettings& GetSettings() const;

  private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace weir

#endif // WEIR_COLLECTIVES_PLANNER_H
