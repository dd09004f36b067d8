// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_NCCL_NCCL_SETTINGS_H
#define WEIR_COLLECTIVES_NCCL_NCCL_SETTINGS_H

#include "collectives/algorithms/dimension-wise/dimension-wise-settings.h"
#include "collectives/nccl/nccl-constants.h"
#include "collectives/nccl/nccl-filter.h"
#include "collectives/nccl/node-costs.h"
#include "collectives/nccl/tuner-rule.h"
#include "fabric/parameters/parameter-visitor.h"
#include "fabric/units.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/** Which processes launch a collective's kernels. */
enum class LaunchMode : uint8_t
{
    ProcessPerGpu, //!< one process a GPU: all launch at once, and ahead of their GPUs
    OneProcess,    //!< one process a node launches on its GPUs one after the other
    Waited,        //!< one process a GPU, which launches when the call before has ended
    Graph          //!< a CUDA graph of many calls: no host takes part in one of them
};

constexpr LaunchMode LAST_LAUNCH_MODE = LaunchMode::Graph;

const char* ToString(LaunchMode mode);

/**
 * What launching one collective keeps a process busy for, at least: one kernel after the other on
 * its GPUs (NodeCostKind::KernelLaunch). Calls that follow each other, as in nccl-tests, cannot
 * come faster than that. Nothing in a graph, whose kernels the GPU starts itself.
 */
Time LaunchTime(const NodeCosts& costs, LaunchMode mode, uint32_t gpusPerNode);

/**
 * What a call of one process for all GPUs takes longer, by its kernels' thread blocks
 * (NodeCostKind::BlockLaunch, BlockLaunchSince19), whatever their number of GPUs and the operation.
 * Nothing where every GPU has its process.
 */
Time BlockLaunchTime(const NodeCosts& costs,
                     LaunchMode mode,
                     const NcclVersion& version,
                     uint32_t blocks);

/**
 * What a call that is launched when the one before has ended takes longer: until the framework, the
 * driver and the streams' events have brought its kernel to an idle GPU (NodeCostKind::IdleLaunch).
 * Nothing where launches run ahead.
 */
Time IdleLaunchTime(const NodeCosts& costs, LaunchMode mode);

/** NCCL_CROSS_NIC: whether a channel may leave a node by another NIC than it enters by. */
enum class CrossNic : uint8_t
{
    Never,   //!< 0: the same NIC everywhere
    Always,  //!< 1: any NIC
    IfFaster //!< 2: in pairs of channels that swap two NICs, where that gives more
};

/**
 * NCCL_P2P_LEVEL: the farthest kind of path over which GPUs of a node copy to each other directly;
 * farther ones hand over in the host's memory (NCCL's SHM).
 */
enum class P2pLevel : uint8_t
{
    Local,      //!< LOC: none
    NvLink,     //!< NVL: NVLink
    Switch,     //!< PIX: one PCIe switch
    Switches,   //!< PXB: several PCIe switches
    HostBridge, //!< PHB: the root complex of a socket, which SHM passes, too
    System      //!< SYS: between sockets
};

/** NCCL_BUFFSIZE by default: of a connection on one channel under Simple. */
constexpr Bytes SIMPLE_BUFFER = Bytes::MiB(4);

/** It is 8 slots, each a whole number of NCCL's aligned chunks: a multiple of this. */
constexpr Bytes SIMPLE_BUFFER_STEP = Bytes::KiB(8);
constexpr Bytes MAX_SIMPLE_BUFFER = Bytes::GiB(1);

/** How many channels communicators have, beside what their search finds. */
struct ChannelLimits
{
    uint32_t least{1};  //!< NCCL_MIN_NCHANNELS, NCCL_MIN_CTAS: channels are copied up to it
    uint32_t most{128}; //!< NCCL_MAX_NCHANNELS, NCCL_MAX_CTAS
};

/** How a run uses NCCL: everything of its environment that changes what it does. */
struct NcclSettings : Parameterized
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
    CrossNic crossNic{CrossNic::IfFaster};
    P2pLevel p2pLevel{P2pLevel::System};
    Bytes simpleBuffer{SIMPLE_BUFFER};
    NcclFilter filter;            //!< NCCL_ALGO, NCCL_PROTO
    std::vector<TunerRule> tuner; //!< the first that fits a call decides it
    DimensionWiseSettings dimensionWise;

    /** Keys of what is not as by default, but the version: "queuePairs", "algorithms", ... */
    std::vector<std::string> Changed() const;

    /** Those that are one value each, whatever the call. */
    void VisitParameters(ParameterVisitor& visitor) override;
};

} // namespace weir

#endif // WEIR_COLLECTIVES_NCCL_NCCL_SETTINGS_H
