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
LaunchTime(LaunchMode mode, uint32_t gpusPerNode)
{
    constexpr Time KERNEL = Time::Nanoseconds(4200);
    return mode == LaunchMode::OneProcess ? KERNEL * gpusPerNode : KERNEL;
}

Time
BlockLaunchTime(LaunchMode mode, const NcclVersion& version, uint32_t blocks)
{
    constexpr Time BLOCK = Time::Nanoseconds(1550);
    constexpr Time BLOCK_SINCE_19 = Time::Nanoseconds(200);
    return mode == LaunchMode::OneProcess ? (version.AtLeast(19) ? BLOCK_SINCE_19 : BLOCK) * blocks
                                          : Time();
}

Time
IdleLaunchTime(LaunchMode mode)
{
    constexpr Time TORCH = Time::Nanoseconds(29000);
    return mode == LaunchMode::Waited ? TORCH : Time();
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
