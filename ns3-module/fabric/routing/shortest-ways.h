// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_SHORTEST_WAYS_H
#define WEIR_FABRIC_SHORTEST_WAYS_H

#include "fabric/ids.h"
#include "fabric/routing/route-dag.h"
#include "fabric/routing/router.h"

#include <cstdint>
#include <unordered_map>

namespace weir
{

/**
 * The shortest ways between devices over the network, kept: end points on one switch share what is
 * between switches. They are found anew after links of the router go or come.
 */
class ShortestWays
{
  public:
    explicit ShortestWays(Router& router);

    /** Null when there is no way. Valid until the router's links change. */
    const RouteDag* Between(DeviceId from, DeviceId to);

  private:
    Router& m_router;
    uint64_t m_revision;
    std::unordered_map<uint64_t, RouteDag> m_ways; //!< by both ends
};

} // namespace weir

#endif // WEIR_FABRIC_SHORTEST_WAYS_H
