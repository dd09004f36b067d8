// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/stream-engine.h"

#include "collectives/engines/striped-flows.h"

#include <algorithm>

namespace weir
{

StreamEngine::StreamEngine(Planner& planner, Transport& transport)
    : m_plans(planner),
      m_routing(planner.GetRouting()),
      m_transport(transport)
{
}

void
StreamEngine::Start(const CollectiveCall& call, CollectiveClient* client, uint64_t token, Time now)
{
    const CollectivePlan& plan = m_plans.Plan(call);
    const uint32_t slot = m_running.Take();
    const Time drain = plan.Drain();
    std::size_t flows = 0;
    for (const auto& leg : plan.legs)
    {
        flows += m_routing.StripeCount(leg.route);
    }
    m_running[slot] = {client, token, std::max(static_cast<uint32_t>(flows), 1U), drain};
    FlowRequest request;
    request.overhead = plan.latency - drain;
    request.addsLatency = false;
    request.client = this;
    request.token = slot;
    if (plan.legs.empty())
    {
        request.route = m_routing.Nowhere();
        m_transport.Start(request, now);
        return;
    }
    for (const auto& leg : plan.legs)
    {
        request.route = leg.route;
        request.bytes = leg.bytes;
        request.cap = leg.cap;
        request.weight = leg.weight;
        ForEachStripe(request, m_routing, [&](const FlowRequest& stripe, std::size_t /* number */) {
            m_transport.Start(stripe, now);
        });
    }
}

std::optional<FlowOrigin>
StreamEngine::OriginOf(const FlowRequest& request) const
{
    if (request.client != static_cast<const FlowClient*>(this))
    {
        return std::nullopt;
    }
    const Running& running = m_running[request.token];
    return FlowOrigin{running.client, running.token};
}

void
StreamEngine::AdvanceTo(Time now)
{
    while (!m_ends.empty() && m_ends.top().first <= now)
    {
        const uint32_t slot = m_ends.top().second;
        m_ends.pop();
        Finish(slot, now);
    }
}

void
StreamEngine::OnFlowDone(uint64_t token, Time now)
{
    Running& running = m_running[token];
    if (--running.flowsLeft > 0)
    {
        return;
    }
    if (running.drain > Time())
    {
        m_ends.push({now + running.drain, static_cast<uint32_t>(token)});
        return;
    }
    Finish(static_cast<uint32_t>(token), now);
}

void
StreamEngine::Finish(uint32_t slot, Time now)
{
    const Running done = m_running[slot];
    m_running.Free(slot);
    if (done.client)
    {
        done.client->OnCollectiveDone(done.token, now);
    }
}

} // namespace weir
