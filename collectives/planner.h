// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_PLANNER_H
#define WEIR_COLLECTIVES_PLANNER_H

#include "collectives/collective.h"
#include "collectives/communicator.h"
#include "collectives/schedule.h"
#include "fabric/cluster.h"
#include "fabric/path-table.h"
#include "fabric/router.h"

#include <memory>
#include <string>
#include <vector>

namespace weir
{

/** One channel (or several equal ones) of a collective as a single fluid flow. */
struct StreamLeg
{
    PathId path;      //!< all links of all hops, with multiplicities
    Bytes bytes;      //!< that cross each hop, on the wire (payload over protocol efficiency), all
                      //!< merged channels together
    Rate cap;         //!< of all merged channels together, on the wire
    double weight{1}; //!< how many channels are merged
};

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
    LinkId bottleneck;           //!< the link that bounds it alone; invalid when a cap does
};

/**
 * Turns calls into plans: finds channels, chooses algorithm, protocol and channel count as NCCL
 * does where the call leaves them open, and evaluates the closed form. Memoised: equal calls on
 * one communicator return the same plan.
 */
class Planner
{
  public:
    /** @param ncclVersion whose constants to use, e.g. "2.30.7". All references must outlive it. */
    Planner(const Cluster& cluster,
            PathTable& paths,
            Router& router,
            std::string ncclVersion = "2.30.7");
    ~Planner();

    /**
     * The communicator of these GPUs in rank order; the same group gets the same id. Channels are
     * searched at the first call that needs them.
     * @throws std::invalid_argument on an empty group, a repeated GPU, or one outside the cluster.
     */
    CommunicatorId AddCommunicator(const std::vector<GpuId>& gpus);

    const Communicator& GetCommunicator(CommunicatorId id);

    /**
     * @throws std::invalid_argument when the overrides cannot be met, the root is not a rank or
     *         the size is negative or above 2^58;
     *         std::runtime_error when two of its GPUs are not joined.
     */
    const CollectivePlan& Plan(const CollectiveCall& call);

    /** The call as primitives, for FlowEngine; kept like plans are. */
    const Schedule& GetSchedule(const CollectiveCall& call);

    PathTable& Paths();
    const Cluster& GetCluster() const;

  private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace weir

#endif // WEIR_COLLECTIVES_PLANNER_H
