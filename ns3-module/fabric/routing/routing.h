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
 * The end points of a flow, what it must pass between them, and what switches hash of it: a
 * connection, as a queue pair of RDMA is one.
 *
 * Inside a node a route is fixed when it is added; through the network it follows the routing
 * policy and the links that are up.
 */
struct RouteRequest
{
    DeviceId source;
    DeviceId destination;
    DeviceId relay{};  //!< GPU that passes the bytes on, by NVLink (PXN, NVB); invalid: none
    DeviceId outNic{}; //!< where they enter the network; invalid: they stay inside the node
    DeviceId inNic{};  //!< where they leave it
    uint8_t insideKinds{NVLINK_KINDS};   //!< links of a route inside a node
    uint8_t networkKinds{NETWORK_KINDS}; //!< links from outNic to inNic
    uint16_t sourcePort{0};              //!< as FlowTuple has it
    uint16_t queuePair{0};
};

/** Equal segments of a route through the network, or of a sum of routes. */
struct SegmentCount
{
    DeviceId from; //!< NIC or host
    DeviceId to;
    uint32_t times{1};
};

/** A route's segments through the network, and all other links. */
struct RouteDecomposition
{
    std::vector<SegmentCount> segments; //!< by ascending ends, each two ends once
    std::vector<PathLink> rest;
};

/** A route and the weight of what it carries. */
struct RouteLoad
{
    RouteId route;
    double weight{1};
};

/** Over which links switches spread what routes carry. */
class LinkSpread
{
  public:
    virtual ~LinkSpread() = default;

    /** By ascending link, each once. Valid until the next call. */
    virtual const std::vector<LinkShare>& SharesOf(RouteId route) = 0;

    /** Whether one flow is spread so, not only many of them in the mean. */
    virtual bool IsPerPacket() const = 0;

    /** The spread of routes that are loaded at once, uncontended otherwise; null: no different. */
    virtual std::unique_ptr<LinkSpread> Concurrent(const std::vector<RouteLoad>& loads) = 0;
};

/** Routes that are loaded at one rate, such as all hops of a ring; a stream over all of them. */
struct RouteSum
{
    /** A route, or another sum, and how often a byte of the stream crosses it. */
    struct Term
    {
        RouteId route;
        uint32_t times{1};
    };

    /** A segment through the network that belongs to no route. */
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
    std::vector<PathLink> segmentLinks; //!< the planned links of all segments, each once
    std::vector<PathLink> otherLinks;   //!< of no term or segment, each once
};

/** By tree: its links over links that are usable now, in any order. Empty: there are no trees. */
using TreeReroute = std::function<std::vector<std::vector<LinkId>>(const Router& router)>;

/**
 * The routes of a fabric: who talks to whom, over which links now.
 *
 * A route has the path that the policy gives it while all links are up. Where that has a link that
 * is down, the route is rerouted over the links that are left, and restored when the link comes up
 * again; where no path is left it keeps its path and stalls. Equal requests have one route.
 */
class Routing
{
  public:
    /** @p topology must outlive it; of @p fabric only the routing is looked at. */
    Routing(const Topology& topology, const FabricSpec& fabric);
    ~Routing();
    Routing(const Routing&) = delete;
    Routing& operator=(const Routing&) = delete;

    /**
     * The route of that request. Amortized O(links) when it is new, O(1) when not.
     * @throws std::runtime_error naming two devices that no path joins.
     */
    RouteId Add(const RouteRequest& request);

    /** The hops of that request, which is added to nothing. @throws as Add. */
    std::vector<LinkId> FindHops(const RouteRequest& request);

    /** A route over given links, never rerouted: a multicast or a reduction inside switches. */
    RouteId AddFixed(const std::vector<PathLink>& links);

    /** As above, of links that may come several times, in any order. */
    RouteId AddFixed(const std::vector<LinkId>& links);

    /**
     * Routes over given links of trees, each in any order, of which those with a link that is down
     * are as @p reroute says. Equal lists have the same routes.
     */
    std::vector<RouteId> AddTrees(const std::vector<std::vector<LinkId>>& trees,
                                  TreeReroute reroute);

    /** The route over given hops in order, never rerouted. */
    RouteId AddPinned(const std::vector<LinkId>& hops);

    /** What loads the links of all routes of @p sum. Equal sums have one route. */
    RouteId AddSum(const RouteSum& sum);

    /** The route of no links, from a device to itself. */
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

    /** The path over links that are up; PlannedPath where there is none, or nothing is down. */
    PathId CurrentPath(RouteId route)
    {
        return m_down == 0 ? PlannedPath(route) : Rerouted(route);
    }

    /** The path of a route with other hops through the network than the planned ones. */
    PathId PathThrough(RouteId route, const std::vector<LinkId>& network);

    /**
     * The current paths of a route's packets when their sender varies what switches hash, @p count
     * times, in that order. One where switches have no choice. Those that begin at another port
     * than the first are left out: a sender has one. O(count x links) when called.
     * @param isDistinct each path is there once, however often switches come to it
     */
    std::vector<PathId> EntropyPaths(RouteId route, uint32_t count, bool isDistinct);

