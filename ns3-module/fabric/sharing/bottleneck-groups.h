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

/** If less than this fraction of a sum remains after subtractions, rounding errors may matter. */
constexpr double LOST = 1e-3;

/** A variable and its bottleneck. */
struct GroupedVariable : Variable
{
    uint32_t bottleneck{0}; //!< a link; none: the number of links
    bool isFree{false};     //!< it rises without a group until it is frozen
};

/** A crossing of a link by a variable, and its index in the lists of the variable's group. */
struct GroupedCrossing : Crossing
{
    uint32_t inGroup{NONE}; //!< index in the reach or the allowances of its bottleneck
};

/** The other links that a group loads: the crossings of its variables, as parallel vectors. */
struct Reach
{
    std::vector<uint32_t> links;
    std::vector<double> weights;
    std::vector<uint32_t> crossings; //!< indices into all crossings
};

/** The level up to which a group may rise before a slack link that it crosses must be checked. */
struct Allowance
{
    double maxLevel; //!< maximum level
    uint32_t link;
    uint32_t crossing; //!< crossing of the link by a variable of the group
};

/**
 * The data of a link that sweeps read in addition to the load of its frozen members. Two fit in a
 * cache line.
 */
struct alignas(32) LoadFunction
{
    double highest{0};   //!< upper bound of the levels of frozen members
    double rising{0};    //!< weight of the rising members
    uint32_t rank{NONE}; //!< position in LevelOrder
};

/** The remaining data of a link. */
struct alignas(64) GroupedLink
{
    double capacity{0};
    double level{INFINITE};
    double key{INFINITE};     //!< in the queue; infinite: not queued
    double bound{0};          //!< the link is known not to saturate below this level
    double peak{0};           //!< highest load since it was last recomputed
    uint32_t risers{0};       //!< number of rising members
    uint32_t foreign{0};      //!< number of rising members outside the group
    uint32_t capped{0};       //!< number of members with a finite cap
    uint32_t solves{0};       //!< that touched the link since its load was last recomputed
    bool isTouched{false};    //!< in this solve
    bool isOpen{false};       //!< its group rises
    bool isSlack{false};      //!< only an upper bound of its load is known
    double ceiling{INFINITE}; //!< lower bound of the allowances of its group
    std::vector<Member> members;
    std::vector<uint32_t> bottlenecks; //!< of the members, by position
    Reach reach;                       //!< of its group, on links that are not slack
    std::vector<Allowance> allowances; //!< of its group, on slack links

    bool HasGroup() const
    {
        return risers > foreign;
    }
};

/** The data types of the System of MaxMin and RelaxedMaxMin. */
struct GroupedParts
{
    using Variable = GroupedVariable;
    using Crossing = GroupedCrossing;
    using Link = GroupedLink;
};

using GroupedTables = Tables<GroupedParts>;

/** The level at which a link saturates. */
struct Saturation
{
    double level;
    double rising; //!< weight of the members that are frozen there
};

/** A member that another link or its cap freezes above the level of this link. */
struct HigherMember
{
    double level;
    double weight;
    uint32_t variable;
};

