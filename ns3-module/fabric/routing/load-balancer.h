// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTING_LOAD_BALANCER_H
#define WEIR_FABRIC_ROUTING_LOAD_BALANCER_H

#include "fabric/ids.h"
#include "fabric/routing/path-choices.h"
#include "fabric/routing/path-table.h"
#include "fabric/topology/topology.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir
{

/** What goes from one switch to another, and how it is divided over links. */
struct PathDemand
{
    DeviceId first;
    DeviceId last;
    double weight{0};
    std::vector<LinkShare> shares{}; //!< of the weight; by ascending link
};

/**
 * What LoadBalancer notes by LinkId, kept from one use to the next: a fabric has far more links
 * than the demands that are divided cross, most of the time.
 */
struct LinkScratch
{
    /** For links up to @p links. O(1) but for the first time. */
    void Reserve(std::size_t links)
    {
        if (loads.size() < links)
        {
            loads.resize(links, 0);
            powers.resize(links, 0);
            stamps.resize(links, 0);
        }
    }

    std::vector<double> loads;    //!< whoever changes some sets them to nothing again
    std::vector<double> powers;   //!< as of stamps
    std::vector<uint64_t> stamps; //!< when a link's power was computed
    uint64_t stamp{0};            //!< of the round at hand
};

/**
 * Divides demands over their paths so that the largest link utilization is as small as the paths
 * allow.
 *
 * The objective is the sum over links of load^64, which is convex and within m^(1/64) of the
 * largest load for m links that are as loaded. It starts with even
 * shares of the shortest paths, which stand where nothing is better, and moves parts of each demand
 * to the path of the least sum of derivatives, as far as the sum falls (Frank and Wolfe 1956),
 * demand by demand until a round gains none of them more than a thousandth: what is little beside
 * others elsewhere is divided as it would be alone.
 *
 * O(rounds x demands x (links of its paths + detours)); at most 48 rounds.
 */
class LoadBalancer
{
  public:
    /**
     * @param loads what is on links, by LinkId: weights over the rate; what is divided is added
     * @param rates by LinkId, too, bytes/s; null: those of the topology
     * All references must outlive it.
     */
    LoadBalancer(PathChoices& choices,
                 const Topology& topology,
                 std::vector<double>& loads,
                 const std::vector<double>* rates,
                 LinkScratch& scratch);

    /** Sets the shares of all @p demands. */
    void Divide(std::vector<PathDemand>& demands);

    /** Takes all that Divide might have loaded for nothing: its loads are 0. */
    void Unload();

  private:
    /** A link whose share of a demand changes. */
    struct Change
    {
        LinkId link;
        double share; //!< before
        double delta; //!< when all moves
    };

    /** All that a demand may take, looked up once. */
    struct Paths
    {
        struct Detour
        {
            const PathDag* there; //!< to a switch that is not on the shortest paths
            const PathDag* on;    //!< and from it on
        };

        const PathDag* shortest;
        std::vector<Detour> detours;
    };

    /** What rounds have come to for one demand. */
    struct Progress
    {
        double largest; //!< load of its links, when the round began
        double lowest;  //!< root of powers so far
    };

    Paths PathsOf(const PathDemand& demand);
    void StartEvenly(PathDemand& demand, const PathDag& shortest);
    double LargestLoad(const PathDemand& demand) const;
    double RootOfPowers(const PathDemand& demand, double largest) const;

    /** Begins a round. @return whether the last one gained anything. */
    bool BeginRound(const std::vector<PathDemand>& demands, std::vector<Progress>& progress);

    /** Moves a part of @p demand. @return whether that gained anything. */
    bool Improve(PathDemand& demand, const Paths& paths);

    /** What @p demand's shares become if all of it moves to @p path; by ascending link. */
    static void AddPath(std::vector<Change>& changes, const std::vector<LinkId>& path);

    /** The part of a demand of @p weight that the sum falls with, as far as it does. */
    double BestPart(const std::vector<Change>& changes, double weight) const;
    double SlopeAfter(const std::vector<Change>& changes, double weight, double part) const;
    void Apply(const std::vector<Change>& changes, double part, PathDemand& demand);

    /** Sets m_best to the path of the least sum of slopes, detours too; ascending. */
    void FindBestPath(const Paths& paths);

    /** The least sum of slopes of a path from the dag's first vertex; m_next leads along it. */
    double MinSlopes(const PathDag& dag);
    void AppendCheapestPath(const PathDag& dag, std::vector<LinkId>& path);

    /** (load / m_scale)^63: times 64 / rate, what one more unit of weight adds to the sum. */
    double PowerAt(double load) const;
    double SlopeOf(LinkId link);
    double SumOfSlopes(const std::vector<LinkId>& path);

    double RateOf(LinkId link) const
    {
        return m_rates ? (*m_rates)[link.Index()]
                       : m_topology.GetLink(link).rate.ToBytesPerSecond();
    }

    PathChoices& m_choices;
    const Topology& m_topology;
    std::vector<double>& m_loads;
    const std::vector<double>* m_rates;
    LinkScratch& m_scratch;
    std::vector<Paths> m_paths;       //!< by demand
    double m_scale{0};                //!< the largest load when the round began
    double m_floor{0};                //!< what each link costs the demand at hand, in powers
    std::vector<LinkId> m_best;       //!< what FindBestPath has found
    std::vector<LinkId> m_detour;     //!< a detour, while it looks
    std::vector<double> m_remainders; //!< by vertex of a dag: the least sum of slopes from there
    std::vector<std::size_t> m_next;  //!< as above: the arc by which that path leaves
    std::vector<Change> m_changes;    //!< of the demand at hand
};

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_LOAD_BALANCER_H
