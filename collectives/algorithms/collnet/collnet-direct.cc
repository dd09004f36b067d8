// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/collnet/collnet-direct-call.h"
#include "collectives/algorithms/ring/ring-channels.h"
#include "collectives/schedule/message-split.h"
#include "fabric/routing/routing.h"

#include <algorithm>

/**
 * @file
 * CollNet direct all-reduce (NCCL's all_reduce.h, RunWorkColl of NCCL_ALGO_COLLNET_DIRECT): the
 * GPUs of a node that have a port of their own are heads of one part of each chunk; every GPU sends
 * each head its part at once, the network's switches sum what the heads of all nodes give, and each
 * head sends the total to every GPU of its node.
 */
namespace weir
{

namespace
{

bool
SupportsCollNetDirect(CollectiveOp op, const Communicator& communicator)
{
    constexpr uint32_t MAX_GPUS = 8; // of a node: NCCL_MAX_DIRECT_ARITY + 1, device.h
    return op == CollectiveOp::AllReduce && communicator.collNetGraph.channels > 0 &&
           communicator.gpusPerNode <= MAX_GPUS;
}

/** All hops of one head in all nodes, and the longest of them. */
std::vector<RouteId>
StageOf(const AlgorithmInputs& in,
        const CollNetDirectCall& direct,
        uint32_t head,
        bool toHead,
        Time& longest)
{
    std::vector<RouteId> stage;
    for (const auto& node : direct.nodes)
    {
        for (const auto& path : CollNetDirectPaths(in, node, head, toHead))
        {
            if (path.route.IsValid())
            {
                stage.push_back(path.route);
                longest = std::max(longest, CollNetDirectHop(in, path));
            }
        }
    }
    return stage;
}

/** Base, one hop to the heads and one back, and the network once; a pipeline of three stages. */
StreamShape
CollNetDirectStreams(const AlgorithmInputs& in)
{
    const CollNetDirectCall direct(in);
    const Bytes payload = DivideUp(in.call.bytes, int64_t{in.channels} * direct.heads);
    StreamShape shape;
    Time slowest;
    for (uint32_t head = 0; head < direct.heads; ++head)
    {
        Time to;
        Time from;
        Pipeline pipeline;
        for (auto& stage : {StageOf(in, direct, head, true, to),
                            std::vector<RouteId>{direct.networks[head].route},
                            StageOf(in, direct, head, false, from)})
        {
            if (!stage.empty())
            {
                pipeline.path.push_back(stage.front());
                pipeline.stages.push_back(stage);
            }
        }
        RouteSum sum;
        for (const auto& stage : pipeline.stages)
        {
            for (const RouteId route : stage)
            {
                sum.Add(route);
            }
        }
        pipeline.slice = std::min(direct.chunk, payload);
        pipeline.bytes = payload;
        pipeline.cap = direct.networkCap;
        pipeline.weight = in.channels;
        shape.pipelines.push_back(std::move(pipeline));
        shape.legs.push_back({in.routing.AddSum(sum),
                              payload * in.channels,
                              direct.networkCap * in.channels,
                              static_cast<double>(in.channels)});
        slowest = std::max(slowest, to + direct.networks[head].latency + from);
    }
    shape.latency = in.constants.BaseLatency(Algorithm::CollNetDirect, in.protocol) + slowest;
    return shape;
}

} // namespace

const CollectiveAlgorithm COLLNET_DIRECT_ALGORITHM{
    Algorithm::CollNetDirect,
    SupportsCollNetDirect,
    RingMaxChannels,
    nullptr,
    CollNetDirectStreams,
    BuildCollNetDirectSchedule,
    ChannelGraph::Rings,
};

} // namespace weir
