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

/** One channel (or several equal ones) of a collective as a single fluid flow. */
struct StreamLeg
{
    RouteId route;    //!< the sum of all hops
    Bytes bytes;      //!< that cross each hop, on the wire (payload over protocol efficiency), all
                      //!< merged channels together
    Rate cap;         //!< of all merged channels together, on the wire; what they wait for on the
                      //!< path, as pipelines that fill, is in it
    double weight{1}; //!< how many channels are merged
};

/** Calls back to back that benchmarks take the mean time of. [nccl-tests' default] */
constexpr uint32_t BENCHMARK_CALLS = 20;

/** Everything that can be said about a call before it runs. */
struct CollectivePlan
{
    CollectiveCall call;
    Algorithm algorithm{Algorithm::Ring};
    Protocol protocol{Protocol::Simple};
    uint32_t channels{1};
    Time latency;                //!< base plus all hops, as if no byte took time
    std::vector<StreamLeg> legs; //!< for StreamEngine
    Time duration;               //!< closed form, alone on the fabric: latency + slowest leg
    Time wire;                   //!< of it, what the slowest leg's bytes take links or blocks
    LinkId bottleneck;           //!< the link that bounds these alone; invalid when a block does
    Time period;                 //!< between calls like it that follow each other, alone on it
    uint32_t blocks{1};          //!< thread blocks of a rank's kernel
    bool isInStep{false};        //!< closed form of channels that flow lets get out of step

    /** Whether a call that follows begins before it has ended. */
    bool Overlaps() const
    {
        return period < duration;
    }
};

/** What NCCL's cost model expects of one way to run a call. */
struct ChoiceEstimate
{
    Algorithm algorithm{Algorithm::Ring};
    Protocol protocol{Protocol::Simple};
    Time time; //!< infinite: switched off for this group
};

/**
 * Turns calls into plans: finds channels, chooses algorithm, protocol and channel count as NCCL
 * does where the call leaves them open, and evaluates the closed form. Memoised: equal calls on
 * one communicator return the same plan.
 */
class Planner
{
  public:
    /**
     * @param settings how NCCL runs; a version alone will do. All references must outlive it.
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

    const Communicator& GetCommunicator(CommunicatorId id);

    /**
     * Parts of an all-to-all that are not all equal, one row per sender; the same parts get the
     * same id. A call with them is of Traffic::LargestRow bytes.
     * @throws std::invalid_argument as Traffic does.
     */
    TrafficId AddTraffic(const std::vector<std::vector<Bytes>>& parts);

    /**
     * Makes a schedule known that somebody else has written. Calls of its operation, ranks, root
     * and sizes whose overrides ask for Algorithm::Imported run it.
     * @throws std::invalid_argument with the first fault that CheckImportedProgram finds.
     */
    void AddProgram(ImportedProgram program);

    /**
     * @throws std::invalid_argument when the overrides cannot be met, the root is not a rank, the
     *         traffic does not fit the call or the size is negative or above 2^58;
     *         std::runtime_error when two of its GPUs are not joined.
     */
    const CollectivePlan& Plan(const CollectiveCall& call);

    /**
     * From now on plans keep to closed forms where the first passes of a call would be played: for
     * engines that play every call themselves, and ask plans for no times.
     */
    void KeepToClosedForms();

    /**
     * What NCCL chooses among for @p call: every algorithm and protocol that its overrides and the
     * tuner rules leave; empty for what its cost model does not know, as sends and receives.
     * @throws as Plan does.
     */
    std::vector<ChoiceEstimate> Estimates(const CollectiveCall& call);

    /**
     * The call as primitives, for FlowEngine; kept like plans are.
     * @throws std::length_error when a message is too long to list its chunks.
     */
    const Schedule& GetSchedule(const CollectiveCall& call);

    /** As above, not kept. */
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
