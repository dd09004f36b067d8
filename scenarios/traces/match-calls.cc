// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traces/import-traces.h"

#include "scenarios/traces/goal-schedule.h"
#include "scenarios/workload/workload-file.h"
#include "scenarios/yaml/input-error.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

namespace weir
{

namespace
{

/** "a.et: node 7". */
std::string
LocationOf(const RankTrace& rank, const TraceEvent& event)
{
    return rank.file + ": " + event.id;
}

/** "all-reduce of 1048576 B". */
std::string
DescribeCall(const TraceEvent& event)
{
    return NameOfCall(event) + " of " + std::to_string(CallSize(event).Count()) + " B";
}

/** Number of ranks in the recorded job, inferred from the trace of @p rank. */
uint32_t
WorldOf(const RankTrace& rank)
{
    uint32_t world = std::max(rank.world, rank.rank.value_or(0) + 1);
    for (const auto& [name, group] : rank.groups)
    {
        world = std::max(world, group.size);
        for (const uint32_t member : group.ranks)
        {
            world = std::max(world, member + 1);
        }
    }
    for (const TraceEvent& event : rank.events)
    {
        const bool isPair =
            event.kind == TraceEventKind::Send || event.kind == TraceEventKind::Recv;
        world = isPair && event.peer != GoalOp::ANY ? std::max(world, event.peer + 1) : world;
    }
    return world;
}

/**
 * The indices of the events of @p rank in an order in which they can run: after all that they wait
 * for, otherwise by index. Marks, which take no time, come as soon as they can. Events that wait
 * for each other come last. O(events x log(events)).
 */
std::vector<uint32_t>
RunOrder(const RankTrace& rank)
{
    const auto count = static_cast<uint32_t>(rank.events.size());
    std::vector<uint32_t> order;
    std::vector<std::size_t> open(count);
    std::vector<std::vector<uint32_t>> dependents(count);
    using Turn = std::pair<bool, uint32_t>; // whether it takes one, and its index
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> ready;
    const auto addReady = [&](uint32_t i) {
        ready.emplace(rank.events[i].kind != TraceEventKind::Mark, i);
    };
    for (uint32_t i = 0; i < count; i++)
    {
        open[i] = rank.events[i].after.size();
        for (const uint32_t need : rank.events[i].after)
        {
            dependents[need].push_back(i);
        }
        if (open[i] == 0)
        {
            addReady(i);
        }
    }
    while (!ready.empty())
    {
        order.push_back(ready.top().second);
        ready.pop();
        for (const uint32_t next : dependents[order.back()])
        {
            if (--open[next] == 0)
            {
                addReady(next);
            }
        }
    }
    for (uint32_t i = 0; i < count; i++)
    {
        if (open[i] > 0)
        {
            order.push_back(i);
        }
    }
    return order;
}

class CallMatcher
{
  public:
    CallMatcher(const std::vector<TraceFile>& files, const TraceOptions& options)
    {
        for (const TraceFile& file : files)
        {
            if (file.dangling > 0 && !options.dropsDangling)
            {
                throw IncompleteTraces(
                    file.path + ": " + file.firstDangling + ": found no such node (one of " +
                    std::to_string(file.dangling) + "), expected all, or --drop-dangling");
            }
            for (const RankTrace& rank : file.ranks)
            {
                if (!file.isJoined)
                {
                    m_traces.ranks.push_back(rank);
                }
            }
        }
        if (m_traces.ranks.empty())
        {
            throw IncompleteTraces((files.empty() ? "import" : files.front().path) +
                                   ": found no rank to play, expected at least one");
        }
        OrderRanks(options);
    }

    MatchedTraces Match()
    {
        for (uint32_t i = 0; i < m_traces.ranks.size(); i++)
        {
            CollectCalls(i);
        }
        for (auto& [key, calls] : m_collectives)
        {
            MatchCollectives(std::get<0>(key), std::get<1>(key), calls);
        }
        MatchPairs();
        AddRemarks();
        return std::move(m_traces);
    }

  private:
    using Group = std::tuple<std::string, std::vector<uint32_t>>;
    using Pair = std::tuple<uint32_t, uint32_t, int64_t>; //!< source, destination, tag

