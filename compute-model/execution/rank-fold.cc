// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/rank-fold.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace weir
{

namespace
{

/** Numbers distinct keys in the order of their first occurrence. */
class Numbering
{
  public:
    uint32_t NumberOf(std::vector<uint64_t> key)
    {
        return m_numbers.try_emplace(std::move(key), static_cast<uint32_t>(m_numbers.size()))
            .first->second;
    }

    std::size_t Size() const
    {
        return m_numbers.size();
    }

  private:
    std::map<std::vector<uint64_t>, uint32_t> m_numbers;
};

std::vector<uint32_t>
CountedUp(std::size_t count)
{
    std::vector<uint32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0U);
    return numbers;
}

/** A rank's use of a group. */
struct Use
{
    uint32_t rank;
    uint32_t slot;
};

/** By group: its members and their slots; empty when a rank has a group in two slots. */
std::vector<std::vector<Use>>
UsesOf(const StepGraph& graph)
{
    std::vector<std::vector<Use>> uses(graph.groups.size());
    for (std::size_t group = 0; group < graph.groups.size(); group++)
    {
        uses[group].reserve(graph.groups[group].size());
        for (const Rank member : graph.groups[group])
        {
            const auto& slots = graph.rankGroups[member.Index()];
            const auto found = std::find(slots.begin(), slots.end(), group);
            if (found == slots.end())
            {
                continue; // the rank does not use the group
            }
            if (std::find(found + 1, slots.end(), group) != slots.end())
            {
                return {};
            }
            uses[group].push_back({member.Index(), static_cast<uint32_t>(found - slots.begin())});
        }
    }
    return uses;
}

} // namespace

NumberLists::NumberLists(const std::vector<uint32_t>& of, std::size_t lists)
    : m_first(lists + 1),
      m_numbers(of.size())
{
    for (const uint32_t list : of)
    {
        m_first[list + 1]++;
    }
    std::partial_sum(m_first.begin(), m_first.end(), m_first.begin());
    std::vector<uint32_t> next(m_first.begin(), m_first.end() - 1);
    for (std::size_t number = 0; number < of.size(); number++)
    {
        m_numbers[next[of[number]]++] = static_cast<uint32_t>(number);
    }
}

struct RankFold::Classes
{
    static Classes Apart(const StepGraph& graph);
    static Classes Refined(const StepGraph& graph,
                           const std::vector<double>& scale,
                           const std::vector<uint32_t>& groupKinds);

    std::vector<uint32_t> ofRank;
    std::vector<uint32_t> ofGroup;
    std::size_t rankCount{0};           //!< classes of ranks
    std::size_t groupCount{0};          //!< classes of groups
    std::vector<uint32_t> groupMembers; //!< by class of groups
};

RankFold::Classes
RankFold::Classes::Apart(const StepGraph& graph)
{
    Classes classes;
    classes.ofRank = CountedUp(graph.RankCount());
    classes.ofGroup = CountedUp(graph.groups.size());
    classes.rankCount = classes.ofRank.size();
    classes.groupCount = classes.ofGroup.size();
    for (const auto& group : graph.groups)
    {
        classes.groupMembers.push_back(static_cast<uint32_t>(group.size()));
    }
    return classes;
}

RankFold::Classes
RankFold::Classes::Refined(const StepGraph& graph,
                           const std::vector<double>& scale,
                           const std::vector<uint32_t>& groupKinds)
{
    const auto uses = UsesOf(graph);
    if (uses.size() != graph.groups.size())
    {
        return Apart(graph);
    }
    Classes classes;
    classes.ofGroup.resize(graph.groups.size());
    std::map<std::pair<uint32_t, double>, uint32_t> roles;
    for (std::size_t rank = 0; rank < graph.RankCount(); rank++)
    {
        const std::pair<uint32_t, double> role{graph.rankProgram[rank],
                                               scale.empty() ? 1.0 : scale[rank]};
        classes.ofRank.push_back(
            roles.try_emplace(role, static_cast<uint32_t>(roles.size())).first->second);
    }
    std::size_t before = roles.size();
    for (;;)
    {
        Numbering groups;
        classes.groupMembers.clear();
        for (std::size_t group = 0; group < uses.size(); group++)
        {
            std::vector<uint64_t> key;
            for (const Use& use : uses[group])
            {
                key.push_back(uint64_t{classes.ofRank[use.rank]} << 32 | use.slot);
            }
            std::sort(key.begin(), key.end());
            key.erase(std::unique(key.begin(), key.end()), key.end());
            const auto members = static_cast<uint32_t>(key.size());
            key.push_back(groupKinds[group]);
            classes.ofGroup[group] = groups.NumberOf(std::move(key));
            if (groups.Size() > classes.groupMembers.size())
            {
                classes.groupMembers.push_back(members);
            }
        }
        Numbering ranks;
        std::vector<uint32_t> next(graph.RankCount());
        for (std::size_t rank = 0; rank < graph.RankCount(); rank++)
        {
            std::vector<uint64_t> key{classes.ofRank[rank]};
            for (const uint32_t group : graph.rankGroups[rank])
            {
                key.push_back(group < classes.ofGroup.size() ? classes.ofGroup[group]
                                                             : StepGraph::NO_GROUP);
            }
            next[rank] = ranks.NumberOf(std::move(key));
        }
        classes.groupCount = groups.Size();
        classes.rankCount = ranks.Size();
        if (ranks.Size() == before)
        {
            return classes; // the classes of groups are stable, too
        }
        before = ranks.Size();
        classes.ofRank = std::move(next);
    }
}

RankFold::RankFold(const StepGraph& graph)
    : RankFold(graph, Classes::Apart(graph))
{
}

RankFold::RankFold(const StepGraph& graph,
                   const std::vector<double>& scale,
                   const std::vector<uint32_t>& groupKinds)
    : RankFold(graph, Classes::Refined(graph, scale, groupKinds))
{
}

RankFold::RankFold(const StepGraph& graph, const Classes& classes)
    : actorOf(classes.ofRank),
      ranks(actorOf, classes.rankCount),
      groups(classes.ofGroup, classes.groupCount),
      arrivals(classes.groupMembers)
{
    for (uint32_t actor = 0; actor < ranks.Lists(); actor++)
    {
        const uint32_t rank = *ranks.begin(actor);
        program.push_back(graph.rankProgram[rank]);
        slots.push_back(graph.rankGroups[rank]);
        for (uint32_t& group : slots.back())
        {
            group = group < classes.ofGroup.size() ? classes.ofGroup[group] : StepGraph::NO_GROUP;
        }
    }
}

} // namespace weir
