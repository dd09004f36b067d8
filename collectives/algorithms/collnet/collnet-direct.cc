// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/call-description.h"
#include "collectives/algorithms/collnet/collnet-network.h"

#include <algorithm>

/**
 * @file
 * CollNet direct (NCCL's all_reduce.h, all_gather.h and reduce_scatter.h, RunWorkColl of
 * NCCL_ALGO_COLLNET_DIRECT). All-reduce: the GPUs of a node that have a port of their own are
 * heads, each of one part of every chunk. Every GPU sends each head its part concurrently, the
 * network's switches sum the data of the heads of all nodes, and each head sends the total to every
 * GPU of its node. All-gather and reduce-scatter, where every GPU is a head: see PartsWiring.
 */
namespace weir
{

namespace
{

constexpr uint32_t NO_HOP = 0xffffffff;

/** The ring hop by which the network reaches a rank. */
struct Entry
{
    uint32_t channel{NO_HOP};
    std::size_t hop{0}; //!< index in the ring
};

/** By rank: on the first channel that enters its node there. */
std::vector<Entry>
EntriesOf(const Communicator& communicator)
{
    std::vector<Entry> entries(communicator.Size());
    for (uint32_t c = 0; c < communicator.channels.size(); ++c)
    {
        const RingChannel& ring = communicator.channels[c];
        for (std::size_t i = 0; i < ring.hops.size(); ++i)
        {
            Entry& entry = entries[ring.order[(i + 1) % ring.order.size()]];
            if (ring.hops[i].kind == ConnectionKind::Network && entry.channel == NO_HOP)
            {
                entry = {c, i};
            }
        }
    }
    return entries;
}

/**
 * Whether every rank is a head. NCCL's heads are the GPUs at which its graph's channels enter a
 * node, one channel each.
 */
bool
IsEveryRankHead(const Communicator& communicator)
{
    const auto entries = EntriesOf(communicator);
    return communicator.Size() == communicator.nodes * communicator.gpusPerNode &&
           communicator.collNetGraph.channels >= communicator.gpusPerNode &&
           std::all_of(entries.begin(), entries.end(), [](const Entry& entry) {
               return entry.channel != NO_HOP;
           });
}

bool
SupportsDirect(CollectiveOp op, const Communicator& communicator)
{
    constexpr uint32_t MAX_GPUS = 8; // of a node: NCCL_MAX_DIRECT_ARITY + 1, device.h
    const bool isHalf = op == CollectiveOp::AllGather || op == CollectiveOp::ReduceScatter;
    return communicator.collNetGraph.channels > 0 && communicator.gpusPerNode <= MAX_GPUS &&
           (op == CollectiveOp::AllReduce || (isHalf && IsEveryRankHead(communicator)));
}

/**
 * Chunk size for one of @p heads heads on one channel: an eighth of the buffer, down to 32 KiB for
 * small messages (enqueue.cc).
 */
Bytes
DirectChunk(const AlgorithmInputs& in, uint32_t heads)
{
    const int64_t depth = in.communicator.gpusPerNode > 1 ? 2 : 1;
    const int64_t parts = depth * heads * in.channels;
    const Bytes step = PipelineChunking(Protocol::Simple, in.settings.simpleBuffer).chunk;
    const Bytes chunk = Halved(step, Bytes::KiB(128), in.call.bytes, 64 * parts);
    return Halved(chunk, Bytes::KiB(32), in.call.bytes, 8 * parts);
}

/**
 * Rate of one channel for a head's data over @p network: its share of the fraction of its port's
 * rate that the head reaches (NodeCostKind::CollNetEfficiency), at most that of its thread block.
 */
Rate
NetworkCap(const AlgorithmInputs& in, const CollNetPath& network, Rate block)
{
    const double reached = in.times.Costs().FactorOf(NodeCostKind::CollNetEfficiency);
    return std::min(block, in.routing.BottleneckRate(network.route) * (reached / in.channels));
}

/**
 * A path inside a node: one hop, plus a latency for each further peer of the GPU.
 */
ScheduleConnection
DirectPipe(const AlgorithmInputs& in, GpuId from, GpuId to, Rate cap)
{
    ScheduleConnection pipe;
    pipe.connection = in.connector.InsideNode(from, to);
    pipe.latency = HopLatency(in, Algorithm::CollNetDirect, pipe.connection, Bytes()) +
                   in.constants.CollNetPeerLatency() * (in.communicator.gpusPerNode - 1.0);
    pipe.cap = cap;
    return pipe;
}

/** Adds a head's blocks: one adds its own data and sends to the network, one forwards the total. */
BlockPair
AddHead(ScheduleWiring& wiring,
        const AlgorithmInputs& in,
        const NvlsNode& node,
        uint32_t head,
        const BlockPair& network)
{
    const auto others = static_cast<uint32_t>(node.ranks.size() - 1);
    const uint32_t ends = std::max(others, 1U);
    const uint32_t rank = node.ranks[node.heads[head].member];
    const auto sums = others > 0 ? PrimitiveKind::RecvReduceSend : PrimitiveKind::Send;
    const auto spreads = others > 0 ? PrimitiveKind::RecvCopySend : PrimitiveKind::Recv;
    const BlockPair blocks{wiring.AddBlock(rank, head, sums, ends, 1),
                           wiring.AddBlock(rank, head, spreads, 1, ends)};
    wiring.Join(blocks.up, network.up, WithinDevice(in));
    wiring.Join(network.down, blocks.down, WithinDevice(in));
    return blocks;
}

/** Adds the blocks of a GPU that send to all heads but itself, and receive from them. */
void
AddMember(ScheduleWiring& wiring,
          const AlgorithmInputs& in,
          const NvlsNode& node,
          uint32_t member,
          const std::vector<BlockPair>& heads,
          Rate cap)
{
    std::vector<int32_t> order;
    for (uint32_t i = 0; i < heads.size(); ++i)
    {
        const auto head = static_cast<uint32_t>((member + i) % heads.size());
        if (node.heads[head].member != member)
        {
            order.push_back(static_cast<int32_t>(head));
        }
    }
    const uint32_t rank = node.ranks[member];
    const uint32_t sending = wiring.AddBlock(rank, 0, EachChunk(PrimitiveKind::Send, order));
    const uint32_t receiving = wiring.AddBlock(rank, 0, EachChunk(PrimitiveKind::Recv, order));
    for (const int32_t head : order)
    {
        const GpuId own = node.gpus[member];
        const GpuId other = node.gpus[node.heads[head].member];
        wiring.Join(sending, heads[head].up, DirectPipe(in, own, other, cap));
        wiring.Join(heads[head].down, receiving, DirectPipe(in, other, own, cap));
    }
}

ChannelSchedule
WireAllReduce(const AlgorithmInputs& in, const std::vector<NvlsNode>& nodes, Rate cap)
{
    ChannelSchedule channel;
    ScheduleWiring wiring(channel);
    const auto count = static_cast<uint32_t>(nodes.size());
    std::vector<BlockPair> networks; // by head
    Rate networkCap;
    for (uint32_t head = 0; head < nodes.front().heads.size(); ++head)
    {
        const CollNetPath path =
            FindCollNetPath(in, Algorithm::CollNetDirect, HeadsAt(nodes, head), head);
        networkCap = head == 0 ? NetworkCap(in, path, cap) : networkCap;
        networks.push_back(AddCollNet(wiring, in, head, {count, count}, {path, networkCap}));
    }
    for (const auto& node : nodes)
    {
        std::vector<BlockPair> heads;
        for (uint32_t head = 0; head < networks.size(); ++head)
        {
            heads.push_back(AddHead(wiring, in, node, head, networks[head]));
        }
        for (uint32_t member = 0; member < node.ranks.size() && node.ranks.size() > 1; ++member)
        {
            AddMember(wiring, in, node, member, heads, cap);
        }
    }
    return channel;
}

/** By head, then node: the path of that rank's part. */
std::vector<std::vector<CollNetPath>>
PartPaths(const AlgorithmInputs& in, const std::vector<NvlsNode>& nodes)
{
    const auto entries = EntriesOf(in.communicator);
    std::vector<std::vector<CollNetPath>> paths;
    for (uint32_t head = 0; head < in.communicator.gpusPerNode; ++head)
    {
        std::vector<CollNetHead> members;
        for (const auto& node : nodes)
        {
            const uint32_t rank = node.ranks[head];
            const RingChannel& ring = in.communicator.channels[entries[rank].channel];
            members.push_back({rank, CollNetPort(in, ring.hops[entries[rank].hop], false)});
        }
        paths.push_back(FindCollNetPartPaths(in, Algorithm::CollNetDirect, members, head));
    }
    return paths;
}

ChannelSchedule
WireParts(const AlgorithmInputs& in, const std::vector<NvlsNode>& nodes, Rate cap)
{
    const uint32_t heads = in.communicator.gpusPerNode;
    const auto paths = PartPaths(in, nodes);
    ChannelSchedule channel;
    PartsWiring wiring(in, nodes, paths, NetworkCap(in, paths.front().front(), cap), channel);
    for (uint32_t node = 0; node < nodes.size(); ++node)
    {
        const NvlsNode& here = nodes[node];
        std::vector<uint32_t> blocks; // by head
        for (uint32_t head = 0; head < heads; ++head)
        {
            blocks.push_back(wiring.AddHead(node, head, here.ranks[head], heads - 1));
        }
        for (uint32_t member = 0; member < heads && heads > 1; ++member)
        {
            std::vector<uint32_t> order;
            std::vector<ScheduleConnection> pipes;
            for (uint32_t i = 1; i < heads; ++i)
            {
                order.push_back((member + i) % heads);
                const GpuId own = here.gpus[member];
                const GpuId other = here.gpus[order.back()];
                const bool gathers = in.call.op == CollectiveOp::AllGather;
                pipes.push_back(gathers ? DirectPipe(in, other, own, cap)
                                        : DirectPipe(in, own, other, cap));
            }
            wiring.AddMember(node, member, order, blocks, pipes);
        }
    }
    return channel;
}

CallDescription
DescribeDirect(const AlgorithmInputs& in)
{
    const auto nodes = NvlsNodes(in.communicator, in.connector);
    const auto count = static_cast<uint32_t>(nodes.size());
    const bool isAllReduce = in.call.op == CollectiveOp::AllReduce;
    CallDescription description;
    description.call = EmptySchedule(in, Algorithm::CollNetDirect);
    description.call.channelCap = Rate::Infinite(); // only connections to and from GPUs are limited
    description.subChannels = isAllReduce ? static_cast<uint32_t>(nodes.front().heads.size())
                                          : in.communicator.gpusPerNode;
    description.chunk = DirectChunk(in, description.subChannels);
    description.chunks = description.subChannels;
    const Rate cap =
        ChannelCap(in) / description.subChannels; // for one head's part, by a thread block
    if (!isAllReduce) // a channel's chunk of a head has one part of each node
    {
        description.chunk = PartOf(description.chunk, count);
        description.chunks *= count;
    }
    description.AddAll(in.channels,
                       isAllReduce ? WireAllReduce(in, nodes, cap) : WireParts(in, nodes, cap));
    return description;
}

} // namespace

const CollectiveAlgorithm COLLNET_DIRECT_ALGORITHM{
    Algorithm::CollNetDirect,
    SupportsDirect,
    RingMaxChannels,
    DescribeDirect,
    nullptr,
    ChannelGraph::Rings,
};

} // namespace weir
