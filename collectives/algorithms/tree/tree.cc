// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/protocol.h"
#include "collectives/algorithms/ring/ring-channels.h"
#include "collectives/algorithms/tree/tree-shape.h"
#include "collectives/channels/message-cost.h"
#include "collectives/schedule/message-split.h"

#include <algorithm>
#include <utility>

/**
 * @file
 * Tree all-reduce (NCCL's all_reduce.h, runTreeSplit): chunk after chunk is summed up the channel's
 * tree to its root and spread down again; two thread groups of a rank do the two ways at once.
 */
namespace weir
{

namespace
{

bool
Supports(CollectiveOp op, const Communicator& communicator)
{
    return op == CollectiveOp::AllReduce && !communicator.trees.empty();
}

uint32_t
MaxChannels(const AlgorithmInputs& in)
{
    return static_cast<uint32_t>(in.communicator.trees.size());
}

/** Of how many trees the process that serves most sends to parents over the network at once. */
uint32_t
TreeSenders(const AlgorithmInputs& in)
{
    std::vector<ServedConnections> served(in.communicator.Size());
    for (uint32_t c = 0; c < in.channels; ++c)
    {
        const auto& places = in.communicator.trees[c].places;
        for (std::size_t rank = 0; rank < places.size(); ++rank)
        {
            const bool sends = places[rank].parent != TreePlace::NO_RANK &&
                               places[rank].toParent.kind == ConnectionKind::Network;
            served[rank].out += sends;
        }
    }
    return MaxOut(served);
}

/**
 * Counts channels of the same tree as one pipeline. A tree and its mirror have the same links over
 * all, and so one leg, but use them at different times.
 */
void
AddPipeline(std::vector<Pipeline>& pipelines, Pipeline pipeline)
{
    for (Pipeline& each : pipelines)
    {
        if (each.path == pipeline.path && each.stages == pipeline.stages)
        {
            each.weight += 1;
            return;
        }
    }
    pipelines.push_back(std::move(pipeline));
}

/** Of a tree's connections; where it is not 1 the network is what bounds the tree. */
double
MaxWireFactor(const AlgorithmInputs& in, const TreeChannel& tree)
{
    double most = 1;
    for (const auto& place : tree.places)
    {
        if (place.parent != TreePlace::NO_RANK)
        {
            most = std::max(
                {most, TreeWireFactor(in, place.toParent), TreeWireFactor(in, place.fromParent)});
        }
    }
    return most;
}

Bytes
Scaled(Bytes bytes, double factor)
{
    return factor == 1 ? bytes : RoundedUp(bytes.ToDouble() * factor);
}

/**
 * Every connection of a channel's tree carries the channel's share once, up or down:
 * time = base + path + PipelineTime, with path the latencies from the deepest rank to the root
 * and back down to it. With one GPU of each node talking to the network and N nodes, that is NCCL's
 * base + 2 ((p - 1) h_inner + ceil(log2 N) h_network); NCCL itself counts floor(log2 N), and
 * balanced and split patterns add the step to the second GPU at some nodes.
 */
StreamShape
Streams(const AlgorithmInputs& in)
{
    const Bytes payload = DivideUp(in.call.bytes, in.channels);
    const Bytes chunk = std::min(TreeChunking(in).chunk, payload);
    const Bytes slice = DivideUp(chunk, PassesOf(in.protocol, chunk));
    const Rate cap = ChannelCap(in);
    const Rate block = TreeBlockRate(in);
    StreamShape shape;
    Time slowest;
    for (uint32_t c = 0; c < in.channels; ++c)
    {
        const TreeChannel& tree = in.communicator.trees[c];
        const double factor = MaxWireFactor(in, tree);
        const Bytes wire = Scaled(WireBytes(in.protocol, payload), factor);
        AddLeg(in, shape.legs, tree.route, wire, std::min(cap, block) * factor);
        const TreePath path = SlowestTreePath(in, tree);
        slowest = std::max(slowest, path.latency);
        AddPipeline(shape.pipelines,
                    {path.hops,
                     TreeStages(tree, path),
                     Scaled(WireBytes(in.protocol, slice), factor),
                     wire,
                     cap * factor,
                     block * factor});
    }
    shape.latency = CallLatency(in, Algorithm::Tree) + slowest;
    return shape;
}

/** Index of the program of one primitive with so many neighbors; shared by ranks alike. */
uint32_t
ProgramOf(ChannelSchedule& channel, PrimitiveKind kind, std::size_t recvs, std::size_t sends)
{
    Primitive wanted{kind};
    wanted.recvs = static_cast<uint16_t>(std::max<std::size_t>(recvs, 1));
    wanted.sends = static_cast<uint16_t>(std::max<std::size_t>(sends, 1));
    for (std::size_t i = 0; i < channel.programs.size(); ++i)
    {
        const Primitive& each = channel.programs[i].primitives.front();
        if (each.kind == kind && each.recvs == wanted.recvs && each.sends == wanted.sends)
        {
            return static_cast<uint32_t>(i);
        }
    }
    channel.programs.push_back({{wanted}});
    return static_cast<uint32_t>(channel.programs.size() - 1);
}

/** A rank's blocks: one up and one down, or at the root a single one that turns chunks round. */
struct RankBlocks
{
    uint32_t up{0};
    uint32_t down{0};
};

/** Adds the blocks of all ranks, without connections. */
std::vector<RankBlocks>
AddBlocks(ChannelSchedule& channel, const TreeChannel& tree)
{
    std::vector<RankBlocks> blocks;
    for (uint32_t rank = 0; rank < tree.places.size(); ++rank)
    {
        const std::size_t below = tree.places[rank].children.size();
        const auto add = [&](PrimitiveKind kind, std::size_t recvs, std::size_t sends) {
            const uint32_t program = ProgramOf(channel, kind, recvs, sends);
            channel.blocks.push_back({rank, 0, program, {}, {}});
            return static_cast<uint32_t>(channel.blocks.size() - 1);
        };
        if (tree.places[rank].parent == TreePlace::NO_RANK)
        {
            const uint32_t only = add(PrimitiveKind::RecvReduceCopySend, below, below);
            blocks.push_back({only, only});
            continue;
        }
        const uint32_t up =
            add(below > 0 ? PrimitiveKind::RecvReduceSend : PrimitiveKind::Send, below, 1);
        const uint32_t down =
            add(below > 0 ? PrimitiveKind::RecvCopySend : PrimitiveKind::Recv, 1, below);
        blocks.push_back({up, down});
    }
    return blocks;
}

ChannelSchedule
BuildChannel(const AlgorithmInputs& in, const TreeChannel& tree, const Chunking& chunking)
{
    ChannelSchedule channel;
    const auto blocks = AddBlocks(channel, tree);
    const auto connect = [&](uint32_t from, uint32_t to, const Connection& hop) {
        const auto index = static_cast<uint32_t>(channel.connections.size());
        channel.connections.push_back(
            MakeConnection(from, to, hop, chunking, TreeHopLatency(in, hop)));
        channel.connections.back().wireFactor = TreeWireFactor(in, hop);
        channel.blocks[from].send.push_back(index);
        channel.blocks[to].recv.push_back(index);
    };
    for (uint32_t rank = 0; rank < tree.places.size(); ++rank)
    {
        const TreePlace& place = tree.places[rank];
        if (place.parent != TreePlace::NO_RANK)
        {
            connect(blocks[rank].up, blocks[place.parent].up, place.toParent);
            connect(blocks[place.parent].down, blocks[rank].down, place.fromParent);
        }
    }
    return channel;
}

Schedule
BuildSchedule(const AlgorithmInputs& in)
{
    const Chunking chunking = TreeChunking(in);
    Schedule schedule = EmptySchedule(in, Algorithm::Tree);
    schedule.startLatency = CallLatency(in, Algorithm::Tree);
    for (auto& cost : schedule.block.costs)
    {
        cost.rate = TreeBlockRate(in);
    }
    for (const auto& share : SplitOverChannels(in.call.bytes, in.channels))
    {
        for (uint32_t c = share.firstChannel; c < share.firstChannel + share.channels; ++c)
        {
            ChannelSchedule channel = BuildChannel(in, in.communicator.trees[c], chunking);
            channel.loops = SplitIntoLoops(share.bytes, chunking.chunk, 1, 1);
            for (auto& loop : channel.loops)
            {
                loop.slices = PassesOf(in.protocol, loop.chunks.front());
            }
            AddChannel(schedule, std::move(channel), in.routing);
        }
    }
    return schedule;
}

} // namespace

const CollectiveAlgorithm TREE_ALGORITHM{
    Algorithm::Tree,
    Supports,
    MaxChannels,
    nullptr,
    Streams,
    BuildSchedule,
    ChannelGraph::Trees,
    TreeSenders,
    nullptr,
    true,
};

} // namespace weir
