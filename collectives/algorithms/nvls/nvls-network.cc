// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/collnet/collnet-network.h"
#include "collectives/algorithms/nvls/nvls-heads.h"
#include "collectives/engines/closed-form.h"
#include "collectives/schedule/message-split.h"

#include <algorithm>
#include <numeric>

/**
 * @file
 * NVLS over several nodes (NCCL's all_reduce.h, all_gather.h and reduce_scatter.h, RunWorkColl of
 * NCCL_ALGO_NVLS with CollNet). All-reduce: each head reduces its part over its node's NVSwitch,
 * the network's switches sum the data of the heads of all nodes, and each head stores the total to
 * all GPUs of its node. All-gather and reduce-scatter, where every GPU is a head: see PartsWiring;
 * each head stores the parts of its number to all GPUs of its node, or reduces them.
 */
namespace weir
{

namespace
{

bool
SupportsNvlsNetwork(CollectiveOp op, const Communicator& communicator)
{
    const uint32_t heads = communicator.nvlsGraph.channels;
    const bool isHalf = op == CollectiveOp::AllGather || op == CollectiveOp::ReduceScatter;
    return communicator.collNetGraph.channels > 0 && heads > 1 &&
           (op == CollectiveOp::AllReduce ||
            (isHalf && communicator.nodes > 1 && heads == communicator.gpusPerNode &&
             communicator.Size() == communicator.nodes * communicator.gpusPerNode));
}

ChannelSchedule
WireAllReduce(const AlgorithmInputs& in, const NvlsHeads& heads)
{
    ChannelSchedule channel;
    ScheduleWiring wiring(channel);
    const uint32_t nowhere = in.communicator.Size(); // rank of blocks of switches
    const auto nodes = static_cast<uint32_t>(heads.Nodes().size());
    std::vector<BlockPair> networks; // by head
    for (uint32_t head = 0; head < heads.Count(); ++head)
    {
        const CollNetPath path =
            FindCollNetPath(in, Algorithm::Nvls, HeadsAt(heads.Nodes(), head), head);
        networks.push_back(AddCollNet(wiring, in, head, {nodes, nodes}, {path, Rate::Infinite()}));
    }
    for (uint32_t node = 0; node < nodes; ++node)
    {
        std::vector<BlockPair> outside; // by head
        for (uint32_t head = 0; head < heads.Count(); ++head)
        {
            const auto add = [&](PrimitiveKind kind) {
                return wiring.AddBlock(nowhere, head, kind, 1, 1);
            };
            outside.push_back(
                {add(PrimitiveKind::RecvReduceSend), add(PrimitiveKind::RecvCopySend)});
            wiring.Join(outside.back().up, networks[head].up, WithinDevice(in));
            wiring.Join(networks[head].down, outside.back().down, WithinDevice(in));
        }
        heads.AddNode(wiring, node, outside);
    }
    return channel;
}

ChannelSchedule
WireParts(const AlgorithmInputs& in, const NvlsHeads& heads)
{
    const bool gathers = in.call.op == CollectiveOp::AllGather;
    const auto nodes = static_cast<uint32_t>(heads.Nodes().size());
    std::vector<std::vector<CollNetPath>> paths;
    for (uint32_t head = 0; head < heads.Count(); ++head)
    {
        paths.push_back(
            FindCollNetPartPaths(in, Algorithm::Nvls, HeadsAt(heads.Nodes(), head), head));
    }
    const std::vector<ScheduleConnection> copies(heads.Count(), heads.Copies());
    ChannelSchedule channel;
    PartsWiring wiring(in, heads.Nodes(), paths, Rate::Infinite(), channel);
    for (uint32_t node = 0; node < nodes; ++node)
    {
        std::vector<uint32_t> switches; // by head
        for (uint32_t head = 0; head < heads.Count(); ++head)
        {
            // One pass over all its parts synchronizes once.
            ScheduleConnection accesses = heads.Accesses(node, head, !gathers, gathers);
            accesses.latency = heads.Sync() * (1.0 / nodes);
            const uint32_t all = wiring.AddHead(node, head, in.communicator.Size(), 1);
            switches.push_back(wiring.AddBehind(node, head, all, heads.Count(), accesses));
        }
        for (uint32_t member = 0; member < heads.Count(); ++member)
        {
            std::vector<uint32_t> order;
            for (uint32_t i = 0; i < heads.Count(); ++i)
            {
                order.push_back((member + i) % heads.Count());
            }
            wiring.AddMember(node, member, order, switches, copies);
        }
    }
    return channel;
}

CallDescription
DescribeNvlsNetwork(const AlgorithmInputs& in, const NvlsHeads& heads)
{
    CallDescription description = heads.Describe(Algorithm::Nvls);
    if (in.call.op == CollectiveOp::AllReduce)
    {
        description.AddAll(in.channels, WireAllReduce(in, heads));
        return description;
    }
    const auto nodes = static_cast<uint32_t>(heads.Nodes().size());
    description.chunk = PartOf(description.chunk, nodes);
    description.chunks *= nodes;
    description.AddAll(in.channels, WireParts(in, heads));
    return description;
}

/**
 * The legs of a whole call, whose groups synchronize for t = @p syncs in total. NVLink is busy for
 * b if reductions and stores share it, and for r or s if only one of them loads it. A group that
 * synchronizes leaves NVLink to the other, so the call takes max(b + t - (b / max(r, s) - 1) t, r +
 * t, s + t). The legs on NVLink are lengthened accordingly; the other legs are not.
 */
std::vector<StreamLeg>
NetworkLegs(const DescribedLoads& loads, double payload, Time syncs)
{
    const auto timeOf = [&](bool up) {
        return loads.LinkTime(payload,
                              [up](const ScheduleConnection& each, const SubChannel::Hop& hop) {
                                  return InsideHop(each, hop) && hop.isUp == up;
                              });
    };
    const Time both = loads.LinkTime(payload, InsideHop);
    const Time one = std::max(timeOf(true), timeOf(false));
    const Time busy = std::max(both + syncs * std::max(0.0, 2 - both / one), one + syncs);
    const double longer = busy / both;
    std::vector<StreamLeg> legs = loads.Legs(payload, InsideHop);
    for (auto& leg : legs)
    {
        leg.bytes = RoundedUp(leg.bytes.ToDouble() * longer);
        leg.cap = leg.cap * longer;
    }
    const auto outside =
        loads.Legs(payload, [](const ScheduleConnection& each, const SubChannel::Hop& hop) {
            return !InsideHop(each, hop);
        });
    legs.insert(legs.end(), outside.begin(), outside.end());
    return legs;
}

/**
 * Time of the first pass of @p payload bytes per chunk, stage after stage, each uncontended by the
 * other stages.
 */
Time
FirstPass(const DescribedLoads& loads, double payload)
{
    Time time;
    for (uint32_t stage = 0; stage < loads.Stages(); ++stage)
    {
        const auto isIn = [stage](const ScheduleConnection&, const SubChannel::Hop& hop) {
            return hop.stage == stage;
        };
        time += loads.LinkTime(payload, isIn) + loads.SlowestHop(isIn);
    }
    return time;
}

/** Number of passes of the outer loop. */
uint32_t
PassesIn(const std::vector<Loop>& loops)
{
    return std::accumulate(loops.begin(), loops.end(), 0U, [](uint32_t passes, const Loop& loop) {
        return passes + loop.repeat;
    });
}

/**
 * The legs, and as latency the start, the copy in, the first pass and the copy out, minus the time
 * of a pass in the legs. Where there are parts, a head's chunk consists of one part of each node.
 */
StreamShape
NvlsNetworkStreams(const AlgorithmInputs& in)
{
    const NvlsHeads heads(in);
    const CallDescription call = DescribeNvlsNetwork(in, heads);
    const DescribedLoads loads(in, call);
    const auto loops = LoopsOf(in, call);
    const double payload = in.call.bytes.ToDouble() / call.chunks / in.channels;
    const double first = loops.front().chunks.front().ToDouble();
    const double last = loops.back().chunks.front().ToDouble();
    const double parts = static_cast<double>(call.chunks) / call.subChannels;

    StreamShape shape;
    shape.legs = NetworkLegs(loads, payload, heads.Sync() * PassesIn(loops));
    shape.latency = call.call.startLatency + FirstPass(loads, first);
    if (in.call.op != CollectiveOp::AllGather)
    {
        shape.latency += RoundedUp(first * parts) / heads.CopyCap();
    }
    if (in.call.op != CollectiveOp::ReduceScatter)
    {
        shape.latency += RoundedUp(last * parts) / heads.CopyCap();
    }
    const Time pass = UncontendedTime(shape.legs, in.routing) * std::min(1.0, first / payload);
    shape.latency = std::max(shape.latency - pass, call.call.startLatency);
    return shape;
}

} // namespace

const CollectiveAlgorithm NVLS_NETWORK_ALGORITHM{
    Algorithm::Nvls,
    SupportsNvlsNetwork,
    [](const AlgorithmInputs& in) { return std::min(NvlsChannels(in), RingMaxChannels(in)); },
    [](const AlgorithmInputs& in) { return DescribeNvlsNetwork(in, NvlsHeads(in)); },
    NvlsNetworkStreams,
};

} // namespace weir
