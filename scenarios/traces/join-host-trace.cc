// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traces/trace-formats.h"

#include <map>
#include <unordered_map>
#include <utility>

namespace weir
{

void
JoinHostTrace(const TraceFile& host, TraceFile& kernels)
{
    const RankTrace& calls = host.ranks.front();
    RankTrace& rank = kernels.ranks.front();
    std::unordered_map<uint64_t, const HostCall*> byRecord;
    for (const HostCall& call : calls.hostCalls)
    {
        for (const uint64_t record : call.recordIds)
        {
            byRecord[record] = &call;
        }
    }
    std::size_t joined = 0;
    const auto take = [&](uint32_t index, const HostCall& call) {
        TraceEvent& event = rank.events[index];
        TraceEvent taken = call.event;
        taken.id = event.id;
        taken.name = event.name;
        taken.position = event.position;
        taken.stream = event.stream;
        taken.channels = event.channels;
        taken.duration = event.duration;
        taken.begin = event.begin;
        taken.launch = event.launch;
        taken.epoch = event.epoch;
        taken.after = event.after;
        event = std::move(taken);
        joined++;
    };
    std::map<CollectiveOp, std::vector<uint32_t>> unjoined; // event indices
    for (uint32_t i = 0; i < rank.events.size(); i++)
    {
        if (rank.events[i].kind != TraceEventKind::Collective)
        {
            continue;
        }
        const auto record = rank.recordIds.find(i);
        const auto call =
            record == rank.recordIds.end() ? byRecord.end() : byRecord.find(record->second);
        if (call != byRecord.end() && call->second->event.op == rank.events[i].op)
        {
            take(i, *call->second);
        }
        else
        {
            unjoined[rank.events[i].op].push_back(i);
        }
    }
    const std::size_t byId = joined;
    for (const auto& [op, events] : unjoined)
    {
        std::vector<const HostCall*> own;
        for (const HostCall& call : calls.hostCalls)
        {
            if (call.event.op == op && call.event.kind == TraceEventKind::Collective)
            {
                own.push_back(&call);
            }
        }
        // A host trace covers one step; the kernels may cover several.
        for (std::size_t i = 0;
             byId == 0 && !own.empty() && events.size() % own.size() == 0 && i < events.size();
             i++)
        {
            take(events[i], *own[i % own.size()]);
        }
    }
    for (const auto& [name, group] : calls.groups)
    {
        TraceGroup& known = rank.groups[name];
        known = known.ranks.empty() ? group : known;
    }
    kernels.remarks.push_back(
        "joined with " + host.path + " by rf_id: " + std::to_string(rank.recordIds.size()) +
        " of " + std::to_string(rank.events.size()) + " GPU events, " + std::to_string(byId) +
        " collectives" +
        (joined > byId ? "; by order: " + std::to_string(joined - byId) + " collectives" : ""));
}

} // namespace weir
