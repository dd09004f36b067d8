// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTING_ROUTING_H
#define WEIR_FABRIC_ROUTING_ROUTING_H

#include "fabric/ids.h"
#include "fabric/parameters/polymorphic.h"
#include "fabric/routing/flow-hash.h"
#include "fabric/routing/intern-index.h"
#include "fabric/routing/path-table.h"
#include "fabric/routing/router.h"
#include "fabric/routing/routing-policy.h"
#include "fabric/topology/topology.h"
#include "fabric/units.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace weir
{

class EvenSpread;
struct FabricSpec;

/**
 * The end points of a flow, the devices that it must pass between them, and the fields that
 * switches hash: one connection, such as an RDMA queue pair.
 *
 * A route within a node is fixed when it is added. A route through the network follows the routing
 * policy and the links that are up.
 */
struct RouteRequest
{
    DeviceId source;
    DeviceId destination;
    DeviceId relay{};  //!< GPU that relays the bytes over NVLink (PXN, NVB); invalid: none
    DeviceId outNic{}; //!< NIC where they enter the network; invalid: they stay within the node
    DeviceId inNic{};  //!< NIC where they leave the network
    uint8_t insideKinds{NVLINK_KINDS};   //!< link kinds of a route within a node
    uint8_t networkKinds{NETWORK_KINDS}; //!< link kinds from outNic to inNic
    uint16_t sourcePort{0};              //!< as in FlowTuple
    uint16_t queuePair{0};
};

/**
 * A path segment through the network of a route or of a sum of routes, with its number of
 * occurrences.
 */
struct SegmentCount
{
    DeviceId from; //!< NIC or host
    DeviceId to;
    uint32_t times{1};
};

/** The segments of a route through the network, and its other links. */
struct RouteDecomposition
{
    std::vector<SegmentCount> segments; //!< ascending by from, then to; each pair once
    std::vector<PathLink> rest;
};

/** A route and the weight of its traffic. */
struct RouteLoad
{
    RouteId route;
    double weight{1};
};

/**
 * Routes that carry the same rate, such as all hops of a ring, treated as one stream over all of
 * them.
 */
struct RouteSum
{
    /** A route or another sum, and how often each byte of the stream crosses it. */
    struct Term
    {
        RouteId route;
        uint32_t times{1};
    };

    /** A path segment through the network that belongs to no route. */
    struct Segment
    {
        DeviceId from; //!< NIC or host
        DeviceId to;
        FlowTuple tuple;
        uint32_t times{1};
    };

    void Add(RouteId route, uint32_t times = 1)
    {
        terms.push_back({route, times});
    }

    std::vector<Term> terms;
    std::vector<Segment> segments;
    std::vector<PathLink> segmentLinks; //!< planned links of all segments, each link once
    std::vector<PathLink> otherLinks;   //!< links outside terms and segments, each link once
};

/**
 * Returns, by tree, its links when only usable links are used, in any order; an empty vector if
 * there are no trees.
 */
using TreeReroute = std::function<std::vector<std::vector<LinkId>>(const Router& router)>;

/**
 * The routes of a fabric: their end points and their present links.
 *
 * While all links are up, a route has the path that the policy gives it. If a link of that path is
 * down, the route is rerouted over the remaining links, and restored when the link comes up again.
 * If no path remains, the route keeps its path and stalls. Equal requests share one route.
 */
class Routing
{
  public:
    /** @p topology must outlive this object. Only the routing parameters of @p fabric are used. */
    Routing(const Topology& topology, const FabricSpec& fabric);
    ~Routing();
    Routing(const Routing&) = delete;
    Routing& operator=(const Routing&) = delete;

    /**
     * The route of @p request, which is added if it is new. Amortized O(links) if it is new, else
     * O(1).
     * @throws std::runtime_error naming two devices that no path connects.
     */
    RouteId Add(const RouteRequest& request);

    /** The hops of @p request, without adding a route. @throws std::runtime_error as Add does. */
    std::vector<LinkId> FindHops(const RouteRequest& request);

    /**
     * A route over given links, each link at most once, which is never rerouted: a multicast or a
     * reduction inside switches.
     */
    RouteId AddFixed(const std::vector<PathLink>& links);

    /** As above; links may occur several times, in any order. */
    RouteId AddFixed(const std::vector<LinkId>& links);

    /**
     * Routes over the links of trees, each in any order. A tree with a link that is down takes the
     * links that @p reroute returns. Equal lists of trees share their routes.
     */
    std::vector<RouteId> AddTrees(const std::vector<std::vector<LinkId>>& trees,
                                  TreeReroute reroute);

    /** The route over @p hops in order, which is never rerouted. */
    RouteId AddPinned(const std::vector<LinkId>& hops)
    {
        return InternFixed(m_paths.Intern(hops), Kind::Pinned);
    }

    /**
     * The route that loads the links of all routes of @p sum. Equal sums share one route. A sum of
     * striped routes is striped: each of its stripes is the sum of one stripe of every term.
     */
    RouteId AddSum(const RouteSum& sum);

    /**
     * A route whose bytes are divided evenly over @p stripes, such as the queue pairs of a
     * connection or the ports of a NIC. Whoever starts flows starts one on each stripe; a flow on
     * the striped route itself takes the path of the first. Equal lists share one route, and a
     * list of one route is that route.
     * @param stripes at least one, none of them striped
     */
    RouteId AddStriped(const std::vector<RouteId>& stripes);

    /** Number of stripes; one if the route is not striped. */
    std::size_t StripeCount(RouteId route) const
    {
        const auto striped = m_stripes.find(route);
        return striped == m_stripes.end() ? 1 : striped->second.size();
    }

    /** A stripe by number, from 0, modulo StripeCount: of a route without stripes, itself. */
    RouteId Stripe(RouteId route, std::size_t number) const
    {
        const auto striped = m_stripes.find(route);
        return striped == m_stripes.end() ? route
                                          : striped->second[number % striped->second.size()];
    }

    /** Whether a route is striped. */
    bool IsStriped(RouteId route) const
    {
        return StripeCount(route) > 1;
    }

    /** The route without links, from a device to itself. */
    RouteId Nowhere() const
    {
        return RouteId(0);
    }

    std::size_t Size() const
    {
        return m_routes.size();
    }

    /** The path while all links are up. */
    PathId PlannedPath(RouteId route) const
    {
        return m_routes[route.Index()].path;
    }

    /** The path over links that are up; PlannedPath if there is none or no link is down. */
    PathId CurrentPath(RouteId route)
    {
        return m_down == 0 ? PlannedPath(route) : Rerouted(route);
    }

    /** The path of a route with @p network in place of its planned hops through the network. */
    PathId PathThrough(RouteId route, const std::vector<LinkId>& network);

    /**
     * The current path of a route; where packets are sprayed, the current paths of its packets when
     * their sender varies the hashed source port over @p count values, in that order. Paths that
     * start at another port than the first path are left out, as a sender has one port. O(count x
     * links) per call.
     * @param isDistinct whether each path is listed once even if several values lead to it
     */
    std::vector<PathId> EntropyPaths(RouteId route, uint32_t count, bool isDistinct);

    /** The links of the planned path: hops in order, or links with multiplicities for a sum. */
    PathTable::Span Links(RouteId route) const
    {
        return m_paths.Links(PlannedPath(route));
    }

    /** The sum of the planned path's latencies; of stripes, that of the slowest. */
    Time Latency(RouteId route) const
    {
        return IsStriped(route) ? StripedLatency(route) : m_paths.Latency(PlannedPath(route));
    }

    /** The rate of an uncontended flow on the planned paths of all stripes. */
    Rate BottleneckRate(RouteId route) const
    {
        return IsStriped(route) ? StripedBottleneckRate(route)
                                : m_paths.BottleneckRate(PlannedPath(route));
    }

    /** The rate of an uncontended flow whose packets may also be sprayed over other paths. */
    Rate UncontendedRate(RouteId route) const;

    /** The latency of an uncontended flow: where its packets are sprayed, of the slowest path. */
    Time UncontendedLatency(RouteId route) const;

    /**
     * Whether both routes load the same links with the same multiplicities while all links are up.
     * Sums must also connect the same end points if switches choose paths.
     */
    bool HaveSameLinks(RouteId a, RouteId b) const
    {
        return a == b || (!IsSum(a) && !IsSum(b) && PlannedPath(a) == PlannedPath(b) &&
                          HaveSameStripes(a, b));
    }

    /** Whether a route leads hop by hop from one device to another. */
    bool HasEnds(RouteId route) const
    {
        const Kind kind = m_routes[route.Index()].kind;
        return kind == Kind::Single || kind == Kind::Pinned;
    }

    /** End points of a route for which HasEnds holds; invalid for other routes and for Nowhere. */
    DeviceId SourceOf(RouteId route) const;
    DeviceId DestinationOf(RouteId route) const;

    /** The segments and links of a route. O(links), plus O(terms log terms) for a sum. */
    RouteDecomposition DecompositionOf(RouteId route) const;

    /**
     * Whether a route is a sum of several routes. Only the fluid transport can carry a sum at one
     * rate.
     */
    bool IsSum(RouteId route) const
    {
        return m_routes[route.Index()].kind == Kind::Sum;
    }

    /**
     * The hops within a node over links of @p kinds; cached.
     * @throws std::runtime_error as Add does.
     */
    const std::vector<LinkId>& InsidePath(DeviceId from, DeviceId to, uint8_t kinds);

    /** The spread of flows by switches; null if each flow has its own path. */
    EvenSpread* Spread() const
    {
        return m_spread.get();
    }

    /** Sets @p links up or down. Routes are rerouted from now on. */
    void SetUsable(const std::vector<LinkId>& links, bool usable);

    bool AreAllUsable() const
    {
        return m_down == 0;
    }

    bool IsUsable(LinkId link) const
    {
        return m_router.IsUsable(link);
    }

    /** The first link of a path that is down; invalid if there is none. */
    LinkId FirstDownLink(PathId path) const;

    bool HasDownLink(PathId path) const
    {
        return FirstDownLink(path).IsValid();
    }

    const RoutingPolicy& Policy() const
    {
        return *m_policy;
    }

    Router& GetRouter()
    {
        return m_router;
    }

    PathTable& Paths()
    {
        return m_paths;
    }

    const Topology& GetTopology() const
    {
        return m_topology;
    }

  private:
    enum class Kind : uint8_t
    {
        Single, //!< between two devices through the network
        Pinned, //!< given hops
        Fixed,  //!< given links, unordered
        Tree,   //!< as Fixed, but rerouted with the other trees
        Sum
    };

    /** By RouteId. */
    struct Route
    {
        PathId path;        //!< planned
        uint32_t detail{0}; //!< index into m_singles, m_sums or m_trees
        Kind kind{Kind::Fixed};
    };

    /** The parts of a Single route. */
    struct Single
    {
        PathId before; //!< within the source's node
        PathId after;  //!< within the destination's node
        DeviceId from; //!< end points of the network segment
        DeviceId to;
        uint16_t sourcePort{0};
        uint16_t queuePair{0};
        uint8_t networkKinds{0};

        friend bool operator==(const Single& a, const Single& b)
        {
            return a.before == b.before && a.after == b.after && a.from == b.from && a.to == b.to &&
                   a.sourcePort == b.sourcePort && a.queuePair == b.queuePair &&
                   a.networkKinds == b.networkKinds;
        }
    };

    /** The terms of a Sum. */
    struct Sum
    {
        std::vector<RouteSum::Term> terms; //!< single and fixed routes
        std::vector<RouteSum::Segment> segments;
        std::vector<PathLink> otherLinks;
    };

    /** Trees that were added in one call. */
    struct Trees
    {
        std::vector<RouteId> routes;
        TreeReroute reroute;
        std::optional<std::vector<std::vector<LinkId>>> now; //!< of reroute, if known
    };

    RouteId Intern(const Route& route, uint32_t hash);
    Rate StripedBottleneckRate(RouteId route) const;
    Time StripedLatency(RouteId route) const;
    bool HaveSameStripes(RouteId a, RouteId b) const;
    RouteId InternFixed(PathId path, Kind kind);

    /** The hops of a request within nodes: before the network, and behind it. */
    struct InsideHops
    {
        std::vector<LinkId> before;
        std::vector<LinkId> after;
    };

    InsideHops FindInsideHops(const RouteRequest& request);
    PathId Joined(PathId before, const std::vector<LinkId>& network, PathId after);
    static FlowTuple TupleOf(const Single& single);
    Sum Flattened(const RouteSum& sum) const;
    RouteId AddStripedSum(const RouteSum& sum, std::size_t stripes);
    PathId InternLinks(std::vector<PathLink>& links);
    PathId InternEach(const std::vector<LinkId>& links);
    bool AreSameSum(const Route& known,
                    const Route& route,
                    const RouteDecomposition& decomposition) const;

    /** The router with all links up. */
    Router& HealthyRouter()
    {
        return m_healthy ? *m_healthy : m_router;
    }

    PathId Rerouted(RouteId route);
    PathId RerouteSingle(const Route& route);
    PathId RerouteSum(const Route& route);
    PathId RerouteTree(RouteId route);
    void AddDecomposition(const Route& route,
                          uint32_t times,
                          std::vector<SegmentCount>& segments,
                          std::vector<PathLink>& rest) const;

    const Topology& m_topology;
    Polymorphic<RoutingPolicy> m_policy;
    Router m_router;
    std::unique_ptr<Router> m_healthy; //!< all links up; null: as m_router
    PathTable m_paths;
    std::vector<Route> m_routes;
    std::vector<Single> m_singles;
    std::vector<Sum> m_sums;
    InternIndex m_index; //!< of routes that are singles or sums
    std::vector<Trees> m_trees;
    std::map<std::vector<PathId>, uint32_t> m_treesByPaths; //!< into m_trees
    std::vector<RouteId> m_fixedRoutes;                     //!< by path; invalid: no Fixed route
    std::vector<RouteId> m_pinnedRoutes;                    //!< by path; invalid: no Pinned route
    std::unordered_map<RouteId, std::vector<RouteId>> m_stripes;     //!< of striped routes
    std::map<std::vector<RouteId>, RouteId> m_striped;               //!< by stripes
    std::unordered_map<uint64_t, std::vector<LinkId>> m_insidePaths; //!< by kinds and both devices
    std::size_t m_down{0};                          //!< number of links that are down
    std::unordered_map<RouteId, PathId> m_rerouted; //!< valid until links change
    std::unique_ptr<EvenSpread> m_spread;           //!< null: each flow has its own path
};

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_ROUTING_H
