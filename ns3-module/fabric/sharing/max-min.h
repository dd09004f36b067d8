// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_MAX_MIN_H
#define WEIR_FABRIC_MAX_MIN_H

#include "fabric/routing/path-table.h"
#include "fabric/sharing/indexed-heap.h"
#include "fabric/sharing/max-min-parts.h"

#include <cstddef>
#include <cstdint>
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
 * that have a link as bottleneck are its *group*; they move as one. Each link keeps a *line*
 * fixed + rising * x : its load if its *risers* were all at level x. As long as nothing has touched
 * it, its risers are its group, and the line meets the capacity at its level. A change at a link
 * bends its line. Links with bent lines wait in a heap, keyed by where their lines now meet the
 * capacity, but no higher than their old level (max-min-sweep.cc):
 *  - a link that comes up at its old level and could go higher is raised, or *opened*: its group is
 *    free, that is, rises on all its links;
 *  - a link that comes up where its line meets the capacity is *filled* (max-min-fill.cc). Members
 *    that stop above that level elsewhere are taken over; Newton's method on this concave piecewise
 *    linear function says at which level, exact after finitely many steps.
 * Lines never understate the load, so no link comes up too late, and what has stopped is final. A
 * line that comes back to where it was ends the replay there.
 *
 * A link without a group whose load is well below its capacity is *slack* (max-min-slack.cc): it
 * keeps a bound of its load in place of a line, and hears of a group that crosses it only when that
 * rises past an allowance, which is rare. The bound proves that it holds nobody back.
 *
 * Where a change touches most links, as in an all-to-all, a *walk* takes the place of the sweep's
 * heap (max-min-walk.cc): it goes through the links in the order of their old levels, moves each
 * group to where its line meets, and repairs where one link passes another.
 *
 * **Cost.** For each link whose level changes: a multiply, an add and a comparison (in a walk,
 * an add) for each link that its members cross and that is not slack; O(members) more where a
 * neighbour stands higher; O(log links) for the heap. So a change that moves every level of an
 * all-to-all over n end points costs O(n^2). One that moves the level of a single full link, all
 * others that its members cross being slack, costs O(log links), and O(members) once in 128 solves,
 * when the line is summed afresh against rounding. O(1) per path link for a variable that shares no
 * link (*alone*), and O(1) in all when such a variable stops and starts again. No allocation once
 * vectors have grown.
 *
 * Raw doubles: capacities in bytes per second, levels in bytes per second and unit of weight.
 */
class MaxMin : public maxmin::System<MaxMin, maxmin::GroupedParts>
{
  public:
    explicit MaxMin(const std::vector<double>& capacities);

