// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/call-description.h"
#include "collectives/algorithms/protocol.h"
#include "collectives/channels/message-cost.h"
#include "collectives/schedule/message-split.h"
#include "collectives/schedule/schedule-wiring.h"

#include <algorithm>
#include <cmath>

/**
 * @file
 * Tree all-reduce (NCCL's all_reduce.h, runTreeSplit). Chunk after chunk is summed up the channel's
 * tree to its root and spread down again; two thread groups of a rank do both concurrently.
 */
namespace weir
{

namespace
{

bool
SupportsTree(CollectiveOp op, const Communicator& communicator)
{
    return op == CollectiveOp::AllReduce && !communicator.trees.empty();
}

uint32_t
MaxTreeChannels(const AlgorithmInputs& in)
{
    return static_cast<uint32_t>(in.communicator.trees.size());
}

/** The largest number of trees in which one process sends to its parents over the network. */
uint32_t
TreeSenders(const AlgorithmInputs& in)
{
    std::vector<ServedConnections> served(in.communicator.Size());
    for (uint32_t c = 0; c < in.channels; ++c)
    {
        const auto& neighbors = in.communicator.trees[c].neighbors;
        for (std::size_t rank = 0; rank < neighbors.size(); ++rank)
        {
            const bool sends = neighbors[rank].parent != TreeNeighbors::NO_RANK &&
                               neighbors[rank].toParent.kind == ConnectionKind::Network;
            served[rank].out += sends;
        }
    }
    return MaxOut(served);
}

/**
 * The cutting of a channel's share in a tree: one step is one chunk. LL128 halves the chunk while
 * the share has fewer than 64 s / p chunks and they are larger than 128 KiB, then while it has
 * fewer than 16 s / p and they are larger than 32 KiB, with s = 1 + floor(log2 N) + p / 10 for N
 * nodes of p ranks (enqueue.cc). Before 2.19 Simple halves it down to 128, 64 and 32 KiB while
 * there are fewer than 8, 4 and 1 chunks for each level of the tree.
 *
 * A chunk has one slice for each pass of the thread block over it.
 */
Chunking
TreeChunking(const AlgorithmInputs& in)
{
    constexpr Bytes LARGE = Bytes::KiB(128);
    constexpr Bytes SMALL = Bytes::KiB(32);
    Chunking chunking = PipelineChunking(in.protocol, in.settings.simpleBuffer);
    const auto nodes = in.communicator.nodes;
    const double perNode = static_cast<double>(in.communicator.Size()) / nodes;
    const double steps = 1 + std::floor(std::log2(nodes)) + 0.1 * perNode;
    const auto chunks = [&] {
        return static_cast<double>(in.call.bytes.Count() / (chunking.chunk * in.channels).Count());
    };
    const bool halves = in.protocol == Protocol::Ll128;
    while (halves && chunks() < 64 * steps / perNode && chunking.chunk > LARGE)
    {
        chunking.chunk = Bytes(chunking.chunk.Count() / 2);
    }
    while (halves && chunks() < 16 * steps / perNode && chunking.chunk > SMALL)
    {
        chunking.chunk = Bytes(chunking.chunk.Count() / 2);
    }
    constexpr uint32_t WHOLE_SINCE = 19;
    if (in.protocol == Protocol::Simple && !in.constants.Version().AtLeast(WHOLE_SINCE))
    {
        const int64_t depth = in.communicator.Size() / nodes - 1 + FloorLog2(nodes);
        using Limit = std::pair<Bytes, int64_t>;
        for (const auto& [min, perLevel] : {Limit(LARGE, 8), Limit(LARGE / 2, 4), Limit(SMALL, 1)})
        {
            chunking.chunk =
                Halved(chunking.chunk, min, in.call.bytes, depth * perLevel * in.channels);
        }
    }
    chunking.slices = PassesOf(in.protocol, chunking.chunk);
    chunking.slots *= chunking.slices;
    return chunking;
}

/**
 * Rate of a channel's blocks in each direction for back-to-back chunks, on the wire:
 * KernelTimes::TreeBlockRate on several nodes. A single chunk crosses a hop at ChannelCap, as its
 * block has no other work then.
 */
Rate
TreeBlockRate(const AlgorithmInputs& in)
{
    const uint32_t nodes = in.communicator.nodes;
    return nodes == 1
               ? Rate::Infinite()
               : in.times.TreeBlockRate(in.protocol, nodes) * (1 / ShapeOf(in.protocol).efficiency);
}

/** The chunks of a call over a hop, which over the network are messages. */
class TreeHops
{
  public:
    TreeHops(const AlgorithmInputs& in, const Chunking& chunking)
        : m_in(in),
          m_cost(in.times.Costs()),
          m_share(DivideUp(in.call.bytes, in.channels)),
          m_chunk(std::min(chunking.chunk, m_share)),
          m_senders(TreeSenders(in))
    {
    }

