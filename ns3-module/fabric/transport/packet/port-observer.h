// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_PORT_OBSERVER_H
#define WEIR_FABRIC_TRANSPORT_PACKET_PORT_OBSERVER_H

#include "fabric/ids.h"
#include "fabric/units.h"

#include <cstdint>

namespace weir
{

/** Is told what happens at a port of the packet network, as it happens; it must change nothing. */
class PortObserver
{
  public:
    virtual ~PortObserver() = default;

    /** @p bytes wait in the queue of a class: another one came, left or was lost. */
    virtual void OnQueue(LinkId link, unsigned trafficClass, int64_t bytes, Time now)
    {
    }

    /** A packet of @p bytes on the wire is being sent, from @p now to @p end. */
    virtual void OnTransmit(LinkId link, unsigned trafficClass, uint32_t bytes, Time now, Time end)
    {
    }

    /** A packet was marked (ECN). */
    virtual void OnMark(LinkId link, unsigned trafficClass, Time now)
    {
    }

    /** A packet of @p bytes that was to leave by this port found no room, or the link failed. */
    virtual void OnDrop(LinkId link, unsigned trafficClass, uint32_t bytes, Time now)
    {
    }

    /** The other end has asked the port to pause a class, or to resume it. */
    virtual void OnPause(LinkId link, unsigned trafficClass, bool isPaused, Time now)
    {
    }

    /** A packet of a class waits for credits, or one is sent that did. */
    virtual void OnCreditWait(LinkId link, unsigned trafficClass, bool isWaiting, Time now)
    {
    }
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_PORT_OBSERVER_H
