// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_LOCAL_MAX_MIN_H
#define WEIR_FABRIC_LOCAL_MAX_MIN_H

#include "fabric/routing/path-table.h"
#include "fabric/sharing/local-max-min-parts.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir
{

/**
 * Weighted max-min fair sharing where links have few users: the problem of MaxMin, solved from
 * scratch around what changed.
 *
 * An allocation is max-min fair if and only if every variable is at its cap or has a bottleneck: a
 * full link on which nobody is at a higher level. So after a change only those variables are set
 * anew (by progressive filling of what the others leave) that came, that were held by a link that
 * lost load, or that turn out to be in the way:
 *  - a link that holds one of them has another user at a higher level, who must come down;
 *  - a link that held another user is no longer full, or lets one of them rise past that user.
 * Those join, and the filling is done again, until everybody has a bottleneck. Links that are not
 * full carry no change further, however many flows cross them.
 *
 * Nothing is kept but levels and who is held by which link: a change costs little where few flows
 * meet, and O(all that is connected by full links), more than once, where many do. Solve counts
 * what it does against what was changed and gives up where MaxMin would do better.
 *
 * A variable that nobody shares a link with is *alone*, as in MaxMin.
 *
 * Raw doubles: capacities in bytes per second, levels in bytes per second and unit of weight.
 */
class LocalMaxMin : public maxmin::System<LocalMaxMin, maxmin::LocalParts>
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
        return m_variables[variable].level;
    }

    /** The total rate on a link of those that share it. O(members). */
    double SharedLoad(uint32_t link) const
    {
        return SumOfRates(link);
    }

    // For who takes over: all variables and links.

    std::size_t VariableCount() const
    {
        return m_variables.size();
    }

    std::size_t LinkCount() const
    {
        return m_links.size();
    }

    /** The path as it was added. */
    std::vector<PathLink> PathOf(uint32_t variable) const;

    double Cap(uint32_t variable) const
    {
        return m_variables[variable].cap;
    }

    /** In force. */
    double Weight(uint32_t variable) const
    {
        return m_variables[variable].weight;
    }

    bool IsRemoved(uint32_t variable) const
    {
        return m_variables[variable].removed;
    }

  private:
    friend System;

    using Variable = maxmin::LocalVariable;
    using Step = maxmin::Step;
    using Link = maxmin::LocalLink;
    using Open = maxmin::OpenLink;

    // What the System calls for.
    void ApplyCapacity(uint32_t link, double capacity);
    void Withdraw(uint32_t variable);
    void Enter(uint32_t variable);

    void Joined(uint32_t /* link */, uint32_t /* variable */)
    {
    }

    /** A link holds nobody who is not on it. */
    void Left(uint32_t link, uint32_t /* place */, uint32_t variable)
    {
        Variable& left = m_variables[variable];
        left.held = left.held == link ? NONE : left.held;
    }

    void Join(uint32_t variable);
    bool Fill(uint64_t spendMost);
    void OpenLinks();
    double NextStop() const;
    void StopAt(double level);
    void Stop(uint32_t variable, double level, uint32_t held);
    bool TakeIn();
    void Commit();
    uint64_t WarrantedByJoined() const;

    std::vector<uint32_t> m_joined; //!< variables that are set anew
    std::vector<uint32_t> m_rising; //!< those of them that still rise; some have stopped
    std::vector<Open> m_open;       //!< links of those that are set anew
    uint32_t m_solve{0};
    uint32_t m_filling{0};
    uint64_t m_spendMost{0}; //!< of this solve, before it gives up
    uint64_t m_spent{0};     //!< looks at members, links and variables, of this solve
    uint64_t m_debt{0};      //!< what solves have spent beyond what their changes warrant
};

} // namespace weir

#endif // WEIR_FABRIC_LOCAL_MAX_MIN_H