    /** The planned path's links: hops in order, or counted links of a sum. */
    PathTable::Span Links(RouteId route) const
    {
        return m_paths.Links(PlannedPath(route));
    }

    /** The sum of the planned path's latencies. */
    Time Latency(RouteId route) const
    {
        return m_paths.Latency(PlannedPath(route));
    }

    /** What an uncontended flow gets on the planned path. */
    Rate BottleneckRate(RouteId route) const
    {
        return m_paths.BottleneckRate(PlannedPath(route));
    }

    /** What an uncontended flow gets when its packets may be sprayed over other paths too. */
    Rate UncontendedRate(RouteId route) const;

    /**
     * Whether both load the same links as often while all are up; of sums where switches choose
     * paths, whether they also join the same end points.
     */
    bool HaveSameLinks(RouteId a, RouteId b) const
    {
        return a == b || (!IsSum(a) && !IsSum(b) && PlannedPath(a) == PlannedPath(b));
    }

    /** Whether a route leads from one device to another, hop by hop. */
    bool HasEnds(RouteId route) const
    {
        const Kind kind = m_routes[route.Index()].kind;
        return kind == Kind::Single || kind == Kind::Pinned;
    }

    /** Where a route that HasEnds begins and ends; invalid for others and Nowhere. */
    DeviceId SourceOf(RouteId route) const;
    DeviceId DestinationOf(RouteId route) const;

    /** What a route is made of. O(links), and O(terms log terms) for a sum. */
    RouteDecomposition DecompositionOf(RouteId route) const;

    /** Whether a route is a sum of several, which only a fluid carries at one rate. */
    bool IsSum(RouteId route) const
    {
        return m_routes[route.Index()].kind == Kind::Sum;
    }

    /** The hops inside a node over links of @p kinds, kept. @throws as Add. */
    const std::vector<LinkId>& InsidePath(DeviceId from, DeviceId to, uint8_t kinds);

    /** How switches spread flows; null when each flow has its own path. */
    EvenSpread* Spread() const
    {
        return m_spread.get();
    }

    /** Links go down or come up; routes are rerouted from now on. */
    void SetUsable(const std::vector<LinkId>& links, bool usable);

    bool AreAllUsable() const
    {
        return m_down == 0;
    }

    bool IsUsable(LinkId link) const
    {
        return m_router.IsUsable(link);
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
        Single, //!< from one device to another through the network
        Pinned, //!< given hops
        Fixed,  //!< given links in no order
        Tree,   //!< similarly, but rerouted with others
        Sum
    };

    /** By RouteId. */
    struct Route
    {
        PathId path;        //!< planned
        uint32_t detail{0}; //!< Single: into m_singles; Sum: into m_sums; Tree: into m_trees
        Kind kind{Kind::Fixed};
    };

    /** What a Single is made of. */
    struct Single
    {
        PathId before; //!< inside the source's node
        PathId after;  //!< inside the destination's node
        DeviceId from; //!< ends of the segment through the network
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

    /** Trees that were added together. */
    struct Trees
    {
        std::vector<RouteId> routes;
        TreeReroute reroute;
        std::optional<std::vector<std::vector<LinkId>>> now; //!< what it said since links changed
    };

    RouteId Intern(const Route& route, uint32_t hash);
    RouteId InternFixed(PathId path, Kind kind);
    PathId AppendInside(PathId before, DeviceId from, DeviceId to, uint8_t kinds);
    PathId Joined(PathId before, const std::vector<LinkId>& network, PathId after);
    static FlowTuple TupleOf(const Single& single);
    Sum Flattened(const RouteSum& sum) const;
    PathId InternLinks(std::vector<PathLink>& links);
    PathId InternEach(const std::vector<LinkId>& links);
    bool AreSameSum(const Route& known,
                    const Route& route,
                    const RouteDecomposition& decomposition) const;

    Router& HealthyRouter();
    bool HasDownLink(PathId path) const;
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
    std::unique_ptr<Router> m_healthy; //!< with all links up; null while m_router is that
    PathTable m_paths;
    std::vector<Route> m_routes;
    std::vector<Single> m_singles;
    std::vector<Sum> m_sums;
    InternIndex m_index; //!< of routes that are singles or sums
    std::vector<Trees> m_trees;
    std::map<std::vector<PathId>, uint32_t> m_treesByPaths; //!< into m_trees
    std::vector<RouteId> m_fixedRoutes;  //!< by path: the one that is Fixed, or invalid
    std::vector<RouteId> m_pinnedRoutes; //!< by path: the one that is Pinned, or invalid
    std::unordered_map<uint64_t, std::vector<LinkId>> m_insidePaths; //!< by kinds and both devices
    std::size_t m_down{0};                                           //!< links not usable
    std::unordered_map<RouteId, PathId> m_rerouted;                  //!< since links last changed
    std::unique_ptr<EvenSpread> m_spread; //!< null: each flow has its own path
};

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_ROUTING_H
