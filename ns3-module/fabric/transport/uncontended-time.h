// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_UNCONTENDED_TIME_H
#define WEIR_FABRIC_TRANSPORT_UNCONTENDED_TIME_H

#include "fabric/routing/routing.h"
#include "fabric/transport/transport.h"

#include <algorithm>

namespace weir
{

/** What a flow takes when no other one is under way: overhead, latency, bytes over its rate. */
inline Time
UncontendedTime(const FlowRequest& request, const Routing& routing)
{
    const Time latency = request.addsLatency ? routing.Latency(request.route) : Time();
    const Rate rate = std::min(request.cap, routing.UncontendedRate(request.route));
    return request.overhead + latency + (rate.IsInfinite() ? Time() : request.bytes / rate);
}

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_UNCONTENDED_TIME_H
