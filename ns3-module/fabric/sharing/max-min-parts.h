// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_MAX_MIN_PARTS_H
#define WEIR_FABRIC_MAX_MIN_PARTS_H

#include "fabric/sharing/max-min-system.h"

#include <cstddef>
#include <cstdint>
#include <vector>

/**
 * @file
 * What MaxMin keeps of variables and links; how it uses it is told in max-min.h.
 */
namespace weir::maxmin
{

/** A variable, and what limits it. */
struct GroupedVariable : Variable
{
    uint32_t bottleneck{0}; //!< a link, or the number of links: none
    uint32_t freed{0};      //!< the solve that freed it by itself, until it is stopped
};

/** A link of a path, and where it stands with the variable's group. */
struct GroupedStep : Step
{
    uint32_t reach{0xffffffff}; //!< in the reach of the variable's bottleneck, or its allowances
};

/** Where else a group loads links: the crossings of its variables, in columns. */
class Reach
{
  public:
    std::size_t Size() const
    {
        return m_links.size();
    }

    const uint32_t* Links() const
    {
        return m_links.data();
    }

    const double* Weights() const
    {
        return m_weights.data();
    }

    /** Of which variable, and where on its path. */
    uint32_t StepOf(std::size_t place) const
    {
        return m_steps[place];
    }

    /** Whether all crossings have one weight, and so need not be asked for it each. */
    bool IsEven() const
    {
        return m_uneven == 0;
    }

    /** Crossings of one link that stand side by side. */
    struct Run
    {
        std::size_t end; //!< the place after the last
        double weight;   //!< of all
    };

    /** Those that begin at a place: where all of a group crosses one link, that is all in one. */
    Run RunFrom(std::size_t place) const
    {
        const uint32_t link = m_links[place];
        std::size_t end = place + 1;
        double weight = m_weights[place];
        if (IsEven())
        {
            for (; end < m_links.size() && m_links[end] == link; end++)
            {
            }
            return {end, weight * static_cast<double>(end - place)};
        }
        for (; end < m_links.size() && m_links[end] == link; end++)
        {
            weight += m_weights[end];
        }
        return {end, weight};
    }

    /** @return the place of the new crossing. */
    uint32_t Add(uint32_t link, double weight, uint32_t step)
    {
        m_even = m_links.empty() ? weight : m_even;
        m_uneven += weight != m_even ? 1 : 0;
        m_links.push_back(link);
        m_weights.push_back(weight);
        m_steps.push_back(step);
        return static_cast<uint32_t>(m_links.size() - 1);
    }

    /** Puts the last crossing in the place of one that goes. @return its step. */
    uint32_t Take(uint32_t place)
    {
        m_uneven -= m_weights[place] != m_even ? 1 : 0;
        const uint32_t last = m_steps.back();
        m_links[place] = m_links.back();
        m_weights[place] = m_weights.back();
        m_steps[place] = last;
        m_links.pop_back();
        m_weights.pop_back();
        m_steps.pop_back();
        return last;
    }

  private:
    std::vector<uint32_t> m_links;
    std::vector<double> m_weights;
    std::vector<uint32_t> m_steps; //!< whose variables are in the group
    double m_even{0};              //!< weight that most of them have
    std::size_t m_uneven{0};       //!< crossings of other weights
};

/** How far a group may rise before a slack link that it crosses must be looked at. */
struct Allowance
{
    double most; //!< level
    uint32_t link;
    uint32_t step; //!< whose variable is in the group
};

/** The part of a link's line that sweeps read, beside its fixed load: two to a cache line. */
struct alignas(32) Line
{
    double limit{-UNLIMITED};  //!< a move that brings the fixed load above it needs a look
    double highest{0};         //!< no member that does not rise is above this level
    double rising{0};          //!< weight of the members that rise
    uint32_t rank{0xffffffff}; //!< in the order of walks
    uint32_t lone{0xffffffff}; //!< in a walk: the one member above the level, if that is known
};

/** The rest of a link. */
struct alignas(64) Link
{
    double capacity{0};
    double level{UNLIMITED};
    double key{UNLIMITED};     //!< in the heap; infinite: not in it
    double bound{0};           //!< the line is known to be too low below this level
    double peak{0};            //!< the highest load since the line was last summed afresh
    uint32_t risers{0};        //!< members that rise: the group, and
    uint32_t guests{0};        //!< free members of other groups or none
    uint32_t mark{0};          //!< the solve that last touched it
    uint32_t capped{0};        //!< members that have caps
    uint32_t solves{0};        //!< that touched the line since it was last summed afresh
    bool opened{false};        //!< its group is free
    bool slack{false};         //!< keeps no line, but a bound that is below its capacity
    double ceiling{UNLIMITED}; //!< no allowance of its group is lower
    std::vector<Member> members;
    std::vector<uint32_t> bottlenecks; //!< of the members, one for one
    Reach reach;                       //!< of its group, where it crosses links with lines
    std::vector<Allowance> allowances; //!< of its group, where it crosses slack links

    bool HasGroup() const
    {
        return risers > guests;
    }
};

/** What the System under MaxMin is made of. */
struct GroupedParts
{
    using Variable = GroupedVariable;
    using Step = GroupedStep;
    using Link = maxmin::Link;
};

/** A link in the order of a walk. */
struct Place
{
    double level; //!< of its group; or its fixed load, where it has none
    uint32_t link;
};

/** The members of one link, counted against a level. */
struct Count
{
    double fixed{0};    //!< load of members that stop at or below the level
    double rising{0};   //!< weight of the others
    uint32_t risers{0}; //!< how many they are
};

/** Where a link fills. */
struct Filling
{
    double level;
    double rising; //!< weight of the members that stop there
};

/** A member that stands higher elsewhere than its link lets it. */
struct Higher
{
    double level;
    double weight;
    uint32_t variable;
};

} // namespace weir::maxmin

#endif // WEIR_FABRIC_MAX_MIN_PARTS_H