    /** As of the System. */
    uint32_t Add(PathTable::Span path, double cap)
    {
        const uint32_t v = System::Add(path, cap);
        m_variables[v].bottleneck = m_none;
        return v;
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

    /** The level that bottlenecked variables of a link have; infinite when there are none. */
    double LinkLevel(uint32_t link) const
    {
        return m_links[link].level;
    }

    /**
     * The total rate on a link of finite capacity; what a variable alone on it (AloneOn) carries is
     * not counted. O(1), but O(members) for a slack link.
     */
    double SharedLoad(uint32_t link) const;

    /** Whether a link is known to carry something, but less than its capacity, and no more. */
    bool IsSlack(uint32_t link) const
    {
        return m_links[link].slack;
    }

    /** Whether all loads shall be kept exact and every change of them be told (TouchedLinks). */
    void KeepLoads(bool keep);

    /** A solve that touches so many links, and not too small a part of all, may walk. */
    void WalkFrom(std::size_t links)
    {
        m_walkFrom = links;
    }

  private:
    friend System;

    using Variable = maxmin::GroupedVariable;
    using Step = maxmin::GroupedStep;
    using Reach = maxmin::Reach;
    using Allowance = maxmin::Allowance;
    using Line = maxmin::Line;
    using Link = maxmin::Link;
    using Count = maxmin::Count;
    using Filling = maxmin::Filling;
    using Higher = maxmin::Higher;
    using Place = maxmin::Place;

    /** The rank of a link without a group that walks pass. */
    static constexpr uint32_t LOOSE = NONE - 1;

    /**
     * Loads that differ by less than this part of the capacity are the same load: the rounding of
     * sums of thousands of doubles, far below the 1e-9 that rates are right to. It keeps noise from
     * being replayed as change, and makes equal links fill at one and the same level.
     */
    static constexpr double SAME_LOAD = 1e-14;

    /** A line is summed afresh after so many solves that touched it. */
    static constexpr uint32_t SOLVES_MOST = 128;

    /** Where less than this part of a sum is left after taking terms away, rounding could show. */
    static constexpr double LOST = 1e-3;

    // What a solve is made of (max-min.cc).
    void BeginSolve();
    void EndSolve();

    // Changes between sweeps, as the System calls for them (max-min-changes.cc).
    void ApplyCapacity(uint32_t link, double capacity);
    void Withdraw(uint32_t variable);
    void Enter(uint32_t variable);
    void Joined(uint32_t link, uint32_t variable);
    void Left(uint32_t link, uint32_t place, uint32_t variable);

    // Lines and their keys in the heap (max-min-lines.cc).
    void Touch(uint32_t link)
    {
        if (m_links[link].mark != m_solve)
        {
            TouchFirst(link);
        }
    }

    void TouchFirst(uint32_t link);
    double LineLoad(uint32_t link) const;
    void SumAfresh(uint32_t link);
    bool IsBentUp(uint32_t link) const;
    double MeetingLevel(uint32_t link) const;
    double KeyOf(uint32_t link) const;
    void Rekey(uint32_t link);
    void SetKey(uint32_t link, double key);
    void DropKey(uint32_t link);
    double FirstKey();
    void SetLimit(uint32_t link);
    void LookAtRaised(uint32_t link, double from);
    void LookAtLowered(uint32_t link);

    // Groups (max-min-groups.cc).
    bool IsFree(const Variable& variable) const;
    void Open(uint32_t link);
    void MoveGroup(uint32_t link, double level);
    void HeedAllowances(uint32_t link);
    void StopGroup(uint32_t link);
    void RaiseGroup(const Link& raised, double change);
    void NotePassed(const Link& risen);
    void LowerGroup(const Link& lowered, double change);
    void Stop(uint32_t variable, double level, uint32_t bottleneck);
    void SetBottleneck(uint32_t variable, uint32_t bottleneck, double level);
    void TakeFromGroup(uint32_t step, uint32_t group);
    void GiveToGroup(uint32_t step, uint32_t group, double most);

    // Slack links (max-min-slack.cc).
    bool CouldBeSlack(uint32_t link) const;
    void Relax(uint32_t link);
    void Tighten(uint32_t link);
    void TightenReach(uint32_t link);
    bool IsNearlyFull(uint32_t link) const;
    double BoundOf(uint32_t link, std::size_t member) const;
    double FirstAllowance(uint32_t link, double weight, double level) const;
    bool AllowMore(Allowance& allowance, double level);
    void PassCeiling(uint32_t link);
    void Allow(uint32_t link, double growth);

    // The sweep (max-min-sweep.cc).
    void Sweep();
    void Look(uint32_t link);
    void Raise(uint32_t link);
    void StopFree();

    // The order of a walk (max-min-order.cc).
    void Enlist(uint32_t link);
    void OrderLinks();
    void SortOrder();
    void Reorder(uint32_t link, double level);

    // The walk (max-min-walk.cc).
    bool PaysToWalk() const;
    bool HasSpread() const;
    bool IsPlain(const Link& link) const;
    bool IsWalked(uint32_t link) const;
    bool IsBent(uint32_t link);
    void Walk();
    void OpenAll();
    void SumAllAfresh();
    bool WalkOnce();
    void PrefetchAhead() const;
    bool WalkBy(uint32_t link);
    bool FillBelowLone(uint32_t link, double level, double passed, Filling& filling);
    void AddToReach(const Reach& reach, double change);

    // Where a link fills (max-min-fill.cc).
    void Fill(uint32_t link, double level);
    bool FillBelowHigher(uint32_t link, Filling& filling);
    bool FillByCount(uint32_t link, Filling& filling);
    void FindHigher(uint32_t link, double level);
    void TakeHigher(uint32_t link, double level);
    Count CountMembers(uint32_t link, double level);
    double LimitOf(const Link& link, std::size_t member) const;
    void StopRisers(uint32_t link, double level);

    uint32_t m_none;                   //!< the number of links: no bottleneck
    std::vector<Line> m_lines;         //!< by link
    std::vector<double> m_fixed;       //!< by link: load of the members that do not rise
    uint32_t m_solve{1};               //!< number of this solve
    double m_level{0};                 //!< where the sweep is
    bool m_keepsLoads{false};          //!< no link may be slack
    std::vector<uint32_t> m_freed;     //!< variables freed by themselves in this solve
    std::vector<uint32_t> m_opened;    //!< links opened in this solve
    std::vector<Higher> m_higher;      //!< scratch of Fill: members that stand higher
    std::vector<uint32_t> m_passed;    //!< scratch of PassCeiling
    std::vector<uint32_t> m_toLink;    //!< scratch of StopRisers
    std::vector<uint32_t> m_toCap;     //!< scratch of StopRisers and StopFree
    std::vector<double> m_groupLevels; //!< by link: its level, infinite while it is opened
    std::vector<Place> m_order;        //!< links with groups, by level when a walk begins
    std::vector<Place> m_loose;        //!< others that are not slack
    std::size_t m_walkFrom{48};        //!< fewer touched links are not worth a walk
    std::size_t m_cursor{0};           //!< where in m_order the walk is
    bool m_mayWalk{true};              //!< in this solve
    double m_looseMost{0};             //!< in a walk: no group that is not in m_order is above
    bool m_walksAtOnce{false};         //!< the last solve had to walk: the next will, too
    bool m_surged{false};              //!< a level has more than doubled in the walk
    bool m_walks{false};               //!< the walk is on
    IndexedHeap<double> m_heap;        //!< links with bent lines
};

inline void
MaxMin::Joined(uint32_t link, uint32_t v)
{
    Link& l = m_links[link];
    l.bottlenecks.push_back(m_none);
    l.capped += m_variables[v].cap < INFINITE ? 1 : 0;
}

inline void
MaxMin::Left(uint32_t link, uint32_t place, uint32_t v)
{
    Link& l = m_links[link];
    l.bottlenecks[place] = l.bottlenecks.back();
    l.bottlenecks.pop_back();
    l.capped -= m_variables[v].cap < INFINITE ? 1 : 0;
    if (l.members.empty())
    {
        l.slack = false;
        SumAfresh(link);
    }
}

} // namespace weir

#endif // WEIR_FABRIC_MAX_MIN_H
