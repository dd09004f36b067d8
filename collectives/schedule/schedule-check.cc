// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/schedule/schedule-check.h"

#include "collectives/algorithms/point-to-point/point-to-point-check.h"
#include "collectives/schedule/symbolic-channel.h"

namespace weir
{

std::string
CheckSchedule(const Schedule& schedule, const ScheduleClaim& claim)
{
    if (schedule.algorithm == Algorithm::PointToPoint)
    {
        return CheckPointToPoint(
            schedule, MessagesOf(schedule.op, claim.ranks, claim.bytes, claim.root, claim.traffic));
    }
    if (schedule.algorithm == Algorithm::Imported)
    {
        return CheckProgress(schedule); // its data flow is CheckImportedProgram's
    }
    Bytes total;
    for (const auto& [channel, copies] : schedule.channels)
    {
        for (const auto& loop : channel.loops)
        {
            for (Bytes chunk : loop.chunks)
            {
                total += chunk * loop.repeat * copies;
            }
        }
        if (auto fault = SymbolicChannel(schedule.op, channel, claim.ranks, claim.root).Run();
            !fault.empty())
        {
            return fault;
        }
    }
    if (total != claim.bytes)
    {
        return "its chunks are " + std::to_string(total.Count()) + " bytes in all, the call " +
               std::to_string(claim.bytes.Count());
    }
    return "";
}

} // namespace weir