/**
 * The *group* of each bottleneck link, i.e. the variables that it limits and that share its level,
 * and the load of every link as a function of its level.
 *
 * In progressive filling the rising members of a link, its *risers*, all have one level x, so the
 * load of the link is fixed + rising * x. Until something changes on the link, its risers are its
 * group and the load equals the capacity at the level of the link. Loads are updated by
 * differences; RecomputeLoad recomputes a load from the members, which removes accumulated rounding
 * errors. The load of a slack link (SlackLinks) counts members of groups at their allowances.
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

    /** The value of `bottleneck` for a variable that has none: the number of links. */
    uint32_t None() const
    {
        return m_none;
    }

    /** Whether a variable rises, in a group or without one. */
    bool IsFree(const GroupedVariable& v) const
    {
        return v.isFree || (v.bottleneck != m_none && m_tables.links[v.bottleneck].isOpen);
    }

    /**
     * Whether the level of a link depends only on its group and its fixed load: all its risers are
     * in the group, no member has a cap, and the link is neither open nor slack nor infinite.
     */
    bool IsRegular(const GroupedLink& l) const
    {
        return l.risers > 0 && l.foreign == 0 && l.capped == 0 && !l.isOpen && !l.isSlack &&
               l.capacity < INFINITE;
    }

    /** The load of the members of a link that do not rise, bytes per second. */
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

    /** The load of a link at its own level, bytes per second. */
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

    /**
     * Adds the effect of a level change of a link's group to the loads of all links that the group
     * crosses.
     */
    void AddToReach(uint32_t link, double change);

    /**
     * Converts a riser of @p weight into a member frozen at @p level.
     * @param own whether the member is in the link's group
     */
    void FreezeMember(uint32_t link, double weight, double level, bool own);

    /**
     * Converts a member of @p weight, frozen at @p level, into a riser of another group or of none.
     */
    void FreeMember(uint32_t link, double weight, double level);

    /** Removes a riser of a link. @param own: whether it is in the link's group */
    void TakeRiser(uint32_t link, double weight, bool own);

    /** Recomputes the load of a link from its members. O(members). */
    void RecomputeLoad(uint32_t link);

    /** Sets the level at which the group of a link is frozen. */
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

    /** The levels at which groups are frozen, by link; infinite for rising groups. */
    const double* Levels() const
    {
        return m_levels.data();
    }

    /** The level at which a member would be frozen without this link. */
    double LimitOf(uint32_t link, std::size_t member) const
    {
        const GroupedLink& l = m_tables.links[link];
        const uint32_t bottleneck = l.bottlenecks[member];
        const double ofGroup = bottleneck == link ? INFINITE : m_levels[bottleneck];
        return l.capped > 0 ? std::min(ofGroup, m_tables.variables[l.members[member].variable].cap)
                            : ofGroup;
    }

    /**
     * Finds the level at which a link saturates, from its members: Newton's method on a concave
     * piecewise linear function, starting at @p at.level. O(members) per iteration, few iterations.
     * @return false if the link does not saturate
     */
    bool FindSaturation(uint32_t link, Saturation& at) const;

    /** Finds the members of a link that are frozen above @p level elsewhere. O(members). */
    void FindHigher(uint32_t link, double level, std::vector<HigherMember>& higher);

    /** Moves a variable from its group to another, or to None(). O(path). */
    void SetBottleneck(uint32_t variable, uint32_t bottleneck, double level);

    /** The level at which a slack link counts a frozen member in its load. */
    double AllowedLevel(uint32_t link, std::size_t member) const;

    /** Removes a crossing from the reach or the allowances of a group. O(1) */
    void TakeCrossing(uint32_t crossing, uint32_t group);

    /**
     * Adds a crossing to the reach of a group, or to its allowances if the link is slack. O(1)
     * @param weight of the crossing's variable on the link
     * @param maxLevel maximum level of the allowance
     */
    void GiveCrossing(uint32_t crossing, uint32_t group, double weight, double maxLevel);

  private:
    GroupedTables& m_tables;
    uint32_t m_none;                       //!< the number of links
    std::vector<double> m_fixed;           //!< by link
    std::vector<LoadFunction> m_functions; //!< by link
    std::vector<double> m_levels;          //!< by link; one more entry for None()
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

/** A System whose contending variables have the level of their group, or their own. */
template <typename Solver>
class GroupedSystem : public System<Solver, GroupedParts>
{
  public:
    /** Adds a variable; see System::Add. */
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

    /**
     * Solves the state that was copied from another solver; reports all variables as moved and all
     * links as touched.
     */
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

    // Called by System.
    void Joined(uint32_t link, uint32_t v)
    {
        GroupedLink& l = m_tables.links[link];
        l.bottlenecks.push_back(m_groups.None());
        l.capped += m_tables.variables[v].cap < INFINITE ? 1 : 0;
    }

    void Left(uint32_t link, uint32_t position, uint32_t v)
    {
        GroupedLink& l = m_tables.links[link];
        l.bottlenecks[position] = l.bottlenecks.back();
        l.bottlenecks.pop_back();
        l.capped -= m_tables.variables[v].cap < INFINITE ? 1 : 0;
    }

    BottleneckGroups m_groups{m_tables};
};

} // namespace weir::maxmin

#endif // WEIR_FABRIC_SHARING_BOTTLENECK_GROUPS_H