    void OrderRanks(const TraceOptions& options)
    {
        std::vector<RankTrace>& ranks = m_traces.ranks;
        const uint32_t given = std::max(options.ranks, ranks.front().ranks);
        m_traces.isReplicated = given > 0;
        if (m_traces.isReplicated)
        {
            if (ranks.size() > 1)
            {
                throw IncompleteTraces(ranks[1].file + ": found " + std::to_string(ranks.size()) +
                                       " ranks where one represents " + std::to_string(given) +
                                       ", expected the file of one");
            }
            m_traces.rankCount = given;
            m_world = ranks.front().ranks > 0 ? given : WorldOf(ranks.front());
            m_traces.remarks.push_back("one rank represents " + std::to_string(given));
            if (given > MAX_WORKLOAD_RANKS)
            {
                throw IncompleteTraces(ranks.front().file + ": found " + std::to_string(given) +
                                       " ranks, expected at most " +
                                       std::to_string(MAX_WORKLOAD_RANKS));
            }
            return;
        }
        if (ranks.size() == 1 && !ranks.front().rank)
        {
            ranks.front().rank = 0;
        }
        for (const RankTrace& rank : ranks)
        {
            if (!rank.rank)
            {
                throw IncompleteTraces(
                    rank.file +
                    ": found no rank in the file or its name, expected one as in "
                    "name.3.et or rank-3.json");
            }
            m_world = std::max(m_world, WorldOf(rank));
        }
        std::stable_sort(ranks.begin(), ranks.end(), [](const auto& a, const auto& b) {
            return *a.rank < *b.rank;
        });
        for (std::size_t i = 0; i < ranks.size(); i++)
        {
            const bool isTwice = i > 0 && *ranks[i].rank == *ranks[i - 1].rank;
            if (isTwice)
            {
                throw IncompleteTraces(ranks[i].file + ": found rank " +
                                       std::to_string(*ranks[i].rank) + " as in " +
                                       ranks[i - 1].file + ", expected each once");
            }
            if (*ranks[i].rank != i)
            {
                throw IncompleteTraces(ranks[i].file + ": found rank " +
                                       std::to_string(*ranks[i].rank) + " but not rank " +
                                       std::to_string(i) +
                                       ", expected all from 0, or one with --ranks N");
            }
        }
        if (m_world > ranks.size())
        {
            throw IncompleteTraces(ranks.front().file + ": found " + std::to_string(ranks.size()) +
                                   " of " + std::to_string(m_world) +
                                   " ranks, expected all, or one with --ranks N");
        }
        m_traces.rankCount = static_cast<uint32_t>(ranks.size());
    }

    /**
     * @p group as a rule for every rank; a group of all recorded ranks becomes a group of all
     * ranks.
     */
    TraceGroup Repeated(const TraceGroup& group, const std::string& location) const
    {
        if (group.size >= m_world || group.ranks.size() >= m_world)
        {
            return {};
        }
        if (group.ranks.size() < 2)
        {
            return {{}, group.ranks.empty() ? group.size : 1, group.stride};
        }
        const uint32_t stride = group.ranks[1] - group.ranks[0];
        for (std::size_t i = 1; i < group.ranks.size(); i++)
        {
            if (group.ranks[i] != group.ranks[i - 1] + stride || stride == 0 || stride > m_world)
            {
                throw InputError(location +
                                 ": found ranks that are not evenly spaced, expected even spacing "
                                 "where one rank represents all");
            }
        }
        return {{}, static_cast<uint32_t>(group.ranks.size()), stride};
    }

    /** Turns @p event into a mark, which passes its dependencies on to its dependents. */
    static void Drop(TraceEvent& event)
    {
        event.kind = TraceEventKind::Mark;
        event.stream = TraceEvent::NO_STREAM;
    }

    void CollectCalls(uint32_t index)
    {
        RankTrace& rank = m_traces.ranks[index];
        const uint32_t number = m_traces.isReplicated ? 0 : rank.rank.value_or(0);
        for (const uint32_t i : RunOrder(rank))
        {
            TraceEvent& event = rank.events[i];
            if (event.kind == TraceEventKind::Collective)
            {
                const std::string location =
                    LocationOf(rank, event) + ", group '" + event.group + "'";
                const TraceGroup group = m_traces.isReplicated
                                             ? Repeated(rank.groups[event.group], location)
                                             : rank.groups[event.group];
                const auto members = MembersOf(group, number, m_traces.rankCount, location);
                CompleteSizes(event, std::max<std::size_t>(members.size(), 1));
                if (CallSize(event) > Bytes(MAX_EVENT_BYTES))
                {
                    throw InputError(location + ": found parts of " +
                                     std::to_string(std::min(event.in, event.out).Count()) +
                                     " B of " + std::to_string(members.size()) +
                                     " ranks, expected at most " + std::to_string(MAX_EVENT_BYTES) +
                                     " B together");
                }
                if (members.size() < 2)
                {
                    m_alone++;
                    Drop(event);
                    continue;
                }
                if (event.in == Bytes() && event.out == Bytes() && event.duration > Time())
                {
                    m_unsized++;
                    event.kind = TraceEventKind::Compute;
                    continue;
                }
                m_rules[event.group] = group;
                m_collectives[{event.group, members}][index].push_back(i);
            }
            else if (event.IsCommunication())
            {
                CollectPair(index, i, number);
            }
        }
    }

