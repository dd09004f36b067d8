// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traces/import-traces.h"

#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/mapped.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <utility>

namespace weir
{

namespace
{

constexpr std::size_t MAX_LABEL = 200; //!< characters of a kernel's name
constexpr uint32_t NO_CALL = 0xffffffff;
constexpr std::size_t HOST_STREAMS = 2; //!< last streams, for CPU events if any

/** Number of operations of each stream that must have ended. */
using StreamClock = std::array<uint32_t, STREAM_COUNT>;

void
Advance(StreamClock& clock, const StreamClock& other)
{
    for (std::size_t i = 0; i < STREAM_COUNT; i++)
    {
        clock[i] = std::max(clock[i], other[i]);
    }
}

/** A program whose streams are being filled, and the call of each operation. */
struct ProgramDraft
{
    StepProgram program;
    std::array<std::vector<uint32_t>, STREAM_COUNT> calls; //!< by operation; NO_CALL: compute
    std::array<StreamClock, STREAM_COUNT> last{};          //!< implied by the last operation
    std::array<Time, STREAM_COUNT> free{};      //!< end of the last operation as scheduled
    std::array<uint32_t, STREAM_COUNT> epoch{}; //!< epoch of the last operation
    std::map<int64_t, std::size_t> kept;        //!< by recorded stream: the assigned stream
    std::size_t streams{STREAM_COUNT};          //!< number of streams for the GPU
    uint32_t synchronized{0};                   //!< number of epochs begun
    std::size_t delayed{0}; //!< operations queued after ones that they do not depend on
};

/** Calls @p function(stream, call, operation) for every operation of @p draft that is in a call. */
template <typename F>
void
ForEachCall(ProgramDraft& draft, const F& function)
{
    for (std::size_t stream = 0; stream < STREAM_COUNT; stream++)
    {
        for (std::size_t i = 0; i < draft.calls[stream].size(); i++)
        {
            if (draft.calls[stream][i] != NO_CALL)
            {
                function(stream, draft.calls[stream][i], draft.program.streams[stream][i]);
            }
        }
    }
}

/** Assigns events to streams in one order over all ranks. */
class TraceScheduler
{
  public:
    explicit TraceScheduler(const MatchedTraces& traces)
        : m_traces(traces),
          m_drafts(traces.ranks.size())
    {
        for (const RankTrace& rank : traces.ranks)
        {
            m_first.push_back(m_nodes.size());
            m_nodes.resize(m_nodes.size() + rank.events.size());
        }
        for (std::size_t i = 0; i < m_drafts.size(); i++)
        {
            KeepStreams(traces.ranks[i], m_drafts[i]);
        }
        SetUnits();
        SetSuccessors();
    }

    Workload Make()
    {
        Schedule();
        for (ProgramDraft& draft : m_drafts)
        {
            m_delayed += draft.delayed;
        }
        m_traces.isReplicated ? ReplicateProgram() : WritePrograms();
        Workload workload{std::move(m_graph), {}, m_traces.remarks};
        AddRemark(m_delayed,
                  "operations share one of " + std::to_string(STREAM_COUNT) +
                      " streams with earlier operations that they do not depend on",
                  workload.remarks);
        return workload;
    }

  private:
    struct Node
    {
        uint32_t unit{0};
        StreamClock clock{}; //!< operations that must have ended when the event has ended
    };

    /** Events that begin and end at the same time: all events of a call, or a single event. */
    struct Unit
    {
        uint32_t call{NO_CALL};
        EventId single;
        uint32_t open{0}; //!< unresolved dependencies of its events
        Time ready;
    };

    std::size_t NodeOf(EventId id) const
    {
        return m_first[id.rank] + id.event;
    }

    const TraceEvent& At(EventId id) const
    {
        return m_traces.ranks[id.rank].events[id.event];
    }

    const std::vector<EventId> EventsOf(const Unit& unit) const
    {
        return unit.call == NO_CALL ? std::vector<EventId>{unit.single}
                                    : m_traces.calls[unit.call].events;
    }

