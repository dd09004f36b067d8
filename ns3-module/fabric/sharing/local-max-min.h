// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_SHARING_LOCAL_MAX_MIN_H
#define WEIR_FABRIC_SHARING_LOCAL_MAX_MIN_H

#include "fabric/sharing/max-min-system.h"

#include <cstdint>
#include <vector>

namespace weir::maxmin
{

/** A variable, and what a solve finds for it. */
struct LocalVariable : Variable
{
    uint32_t held{NONE}; //!< the link that its level comes from, when it shares links
    uint32_t joined{0};  //!< the solve that recomputed it last
    uint32_t stopped{0}; //!< the filling that it stopped in last
    double next{0};      //!< level that is being found
};

struct LocalLink
{
    double capacity{0};
    uint32_t filling{0}; //!< the filling that last looked at it
    uint32_t index{0};   //!< among the open links, then
    std::vector<Member> members;
};

/** What the System under LocalMaxMin is made of. */
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
    uint32_t rises;  //!< members that still rise
    double left;     //!< capacity that others leave
    double rising;   //!< weight of the members that still rise
    double heldAt;   //!< the level at which it stopped members; infinite: it stopped none
    double highest;  //!< level of those recomputed on it
    double capacity; //!< of the link
};

/**
 * Weighted max-min fair sharing where links have few users: the problem of MaxMin, solved from
 * scratch around what changed.
 *
 * An allocation is max-min fair if and only if every variable is at its cap or has a bottleneck: a
 * full link on which nobody is at a higher level. So after a change only those variables are
 * recomputed (by progressive filling of what the others leave) that came, that were held by a link
 * that lost load, or that turn out to hold others back:
 *  - a link that holds one of them has another user at a higher level, who must come down;
 *  - a link that held another user is no longer full, or lets one of them rise past that user.
 * Those join, and the filling is done again, until everybody has a bottleneck. Links that are not
 * full carry no change further, however many flows cross them.
 *
 * Nothing is kept but levels and who is held by which link: a change costs little where few flows
 * meet, and O(all that is connected by full links), more than once, where many do. Solve counts
 * what it does against what was changed and gives up where MaxMin would do better.
 *
 * A variable that nobody shares a link with is *uncontended*, as in MaxMin.
 *
 * Raw doubles: capacities in bytes per second, levels in bytes per second and unit of weight.
 */
class LocalMaxMin : public System<LocalMaxMin, LocalParts>
{
  public:
    explicit LocalMaxMin(const std::vector<double>& capacities)
        : System(capacities)
    {
    }

    /**
     * Makes levels right for all changes since the last Solve.
     * @return false when that would cost, or many Solves have cost, far more than the changes
     *         warrant: then levels are not right, but capacities and weights in force are.
     */
    bool Solve();

    double Level(uint32_t variable) const
    {
        return m_tables.variables[variable].level;
    }

    /** The total rate on a link of those that contend for it. O(members). */
    double Load(uint32_t link) const
    {
        return SumOfRates(link);
    }

  private:
    friend System;

    using Variable = LocalVariable;
    using Link = LocalLink;

    // What the System calls for.
    void ApplyCapacity(uint32_t link, double capacity);
    void Withdraw(uint32_t variable);
    void Enter(uint32_t variable);

    void Joined(uint32_t /* link */, uint32_t /* variable */)
    {
    }

    /** A link holds nobody who is not on it. */
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

    std::vector<uint32_t> m_joined; //!< variables that are recomputed
    std::vector<uint32_t> m_rising; //!< those of them that still rise; some have stopped
    std::vector<OpenLink> m_open;   //!< links of those that are recomputed
    uint32_t m_solve{0};
    uint32_t m_filling{0};
    uint64_t m_maxSpent{0}; //!< of this solve, before it gives up
    uint64_t m_spent{0};    //!< looks at members, links and variables, of this solve
    uint64_t m_debt{0};     //!< what solves have spent beyond what their changes warrant
};

} // namespace weir::maxmin

#endif // WEIR_FABRIC_SHARING_LOCAL_MAX_MIN_H
