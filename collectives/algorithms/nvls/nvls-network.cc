// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/nvls/nvls-blocks.h"
#include "collectives/algorithms/nvls/nvls-chunking.h"
#include "collectives/algorithms/nvls/nvls-nodes-blocks.h"
#include "collectives/algorithms/nvls/nvls-nodes-call.h"
#include "collectives/channels/collnet-network.h"
#include "collectives/engines/closed-form.h"
#include "collectives/schedule/message-split.h"

#include <algorithm>

/**
 * @file
 * NVLS all-reduce over several nodes (NCCL's all_reduce.h, RunWorkColl of NCCL_ALGO_NVLS with
 * CollNet): each head reduces its part over its node's NVSwitch, the network's switches sum what
 * the heads of all nodes give, and each head stores the total to all GPUs of its node.
 */
namespace weir
{

namespace
{

bool
SupportsNvlsNetwork(CollectiveOp op, const Communicator& communicator)
{
    return op == CollectiveOp::AllReduce && communicator.nvlsGraph.channels > 1 &&
           communicator.collNetGraph.channels > 0;
}

/** By head: its path through the network. */
std::vector<CollNetPath>
NetworksOf(const AlgorithmInputs& in, const NvlsNodesCall& inside)
{
    std::vector<CollNetPath> networks;
    for (uint32_t head = 0; head < inside.Heads(); ++head)
    {
        networks.push_back(FindCollNetPath(in, Algorithm::Nvls, inside.HeadsAt(head), head));
    }
    return networks;
}

std::vector<StreamLeg>
NetworkLegs(const AlgorithmInputs& in,
            const NvlsNodesCall& inside,
            const std::vector<CollNetPath>& networks,
            double payload)
{
    std::vector<StreamLeg> legs;
    for (const auto& network : networks)
    {
        legs.push_back({network.route,
                        RoundedUp(payload * in.channels),
                        inside.headCap * in.channels,
                        static_cast<double>(in.channels)});
    }
    return legs;
}

/**
 * Start, copy in, the first pass (a reduction, the network, a store, each alone on its
 * links) beyond what its legs last, copy out; and the legs.
 */
StreamShape
NvlsNetworkStreams(const AlgorithmInputs& in)
{
    const NvlsNodesCall inside(in);
    const auto networks = NetworksOf(in, inside);
    const Bytes chunk = NvlsChunk(in.call.bytes, in.channels, inside.Heads());
    const Bytes share = SplitOverChannels(in.call.bytes, in.channels).front().bytes;
    const auto loops = SplitIntoLoops(share, chunk, inside.Heads(), 1);
    const double payload = in.call.bytes.ToDouble() / inside.Heads() / in.channels;
    const Bytes first = loops.front().chunks.front();
    const Bytes last = loops.back().chunks.front();

    StreamShape shape;
    shape.legs = NvlsLegsOf(inside, in, payload, NvlsPasses(loops));
    const std::vector<StreamLeg> outside = NetworkLegs(in, inside, networks, payload);
    shape.legs.insert(shape.legs.end(), outside.begin(), outside.end());
    const Time pass = AloneTime(shape.legs, in.routing) * std::min(1.0, first.ToDouble() / payload);
    Time network;
    for (const auto& each : networks)
    {
        network = std::max(network, each.latency);
    }
    const Time alone = AloneTime(inside.Legs(in, first.ToDouble(), true, false), in.routing) +
                       AloneTime(inside.Legs(in, first.ToDouble(), false, true), in.routing) +
                       AloneTime(NetworkLegs(in, inside, networks, first.ToDouble()), in.routing) +
                       network + inside.sync * 2;
    shape.latency = NvlsStartLatency(in.constants, Algorithm::Nvls) + first / inside.headCap +
                    last / inside.headCap + std::max(alone - pass, Time());
    return shape;
}

/** Blocks and pipes of one channel, without loops. */
ChannelSchedule
WireNvlsNetworkChannel(const AlgorithmInputs& in,
                       const NvlsNodesCall& inside,
                       const std::vector<CollNetPath>& networks)
{
    ChannelSchedule channel;
    ScheduleWiring wiring(channel);
    const uint32_t nowhere = in.communicator.Size(); // blocks of no rank
    const auto nodes = static_cast<uint32_t>(inside.nodes.size());
    std::vector<std::vector<NvlsHeadBlocks>> blocks(nodes); // by node, head
    for (uint32_t head = 0; head < inside.Heads(); ++head)
    {
        const CollNetBlocks network =
            AddCollNet(wiring, in, head, nodes, networks[head], Rate::Infinite());
        for (uint32_t node = 0; node < nodes; ++node)
        {
            NvlsHeadBlocks each;
            each.reducing =
                wiring.AddBlock(nowhere, head, OneStep(PrimitiveKind::RecvReduceSend, 1, 1));
            each.storing =
                wiring.AddBlock(nowhere, head, OneStep(PrimitiveKind::RecvCopySend, 1, 1));
            AddNvlsHead(wiring, in, inside, head, node, each);
            wiring.Join(each.reducing, network.into, HeadToCollNet(in));
            wiring.Join(network.outOf, each.storing, HeadToCollNet(in));
            blocks[node].push_back(each);
        }
    }
    for (uint32_t node = 0; node < nodes; ++node)
    {
        AddNvlsCopies(wiring, in, inside, node, blocks[node]);
    }
    return channel;
}

Schedule
BuildNvlsNetworkSchedule(const AlgorithmInputs& in)
{
    const NvlsNodesCall inside(in);
    const auto networks = NetworksOf(in, inside);
    const Bytes chunk = NvlsChunk(in.call.bytes, in.channels, inside.Heads());
    Schedule schedule = EmptyNvlsSchedule(in, Algorithm::Nvls);
    AddChannels(schedule,
                WireNvlsNetworkChannel(in, inside, networks),
                in.call.bytes,
                in.channels,
                chunk,
                inside.Heads());
    return schedule;
}

} // namespace

const CollectiveAlgorithm NVLS_NETWORK_ALGORITHM{
    Algorithm::Nvls,
    SupportsNvlsNetwork,
    NvlsChannels,
    nullptr,
    NvlsNetworkStreams,
    BuildNvlsNetworkSchedule,
};

} // namespace weir
