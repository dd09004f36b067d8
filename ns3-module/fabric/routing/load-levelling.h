// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_LOAD_LEVELLING_H
#define WEIR_FABRIC_LOAD_LEVELLING_H

#include "fabric/ids.h"
#include "fabric/routing/route-choices.h"
#include "fabric/routing/way-demand.h"
#include "fabric/topology.h"

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
                  const std::vector<double>* rates);

    /** Sets the shares of all @p demands. */
    void Divide(std::vector<WayDemand>& demands);

  private:
    /** A link whose share of a demand changes. */
    struct Change
    {
        LinkId link;
        double share; //!< before
        double delta; //!< when all moves
    };

    /** What rounds have come to for one demand. */
    struct Progress
    {
        double largest; //!< load of its links, when the round began
        double lowest;  //!< root of powers so far
    };

    void StartEvenly(WayDemand& demand);
    double LargestLoad(const WayDemand& demand) const;
    double RootOfPowers(const WayDemand& demand, double largest) const;

    /** Begins a round. @return whether the last one gained anything. */
    bool BeginRound(const std::vector<WayDemand>& demands, std::vector<Progress>& progress);

    /** Moves a part of @p demand. @return whether that gained anything. */
    bool Improve(WayDemand& demand);

    /** What @p demand's shares become if all of it moves to @p way; by ascending link. */
    static void AddWay(std::vector<Change>& changes, const std::vector<LinkId>& way);

    /** The part of a demand of @p weight that the sum falls with, as far as it does. */
    double BestPart(const std::vector<Change>& changes, double weight) const;
    double SlopeAfter(const std::vector<Change>& changes, double weight, double part) const;
    void Apply(const std::vector<Change>& changes, double part, WayDemand& demand);

    /** The way of the least sum of slopes, detours too; ascending. */
    std::vector<LinkId> BestWay(const WayDemand& demand);
    std::vector<LinkId> CheapestWay(const RouteDag& dag);

    /** (load / m_scale)^63: times 64 / rate, what one more unit of weight adds to the sum. */
    double PowerAt(double load) const;
    double SlopeOf(LinkId link);
    double SumOfSlopes(const std::vector<LinkId>& way);
    double RateOf(LinkId link) const;

    RouteChoices& m_choices;
    const Topology& m_topology;
    std::vector<double>& m_loads;
    const std::vector<double>* m_rates;
    std::vector<double> m_powers;   //!< by LinkId, as of m_powerRounds
    std::vector<int> m_powerRounds; //!< by LinkId: when its power was computed
    int m_round{0};
    double m_scale{0}; //!< the largest load when the round began
    double m_floor{0}; //!< what each link costs the demand at hand, in powers
};

} // namespace weir

#endif // WEIR_FABRIC_LOAD_LEVELLING_H
