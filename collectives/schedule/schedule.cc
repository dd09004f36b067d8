// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/schedule/schedule.h"

#include <algorithm>

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

Schedule
WithPasses(Schedule schedule, uint32_t passes)
{
    for (auto& [channel, copies] : schedule.channels)
    {
        for (Loop& loop : channel.loops)
        {
            loop.repeat = std::min(loop.repeat, passes);
        }
    }
    return schedule;
}

} // namespace weir