    /**
     * Maps recorded streams to streams of the rank: the one with the most compute time becomes the
     * compute stream; the others get one each in order of appearance, and the last is shared.
     */
    static void KeepStreams(const RankTrace& rank, ProgramDraft& draft)
    {
        std::map<int64_t, Time> computes;
        std::vector<int64_t> order;
        bool hasHost = false;
        for (const TraceEvent& event : rank.events)
        {
            hasHost = hasHost || (event.isHost && event.kind == TraceEventKind::Compute);
            if (event.isHost || event.stream == TraceEvent::NO_STREAM ||
                event.kind == TraceEventKind::Mark)
            {
                continue;
            }
            const auto [entry, isNew] = computes.try_emplace(event.stream);
            if (isNew)
            {
                order.push_back(event.stream);
            }
            entry->second += event.IsCommunication() ? Time() : event.duration;
        }
        draft.streams = hasHost ? STREAM_COUNT - HOST_STREAMS : STREAM_COUNT;
        const auto max = std::max_element(
            computes.begin(), computes.end(), [](auto& a, auto& b) { return a.second < b.second; });
        const bool anyComputes = max != computes.end() && max->second > Time();
        std::size_t next = 1;
        for (const int64_t stream : order)
        {
            const bool isCompute = anyComputes && stream == max->first;
            draft.kept[stream] = isCompute ? 0 : std::min(next, draft.streams - 1);
            next += isCompute ? 0 : 1;
        }
    }

    void SetUnits()
    {
        std::vector<bool> isInCall(m_nodes.size());
        for (uint32_t call = 0; call < m_traces.calls.size(); call++)
        {
            for (const EventId id : m_traces.calls[call].events)
            {
                isInCall[NodeOf(id)] = true;
                m_nodes[NodeOf(id)].unit = static_cast<uint32_t>(m_units.size());
            }
            m_units.push_back({call, m_traces.calls[call].events.front(), 0, {}});
        }
        for (uint32_t rank = 0; rank < m_traces.ranks.size(); rank++)
        {
            for (uint32_t i = 0; i < m_traces.ranks[rank].events.size(); i++)
            {
                const EventId id{rank, i};
                if (!isInCall[NodeOf(id)])
                {
                    m_nodes[NodeOf(id)].unit = static_cast<uint32_t>(m_units.size());
                    m_units.push_back({NO_CALL, id, 0, {}});
                }
            }
        }
    }

    void SetSuccessors()
    {
        for (uint32_t rank = 0; rank < m_traces.ranks.size(); rank++)
        {
            const RankTrace& trace = m_traces.ranks[rank];
            std::map<int64_t, uint32_t> last; // last event by stream
            for (uint32_t i = 0; i < trace.events.size(); i++)
            {
                for (const uint32_t need : trace.events[i].after)
                {
                    m_edges.emplace_back(NodeOf({rank, need}), EventId{rank, i});
                }
                const int64_t stream = trace.events[i].stream;
                if (trace.isOrdered && stream != TraceEvent::NO_STREAM)
                {
                    const auto [entry, isFirst] = last.try_emplace(stream, i);
                    if (!isFirst)
                    {
                        m_edges.emplace_back(NodeOf({rank, entry->second}), EventId{rank, i});
                        entry->second = i;
                    }
                }
            }
        }
        std::stable_sort(m_edges.begin(), m_edges.end(), [](const auto& a, const auto& b) {
            return a.first < b.first;
        });
        for (const auto& [from, to] : m_edges)
        {
            m_units[m_nodes[NodeOf(to)].unit].open++;
        }
    }

