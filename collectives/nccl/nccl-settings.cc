// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/nccl-settings.h"

namespace weir
{

const char*
ToString(LaunchMode mode)
{
    return mode == LaunchMode::OneProcess ? "one-process" : "process-per-gpu";
}

Time
LaunchTime(LaunchMode mode, uint32_t gpusPerNode)
{
    constexpr Time KERNEL = Time::Nanoseconds(4000);
    return mode == LaunchMode::OneProcess ? KERNEL * gpusPerNode : KERNEL;
}

std::optional<LaunchMode>
ParseLaunchMode(const std::string& text)
{
    for (LaunchMode mode : {LaunchMode::ProcessPerGpu, LaunchMode::OneProcess})
    {
        if (text == ToString(mode))
        {
            return mode;
        }
    }
    return std::nullopt;
}

} // namespace weir
