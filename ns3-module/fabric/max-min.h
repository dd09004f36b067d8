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
 * links fill. Solve replays that sweep only where it can differ from the last answer. Each link
 * keeps a line  fixed + rising * x : its load if its risers were all at level x. As long as nothing
 * has touched it, its risers are the variables that it is the bottleneck of, and the line meets
 * the capacity at its level. A change at a link bends its line. Links with bent lines wait in a
 * heap, keyed by where their lines now meet the capacity, but no higher than their old level:
 *  - a link that comes up at its old level and could go higher is *opened*: its variables are
 * freed, that is, they become risers on every link of their paths;
 *  - a link that comes up where its line meets the capacity is *filled*: its members are counted
 *    afresh (a member that stopped lower elsewhere is fixed at its level or its cap, every other
 *    one rises; Newton's method on this concave piecewise linear function, which is exact after
 *    finitely many steps), and if that is still the lowest level of all, its risers stop here.
 * Lines never understate the load, so no link comes up too late, and what has stopped is final.
 * A line that comes back to where it was ends the replay there.
 *
 * **Cost.** O(members of the links whose level or risers change, times path length, times log of
 * the number of such links); O(1) per path link for a variable that shares no link (*alone*), and
 * O(1) in all when such a variable stops and starts again. No allocation once vectors have grown.
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

    bool
    NeedsSolve() const
    {
        return !m_changedVariables.empty() || !m_changedLinks.empty();
    }

    /** Makes levels right for all changes since the last Solve. */
    void Solve();

    /** Rate per unit of weight; zero at weight zero, infinite where nothing limits it. */
    double
    Level(uint32_t variable) const
    {
        return m_variables[variable].level;
    }

    /** The link whose level is the variable's; NONE when it is alone, at its cap or idle. */
    uint32_t
    Bottleneck(uint32_t variable) const
    {
        return m_variables[variable].bottleneck;
    }

    /** Whether the variable stands on its links (an idle one may, until they are wanted). */
    bool
    IsAttached(uint32_t variable) const
    {
        return m_paths[variable].standing != Standing::Off;
    }

    bool
    IsAlone(uint32_t variable) const
    {
        return m_paths[variable].standing == Standing::Alone;
    }

    /** The level that bottlenecked variables of a link have; infinite when there are none. */
    double
    LinkLevel(uint32_t link) const
    {
        return m_links[link].level;
    }

    double
    Capacity(uint32_t link) const
    {
        return m_links[link].capacity;
    }

    /** The total rate on a link; what a variable alone on it (AloneOn) carries is not counted. */
    double
    SharedLoad(uint32_t link) const
    {
        const Link& l = m_links[link];
        return l.risers > 0 ? l.fixed + l.rising * l.level : l.fixed;
    }

    /** The variable that stands alone on a link, active or idle; NONE otherwise. */
    uint32_t
    AloneOn(uint32_t link) const
    {
        const auto& members = m_links[link].members;
        return members.size() == 1 && IsAlone(members[0].variable) ? members[0].variable : NONE;
    }

    /** A variable on a link. */
    struct Member
    {
        uint32_t variable;
        uint32_t multiplicity;
        uint32_t step; //!< where this link is in the variable's path
    };

    /** All variables on a link, in no particular but a reproducible order. */
    const std::vector<Member>&
    Members(uint32_t link) const
    {
        return m_links[link].members;
    }

    /** Variables whose bottleneck, own level or standing the last Solve changed; may repeat. */
    const std::vector<uint32_t>&
    MovedVariables() const
    {
        return m_moved;
    }

    /** Links whose level or load the last Solve may have changed. */
    const std::vector<uint32_t>&
    TouchedLinks() const
    {
        return m_touched;
    }

  private:
    /** How a variable stands on its links. */
    enum class Standing : uint8_t
    {
        Off,   //!< not on them
        Alone, //!< on them, no other variable is; idle or active, not in the lines
        Shared //!< on them, active, in the lines
    };

    /** What the inner loops read of a variable. */
    struct Variable
    {
        double weight{0}; //!< in force
        double level{0};
        double cap{0}; //!< of level
        uint32_t bottleneck{NONE};
        uint32_t mark{0}; //!< FreeMark or StoppedMark of the solve that freed or stopped it
    };

    /** The rest of a variable. */
    struct Path
    {
        uint32_t first{0}; //!< into m_steps
        uint32_t length{0};
        double nextWeight{0}; //!< from the next Solve on
        double bottleneck{0}; //!< when alone: the least capacity / multiplicity
        bool changed{false};  //!< is in m_changedVariables
        Standing standing{Standing::Off};
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
        double fixed{0};  //!< load of the members that do not rise
        double rising{0}; //!< weight of those that do
        double level{std::numeric_limits<double>::infinity()};
        double bound{0};      //!< the line is known to be too low below this level
        double loadBefore{0}; //!< before this solve
        uint32_t risers{0};   //!< members that rise
        uint32_t free{0};     //!< of these, freed in this solve
        uint32_t mark{0};     //!< the solve that last touched it
        uint32_t updates{0};  //!< of the line since it was last summed afresh
        bool opened{false};   //!< in this solve
        std::vector<Member> members;
    };

    uint32_t
    FreeMark() const
    {
        return 2 * m_solve;
    }

    uint32_t
    StoppedMark() const
    {
        return 2 * m_solve + 1;
    }

    // Changes between sweeps (max-min.cc).
    void BeginSolve();
    void ApplyCapacity(uint32_t link, double capacity);
    void ApplyWeight(uint32_t variable);
    void Attach(uint32_t variable);
    void TakePlaces(uint32_t variable);
    void Leave(uint32_t variable);
    void Join(uint32_t variable);
    void SetAlone(uint32_t variable);
    void Withdraw(uint32_t variable);
    void Enter(uint32_t variable);
    void EndSolve();
    void SumAfresh(uint32_t link);

    // The sweep (max-min-sweep.cc).
    void Sweep();
    void Touch(uint32_t link);
    void Rekey(uint32_t link);
    double FirstKey();
    double MeetingLevel(const Link& link) const;
    double KeyOf(const Link& link) const;
    void Open(uint32_t link);
    void Free(uint32_t variable);
    void Fill(uint32_t link, double level);
    void StopRisers(uint32_t link, double level);
    void Stop(uint32_t variable, double level, uint32_t bottleneck);

    /** The members of one link, counted against a level. */
    struct Count
    {
        double fixed{0};           //!< load of members that stop below the level
        double rising{0};          //!< weight of the others
        double stoppedHere{0};     //!< weight of those that this link stopped earlier in this solve
        uint32_t risers{0};        //!< how many rise
        uint32_t stoppedRisers{0}; //!< how many this link stopped earlier in this solve
        uint32_t capped{0};        //!< how many free ones stop at their cap
    };

    Count CountMembers(uint32_t link, double level) const;

    std::vector<Variable> m_variables;
    std::vector<Path> m_paths; //!< by variable
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
    std::vector<uint32_t> m_free;   //!< freed in this solve
    std::vector<Member> m_stopping; //!< scratch of StopRisers
    IndexedHeap<double> m_heap;     //!< links with bent lines
};

} // namespace weir

#endif // WEIR_FABRIC_MAX_MIN_H
