// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/tree/tree-shape.h"

#include "collectives/channels/message-cost.h"
#include "collectives/schedule/message-split.h"

#include <algorithm>
#include <cmath>

namespace weir
{

namespace
{

/** From the rank that is the farthest from the root, by the connections of one direction. */
TreePath
DeepestPath(const AlgorithmInputs& in, const TreeChannel& tree, Connection TreePlace::*direction)
{
    std::vector<Time> hops; // by rank, between it and its parent
    for (const auto& place : tree.places)
    {
        const bool isRoot = place.parent == TreePlace::NO_RANK;
        hops.push_back(isRoot ? Time() : TreeHopLatency(in, place.*direction));
    }
    TreePath path;
    uint32_t deepest = 0;
    for (uint32_t rank = 0; rank < tree.places.size(); ++rank)
    {
        Time latency;
        for (uint32_t at = rank; at != TreePlace::NO_RANK; at = tree.places[at].parent)
        {
            latency += hops[at];
        }
        if (latency > path.latency)
        {
            path.latency = latency;
            deepest = rank;
        }
    }
    for (uint32_t at = deepest; tree.places[at].parent != TreePlace::NO_RANK;
         at = tree.places[at].parent)
    {
        path.hops.push_back((tree.places[at].*direction).route);
    }
    return path;
}

/** Of a connection over the network. */
MessageCost::Train
TrainOver(const AlgorithmInputs& in, const Connection& hop)
{
    const Bytes share = DivideUp(in.call.bytes, in.channels);
    const Bytes chunk = std::min(TreeChunking(in).chunk, share);
    const auto messages =
        static_cast<uint64_t>(DivideUp(share, std::max<int64_t>(chunk.Count(), 1)).Count());
    return {
        WireBytes(in.protocol, chunk), messages, in.senders, in.routing.BottleneckRate(hop.route)};
}

} // namespace

Chunking
TreeChunking(const AlgorithmInputs& inputs)
{
    constexpr Bytes LARGE = Bytes::KiB(128);
    constexpr Bytes SMALL = Bytes::KiB(32);
    Chunking chunking = PipelineChunking(inputs.protocol, inputs.settings.simpleBuffer);
    const auto nodes = inputs.communicator.nodes;
    const double perNode = static_cast<double>(inputs.communicator.Size()) / nodes;
    const double steps = 1 + std::floor(std::log2(nodes)) + 0.1 * perNode;
    const auto chunks = [&] {
        return static_cast<double>(inputs.call.bytes.Count() /
                                   (chunking.chunk * inputs.channels).Count());
    };
    const bool halves = inputs.protocol == Protocol::Ll128;
    while (halves && chunks() < 64 * steps / perNode && chunking.chunk > LARGE)
    {
        chunking.chunk = Bytes(chunking.chunk.Count() / 2);
    }
    while (halves && chunks() < 16 * steps / perNode && chunking.chunk > SMALL)
    {
        chunking.chunk = Bytes(chunking.chunk.Count() / 2);
    }
    chunking.slices = PassesOf(inputs.protocol, chunking.chunk);
    chunking.slots *= chunking.slices;
    return chunking;
}

Rate
TreeBlockRate(const AlgorithmInputs& inputs)
{
    const uint32_t nodes = inputs.communicator.nodes;
    return nodes == 1 ? Rate::Infinite()
                      : inputs.times.TreeBlockRate(inputs.protocol, nodes) *
                            (1 / ShapeOf(inputs.protocol).efficiency);
}

Time
TreeHopLatency(const AlgorithmInputs& inputs, const Connection& hop)
{
    const Bytes chunk =
        std::min(TreeChunking(inputs).chunk, DivideUp(inputs.call.bytes, inputs.channels));
    // Within a node a pass follows the other; a chunk crosses the network as one message.
    const uint32_t slices =
        hop.kind == ConnectionKind::Network ? 1 : PassesOf(inputs.protocol, chunk);
    const Bytes wire = WireBytes(inputs.protocol, DivideUp(chunk, slices));
    const Time latency = HopLatency(inputs, Algorithm::Tree, hop, wire);
    if (hop.kind != ConnectionKind::Network)
    {
        return latency;
    }
    return latency +
           MessageCost(inputs.times.Costs()).Together(inputs.protocol, TrainOver(inputs, hop));
}

double
TreeWireFactor(const AlgorithmInputs& inputs, const Connection& hop)
{
    // Under LL and LL128 messages lie elsewhere or are small: what was measured is of Simple.
    if (hop.kind != ConnectionKind::Network || inputs.protocol != Protocol::Simple ||
        inputs.times.Costs().TimeOf(NodeCostKind::MessageHandling) == Time())
    {
        return 1;
    }
    return MessageCost(inputs.times.Costs()).WireFactor(TrainOver(inputs, hop));
}

TreePath
SlowestTreePath(const AlgorithmInputs& inputs, const TreeChannel& tree)
{
    TreePath path = DeepestPath(inputs, tree, &TreePlace::toParent);
    path.upHops = static_cast<uint32_t>(path.hops.size());
    TreePath down = DeepestPath(inputs, tree, &TreePlace::fromParent);
    std::reverse(down.hops.begin(), down.hops.end());
    path.latency += down.latency;
    path.hops.insert(path.hops.end(), down.hops.begin(), down.hops.end());
    return path;
}

std::vector<std::vector<RouteId>>
TreeStages(const TreeChannel& tree, const TreePath& path)
{
    std::vector<std::vector<RouteId>> stages(path.hops.size());
    const uint32_t last = static_cast<uint32_t>(stages.size()) - 1;
    for (const auto& place : tree.places)
    {
        uint32_t depth = 0;
        for (uint32_t above = place.parent; above != TreePlace::NO_RANK;
             above = tree.places[above].parent)
        {
            ++depth;
        }
        if (depth > 0)
        {
            stages[path.upHops - std::min(depth, path.upHops)].push_back(place.toParent.route);
            stages[std::min(path.upHops + depth - 1, last)].push_back(place.fromParent.route);
        }
    }
    return stages;
}

} // namespace weir
