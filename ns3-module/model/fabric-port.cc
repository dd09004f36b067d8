// SPDX-License-Identifier: GPL-2.0-only
#include "fabric-port.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricPort");

NS_OBJECT_ENSURE_REGISTERED(FabricPort);

TypeId
FabricPort::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FabricPort")
            .SetParent<Object>()
            .SetGroupName("Weir")
            .AddConstructor<FabricPort>()
            .AddAttribute("RateInterval",
                          "Averaging interval of the trace source Rate; at least the simulator's "
                          "resolution.",
                          TimeValue(MicroSeconds(10)),
                          MakeTimeAccessor(&FabricPort::m_interval),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddTraceSource("QueueBytes",
                            "A packet joined or left the queue of a class.",
                            MakeTraceSourceAccessor(&FabricPort::m_queueBytes),
                            "ns3::FabricPort::BytesTracedCallback")
            .AddTraceSource("Transmit",
                            "The transmission of a packet begins.",
                            MakeTraceSourceAccessor(&FabricPort::m_transmit),
                            "ns3::FabricPort::TransmitTracedCallback")
            .AddTraceSource("Mark",
                            "A packet was marked (ECN).",
                            MakeTraceSourceAccessor(&FabricPort::m_mark),
                            "ns3::FabricPort::MarkTracedCallback")
            .AddTraceSource("Drop",
                            "A packet was dropped: its queue was full, it was in the queue or on "
                            "the link when the link failed, or the link lost it at random.",
                            MakeTraceSourceAccessor(&FabricPort::m_drop),
                            "ns3::FabricPort::BytesTracedCallback")
            .AddTraceSource("Pause",
                            "The other end of the link requested a pause or a resume of a class.",
                            MakeTraceSourceAccessor(&FabricPort::m_pause),
                            "ns3::FabricPort::PauseTracedCallback")
            .AddTraceSource("Rate",
                            "An averaging interval with packets ended, or the first interval "
                            "without packets after it.",
                            MakeTraceSourceAccessor(&FabricPort::m_rate),
                            "ns3::FabricPort::RateTracedCallback");
    return tid;
}

void
FabricPort::DoDispose()
{
    NS_LOG_FUNCTION(this);
    Simulator::Cancel(m_rateEvent);
    if (m_packets != nullptr)
    {
        m_packets->GetNetwork().RemoveObserver(m_link.Index(), *this);
    }
    m_packets = nullptr;
    m_driver = nullptr;
    Object::DoDispose();
}

void
FabricPort::Observe(Ptr<EngineDriver> driver, weir::PacketTransport& packets, weir::LinkId link)
{
    NS_LOG_FUNCTION(this << link.Index());
    NS_ABORT_MSG_IF(m_packets, "FabricPort: already attached to a port");
    m_driver = driver;
    m_packets = &packets;
    m_link = link;
    packets.GetNetwork().AddObserver(link.Index(), *this);
}

const weir::PortCounters&
FabricPort::GetCounters() const
{
    NS_ABORT_MSG_IF(!m_packets, "FabricPort: not attached to a fabric");
    m_driver->Synchronize();
    return *m_packets->GetPortCounters(m_link);
}

uint64_t
FabricPort::GetQueueBytes() const
{
    NS_ABORT_MSG_IF(!m_packets, "FabricPort: not attached to a fabric");
    m_driver->Synchronize();
    return static_cast<uint64_t>(m_packets->GetNetwork().QueuedBytes(m_link.Index()));
}

void
FabricPort::OnTransmit(
    weir::LinkId link, unsigned trafficClass, uint32_t bytes, weir::Time now, weir::Time end)
{
    m_transmit(trafficClass, bytes, now, end);
    if (m_rate.IsEmpty())
    {
        return;
    }
    m_bytes += bytes;
    if (m_rateEvent.IsExpired())
    {
        const int64_t step = GetInterval().GetTimeStep();
        const int64_t passed = Simulator::Now().GetTimeStep() % step;
        m_rateEvent = Simulator::Schedule(TimeStep(step - passed), &FabricPort::TellRate, this);
    }
}

Time
FabricPort::GetInterval() const
{
    return std::max(m_interval, TimeStep(1));
}

void
FabricPort::TellRate()
{
    m_driver->Synchronize();
    const uint64_t bytes = m_bytes;
    m_bytes = 0;
    if (bytes > 0)
    {
        m_rateEvent = Simulator::Schedule(GetInterval(), &FabricPort::TellRate, this);
    }
    const double bits = static_cast<double>(bytes) * 8;
    m_rate(DataRate(static_cast<uint64_t>(bits / GetInterval().GetSeconds() + 0.5)));
}

} // namespace ns3
