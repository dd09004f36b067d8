// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/nccl-tuning.h"

#include "collectives/nccl/kernel-times.h"
#include "collectives/schedule/message-split.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

namespace weir
{

namespace
{

/**
 * Steps of a ring: 2(n - 1) for all-reduce, n - 1 for all-gather and reduce-scatter, n for
 * broadcast and reduce.
 */
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

bool
IsAllReduce(const NcclCase& c)
{
    return c.op == CollectiveOp::AllReduce;
}

/** All-gather or reduce-scatter. */
bool
IsHalf(const NcclCase& c)
{
    return c.op == CollectiveOp::AllGather || c.op == CollectiveOp::ReduceScatter;
}

double
RingRatio(const NcclCase& c)
{
    const double ranks = c.communicator.Size();
    return ranks / NcclRingSteps(c.op, ranks);
}

/**
 * Speed of one channel, GB/s: NCCL uses the intra-node speed up to two nodes, and the inter-node
 * speed beyond.
 */
double
ChannelSpeed(const GraphSpeed& graph, uint32_t nodes)
{
    return nodes <= 2 ? graph.intra : graph.inter;
}

double
RingBus(const NcclCase& c)
{
    const Communicator& communicator = c.communicator;
    const uint32_t nodes = communicator.nodes;
    const bool reduces = IsAllReduce(c) || c.op == CollectiveOp::Reduce;
    const double bus =
        std::min(communicator.searchBandwidth, c.constants.ValueOf(NcclTable::BusBandwidth));
    switch (c.protocol)
    {
    case Protocol::Ll:
        return std::min(
            c.constants.LlMaxBandwidth(nodes),
            bus / c.constants.ValueOf(NcclTable::RingLlDivisor, nodes > 1 || reduces ? 1 : 0));
    case Protocol::Ll128:
        return std::min(c.constants.ValueOf(NcclTable::RingLl128Efficiency,
                                            communicator.gpusPerNode > 1 ? 1 : 0) *
                            bus,
                        communicator.searchChannels * c.constants.Ll128ChannelBandwidth(c.op));
    case Protocol::Simple:
        break;
    }
    return bus;
}

double
TreeBus(const NcclCase& c)
{
    const uint32_t nodes = c.communicator.nodes;
    const GraphSpeed& graph = c.communicator.treeGraph;
    const auto valueOf = [&](NcclTable table) { return c.constants.ValueOf(table, nodes - 1); };
    double bus = std::min(graph.channels * ChannelSpeed(graph, nodes),
                          c.constants.ValueOf(NcclTable::BusBandwidth));
    bus = std::min(0.92 * bus, graph.channels * valueOf(NcclTable::Tree));
    bus = std::min(
        bus,
        valueOf(c.protocol == Protocol::Ll128 ? NcclTable::TreeLl128Total : NcclTable::TreeTotal));
    if (c.protocol == Protocol::Ll)
    {
        bus = std::min(bus / 3.8, c.constants.LlMaxBandwidth(nodes));
    }
    else if (c.protocol == Protocol::Ll128)
    {
        bus = std::min(bus * (nodes == 1 ? 7.0 / 9 : 120.0 / 128),
                       graph.channels * valueOf(NcclTable::TreeLl128));
    }
    return bus * (graph.pattern == TreePattern::Plain ? 0.85 : 1);
}

double
CollNetDirect(const NcclCase& c)
{
    const GraphSpeed& graph = c.communicator.collNetGraph;
    const double perNode = c.communicator.gpusPerNode;
    if (IsHalf(c))
    {
        // Network plug-ins have all-gather and reduce-scatter from 2.20 on (ncclCollNet_v8).
        return c.constants.Version().AtLeast(20)
                   ? perNode * std::min(graph.intra, 0.9 * graph.inter)
                   : 0;
    }
    const double share = perNode / graph.channels;
    const double bus = graph.channels * graph.intra / (share - (share - 1) / 2);
    return bus * c.constants.ValueOf(NcclTable::CollNetDirectEfficiency) / 2;
}

/** Speed of one channel of NVLS or NVLSTree, GB/s. */
double
NvlsSpeed(const NcclCase& c, bool tree)
{
    const GraphSpeed& graph = c.communicator.nvlsGraph;
    const uint32_t nodes = c.communicator.nodes;
    // On one node no byte crosses the network, so the network is no bound (measured: NCCL 2.26 to
    // 2.30 on 8 H100 choose NVLS from 2 MB on).
    const double inter = nodes == 1 ? std::numeric_limits<double>::infinity() : graph.inter;
    if (!c.constants.Version().AtLeast(28))
    {
        return std::min(graph.intra, tree && nodes > 2 ? inter / 2 : inter);
    }
    const double perNode = c.communicator.gpusPerNode;
    double intra = graph.intra * c.constants.ValueOf(NcclTable::NvlsEfficiency) *
                   (graph.channels - 1) / graph.channels;
    intra *= IsAllReduce(c) ? 2 : (perNode - 1) / perNode;
    const double speed = std::min(intra, tree && nodes <= 2 ? 2 * inter : inter);
    return tree ? std::min(speed, c.constants.ValueOf(NcclTable::NvlsTree, nodes - 1)) : speed;
}

double
Nvls(const NcclCase& c, bool tree)
{
    const Communicator& communicator = c.communicator;
    const double nodes = communicator.nodes;
    const bool many = nodes > 1;
    const bool reduced = communicator.collNetGraph.channels > 0;
    // NVLS has all-gather and reduce-scatter through the network's switches from 2.27 on (release
    // notes).
    // NVLSTree came with 2.18, after NVLS.
    const bool older = !c.constants.Version().AtLeast(tree ? 18 : 17) ||
                       (many && IsHalf(c) && !c.constants.Version().AtLeast(27));
    if (communicator.nvlsGraph.channels < 2 || (tree ? !many : many && !reduced) ||
        (tree && !IsAllReduce(c)) || older)
    {
        return 0;
    }
    const double bus = communicator.nvlsGraph.channels * NvlsSpeed(c, tree);
    if (IsHalf(c))
    {
        return bus;
    }
    if (c.constants.Version().AtLeast(28))
    {
        return bus * RingRatio(c);
    }
    const bool first = tree && !c.constants.Version().AtLeast(19);
    return bus * (first ? 0.70 * nodes / (2 * (nodes - 1)) : 5.0 / 6);
}

} // namespace

double
NcclAlgorithmBandwidth(const NcclCase& c)
{
    const auto& [constants, communicator, algorithm, op, protocol] = c;
    const bool off = protocol == Protocol::Ll128 && !communicator.ll128;
    const bool known = IsAllReduce(c) || IsHalf(c) ||
                       (algorithm == Algorithm::Ring &&
                        (op == CollectiveOp::Broadcast || op == CollectiveOp::Reduce));
    if (off || !known || !HasProtocol(algorithm, protocol))
    {
        return 0;
    }
    switch (algorithm)
    {
    case Algorithm::Ring:
        return RingBus(c) * RingRatio(c);
    case Algorithm::Tree:
        return IsAllReduce(c) ? TreeBus(c) / 2 : 0;
    case Algorithm::CollNetDirect:
        return communicator.nodes > 1 && communicator.collNetGraph.channels > 0 ? CollNetDirect(c)
                                                                                : 0;
    case Algorithm::CollNetChain:
        return communicator.nodes > 1 && IsAllReduce(c)
                   ? communicator.collNetGraph.channels * communicator.collNetGraph.intra / 2
                   : 0;
    case Algorithm::Nvls:
    case Algorithm::NvlsTree:
        return Nvls(c, algorithm == Algorithm::NvlsTree);
    case Algorithm::Pat:
        return IsHalf(c) && communicator.gpusPerNode == 1 && constants.Version().AtLeast(23)
                   ? 0.75 * communicator.treeGraph.channels *
                         ChannelSpeed(communicator.treeGraph, communicator.nodes)
                   : 0;
    default:
        break;
    }
    return 0;
}

namespace
{

/** Whether all channels visit the GPUs in the same order (NCCL's sameChannels). */
bool
HasOneOrder(const Communicator& communicator)
{
    const auto& channels = communicator.channels;
    return std::all_of(channels.begin(), channels.end(), [&](const RingChannel& channel) {
        return channel.order == channels.front().order;
    });
}

/** Broadcast or reduce: one step if all channels have the same order, else one per rank. */
Time
ChainLatency(const NcclCase& c)
{
    const auto& [constants, communicator, algorithm, op, protocol] = c;
    const ConnectionKind kind =
        communicator.nodes > 1 ? ConnectionKind::Network : InnerKind(communicator);
    const Time base = constants.BaseLatency(Algorithm::Ring, protocol);
    if (HasOneOrder(communicator))
    {
        return base + constants.HardwareLatency(Algorithm::Ring, kind, protocol);
    }
    const Algorithm table = protocol == Protocol::Simple ? Algorithm::Tree : Algorithm::Ring;
    return base + constants.HardwareLatency(table, kind, protocol) * communicator.Size();
}

} // namespace

Time
NcclLatency(const NcclCase& c)
{
    const auto& [constants, communicator, algorithm, op, protocol] = c;
    const NcclVersion& version = constants.Version();
    const uint32_t nodes = communicator.nodes;
    const double perNode = communicator.gpusPerNode;
    const Time base = constants.BaseLatency(algorithm, protocol);
    const Time inner = constants.StepLatency(
        algorithm, InnerKind(communicator), protocol, nodes, communicator.gpusPerNode);
    const Time outer = constants.StepLatency(
        algorithm, ConnectionKind::Network, protocol, nodes, communicator.gpusPerNode);
    const double levels = FloorLog2(nodes);
    switch (algorithm)
    {
    case Algorithm::Tree:
        return base + (inner * (perNode - 1) + outer * levels) * 2;
    case Algorithm::CollNetDirect: {
        const Time peer = constants.CollNetPeerLatency();
        return base + (inner * std::min(1.0, perNode - 1) + peer * (perNode - 1)) * 2 + outer;
    }
    case Algorithm::CollNetChain:
        return base + inner * (2 * (perNode - 1)) + outer;
    case Algorithm::Nvls:
        return nodes > 1 ? base + inner + outer : base + inner;
    case Algorithm::NvlsTree:
        return base + inner + outer * (version.AtLeast(19) ? 2 * levels : 2.0 * (nodes - 1));
    case Algorithm::Pat:
        return base + outer * (levels / 3.5) + Time::Microseconds(2.8) * communicator.Size();
    default:
        break;
    }
    if (op == CollectiveOp::Broadcast || op == CollectiveOp::Reduce)
    {
        return ChainLatency(c);
    }
    double crossings = 0;
    if (nodes > 1)
    {
        const bool whole = version.AtLeast(12) && !version.AtLeast(23);
        crossings = op == CollectiveOp::AllReduce ? 2.0 * (whole ? nodes : nodes - 1) : nodes - 1;
    }
    // Up to 2.22 a ring of two nodes with one GPU each has more crossings than steps.
    return base + inner * NcclRingSteps(op, communicator.Size()) + outer * crossings -
           inner * crossings;
}

namespace
{

/** Whether NCCL multiplies the bandwidth by NcclConstants::TreeSizeCorrection. */
bool
HasSizeCorrection(const NcclCase& c)
{
    return IsAllReduce(c) &&
           (c.algorithm == Algorithm::Tree ||
            (c.algorithm == Algorithm::NvlsTree && c.constants.Version().AtLeast(29) &&
             c.constants.ComputeCapability() >= 100 && c.constants.Cpu() != HostCpu::Arm));
}

/**
 * Factor of the latency of a multi-node Simple ring with at least 64 bytes per rank and channel.
 */
double
RingLatencyFactor(const NcclConstants& constants, const Communicator& communicator, Bytes bytes)
{
    const auto channels = static_cast<double>(communicator.channels.size());
    const bool large = bytes.ToDouble() / (channels * communicator.Size()) >= 64;
    return communicator.nodes > 1 && large ? constants.ValueOf(NcclTable::RingLatencyFactor) : 1;
}

} // namespace

Time
NcclTime(const NcclCase& c, Bytes bytes)
{
    double bandwidth = NcclAlgorithmBandwidth(c);
    if (bandwidth <= 0)
    {
        return Time::Infinite();
    }
    Time latency = NcclLatency(c);
    if (HasSizeCorrection(c))
    {
        bandwidth *= c.constants.TreeSizeCorrection(c.protocol, bytes);
    }
    if (c.algorithm == Algorithm::Ring && c.protocol == Protocol::Simple && IsAllReduce(c))
    {
        latency = latency * RingLatencyFactor(c.constants, c.communicator, bytes);
    }
    return latency + bytes / Rate::GBps(bandwidth);
}

bool
AllowsLl128(const NcclConstants& constants,
            const Communicator& communicator,
            Routing& routing,
            const NodeSpec& node)
{
    constexpr uint32_t SINCE = 5;
    if (constants.ComputeCapability() < 70 || !constants.Version().AtLeast(SINCE))
    {
        return false;
    }
    constexpr uint32_t OVER_RELAYS = 90; // compute capability
    const bool overRelays = constants.ComputeCapability() >= OVER_RELAYS;
    const NicReach direct = DirectReach(constants, node);
    const auto bears = [&](const Connection& hop) {
        std::vector<LinkId> path;
        bool isRelayed = false;
        for (const PathLink& each : routing.Links(hop.route))
        {
            const LinkKind kind = routing.GetTopology().GetLink(each.link).kind;
            isRelayed |= hop.kind == ConnectionKind::Network && kind == LinkKind::NvLink;
            path.push_back(each.link);
        }
        return hop.kind != ConnectionKind::Pcie && (overRelays || !isRelayed) &&
               ReachOf(routing.GetTopology(), path) <= direct;
    };
    const auto& channels = communicator.channels;
    return std::all_of(channels.begin(), channels.end(), [&](const auto& channel) {
        return std::all_of(channel.hops.begin(), channel.hops.end(), bears);
    });
}

namespace
{

bool
IsCollNet(Algorithm algorithm)
{
    return algorithm == Algorithm::CollNetDirect || algorithm == Algorithm::CollNetChain;
}

bool
IsNvls(Algorithm algorithm)
{
    return algorithm == Algorithm::Nvls || algorithm == Algorithm::NvlsTree;
}

/** Maximum threads of a block (maxThreads). */
int64_t
MaxThreads(const Communicator& communicator, Algorithm algorithm, Protocol protocol)
{
    constexpr double NARROW_RING = 12.0; // GB/s of all channels, tuning.cc's PCI_BW
    if (IsCollNet(algorithm) || IsNvls(algorithm) || algorithm == Algorithm::Pat ||
        protocol == Protocol::Ll128)
    {
        return 640;
    }
    const bool narrow = algorithm == Algorithm::Ring && protocol == Protocol::Simple &&
                        communicator.searchBandwidth <= NARROW_RING;
    return narrow ? 256 : 512;
}

constexpr int64_t MIN_PER_COLLNET_THREAD = 512; // bytes

/** Minimum bytes per thread (threadThresholds). */
int64_t
MinPerThread(const Communicator& communicator, Algorithm algorithm, Protocol protocol)
{
    if (IsCollNet(algorithm))
    {
        return MIN_PER_COLLNET_THREAD;
    }
    switch (protocol)
    {
    case Protocol::Ll:
        return algorithm == Algorithm::Ring ? 8 * static_cast<int64_t>(communicator.Size()) : 8;
    case Protocol::Ll128:
        return 8;
    case Protocol::Simple:
        break;
    }
    return 64;
}

/**
 * Whether NCCL_ALGO leaves NCCL @p algorithm for @p op. Before 2.24, which made lists strict, it
 * disabled rings for all-reduce only, so that programs ran with NCCL_ALGO=TREE (tuning.cc).
 */
bool
IsEnabled(const NcclConstants& constants,
          const NcclFilter& filter,
          CollectiveOp op,
          Algorithm algorithm)
{
    constexpr uint32_t STRICT_SINCE = 24;
    const bool isKept = algorithm == Algorithm::Ring && op != CollectiveOp::AllReduce &&
                        !constants.Version().AtLeast(STRICT_SINCE);
    return isKept || filter.Allows(op, algorithm);
}

/**
 * The channels of CollNet Direct (enqueue.cc, topoGetAlgoInfo): one by one fewer while a thread of
 * any head would have less than a threshold, which halves below 24, 12, 6, ... channels.
 */
int64_t
CollNetDirectChannels(int64_t bytes, int64_t threads, int64_t heads, int64_t max)
{
    int64_t min = MIN_PER_COLLNET_THREAD;
    int64_t channels = max;
    for (int64_t few = 16; few >= 1 && bytes < channels * threads * heads * min; few /= 2)
    {
        while (channels > few && bytes < channels * threads * heads * min)
        {
            min /= channels == few + few / 2 ? 2 : 1;
            --channels;
        }
    }
    return channels;
}

} // namespace

KernelWidth
NcclKernelWidth(const NcclCase& c, Bytes bytes, uint32_t max)
{
    const auto& [constants, communicator, algorithm, op, protocol] = c;
    constexpr int64_t WARPS = 128; // the number of threads stays a multiple of this
    int64_t threads = MaxThreads(communicator, algorithm, protocol);
    int64_t channels = max;
    if (algorithm == Algorithm::CollNetDirect)
    {
        const uint32_t heads =
            std::min(communicator.collNetGraph.channels, communicator.gpusPerNode);
        channels = CollNetDirectChannels(bytes.Count(), threads, heads, max);
    }
    else if (!IsNvls(algorithm) && algorithm != Algorithm::Pat) // which has no threads in tuning.cc
    {
        const int64_t min = MinPerThread(communicator, algorithm, protocol);
        channels = std::clamp<int64_t>(bytes.Count() / (threads * min), 1, max);
        while (threads % WARPS == 0 && bytes.Count() < channels * threads * min)
        {
            threads /= 2;
        }
    }
    if (!IsNvls(algorithm) && !IsCollNet(algorithm))
    {
        const auto ofChannel = static_cast<int64_t>(
            constants.ValueOf(NcclTable::ChannelTraffic, protocol == Protocol::Ll ? 0 : 1));
        const int64_t traffic = bytes.Count() * (op == CollectiveOp::AllReduce ? 2 : 1);
        channels = std::clamp<int64_t>((traffic + ofChannel - 1) / ofChannel, 1, channels);
    }
    return {static_cast<uint32_t>(channels), static_cast<uint32_t>(threads)};
}

std::vector<NcclEstimate>
NcclEstimates(const NcclConstants& constants,
              const Communicator& communicator,
              const CollectiveCall& call,
              const std::vector<const CollectiveAlgorithm*>& candidates,
              const NcclFilter& filter)
{
    std::vector<NcclEstimate> estimates;
    for (const auto* each : candidates)
    {
        if (!call.overrides.algorithm && !IsEnabled(constants, filter, call.op, each->algorithm))
        {
            continue;
        }
        for (Protocol protocol : {Protocol::Ll, Protocol::Ll128, Protocol::Simple})
        {
            if (each->choose == nullptr && HasProtocol(each->algorithm, protocol) &&
                (call.overrides.protocol ? *call.overrides.protocol == protocol
                                         : filter.Allows(call.op, protocol)))
            {
                const Time time = NcclTime(
                    {constants, communicator, each->algorithm, call.op, protocol}, call.bytes);
                estimates.push_back({each, protocol, time});
            }
        }
    }
    return estimates;
}

NcclChoice
ChooseAsNccl(const std::vector<NcclEstimate>& estimates, const CollectiveCall& call)
{
    if (estimates.empty() && (!call.overrides.protocol || !call.overrides.algorithm))
    {
        throw std::invalid_argument(
            std::string("found no algorithm and protocol for ") + ToString(call.op) +
            " that this group supports and its overrides and filters allow, expected at least one");
    }
    if (estimates.empty())
    {
        throw std::invalid_argument(std::string("found protocol '") +
                                    ToString(*call.overrides.protocol) + "', which algorithm '" +
                                    ToString(*call.overrides.algorithm) +
                                    "' does not support, expected simple");
    }
    const auto best = std::min_element(
        estimates.begin(), estimates.end(), [](const NcclEstimate& a, const NcclEstimate& b) {
            return a.time < b.time;
        });
    return {best->algorithm, best->protocol, 1};
}

CollectiveCall
WithTunerRule(const CollectiveCall& call,
              const std::vector<TunerRule>& rules,
              const Communicator& communicator)
{
    CollectiveCall decided = call;
    for (const auto& rule : rules)
    {
        if (!rule.Fits(call.op, call.bytes, communicator.nodes, communicator.Size()))
        {
            continue;
        }
        auto& overrides = decided.overrides;
        overrides.algorithm = overrides.algorithm ? overrides.algorithm : rule.algorithm;
        overrides.protocol = overrides.protocol ? overrides.protocol : rule.protocol;
        overrides.channels = overrides.channels ? overrides.channels : rule.channels;
        break;
    }
    return decided;
}

} // namespace weir
