// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/algorithm.h"

#include "collectives/algorithms/call-description.h"
#include "collectives/algorithms/protocol.h"
#include "collectives/channels/message-cost.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace weir
{

namespace
{

/** All algorithms, one per line. The first one wins a tie. */
const std::vector<const CollectiveAlgorithm*>&
AllAlgorithms()
{
    static const std::vector<const CollectiveAlgorithm*> algorithms{
        &RING_ALGORITHM,
        &RING_PIPELINE_ALGORITHM,
        &TREE_ALGORITHM,
        &PAT_ALGORITHM,
        &POINT_TO_POINT_ALGORITHM,
        &NVLS_ALGORITHM,
        &NVLS_NETWORK_ALGORITHM,
        &NVLS_TREE_ALGORITHM,
        &COLLNET_DIRECT_ALGORITHM,
        &COLLNET_CHAIN_ALGORITHM,
        &SYMMETRIC_ALGORITHM,
        &IMPORTED_ALGORITHM,
        &DIMENSION_WISE_ALGORITHM,
    };
    return algorithms;
}

/** The first algorithm of that name. */
const CollectiveAlgorithm&
AlgorithmOf(Algorithm name)
{
    const auto& all = AllAlgorithms();
    return **std::find_if(all.begin(), all.end(), [name](const CollectiveAlgorithm* each) {
        return each->algorithm == name;
    });
}

} // namespace

std::vector<const CollectiveAlgorithm*>
FindAlgorithms(const AlgorithmInputs& in)
{
    const CollectiveOp op = in.call.op;
    const Communicator& communicator = in.communicator;
    std::optional<Algorithm> wanted = in.call.overrides.algorithm;
    for (const auto* each : AllAlgorithms())
    {
        if (!wanted && each->isPreferred != nullptr && each->isPreferred(in))
        {
            wanted = each->algorithm;
        }
    }
    std::vector<const CollectiveAlgorithm*> found;
    for (const auto* each : AllAlgorithms())
    {
        const bool isMeant = wanted ? *wanted == each->algorithm : RunsByDefault(each->algorithm);
        if (isMeant && each->supports(op, communicator))
        {
            found.push_back(each);
        }
    }
    if (found.empty())
    {
        std::string others;
        for (const auto* each : AllAlgorithms())
        {
            if (each->algorithm != Algorithm::Imported && each->supports(op, communicator) &&
                (each->isPossible == nullptr || each->isPossible(in)))
            {
                others += std::string(others.empty() ? "" : ", ") + ToString(each->algorithm);
            }
        }
        throw std::invalid_argument(std::string("found no algorithm ") +
                                    (wanted ? std::string("'") + ToString(*wanted) + "' " : "") +
                                    "for " + ToString(op) + " over these " +
                                    std::to_string(communicator.Size()) + " GPUs, expected " +
                                    (others.empty() ? "another operation" : "one of: " + others));
    }
    return found;
}

StreamShape
StreamsOf(const CollectiveAlgorithm& algorithm, const AlgorithmInputs& inputs)
{
    return algorithm.streams ? algorithm.streams(inputs)
                             : PipelinesOf(inputs, algorithm.describe(inputs));
}

Schedule
ScheduleOf(const CollectiveAlgorithm& algorithm, const AlgorithmInputs& inputs)
{
    return ScheduleOf(inputs, algorithm.describe(inputs));
}

void
AddLeg(std::vector<StreamLeg>& legs, const StreamLeg& leg, const Routing& routing)
{
    for (auto& each : legs)
    {
        if (routing.HaveSameLinks(each.route, leg.route))
        {
            each.bytes += leg.bytes;
            each.cap = each.cap + leg.cap;
            each.weight += leg.weight;
            return;
        }
    }
    legs.push_back(leg);
}

Rate
ChannelCap(const AlgorithmInputs& in, Rate block)
{
    const double efficiency = ShapeOf(in.protocol).efficiency;
    const uint32_t nodes = in.communicator.nodes;
    double payload = std::numeric_limits<double>::infinity(); // GB/s
    if (in.protocol == Protocol::Ll)
    {
        payload = in.times.Costs().RateOf(NodeCostKind::LlBlockRate).ToGBps();
    }
    else if (in.protocol == Protocol::Ll128)
    {
        payload = in.times.Costs().RateOf(NodeCostKind::Ll128BlockRate).ToGBps();
    }
    const Rate cap = std::min(Rate::GBps(payload / efficiency), block);
    const Rate queuePair = in.times.Costs().RateOf(NodeCostKind::QueuePairRate);
    const double each = in.settings.queuePairs * in.connector.PortsPerNic();
    return nodes > 1 ? std::min(cap, queuePair * each) : cap;
}

Rate
ChannelCap(const AlgorithmInputs& in)
{
    return ChannelCap(in, Rate::GBps(in.constants.BlockBandwidth()));
}

Rate
SliceCap(const AlgorithmInputs& in)
{
    const BlockTimes times = BlockTimesOf(in);
    return times.IsNothing() ? ChannelCap(in) : ChannelCap(in, times.Of(PrimitiveKind::Send).rate);
}

BlockTimes
BlockTimesOf(const AlgorithmInputs& in)
{
    return in.protocol == Protocol::Simple ? in.constants.GetBlockTimes() : BlockTimes();
}

Time
CallLatency(const AlgorithmInputs& in, Algorithm algorithm)
{
    if (!AlgorithmOf(algorithm).hasKernelTimes)
    {
        return in.constants.BaseLatency(algorithm, in.protocol);
    }
    // A kernel ends when its last stores are acknowledged.
    Time farther;
    for (const auto& hop : in.communicator.channels.front().hops)
    {
        if (hop.kind == ConnectionKind::Pcie)
        {
            farther =
                std::max(farther, in.routing.Latency(hop.route) - ReferencePropagation(hop.kind));
        }
    }
    // With one GPU per node all stores of a GPU go over PCIe, to its host's buffers.
    const bool oneGpuPerNode = in.communicator.gpusPerNode == 1 && in.communicator.nodes > 1;
    return in.times.Call(algorithm,
                         in.protocol,
                         oneGpuPerNode ? ConnectionKind::Pcie : InnerKind(in.communicator)) +
           farther * 2;
}

Time
HopLatency(const AlgorithmInputs& in,
           Algorithm algorithm,
           const Connection& hop,
           Bytes slice,
           uint32_t senders)
{
    const Communicator& group = in.communicator;
    const Time step =
        AlgorithmOf(algorithm).hasKernelTimes
            ? in.times.Of(algorithm, in.protocol, hop.kind).Beside(slice, ChannelCap(in))
            : in.constants.StepLatency(
                  algorithm, hop.kind, in.protocol, group.nodes, group.gpusPerNode);
    const Time message = hop.kind == ConnectionKind::Network
                             ? MessageCost(in.times.Costs()).Latency(in.protocol, slice, senders)
                             : Time();
    return std::max(Time(), step - ReferencePropagation(hop.kind)) + in.routing.Latency(hop.route) +
           message;
}

uint32_t
RingMaxChannels(const AlgorithmInputs& inputs)
{
    return static_cast<uint32_t>(inputs.communicator.channels.size());
}

} // namespace weir
