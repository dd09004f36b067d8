// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_SHARING_LOCAL_MAX_MIN_H
#define WEIR_FABRIC_SHARING_LOCAL_MAX_MIN_H

#include "fabric/sharing/max-min-system.h"

#include <cstdint>
#include <vector>

namespace weir::maxmin
{

/** A variable with the results of a solve. */
struct LocalVariable : Variable
{
    uint32_t held{NONE}; //!< the link that limits it, if it shares links
    uint32_t joined{0};  //!< the last solve that recomputed it
    uint32_t stopped{0}; //!< the last filling that froze it
    double next{0};      //!< level that the solve is computing
};

struct LocalLink
{
    double capacity{0};
    uint32_t filling{0}; //!< the last filling that used it
    uint32_t index{0};   //!< its index among the open links of that filling
    std::vector<Member> members;
};

/** The data types of the System of LocalMaxMin. */
struct LocalParts
{
    using Variable = LocalVariable;
    using Crossing = maxmin::Crossing;
    using Link = LocalLink;
};

/** A link in a filling. */
struct OpenLink
{
    uint32_t link;
    uint32_t rises;  //!< number of members that still rise
    double left;     //!< capacity that the other members leave
    double rising;   //!< weight of the rising members
    double heldAt;   //!< the level at which it froze members; infinite: it froze none
    double highest;  //!< highest level of its recomputed members
    double capacity; //!< of the link
};

/**
 * Weighted max-min fair sharing for links with few members: the problem of MaxMin, recomputed only
 * in the neighborhood of a change.
 *
 * An allocation is max-min fair if and only if every variable is at its cap or has a bottleneck: a
 * full link on which no variable has a higher level. So after a change the solver recomputes, by
 * progressive filling of the capacity that the others leave, only the variables that are new, that
 * were limited by a link that lost load, or that turn out to limit others:
 *  - a link that limits a recomputed variable has another member at a higher level, which must
 *    decrease;
 *  - a link that limited another member is no longer full, or lets a recomputed variable rise above
 *    that member.
 *
 * These variables are added and the filling is repeated until every variable has a bottleneck.
 * Links that are not full do not propagate a change, however many flows cross them.
 *
 * The solver stores only levels and the link that limits each variable. A change costs little if
 * few flows share links, and several times O(everything connected by full links) if many do. Solve
 * compares its work with the size of the changes and gives up where MaxMin would be faster.
 *
 * A variable that shares no link with another is *uncontended*, as in MaxMin.
 *
 * Raw doubles: capacities in bytes per second, levels in bytes per second per unit of weight.
 */
class LocalMaxMin : public System<LocalMaxMin, LocalParts>
{
  public:
    explicit LocalMaxMin(const std::vector<double>& capacities)
        : System(capacities)
    {
    }

    /**
     * Updates the levels for all changes since the last Solve.
     * @return false if this Solve would cost, or many Solves have cost, far more than the changes
     *         justify. Then levels are invalid, but capacities and weights are up to date.
     */
    bool Solve();

    double Level(uint32_t variable) const
    {
        return m_tables.variables[variable].level;
    }

    /** The total rate of the contending variables on a link, bytes per second. O(members). */
    double Load(uint32_t link) const
    {
        return SumOfRates(link);
    }

  private:
    friend System;

    using Variable = LocalVariable;
    using Link = LocalLink;

    // Called by System.
    void ApplyCapacity(uint32_t link, double capacity);
    void Withdraw(uint32_t variable);
    void Enter(uint32_t variable);

    void Joined(uint32_t /* link */, uint32_t /* variable */)
    {
    }

    /** Clears `held` of a variable that leaves the link that limits it. */
    void Left(uint32_t link, uint32_t /* position */, uint32_t variable)
    {
        Variable& left = m_tables.variables[variable];
        left.held = left.held == link ? NONE : left.held;
    }

    void Join(uint32_t variable);
    bool Fill();
    void OpenLinks();
    double NextStop() const;
    void StopAt(double level);
    void Stop(uint32_t variable, double level, uint32_t held);
    bool TakeIn();
    void Commit();

    std::vector<uint32_t> m_joined; //!< variables to recompute
    std::vector<uint32_t> m_rising; //!< those not yet frozen in this filling
    std::vector<OpenLink> m_open;   //!< links of the variables to recompute
    uint32_t m_solve{0};
    uint32_t m_filling{0};
    uint64_t m_maxSpent{0}; //!< limit of m_spent in this solve
    uint64_t m_spent{0};    //!< number of members, links and variables examined in this solve
    uint64_t m_debt{0};     //!< work of all solves beyond what their changes justify
};

} // namespace weir::maxmin

#endif // WEIR_FABRIC_SHARING_LOCAL_MAX_MIN_H
