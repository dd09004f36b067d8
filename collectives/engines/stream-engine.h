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
 * A collective is one fluid flow per distinct channel, held at one rate through all its hops at
 * once, after the plan's latency; it ends when its last flow does. Alone on the fabric it takes
 * the plan's closed-form duration; flows that meet share links by the transport's rule.
 */
class StreamEngine : public CollectiveEngine, private FlowClient
{
  public:
    /**
     * Both must outlive it; the transport is advanced by whoever owns it, and carries sums of
     * routes: a fluid.
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
    RouteId m_nowhere;            //!< for calls that move nothing
    CallSlots<Running> m_running; //!< by the streams' token
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_STREAM_ENGINE_H
