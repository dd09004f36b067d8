// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_STREAM_ENGINE_H
#define WEIR_COLLECTIVES_ENGINES_STREAM_ENGINE_H

#include "collectives/engines/collective-engine.h"
#include "collectives/engines/plan-lookup.h"
#include "collectives/planner.h"
#include "fabric/slot-pool.h"
#include "fabric/transport/transport.h"

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace weir
{

/**
 * A collective is one fluid flow per distinct channel and stripe of its route, between the two
 * halves of the plan's latency: its pipeline fills before the flows, and drains after the last of
 * them. A flow has one rate over all hops of its channel at once. An uncontended call takes the
 * plan's closed-form duration; concurrent flows share links by the transport's rule.
 */
class StreamEngine : public CollectiveEngine, private FlowClient
{
  public:
    /**
     * Both must outlive it. The owner of the transport advances it. The transport must be a fluid,
     * which moves flows over sums of routes.
     */
    StreamEngine(Planner& planner, Transport& transport);

    void Start(const CollectiveCall& call,
               CollectiveClient* client,
               uint64_t token,
               Time now) override;
    std::optional<FlowOrigin> OriginOf(const FlowRequest& request) const override;

    Time NextEventTime() override
    {
        return m_ends.empty() ? Time::Infinite() : m_ends.top().first;
    }

    void AdvanceTo(Time now) override;

  private:
    struct Running
    {
        CollectiveClient* client{nullptr};
        uint64_t token{0};
        uint32_t flowsLeft{0};
        Time drain; //!< from the end of the last flow to the end of the call
    };

    /** When a call ends, and its slot. */
    using End = std::pair<Time, uint32_t>;

    void OnFlowDone(uint64_t token, Time now) override;
    void Finish(uint32_t slot, Time now);

    PlanLookup m_plans;
    const Routing& m_routing;
    Transport& m_transport;
    SlotPool<std::vector<Running>> m_running; //!< by the token given to the flows
    std::priority_queue<End, std::vector<End>, std::greater<>> m_ends; //!< of calls that drain
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_STREAM_ENGINE_H