    /** Kahn's algorithm; the earliest ready unit comes first. */
    void Schedule()
    {
        using Ready = std::pair<int64_t, uint32_t>; // picoseconds, unit position
        std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
        // Ties go to the unit with the earliest event.
        std::vector<uint32_t> order(m_units.size());
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
            return m_units[a].single.event < m_units[b].single.event;
        });
        std::vector<uint32_t> position(order.size());
        for (uint32_t i = 0; i < order.size(); i++)
        {
            position[order[i]] = i;
        }
        const auto push = [&](uint32_t unit) {
            for (const EventId id : EventsOf(m_units[unit]))
            {
                m_units[unit].ready = std::max(m_units[unit].ready, At(id).begin.value_or(Time()));
            }
            ready.emplace(m_units[unit].ready.ToPicoseconds(), position[unit]);
        };
        for (uint32_t unit = 0; unit < m_units.size(); unit++)
        {
            if (m_units[unit].open == 0)
            {
                push(unit);
            }
        }
        std::size_t done = 0;
        while (!ready.empty())
        {
            const uint32_t unit = order[ready.top().second];
            ready.pop();
            done++;
            const Time end = Append(unit);
            for (const EventId id : EventsOf(m_units[unit]))
            {
                const std::size_t node = NodeOf(id);
                auto edge = std::lower_bound(
                    m_edges.begin(), m_edges.end(), node, [](const auto& each, std::size_t from) {
                        return each.first < from;
                    });
                for (; edge != m_edges.end() && edge->first == node; ++edge)
                {
                    Node& to = m_nodes[NodeOf(edge->second)];
                    Advance(to.clock, m_nodes[node].clock);
                    Unit& next = m_units[to.unit];
                    next.ready = std::max(next.ready, end);
                    if (--next.open == 0)
                    {
                        push(to.unit);
                    }
                }
            }
        }
        if (done < m_units.size())
        {
            FailStuck();
        }
    }

    /** The stream of an event: the assigned one or, if it has none, the best available one. */
    std::size_t StreamOf(const TraceEvent& event,
                         const StreamClock& clock,
                         ProgramDraft& draft,
                         Time ready)
    {
        if (!event.isHost && event.stream != TraceEvent::NO_STREAM)
        {
            return draft.kept.at(event.stream);
        }
        if (event.kind == TraceEventKind::Compute && !event.isHost)
        {
            return 0;
        }
        const std::size_t first = event.isHost ? draft.streams : 1;
        const std::size_t end = event.isHost ? STREAM_COUNT : draft.streams;
        std::size_t best = end;
        std::size_t empty = end;
        for (std::size_t stream = first; stream < end; stream++)
        {
            const auto size = static_cast<uint32_t>(draft.program.streams[stream].size());
            if (size == 0)
            {
                empty = std::min(empty, stream);
            }
            else if (clock[stream] == size)
            {
                return stream; // the event waits for its last operation
            }
            else if (best == end || draft.free[stream] < draft.free[best])
            {
                best = stream;
            }
        }
        if (empty < end)
        {
            return empty;
        }
        draft.delayed += draft.free[best] > ready ? 1 : 0;
        return best;
    }

    /**
     * Appends the events of a unit to their streams.
     * @return their end time by the recorded durations.
     */
    Time Append(uint32_t index)
    {
        const Unit& unit = m_units[index];
        Time length = Time::Infinite();
        for (const EventId id : EventsOf(unit))
        {
            length = std::min(length, At(id).duration); // of a call: the last rank's
        }
        const Time end = unit.ready + length;
        for (const EventId id : EventsOf(unit))
        {
            const TraceEvent& event = At(id);
            if (event.kind != TraceEventKind::Mark)
            {
                ExpectPlayable(id);
                AppendEvent(event, unit, m_nodes[NodeOf(id)].clock, m_drafts[id.rank], end);
            }
        }
        return end;
    }

    /** @throws InputError where a time exceeds those of a workload file. */
    void ExpectPlayable(EventId id) const
    {
        const TraceEvent& event = At(id);
        const Time duration = event.kind == TraceEventKind::Compute ? event.duration : Time();
        for (const auto& [name, time] :
             {std::make_pair("duration", duration), std::make_pair("launch", event.launch)})
        {
            if (time > MAX_WORKLOAD_TIME)
            {
                throw InputError(m_traces.ranks[id.rank].file + ": " + event.id + ": found a " +
                                 name + " of " + std::to_string(time.ToPicoseconds()) +
                                 " ps, expected at most " +
                                 std::to_string(MAX_WORKLOAD_TIME.ToPicoseconds()));
            }
        }
    }

