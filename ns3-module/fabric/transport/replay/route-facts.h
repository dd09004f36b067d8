// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_REPLAY_ROUTE_FACTS_H
#define WEIR_FABRIC_TRANSPORT_REPLAY_ROUTE_FACTS_H

#include "fabric/routing/routing.h"
#include "fabric/transport/packet/packet-spec.h"
#include "fabric/transport/replay/episode-memo.h"
#include "fabric/transport/transport.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace weir
{

/** Which links the packets of routes may load, and what links and devices are like. */
class RouteFacts
{
  public:
    /**
     * @param pair how packets of a flow are spread over paths
     * All must outlive it.
     */
    RouteFacts(Routing& routing, const QueuePairSpec& pair, EpisodeMemo& memo);

    /** What a route's packets may take now. */
    struct Route
    {
        std::vector<PathId> paths;   //!< of data; links of several where switches choose by load
        FlowPath taken;              //!< where no load decides
        std::vector<uint32_t> links; //!< of those and back, each once
        bool isKnown{false};
    };

    /** Valid until the next call. O(1) after the first one. */
    const Route& Of(RouteId route);

    /** Links equal in all that packets meet there have the same number. */
    uint32_t KindOf(uint32_t link) const
    {
        return m_linkKinds[link];
    }

    /** The same for devices: what ports they have decides on the room that these share. */
    uint32_t KindOfDevice(uint32_t device) const
    {
        return m_deviceKinds[device];
    }

    Routing& GetRouting()
    {
        return m_routing;
    }

    /** Routes may have other paths. */
    void ForgetPaths()
    {
        m_routes.clear();
    }

    /** A link is as the topology has it but for its rate, bytes/s. */
    void SetRate(uint32_t link, double rate);

  private:
    uint32_t KindOf(const Link& link, double rate);

    Routing& m_routing;
    const QueuePairSpec& m_pair;
    EpisodeMemo& m_memo;
    std::vector<uint32_t> m_linkKinds;
    std::vector<uint32_t> m_deviceKinds;
    std::vector<Route> m_routes;
};

/**
 * Numbers that links, devices and connections have in an episode: in the order in which its flows
 * need them.
 */
class EpisodeNames
{
  public:
    /** What is to be known of a flow that starts now, by its number in @p memo. */
    uint32_t FactsOf(const FlowRequest& request, RouteFacts& routes, EpisodeMemo& memo);

    /** The number of a flow's connection; EpisodeMemo::NONE: it has none yet. */
    uint32_t ConnectionOf(const FlowRequest& request) const
    {
        const auto known = m_connections.find(KeyOf(request));
        return known == m_connections.end() ? EpisodeMemo::NONE : known->second;
    }

    /** The number of a link; EpisodeMemo::NONE: it has none yet. */
    uint32_t NumberOf(uint32_t link) const
    {
        const auto known = m_numberOfLink.find(link);
        return known == m_numberOfLink.end() ? EpisodeMemo::NONE : known->second;
    }

    /** By their numbers. */
    const std::vector<uint32_t>& Links() const
    {
        return m_links;
    }

  private:
    static uint64_t KeyOf(const FlowRequest& request)
    {
        return uint64_t{request.route.Index()} << 32 | request.stream;
    }

    void AddLink(uint32_t link, RouteFacts& routes);
    void AddDevice(DeviceId device, const RouteFacts& routes);

    std::unordered_map<uint32_t, uint32_t> m_numberOfLink;
    std::unordered_map<uint32_t, uint32_t> m_numberOfDevice;
    std::unordered_map<uint64_t, uint32_t> m_connections; //!< by route and stream
    std::vector<uint32_t> m_links;
    std::vector<int64_t> m_facts; //!< being put together
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_REPLAY_ROUTE_FACTS_H
