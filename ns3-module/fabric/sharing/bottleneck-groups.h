// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_SHARING_BOTTLENECK_GROUPS_H
#define WEIR_FABRIC_SHARING_BOTTLENECK_GROUPS_H

#include "fabric/sharing/max-min-system.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace weir::maxmin
{

/** Where less than this part of a sum is left after taking terms away, rounding could show. */
constexpr double LOST = 1e-3;

/** A variable, and what limits it. */
struct GroupedVariable : Variable
{
    uint32_t bottleneck{0}; //!< a link, or the number of links: none
    bool isFree{false};     //!< it rises by itself, until it is frozen
};

/** Where a variable crosses a link, and where that is noted with the variable's group. */
struct GroupedCrossing : Crossing
{
    uint32_t inGroup{NONE}; //!< index in the reach of its bottleneck's group, or its allowances
};

/** Where else a group loads links: the crossings of its variables, in columns. */
struct Reach
{
    std::vector<uint32_t> links;
    std::vector<double> weights;
    std::vector<uint32_t> crossings; //!< which of all crossings each is
};

/** How far a group may rise before a slack link that it crosses must be looked at. */
struct Allowance
{
    double most; //!< level
    uint32_t link;
    uint32_t crossing; //!< whose variable is in the group
};

/** What sweeps read of a link, beside the load of its frozen members: two to a cache line. */
struct alignas(32) LoadFunction
{
    double highest{0};   //!< no frozen member is above this level
    double rising{0};    //!< weight of the members that rise
    uint32_t rank{NONE}; //!< in the order of walks
};

/** The rest of a link. */
struct alignas(64) GroupedLink
{
    double capacity{0};
    double level{INFINITE};
    double key{INFINITE};     //!< in the queue; infinite: not in it
    double bound{0};          //!< the link is known not to saturate below this level
    double peak{0};           //!< the highest load since the load was last summed afresh
    uint32_t risers{0};       //!< members that rise: the group, and
    uint32_t foreign{0};      //!< free members of other groups or none
    uint32_t capped{0};       //!< members that have caps
    uint32_t solves{0};       //!< that touched the link since the load was last summed afresh
    bool isTouched{false};    //!< in this solve
    bool isOpen{false};       //!< its group is free
    bool isSlack{false};      //!< its load is known no better than by an upper bound
    double ceiling{INFINITE}; //!< no allowance of its group is lower
    std::vector<Member> members;
    std::vector<uint32_t> bottlenecks; //!< of the members, one for one
    Reach reach;                       //!< of its group, where it crosses links that are not slack
    std::vector<Allowance> allowances; //!< of its group, where it crosses slack links

    bool HasGroup() const
    {
        return risers > foreign;
    }
};

/** What the System under MaxMin is made of. */
struct GroupedParts
{
    using Variable = GroupedVariable;
    using Crossing = GroupedCrossing;
    using Link = GroupedLink;
};

using GroupedTables = Tables<GroupedParts>;

/** Where a link saturates. */
struct Saturation
{
    double level;
    double rising; //!< weight of the members that it freezes
};

/** A member that is frozen elsewhere, above the level that its link lets it have. */
struct HigherMember
{
    double level;
    double weight;
    uint32_t variable;
};

/**
 * The variables of every bottleneck link, its *group*, which move as one, and the load of every
 * link as a function of its level.
 *
 * In progressive filling the members of a link that rise, its *risers*, all have one level x, so
 * its load is fixed + rising * x. As long as nothing has touched the link its risers are its
 * group, and the load meets the capacity at its level. Loads are kept by differences; SumAfresh
 * sums one from the members, so that rounding never piles up. That of a slack link (SlackLinks)
 * counts members of groups at their allowances.
 */
class BottleneckGroups
{
  public:
    explicit BottleneckGroups(GroupedTables& tables);

    double Level(uint32_t variable) const
    {
        const GroupedVariable& v = m_tables.variables[variable];
        return v.bottleneck == m_none ? v.level : m_tables.links[v.bottleneck].level;
    }

    /** The bottleneck of a variable that has none. */
    uint32_t None() const
    {
        return m_none;
    }

    /** Whether a variable rises, with its group or by itself. */
    bool IsFree(const GroupedVariable& v) const
    {
        return v.isFree || (v.bottleneck != m_none && m_tables.links[v.bottleneck].isOpen);
    }

    /** Whether the level of a link is where its own group saturates it, and nothing else matters.
     */
    bool IsRegular(const GroupedLink& l) const
    {
        return l.risers > 0 && l.foreign == 0 && l.capped == 0 && !l.isOpen && !l.isSlack &&
               l.capacity < INFINITE;
    }

    /** The load of the members of a link that do not rise. */
    double& Fixed(uint32_t link)
    {
        return m_fixed[link];
    }

    double Fixed(uint32_t link) const
    {
        return m_fixed[link];
    }

    LoadFunction& Function(uint32_t link)
    {
        return m_functions[link];
    }

    const LoadFunction& Function(uint32_t link) const
    {
        return m_functions[link];
    }

    /** The load of a link at its own level. */
    double Load(uint32_t link) const
    {
        const GroupedLink& l = m_tables.links[link];
        return l.risers > 0 ? m_fixed[link] + m_functions[link].rising * l.level : m_fixed[link];
    }

    /** The level at which the risers of a link saturate it. */
    double MeetingLevel(uint32_t link) const
    {
        return (m_tables.links[link].capacity - m_fixed[link]) / m_functions[link].rising;
    }

    /** Adds what a change of level of a link's group does to the load of every link it crosses. */
    void AddToReach(uint32_t link, double change);

    /** A member of @p weight is frozen at @p level from now on. @param own: of the link's group. */
    void FreezeMember(uint32_t link, double weight, double level, bool own);

    /** A member of @p weight that was frozen at @p level rises with another group or by itself. */
    void FreeMember(uint32_t link, double weight, double level);

    /** A riser of a link goes. */
    void TakeRiser(uint32_t link, double weight, bool own);

    /** Sums the load of a link from its members. O(members). */
    void SumAfresh(uint32_t link);

    /** Says at which level the group of a link is frozen. */
    void SetLevel(uint32_t link, double level)
    {
        m_tables.links[link].level = level;
        m_levels[link] = level;
    }

    void SetOpen(uint32_t link)
    {
        m_tables.links[link].isOpen = true;
        m_levels[link] = INFINITE;
    }

    /** The levels at which groups are frozen, by link; infinite while they rise. */
    const double* Levels() const
    {
        return m_levels.data();
    }

    /** The level at which a member would be frozen if its link did not hold it. */
    double LimitOf(uint32_t link, std::size_t member) const
    {
        const GroupedLink& l = m_tables.links[link];
        const uint32_t bottleneck = l.bottlenecks[member];
        const double ofGroup = bottleneck == link ? INFINITE : m_levels[bottleneck];
        return l.capped > 0 ? std::min(ofGroup, m_tables.variables[l.members[member].variable].cap)
                            : ofGroup;
    }

    /**
     * Finds where a link saturates by counting its members, from about @p at.level on: Newton's
     * method on a concave piecewise linear function. O(members), a few times. @return false: never.
     */
    bool FindSaturation(uint32_t link, Saturation& at) const;

    /** The members of a link that are frozen above @p level elsewhere. O(members), fast. */
    void FindHigher(uint32_t link, double level, std::vector<HigherMember>& higher);

    /** Takes a variable out of its group and puts it in another, or in None(). O(path). */
    void SetBottleneck(uint32_t variable, uint32_t bottleneck, double level);

    /** The level at which the load of a slack link counts a member that does not rise. */
    double AllowedLevel(uint32_t link, std::size_t member) const;

    /** Takes a crossing out of the reach or the allowances of a group. O(1) */
    void TakeCrossing(uint32_t crossing, uint32_t group);

    /**
     * Puts a crossing in the reach of a group, or in its allowances if the link is slack. O(1)
     * @param weight of its variable on the link
     * @param most level of the allowance
     */
    void GiveCrossing(uint32_t crossing, uint32_t group, double weight, double most);

  private:
    GroupedTables& m_tables;
    uint32_t m_none;                       //!< the number of links
    std::vector<double> m_fixed;           //!< by link
    std::vector<LoadFunction> m_functions; //!< by link
    std::vector<double> m_levels;          //!< by link, and of none
};

inline void
BottleneckGroups::TakeRiser(uint32_t link, double weight, bool own)
{
    GroupedLink& l = m_tables.links[link];
    LoadFunction& f = m_functions[link];
    f.rising = --l.risers > 0 ? f.rising - weight : 0;
    l.foreign -= own ? 0 : 1;
}

inline void
BottleneckGroups::FreezeMember(uint32_t link, double weight, double level, bool own)
{
    GroupedLink& l = m_tables.links[link];
    m_fixed[link] += weight * level;
    l.peak = std::max(l.peak, m_fixed[link]);
    TakeRiser(link, weight, own);
}

inline void
BottleneckGroups::FreeMember(uint32_t link, double weight, double level)
{
    GroupedLink& l = m_tables.links[link];
    m_fixed[link] -= weight * level;
    m_functions[link].rising += weight;
    l.risers++;
    l.foreign++;
}

/** A System whose contending variables have the levels of BottleneckGroups, or their own. */
template <typename Solver>
class GroupedSystem : public System<Solver, GroupedParts>
{
  public:
    /** As of the System. */
    template <typename Path>
    uint32_t Add(const Path& path, double cap)
    {
        const uint32_t v = System<Solver, GroupedParts>::Add(path, cap);
        m_tables.variables[v].bottleneck = m_groups.None();
        return v;
    }

    double Level(uint32_t variable) const
    {
        return m_groups.Level(variable);
    }

    uint32_t Bottleneck(uint32_t variable) const
    {
        const uint32_t link = m_tables.variables[variable].bottleneck;
        return link == m_groups.None() ? NONE : link;
    }

    double LinkLevel(uint32_t link) const
    {
        return m_tables.links[link].level;
    }

  protected:
    using System<Solver, GroupedParts>::m_tables;
    using System<Solver, GroupedParts>::System;

    /** Solves what was taken from another solver; all has moved. */
    void SolveAll()
    {
        for (GroupedVariable& variable : m_tables.variables)
        {
            variable.bottleneck = m_groups.None();
        }
        static_cast<Solver&>(*this).Solve();
        m_tables.moved.resize(m_tables.variables.size());
        std::iota(m_tables.moved.begin(), m_tables.moved.end(), 0U);
        m_tables.touched.resize(m_tables.links.size());
        std::iota(m_tables.touched.begin(), m_tables.touched.end(), 0U);
    }

    BottleneckGroups m_groups{m_tables};
};

} // namespace weir::maxmin

#endif // WEIR_FABRIC_SHARING_BOTTLENECK_GROUPS_H