    void AppendEvent(const TraceEvent& event,
                     const Unit& unit,
                     StreamClock& clock,
                     ProgramDraft& draft,
                     Time end)
    {
        const bool synchronizes = event.epoch > draft.synchronized;
        if (synchronizes) // the CPU has waited for everything that it launched
        {
            draft.synchronized = event.epoch;
            for (std::size_t stream = 0; stream < STREAM_COUNT; stream++)
            {
                clock[stream] = static_cast<uint32_t>(draft.program.streams[stream].size());
            }
        }
        const std::size_t stream = StreamOf(event, clock, draft, unit.ready);
        auto& ops = draft.program.streams[stream];
        StepOp op;
        op.kind = event.kind == TraceEventKind::Compute      ? StepOpKind::Compute
                  : event.kind == TraceEventKind::Collective ? StepOpKind::Collective
                  : event.kind == TraceEventKind::Send       ? StepOpKind::Send
                                                             : StepOpKind::Recv;
        op.collective = event.op;
        op.category = op.kind == StepOpKind::Compute ? TimeCategory::Compute : event.category;
        op.label = LabelOf(event);
        op.layer = StepOp::NO_LAYER;
        op.launch = event.launch;
        op.epoch = event.epoch;
        op.synchronizes = synchronizes;
        if (op.kind == StepOpKind::Compute)
        {
            op.duration = event.duration;
            op.launchBound = op.launch > Time() ? op.duration + Time::Picoseconds(1) : Time();
            AddKernel(event, op);
        }
        else
        {
            const MatchedCall& call = m_traces.calls[unit.call];
            op.bytes = call.bytes;
            op.traffic = TrafficOf(call);
        }
        StreamClock implied = draft.last[stream];
        op.firstDependency = static_cast<uint32_t>(draft.program.dependencies.size());
        for (std::size_t other = 0; other < STREAM_COUNT; other++)
        {
            if (other != stream && clock[other] > implied[other])
            {
                draft.program.dependencies.push_back(
                    {static_cast<StreamKind>(other), clock[other] - 1});
                op.dependencyCount++;
            }
        }
        ops.push_back(op);
        draft.calls[stream].push_back(unit.call);
        Advance(clock, implied);
        clock[stream] = static_cast<uint32_t>(ops.size());
        draft.last[stream] = clock;
        draft.free[stream] = end;
    }

    uint32_t LabelOf(const TraceEvent& event)
    {
        const std::string name = event.name.substr(0, MAX_LABEL);
        const auto [entry, isNew] =
            m_labels.try_emplace(name, static_cast<uint32_t>(m_graph.labels.size()));
        if (isNew)
        {
            m_graph.labels.push_back(name);
        }
        return entry->second;
    }

    void AddKernel(const TraceEvent& event, StepOp& op)
    {
        if (event.flops <= 0 && event.memory == Bytes())
        {
            return;
        }
        KernelRecord kernel;
        kernel.name = op.label;
        kernel.flops = Flops(event.flops);
        kernel.bytes = event.memory;
        kernel.duration = op.duration;
        op.firstKernel = static_cast<uint32_t>(m_graph.kernels.size());
        op.kernelCount = 1;
        m_graph.kernels.push_back(kernel);
    }

    uint16_t TrafficOf(const MatchedCall& call)
    {
        if (call.splits.empty())
        {
            return StepOp::EVEN;
        }
        const auto [entry, isNew] =
            m_splits.try_emplace(call.splits, static_cast<uint16_t>(m_graph.traffics.size()));
        if (isNew)
        {
            if (m_graph.traffics.size() + 1 >= StepOp::EVEN)
            {
                throw InputError(
                    "import: found more than 65534 different uneven all-to-alls, "
                    "expected fewer in one workload");
            }
            m_graph.traffics.push_back(call.splits);
        }
        return entry->second;
    }

    uint32_t GroupOf(const std::vector<uint32_t>& members, const std::vector<std::size_t>& streams)
    {
        const auto [entry, isNew] = m_groups.try_emplace(
            std::make_pair(members, streams), static_cast<uint32_t>(m_graph.groups.size()));
        if (isNew)
        {
            const auto ranks = Mapped<Rank>(members, [](uint32_t member) { return member; });
            m_graph.groups.push_back(std::move(ranks));
        }
        return entry->second;
    }

