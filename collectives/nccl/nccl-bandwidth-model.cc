// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/nccl-bandwidth-model.h"

#include <algorithm>
#include <limits>

namespace weir
{

namespace
{

/** What all cases look at. */
struct Case
{
    const NcclConstants& constants;
    const Communicator& communicator;
    CollectiveOp op;
    Protocol protocol;

    bool IsAllReduce() const
    {
        return op == CollectiveOp::AllReduce;
    }

    /** All-gather or reduce-scatter. */
    bool IsHalf() const
    {
        return op == CollectiveOp::AllGather || op == CollectiveOp::ReduceScatter;
    }

    const NcclVersion& Version() const
    {
        return constants.Version();
    }

    double Nodes() const
    {
        return communicator.nodes;
    }

    double Ranks() const
    {
        return communicator.Size();
    }

    double RingRatio() const
    {
        return Ranks() / NcclRingSteps(op, Ranks());
    }

    /** Ampere's bus was bound to 235 GB/s to 2.17. */
    double Bounded(double bus) const
    {
        const bool ampere =
            constants.ComputeCapability() >= 80 && constants.ComputeCapability() < 90;
        return ampere && !Version().AtLeast(18) ? std::min(bus, 235.0) : bus;
    }
};

/** GB/s of one channel where NCCL reckons with the slower of its graph's two speeds by nodes. */
double
ChannelSpeed(const GraphSpeed& graph, uint32_t nodes)
{
    return nodes <= 2 ? graph.intra : graph.inter;
}

double
RingBus(const Case& c)
{
    const Communicator& communicator = c.communicator;
    const double bus = c.Bounded(communicator.searchBandwidth);
    switch (c.protocol)
    {
    case Protocol::Ll: {
        const bool reduces = c.IsAllReduce() || c.op == CollectiveOp::Reduce;
        const double old = communicator.nodes > 1 || reduces ? 4 : 3;
        return std::min(c.constants.LlMaxBandwidth(communicator.nodes),
                        bus / (c.Version().AtLeast(19) ? 2 : old));
    }
    case Protocol::Ll128: {
        const bool alone = communicator.gpusPerNode < 2 && !c.Version().AtLeast(23);
        return std::min((alone ? 0.7 : 0.92) * bus,
                        communicator.searchChannels *
                            c.constants.Ll128ChannelBandwidth(communicator.nodes, c.op));
    }
    case Protocol::Simple:
        break;
    }
    return bus;
}

/** 2.7 bounded the sum of a tree's channels. */
double
TreeTotalOf2_7(const Case& c)
{
    const bool fast = c.constants.ComputeCapability() >= 80 && c.protocol == Protocol::Ll128;
    return c.communicator.nodes > 2 ? (fast ? 105 : 80) : (fast ? 130 : 110);
}

double
TreeBus(const Case& c)
{
    const uint32_t nodes = c.communicator.nodes;
    const GraphSpeed& graph = c.communicator.treeGraph;
    double bus = c.Bounded(graph.channels * ChannelSpeed(graph, nodes));
    bus = std::min(0.92 * bus, graph.channels * c.constants.TreeChannelBandwidth(nodes));
    if (!c.Version().AtLeast(8))
    {
        bus = std::min(bus, TreeTotalOf2_7(c));
    }
    if (c.protocol == Protocol::Ll)
    {
        bus = std::min(bus / 3.8, c.constants.LlMaxBandwidth(nodes));
    }
    else if (c.protocol == Protocol::Ll128)
    {
        bus = std::min(bus * (nodes == 1 ? 7.0 / 9 : 120.0 / 128),
                       graph.channels * c.constants.TreeLl128ChannelBandwidth(nodes));
    }
    return bus * (graph.plainTree ? 0.85 : 1);
}

double
CollNetDirect(const Case& c)
{
    const GraphSpeed& graph = c.communicator.collNetGraph;
    const double perNode = c.communicator.gpusPerNode;
    if (c.IsHalf())
    {
        // Network plug-ins gather and scatter from 2.20 on (ncclCollNet_v8).
        return c.Version().AtLeast(20) ? perNode * std::min(graph.intra, 0.9 * graph.inter) : 0;
    }
    const double share = perNode / graph.channels;
    const double bus = graph.channels * graph.intra / (share - (share - 1) / 2);
    return bus * (c.constants.ComputeCapability() >= 90 ? 0.85 : 1) / 2;
}

/** GB/s of one channel of NVLS or NVLSTree. */
double
NvlsSpeed(const Case& c, bool tree)
{
    const GraphSpeed& graph = c.communicator.nvlsGraph;
    const uint32_t nodes = c.communicator.nodes;
    // On one node nothing crosses the network, so it bounds nothing (measured: NCCL 2.26 to 2.30 on
    // 8 H100 take NVLS from 2 MB on).
    const double inter = nodes == 1 ? std::numeric_limits<double>::infinity() : graph.inter;
    if (!c.Version().AtLeast(28))
    {
        return std::min(graph.intra, tree && nodes > 2 ? inter / 2 : inter);
    }
    const double perNode = c.communicator.gpusPerNode;
    double intra =
        graph.intra * c.constants.NvlsEfficiency() * (graph.channels - 1) / graph.channels;
    intra *= c.IsAllReduce() ? 2 : (perNode - 1) / perNode;
    const double speed = std::min(intra, tree && nodes <= 2 ? 2 * inter : inter);
    return tree ? std::min(speed, c.constants.NvlsTreeChannelBandwidth(nodes)) : speed;
}

double
Nvls(const Case& c, bool tree)
{
    const Communicator& communicator = c.communicator;
    const bool many = communicator.nodes > 1;
    const bool reduced = communicator.collNetGraph.channels > 0;
    // NVLS gathers and scatters through the network's switches from 2.27 on (release notes).
    const bool older = many && c.IsHalf() && !c.Version().AtLeast(27);
    if (communicator.nvlsGraph.channels < 2 || (tree ? !many : many && !reduced) ||
        (tree && !c.IsAllReduce()) || older)
    {
        return 0;
    }
    const double bus = communicator.nvlsGraph.channels * NvlsSpeed(c, tree);
    if (c.IsHalf())
    {
        return bus;
    }
    if (c.Version().AtLeast(28))
    {
        return bus * c.RingRatio();
    }
    const bool first = tree && !c.Version().AtLeast(19);
    return bus * (first ? 0.70 * c.Nodes() / (2 * (c.Nodes() - 1)) : 5.0 / 6);
}

} // namespace

double
NcclRingSteps(CollectiveOp op, double n)
{
    switch (op)
    {
    case CollectiveOp::AllReduce:
        return 2 * (n - 1);
    case CollectiveOp::AllGather:
    case CollectiveOp::ReduceScatter:
        return n - 1;
    default:
        break;
    }
    return n;
}

double
NcclAlgorithmBandwidth(const NcclConstants& constants,
                       const Communicator& communicator,
                       Algorithm algorithm,
                       CollectiveOp op,
                       Protocol protocol)
{
    const Case c{constants, communicator, op, protocol};
    const bool off = protocol == Protocol::Ll128 && !communicator.ll128;
    const bool known = c.IsAllReduce() || c.IsHalf() ||
                       (algorithm == Algorithm::Ring &&
                        (op == CollectiveOp::Broadcast || op == CollectiveOp::Reduce));
    if (off || !known || !HasProtocol(algorithm, protocol))
    {
        return 0;
    }
    switch (algorithm)
    {
    case Algorithm::Ring:
        return RingBus(c) * c.RingRatio();
    case Algorithm::Tree:
        return c.IsAllReduce() ? TreeBus(c) / 2 : 0;
    case Algorithm::CollNetDirect:
        return communicator.nodes > 1 && communicator.collNetGraph.channels > 0 ? CollNetDirect(c)
                                                                                : 0;
    case Algorithm::CollNetChain:
        return communicator.nodes > 1 && c.IsAllReduce()
                   ? communicator.collNetGraph.channels * communicator.collNetGraph.intra / 2
                   : 0;
    case Algorithm::Nvls:
    case Algorithm::NvlsTree:
        return Nvls(c, algorithm == Algorithm::NvlsTree);
    case Algorithm::Pat:
        return c.IsHalf() && communicator.gpusPerNode == 1 && constants.Version().AtLeast(23)
                   ? 0.75 * communicator.treeGraph.channels *
                         ChannelSpeed(communicator.treeGraph, communicator.nodes)
                   : 0;
    case Algorithm::PointToPoint:
    case Algorithm::Imported:
    case Algorithm::DimensionWise:
        break;
    }
    return 0;
}

} // namespace weir
