// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithm.h"
#include "collectives/message-split.h"
#include "collectives/protocol.h"
#include "collectives/ring-channels.h"

#include <algorithm>
#include <cmath>

/**
 * @file
 * Send/recv from the first rank of a group to the second (NCCL's sendrecv.h and the point-to-point
 * part of enqueue.cc): the message is split over a few channels of the pair and goes as slices.
 */
namespace weir
{

namespace
{

constexpr Bytes CHUNK_NVLINK = Bytes::KiB(512);    //!< all GPUs on NVLink
constexpr Bytes CHUNK_OTHERWISE = Bytes::KiB(128); //!< over PCIe or the network
constexpr Bytes LL_THRESHOLD = Bytes::KiB(16);     //!< NCCL_P2P_LL_THRESHOLD, payload per channel
constexpr double NIC_BANDWIDTH_PER_CHANNEL = 14;   //!< GB/s, ncclTopoGetNchannels

bool
Supports(CollectiveOp op)
{
    return op == CollectiveOp::SendRecv;
}

GpuId
Sender(const AlgorithmInputs& in)
{
    return in.communicator.gpus[0];
}

GpuId
Receiver(const AlgorithmInputs& in)
{
    return in.communicator.gpus[1];
}

/** The way of one channel of the pair; over the network each channel has its own queue pair. */
Connection
ConnectionOf(const AlgorithmInputs& in, uint32_t channel)
{
    const auto& cluster = in.connector.GetCluster();
    if (cluster.NodeOf(Sender(in)) == cluster.NodeOf(Receiver(in)))
    {
        return in.connector.InsideNode(Sender(in), Receiver(in));
    }
    const auto ports = in.connector.PortsForSendRecv(Sender(in), Receiver(in), channel);
    const uint32_t queuePair = in.call.communicator.Index() * in.constants.MaxChannels() + channel;
    return in.connector.BetweenNodes(Sender(in), Receiver(in), ports, queuePair);
}

uint32_t
PowerOfTwoUp(uint32_t value)
{
    uint32_t power = 1;
    while (power < value)
    {
        power *= 2;
    }
    return power;
}

/** What it takes to drive the ports of a GPU (ncclTopoGetNchannels, a remote rank). */
uint32_t
NetworkChannels(const AlgorithmInputs& in)
{
    const double port = in.connector.GetCluster().GetSpec().node.nic.rawRate.ToGBps();
    const auto nics = static_cast<uint32_t>(in.connector.NicsOf(Receiver(in)).size());
    return std::max(nics, static_cast<uint32_t>(std::ceil(port / NIC_BANDWIDTH_PER_CHANNEL)));
}

/**
 * Channels per peer: in a group over several nodes what the network needs, the least over all
 * peers; inside a node 2 x the pair's NVLinks, or 2 on PCIe, halved until all peers of the group
 * fit its channels. A power of two.
 */
uint32_t
MaxChannels(const AlgorithmInputs& in)
{
    const uint32_t all = PowerOfTwoUp(static_cast<uint32_t>(in.communicator.channels.size()));
    if (in.communicator.nodes > 1)
    {
        return std::min(PowerOfTwoUp(NetworkChannels(in)), all);
    }
    const Connection connection = ConnectionOf(in, 0);
    uint32_t channels = 2;
    if (connection.kind == ConnectionKind::NvLink)
    {
        const Rate link = in.connector.GetCluster().GetSpec().node.nvlink.PayloadRate();
        const double links = std::round(in.paths.BottleneckRate(connection.path) / link);
        channels = PowerOfTwoUp(2 * static_cast<uint32_t>(std::max(links, 1.0)));
    }
    channels = std::min(channels, all);
    while (channels > 1 && channels * in.communicator.Size() > all)
    {
        channels /= 2;
    }
    return channels;
}

/**
 * As many channels as leave each at least half a 512 KiB step over the network, an eighth of one
 * inside a node; LL when a channel has no more than its threshold (addP2pToPlan).
 */
void
Choose(AlgorithmInputs& in)
{
    const auto& overrides = in.call.overrides;
    const bool network = ConnectionOf(in, 0).kind == ConnectionKind::Network;
    const Bytes part = network ? Bytes::KiB(256) : Bytes::KiB(64);
    const int64_t wanted = DivideUp(in.call.bytes, part.Count()).Count();
    in.channels = overrides.channels
                      ? *overrides.channels
                      : static_cast<uint32_t>(std::clamp<int64_t>(wanted, 1, MaxChannels(in)));
    const Bytes perChannel = DivideUp(in.call.bytes, in.channels);
    in.protocol = overrides.protocol           ? *overrides.protocol
                  : perChannel <= LL_THRESHOLD ? Protocol::Ll
                                               : Protocol::Simple;
}

Time
Hop(const AlgorithmInputs& in, const Connection& connection)
{
    return HopLatency(in.constants, in.communicator, in.protocol, connection, in.paths);
}

/** base + hop + bytes per channel over the slowest channel's share of the links. */
StreamShape
Streams(const AlgorithmInputs& in)
{
    const Bytes bytes = WireBytes(in.protocol, DivideUp(in.call.bytes, in.channels));
    const Rate cap = ChannelCap(in);
    StreamShape shape;
    Time slowest;
    for (uint32_t c = 0; c < in.channels; ++c)
    {
        const Connection connection = ConnectionOf(in, c);
        slowest = std::max(slowest, Hop(in, connection));
        AddLeg(shape.legs, connection.path, bytes, cap);
    }
    shape.latency = in.constants.BaseLatency(in.protocol) + slowest;
    return shape;
}

Schedule
BuildSchedule(const AlgorithmInputs& in)
{
    const bool nvlink = ConnectionOf(in, 0).kind == ConnectionKind::NvLink;
    Chunking chunking = PipelineChunking(in.protocol);
    chunking.chunk = std::min(chunking.chunk, nvlink ? CHUNK_NVLINK : CHUNK_OTHERWISE);
    Schedule schedule = EmptySchedule(in, Algorithm::PointToPoint);
    for (const auto& share : SplitOverChannels(in.call.bytes, in.channels))
    {
        PathId lastPath;
        for (uint32_t c = share.firstChannel; c < share.firstChannel + share.channels; ++c)
        {
            const Connection connection = ConnectionOf(in, c);
            if (connection.path == lastPath)
            {
                schedule.channels.back().copies++;
                continue;
            }
            lastPath = connection.path;
            ChannelSchedule channel;
            channel.loops = SplitIntoLoops(share.bytes, chunking.chunk, 1, chunking.slices);
            channel.programs = {{{{PrimitiveKind::Send, 0}}}, {{{PrimitiveKind::Recv, 0}}}};
            channel.connections = {MakeConnection(in, 0, 1, connection, chunking)};
            channel.blocks = {{0, 0, 0, {}, {0}}, {1, 1, 1, {0}, {}}};
            schedule.channels.push_back({std::move(channel), 1});
        }
    }
    return schedule;
}

} // namespace

const CollectiveAlgorithm SEND_RECV_ALGORITHM{
    Algorithm::PointToPoint,
    Supports,
    MaxChannels,
    Choose,
    Streams,
    BuildSchedule,
};

} // namespace weir