    /** Assigns group slots to calls; calls of the same ranks on the same streams share a slot. */
    void WritePrograms()
    {
        // By call: the stream on which each member runs it.
        std::vector<std::vector<std::size_t>> streams(m_traces.calls.size());
        for (ProgramDraft& draft : m_drafts)
        {
            ForEachCall(draft, [&](std::size_t stream, uint32_t call, StepOp&) {
                streams[call].push_back(stream); // in rank order, as members
            });
        }
        for (uint32_t rank = 0; rank < m_drafts.size(); rank++)
        {
            std::map<uint32_t, uint16_t> slots;       // by group
            std::map<std::string, std::size_t> named; // number of slots by name
            std::vector<uint32_t> rankGroups;
            ProgramDraft& draft = m_drafts[rank];
            ForEachCall(draft, [&](std::size_t, uint32_t call, StepOp& op) {
                const uint32_t group = GroupOf(m_traces.calls[call].members, streams[call]);
                auto slot = slots.find(group);
                if (slot == slots.end())
                {
                    const std::string name = SlotNameOf(op, m_traces.calls[call]);
                    slot = slots.emplace(group, SlotOf(name, named[name]++)).first;
                    rankGroups.resize(std::max<std::size_t>(rankGroups.size(), slot->second + 1),
                                      RankGroups::NO_GROUP);
                    rankGroups[slot->second] = group;
                }
                op.group = slot->second;
            });
            AddProgram(std::move(draft.program), std::move(rankGroups));
        }
    }

    /** "send", "recv", or the group's name in the trace. */
    std::string SlotNameOf(const StepOp& op, const MatchedCall& call) const
    {
        const std::string& group = At(call.events.front()).group;
        return op.kind == StepOpKind::Send   ? "send"
               : op.kind == StepOpKind::Recv ? "recv"
               : group.empty()               ? "all"
                                             : "group " + group;
    }

    /** The slot of the @p ordinal-th group of a name that a rank is in; the same for all ranks. */
    uint16_t SlotOf(const std::string& name, std::size_t ordinal)
    {
        const auto [entry, isNew] = m_slots.try_emplace(
            std::make_pair(name, ordinal), static_cast<uint16_t>(m_graph.slotNames.size()));
        if (isNew)
        {
            if (m_graph.slotNames.size() + 1 >= StepOp::EVEN)
            {
                throw InputError("import: found a rank in more than 65534 groups, expected fewer");
            }
            m_graph.slotNames.push_back(
                ordinal == 0 ? name : name + " (" + std::to_string(ordinal + 1) + ")");
        }
        return entry->second;
    }

    /** Uses the recorded rank's program for all ranks, with the groups of each rank. */
    void ReplicateProgram()
    {
        ProgramDraft& draft = m_drafts.front();
        std::map<std::pair<std::string, std::size_t>, uint16_t> slots; // by group and stream
        std::map<std::string, std::size_t> named;                      // number of slots by name
        std::vector<TraceGroup> rules;                                 // by slot
        ForEachCall(draft, [&](std::size_t stream, uint32_t number, StepOp& op) {
            const MatchedCall& call = m_traces.calls[number];
            const std::string name = SlotNameOf(op, call);
            const auto [slot, isNew] = slots.try_emplace({name, stream}, uint16_t{0});
            if (isNew)
            {
                slot->second = SlotOf(name, named[name]++);
                rules.push_back(call.group);
            }
            op.group = slot->second;
        });
        std::map<std::pair<std::size_t, uint64_t>, uint32_t> known; // by slot, group index
        for (uint32_t rank = 0; rank < m_traces.rankCount; rank++)
        {
            std::vector<uint32_t> rankGroups;
            for (std::size_t slot = 0; slot < rules.size(); slot++)
            {
                const uint64_t stride = rules[slot].stride;
                const uint64_t block = rules[slot].size * stride;
                const bool areAll = block == 0 || rules[slot].size >= m_traces.rankCount;
                const uint64_t number = areAll ? 0 : rank / block * stride + rank % stride;
                const auto [group, isNew] = known.try_emplace({slot, number}, 0);
                if (isNew)
                {
                    group->second =
                        GroupOf(MembersOf(rules[slot], rank, m_traces.rankCount, "import"), {slot});
                }
                rankGroups.push_back(group->second);
            }
            m_graph.rankGroups.push_back(std::move(rankGroups));
            m_graph.rankProgram.push_back(0);
        }
        m_graph.programs.push_back(std::move(draft.program));
        m_graph.programStage.push_back(0);
    }