    void CollectPair(uint32_t index, uint32_t at, uint32_t number)
    {
        RankTrace& rank = m_traces.ranks[index];
        TraceEvent& event = rank.events[at];
        if (m_traces.isReplicated || event.peer == number)
        {
            (m_traces.isReplicated ? m_unpaired : m_alone)++;
            Drop(event);
            return;
        }
        if (event.peer >= m_traces.rankCount || event.tag == GoalOp::ANY)
        {
            throw IncompleteTraces(
                LocationOf(rank, event) + ": found a " + NameOfCall(event) + " with " +
                (event.peer == GoalOp::ANY || event.tag == GoalOp::ANY
                     ? "any source or tag"
                     : "rank " + std::to_string(event.peer)) +
                ", expected one of " + std::to_string(m_traces.rankCount) + " ranks and a tag");
        }
        const bool sends = event.kind == TraceEventKind::Send;
        const Pair pair(sends ? number : event.peer, sends ? event.peer : number, event.tag);
        (sends ? m_sends : m_receives)[pair].push_back({index, at});
    }

    const TraceEvent& At(EventId id) const
    {
        return m_traces.ranks[id.rank].events[id.event];
    }

    std::string Where(EventId id) const
    {
        return LocationOf(m_traces.ranks[id.rank], At(id));
    }

    [[noreturn]] void FailToMatch(EventId found, EventId expected) const
    {
        throw InputError(Where(found) + ": found " + DescribeCall(At(found)) + ", expected " +
                         DescribeCall(At(expected)) + " as in " + Where(expected));
    }

    void MatchCollectives(const std::string& group,
                          const std::vector<uint32_t>& members,
                          const std::map<uint32_t, std::vector<uint32_t>>& calls)
    {
        if (m_traces.isReplicated)
        {
            for (const uint32_t event : calls.begin()->second)
            {
                const TraceEvent& call = At({0, event});
                m_uneven += call.HasSplits() ? 1 : 0;
                m_traces.calls.push_back(
                    {{{0, event}}, members, CallSize(call), {}, m_rules[group]});
            }
            return;
        }
        const auto& [firstRank, first] = *calls.begin();
        for (const uint32_t member : members)
        {
            const auto own = calls.find(member);
            const std::size_t count = own == calls.end() ? 0 : own->second.size();
            if (count != first.size())
            {
                const bool lacks = count < first.size();
                const EventId left = lacks ? EventId{firstRank, first[count]}
                                           : EventId{member, own->second[first.size()]};
                throw InputError(Where(left) + ": found " + DescribeCall(At(left)) + " that rank " +
                                 std::to_string(lacks ? member : firstRank) +
                                 " does not take part in, expected it of all " +
                                 std::to_string(members.size()) + " ranks of group '" +
                                 At(left).group + "'");
            }
        }
        for (std::size_t k = 0; k < first.size(); k++)
        {
            MatchedCall call;
            call.members = members;
            for (const uint32_t member : members)
            {
                call.events.push_back({member, calls.at(member)[k]});
                const TraceEvent& own = At(call.events.back());
                const TraceEvent& other = At(call.events.front());
                const bool isUneven =
                    own.op == CollectiveOp::AllToAll && (own.HasSplits() || other.HasSplits());
                if (own.op != other.op || (!isUneven && CallSize(own) != CallSize(other)))
                {
                    FailToMatch(call.events.back(), call.events.front());
                }
            }
            call.bytes = CallSize(At(call.events.front()));
            SetCallSplits(call);
            m_traces.calls.push_back(std::move(call));
        }
    }

    /** Sets the bytes between each pair of members if any member has uneven parts. */
    void SetCallSplits(MatchedCall& call) const
    {
        const std::size_t size = call.members.size();
        const auto isUneven = [&](EventId id) { return At(id).HasSplits(); };
        if (std::none_of(call.events.begin(), call.events.end(), isUneven))
        {
            return;
        }
        const auto partsOf = [&](const std::vector<Bytes>& splits, Bytes all) {
            return splits.size() == size
                       ? splits
                       : std::vector<Bytes>(size, all / static_cast<int64_t>(size));
        };
        call.bytes = Bytes();
        for (const EventId id : call.events)
        {
            call.splits.push_back(partsOf(At(id).inSplits, At(id).in));
            const auto& row = call.splits.back();
            call.bytes = std::max(call.bytes, std::accumulate(row.begin(), row.end(), Bytes()));
        }
        for (std::size_t to = 0; to < size; to++)
        {
            const TraceEvent& event = At(call.events[to]);
            const auto gets = partsOf(event.outSplits, event.out);
            for (std::size_t from = 0; from < size; from++)
            {
                // Parts are in elements; converting to bytes rounds each.
                if (std::abs((gets[from] - call.splits[from][to]).Count()) > 1)
                {
                    throw InputError(Where(call.events[to]) + ": found a part of " +
                                     std::to_string(gets[from].Count()) + " B from rank " +
                                     std::to_string(call.members[from]) + ", expected " +
                                     std::to_string(call.splits[from][to].Count()) + " B as in " +
                                     Where(call.events[from]));
                }
            }
        }
    }

