// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_STREAM_ENGINE_H
#define WEIR_COLLECTIVES_ENGINES_STREAM_ENGINE_H

#include "collectives/engines/call-slots.h"
#include "collectives/engines/collective-engine.h"
#include "collectives/engines/plan-lookup.h"
#include "collectives/planner.h"
#include "fabric/transport/transport.h"

#include <cstdint>
#include <vector>

namespace weir
{

/**
 * A collective is one fluid flow per distinct channel, after the plan's latency. A flow has one
 * rate over all hops of its channel at once, and the collective ends when its last flow does. An
 * uncontended call takes the plan's closed-form duration; concurrent flows share links by the
 * transport's rule.
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
    std::size_t Active() const override;
    std::optional<FlowOrigin> OriginOf(const FlowRequest& request) const override;
    Time NextEventTime() override;
    void AdvanceTo(Time now) override;

  private:
    struct Running
    {
        CollectiveClient* client{nullptr};
        uint64_t token{0};
        uint32_t legsLeft{0};
    };

    void OnFlowDone(uint64_t token, Time now) override;

    PlanLookup m_plans;
    Transport& m_transport;
    RouteId m_nowhere;            //!< route of calls that move nothing
    CallSlots<Running> m_running; //!< by the token given to the flows
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_STREAM_ENGINE_H
