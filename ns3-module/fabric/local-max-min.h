// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_LOCAL_MAX_MIN_H
#define WEIR_FABRIC_LOCAL_MAX_MIN_H

#include "fabric/max-min-parts.h"
#include "fabric/path-table.h"

#include <cstddef>
#include <cstdint>
#include <limits>
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
class LocalMaxMin
{
  public:
    static constexpr uint32_t NONE = 0xffffffff;

    explicit LocalMaxMin(const std::vector<double>& capacities);

    /** A new variable of weight zero. O(path). @return its index; freed indices are used again. */
    uint32_t Add(PathTable::Span path, double cap);

    /** Frees a variable of weight zero after a Solve. */
    void Remove(uint32_t variable);

    /** The total weight from the next Solve on; zero: it takes no share. O(1). */
    void SetWeight(uint32_t variable, double weight);

    /** The capacity of a link from the next Solve on. O(1). */
    void SetCapacity(uint32_t link, double capacity);

    bool NeedsSolve() const
    {
        return !m_changedVariables.empty() || !m_changedLinks.empty();
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

    bool IsAttached(uint32_t variable) const
    {
        return m_variables[variable].standing != Variable::Off;
    }

    bool IsAlone(uint32_t variable) const
    {
        return m_variables[variable].standing == Variable::Alone;
    }

    double Capacity(uint32_t link) const
    {
        return m_links[link].capacity;
    }

    /** The total rate on a link of those that share it. O(members). */
    double SharedLoad(uint32_t link) const;

    /** The variable that stands alone on a link, active or idle; NONE otherwise. */
    uint32_t AloneOn(uint32_t link) const
    {
        const auto& members = m_links[link].members;
        return members.size() == 1 && IsAlone(members[0].variable) ? members[0].variable : NONE;
    }

    using Member = maxmin::Member;

    uint32_t Multiplicity(const Member& member) const
    {
        return m_steps[member.step].multiplicity;
    }

    const std::vector<Member>& Members(uint32_t link) const
    {
        return m_links[link].members;
    }

    /** Variables whose level or standing the last Solve changed; may repeat. */
    const std::vector<uint32_t>& MovedVariables() const
    {
        return m_moved;
    }

    /** Links whose load the last Solve may have changed; may repeat. */
    const std::vector<uint32_t>& TouchedLinks() const
    {
        return m_touched;
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
    static constexpr double INFINITE = std::numeric_limits<double>::infinity();

    struct Variable
    {
        double level{0};
        double cap{0};        //!< of level
        double weight{0};     //!< in force
        double nextWeight{0}; //!< from the next Solve on
        double next{0};       //!< level that is being found
        double narrowest{0};  //!< when alone: the least capacity / multiplicity
        uint32_t first{0};    //!< of its path, among all steps
        uint32_t length{0};   //!< of its path
        uint32_t held{NONE};  //!< the link that its level comes from, when it shares links
        uint32_t joined{0};   //!< the solve that set it anew last
        uint32_t stopped{0};  //!< the filling that it stopped in last

        enum : uint8_t
        {
            Off,   //!< not on its links
            Alone, //!< on them, no other variable is; idle or active
            Shared //!< on them, active
        } standing{Off};

        bool changed{false}; //!< waits for the next Solve
        bool removed{false};
    };

    /** A link of a variable's path. */
    struct Step
    {
        uint32_t link;
        uint32_t multiplicity;
        uint32_t position; //!< in the link's members
    };

    struct Link
    {
        double capacity{0};
        uint32_t filling{0}; //!< the filling that last looked at it
        uint32_t place{0};   //!< in m_open, then
        std::vector<Member> members;
    };

    /** A link in a filling. */
    struct Open
    {
        uint32_t link;
        uint32_t rises;  //!< members that still rise
        double left;     //!< capacity that others leave
        double rising;   //!< weight of the members that still rise
        double heldAt;   //!< the level at which it stopped members; infinite: it stopped none
        double highest;  //!< level of those set anew on it
        double capacity; //!< of the link
    };

    struct CapacityChange
    {
        uint32_t link;
        double capacity;
    };

    void ApplyCapacity(uint32_t link, double capacity);
    void ApplyWeight(uint32_t variable);
    void Attach(uint32_t variable);
    void Leave(uint32_t variable);
    void SetAlone(uint32_t variable);
    double NarrowestOf(uint32_t variable) const;
    void Enter(uint32_t variable);
    void Free(uint32_t variable);
    void Join(uint32_t variable);
    bool Fill(uint64_t spendMost);
    void OpenLinks();
    double NextStop() const;
    void StopAt(double level);
    void Stop(uint32_t variable, double level, uint32_t held);
    bool TakeIn();
    void Commit();

    std::vector<Variable> m_variables;
    std::vector<Step> m_steps; //!< of all paths
    std::vector<Link> m_links;
    std::vector<std::vector<uint32_t>> m_unused; //!< removed variables, by path length
    std::vector<uint32_t> m_changedVariables;
    std::vector<CapacityChange> m_changedLinks;
    std::vector<uint32_t> m_moved;
    std::vector<uint32_t> m_touched;
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
