// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/collnet/collnet-direct-call.h"
#include "collectives/algorithms/collnet/collnet-parts-call.h"
#include "collectives/algorithms/ring/ring-channels.h"
#include "collectives/schedule/message-split.h"
#include "fabric/routing/routing.h"

#include <algorithm>

/**
 * @file
 * CollNet direct all-gather and reduce-scatter (NCCL's all_gather.h and reduce_scatter.h,
 * RunWorkColl of NCCL_ALGO_COLLNET_DIRECT), where every GPU is a head. To gather, each GPU gives
 * the network its part, the switches multicast it to the GPUs of its number in all nodes, and these
 * send what they get to every GPU of their node. To scatter, the same backwards: each GPU sums its
 * node's data for the GPUs of its number, the switches sum over nodes, and each part goes to the
 * one GPU that keeps it.
 */
namespace weir
{

namespace
{

bool
SupportsCollNetParts(CollectiveOp op, const Communicator& communicator)
{
    constexpr uint32_t MAX_GPUS = 8; // of a node: NCCL_MAX_DIRECT_ARITY + 1, device.h
    return (op == CollectiveOp::AllGather || op == CollectiveOp::ReduceScatter) &&
           communicator.collNetGraph.channels > 0 && communicator.gpusPerNode <= MAX_GPUS &&
           IsEveryRankHead(communicator);
}

/** The paths of one head's parts through the network, together. */
RouteId
NetworkOf(const AlgorithmInputs& in, const CollNetPartsCall& call, uint32_t head)
{
    RouteSum sum;
    for (const auto& path : call.networks[head])
    {
        sum.Add(path.route);
    }
    return in.routing.AddSum(sum);
}

/** All hops inside nodes of one head's parts, each with those of all nodes; the longest of them. */
std::vector<RouteId>
InsideOf(const AlgorithmInputs& in, const CollNetPartsCall& call, uint32_t head, Time& longest)
{
    std::vector<RouteId> stage;
    for (const auto& node : call.nodes)
    {
        for (uint32_t member = 0; member < call.heads; ++member)
        {
            if (member == head)
            {
                continue;
            }
            const GpuId from = node.gpus[call.gathers ? head : member];
            const GpuId to = node.gpus[call.gathers ? member : head];
            const Connection path = in.connector.InsideNode(from, to);
            RouteSum sum;
            sum.Add(path.route, call.Nodes());
            stage.push_back(in.routing.AddSum(sum));
            longest = std::max(longest, CollNetDirectHop(in, path));
        }
    }
    return stage;
}

/** Base, the network once and one hop inside; a pipeline of two stages. Bytes are one rank's. */
StreamShape
CollNetPartsStreams(const AlgorithmInputs& in)
{
    const CollNetPartsCall call(in);
    const Bytes payload = DivideUp(in.call.bytes, int64_t{in.channels} * in.communicator.Size());
    const double nodes = call.Nodes();
    StreamShape shape;
    Time slowest;
    for (uint32_t head = 0; head < call.heads; ++head)
    {
        Time hop;
        Pipeline pipeline;
        pipeline.stages.push_back({NetworkOf(in, call, head)});
        auto inside = InsideOf(in, call, head, hop);
        if (!inside.empty())
        {
            pipeline.stages.insert(call.gathers ? pipeline.stages.end() : pipeline.stages.begin(),
                                   std::move(inside));
        }
        RouteSum sum;
        for (const auto& stage : pipeline.stages)
        {
            pipeline.path.push_back(stage.front());
            for (const RouteId route : stage)
            {
                sum.Add(route);
            }
        }
        pipeline.slice = std::min(call.chunk, payload);
        pipeline.bytes = payload;
        pipeline.cap = call.networkCap / nodes;
        pipeline.weight = in.channels;
        shape.pipelines.push_back(std::move(pipeline));
        shape.legs.push_back({in.routing.AddSum(sum),
                              payload * in.channels,
                              call.networkCap / nodes * in.channels,
                              in.channels / nodes});
        slowest = std::max(slowest, hop + call.networks[head].front().latency);
    }
    shape.latency = in.constants.BaseLatency(Algorithm::CollNetDirect, in.protocol) + slowest;
    return shape;
}

} // namespace

const CollectiveAlgorithm COLLNET_PARTS_ALGORITHM{
    Algorithm::CollNetDirect,
    SupportsCollNetParts,
    RingMaxChannels,
    nullptr,
    CollNetPartsStreams,
    BuildCollNetPartsSchedule,
    ChannelGraph::Rings,
};

} // namespace weir
