// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/nccl-tuning.h"

#include "collectives/nccl/nccl-bandwidth-model.h"
#include "collectives/nccl/nccl-latency-model.h"

#include <algorithm>
#include <array>

namespace weir
{

namespace
{

using Factors = std::array<double, 24>;

/** 2.10 to 2.30, LL, LL128, Simple; from 2.29 a 24th entry. */
constexpr std::array<Factors, 3> CORRECTIONS{{
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
     .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9},
}};

/** Before 2.10 some entries were others. */
double
OlderCorrection(const NcclVersion& version, Protocol protocol, std::size_t index, double factor)
{
    if (protocol == Protocol::Ll128)
    {
        switch (index)
        {
        case 13:
            return .5;
        case 16:
        case 17:
            return .7;
        case 18:
            return .8;
        case 21:
        case 22:
            return .92;
        default:
            return factor;
        }
    }
    if (protocol == Protocol::Simple && !version.AtLeast(8))
    {
        switch (index)
        {
        case 15:
        case 16:
            return .5;
        case 17:
        case 18:
            return .6;
        case 19:
            return .7;
        default:
            return factor;
        }
    }
    return factor;
}

/** Whether the bandwidth is multiplied by TreeSizeCorrection. */
bool
HasSizeCorrection(const NcclConstants& constants, Algorithm algorithm, CollectiveOp op)
{
    if (op != CollectiveOp::AllReduce)
    {
        return false;
    }
    return algorithm == Algorithm::Tree ||
           (algorithm == Algorithm::NvlsTree && constants.Version().AtLeast(29) &&
            constants.ComputeCapability() >= 100 && constants.Cpu() != HostCpu::Arm);
}

/** A multi-node Simple ring waits longer when its ranks have more than 64 bytes a channel. */
double
RingLatencyFactor(const NcclConstants& constants, const Communicator& communicator, Bytes bytes)
{
    const auto channels = static_cast<double>(communicator.channels.size());
    const bool large = bytes.ToDouble() / (channels * communicator.Size()) >= 64;
    return communicator.nodes > 1 && large ? (constants.ComputeCapability() >= 80 ? 1.4 : 1.9) : 1;
}

} // namespace

double
TreeSizeCorrection(const NcclVersion& version, Protocol protocol, Bytes bytes)
{
    const std::size_t entries = version.AtLeast(29) ? 24 : 23;
    const int64_t cells = bytes.Count() / 64;
    std::size_t index = 0;
    while (index < entries && cells >> (index + 1) > 0)
    {
        ++index;
    }
    if (cells == 0 || index >= entries)
    {
        return 1;
    }
    const double factor = CORRECTIONS[static_cast<std::size_t>(protocol)][index];
    return version.AtLeast(10) ? factor : OlderCorrection(version, protocol, index, factor);
}

Time
NcclTime(const NcclConstants& constants,
         const Communicator& communicator,
         Algorithm algorithm,
         CollectiveOp op,
         Protocol protocol,
         Bytes bytes)
{
    double bandwidth = NcclAlgorithmBandwidth(constants, communicator, algorithm, op, protocol);
    if (bandwidth <= 0)
    {
        return Time::Infinite();
    }
    Time latency = NcclLatency(constants, communicator, algorithm, op, protocol);
    if (HasSizeCorrection(constants, algorithm, op))
    {
        bandwidth *= TreeSizeCorrection(constants.Version(), protocol, bytes);
    }
    if (algorithm == Algorithm::Ring && protocol == Protocol::Simple &&
        op == CollectiveOp::AllReduce)
    {
        latency = latency * RingLatencyFactor(constants, communicator, bytes);
    }
    return latency + bytes / Rate::GBps(bandwidth);
}

namespace
{

/** Whether @p path passes a CPU in a way that LL128 does not bear. */
bool
PassesHost(PathTable::Span path, const Topology& topology, bool overChips)
{
    return std::any_of(path.begin(), path.end(), [&](const PathLink& each) {
        const Link& link = topology.GetLink(each.link);
        const bool host = topology.GetDevice(link.to).kind == DeviceKind::RootComplex;
        return host && (!overChips || link.kind == LinkKind::InterSocket);
    });
}

} // namespace

bool
AllowsLl128(const NcclConstants& constants,
            const Communicator& communicator,
            Routing& routing,
            const NodeSpec& node)
{
    constexpr uint32_t OVER_CHIPS_SINCE = 27;
    constexpr uint32_t SINCE = 5;
    if (constants.ComputeCapability() < 70 || !constants.Version().AtLeast(SINCE))
    {
        return false;
    }
    const bool overChips = node.gpuLink && constants.ComputeCapability() >= 90 &&
                           constants.Version().AtLeast(OVER_CHIPS_SINCE);
    const auto bears = [&](const Connection& hop) {
        return hop.kind != ConnectionKind::Pcie &&
               !PassesHost(routing.Links(hop.route), routing.GetTopology(), overChips);
    };
    const auto& channels = communicator.channels;
    return std::all_of(channels.begin(), channels.end(), [&](const auto& channel) {
        return std::all_of(channel.hops.begin(), channel.hops.end(), bears);
    });
}

} // namespace weir
