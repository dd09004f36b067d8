// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/collnet/collnet-chain-paths.h"
#include "collectives/algorithms/nvls/nvls-blocks.h"
#include "collectives/algorithms/protocol.h"
#include "collectives/algorithms/ring/ring-channels.h"
#include "collectives/schedule/message-split.h"
#include "fabric/routing/routing.h"

#include <algorithm>
#include <cmath>

/**
 * @file
 * CollNet chain all-reduce (NCCL's all_reduce.h, RunWorkColl of NCCL_ALGO_COLLNET_CHAIN): in each
 * node a channel's GPUs pass sums along a chain to its head, the network's switches sum what the
 * heads of all nodes give, and the total goes back along the chains.
 */
namespace weir
{

namespace
{

bool
SupportsCollNetChain(CollectiveOp op, const Communicator& communicator)
{
    return op == CollectiveOp::AllReduce && communicator.collNetGraph.channels > 0;
}

/** 256 KiB; halved, to 32 KiB, while a channel has fewer chunks than the chain wants (enqueue.cc).
 */
Chunking
ChunkingOf(const AlgorithmInputs& in)
{
    const int64_t depth = in.communicator.gpusPerNode;
    Bytes chunk = Bytes::KiB(256);
    const auto halveTo = [&](Bytes least, int64_t wanted) {
        while (chunk > least && in.call.bytes < chunk * (wanted * in.channels))
        {
            chunk = chunk / 2;
        }
    };
    halveTo(Bytes::KiB(128), depth * 64);
    halveTo(Bytes::KiB(64), depth * 8);
    halveTo(Bytes::KiB(32), depth);
    return {chunk, 1, NCCL_STEPS};
}

/** What a chunk by itself has of a rank's block; no queue pair bounds what switches reduce. */
Rate
CopyRate(const AlgorithmInputs& in)
{
    return Rate::GBps(in.constants.BlockBandwidth());
}

/**
 * One chunk after the other: a block sums one and spreads another at once, so that each way has
 * half of its rate. One GPU of a node does neither.
 */
Rate
BlockRate(const AlgorithmInputs& in)
{
    return in.communicator.gpusPerNode > 1 ? CopyRate(in) * 0.5 : Rate::Infinite();
}

Time
Hop(const AlgorithmInputs& in, const Connection& hop)
{
    return HopLatency(in, Algorithm::CollNetChain, hop, Bytes());
}

/** The stages of a channel: each hop of the chains towards the heads, the network, and back. */
Pipeline
StagesOf(const AlgorithmInputs& in, const CollNetChains& channel, Time& latency)
{
    std::size_t longest = 0;
    for (const auto& chain : channel.chains)
    {
        longest = std::max(longest, chain.toHead.size());
    }
    Pipeline pipeline;
    const auto add = [&](std::size_t hop, bool toHead) {
        std::vector<RouteId> stage;
        Time slowest;
        for (const auto& chain : channel.chains)
        {
            if (hop < chain.toHead.size())
            {
                const Connection& path = toHead ? chain.toHead[hop] : chain.fromHead[hop];
                stage.push_back(path.route);
                slowest = std::max(slowest, Hop(in, path));
            }
        }
        latency += slowest;
        pipeline.path.push_back(stage.front());
        pipeline.stages.push_back(std::move(stage));
    };
    for (std::size_t hop = longest; hop-- > 0;)
    {
        add(hop, true);
    }
    latency += channel.network.latency;
    pipeline.path.push_back(channel.network.route);
    pipeline.stages.push_back({channel.network.route});
    for (std::size_t hop = 0; hop < longest; ++hop)
    {
        add(hop, false);
    }
    return pipeline;
}

/** Base, every hop towards the head and back, and the network once; a pipeline of chunks. */
StreamShape
CollNetChainStreams(const AlgorithmInputs& in)
{
    const Bytes payload = DivideUp(in.call.bytes, in.channels);
    const Rate cap = CopyRate(in);
    const Rate block = BlockRate(in);
    StreamShape shape;
    Time slowest;
    for (const auto& channel : FindCollNetChains(in, 0, in.channels))
    {
        Time latency;
        Pipeline pipeline = StagesOf(in, channel, latency);
        slowest = std::max(slowest, latency);
        pipeline.slice = std::min(ChunkingOf(in).chunk, payload);
        pipeline.bytes = payload;
        pipeline.cap = cap;
        pipeline.block = block;
        pipeline.weight = channel.copies;
        RouteSum sum;
        for (const auto& stage : pipeline.stages)
        {
            for (const RouteId route : stage)
            {
                sum.Add(route);
            }
        }
        shape.legs.push_back({in.routing.AddSum(sum),
                              payload * channel.copies,
                              std::min(cap, block) * channel.copies,
                              static_cast<double>(channel.copies)});
        shape.pipelines.push_back(std::move(pipeline));
    }
    shape.latency = in.constants.BaseLatency(Algorithm::CollNetChain, in.protocol) + slowest;
    return shape;
}

/** Wires one node's chain: sums towards the head and to the network, the total back. */
void
WireChain(const AlgorithmInputs& in,
          const CollNetChain& chain,
          const CollNetBlocks& network,
          ScheduleWiring& wiring)
{
    const ScheduleConnection nothing = HeadToCollNet(in);
    const auto pipe = [&](const Connection& hop) {
        ScheduleConnection connection;
        connection.connection = hop;
        connection.latency = Hop(in, hop);
        connection.cap = CopyRate(in);
        return connection;
    };
    uint32_t up = network.into;
    uint32_t down = network.outOf;
    for (std::size_t i = 0; i < chain.ranks.size(); ++i)
    {
        const bool isLast = i + 1 == chain.ranks.size();
        const uint32_t rank = chain.ranks[i];
        const uint32_t summing = wiring.AddBlock(
            rank, 0, OneStep(isLast ? PrimitiveKind::Send : PrimitiveKind::RecvReduceSend, 1, 1));
        const uint32_t spreading = wiring.AddBlock(
            rank, 0, OneStep(isLast ? PrimitiveKind::Recv : PrimitiveKind::RecvCopySend, 1, 1));
        wiring.Join(summing, up, i == 0 ? nothing : pipe(chain.toHead[i - 1]));
        wiring.Join(down, spreading, i == 0 ? nothing : pipe(chain.fromHead[i - 1]));
        up = summing;
        down = spreading;
    }
}

Schedule
BuildCollNetChainSchedule(const AlgorithmInputs& in)
{
    const Chunking chunking = ChunkingOf(in);
    Schedule schedule = EmptySchedule(in, Algorithm::CollNetChain);
    schedule.channelCap = Rate::Infinite(); // only pipes to and from GPUs are bound by a block
    for (auto& cost : schedule.block.costs)
    {
        cost.rate = BlockRate(in);
    }
    schedule.startLatency = in.constants.BaseLatency(Algorithm::CollNetChain, in.protocol);
    for (const auto& share : SplitOverChannels(in.call.bytes, in.channels))
    {
        for (const auto& paths : FindCollNetChains(in, share.firstChannel, share.channels))
        {
            ChannelSchedule channel;
            ScheduleWiring wiring(channel);
            const auto heads = static_cast<uint32_t>(paths.chains.size());
            const CollNetBlocks network =
                AddCollNet(wiring, in, 0, heads, paths.network, CopyRate(in));
            for (const auto& chain : paths.chains)
            {
                WireChain(in, chain, network, wiring);
            }
            channel.loops = SplitIntoLoops(share.bytes, chunking.chunk, 1, 1);
            schedule.channels.push_back({std::move(channel), paths.copies});
        }
    }
    return schedule;
}

} // namespace

const CollectiveAlgorithm COLLNET_CHAIN_ALGORITHM{
    Algorithm::CollNetChain,
    SupportsCollNetChain,
    RingMaxChannels,
    nullptr,
    CollNetChainStreams,
    BuildCollNetChainSchedule,
    ChannelGraph::Rings,
};

} // namespace weir
