// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/nccl-settings.h"

namespace weir
{

const char*
ToString(LaunchMode mode)
{
    switch (mode)
    {
    case LaunchMode::OneProcess:
        return "one-process";
    case LaunchMode::Waited:
        return "waited";
    case LaunchMode::ProcessPerGpu:
        break;
    }
    return "process-per-gpu";
}

Time
LaunchTime(const NodeCosts& costs, LaunchMode mode, uint32_t gpusPerNode)
{
    const Time kernel = costs.TimeOf(NodeCostKind::KernelLaunch);
    return mode == LaunchMode::OneProcess ? kernel * gpusPerNode : kernel;
}

Time
BlockLaunchTime(const NodeCosts& costs,
                LaunchMode mode,
                const NcclVersion& version,
                uint32_t blocks)
{
    const Time block = costs.TimeOf(version.AtLeast(19) ? NodeCostKind::BlockLaunchSince19
                                                        : NodeCostKind::BlockLaunch);
    return mode == LaunchMode::OneProcess ? block * blocks : Time();
}

Time
IdleLaunchTime(const NodeCosts& costs, LaunchMode mode)
{
    return mode == LaunchMode::Waited ? costs.TimeOf(NodeCostKind::IdleLaunch) : Time();
}

std::optional<LaunchMode>
ParseLaunchMode(const std::string& text)
{
    for (LaunchMode mode : {LaunchMode::ProcessPerGpu, LaunchMode::OneProcess, LaunchMode::Waited})
    {
        if (text == ToString(mode))
        {
            return mode;
        }
    }
    return std::nullopt;
}

} // namespace weir