    void MatchPairs()
    {
        for (const auto& [pair, sends] : m_sends)
        {
            const auto found = m_receives.find(pair);
            const std::size_t count = found == m_receives.end() ? 0 : found->second.size();
            for (std::size_t k = 0; k < std::min(count, sends.size()); k++)
            {
                if (CallSize(At(sends[k])) != CallSize(At(found->second[k])))
                {
                    FailToMatch(found->second[k], sends[k]);
                }
                m_traces.calls.push_back({{sends[k], found->second[k]},
                                          {std::get<0>(pair), std::get<1>(pair)},
                                          CallSize(At(sends[k])),
                                          {},
                                          {}});
            }
            if (count != sends.size())
            {
                FailWithoutPartner(count < sends.size() ? sends[count]
                                                        : found->second[sends.size()]);
            }
        }
        for (const auto& [pair, receives] : m_receives)
        {
            if (m_sends.find(pair) == m_sends.end())
            {
                FailWithoutPartner(receives.front());
            }
        }
    }

    [[noreturn]] void FailWithoutPartner(EventId id) const
    {
        const TraceEvent& event = At(id);
        throw InputError(Where(id) + ": found " + DescribeCall(event) + " that rank " +
                         std::to_string(event.peer) + " has no partner for (tag " +
                         std::to_string(event.tag) + "), expected one");
    }

    void AddRemarks()
    {
        std::vector<std::string>& remarks = m_traces.remarks;
        AddRemark(m_alone, "communications of a rank with itself are left out", remarks);
        AddRemark(m_unpaired,
                  "sends and receives of the one rank are left out: it has no peers",
                  remarks);
        AddRemark(m_uneven, "uneven all-to-alls are even where one rank represents all", remarks);
        AddRemark(m_unsized,
                  "collectives have no size in the trace: they keep their recorded time",
                  remarks);
    }

    MatchedTraces m_traces;
    uint32_t m_world{0}; //!< number of ranks in the recorded job
    std::map<Group, std::map<uint32_t, std::vector<uint32_t>>> m_collectives; //!< events by rank
    std::map<std::string, TraceGroup> m_rules; //!< by group, if one rank represents all
    std::map<Pair, std::vector<EventId>> m_sends;
    std::map<Pair, std::vector<EventId>> m_receives;
    std::size_t m_alone{0};
    std::size_t m_unpaired{0};
    std::size_t m_uneven{0};
    std::size_t m_unsized{0};
};

} // namespace

std::vector<uint32_t>
MembersOf(const TraceGroup& group, uint32_t rank, uint32_t ranks, const std::string& location)
{
    std::vector<uint32_t> members = group.ranks;
    if (members.empty() && (group.size == 0 || group.size >= ranks))
    {
        members.resize(ranks);
        std::iota(members.begin(), members.end(), 0U);
        return members;
    }
    if (members.empty())
    {
        const uint64_t block = uint64_t{group.size} * group.stride;
        if (ranks % block != 0)
        {
            throw IncompleteTraces(location + ": found groups of " + std::to_string(group.size) +
                                   " ranks, each " + std::to_string(group.stride) +
                                   " apart, among " + std::to_string(ranks) +
                                   " ranks, expected a multiple of " + std::to_string(block));
        }
        const auto base = static_cast<uint32_t>(rank / block * block + rank % group.stride);
        for (uint32_t i = 0; i < group.size; i++)
        {
            members.push_back(base + i * group.stride);
        }
    }
    if (std::find(members.begin(), members.end(), rank) == members.end() ||
        *std::max_element(members.begin(), members.end()) >= ranks)
    {
        throw InputError(
            location + ": found a group of " + std::to_string(members.size()) + " ranks up to " +
            std::to_string(*std::max_element(members.begin(), members.end())) + ", expected rank " +
            std::to_string(rank) + " among them and all below " + std::to_string(ranks));
    }
    return members;
}

MatchedTraces
MatchCalls(const std::vector<TraceFile>& files, const TraceOptions& options)
{
    return CallMatcher(files, options).Match();
}

} // namespace weir
