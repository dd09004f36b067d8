// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/schedule/schedule-check.h"

#include "collectives/algorithms/algorithm.h"
#include "collectives/schedule/schedule-run.h"
#include "collectives/schedule/symbolic-channel.h"

#include <cstdint>
#include <vector>

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

std::string
CheckProgress(const Schedule& schedule)
{
    ScheduleRun run(schedule);
    std::vector<uint32_t> sending;
    for (uint32_t block = 0; block < run.BlockCount(); ++block)
    {
        run.Advance(block, sending);
    }
    while (!sending.empty())
    {
        const uint32_t connection = sending.back();
        sending.pop_back();
        if (run.PopFront(connection))
        {
            sending.push_back(connection);
        }
        run.Arrive(connection, sending);
    }
    return run.BlocksLeft() == 0 ? "" : run.DescribeWait() + " for ever";
}

} // namespace weir
