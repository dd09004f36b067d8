// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/flow-engine.h"

#include "collectives/channels/connection.h"
#include "collectives/schedule/message-split.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

namespace weir
{

namespace
{

/**
 * The maximum number of timer queues, since NextEventTime visits all of them. Timers of further
 * delays are in a heap.
 */
constexpr std::size_t MAX_LINES = 1024;

/** Maximum slices of a call: about an hour of computation at a million slices per second. */
constexpr double MAX_SLICES = 0x1p32;

constexpr unsigned STREAM_BITS = 8; //!< for the connections of one communicator over one route

/** Latency of a route's links: their sum along a path, or the maximum where links have no order. */
Time
DelayOf(const Routing& routing, RouteId route)
{
    if (routing.HasEnds(route))
    {
        return routing.Latency(route);
    }
    Time longest;
    for (const PathLink& each : routing.Links(route))
    {
        longest = std::max(longest, routing.GetTopology().GetLink(each.link).latency);
    }
    return longest;
}

} // namespace

FlowEngine::FlowEngine(Planner& planner, Transport& transport, FlowForm form)
    : m_planner(planner),
      m_transport(transport),
      m_form(form)
{
}

void
FlowEngine::Start(const CollectiveCall& call, CollectiveClient* client, uint64_t token, Time now)
{
    Running& running = Begin(call, now);
    running.client = client;
    running.token = token;
}

void
FlowEngine::Start(const Schedule& schedule, uint32_t ranks, CollectiveClient* client, Time now)
{
    auto run = std::make_unique<ScheduleRun>(schedule);
    m_running[Begin(std::move(run), schedule, ranks, 0, now)].client = client;
}

FlowEngine::Running&
FlowEngine::Begin(const CollectiveCall& call, Time now)
{
    uint32_t ranks = m_planner.GetGroup(call.communicator).Size();
    std::unique_ptr<FoldedSchedule> folded;
    if (m_foldsCalls)
    {
        folded = std::make_unique<FoldedSchedule>(
            FoldSchedule(m_planner.MakeSchedule(call), ranks, m_planner.GetRouting()));
        ranks = folded->ranks;
    }
    const Schedule& schedule = folded ? folded->schedule : m_planner.GetSchedule(call);
    if (const double slices = SliceCount(schedule); slices > MAX_SLICES)
    {
        throw std::length_error("found a call of " + std::to_string(call.bytes.Count()) +
                                " bytes, which moves " + std::to_string(std::llround(slices)) +
                                " slices, expected at most " +
                                std::to_string(std::llround(MAX_SLICES)) +
                                ": these take an hour; fidelity stream has no such limit");
    }
    auto run = folded ? std::make_unique<ScheduleRun>(std::move(folded->schedule))
                      : std::make_unique<ScheduleRun>(schedule);
    Running& running =
        m_running[Begin(std::move(run), schedule, ranks, call.communicator.Index(), now)];
    running.folded = std::move(folded);
    return running;
}

/** @return the slot of the collective */
uint32_t
FlowEngine::Begin(std::unique_ptr<ScheduleRun> run,
                  const Schedule& schedule,
                  uint32_t ranks,
                  uint32_t communicator,
                  Time now)
{
    const uint32_t slot = m_running.Take();
    Running& running = m_running[slot];
    running.run = std::move(run);
    running.schedule = &schedule;
    running.ranks = ranks;
    running.serial = ++m_serial;
    AddWires(running, communicator);
    const Time latency = schedule.startLatency;
    SetTimer(LineOf(latency), latency, now, {slot, Timer::START});
    return slot;
}

void
FlowEngine::AddWires(Running& running, uint32_t communicator)
{
    std::unordered_map<RouteId, uint32_t> streams; // each connection of a channel is a queue pair
    const Routing& routing = m_planner.GetRouting();
    running.pause = running.schedule->block.Pause(running.schedule->op);
    running.wires.clear();
    running.stripes.clear();
    running.wires.reserve(running.run->ConnectionCount());
    for (uint32_t c = 0; c < running.run->ConnectionCount(); ++c)
    {
        const PipeFigures& figures = running.run->FiguresOf(c);
        Wire wire;
        wire.pauses = figures.kind != ConnectionKind::Network;
        const RouteId route = running.run->GetRoute(c);
        const bool crossesLinks = routing.Links(route).size() > 0;
        wire.copied = crossesLinks ? Wire::CROSSES_LINKS : Wire::UNKNOWN;
        if (const std::size_t stripes = routing.StripeCount(route); stripes > 1)
        {
            wire.stripes = static_cast<uint32_t>(running.stripes.size());
            running.stripes.push_back({StripedSlices(stripes), StripedSlices(stripes)});
        }
        wire.isHere = figures.latency == Time();
        wire.isTold = crossesLinks && MovesAsPackets(route);
        if (wire.isTold)
        {
            wire.stream = communicator << STREAM_BITS | streams[route]++;
            wire.queuePairs = figures.kind == ConnectionKind::Network ? QueuePairsOn(route) : 1;
        }
        running.wires.push_back(wire);
        running.wires.back().arrivalLine = LineOf(ArrivalDelay(running, c));
    }
}

/** Whether a stripe of a route moves as packets; then all of them do. */
bool
FlowEngine::MovesAsPackets(RouteId route)
{
    const Routing& routing = m_planner.GetRouting();
    FlowRequest request;
    request.form = m_form;
    for (std::size_t i = 0; i < routing.StripeCount(route); ++i)
    {
        request.route = routing.Stripe(route, i);
        if (m_transport.FormOf(request) == FlowForm::Packets)
        {
            return true;
        }
    }
    return false;
}

/** Number of queue pairs of each stripe of a connection: those that share its path. */
uint32_t
FlowEngine::QueuePairsOn(RouteId route) const
{
    const NcclSettings& settings = m_planner.GetSettings();
    const uint32_t ports = settings.MergedPorts(m_planner.GetCluster().GetSpec().node);
    const auto stripes = static_cast<uint32_t>(m_planner.GetRouting().StripeCount(route));
    return std::max(1U, settings.queuePairs * ports / stripes);
}

/** Delay of an arrival: from a slice's departure, or from when the transport reports the slice. */
Time
FlowEngine::ArrivalDelay(const Running& running, uint32_t connection) const
{
    const Time latency = running.run->FiguresOf(connection).latency;
    const Time inFlight = running.wires[connection].isTold
                              ? DelayOf(m_planner.GetRouting(), running.run->GetRoute(connection))
                              : Time();
    return std::max(Time(), latency - inFlight);
}

std::optional<FlowOrigin>
FlowEngine::OriginOf(const FlowRequest& request) const
{
    if (request.client != static_cast<const FlowClient*>(this))
    {
        return std::nullopt;
    }
    const Running& running = m_running[FlowToken::Of(request.token).running];
    return FlowOrigin{running.client, running.token};
}

Time
FlowEngine::NextEventTime()
{
    Time next = m_wakes.empty() ? Time::Infinite() : m_wakes.top().at;
    if (!m_dues.empty())
    {
        next = std::min(next, m_dues.top().at);
    }
    for (const auto& line : m_lines)
    {
        if (!line.IsEmpty())
        {
            next = std::min(next, line.Front());
        }
    }
    return next;
}

void
FlowEngine::AdvanceTo(Time now)
{
    // Handling a timer may set others and add queues, so queues are looked up again each time.
    for (std::size_t i = 0; i < m_lines.size(); ++i)
    {
        while (!m_lines[i].IsEmpty() && m_lines[i].Front() <= now)
        {
            Handle(m_lines[i].Pop(), now);
        }
    }
    while (!m_dues.empty() && m_dues.top().at <= now)
    {
        const Timer timer = m_dues.top().timer;
        m_dues.pop();
        Handle(timer, now);
    }
    while (!m_wakes.empty() && m_wakes.top().at <= now)
    {
        const Wake wake = m_wakes.top();
        m_wakes.pop();
        HandleWake(wake, now);
    }
}

void
FlowEngine::Handle(const Timer& timer, Time now)
{
    ScheduleRun& run = *m_running[timer.running].run;
    if (timer.connection == Timer::START)
    {
        BeginCalls(timer.running, now);
    }
    else if ((timer.connection & Timer::COPIED) != 0)
    {
        const uint32_t connection = timer.connection & ~Timer::COPIED;
        OnSliceMoved(timer.running, connection, now);
        if (!m_running[timer.running].wires[connection].isHere)
        {
            return;
        }
        run.Arrive(connection, m_started, now);
    }
    else
    {
        run.Arrive(timer.connection, m_started, now);
    }
    AfterAdvance(timer.running, now);
}

void
FlowEngine::HandleWake(const Wake& wake, Time now)
{
    const Running& running = m_running[wake.running];
    if (!running.run || running.serial != wake.serial)
    {
        return; // its block continued at the same instant, and the collective has ended
    }
    if (wake.block == Wake::END)
    {
        Finish(wake.running, now);
        return;
    }
    if ((wake.block & Wake::WIRE) != 0)
    {
        Send(wake.running, wake.block & ~Wake::WIRE, now);
        return;
    }
    if ((wake.block & Wake::RANK) != 0)
    {
        BeginCallOf(wake.running, wake.block & ~Wake::RANK, now);
    }
    else
    {
        running.run->Advance(wake.block, m_started, now);
    }
    AfterAdvance(wake.running, now);
}

void
FlowEngine::AfterAdvance(uint32_t running, Time now)
{
    ScheduleRun& run = *m_running[running].run;
    for (const auto& wake : run.Wakes())
    {
        m_wakes.push({wake.at, running, wake.block, m_running[running].serial});
    }
    run.Wakes().clear();
    BackToBackCalls* backToBack = m_running[running].backToBack.get();
    for (std::size_t i = 0; backToBack && i < m_started.size(); ++i)
    {
        // What they send now must leave before they end.
        backToBack->Hold(backToBack->SenderOf(m_started[i]));
    }
    for (const uint32_t connection : m_started)
    {
        Send(running, connection, now);
    }
    m_started.clear();
    for (std::size_t i = 0; backToBack && i < run.Ended().size(); ++i)
    {
        const uint32_t block = run.Ended()[i];
        Release(running, run.RankOf(block), std::max(now, run.FreeAt(block)), now);
    }
    run.Ended().clear();
    if (backToBack ? !backToBack->IsOver() : run.BlocksLeft() > 0)
    {
        return;
    }
    if (!backToBack && run.End() > now)
    {
        m_wakes.push({run.End(), running, Wake::END, m_running[running].serial});
        return;
    }
    Finish(running, now);
}

void
FlowEngine::Send(uint32_t running, uint32_t connection, Time now)
{
    Running& r = m_running[running];
    Wire& wire = r.wires[connection];
    if (wire.notBefore > now)
    {
        m_wakes.push({wire.notBefore, running, connection | Wake::WIRE, r.serial});
        return;
    }
    wire.notBefore = now + r.run->FiguresOf(connection).interval;
    if (wire.copied != Wire::CROSSES_LINKS)
    {
        Copy(running, connection, now);
        return;
    }
    const FlowRequest request = RequestOf(running, connection);
    if (wire.stripes == Wire::WHOLE)
    {
        m_transport.Start(request, now);
        return;
    }
    const auto start = [&](FlowRequest stripe, std::size_t number) {
        stripe.token = FlowToken{running, connection, static_cast<uint32_t>(number)}.Packed();
        m_transport.Start(stripe, now);
    };
    ForEachStripe(request, m_planner.GetRouting(), start);
}

FlowRequest
FlowEngine::RequestOf(uint32_t running, uint32_t connection)
{
    const Running& r = m_running[running];
    const PipeFigures& figures = r.run->FiguresOf(connection);
    const Wire& wire = r.wires[connection];
    const uint32_t copies = figures.copies;
    const Bytes bytes = Bytes(r.run->FrontBytes(connection)) * copies;
    const Rate cap = std::min(r.schedule->channelCap, figures.cap) * copies;
    FlowRequest request;
    request.route = r.run->GetRoute(connection);
    request.bytes = Scaled(bytes, figures.wireFactor);
    request.cap = cap * figures.wireFactor;
    request.weight = copies * figures.weight;
    request.connections = copies * wire.queuePairs;
    request.stream = wire.stream;
    request.form = wire.isTold ? FlowForm::Packets : m_form;
    request.addsLatency = false; // the connection's latency includes it
    request.client = this;
    request.token = FlowToken{running, connection}.Packed();
    return request;
}

/** Copies the oldest queued slice of a connection without links. */
void
FlowEngine::Copy(uint32_t running, uint32_t connection, Time now)
{
    Wire& wire = m_running[running].wires[connection];
    const int64_t bytes = m_running[running].run->FrontBytes(connection);
    if (wire.copied != bytes)
    {
        wire.copied = bytes;
        wire.copyLine = LineOf(CopyTime(running, connection));
    }
    const Time delay = wire.copyLine == Wire::NO_LINE ? CopyTime(running, connection) : Time();
    SetTimer(wire.copyLine, delay, now, {running, connection | Timer::COPIED});
}

/** Copy time of the oldest queued slice. */
Time
FlowEngine::CopyTime(uint32_t running, uint32_t connection)
{
    const FlowRequest request = RequestOf(running, connection);
    return request.cap.IsInfinite() ? Time() : request.bytes / request.cap;
}

void
FlowEngine::OnFlowDone(uint64_t token, Time now)
{
    const FlowToken moved = FlowToken::Of(token);
    if (!IsWhole(moved, &Stripes::done))
    {
        return;
    }
    if (m_running[moved.running].wires[moved.connection].isTold)
    {
        SetArrival(moved.running, moved.connection, now);
        return;
    }
    OnSliceMoved(moved.running, moved.connection, now);
}

void
FlowEngine::OnFlowSent(uint64_t token, Time now)
{
    const FlowToken sent = FlowToken::Of(token);
    if (IsWhole(sent, &Stripes::sent))
    {
        OnSliceSent(sent.running, sent.connection, now);
    }
}

/** Whether all stripes of a slice have moved with the flow of this token. */
bool
FlowEngine::IsWhole(const FlowToken& moved, StripedSlices Stripes::*slices)
{
    Running& running = m_running[moved.running];
    const uint32_t stripes = running.wires[moved.connection].stripes;
    return stripes == Wire::WHOLE || (running.stripes[stripes].*slices).Add(moved.stripe);
}

FlowEngine::FlowToken
FlowEngine::FlowToken::Of(uint64_t packed)
{
    static_assert(MAX_STRIPES <= 1U << STRIPE_BITS);
    const auto field = [packed](unsigned shift, unsigned bits) {
        return static_cast<uint32_t>(packed >> shift & ((uint64_t{1} << bits) - 1));
    };
    constexpr unsigned RUNNING_SHIFT = CONNECTION_BITS + STRIPE_BITS;
    return {field(RUNNING_SHIFT, 64 - RUNNING_SHIFT),
            field(0, CONNECTION_BITS),
            field(CONNECTION_BITS, STRIPE_BITS)};
}

uint64_t
FlowEngine::FlowToken::Packed() const
{
    return (uint64_t{running} << STRIPE_BITS | stripe) << CONNECTION_BITS | connection;
}

/**
 * The last byte of the oldest slice on @p connection has left; the slice arrives a latency later.
 */
void
FlowEngine::OnSliceMoved(uint32_t slot, uint32_t connection, Time now)
{
    const Wire& wire = m_running[slot].wires[connection];
    const bool isDone = wire.copied != Wire::CROSSES_LINKS && wire.isHere;
    OnSliceSent(slot, connection, now);
    if (!isDone)
    {
        SetArrival(slot, connection, now);
    }
}

/** Sets the timer for the arrival of the slice that has left, or has been reported. */
void
FlowEngine::SetArrival(uint32_t slot, uint32_t connection, Time now)
{
    const uint16_t line = m_running[slot].wires[connection].arrivalLine;
    const Time delay = line == Wire::NO_LINE ? ArrivalDelay(m_running[slot], connection) : Time();
    SetTimer(line, delay, now, {slot, connection});
}

/** The last byte of the oldest slice on @p connection has left, so the next one may start. */
void
FlowEngine::OnSliceSent(uint32_t slot, uint32_t connection, Time now)
{
    Running& running = m_running[slot];
    Wire& wire = running.wires[connection];
    wire.notBefore = std::max(wire.notBefore, wire.pauses ? now + running.pause : now);
    if (running.run->PopFront(connection))
    {
        Send(slot, connection, now);
    }
    else if (running.run->FreesSender(connection))
    {
        m_wakes.push({now, slot, running.run->Sender(connection), running.serial});
    }
    else if (running.backToBack)
    {
        const Time release = running.run->FiguresOf(connection).release;
        Release(slot, running.backToBack->SenderOf(connection), now + release, now);
    }
}

void
FlowEngine::Finish(uint32_t running, Time now)
{
    Running& r = m_running[running];
    CollectiveClient* client = r.client;
    const uint64_t token = r.token;
    r.run.reset();
    r.folded.reset();
    r.backToBack.reset();
    r.client = nullptr;
    m_running.Free(running);
    if (client)
    {
        client->OnCollectiveDone(token, now);
    }
}

uint16_t
FlowEngine::LineOf(Time delay)
{
    for (std::size_t i = 0; i < m_lines.size(); ++i)
    {
        if (m_lines[i].Delay() == delay)
        {
            return static_cast<uint16_t>(i);
        }
    }
    if (m_lines.size() == MAX_LINES)
    {
        return Wire::NO_LINE;
    }
    m_lines.emplace_back(delay);
    return static_cast<uint16_t>(m_lines.size() - 1);
}

/** @param delay that of the queue; used only where there is no queue */
void
FlowEngine::SetTimer(uint16_t line, Time delay, Time now, const Timer& timer)
{
    if (line == Wire::NO_LINE)
    {
        m_dues.push({now + delay, m_timers++, timer});
        return;
    }
    m_lines[line].Push(now, timer);
}

void
FlowEngine::StartBackToBack(const CollectiveCall& call, BackToBackClient& client, Time now)
{
    Running& running = Begin(call, now);
    running.backToBack = std::make_unique<BackToBackCalls>(*running.run, running.ranks, client);
}

/** The start latency is over: all blocks of all ranks start. */
void
FlowEngine::BeginCalls(uint32_t running, Time now)
{
    Running& r = m_running[running];
    if (r.backToBack)
    {
        for (const uint32_t rank : r.backToBack->Ranks())
        {
            r.backToBack->Begin(rank);
        }
    }
    for (uint32_t block = 0; block < r.run->BlockCount(); ++block)
    {
        r.run->Advance(block, m_started, now);
    }
}

/** Begins the next kernel of a rank. */
void
FlowEngine::BeginCallOf(uint32_t running, uint32_t rank, Time now)
{
    Running& r = m_running[running];
    if (!r.backToBack->Begin(rank))
    {
        return;
    }
    for (const uint32_t block : r.backToBack->BlocksOf(rank))
    {
        r.run->Restart(block);
    }
    for (const uint32_t block : r.backToBack->BlocksOf(rank))
    {
        r.run->Advance(block, m_started, now);
    }
}

/**
 * One condition for the end of a rank's kernel is met; after the last one its next kernel begins.
 */
void
FlowEngine::Release(uint32_t running, uint32_t rank, Time at, Time now)
{
    Running& r = m_running[running];
    if (const auto ended = r.backToBack->Release(rank, at))
    {
        const Time start = r.backToBack->IsSwitch(rank) ? Time() : r.schedule->startLatency;
        m_wakes.push({std::max(now, *ended) + start, running, rank | Wake::RANK, r.serial});
    }
}

} // namespace weir
