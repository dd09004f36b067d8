// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_NCCL_NCCL_SETTINGS_H
#define WEIR_COLLECTIVES_NCCL_NCCL_SETTINGS_H

#include "collectives/nccl/tuner-rule.h"
#include "fabric/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/** Which processes launch a collective's kernels. */
enum class LaunchMode : uint8_t
{
    ProcessPerGpu, //!< one process a GPU: all launch at once
    OneProcess     //!< one process a node launches on its GPUs one after the other
};

const char* ToString(LaunchMode mode);
std::optional<LaunchMode> ParseLaunchMode(const std::string& text);

/**
 * What launching one collective keeps a process busy for, at least: one kernel after the other on
 * its GPUs. Calls that follow each other, as in nccl-tests, cannot come faster than that.
 *
 * 4.0 us a kernel: the small-message floor of nccl-tests with one process is 8.6 us on 2 A100, 16
 * on 4 and 31 on 8 (NetX-lab/Echo 15f0d12, nccl-test-log), of 8 with one launch each 7.8 to 15 us.
 */
Time LaunchTime(LaunchMode mode, uint32_t gpusPerNode);

/** How a run uses NCCL: everything of its environment that changes what it does. */
struct NcclSettings
{
    NcclSettings() = default;

    /** Only a version, the rest by default. */
    NcclSettings(std::string aVersion) // NOLINT: a version is settings
        : version(std::move(aVersion))
    {
    }

    NcclSettings(const char* aVersion) // NOLINT
        : version(aVersion)
    {
    }

    std::string version{"2.30.7"}; //!< whose constants and choices hold
    LaunchMode launch{LaunchMode::ProcessPerGpu};
    uint32_t queuePairs{1};       //!< NCCL_IB_QPS_PER_CONNECTION
    std::vector<TunerRule> tuner; //!< the first that fits a call decides it
};

} // namespace weir

#endif // WEIR_COLLECTIVES_NCCL_NCCL_SETTINGS_H
