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
    case LaunchMode::Graph:
        return "graph";
    case LaunchMode::ProcessPerGpu:
        break;
    }
    return "process-per-gpu";
}

Time
LaunchTime(const NodeCosts& costs, LaunchMode mode, uint32_t gpusPerNode)
{
    if (mode == LaunchMode::Graph)
    {
        return {};
    }
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
    for (LaunchMode mode :
         {LaunchMode::ProcessPerGpu, LaunchMode::OneProcess, LaunchMode::Waited, LaunchMode::Graph})
    {
        if (text == ToString(mode))
        {
            return mode;
        }
    }
    return std::nullopt;
}

std::optional<P2pLevel>
ParseP2pLevel(const std::string& text)
{
    constexpr const char* NAMES[] = {"LOC", "NVL", "PIX", "PXB", "PHB", "SYS"};
    for (std::size_t i = 0; i < std::size(NAMES); i++)
    {
        if (text == NAMES[i] || text == std::to_string(i))
        {
            return static_cast<P2pLevel>(i);
        }
    }
    return std::nullopt;
}

} // namespace weir
