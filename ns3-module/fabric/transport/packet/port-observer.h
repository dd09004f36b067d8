// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_PORT_OBSERVER_H
#define WEIR_FABRIC_TRANSPORT_PACKET_PORT_OBSERVER_H

#include "fabric/ids.h"
#include "fabric/units.h"

#include <cstdint>

namespace weir
{

/** Observes the events at a port of the packet network. It must not change the simulation. */
class PortObserver
{
  public:
    virtual ~PortObserver() = default;

    /** The queue of a class has changed to @p bytes: a packet arrived, left or was lost. */
    virtual void OnQueue(LinkId link, unsigned trafficClass, int64_t bytes, Time now)
    {
    }

    /** The transmission of a packet of @p bytes on the wire lasts from @p now to @p end. */
    virtual void OnTransmit(LinkId link, unsigned trafficClass, uint32_t bytes, Time now, Time end)
    {
    }

    /** A packet was marked (ECN). */
    virtual void OnMark(LinkId link, unsigned trafficClass, Time now)
    {
    }

    /** A packet of @p bytes for this port found no room, or was lost on its link. */
    virtual void OnDrop(LinkId link, unsigned trafficClass, uint32_t bytes, Time now)
    {
    }

    /** The device at the other end has paused or resumed a class of the port. */
    virtual void OnPause(LinkId link, unsigned trafficClass, bool isPaused, Time now)
    {
    }

    /** A packet of a class starts to wait for credits, or a packet that waited is sent. */
    virtual void OnCreditWait(LinkId link, unsigned trafficClass, bool isWaiting, Time now)
    {
    }
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_PORT_OBSERVER_H
