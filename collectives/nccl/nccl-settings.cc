// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/nccl-settings.h"

#include "fabric/enum-names.h"

#include <initializer_list>
#include <utility>

namespace weir
{
namespace
{

constexpr EnumName<LaunchMode> LAUNCH_MODES[]{
    {LaunchMode::ProcessPerGpu, "process-per-gpu"},
    {LaunchMode::OneProcess, "one-process"},
    {LaunchMode::Waited, "waited"},
    {LaunchMode::Graph, "graph"},
};

} // namespace

const char*
ToString(LaunchMode mode)
{
    return NameIn(LAUNCH_MODES, mode);
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

namespace
{

/** NCCL's names; the indices are NCCL's numbers. */
const std::vector<std::pair<const char*, P2pLevel>> P2P_LEVELS{{"LOC", P2pLevel::Local},
                                                               {"NVL", P2pLevel::NvLink},
                                                               {"PIX", P2pLevel::Switch},
                                                               {"PXB", P2pLevel::Switches},
                                                               {"PHB", P2pLevel::HostBridge},
                                                               {"SYS", P2pLevel::System}};

} // namespace

std::vector<std::string>
NcclSettings::Changed() const
{
    const NcclSettings plain;
    const ChannelLimits& limits = plain.channelLimits;
    std::vector<std::string> keys;
    for (const auto& [key, isChanged] : std::initializer_list<std::pair<const char*, bool>>{
             {"launch", launch != plain.launch},
             {"queuePairs", queuePairs != plain.queuePairs},
             {"minChannels", channelLimits.least != limits.least},
             {"maxChannels", channelLimits.most != limits.most},
             {"crossNic", crossNic != plain.crossNic},
             {"p2pLevel", p2pLevel != plain.p2pLevel},
             {"bufferSize", simpleBuffer != plain.simpleBuffer},
             {"algorithms", !filter.GetAlgorithms().empty()},
             {"protocols", !filter.GetProtocols().empty()},
             {"tuner", !tuner.empty()},
             {"dimensionWise", dimensionWise.IsGiven()}})
    {
        if (isChanged)
        {
            keys.emplace_back(key);
        }
    }
    return keys;
}

void
NcclSettings::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Count(
        {"queuePairs", "NCCL_IB_QPS_PER_CONNECTION: number of queue pairs per network connection."},
        queuePairs,
        {1, 128});
    visitor.Count(
        {"minChannels",
         "NCCL_MIN_CTAS: minimum number of channels; channels are duplicated to reach it."},
        channelLimits.least,
        {1, 64});
    visitor.Count({"maxChannels", "NCCL_MAX_CTAS: maximum number of channels."},
                  channelLimits.most,
                  {1, 128});
    auto crossing = static_cast<uint32_t>(crossNic);
    visitor.Count({"crossNic",
                   "NCCL_CROSS_NIC; 0: a ring leaves a node by the NIC by which it enters; 1: by "
                   "any NIC; 2: pairs of rings swap two NICs where that is faster."},
                  crossing,
                  {0, 2});
    crossNic = static_cast<CrossNic>(crossing);
    visitor.Enum({"p2pLevel",
                  "NCCL_P2P_LEVEL: farthest path (LOC, NVL, PIX, PXB, PHB or SYS) over which GPUs "
                  "of a node copy directly; over farther paths they copy through host memory."},
                 p2pLevel,
                 P2P_LEVELS);
    visitor.Size({"bufferSize",
                  "NCCL_BUFFSIZE: buffer size of a connection on one channel under protocol "
                  "Simple; 8 slots of whole KiB."},
                 simpleBuffer,
                 {SIMPLE_BUFFER_STEP, MAX_SIMPLE_BUFFER});
}

} // namespace weir