    /** From a slice's last byte on the wire to its use. */
    Time Latency(const Connection& hop) const
    {
        // Inside a node passes follow each other; over the network a chunk is one message.
        const bool isNetwork = hop.kind == ConnectionKind::Network;
        const uint32_t slices = isNetwork ? 1 : PassesOf(m_in.protocol, m_chunk);
        const Bytes wire = WireBytes(m_in.protocol, DivideUp(m_chunk, slices));
        const Time latency = HopLatency(m_in, Algorithm::Tree, hop, wire, m_senders);
        return isNetwork ? latency + m_cost.TrainTime(m_in.protocol, TrainOver(hop)) : latency;
    }

    /** Bytes on the wire per byte of the protocol's wire format (MessageCost::WireFactor). */
    double WireFactor(const Connection& hop) const
    {
        // Under LL and LL128 messages are in other memory or small; the measurements are of Simple.
        return hop.kind != ConnectionKind::Network || m_in.protocol != Protocol::Simple ||
                       m_cost.handling == Time()
                   ? 1
                   : m_cost.WireFactor(TrainOver(hop));
    }

  private:
    MessageCost::Train TrainOver(const Connection& hop) const
    {
        const auto messages =
            static_cast<uint64_t>(DivideUp(m_share, std::max<int64_t>(m_chunk.Count(), 1)).Count());
        return {WireBytes(m_in.protocol, m_chunk),
                messages,
                m_senders,
                m_in.routing.BottleneckRate(hop.route)};
    }

    const AlgorithmInputs& m_in;
    MessageCost m_cost;
    Bytes m_share; //!< of a channel
    Bytes m_chunk;
    uint32_t m_senders;
};

/** Adds a rank's blocks; the root has a single one, which sends sums down again. */
BlockPair
AddRank(ScheduleWiring& wiring, const TreeChannel& tree, uint32_t rank)
{
    const auto below = static_cast<uint32_t>(tree.neighbors[rank].children.size());
    const uint32_t ends = std::max(below, 1U);
    const auto add = [&](PrimitiveKind kind, uint32_t recvs, uint32_t sends) {
        return wiring.AddBlock(rank, 0, kind, recvs, sends);
    };
    if (tree.neighbors[rank].parent == TreeNeighbors::NO_RANK)
    {
        const uint32_t only = add(PrimitiveKind::RecvReduceCopySend, ends, ends);
        return {only, only};
    }
    return {add(below > 0 ? PrimitiveKind::RecvReduceSend : PrimitiveKind::Send, ends, 1),
            add(below > 0 ? PrimitiveKind::RecvCopySend : PrimitiveKind::Recv, 1, ends)};
}

ChannelSchedule
WireTree(const TreeChannel& tree, const Chunking& chunking, const TreeHops& hops)
{
    ChannelSchedule channel;
    ScheduleWiring wiring(channel);
    std::vector<BlockPair> blocks;
    for (uint32_t rank = 0; rank < tree.neighbors.size(); ++rank)
    {
        blocks.push_back(AddRank(wiring, tree, rank));
    }
    const auto join = [&](uint32_t from, uint32_t to, const Connection& hop) {
        ScheduleConnection pipe = MakeConnection(hop, chunking, hops.Latency(hop));
        pipe.wireFactor = hops.WireFactor(hop);
        wiring.Join(from, to, pipe);
    };
    for (uint32_t rank = 0; rank < tree.neighbors.size(); ++rank)
    {
        const TreeNeighbors& own = tree.neighbors[rank];
        if (own.parent != TreeNeighbors::NO_RANK)
        {
            join(blocks[rank].up, blocks[own.parent].up, own.toParent);
            join(blocks[own.parent].down, blocks[rank].down, own.fromParent);
        }
    }
    return channel;
}

/**
 * Every connection of a channel's tree carries the channel's share once, up or down: time = base +
 * path + PipelineTime, where path is the latency from the deepest rank to the root and back down to
 * it. If one GPU of each of N nodes is connected to the network, that is NCCL's base + 2 ((p - 1)
 * h_inner + ceil(log2 N) h_network). NCCL itself counts floor(log2 N), and balanced and split
 * patterns add the step to the second GPU at some nodes.
 */
CallDescription
DescribeTree(const AlgorithmInputs& in)
{
    const Chunking chunking = TreeChunking(in);
    const TreeHops hops(in, chunking);
    CallDescription description;
    description.call = EmptySchedule(in, Algorithm::Tree);
    for (auto& cost : description.call.block.costs)
    {
        cost.rate = TreeBlockRate(in);
    }
    description.chunk = chunking.chunk;
    for (uint32_t channel = 0; channel < in.channels; ++channel)
    {
        description.Add(
            channel, WireTree(in.communicator.trees[channel], chunking, hops), in.routing);
    }
    return description;
}

} // namespace

const CollectiveAlgorithm TREE_ALGORITHM{
    Algorithm::Tree,
    SupportsTree,
    MaxTreeChannels,
    DescribeTree,
    nullptr,
    ChannelGraph::Trees,
    true,
};

} // namespace weir
