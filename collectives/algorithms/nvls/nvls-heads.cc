// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/nvls/nvls-heads.h"

#include "collectives/nccl/nccl-tuning.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace weir
{

namespace
{

constexpr double FLIT = 16;  // bytes
constexpr double LINE = 128; // bytes

constexpr uint32_t READ_REQUEST = 1;
constexpr uint32_t READ_RESPONSE = 1 + 8;
constexpr uint32_t WRITE = 2 + 8;

std::vector<LinkId>
LinksToSwitches(const Topology& topology, DeviceId gpu)
{
    std::vector<LinkId> links;
    for (LinkId id : topology.LinksFrom(gpu))
    {
        const Link& link = topology.GetLink(id);
        if (link.kind == LinkKind::NvLink &&
            topology.GetDevice(link.to).kind == DeviceKind::NvSwitch && link.opposite.IsValid())
        {
            links.push_back(id);
        }
    }
    return links;
}

} // namespace

MulticastGroup::MulticastGroup(Connector& connector, Routing& routing, std::vector<GpuId> gpus)
{
    const auto& topology = connector.GetCluster().GetTopology();
    for (GpuId gpu : gpus)
    {
        m_up.push_back(LinksToSwitches(topology, connector.GetCluster().GpuDevice(gpu)));
        m_down.emplace_back();
        for (LinkId link : m_up.back())
        {
            m_down.back().push_back(topology.GetLink(link).opposite);
        }
    }
    m_crossing = routing.Latency(connector.InsideNode(gpus[0], gpus[1]).route);
}

std::vector<LinkId>
MulticastGroup::Accesses(uint32_t head, bool reduces, bool stores) const
{
    std::vector<LinkId> links;
    if (reduces)
    {
        for (uint32_t gpu = 0; gpu < m_up.size(); ++gpu)
        {
            Add(links, gpu, true, READ_RESPONSE);
            Add(links, gpu, false, READ_REQUEST);
        }
        Add(links, head, true, READ_REQUEST);
        Add(links, head, false, READ_RESPONSE);
    }
    if (stores)
    {
        Add(links, head, true, WRITE);
        for (uint32_t gpu = 0; gpu < m_down.size(); ++gpu)
        {
            Add(links, gpu, false, WRITE);
        }
    }
    return links;
}

void
MulticastGroup::Add(std::vector<LinkId>& links, uint32_t gpu, bool up, uint32_t flits) const
{
    for (LinkId link : (up ? m_up : m_down)[gpu])
    {
        links.insert(links.end(), flits, link);
    }
}

double
MulticastWireFactor(const Cluster& cluster, const NodeCosts& costs)
{
    const LinkProfile& nvlink = cluster.GetSpec().node.nvlink;
    const double efficiency = costs.FactorOf(NodeCostKind::NvlsEfficiency);
    const double bundles = static_cast<double>(
        LinksToSwitches(cluster.GetTopology(), cluster.GpuDevice(GpuId(0))).size());
    return FLIT / LINE * nvlink.framing * nvlink.measured / bundles / efficiency;
}

namespace
{

/**
 * Adds the groups of a node's GPUs, of group ranks @p ranks, that give data to the blocks @p sums
 * and take it from @p multicasts over connections like @p copies. Both are by head, and either may
 * be empty: chunk position + i is that of head position + i, where a GPU's position is its number
 * modulo @p heads.
 */
void
AddMemberCopies(ScheduleWiring& wiring,
                const std::vector<uint32_t>& ranks,
                uint32_t heads,
                const std::vector<uint32_t>& sums,
                const std::vector<uint32_t>& multicasts,
                const ScheduleConnection& copies)
{
    std::vector<int32_t> chunks(heads);
    std::iota(chunks.begin(), chunks.end(), 0);
    const Program in = EachChunk(PrimitiveKind::Send, chunks);
    const Program out = EachChunk(PrimitiveKind::Recv, chunks);
    for (uint32_t member = 0; member < ranks.size(); ++member)
    {
        const uint32_t position = member % heads;
        const uint32_t giving = sums.empty() ? 0 : wiring.AddBlock(ranks[member], position, in);
        for (uint32_t i = 0; i < sums.size(); ++i)
        {
            wiring.Join(giving, sums[(position + i) % heads], copies);
        }
        const uint32_t taking =
            multicasts.empty() ? 0 : wiring.AddBlock(ranks[member], position, out);
        for (uint32_t i = 0; i < multicasts.size(); ++i)
        {
            wiring.Join(multicasts[(position + i) % heads], taking, copies);
        }
    }
}

} // namespace

void
AddHeads(ScheduleWiring& wiring,
         uint32_t ranks,
         uint32_t heads,
         bool reduces,
         bool stores,
         const std::function<ScheduleConnection(uint32_t head)>& accesses,
         const ScheduleConnection& copies)
{
    std::vector<uint32_t> sums;       // by head: the start of its accesses
    std::vector<uint32_t> multicasts; // by head: their end
    for (uint32_t head = 0; head < heads; ++head)
    {
        sums.push_back(reduces
                           ? wiring.AddBlock(ranks, head, PrimitiveKind::RecvReduceSend, ranks, 1)
                           : wiring.AddBlock(head, head, PrimitiveKind::Send, 1, 1));
        multicasts.push_back(
            stores ? wiring.AddBlock(ranks, head, PrimitiveKind::RecvCopySend, 1, ranks)
                   : wiring.AddBlock(head, head, PrimitiveKind::Recv, 1, 1));
        wiring.Join(sums.back(), multicasts.back(), accesses(head));
    }
    std::vector<uint32_t> all(ranks);
    std::iota(all.begin(), all.end(), 0);
    AddMemberCopies(wiring,
                    all,
                    heads,
                    reduces ? sums : std::vector<uint32_t>(),
                    stores ? multicasts : std::vector<uint32_t>(),
                    copies);
}

namespace
{

constexpr double FAST_NIC = 48;   // GB/s: 400 Gb/s
constexpr double FASTER_NIC = 96; // GB/s: 800 Gb/s
constexpr uint32_t BOARD = 8;     // GPUs

/** Speed of a NIC by which 2.30 tunes NVLSTree on Blackwell, GB/s; 0 where it does not. */
double
TunedNic(const AlgorithmInputs& inputs)
{
    const bool isTuned = inputs.constants.ComputeCapability() >= 100 &&
                         inputs.constants.Version().AtLeast(30) && inputs.communicator.nodes > 2;
    return isTuned ? inputs.connector.GetCluster().GetSpec().node.nic.rawRate.ToGBps() *
                         inputs.connector.PortsPerNic()
                   : 0;
}

} // namespace

uint32_t
NvlsChannels(const AlgorithmInputs& inputs)
{
    return inputs.settings.channelLimits.Apply(
        inputs.constants.NvlsChannels(inputs.communicator.nodes), inputs.constants.MaxChannels());
}

uint32_t
NvlsTreeChannels(const AlgorithmInputs& inputs)
{
    constexpr uint32_t TUNED = 24;
    const double nic = TunedNic(inputs);
    const bool isRack = nic >= FASTER_NIC && inputs.communicator.gpusPerNode > BOARD;
    return inputs.settings.channelLimits.Apply(
        nic >= FAST_NIC && !isRack ? TUNED
                                   : inputs.constants.NvlsChannels(inputs.communicator.nodes),
        inputs.constants.MaxChannels());
}

Bytes
MaxNvlsChunk(const AlgorithmInputs& inputs, Algorithm algorithm)
{
    constexpr uint32_t MANY_NODES = 4;
    constexpr double SLOW = 150; // GB/s of an all-reduce over several nodes
    if (algorithm != Algorithm::NvlsTree)
    {
        const bool isSlow =
            inputs.communicator.nodes > 1 && NcclAlgorithmBandwidth({inputs.constants,
                                                                     inputs.communicator,
                                                                     Algorithm::Nvls,
                                                                     CollectiveOp::AllReduce,
                                                                     Protocol::Simple}) < SLOW;
        return Bytes::KiB(isSlow ? 32 : 128);
    }
    if (TunedNic(inputs) >= FASTER_NIC && inputs.communicator.gpusPerNode <= BOARD)
    {
        return Bytes::KiB(256);
    }
    return Bytes::KiB(inputs.communicator.nodes >= MANY_NODES ? 64 : 128);
}

Bytes
NvlsChunk(Algorithm algorithm, Bytes bytes, uint32_t channels, uint32_t heads, Bytes max)
{
    using Limits = std::vector<std::pair<int64_t, Bytes>>;
    const Limits limits =
        algorithm == Algorithm::NvlsTree
            ? Limits{{16, Bytes::KiB(128)}, {4, Bytes::KiB(64)}, {1, Bytes::KiB(32)}}
            : Limits{{64, Bytes::KiB(64)}, {8, Bytes::KiB(32)}, {2, Bytes::KiB(16)}};
    Bytes chunk = max;
    for (const auto& [times, smaller] : limits)
    {
        if (chunk > smaller && bytes < chunk * (times * channels * heads))
        {
            chunk = smaller;
        }
    }
    return chunk;
}

bool
AnyHop(const ScheduleConnection&, const SubChannel::Hop&)
{
    return true;
}

bool
InsideHop(const ScheduleConnection& connection, const SubChannel::Hop&)
{
    return connection.connection.kind != ConnectionKind::Network;
}

namespace
{

std::vector<NvlsNode>
NodesOf(const AlgorithmInputs& in)
{
    if (in.communicator.nodes > 1)
    {
        return NvlsNodes(in.communicator, in.connector);
    }
    NvlsNode node{{{}, in.communicator.gpus}, {}};
    for (uint32_t rank = 0; rank < in.communicator.Size(); ++rank)
    {
        node.ranks.push_back(rank);
        if (rank < in.communicator.nvlsGraph.channels)
        {
            node.heads.push_back({rank, 0});
        }
    }
    return {node};
}

/**
 * Time of a head per chunk besides moving it: it waits for the flags of all GPUs, drains its
 * accesses and posts. Measured: 8 H100, NCCL all-reduce of 2 MiB to 16 GiB (NVIDIA
 * dgxc-benchmarking 841f546, one process per GPU). The time of one more pass of the outer loop, at
 * chunks of 16, 32, 64, 128 KiB, is 11.7, 19.5, 32.5, 61.1 us: 4.5 us plus 3.5 us per MiB of the
 * pass (16 channels x 8 heads x chunk). 3 x 0.3 us of it are crossings of the NVSwitch, each of
 * which is replaced by @p crossing. In one node an all-gather drains only stores and a
 * reduce-scatter only loads: estimated as half of it each. On several nodes a head also posts to
 * the network.
 */
Time
SyncOf(const AlgorithmInputs& in, Time crossing)
{
    const NodeCosts& costs = in.times.Costs();
    const Time min = crossing * 3;
    const Time measured = costs.TimeOf(NodeCostKind::NvlsSync);
    const Time sync =
        std::max(measured - ReferencePropagation(ConnectionKind::NvLink) * 3, Time()) + min;
    if (in.communicator.nodes > 1)
    {
        return sync + costs.TimeOf(NodeCostKind::NvlsNetworkSync);
    }
    return in.call.op == CollectiveOp::AllReduce ? sync : sync * 0.5;
}

} // namespace

NvlsHeads::NvlsHeads(const AlgorithmInputs& inputs)
    : m_in(inputs),
      m_nodes(NodesOf(inputs)),
      m_wireFactor(MulticastWireFactor(inputs.connector.GetCluster(), inputs.times.Costs())),
      m_copyCap(Rate::GBps(inputs.constants.BlockBandwidth()) / Count())
{
    for (const auto& node : m_nodes)
    {
        m_groups.emplace_back(inputs.connector, inputs.routing, node.gpus);
    }
    m_sync = SyncOf(inputs, m_groups.front().CrossingLatency());
}

CallDescription
NvlsHeads::Describe(Algorithm algorithm) const
{
    const NcclConstants& constants = m_in.constants;
    CallDescription description;
    description.call.op = m_in.call.op;
    description.call.algorithm = algorithm;
    description.call.protocol = m_in.protocol;
    description.call.startLatency =
        constants.BaseLatency(algorithm, Protocol::Simple) +
        constants.HardwareLatency(algorithm, ConnectionKind::NvLink, Protocol::Simple);
    description.chunk = NvlsChunk(
        algorithm, m_in.call.bytes, m_in.channels, Count(), MaxNvlsChunk(m_in, algorithm));
    description.chunks = Count();
    description.subChannels = Count();
    return description;
}

ScheduleConnection
NvlsHeads::Accesses(uint32_t node, uint32_t head, bool reduces, bool stores) const
{
    const uint32_t member = m_nodes[node].heads[head].member;
    ScheduleConnection accesses;
    accesses.connection.route =
        m_in.routing.AddFixed(m_groups[node].Accesses(member, reduces, stores));
    accesses.slots = 1; // the next chunk starts when this one is posted
    accesses.latency = m_sync;
    accesses.wireFactor = m_wireFactor;
    accesses.weight =
        m_wireFactor / Count(); // all heads of a channel load a link in total like one ring
    return accesses;
}

ScheduleConnection
NvlsHeads::Copies() const
{
    ScheduleConnection copies = WithinDevice(m_in);
    copies.cap = m_copyCap;
    return copies;
}

void
NvlsHeads::AddNode(ScheduleWiring& wiring,
                   uint32_t node,
                   const std::vector<BlockPair>& outside) const
{
    const uint32_t nowhere = m_in.communicator.Size(); // rank of blocks of switches
    const auto gpus = static_cast<uint32_t>(m_nodes[node].gpus.size());
    std::vector<uint32_t> sums;
    std::vector<uint32_t> multicasts;
    for (uint32_t head = 0; head < Count(); ++head)
    {
        sums.push_back(wiring.AddBlock(nowhere, head, PrimitiveKind::RecvReduceSend, gpus, 1));
        multicasts.push_back(wiring.AddBlock(nowhere, head, PrimitiveKind::RecvCopySend, 1, gpus));
        wiring.Join(sums.back(), outside[head].up, Accesses(node, head, true, false));
        wiring.Join(outside[head].down, multicasts.back(), Accesses(node, head, false, true));
    }
    AddMemberCopies(wiring, m_nodes[node].ranks, Count(), sums, multicasts, Copies());
}

} // namespace weir
