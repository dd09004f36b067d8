// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl-tuning.h"

#include <algorithm>
#include <array>
#include <limits>

namespace weir
{

namespace
{

/** Steps of a ring over n ranks, and what the whole buffer counts per step: n / steps is busbw to
 * algbw. */
double
RingSteps(CollectiveOp op, double n)
{
    switch (op)
    {
    case CollectiveOp::AllReduce:
        return 2 * (n - 1);
    case CollectiveOp::AllGather:
    case CollectiveOp::ReduceScatter:
        return n - 1;
    case CollectiveOp::Broadcast:
    case CollectiveOp::SendRecv:
        break;
    }
    return n;
}

ConnectionKind
InnerKind(const Communicator& communicator)
{
    for (const auto& hop : communicator.channels.front().hops)
    {
        if (hop.kind == ConnectionKind::Pcie)
        {
            return ConnectionKind::Pcie;
        }
    }
    return ConnectionKind::NvLink;
}

/** GB/s of the bus that NCCL reckons with for a ring. */
double
RingBusBandwidth(const NcclConstants& constants,
                 const Communicator& communicator,
                 CollectiveOp op,
                 Protocol protocol)
{
    const double bus = communicator.searchBandwidth;
    const uint32_t nodes = communicator.nodes;
    switch (protocol)
    {
    case Protocol::Ll: {
        const bool thirds =
            !constants.Version().AtLeast(19) && nodes == 1 && op != CollectiveOp::AllReduce;
        const double divisor = constants.Version().AtLeast(19) ? 2 : thirds ? 3 : 4;
        return std::min(constants.LlMaxBandwidth(nodes), bus / divisor);
    }
    case Protocol::Ll128: {
        const bool alone = communicator.gpusPerNode < 2 && !constants.Version().AtLeast(23);
        return std::min((alone ? 0.7 : 0.92) * bus,
                        communicator.searchChannels * constants.Ll128ChannelBandwidth(nodes));
    }
    case Protocol::Simple:
        break;
    }
    return bus;
}

Time
RingLatency(const NcclConstants& constants,
            const Communicator& communicator,
            CollectiveOp op,
            Protocol protocol)
{
    const uint32_t nodes = communicator.nodes;
    const Time inner =
        constants.StepLatency(InnerKind(communicator), protocol, nodes, communicator.gpusPerNode);
    const Time outer =
        constants.StepLatency(ConnectionKind::Network, protocol, nodes, communicator.gpusPerNode);
    if (op == CollectiveOp::Broadcast)
    {
        return constants.BaseLatency(protocol) + inner;
    }
    const double steps = RingSteps(op, communicator.Size());
    double crossings = 0;
    if (nodes > 1)
    {
        const bool whole = constants.Version().AtLeast(12) && !constants.Version().AtLeast(23);
        crossings = op == CollectiveOp::AllReduce ? 2.0 * (whole ? nodes : nodes - 1) : nodes - 1;
    }
    return constants.BaseLatency(protocol) + inner * (steps - crossings) + outer * crossings;
}

} // namespace

Time
NcclRingTime(const NcclConstants& constants,
             const Communicator& communicator,
             CollectiveOp op,
             Protocol protocol,
             Bytes bytes)
{
    if (protocol == Protocol::Ll128 && !communicator.ll128)
    {
        return Time::Infinite();
    }
    const double n = communicator.Size();
    Time latency = RingLatency(constants, communicator, op, protocol);
    const double perChannelRank = bytes.ToDouble() / (communicator.searchChannels * n);
    if (protocol == Protocol::Simple && op == CollectiveOp::AllReduce && communicator.nodes > 1 &&
        perChannelRank >= 64)
    {
        latency = latency * (constants.ComputeCapability() >= 80 ? 1.4 : 1.9);
    }
    const double bandwidth =
        RingBusBandwidth(constants, communicator, op, protocol) * n / RingSteps(op, n);
    return latency + bytes / Rate::GBps(bandwidth);
}

Protocol
ChooseRingProtocol(const NcclConstants& constants,
                   const Communicator& communicator,
                   CollectiveOp op,
                   Bytes bytes)
{
    Protocol best = Protocol::Simple;
    Time least = Time::Infinite();
    for (Protocol protocol : {Protocol::Ll, Protocol::Ll128, Protocol::Simple})
    {
        const Time time = NcclRingTime(constants, communicator, op, protocol, bytes);
        if (time < least)
        {
            least = time;
            best = protocol;
        }
    }
    return best;
}

uint32_t
ChooseRingChannels(const NcclConstants& constants,
                   const Communicator& communicator,
                   CollectiveOp op,
                   Protocol protocol,
                   Bytes bytes)
{
    constexpr double NARROW_RING = 12.0; // GB/s per channel, ncclTopoTuneModel
    const double perChannel = communicator.searchBandwidth / communicator.searchChannels;
    int64_t threads = 512;
    int64_t threshold = 64; // bytes per thread
    if (protocol == Protocol::Simple)
    {
        threads = perChannel <= NARROW_RING ? 256 : 512;
    }
    else if (protocol == Protocol::Ll)
    {
        threshold = 8 * static_cast<int64_t>(communicator.Size());
    }
    else
    {
        threads = 640;
        threshold = 8;
    }
    auto channels = static_cast<int64_t>(communicator.channels.size());
    channels = std::min(channels, bytes.Count() / (threads * threshold));
    if (constants.Version().AtLeast(19))
    {
        constexpr int64_t CELL = 32 << 10; // bytes of traffic
        const int64_t traffic = bytes.Count() * (op == CollectiveOp::AllReduce ? 2 : 1);
        channels = std::min(channels, (traffic + CELL - 1) / CELL);
    }
    return static_cast<uint32_t>(std::max<int64_t>(channels, 1));
}

bool
AllowsLl128(const NcclConstants& constants,
            const Communicator& communicator,
            const PathTable& paths)
{
    const auto& topology = paths.GetTopology();
    if (constants.ComputeCapability() < 70)
    {
        return false;
    }
    for (const auto& hop : communicator.channels.front().hops)
    {
        if (hop.kind == ConnectionKind::Pcie)
        {
            return false;
        }
        for (const auto& each : paths.Links(hop.path))
        {
            const Link& link = topology.GetLink(each.link);
            if (topology.GetDevice(link.to).kind == DeviceKind::RootComplex)
            {
                return false;
            }
        }
    }
    return true;
}

} // namespace weir
