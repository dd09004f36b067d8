// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_FABRIC_PORT_H
#define WEIR_MODEL_FABRIC_PORT_H

#include "engine-driver.h"

#include "fabric/transport/packet/packet-counters.h"
#include "fabric/transport/packet/packet-transport.h"
#include "fabric/transport/packet/port-observer.h"
#include "ns3/data-rate.h"
#include "ns3/event-id.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include <cstdint>

namespace ns3
{

/**
 * A port of a fabric with packets: the queues at the start of a link, one per traffic class, with
 * trace sources for their events. Packets of flows and of FabricNetDevices share it.
 * FluidFabric::GetPort returns it.
 */
class FabricPort : public Object, private weir::PortObserver
{
  public:
    /** Get the type ID. */
    static TypeId GetTypeId();

    /**
     * Starts to observe a port.
     * @param driver keeps @p packets at the simulator's time
     * @param link the link that the port transmits on
     */
    void Observe(Ptr<EngineDriver> driver, weir::PacketTransport& packets, weir::LinkId link);

    /**
     * The counters of the port since the start of the simulation.
     * @return packets, bytes, marks, drops, pauses and times
     */
    const weir::PortCounters& GetCounters() const;

    /** The bytes that are queued in the port now, over all traffic classes. */
    uint64_t GetQueueBytes() const;

    /**
     * TracedCallback signature of QueueBytes and of Drop.
     * @param trafficClass 0: control packets, 1: flows, 2 and above: devices
     * @param bytes queued in the class, or of the packet that was dropped
     * @param now exact time
     */
    typedef void (*BytesTracedCallback)(uint32_t trafficClass, uint64_t bytes, weir::Time now);

    /**
     * TracedCallback signature of Transmit.
     * @param trafficClass of the packet
     * @param bytes of the packet on the wire
     * @param now exact start time of its transmission
     * @param end exact end time of its transmission
     */
    typedef void (*TransmitTracedCallback)(uint32_t trafficClass,
                                           uint32_t bytes,
                                           weir::Time now,
                                           weir::Time end);

    /**
     * TracedCallback signature of Mark.
     * @param trafficClass of the packet that was marked
     * @param now exact time
     */
    typedef void (*MarkTracedCallback)(uint32_t trafficClass, weir::Time now);

    /**
     * TracedCallback signature of Pause.
     * @param trafficClass that pauses or resumes
     * @param isPaused whether it pauses
     * @param now exact time
     */
    typedef void (*PauseTracedCallback)(uint32_t trafficClass, bool isPaused, weir::Time now);

    /**
     * TracedCallback signature of Rate.
     * @param rate mean over the last interval, of packets whose transmission began in it, headers
     *        included
     */
    typedef void (*RateTracedCallback)(DataRate rate);

  protected:
    void DoDispose() override;

  private:
    void OnQueue(weir::LinkId link, unsigned trafficClass, int64_t bytes, weir::Time now) override
    {
        m_queueBytes(trafficClass, static_cast<uint64_t>(bytes), now);
    }

    void OnTransmit(weir::LinkId link,
                    unsigned trafficClass,
                    uint32_t bytes,
                    weir::Time now,
                    weir::Time end) override;

    void OnMark(weir::LinkId link, unsigned trafficClass, weir::Time now) override
    {
        m_mark(trafficClass, now);
    }

    void OnDrop(weir::LinkId link, unsigned trafficClass, uint32_t bytes, weir::Time now) override
    {
        m_drop(trafficClass, bytes, now);
    }

    void OnPause(weir::LinkId link, unsigned trafficClass, bool isPaused, weir::Time now) override
    {
        m_pause(trafficClass, isPaused, now);
    }

    /** The averaging interval of Rate, at least the simulator's resolution. */
    Time GetInterval() const;

    /** Reports the rate of the interval that ends now. */
    void TellRate();

    Ptr<EngineDriver> m_driver;                //!< keeps m_packets at the simulator's time
    weir::PacketTransport* m_packets{nullptr}; //!< packet transport; null once disposed
    weir::LinkId m_link;                       //!< link that the port transmits on
    Time m_interval;                           //!< averaging interval of Rate
    uint64_t m_bytes{0};                       //!< of packets that began in this interval
    EventId m_rateEvent;                       //!< end of this interval

    TracedCallback<uint32_t, uint64_t, weir::Time> m_queueBytes; //!< QueueBytes trace source
    TracedCallback<uint32_t, uint32_t, weir::Time, weir::Time>
        m_transmit;                                        //!< Transmit trace source
    TracedCallback<uint32_t, weir::Time> m_mark;           //!< Mark trace source
    TracedCallback<uint32_t, uint64_t, weir::Time> m_drop; //!< Drop trace source
    TracedCallback<uint32_t, bool, weir::Time> m_pause;    //!< Pause trace source
    TracedCallback<DataRate> m_rate;                       //!< Rate trace source
};

} // namespace ns3

#endif // WEIR_MODEL_FABRIC_PORT_H
