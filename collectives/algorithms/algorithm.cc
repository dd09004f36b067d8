// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/algorithm.h"

#include "collectives/algorithms/protocol.h"
#include "collectives/channels/queue-pair.h"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string>

namespace weir
{

namespace
{

/** All algorithms; among equals the first is taken. One line for each. */
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
        &IMPORTED_ALGORITHM,
    };
    return algorithms;
}

} // namespace

std::vector<const CollectiveAlgorithm*>
FindAlgorithms(CollectiveOp op, const Communicator& communicator, std::optional<Algorithm> wanted)
{
    std::vector<const CollectiveAlgorithm*> found;
    for (const auto* each : AllAlgorithms())
    {
        // An imported schedule runs only where it is asked for.
        const bool isMeant =
            wanted ? *wanted == each->algorithm : each->algorithm != Algorithm::Imported;
        if (isMeant && each->supports(op, communicator))
        {
            found.push_back(each);
        }
    }
    if (found.empty())
    {
        throw std::invalid_argument(std::string("no algorithm ") +
                                    (wanted ? std::string("'") + ToString(*wanted) + "' " : "") +
                                    "for " + ToString(op) + " over these " +
                                    std::to_string(communicator.Size()) + " GPUs");
    }
    return found;
}

void
AddLeg(std::vector<StreamLeg>& legs, PathId path, Bytes bytes, Rate cap)
{
    for (auto& leg : legs)
    {
        if (leg.path == path)
        {
            leg.bytes += bytes;
            leg.cap = leg.cap + cap;
            leg.weight += 1;
            return;
        }
    }
    legs.push_back({path, bytes, cap, 1});
}

void
CountEqualChannels(StreamShape& shape)
{
    for (std::size_t i = 0; i < shape.pipelines.size(); ++i)
    {
        shape.pipelines[i].weight = shape.legs.at(i).weight;
    }
}

namespace
{

/** What a channel moves if its block could move @p block. */
Rate
CapOf(const AlgorithmInputs& in, Rate block)
{
    const double efficiency = ShapeOf(in.protocol).efficiency;
    const uint32_t nodes = in.communicator.nodes;
    double payload = std::numeric_limits<double>::infinity(); // GB/s
    if (in.protocol == Protocol::Ll)
    {
        payload = in.constants.LlMaxBandwidth(nodes) / in.channels;
    }
    else if (in.protocol == Protocol::Ll128)
    {
        const auto all = static_cast<double>(in.communicator.channels.size());
        payload = in.constants.Ll128ChannelBandwidth(nodes) * in.communicator.searchChannels / all;
    }
    const Rate cap = std::min(Rate::GBps(payload / efficiency), block);
    const Rate queuePair = QueuePairRate(in.connector.GetCluster().GetSpec().node);
    return nodes > 1 ? std::min(cap, queuePair * in.settings.queuePairs) : cap;
}

} // namespace

Rate
ChannelCap(const AlgorithmInputs& in)
{
    return CapOf(in, Rate::GBps(in.constants.BlockBandwidth()));
}

Rate
SliceCap(const AlgorithmInputs& in)
{
    const BlockTimes times = BlockTimesOf(in);
    return times.IsNothing() ? ChannelCap(in) : CapOf(in, times.Of(PrimitiveKind::Send).rate);
}

BlockTimes
BlockTimesOf(const AlgorithmInputs& in)
{
    return in.protocol == Protocol::Simple ? in.constants.GetBlockTimes() : BlockTimes();
}

Time
HopLatency(const NcclConstants& constants,
           const Communicator& communicator,
           Protocol protocol,
           const Connection& hop,
           const PathTable& paths)
{
    return HopLatency(constants, communicator, Algorithm::Ring, protocol, hop, paths);
}

Time
HopLatency(const NcclConstants& constants,
           const Communicator& communicator,
           Algorithm algorithm,
           Protocol protocol,
           const Connection& hop,
           const PathTable& paths)
{
    const Time step = constants.StepLatency(
        algorithm, hop.kind, protocol, communicator.nodes, communicator.gpusPerNode);
    return std::max(Time(), step - ReferencePropagation(hop.kind)) + paths.Latency(hop.path);
}

} // namespace weir
