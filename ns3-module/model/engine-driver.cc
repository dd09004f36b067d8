// SPDX-License-Identifier: GPL-2.0-only
#include "engine-driver.h"

#include "weir-units.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("EngineDriver");

NS_OBJECT_ENSURE_REGISTERED(EngineDriver);

TypeId
EngineDriver::GetTypeId()
{
    static TypeId tid = TypeId("ns3::EngineDriver")
                            .SetParent<Object>()
                            .SetGroupName("Weir")
                            .AddConstructor<EngineDriver>();
    return tid;
}

void
EngineDriver::DoDispose()
{
    NS_LOG_FUNCTION(this);
    for (const Callback<void>& tell : std::exchange(m_atEnd, {}))
    {
        tell();
    }
    m_isOver = true;
    m_beforeRun.clear();
    Simulator::Cancel(m_wake);
    m_engines.Clear();
    m_owners.clear();
    Object::DoDispose();
}

void
EngineDriver::Add(weir::PassiveEngine& engine, Ptr<Object> owner)
{
    NS_LOG_FUNCTION(this << owner);
    Hold(owner);
    Synchronize();
    m_engines.AddFirst(engine);
    Update();
}

void
EngineDriver::Hold(Ptr<Object> owner)
{
    NS_LOG_FUNCTION(this << owner);
    CheckAlive();
    NS_ABORT_MSG_IF(m_running,
                    "EngineDriver: found an installation inside a callback of the engines (the end "
                    "of a flow, a step or a collective), expected the callback to schedule it with "
                    "Simulator::ScheduleNow");
    if (m_owners.empty())
    {
        Simulator::ScheduleDestroy(&Object::Dispose, Ptr<Object>(this));
    }
    m_owners.push_back(owner);
}

void
EngineDriver::AtEnd(Callback<void> tell)
{
    CheckAlive();
    m_atEnd.push_back(tell);
}

void
EngineDriver::BeforeRun(Callback<void> tell)
{
    CheckAlive();
    m_beforeRun.push_back(tell);
}

void
EngineDriver::CheckAlive() const
{
    NS_ABORT_MSG_IF(m_isOver,
                    "EngineDriver: found a fabric that is used after Simulator::Destroy, expected "
                    "a new one");
}

weir::Time
EngineDriver::Synchronize()
{
    if (m_running || m_isOver)
    {
        return m_engines.Now();
    }
    const weir::Time now = ToWeir(Simulator::Now());
    if (now > m_engines.Now())
    {
        RunUntil(now);
    }
    return now;
}

void
EngineDriver::CatchUp()
{
    if (!m_running && !m_engines.NextEventTime().IsInfinite())
    {
        Synchronize();
    }
}

void
EngineDriver::Update()
{
    CheckAlive();
    if (m_running || (!m_wake.IsExpired() && m_wakeTime == Simulator::Now()))
    {
        return; // recomputed at the end of this instant anyway
    }
    Simulator::Remove(m_wake);
    m_wakeTime = Simulator::Now();
    m_wake = Simulator::ScheduleNow(&EngineDriver::Wake, this);
}

void
EngineDriver::Wake()
{
    RunUntil(ToWeir(Simulator::Now()));
    ScheduleNext();
}

void
EngineDriver::RunUntil(weir::Time now)
{
    NS_LOG_FUNCTION(this << now.ToPicoseconds());
    for (const Callback<void>& tell : m_beforeRun)
    {
        tell();
    }
    m_running = true;
    m_engines.RunUntil(now);
    m_running = false;
}

void
EngineDriver::ScheduleNext()
{
    const weir::Time next = m_engines.NextEventTime();
    if (next.IsInfinite())
    {
        return;
    }
    m_wakeTime = ToNs3(next);
    m_wake = Simulator::Schedule(m_wakeTime - Simulator::Now(), &EngineDriver::Wake, this);
}

} // namespace ns3
