// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_MAX_MIN_H
#define WEIR_FABRIC_MAX_MIN_H

#include "fabric/indexed-heap.h"
#include "fabric/path-table.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace weir
{

/**
 * Weighted max-min fair sharing of links, kept solved while variables and links change.
 *
 * **The problem.** Given links l with capacities c_l >= 0 and variables v with total weights
 * W_v > 0, level caps K_v and multiplicities m_vl (how often each unit of v crosses l), find
 * levels x_v (rate per unit of weight) such that
 *
 *     for every l:  sum over v of m_vl W_v x_v <= c_l,      for every v:  0 <= x_v <= K_v,
 *
 * and no x_v can be raised without lowering some x_u <= x_v. The answer is unique, and it is the
 * one feasible point at which every v is at its cap or has a *bottleneck*: a full link on which
 * no level is higher (Bertsekas and Gallager, Data Networks, 1992, sec. 6.5.2). All variables that
 * have l as bottleneck share one level, the level of l, so a change of that level is one change.
 *
 * **The algorithm.** Progressive filling sweeps the level up from zero and stops variables where
 * links fill. Solve replays that sweep only where it can differ from the last answer. The variables
 * that have a link as bottleneck are its *group*; they move as one. Each link keeps a line
 * fixed + rising * x : its load if its *risers* were all at level x. As long as nothing has touched
 * it, its risers are its group, and the line meets the capacity at its level. A change at a link
 * bends its line. Links with bent lines wait in a heap, keyed by where their lines now meet the
 * capacity, but no higher than their old level:
 *  - a link that comes up at its old level and could go higher is *opened*: its group is free, that
 *    is, rises on all its links;
 *  - a link that comes up where its line meets the capacity is *filled*. Where a member stops
 *    elsewhere above that level, or at a cap below it, the members are counted afresh by Newton's
 *    method on this concave piecewise linear function, exact after finitely many steps. If the
 * level is still the lowest of all, the group moves there and takes over every member that would be
 * higher. Lines never understate the load, so no link comes up too late, and what has stopped is
 * final. A line that comes back to where it was ends the replay there.
 *
 * **Cost.** For each link whose level changes: O(path links of its group), each a multiply and an
 * add; O(members) more where its group changes; O(log links) for the heap. O(1) per path link for
 * a variable that shares no link (*alone*), and O(1) in all when such a variable stops and starts
 * again. No allocation once vectors have grown.
 *
 * Raw doubles: capacities in bytes per second, levels in bytes per second and unit of weight.
 */
class MaxMin
{
  public:
    static constexpr uint32_t NONE = 0xffffffff;

    explicit MaxMin(std::vector<double> capacities);

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

    /** Makes levels right for all changes since the last Solve. */
    void Solve();

    /** Rate per unit of weight; zero at weight zero, infinite where nothing limits it. */
    double Level(uint32_t variable) const
    {
        const Variable& v = m_variables[variable];
        return v.bottleneck == m_none ? v.level : m_links[v.bottleneck].level;
    }

    /** The link whose level is the variable's; NONE when it is alone, at its cap or idle. */
    uint32_t Bottleneck(uint32_t variable) const
    {
        const uint32_t link = m_variables[variable].bottleneck;
        return link == m_none ? NONE : link;
    }

    /** Whether the variable stands on its links (an idle one may, until they are wanted). */
    bool IsAttached(uint32_t variable) const
    {
        return m_variables[variable].standing != Variable::Off;
    }

    bool IsAlone(uint32_t variable) const
    {
        return m_variables[variable].standing == Variable::Alone;
    }

    /** The level that bottlenecked variables of a link have; infinite when there are none. */
    double LinkLevel(uint32_t link) const
    {
        return m_links[link].level;
    }

    double Capacity(uint32_t link) const
    {
        return m_links[link].capacity;
    }

    /** The total rate on a link; what a variable alone on it (AloneOn) carries is not counted. */
    double SharedLoad(uint32_t link) const
    {
        const Link& l = m_links[link];
        return l.risers > 0 ? l.fixed + l.rising * l.level : l.fixed;
    }

    /** The variable that stands alone on a link, active or idle; NONE otherwise. */
    uint32_t AloneOn(uint32_t link) const
    {
        const auto& members = m_links[link].members;
        return members.size() == 1 && IsAlone(members[0].variable) ? members[0].variable : NONE;
    }

    /** A variable on a link. */
    struct Member
    {
        double weight;       //!< of the variable, times how often it crosses the link
        uint32_t bottleneck; //!< of the variable; the number of links when it has none
        uint32_t variable;
        uint32_t step; //!< where this link is in the variable's path
    };

    /** How often a unit of the member crosses its link. */
    uint32_t Multiplicity(const Member& member) const
    {
        return m_steps[member.step].multiplicity;
    }

    /** All variables on a link, in no particular but a reproducible order. */
    const std::vector<Member>& Members(uint32_t link) const
    {
        return m_links[link].members;
    }

    /** Variables whose bottleneck, own level or standing the last Solve changed; may repeat. */
    const std::vector<uint32_t>& MovedVariables() const
    {
        return m_moved;
    }

    /** Links whose level or load the last Solve may have changed. */
    const std::vector<uint32_t>& TouchedLinks() const
    {
        return m_touched;
    }

  private:
    static constexpr double INFINITE = std::numeric_limits<double>::infinity();

    struct Variable
    {
        double level{0};        //!< where it has no bottleneck
        double cap{0};          //!< of level
        double weight{0};       //!< in force
        double nextWeight{0};   //!< from the next Solve on
        double narrowest{0};    //!< when alone: the least capacity / multiplicity
        uint32_t first{0};      //!< of its path, in m_steps
        uint32_t length{0};     //!< of its path
        uint32_t bottleneck{0}; //!< a link, or m_none
        uint32_t freed{0};      //!< the solve that freed it by itself, until it is stopped

        enum : uint8_t
        {
            Off,   //!< not on its links
            Alone, //!< on them, no other variable is; idle or active, not in the lines
            Shared //!< on them, active, in the lines
        } standing{Off};

        bool changed{false}; //!< is in m_changedVariables
    };

    /** A link of a variable's path. */
    struct Step
    {
        uint32_t link;
        uint32_t multiplicity;
        uint32_t position; //!< in the link's members
        uint32_t reach;    //!< in the reach of the variable's bottleneck
    };

    /** Where else a group loads a link. */
    struct Reach
    {
        double weight;
        uint32_t link;
        uint32_t step; //!< whose variable is in the group
    };

    struct alignas(64) Link
    {
        // What the loops over reach use, in one cache line.
        double fixed{0};  //!< load of the members that do not rise
        double rising{0}; //!< weight of those that do
        double capacity{0};
        double key{INFINITE}; //!< in the heap; infinite: not in it
        double highest{0};    //!< no member that does not rise is above this level
        double bound{0};      //!< the line is known to be too low below this level
        uint32_t risers{0};   //!< members that rise: the group, and
        uint32_t guests{0};   //!< free members of other groups or none
        uint32_t mark{0};     //!< the solve that last touched it
        bool opened{false};   //!< its group is free
        // The rest.
        double level{INFINITE};
        double peak{0};     //!< the highest load since the line was last summed afresh
        uint32_t capped{0}; //!< members that have caps
        uint32_t solves{0}; //!< that touched the line since it was last summed afresh
        std::vector<Member> members;
        std::vector<Reach> reach; //!< of its group, without the link itself

        bool HasGroup() const
        {
            return risers > guests;
        }
    };

    /** Notes that the line of a link is about to bend. */
    void Touch(uint32_t link)
    {
        if (m_links[link].mark != m_solve)
        {
            TouchFirst(link);
        }
    }

    /** Whether a line meets the capacity earlier than the heap, or the link's level, says. */
    static bool IsBentUp(const Link& l)
    {
        const double level = l.key < INFINITE ? l.key : l.level;
        return l.fixed + (l.risers > 0 ? l.rising * level : 0) > l.capacity;
    }

    // Changes between sweeps (max-min.cc).
    void BeginSolve();
    void ApplyCapacity(uint32_t link, double capacity);
    void ApplyWeight(uint32_t variable);
    void Attach(uint32_t variable);
    void TakePlaces(uint32_t variable);
    void Leave(uint32_t variable);
    double NarrowestOf(uint32_t variable) const;
    void SetAlone(uint32_t variable);
    void Withdraw(uint32_t variable);
    void Enter(uint32_t variable);
    void EndSolve();
    void SumAfresh(uint32_t link);

    // Groups (max-min-groups.cc).
    bool IsFree(const Variable& variable) const;
    void TouchFirst(uint32_t link);
    void Open(uint32_t link);
    void MoveGroup(uint32_t link, double level);
    void StopGroup(uint32_t link);
    void RaiseGroup(const Link& raised, double change);
    void LowerGroup(const Link& lowered, double change);
    void Stop(uint32_t variable, double level, uint32_t bottleneck);
    void SetBottleneck(uint32_t variable, uint32_t bottleneck);

    // The sweep (max-min-sweep.cc).
    void Sweep();
    void Raise(uint32_t link);
    void StopFree();
    void Rekey(uint32_t link);
    void SetKey(uint32_t link, double key);
    void DropKey(uint32_t link);
    double FirstKey();
    static double MeetingLevel(const Link& link);
    static double KeyOf(const Link& link);
    void Fill(uint32_t link, double level);
    void StopRisers(uint32_t link, double level);

    /** The members of one link, counted against a level. */
    struct Count
    {
        double fixed{0};    //!< load of members that stop at or below the level
        double rising{0};   //!< weight of the others
        uint32_t risers{0}; //!< how many they are
    };

    Count CountMembers(uint32_t link, double level);
    double LimitOf(const Member& member) const;

    uint32_t m_none; //!< the number of links: no bottleneck
    std::vector<Variable> m_variables;
    std::vector<Step> m_steps; //!< of all paths
    std::vector<Link> m_links;
    std::vector<std::vector<uint32_t>> m_unused; //!< removed variables, by path length
    uint32_t m_solve{1};                         //!< number of this solve
    double m_level{0};                           //!< where the sweep is

    struct CapacityChange
    {
        uint32_t link;
        double capacity;
    };

    std::vector<uint32_t> m_changedVariables;
    std::vector<CapacityChange> m_changedLinks;
    std::vector<uint32_t> m_moved;
    std::vector<uint32_t> m_touched;
    std::vector<uint32_t> m_freed;     //!< variables freed by themselves in this solve
    std::vector<uint32_t> m_opened;    //!< links opened in this solve
    std::vector<uint32_t> m_toLink;    //!< scratch of StopRisers
    std::vector<uint32_t> m_toCap;     //!< scratch of StopRisers and StopFree
    std::vector<double> m_groupLevels; //!< by link: its level, infinite while it is opened
    IndexedHeap<double> m_heap;        //!< links with bent lines
};

} // namespace weir

#endif // WEIR_FABRIC_MAX_MIN_H
