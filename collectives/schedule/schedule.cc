// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/schedule/schedule.h"

#include <utility>

namespace weir
{

bool
Receives(PrimitiveKind kind)
{
    return kind != PrimitiveKind::Send && kind != PrimitiveKind::Copy;
}

bool
Sends(PrimitiveKind kind)
{
    return kind == PrimitiveKind::Send || kind == PrimitiveKind::RecvReduceSend ||
           kind == PrimitiveKind::RecvReduceCopySend || kind == PrimitiveKind::RecvCopySend;
}

bool
Reduces(PrimitiveKind kind)
{
    return kind == PrimitiveKind::RecvReduceSend || kind == PrimitiveKind::RecvReduceCopySend ||
           kind == PrimitiveKind::RecvReduceCopy;
}

bool
RunTheSame(const ChannelSchedule& a, const ChannelSchedule& b, const Routing& routing)
{
    bool same = a.loops.size() == b.loops.size() && a.blocks.size() == b.blocks.size() &&
                a.connections.size() == b.connections.size();
    for (std::size_t i = 0; same && i < a.loops.size(); ++i)
    {
        same = a.loops[i].repeat == b.loops[i].repeat && a.loops[i].chunks == b.loops[i].chunks &&
               a.loops[i].slices == b.loops[i].slices && a.loops[i].slice == b.loops[i].slice;
    }
    for (std::size_t i = 0; same && i < a.blocks.size(); ++i)
    {
        same = a.blocks[i].rank == b.blocks[i].rank;
    }
    for (std::size_t i = 0; same && i < a.connections.size(); ++i)
    {
        same = routing.HaveSameLinks(a.connections[i].connection.route,
                                     b.connections[i].connection.route) &&
               a.connections[i].fromBlock == b.connections[i].fromBlock &&
               a.connections[i].toBlock == b.connections[i].toBlock;
    }
    return same;
}

void
AddChannel(Schedule& schedule, ChannelSchedule channel, const Routing& routing)
{
    if (!schedule.channels.empty() &&
        RunTheSame(schedule.channels.back().schedule, channel, routing))
    {
        schedule.channels.back().copies++;
        return;
    }
    schedule.channels.push_back({std::move(channel), 1});
}

double
SliceCount(const Schedule& schedule)
{
    double slices = 0;
    for (const auto& channel : schedule.channels)
    {
        double perPass = 0;
        for (const ThreadBlock& block : channel.schedule.blocks)
        {
            for (const Primitive& each : channel.schedule.programs[block.program].primitives)
            {
                perPass += Sends(each.kind) ? each.sends : 0;
            }
        }
        for (const Loop& loop : channel.schedule.loops)
        {
            slices += perPass * loop.repeat * loop.slices;
        }
    }
    return slices;
}

} // namespace weir
