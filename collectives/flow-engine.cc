// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/flow-engine.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace weir
{

FlowEngine::FlowEngine(Planner& planner, Transport& transport)
    : m_planner(planner),
      m_transport(transport)
{
}

void
FlowEngine::Start(const CollectiveCall& call, CollectiveClient* client, uint64_t token, Time now)
{
    const Schedule& schedule = m_planner.GetSchedule(call);
    const uint32_t place = Allocate();
    Running& running = m_running[place];
    running.run = std::make_unique<ScheduleRun>(schedule);
    running.schedule = &schedule;
    running.client = client;
    running.token = token;
    running.delayLines.clear();
    running.delayLines.reserve(running.run->ConnectionCount());
    for (uint32_t c = 0; c < running.run->ConnectionCount(); ++c)
    {
        running.delayLines.push_back(LineOf(running.run->GetConnection(c).latency));
    }
    m_lines[LineOf(schedule.startLatency)].Push(now, {place, Timer::START});
}

std::size_t
FlowEngine::Active() const
{
    return m_active;
}

Time
FlowEngine::NextEventTime()
{
    Time next = Time::Infinite();
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
    // Handling a timer may set others and add lines, so lines are looked up anew each time.
    for (std::size_t i = 0; i < m_lines.size(); ++i)
    {
        while (!m_lines[i].IsEmpty() && m_lines[i].Front() <= now)
        {
            Handle(m_lines[i].Pop(), now);
        }
    }
}

void
FlowEngine::Handle(const Timer& timer, Time now)
{
    ScheduleRun& run = *m_running[timer.running].run;
    if (timer.connection == Timer::START)
    {
        for (uint32_t block = 0; block < run.BlockCount(); ++block)
        {
            run.Advance(block, m_started);
        }
    }
    else
    {
        run.Arrive(timer.connection, m_started);
    }
    SendStarted(timer.running, now);
    if (run.BlocksLeft() == 0)
    {
        Finish(timer.running, now);
    }
}

void
FlowEngine::SendStarted(uint32_t running, Time now)
{
    for (uint32_t connection : m_started)
    {
        Send(running, connection, now);
    }
    m_started.clear();
}

void
FlowEngine::Send(uint32_t running, uint32_t connection, Time now)
{
    const Running& r = m_running[running];
    const uint32_t copies = r.run->Copies(connection);
    TransferRequest request;
    request.path = r.run->Path(connection);
    request.bytes = Bytes(r.run->FrontBytes(connection)) * copies;
    request.cap = r.schedule->channelCap * copies;
    request.weight = copies;
    request.client = this;
    request.token = static_cast<uint64_t>(running) << 32 | connection;
    m_transport.Start(request, now);
    ++m_slices;
}

void
FlowEngine::OnTransferDone(uint64_t token, Time now)
{
    const auto place = static_cast<uint32_t>(token >> 32);
    const auto connection = static_cast<uint32_t>(token);
    Running& running = m_running[place];
    if (running.run->PopFront(connection))
    {
        Send(place, connection, now);
    }
    m_lines[running.delayLines[connection]].Push(now, {place, connection});
}

void
FlowEngine::Finish(uint32_t running, Time now)
{
    Running& r = m_running[running];
    CollectiveClient* client = r.client;
    const uint64_t token = r.token;
    r.run.reset();
    m_free.push_back(running);
    --m_active;
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
    if (m_lines.size() > std::numeric_limits<uint16_t>::max())
    {
        throw std::logic_error("FlowEngine: more than 65536 different hop latencies");
    }
    m_lines.emplace_back(delay);
    return static_cast<uint16_t>(m_lines.size() - 1);
}

uint32_t
FlowEngine::Allocate()
{
    ++m_active;
    if (m_free.empty())
    {
        m_running.emplace_back();
        return static_cast<uint32_t>(m_running.size() - 1);
    }
    const uint32_t place = m_free.back();
    m_free.pop_back();
    return place;
}

} // namespace weir
