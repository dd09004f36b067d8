// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_UNCONTENDED_TIME_H
#define WEIR_FABRIC_TRANSPORT_UNCONTENDED_TIME_H

#include "fabric/routing/routing.h"
#include "fabric/transport/transport.h"

#include <algorithm>

namespace weir
{

/**
 * What a fluid flow takes when no other one is under way: overhead, latency, bytes over its rate.
 * @param path that it takes; invalid: the planned one of its route
 */
inline Time
FluidUncontendedTime(const FlowRequest& request, Routing& routing, PathId path = PathId())
{
    const bool isPlanned = !path.IsValid();
    const Time latency = isPlanned ? routing.Latency(request.route) : routing.Paths().Latency(path);
    const Rate most =
        isPlanned ? routing.UncontendedRate(request.route) : routing.Paths().BottleneckRate(path);
    const Rate rate = std::min(request.cap, most);
    return request.overhead + (request.addsLatency ? latency : Time()) +
           (rate.IsInfinite() ? Time() : request.bytes / rate);
}

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_UNCONTENDED_TIME_H
