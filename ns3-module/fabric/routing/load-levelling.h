// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_LOAD_LEVELLING_H
#define WEIR_FABRIC_LOAD_LEVELLING_H

#include "fabric/ids.h"
#include "fabric/routing/link-scratch.h"
#include "fabric/routing/route-choices.h"
#include "fabric/routing/way-demand.h"
#include "fabric/topology/topology.h"

#include <vector>

namespace weir
{

/**
 * Divides demands over their ways so that the most loaded links are as little loaded as the ways
 * allow.
 *
 * That division minimises the largest load; here, in its place, the sum over links of load^64,
 * which is convex and within m^(1/64) of it for m links that are as loaded. It starts with even
 * shares of the shortest ways, which stand where nothing is better, and moves parts of each demand
 * to the way of the least sum of derivatives, as far as the sum falls (Frank and Wolfe 1956),
 * demand by demand until a round gains none of them more than a thousandth: what is little beside
 * others elsewhere is divided as it would be alone.
 *
 * O(rounds x demands x (links of its ways + detours)); at most 48 rounds.
 */
class LoadLevelling
{
  public:
    /**
     * @param loads what is on links, by LinkId: weights over the rate; what is divided is added
     * @param rates likewise, bytes/s; null: those of the topology
     * All references must outlive it.
     */
    LoadLevelling(RouteChoices& choices,
                  const Topology& topology,
                  std::vector<double>& loads,
                  const std::vector<double>* rates,
                  LinkScratch& scratch);

    /** Sets the shares of all @p demands. */
    void Divide(std::vector<WayDemand>& demands);

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
    struct Ways
    {
        struct Around
        {
            const RouteDag* there; //!< to a switch that is not on the shortest ways
            const RouteDag* on;    //!< and from it on
        };

        const RouteDag* shortest;
        std::vector<Around> detours;
    };

    /** What rounds have come to for one demand. */
    struct Progress
    {
        double largest; //!< load of its links, when the round began
        double lowest;  //!< root of powers so far
    };

    Ways WaysOf(const WayDemand& demand);
    void StartEvenly(WayDemand& demand, const RouteDag& shortest);
    double LargestLoad(const WayDemand& demand) const;
    double RootOfPowers(const WayDemand& demand, double largest) const;

    /** Begins a round. @return whether the last one gained anything. */
    bool BeginRound(const std::vector<WayDemand>& demands, std::vector<Progress>& progress);

    /** Moves a part of @p demand. @return whether that gained anything. */
    bool Improve(WayDemand& demand, const Ways& ways);

    /** What @p demand's shares become if all of it moves to @p way; by ascending link. */
    static void AddWay(std::vector<Change>& changes, const std::vector<LinkId>& way);

    /** The part of a demand of @p weight that the sum falls with, as far as it does. */
    double BestPart(const std::vector<Change>& changes, double weight) const;
    double SlopeAfter(const std::vector<Change>& changes, double weight, double part) const;
    void Apply(const std::vector<Change>& changes, double part, WayDemand& demand);

    /** Sets m_best to the way of the least sum of slopes, detours too; ascending. */
    void FindBestWay(const Ways& ways);

    /** The least sum of slopes of a way from the dag's first place; m_next leads along it. */
    double LeastSlopes(const RouteDag& dag);
    void AppendCheapestWay(const RouteDag& dag, std::vector<LinkId>& way);

    /** (load / m_scale)^63: times 64 / rate, what one more unit of weight adds to the sum. */
    double PowerAt(double load) const;
    double SlopeOf(LinkId link);
    double SumOfSlopes(const std::vector<LinkId>& way);

    double RateOf(LinkId link) const
    {
        return m_rates ? (*m_rates)[link.Index()]
                       : m_topology.GetLink(link).rate.ToBytesPerSecond();
    }

    RouteChoices& m_choices;
    const Topology& m_topology;
    std::vector<double>& m_loads;
    const std::vector<double>* m_rates;
    LinkScratch& m_scratch;
    std::vector<Ways> m_ways;        //!< by demand
    double m_scale{0};               //!< the largest load when the round began
    double m_floor{0};               //!< what each link costs the demand at hand, in powers
    std::vector<LinkId> m_best;      //!< what FindBestWay has found
    std::vector<LinkId> m_around;    //!< a detour, while it looks
    std::vector<double> m_rests;     //!< by place of a dag: the least sum of slopes from there
    std::vector<std::size_t> m_next; //!< likewise: the arc by which that way leaves
    std::vector<Change> m_changes;   //!< of the demand at hand
};

} // namespace weir

#endif // WEIR_FABRIC_LOAD_LEVELLING_H
