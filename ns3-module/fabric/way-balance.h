// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_WAY_BALANCE_H
#define WEIR_FABRIC_WAY_BALANCE_H

#include "fabric/ids.h"
#include "fabric/path-spread.h"
#include "fabric/path-table.h"
#include "fabric/route-choices.h"

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

namespace weir
{

/** What links carry and can carry now, by LinkId. */
struct LinkStates
{
    std::vector<double> loads; //!< weights of transfers over the rate
    std::vector<double> rates; //!< bytes/s; of a link that is down what it had
};

/**
 * How switches that route by load divide what several paths carry at once.
 *
 * A channel of a collective is many transfers, one after the other over each of its ways, and each
 * chooses by what it finds: what is slow stays longer, so that others choose other ways, until the
 * most loaded links are as little loaded as the ways allow. That division minimises the largest
 * load; here, in its place, the sum over links of load^64, which is convex and within m^(1/64) of
 * it for m links that are as loaded. It starts with even shares of the shortest ways, which stand
 * where nothing is better, and moves parts of each demand to the way of the least sum of
 * derivatives, as far as the sum falls (Frank and Wolfe 1956), demand by demand until a round
 * gains none of them more than a thousandth: what is little beside others elsewhere is divided as
 * it would be alone.
 *
 * Flowlets do not come to that: a flow that does not pause keeps the way that was the least loaded
 * when it began. There each way chooses once, one after the other; parts of one, where a path has
 * it many times.
 *
 * O(rounds x demands x (links of its ways + detours)); at most 48 rounds.
 */
class WayBalance : public PathSharing
{
  public:
    /**
     * @param others what is on the links already; null: nothing, and they have their rates.
     * References must outlive it, the links' states only this call.
     */
    WayBalance(PathSpread& spread,
               RouteChoices& choices,
               const std::vector<PathLoad>& loads,
               const LinkStates* others);

    const std::vector<LinkShare>& SharesOf(PathId path) override;

    bool IsPerPacket() const override
    {
        return false;
    }

    std::unique_ptr<PathSharing> Together(const std::vector<PathLoad>& loads) override;

  private:
    /** What goes from one switch to another. */
    struct Demand
    {
        DeviceId first;
        DeviceId last;
        double weight{0};
        std::vector<LinkShare> shares{};                        //!< by ascending link
        double lowest{std::numeric_limits<double>::infinity()}; //!< root of powers so far
    };

    static uint64_t KeyOf(DeviceId first, DeviceId last);
    void AddWay(const PathWay& way, double weight);
    void StartEvenly(Demand& demand);

    /** Each part of a way of @p demand takes the way that is least loaded by now. */
    void ChooseOnce(Demand& demand, const PathWay& way, double weight);
    static void AddUp(Demand& demand);
    void Settle();
    double LargestLoad(const Demand& demand) const;
    double RootOfPowers(const Demand& demand) const;

    /** Moves a part of @p demand. @return whether that gained anything. */
    bool Improve(Demand& demand);

    /** The way of the least sum of m_slopes, detours too; ascending. */
    std::vector<LinkId> BestWay(const Demand& demand);
    std::vector<LinkId> CheapestWay(const RouteDag& dag);

    /** (load / m_scale)^63: times 64 / rate, what one more unit of weight adds to the sum. */
    double PowerAt(double load) const;
    double SlopeOf(LinkId link);
    double SumOfSlopes(const std::vector<LinkId>& way);
    double RateOf(LinkId link) const;

    PathSpread& m_spread;
    RouteChoices& m_choices;
    const Topology& m_topology;
    std::vector<double> m_loads;                 //!< by LinkId; while it settles
    const std::vector<double>* m_rates{nullptr}; //!< likewise; null: those of the topology
    std::vector<double> m_powers;                //!< by LinkId, as of m_powerRounds
    std::vector<int> m_powerRounds;              //!< by LinkId: when its power was computed
    int m_round{0};
    uint64_t m_turns{0}; //!< of detours
    double m_scale{0};   //!< the largest load when the round began
    double m_floor{0};   //!< what each link costs the demand at hand, in powers
    std::vector<Demand> m_demands;
    std::unordered_map<uint64_t, uint32_t> m_byEnds; //!< into m_demands
    std::vector<LinkShare> m_shares;                 //!< of the last path asked for
};

} // namespace weir

#endif // WEIR_FABRIC_WAY_BALANCE_H
