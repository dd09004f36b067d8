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

/** The links that the packets of routes may load, and the kinds of links and devices. */
class RouteFacts
{
  public:
    /**
     * @param pair how packets of a flow are spread over paths All arguments must outlive this
     *        object.
     */
    RouteFacts(Routing& routing, const QueuePairSpec& pair, EpisodeMemo& memo);

    /** Current paths and links of a route's packets. */
    struct Route
    {
        std::vector<PathId> paths;   //!< paths of data; where switches choose by load, each may
                                     //!< hold the links of several paths
        FlowPath taken;              //!< the path taken, unless load decides
        std::vector<uint32_t> links; //!< links of the paths and their reverse links, each once,
                                     //!< ascending
        bool isKnown{false};
    };

    /** Facts of a route; valid until the next call. O(1) after the first call for a route. */
    const Route& Of(RouteId route);

    /**
     * Number of the kind of a link; links with equal properties for packets have the same number.
     */
    uint32_t KindOf(uint32_t link) const
    {
        return m_linkKinds[link];
    }

    /** Number of the kind of a device, which includes its ports, since they share its buffer. */
    uint32_t KindOfDevice(uint32_t device) const
    {
        return m_deviceKinds[device];
    }

    Routing& GetRouting()
    {
        return m_routing;
    }

    /** Discards cached paths after links have changed. */
    void ForgetPaths()
    {
        m_routes.clear();
    }

    /** Sets the rate of a link, bytes/s; its other properties are those of the topology. */
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
 * Numbers the links, devices and connections of an episode in the order in which its flows need
 * them.
 */
class EpisodeNames
{
  public:
    /** Number, in @p memo, of the facts of a flow that starts now. */
    uint32_t FactsOf(const FlowRequest& request, RouteFacts& routes, EpisodeMemo& memo);

    /** Number of a flow's connection; EpisodeMemo::NONE if it has none yet. */
    uint32_t ConnectionOf(const FlowRequest& request) const
    {
        const auto known = m_connections.find(ConnectionKey(request));
        return known == m_connections.end() ? EpisodeMemo::NONE : known->second;
    }

    /** Number of a link; EpisodeMemo::NONE if it has none yet. */
    uint32_t NumberOf(uint32_t link) const
    {
        const auto known = m_numberOfLink.find(link);
        return known == m_numberOfLink.end() ? EpisodeMemo::NONE : known->second;
    }

    /** The links, by number. */
    const std::vector<uint32_t>& Links() const
    {
        return m_links;
    }

  private:
    void AddLink(uint32_t link, RouteFacts& routes);
    void AddDevice(DeviceId device, const RouteFacts& routes);

    std::unordered_map<uint32_t, uint32_t> m_numberOfLink;
    std::unordered_map<uint32_t, uint32_t> m_numberOfDevice;
    std::unordered_map<ConnectionKey, uint32_t, ConnectionKey::Hash> m_connections;
    std::vector<uint32_t> m_links;
    std::vector<int64_t> m_facts; //!< facts under construction
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_REPLAY_ROUTE_FACTS_H
