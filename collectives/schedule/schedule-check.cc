// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/schedule/schedule-check.h"

#include "collectives/algorithms/algorithm.h"
#include "collectives/schedule/symbolic-channel.h"

namespace weir
{

std::string
CheckSchedule(const Schedule& schedule, const ScheduleClaim& claim)
{
    if (const auto check = AlgorithmOf(schedule.algorithm).check; check != nullptr)
    {
        return check(schedule, claim);
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