    /** Adds a rank's program; equal programs are shared. */
    void AddProgram(StepProgram program, std::vector<uint32_t> rankGroups)
    {
        std::string key;
        const auto add = [&](auto number) {
            key.append(reinterpret_cast<const char*>(&number), sizeof(number));
        };
        for (const auto& ops : program.streams)
        {
            add(ops.size());
            for (const StepOp& op : ops)
            {
                add(op.kind);
                add(op.collective);
                add(op.category);
                add(op.group);
                add(op.label);
                add(op.duration.ToPicoseconds());
                add(op.launch.ToPicoseconds());
                add(op.epoch);
                add(op.synchronizes);
                add(op.bytes.Count());
                add(op.traffic);
                add(op.root);
                add(op.dependencyCount);
                for (uint32_t i = 0; i < op.dependencyCount; i++)
                {
                    const StepDependency& need = program.dependencies[op.firstDependency + i];
                    add(need.stream);
                    add(need.position);
                }
                add(op.kernelCount);
                if (op.kernelCount > 0)
                {
                    add(m_graph.kernels[op.firstKernel].flops.ToDouble());
                    add(m_graph.kernels[op.firstKernel].bytes.Count());
                }
            }
        }
        const auto [entry, isNew] =
            m_programs.try_emplace(std::move(key), static_cast<uint32_t>(m_graph.programs.size()));
        if (isNew)
        {
            m_graph.programs.push_back(std::move(program));
            m_graph.programStage.push_back(0);
        }
        m_graph.rankProgram.push_back(entry->second);
        m_graph.rankGroups.push_back(std::move(rankGroups));
    }

    /** Throws an error that states for the first ranks which event waits for which. */
    [[noreturn]] void FailStuck() const
    {
        constexpr std::size_t NAMED = 4;
        std::map<uint32_t, std::string> waiting; // by rank
        for (const auto& [from, to] : m_edges)
        {
            const Node& need = m_nodes[from];
            if (m_units[need.unit].open == 0 || m_units[m_nodes[NodeOf(to)].unit].open == 0 ||
                waiting.size() > NAMED)
            {
                continue;
            }
            const RankTrace& rank = m_traces.ranks[to.rank];
            const TraceEvent& before = rank.events[from - m_first[to.rank]];
            waiting.try_emplace(to.rank,
                                "rank " + std::to_string(rank.rank.value_or(0)) + " in " +
                                    rank.file + " waits at " + At(to).id + " for " + before.id);
        }
        std::string text;
        std::size_t count = 0;
        for (const auto& [rank, line] : waiting)
        {
            text += count++ == NAMED ? "; and more" : (text.empty() ? "" : "; ") + line;
        }
        throw InputError("import: found events that wait for each other: " + text +
                         "; expected an order in which all can run");
    }

    const MatchedTraces& m_traces;
    std::vector<ProgramDraft> m_drafts; //!< by rank
    std::vector<std::size_t> m_first;   //!< by rank: index of its first node
    std::vector<Node> m_nodes;
    std::vector<Unit> m_units;
    std::vector<std::pair<std::size_t, EventId>> m_edges; //!< node to event, sorted by node
    std::map<std::string, uint32_t> m_labels;
    std::map<TrafficParts, uint16_t> m_splits;
    std::map<std::pair<std::vector<uint32_t>, std::vector<std::size_t>>, uint32_t> m_groups;
    std::map<std::pair<std::string, std::size_t>, uint16_t> m_slots; //!< by name and ordinal
    std::map<std::string, uint32_t> m_programs;
    std::size_t m_delayed{0};
    StepGraph m_graph;
};

} // namespace

Workload
MakeWorkload(const MatchedTraces& traces)
{
    return TraceScheduler(traces).Make();
}

} // namespace weir
