// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/call-description.h"
#include "collectives/algorithms/collnet/collnet-network.h"

#include <algorithm>

/**
 * @file
 * CollNet chain all-reduce (NCCL's all_reduce.h, RunWorkColl of NCCL_ALGO_COLLNET_CHAIN). In each
 * node a channel's GPUs pass sums along a chain to its head, the network's switches sum the data of
 * the heads of all nodes, and the total returns along the chains.
 */
namespace weir
{

namespace
{

bool
SupportsChain(CollectiveOp op, const Communicator& communicator)
{
    return op == CollectiveOp::AllReduce && communicator.collNetGraph.channels > 0;
}

/** 256 KiB, halved down to 32 KiB while a channel has too few chunks for the chain (enqueue.cc). */
Bytes
ChainChunk(const AlgorithmInputs& in)
{
    const int64_t wanted = int64_t{in.communicator.gpusPerNode} * in.channels;
    Bytes chunk = Halved(Bytes::KiB(256), Bytes::KiB(128), in.call.bytes, wanted * 64);
    chunk = Halved(chunk, Bytes::KiB(64), in.call.bytes, wanted * 8);
    return Halved(chunk, Bytes::KiB(32), in.call.bytes, wanted);
}

/**
 * Rate of a chunk in a rank's block that handles no other chunk. Queue pairs do not limit data that
 * switches reduce.
 */
Rate
CopyRate(const AlgorithmInputs& in)
{
    return Rate::GBps(in.constants.BlockBandwidth());
}

/**
 * Rate of back-to-back chunks: a block sums one chunk and forwards another concurrently, as that of
 * a tree does between a child and a parent, so over two nodes. Unlimited with one GPU per node,
 * which does neither.
 */
Rate
BlockRate(const AlgorithmInputs& in)
{
    constexpr uint32_t NODES = 2;
    return in.communicator.gpusPerNode > 1 ? in.times.TreeBlockRate(Protocol::Simple, NODES)
                                           : Rate::Infinite();
}

/** One node's chain on one channel: its ranks, the head first, and the head's port. */
struct Chain
{
    std::vector<uint32_t> ranks;
    uint32_t port{0};
    uint32_t lastPort{0}; //!< port at the other end of the chain
};

/**
 * The chains follow the channel's ring. A head is the GPU at which the ring enters a node, or
 * leaves it where only that port is on the rail of the first head: a channel stays on one rail.
 */
std::vector<Chain>
ChainsOf(const AlgorithmInputs& in, const RingChannel& ring)
{
    const std::size_t n = ring.order.size();
    std::size_t first = 0; // where the ring enters a node
    while (ring.hops[(first + n - 1) % n].kind != ConnectionKind::Network)
    {
        ++first;
    }
    std::vector<Chain> chains;
    for (std::size_t i = first; i < first + n; ++i)
    {
        const Connection& before = ring.hops[(i + n - 1) % n];
        const Connection& after = ring.hops[i % n];
        if (before.kind == ConnectionKind::Network)
        {
            chains.push_back({{}, CollNetPort(in, before, false), 0});
        }
        chains.back().ranks.push_back(ring.order[i % n]);
        if (after.kind == ConnectionKind::Network)
        {
            chains.back().lastPort = CollNetPort(in, after, true);
        }
    }
    const uint32_t rail = chains.front().port;
    for (Chain& chain : chains)
    {
        if (chain.port != rail && chain.lastPort == rail)
        {
            std::reverse(chain.ranks.begin(), chain.ranks.end());
            std::swap(chain.port, chain.lastPort);
        }
    }
    return chains;
}

ScheduleConnection
ChainPipe(const AlgorithmInputs& in, uint32_t from, uint32_t to)
{
    const auto& gpus = in.communicator.gpus;
    ScheduleConnection pipe;
    pipe.connection = in.connector.InsideNode(gpus[from], gpus[to]);
    pipe.latency = HopLatency(in, Algorithm::CollNetChain, pipe.connection, Bytes());
    pipe.cap = CopyRate(in);
    return pipe;
}

/** Wires one node's chain: sums towards the head and to the network, the total back. */
void
WireChain(const AlgorithmInputs& in,
          const std::vector<uint32_t>& ranks,
          const BlockPair& network,
          ScheduleWiring& wiring)
{
    uint32_t up = network.up;
    uint32_t down = network.down;
    for (std::size_t i = 0; i < ranks.size(); ++i)
    {
        const bool isLast = i + 1 == ranks.size();
        const uint32_t summing = wiring.AddBlock(
            ranks[i], 0, isLast ? PrimitiveKind::Send : PrimitiveKind::RecvReduceSend, 1, 1);
        const uint32_t spreading = wiring.AddBlock(
            ranks[i], 0, isLast ? PrimitiveKind::Recv : PrimitiveKind::RecvCopySend, 1, 1);
        const bool isHead = i == 0;
        wiring.Join(summing, up, isHead ? WithinDevice(in) : ChainPipe(in, ranks[i], ranks[i - 1]));
        wiring.Join(
            down, spreading, isHead ? WithinDevice(in) : ChainPipe(in, ranks[i - 1], ranks[i]));
        up = summing;
        down = spreading;
    }
}

ChannelSchedule
WireChannel(const AlgorithmInputs& in, uint32_t number)
{
    const auto chains = ChainsOf(in, in.communicator.channels[number]);
    // SHARP merges no ports: duplicated channels take turns on those of a NIC.
    const uint32_t port = number / in.communicator.searchChannels % in.connector.PortsPerNic();
    std::vector<CollNetHead> heads;
    for (const Chain& chain : chains)
    {
        heads.push_back({chain.ranks.front(), chain.port + port});
    }
    const auto count = static_cast<uint32_t>(heads.size());
    const CollNetPath path = FindCollNetPath(in, Algorithm::CollNetChain, heads, number);
    ChannelSchedule channel;
    ScheduleWiring wiring(channel);
    const BlockPair network = AddCollNet(wiring, in, 0, {count, count}, {path, CopyRate(in)});
    for (const Chain& chain : chains)
    {
        WireChain(in, chain.ranks, network, wiring);
    }
    return channel;
}

CallDescription
DescribeChain(const AlgorithmInputs& in)
{
    CallDescription description;
    description.call = EmptySchedule(in, Algorithm::CollNetChain);
    description.call.channelCap = Rate::Infinite(); // only connections to and from GPUs are limited
    for (auto& cost : description.call.block.costs)
    {
        cost.rate = BlockRate(in);
    }
    description.chunk = ChainChunk(in);
    for (uint32_t channel = 0; channel < in.channels; ++channel)
    {
        description.Add(channel, WireChannel(in, channel), in.routing);
    }
    return description;
}

} // namespace

const CollectiveAlgorithm COLLNET_CHAIN_ALGORITHM{
    Algorithm::CollNetChain,
    SupportsChain,
    RingMaxChannels,
    DescribeChain,
    nullptr,
    ChannelGraph::Rings,
};

} // namespace weir
