// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTING_LOAD_BALANCER_H
#define WEIR_FABRIC_ROUTING_LOAD_BALANCER_H

#include "fabric/ids.h"
#include "fabric/routing/path-dag.h"
#include "fabric/routing/path-table.h"
#include "fabric/routing/router.h"
#include "fabric/topology/topology.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace weir
{

/** The paths that load-aware switches may choose from; cached until links of the router change. */
class PathChoices
{
  public:
    /** @p router must outlive this object. */
    explicit PathChoices(Router& router);

    /** Whether there are non-minimal paths, i.e. switches form groups. */
    bool HasDetours() const
    {
        return m_router.GetDetours().HasGroups();
    }

    /** The shortest paths between two devices over the network; null when there are none. */
    const PathDag* Shortest(DeviceId from, DeviceId to)
    {
        return m_router.NetworkPaths(from, to);
    }

    /** The intermediate switches of non-minimal paths between two switches of a dragonfly. */
    const std::vector<DeviceId>& Intermediates(DeviceId first, DeviceId last);

    /**
     * The path of a flow from @p from to @p to that starts now; there must be a path. Of all
     * shortest paths it is the one with the smallest maximum link load including the flow. In a
     * dragonfly it is a detour if load x links of the detour is less than load x links of the
     * shortest path (UGAL: Singh 2005; Kim et al., ISCA 2008, section 4.1, with global knowledge of
     * link loads).
     * @param onLinks by LinkId: sum of flow weights / rate.
     * @param rates by LinkId, bytes/s.
     * @param weight of the flow.
     * @param turn selects which detours are compared.
     */
    std::vector<LinkId> LeastLoaded(DeviceId from,
                                    DeviceId to,
                                    const std::vector<double>& onLinks,
                                    const std::vector<double>& rates,
                                    double weight,
                                    uint64_t turn);

    const RoutingPolicy& Policy() const
    {
        return m_router.Policy();
    }

    const Topology& GetTopology() const
    {
        return m_router.GetTopology();
    }

    /** Rates of the links in the topology, by LinkId, bytes/s. */
    const std::vector<double>& Rates() const
    {
        return m_rates;
    }

  private:
    Router& m_router;
    uint64_t m_revision;
    std::vector<double> m_rates; //!< by link, bytes/s, of the topology
    double m_fastest{0};         //!< highest rate of a network link, bytes/s
    std::unordered_map<uint64_t, std::vector<DeviceId>> m_intermediates; //!< by both switches
};

/** The traffic from one switch to another, and its split over links. */
struct PathDemand
{
    DeviceId first;
    DeviceId last;
    double weight{0};
    std::vector<LinkShare> shares{}; //!< fractions of the weight; ascending by link
};

/**
 * Scratch vectors of LoadBalancer by LinkId, reused between calls, as a fabric typically has far
 * more links than the demands to divide cross.
 */
struct LinkScratch
{
    /** Resizes for @p links links. O(1) except for the first call. */
    void Reserve(std::size_t links)
    {
        if (loads.size() < links)
        {
            loads.resize(links, 0);
            powers.resize(links, 0);
            stamps.resize(links, 0);
        }
    }

    std::vector<double> loads;    //!< zero between uses
    std::vector<double> powers;   //!< as of stamps
    std::vector<uint64_t> stamps; //!< round in which a link's power was computed
    uint64_t stamp{0};            //!< current round
};

/**
 * Divides demands over their paths so as to minimize the maximum link utilization.
 *
 * The objective is the sum of load^64 over links. It is convex, and its 64th root is within a
 * factor m^(1/64) of the maximum load if m links have that load. The balancer starts with even
 * shares of the shortest paths, which remain where nothing is better. It then moves a part of each
 * demand to the path with the smallest sum of derivatives, as far as the objective decreases (Frank
 * and Wolfe 1956), demand by demand, until no demand gains more than 0.1 % in a round. A small
 * demand is thus divided as in isolation even if other links have large loads.
 *
 * O(rounds x demands x (links of its paths + detours)); at most 48 rounds.
 */
class LoadBalancer
{
  public:
    /**
     * @param loads of links by LinkId, weight / rate; the loads of the divided demands are added
     * @param rates of links by LinkId, bytes/s
     *
     * All references must outlive this object.
     */
    LoadBalancer(PathChoices& choices,
                 std::vector<double>& loads,
                 const std::vector<double>& rates,
                 LinkScratch& scratch);

    /** Sets the shares of all @p demands. */
    void Divide(std::vector<PathDemand>& demands);

    /** Sets the loads of all links that Divide may have changed to 0. */
    void Unload();

  private:
    /** A link whose share of a demand changes. */
    struct Change
    {
        LinkId link;
        double share; //!< before the move
        double delta; //!< change if the whole demand moves
    };

    /** The paths that a demand may take; looked up once. */
    struct Paths
    {
        struct Detour
        {
            const PathDag* there; //!< to the intermediate switch
            const PathDag* on;    //!< from the intermediate switch
        };

        const PathDag* shortest;
        std::vector<Detour> detours;
    };

    /** The progress of one demand over the rounds. */
    struct Progress
    {
        double largest; //!< maximum load of its links at the start of the round
        double lowest;  //!< lowest RootOfPowers so far
    };

    Paths PathsOf(const PathDemand& demand);
    void StartEvenly(PathDemand& demand, const PathDag& shortest);
    double LargestLoad(const PathDemand& demand) const;
    double RootOfPowers(const PathDemand& demand, double largest) const;

    /** Begins a round. @return whether the previous round improved any demand */
    bool BeginRound(const std::vector<PathDemand>& demands, std::vector<Progress>& progress);

    /** Moves a part of @p demand to its best path. @return whether the objective decreased */
    bool Improve(PathDemand& demand, const Paths& paths);

    /**
     * Adds to @p changes the increase of the shares on @p path if the whole demand moves there;
     * keeps them ascending by link.
     */
    static void AddPath(std::vector<Change>& changes, const std::vector<LinkId>& path);

    /**
     * The fraction of a demand of @p weight to move, such that the objective decreases up to it.
     */
    double BestPart(const std::vector<Change>& changes, double weight) const;
    double SlopeAfter(const std::vector<Change>& changes, double weight, double part) const;
    void Apply(const std::vector<Change>& changes, double part, PathDemand& demand);

    /**
     * Sets m_best to the path, detours included, with the smallest sum of slopes; ascending by
     * link.
     */
    void FindBestPath(const Paths& paths);

    /**
     * The smallest sum of slopes of a path from the first to the last vertex of the DAG; m_next
     * holds its arcs.
     */
    double MinSlopes(const PathDag& dag);
    void AppendCheapestPath(const PathDag& dag, std::vector<LinkId>& path);

    /** (load / m_scale)^63. Times 64 / rate, this is the derivative of the objective by weight. */
    double PowerAt(double load) const;
    double SlopeOf(LinkId link);
    double SumOfSlopes(const std::vector<LinkId>& path);

    double RateOf(LinkId link) const
    {
        return m_rates[link.Index()];
    }

    PathChoices& m_choices;
    std::vector<double>& m_loads;
    const std::vector<double>& m_rates;
    LinkScratch& m_scratch;
    std::vector<Paths> m_paths;       //!< by demand
    double m_scale{0};                //!< maximum load at the start of the round
    double m_floor{0};                //!< cost of any link for the current demand, in powers
    std::vector<LinkId> m_best;       //!< result of FindBestPath
    std::vector<LinkId> m_detour;     //!< scratch of FindBestPath
    std::vector<double> m_remainders; //!< by vertex: smallest sum of slopes to the end
    std::vector<std::size_t> m_next;  //!< by vertex: first arc of that path
    std::vector<Change> m_changes;    //!< of the current demand
};

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_LOAD_BALANCER_H
