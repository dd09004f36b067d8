// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traces/goal-schedule.h"

namespace weir
{

GoalSchedule
ReadGoal(const TraceBytes& file)
{
    return IsGoalBinary(file.bytes) ? ReadGoalBinary(file) : ReadGoalText(file);
}

TraceFile
ToTrace(const GoalSchedule& schedule, const TraceBytes& file)
{
    TraceFile trace;
    trace.path = file.name;
    trace.dialect = IsGoalBinary(file.bytes) ? "GOAL (binary)" : "GOAL (text)";
    trace.remarks.emplace_back("calc is taken as nanoseconds");
    for (std::size_t rank = 0; rank < schedule.ranks.size(); rank++)
    {
        RankTrace events;
        events.rank = static_cast<uint32_t>(rank);
        events.file = file.name;
        const auto& ops = schedule.ranks[rank];
        std::vector<uint32_t> starts(ops.size(), GoalOp::ANY); // index of each operation's mark
        events.events.resize(ops.size());
        for (std::size_t i = 0; i < ops.size(); i++)
        {
            const GoalOp& op = ops[i];
            TraceEvent event;
            event.id = "rank " + std::to_string(rank) + ", l" + std::to_string(i + 1);
            event.after = op.requires_;
            if (op.kind == GoalOp::Kind::Calc)
            {
                event.kind = TraceEventKind::Compute;
                event.name = "calc";
                event.stream = op.cpu;
                event.duration = Time::Nanoseconds(static_cast<double>(op.size));
                trace.kernels++;
            }
            else
            {
                const bool sends = op.kind == GoalOp::Kind::Send;
                event.kind = sends ? TraceEventKind::Send : TraceEventKind::Recv;
                event.name = sends ? "send" : "recv";
                (sends ? event.in : event.out) = Bytes(static_cast<int64_t>(op.size));
                event.peer = op.peer;
                event.tag = op.tag;
                event.category = TimeCategory::Pipeline;
            }
            events.events[i] = std::move(event);
            trace.nodes++;
        }
        for (std::size_t i = 0; i < ops.size(); i++)
        {
            for (const uint32_t need : ops[i].irequires_)
            {
                if (starts[need] == GoalOp::ANY) // An operation has started once all that it
                                                 // requires has ended.
                {
                    starts[need] = static_cast<uint32_t>(events.events.size());
                    TraceEvent mark;
                    mark.id = events.events[need].id;
                    mark.after = events.events[need].after;
                    events.events.push_back(std::move(mark));
                    events.events[need].after.push_back(starts[need]);
                }
                events.events[i].after.push_back(starts[need]);
            }
        }
        trace.ranks.push_back(std::move(events));
    }
    return trace;
}

} // namespace weir
