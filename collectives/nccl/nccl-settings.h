// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_NCCL_NCCL_SETTINGS_H
#define WEIR_COLLECTIVES_NCCL_NCCL_SETTINGS_H

#include "collectives/nccl/nccl-constants.h"
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
    ProcessPerGpu, //!< one process a GPU: all launch at once, and ahead of their GPUs
    OneProcess,    //!< one process a node launches on its GPUs one after the other
    Waited         //!< one process a GPU, which launches when the call before has ended
};

constexpr LaunchMode LAST_LAUNCH_MODE = LaunchMode::Waited;

const char* ToString(LaunchMode mode);
std::optional<LaunchMode> ParseLaunchMode(const std::string& text);

/**
 * What launching one collective keeps a process busy for, at least: one kernel after the other on
 * its GPUs. Calls that follow each other, as in nccl-tests, cannot come faster than that.
 *
 * 4.2 us a kernel: the small-message floor of nccl-tests with one process is 8.6 us on 2 A100, 16.1
 * on 4 and 31 on 8 (NetX-lab/Echo 15f0d12, nccl-test-log), 34.5 on other 8 (superbenchmark
 * 700d650).
 */
Time LaunchTime(LaunchMode mode, uint32_t gpusPerNode);

/**
 * What a call of one process for all GPUs takes longer, by its kernels' thread blocks, whatever
 * their number of GPUs and the operation. Nothing where every GPU has its process.
 *
 * Up to 2.18 1.55 us a block: on 2, 4 and 8 A100 calls of 4 to 24 blocks take 1.43, 1.6 and 1.6 us
 * more for each (Echo as above), on 8 A100 1.57, the same in all-reduce, all-gather, reduce-scatter
 * and broadcast (superbenchmark 700d650, NCCL 2.10). From 2.19, which hands the work over with the
 * kernel, 0.2 us: H100 with NCCL 2.26, 24 blocks (together-nccl-tests 6698e53).
 */
Time BlockLaunchTime(LaunchMode mode, const NcclVersion& version, uint32_t blocks);

/**
 * What a call that is launched when the one before has ended takes longer: until the framework, the
 * driver and the streams' events have brought its kernel to an idle GPU. Nothing where launches run
 * ahead.
 *
 * 29 us: torch's all_reduce, a pair of events around each call, on 8 B200 takes 47 to 49 us from 32
 * to 512 KiB, of which NCCL's kernel has 18 to 20 (ml-engineering 744d01e). An H200 brings a bare
 * kernel to an end in 9 us.
 */
Time IdleLaunchTime(LaunchMode mode);

/** How many channels communicators have, beside what their search finds. */
struct ChannelLimits
{
    uint32_t least{1};  //!< NCCL_MIN_NCHANNELS, NCCL_MIN_CTAS: channels are copied up to it
    uint32_t most{128}; //!< NCCL_MAX_NCHANNELS, NCCL_MAX_CTAS
};

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
    uint32_t queuePairs{1}; //!< NCCL_IB_QPS_PER_CONNECTION
    ChannelLimits channelLimits;
    std::vector<TunerRule> tuner; //!< the first that fits a call decides it
};

} // namespace weir

#endif // WEIR_COLLECTIVES_NCCL_NCCL_SETTINGS_H
