// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/concurrent-calls.h"

#include "compute-model/execution/slot-asks.h"

#include <algorithm>

namespace weir
{

namespace
{

/** An actor that meets others at a place, and the slot in which it has the place. */
struct PlaceUser
{
    uint32_t actor{0};
    std::size_t slot{0};
};

/** By place, by ascending actor. */
std::vector<std::vector<PlaceUser>>
UsersOf(const RankFold& fold)
{
    std::vector<std::vector<PlaceUser>> users(fold.groups.Lists());
    for (uint32_t actor = 0; actor < fold.Actors(); actor++)
    {
        for (std::size_t slot = 0; slot < fold.slots[actor].size(); slot++)
        {
            if (fold.slots[actor][slot] != StepGraph::NO_GROUP)
            {
                users[fold.slots[actor][slot]].push_back({actor, slot});
            }
        }
    }
    return users;
}

using AsksBySlot = std::vector<std::vector<SlotAsk>>;

/** Appends to @p found the stream of @p user that @p ask is on; none where it is on several. */
void
AddStream(const AsksBySlot& asks,
          const PlaceUser& user,
          const SlotAsk& ask,
          std::vector<uint32_t>& found)
{
    uint32_t streams = 0;
    for (const SlotAsk& own : asks[user.slot])
    {
        streams = own < ask || ask < own ? streams : own.streams;
    }
    for (uint32_t stream = 0; stream < STREAM_COUNT; stream++)
    {
        if (streams == 1U << stream)
        {
            found.push_back(static_cast<uint32_t>(user.actor * STREAM_COUNT + stream));
        }
    }
}

} // namespace

std::vector<CallClass>
ConcurrentCalls(const StepGraph& graph,
                const RankFold& fold,
                const std::vector<CommunicatorId>& communicators,
                const std::vector<TrafficId>& traffics)
{
    std::vector<AsksBySlot> asks; // by program
    for (const StepProgram& program : graph.programs)
    {
        asks.push_back(AsksOf(program));
        asks.back().resize(std::max(asks.back().size(), graph.rankGroups.front().size()));
    }
    std::vector<CallClass> together;
    const auto users = UsersOf(fold);
    for (uint32_t place = 0; place < users.size(); place++)
    {
        const PlaceUser& first = users[place].front();
        for (const SlotAsk& ask : asks[fold.program[first.actor]][first.slot])
        {
            CallClass callClass;
            for (const PlaceUser& user : users[place])
            {
                AddStream(asks[fold.program[user.actor]], user, ask, callClass.streams);
            }
            const uint32_t* last = fold.groups.end(place);
            for (const uint32_t* group = fold.groups.begin(place); group != last; group++)
            {
                callClass.calls.push_back(CallOf(ask, communicators[*group], traffics));
            }
            together.push_back(std::move(callClass));
        }
    }
    return together;
}

} // namespace weir
