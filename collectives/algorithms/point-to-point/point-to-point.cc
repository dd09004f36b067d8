// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/point-to-point/point-to-point.h"

#include "collectives/channels/node-capacity.h"
#include "collectives/schedule/message-split.h"

#include <algorithm>
#include <cmath>

namespace weir
{

namespace
{

constexpr Bytes CHUNK_NVLINK = Bytes::KiB(512);     //!< all GPUs on NVLink
constexpr Bytes CHUNK_GB_NETWORK = Bytes::KiB(256); //!< Blackwell on an ARM host, several nodes
constexpr Bytes CHUNK_OTHERWISE = Bytes::KiB(128);  //!< over PCIe or the network
constexpr Bytes LL_THRESHOLD = Bytes::KiB(16);      //!< NCCL_P2P_LL_THRESHOLD, payload per channel
constexpr double NIC_BANDWIDTH_PER_CHANNEL = 14;    //!< GB/s, ncclTopoGetNchannels

bool
Supports(CollectiveOp op, const Communicator& communicator)
{
    return IsPointToPoint(op);
}

/** Over NVLink, from 2.11 on also relayed by a third GPU of the group; else over PCIe. */
Connection
PathInsideNode(const AlgorithmInputs& in, GpuId from, GpuId to)
{
    constexpr uint32_t NVB_SINCE = 11;
    return in.constants.Version().AtLeast(NVB_SINCE)
               ? in.connector.InsideNodeBy(in.communicator.gpus, from, to)
               : in.connector.InsideNode(from, to);
}

/**
 * Number of channels that drives the NICs of a GPU (ncclTopoGetNchannels, a remote rank): by
 * bandwidth in 2.30.7, two before ("start from 2 channels per NIC"). With 2.29.7, B200s reach 43.1
 * GB/s on two queue pairs of a 400 Gb/s port (together-nccl-tests 280e4df).
 */
uint32_t
NetworkChannels(const AlgorithmInputs& in, GpuId gpu)
{
    constexpr uint32_t BY_BANDWIDTH_SINCE = 30;
    constexpr uint32_t CHANNELS_OF_A_PEER = 2;
    const double nic =
        in.connector.GetCluster().GetSpec().node.nic.rawRate.ToGBps() * in.connector.PortsPerNic();
    const auto nics = static_cast<uint32_t>(in.connector.PortsOf(in.communicator, gpu).count);
    return std::max(nics,
                    in.constants.Version().AtLeast(BY_BANDWIDTH_SINCE)
                        ? static_cast<uint32_t>(std::ceil(nic / NIC_BANDWIDTH_PER_CHANNEL))
                        : CHANNELS_OF_A_PEER);
}

/** As above, for a pair inside a node: two for each NVLink that NCCL sees between them. */
uint32_t
LocalChannels(const AlgorithmInputs& in, GpuId from, GpuId to)
{
    const Connection connection = in.connector.InsideNode(from, to);
    if (connection.kind != ConnectionKind::NvLink)
    {
        return 2;
    }
    const LinkProfile& nvlink = in.connector.GetCluster().GetSpec().node.nvlink;
    const double bundle =
        std::round(in.routing.BottleneckRate(connection.route) / nvlink.PayloadRate());
    const double links = std::max(bundle, 1.0) * NcclLinksOfNvLink(nvlink, in.constants);
    return 2 * static_cast<uint32_t>(links);
}

bool
IsAllNvLink(const AlgorithmInputs& in)
{
    const auto& gpus = in.communicator.gpus;
    return in.communicator.nodes == 1 && std::all_of(gpus.begin() + 1, gpus.end(), [&](GpuId gpu) {
               return PathInsideNode(in, gpus[0], gpu).kind == ConnectionKind::NvLink;
           });
}

uint32_t
MaxChannels(const AlgorithmInputs& in)
{
    return PeerChannelsOf(in).max;
}

/** The payload of a step of Simple (p2pChunkSize). */
Bytes
StepOf(const AlgorithmInputs& in)
{
    const auto& node = in.connector.GetCluster().GetSpec().node;
    const bool gb = node.cpu == HostCpu::Arm && node.computeCapability >= 100;
    return IsAllNvLink(in)                   ? CHUNK_NVLINK
           : in.communicator.nodes > 1 && gb ? CHUNK_GB_NETWORK
                                             : CHUNK_OTHERWISE;
}

/**
 * LL if the largest message has at most LL's threshold on each channel that it may use, and no
 * message crosses the network, whose shared buffers have no room for LL (net.cc).
 */
void
Choose(AlgorithmInputs& in)
{
    const auto& overrides = in.call.overrides;
    const PeerChannels limits = PeerChannelsOf(in);
    const auto messages = MessagesOf(in);
    Bytes largest;
    bool network = false;
    for (const auto& message : messages)
    {
        largest = std::max(largest, message.bytes);
        network = network || !AreInOneNode(in, message);
    }
    const bool isShort = !network && largest <= LL_THRESHOLD * limits.max;
    in.protocol = overrides.protocol.value_or(isShort ? Protocol::Ll : Protocol::Simple);
    in.channels = ChannelsOfMessage(in, limits, largest);
}

} // namespace

PeerChannels
PeerChannelsOf(const AlgorithmInputs& in)
{
    const auto& gpus = in.communicator.gpus;
    const auto& cluster = in.connector.GetCluster();
    const uint32_t all = PowerOfTwoUp(static_cast<uint32_t>(in.communicator.channels.size()));
    uint32_t perPeer = all;
    for (std::size_t peer = 1; peer < gpus.size(); ++peer)
    {
        const bool local = cluster.NodeOf(gpus[0]) == cluster.NodeOf(gpus[peer]);
        perPeer = std::min(perPeer,
                           PowerOfTwoUp(local ? LocalChannels(in, gpus[0], gpus[peer])
                                              : NetworkChannels(in, gpus[peer])));
    }
    PeerChannels limits{all, perPeer, perPeer, StepOf(in)};
    while (limits.min > 1 && std::size_t{limits.min} * gpus.size() > all)
    {
        limits.min /= 2;
    }
    while (limits.max > 1 && std::size_t{limits.max} * gpus.size() > std::size_t{4} * all)
    {
        limits.max /= 2;
    }
    return limits;
}

uint32_t
ChannelsOfMessage(const AlgorithmInputs& in, const PeerChannels& limits, Bytes bytes)
{
    if (in.call.overrides.channels)
    {
        return *in.call.overrides.channels;
    }
    // A step of LL's buffer, on the wire; before 2.14 a step of Simple's for all (enqueue.cc). On
    // several nodes 2.28.9 has the smaller steps, too, but sends of 256 and 512 KiB between two
    // nodes of 8 B200 (together-nccl-tests 280e4df) then take 31 and 26 % less time than measured,
    // else 18 and 3 %.
    constexpr uint32_t OWN_STEPS_SINCE = 14;
    constexpr uint32_t LL_STEPS_SINCE = 22;
    const NcclVersion& version = in.constants.Version();
    const bool network = in.communicator.nodes > 1;
    const bool isLl = in.protocol == Protocol::Ll && version.AtLeast(LL_STEPS_SINCE);
    const Bytes step = network || !version.AtLeast(OWN_STEPS_SINCE) ? CHUNK_NVLINK
                       : isLl                                       ? Bytes::KiB(64)
                                                                    : limits.step;
    // Per channel, half to all of a step on several nodes, an eighth to 32 of them on one.
    const Bytes smallest(step.Count() / (network ? 2 : 8));
    const Bytes largest = step * (network ? 1 : 32);
    const int64_t wanted = DivideUp(bytes, smallest.Count()).Count();
    auto channels = static_cast<uint32_t>(std::clamp<int64_t>(wanted, 1, limits.min));
    while (DivideUp(bytes, channels) > largest && channels * 2 <= limits.max)
    {
        channels *= 2;
    }
    return channels;
}

bool
AreInOneNode(const AlgorithmInputs& in, const Message& message)
{
    const auto& cluster = in.connector.GetCluster();
    return cluster.NodeOf(in.communicator.gpus[message.from]) ==
           cluster.NodeOf(in.communicator.gpus[message.to]);
}

NetworkPorts
PortsOf(const AlgorithmInputs& in, const Message& message, uint32_t channel)
{
    const auto& gpus = in.communicator.gpus;
    return in.connector.PortsForSendRecv(
        in.communicator, gpus[message.from], gpus[message.to], channel);
}

uint32_t
QueuePairOf(const AlgorithmInputs& in, uint32_t part)
{
    return in.call.communicator.Index() * in.constants.MaxChannels() + part;
}

Connection
PathOf(const AlgorithmInputs& in, const Message& message, uint32_t channel, uint32_t part)
{
    const GpuId from = in.communicator.gpus[message.from];
    const GpuId to = in.communicator.gpus[message.to];
    if (from == to)
    {
        return {in.routing.Nowhere(), ConnectionKind::NvLink};
    }
    if (AreInOneNode(in, message))
    {
        return PathInsideNode(in, from, to);
    }
    return in.connector.BetweenNodes(
        from, to, PortsOf(in, message, channel), QueuePairOf(in, part));
}

Bytes
ChunkOf(const AlgorithmInputs& in, const Message& message)
{
    Bytes chunk = StepOf(in);
    if (in.protocol == Protocol::Simple && !AreInOneNode(in, message))
    {
        chunk = Bytes(chunk.Count() / (message.bytes < chunk       ? 4
                                       : message.bytes < chunk * 8 ? 2
                                                                   : 1));
    }
    return std::min(chunk, PipelineChunking(in.protocol, in.settings.simpleBuffer).chunk);
}

std::vector<Message>
MessagesOf(const AlgorithmInputs& in)
{
    return MessagesOf(in.call.op, in.communicator.Size(), in.call.bytes, in.call.root, in.traffic);
}

const CollectiveAlgorithm POINT_TO_POINT_ALGORITHM{
    Algorithm::PointToPoint,
    Supports,
    MaxChannels,
    DescribePointToPoint,
    PointToPointStreams,
    ChannelGraph::None,
    true,
    Choose,
};

} // namespace weir
