// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_FABRIC_PLAIN_ROUTING_H
#define WEIR_TESTS_FABRIC_PLAIN_ROUTING_H

#include "fabric/routing/routing.h"
#include "fabric/topology/cluster-spec.h"

namespace weir
{

inline FabricSpec
RoutedBy(const Polymorphic<RoutingPolicy>& kind, uint64_t hashSeed = 1)
{
    FabricSpec fabric;
    fabric.routing = kind;
    fabric.hashSeed = hashSeed;
    return fabric;
}

/** A standalone router with the routing policy that it uses. */
class PlainRouter
{
  public:
    PlainRouter(const Topology& topology, const Polymorphic<RoutingPolicy>& kind, uint64_t hashSeed)
        : m_routing(topology, RoutedBy(kind, hashSeed))
    {
    }

    Router* operator->()
    {
        return &m_routing.GetRouter();
    }

    operator Router&()
    {
        return m_routing.GetRouter();
    }

  private:
    Routing m_routing;
};

} // namespace weir

#endif // WEIR_TESTS_FABRIC_PLAIN_ROUTING_H
