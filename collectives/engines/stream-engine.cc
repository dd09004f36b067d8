// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/stream-engine.h"

#include "collectives/engines/striped-flows.h"
#include "collectives/schedule/message-split.h"

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
    const Time drain = plan.drain;
    std::size_t flows = 0;
    for (const auto& leg : plan.legs)
    {
        flows += m_routing.StripeCount(leg.route);
    }
    m_running[slot] = {client, token, std::max(static_cast<uint32_t>(flows), 1U), drain, &plan};
    if (!plan.pipelines.empty())
    {
        StartPipelines(slot, now);
        return;
    }
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

void
StreamEngine::StartPipelines(uint32_t slot, Time now)
{
    Running& running = m_running[slot];
    running.pipelines.clear();
    for (const StreamPipeline& pipeline : running.plan->pipelines)
    {
        std::size_t stripes = 1;
        for (const StreamPipeline::Part& part : pipeline.parts)
        {
            stripes = std::max(stripes, m_routing.StripeCount(part.route));
        }
        const auto count = std::min(static_cast<int64_t>(stripes), pipeline.bytes.Count());
        for (int64_t i = 0; i < count; ++i)
        {
            const Bytes bytes =
                pipeline.bytes / count + Bytes(i < pipeline.bytes.Count() % count ? 1 : 0);
            const double share = bytes.ToDouble() / pipeline.bytes.ToDouble();
            running.pipelines.push_back({PipelineRun(pipeline, bytes, pipeline.cap * share),
                                         &pipeline,
                                         static_cast<uint32_t>(i),
                                         share});
        }
    }
    running.flowsLeft = static_cast<uint32_t>(running.pipelines.size());
    running.end = Time();
    for (uint32_t run = 0; run < m_running[slot].pipelines.size(); ++run)
    {
        m_running[slot].pipelines[run].run.Begin(SendOf(slot, run, now));
    }
}

PipelineRun::Send
StreamEngine::SendOf(uint32_t slot, uint32_t run, Time now)
{
    return [this, slot, run, now](uint32_t part, Bytes bytes, Time delay) {
        const Stripe& stripe = m_running[slot].pipelines[run];
        const StreamPipeline& pipeline = *stripe.pipeline;
        FlowRequest request;
        request.route = m_routing.Stripe(pipeline.parts[part].route, stripe.number);
        request.bytes = bytes;
        request.overhead = delay;
        request.addsLatency = false;
        request.cap = pipeline.cap * stripe.share;
        request.weight = pipeline.weight * stripe.share;
        request.client = this;
        request.token = FlowToken{slot, run, part}.Packed();
        m_transport.Start(request, now);
    };
}

void
StreamEngine::OnPieceMoved(const FlowToken& token, Time now)
{
    Running& running = m_running[token.slot];
    Stripe& stripe = running.pipelines[token.run];
    if (!stripe.run.OnMoved(token.part, now, SendOf(token.slot, token.run, now)))
    {
        return;
    }
    running.end = std::max(running.end, now + stripe.pipeline->drain);
    if (--running.flowsLeft == 0)
    {
        running.pipelines.clear();
        m_ends.push({running.end, token.slot});
    }
}

std::optional<FlowOrigin>
StreamEngine::OriginOf(const FlowRequest& request) const
{
    if (request.client != static_cast<const FlowClient*>(this))
    {
        return std::nullopt;
    }
    const Running& running = m_running[FlowToken::Of(request.token).slot];
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
    Running& running = m_running[FlowToken::Of(token).slot];
    if (!running.pipelines.empty())
    {
        OnPieceMoved(FlowToken::Of(token), now);
        return;
    }
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

PipelineRun::PipelineRun(const StreamPipeline& pipeline, Bytes bytes, Rate cap)
    : m_bytes(bytes),
      m_parts(pipeline.parts.size())
{
    const auto headOf = [&](std::size_t part) {
        const Bytes head = RoundedUp(bytes.ToDouble() * pipeline.parts[part].head);
        return std::min(std::max(Bytes(1), head), bytes); // at least 1, so that parts end in order
    };
    for (std::size_t i = 0; i < m_parts.size(); ++i)
    {
        m_parts[i].head = i + 1 < m_parts.size() ? headOf(i + 1) : bytes;
        m_parts[i].free = i > 0 ? bytes - headOf(i) : bytes;
        const Time crossing = i > 0 ? headOf(i) / cap : Time();
        m_parts[i].delay = std::max(Time(), pipeline.parts[i].lead - crossing);
    }
}

void
PipelineRun::Begin(const Send& send)
{
    Go(0, Time(), m_parts.front().delay, send);
}

/** Sends the next piece of a part, or lets it wait. */
void
PipelineRun::Go(uint32_t part, Time now, Time delay, const Send& send)
{
    Part& own = m_parts[part];
    Bytes until = m_bytes;
    for (const Bytes stop : {own.head, own.free})
    {
        until = stop > own.moved ? std::min(until, stop) : until;
    }
    if (own.moved >= own.free && own.free < m_bytes)
    {
        if (own.ready.IsInfinite())
        {
            own.waits = true;
            return;
        }
        delay = std::max(delay, own.ready - now);
    }
    own.piece = until - own.moved;
    send(part, own.piece, delay);
}

bool
PipelineRun::OnMoved(uint32_t part, Time now, const Send& send)
{
    Part& own = m_parts[part];
    const Bytes before = own.moved;
    own.moved += own.piece;
    const bool hasEnded = own.moved == m_bytes;
    const bool isLast = part + 1 == m_parts.size();
    if (!hasEnded)
    {
        Go(part, now, Time(), send);
    }
    if (!isLast)
    {
        const Time delay = m_parts[part + 1].delay;
        Part& next = m_parts[part + 1];
        if (hasEnded)
        {
            next.ready = now + delay;
        }
        const bool begins = before < own.head && own.moved >= own.head;
        if (begins)
        {
            Go(part + 1, now, delay, send);
        }
        else if (hasEnded && next.waits)
        {
            next.waits = false;
            Go(part + 1, now, delay, send);
        }
    }
    return hasEnded && isLast;
}

} // namespace weir
