// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/channels/connection.h"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>

namespace weir
{

namespace
{

constexpr uint16_t ROCE_PORT_BASE = 0xc000; //!< RoCEv2 source ports: the dynamic range
constexpr uint32_t ROCE_PORT_COUNT = 0x4000;

/** Spreads queue pair numbers over the source ports (Knuth's multiplicative hash). */
uint16_t
SourcePort(uint32_t queuePair)
{
    const uint32_t mixed = queuePair * 2654435761U;
    return static_cast<uint16_t>(ROCE_PORT_BASE + (mixed >> 16) % ROCE_PORT_COUNT);
}

/** Distance of the numbers of a connection's queue pairs; few other connections have these. */
constexpr uint32_t QUEUE_PAIR_STEP = 0x9e37;

/** The switch to which the only network link of a port leads; invalid if it has several. */
DeviceId
SwitchOf(const Topology& topology, DeviceId port)
{
    DeviceId found;
    for (const LinkId id : topology.LinksFrom(port))
    {
        const Link& link = topology.GetLink(id);
        if (link.kind != LinkKind::Network)
        {
            continue;
        }
        if (found.IsValid())
        {
            return {};
        }
        found = link.to;
    }
    return found;
}

/** Level of a PCIe path without a root complex, by the number of switches that it passes. */
P2pLevel
LevelOf(const std::vector<LinkId>& path)
{
    constexpr std::size_t LINKS_BY_ONE_SWITCH = 2;
    return path.size() <= LINKS_BY_ONE_SWITCH ? P2pLevel::Switch : P2pLevel::Switches;
}

/** The root complex nearest to a GPU, the first at a tie; invalid without one. */
DeviceId
NearestHost(const Topology& topology, Router& router, DeviceId gpu)
{
    DeviceId nearest;
    std::size_t min = std::numeric_limits<std::size_t>::max();
    for (uint32_t i = 0; i < topology.DeviceCount(); i++)
    {
        const DeviceId id(i);
        const Device& device = topology.GetDevice(id);
        if (device.kind != DeviceKind::RootComplex || device.node != topology.GetDevice(gpu).node ||
            !router.IsReachable(gpu, id, PCIE_KINDS))
        {
            continue;
        }
        const std::size_t links = router.RouteOver(gpu, id, {}, PCIE_KINDS).size();
        if (links < min)
        {
            min = links;
            nearest = id;
        }
    }
    return nearest;
}

/**
 * The root complex that relays traffic from @p from to the GPU @p to of the same node where direct
 * PCIe copies are not allowed, because their path is farther than @p level (NCCL's paths.cc then
 * routes through the CPU of the sending GPU). Invalid where direct copies are allowed, or the path
 * passes a root complex itself.
 */
DeviceId
HostRelay(const Topology& topology, Router& router, P2pLevel level, DeviceId from, DeviceId to)
{
    if (level >= P2pLevel::Switches)
    {
        return {}; // paths beyond several switches pass a root complex themselves
    }
    const std::vector<LinkId> path = router.RouteOver(from, to, {}, PCIE_KINDS);
    for (const LinkId link : path)
    {
        if (topology.GetDevice(topology.GetLink(link).to).kind == DeviceKind::RootComplex)
        {
            return {};
        }
    }
    return LevelOf(path) <= level ? DeviceId() : NearestHost(topology, router, from);
}

} // namespace

NicReach
ReachOf(const Topology& topology, const std::vector<LinkId>& path)
{
    NicReach reach = NicReach::Switches;
    for (const LinkId id : path)
    {
        const Link& link = topology.GetLink(id);
        const bool isHost = topology.GetDevice(link.to).kind == DeviceKind::RootComplex;
        reach = std::max(reach,
                         link.kind == LinkKind::InterSocket ? NicReach::Sockets
                         : isHost                           ? NicReach::Host
                                                            : NicReach::Switches);
    }
    return reach;
}

NicReach
DirectReach(const NcclConstants& constants, const NodeSpec& node)
{
    constexpr uint32_t OVER_CHIPS_SINCE = 27;
    const bool overChips = node.gpuLink && constants.ComputeCapability() >= 90 &&
                           constants.Version().AtLeast(OVER_CHIPS_SINCE);
    return overChips ? NicReach::Host : NicReach::Switches;
}

NicRules::NicRules(const NcclSettings& settings,
                   const NcclConstants& constants,
                   const NodeSpec& node)
    : crossNic(settings.crossNic)
{
    constexpr uint32_t PXN_SINCE = 12;
    pxn = settings.pxn && constants.Version().AtLeast(PXN_SINCE)
              ? std::optional(DirectReach(constants, node))
              : std::nullopt;
}

std::vector<NodeRanks>
RanksByNode(const Communicator& communicator, const Cluster& cluster)
{
    std::vector<NodeRanks> nodes;
    std::map<uint32_t, std::size_t> indices; // by node of the cluster
    for (uint32_t rank = 0; rank < communicator.Size(); ++rank)
    {
        const auto [it, isNew] =
            indices.emplace(cluster.NodeOf(communicator.gpus[rank]), nodes.size());
        if (isNew)
        {
            nodes.emplace_back();
        }
        nodes[it->second].ranks.push_back(rank);
    }
    for (NodeRanks& node : nodes)
    {
        std::sort(node.ranks.begin(), node.ranks.end(), [&](uint32_t a, uint32_t b) {
            return communicator.gpus[a] < communicator.gpus[b];
        });
        for (const uint32_t rank : node.ranks)
        {
            node.gpus.push_back(communicator.gpus[rank]);
        }
    }
    return nodes;
}

Connector::Connector(const Cluster& cluster,
                     Routing& routing,
                     P2pLevel p2p,
                     const Striping& striping,
                     const NicRules& rules)
    : m_cluster(cluster),
      m_routing(routing),
      m_p2p(p2p),
      m_striping(striping),
      m_rules(rules),
      m_nicsOfLocalGpu(cluster.GpusPerNode()),
      m_boardOfLocalGpu(cluster.GpusPerNode())
{
    if (routing.Policy().GetScope() == RoutingPolicy::Scope::Packet)
    {
        m_striping.queuePairs = 1; // packets of any queue pair take all paths
    }
}

/** NVLink, else PCIe; nothing where there is neither. */
std::optional<Connection>
Connector::FindDirect(GpuId from, GpuId to)
{
    const uint64_t key = static_cast<uint64_t>(from.Index()) << 32 | to.Index();
    const auto [it, isNew] = m_inside.try_emplace(key);
    if (!isNew)
    {
        return it->second;
    }
    RouteRequest request;
    request.source = m_cluster.GpuDevice(from);
    request.destination = m_cluster.GpuDevice(to);
    Router& router = m_routing.GetRouter();
    const bool nvlink =
        UsesNvLink() && router.IsReachable(request.source, request.destination, NVLINK_KINDS);
    request.insideKinds = nvlink ? NVLINK_KINDS : PCIE_KINDS;
    if (!router.IsReachable(request.source, request.destination, request.insideKinds))
    {
        return std::nullopt;
    }
    if (!nvlink)
    {
        request.relay =
            HostRelay(m_cluster.GetTopology(), router, m_p2p, request.source, request.destination);
    }
    it->second = {m_routing.Add(request), nvlink ? ConnectionKind::NvLink : ConnectionKind::Pcie};
    return it->second;
}

Connection
Connector::InsideNode(GpuId from, GpuId to)
{
    return InsideNodeBy({}, from, to);
}

Connection
Connector::InsideNodeBy(const std::vector<GpuId>& gpus, GpuId from, GpuId to)
{
    const auto found = FindInsideNode(gpus, from, to);
    if (!found)
    {
        const Topology& topology = m_cluster.GetTopology();
        throw std::runtime_error(
            "no path from " + topology.GetDevice(m_cluster.GpuDevice(from)).name + " to " +
            topology.GetDevice(m_cluster.GpuDevice(to)).name + " over NVLink or PCIe");
    }
    return *found;
}

std::optional<Connection>
Connector::FindInsideNode(const std::vector<GpuId>& gpus, GpuId from, GpuId to)
{
    std::optional<Connection> found = FindDirect(from, to);
    if (found && found->kind == ConnectionKind::NvLink)
    {
        return found;
    }
    Rate widest;
    for (const GpuId middle : gpus)
    {
        if (middle == from || middle == to || m_cluster.NodeOf(middle) != m_cluster.NodeOf(from))
        {
            continue;
        }
        const auto there = FindDirect(from, middle);
        const auto on = FindDirect(middle, to);
        if (!there || there->kind != ConnectionKind::NvLink || !on ||
            on->kind != ConnectionKind::NvLink)
        {
            continue;
        }
        const Rate rate =
            std::min(m_routing.BottleneckRate(there->route), m_routing.BottleneckRate(on->route));
        if (rate > widest)
        {
            widest = rate;
            RouteRequest request;
            request.source = m_cluster.GpuDevice(from);
            request.relay = m_cluster.GpuDevice(middle);
            request.destination = m_cluster.GpuDevice(to);
            found = {m_routing.Add(request), ConnectionKind::NvLink};
        }
    }
    return found;
}

RouteRequest
Connector::RequestOf(
    GpuId from, GpuId to, const NetworkPorts& ports, uint32_t queuePair, uint32_t stripe) const
{
    const uint32_t port = stripe % m_striping.ports;
    const uint32_t number = queuePair + stripe / m_striping.ports * QUEUE_PAIR_STEP;
    RouteRequest request;
    request.source = m_cluster.GpuDevice(from);
    request.relay = m_cluster.GpuDevice(ports.proxy);
    request.outNic = m_cluster.NicDevice(m_cluster.NodeOf(from), ports.outNic + port);
    request.inNic = m_cluster.NicDevice(m_cluster.NodeOf(to), ports.inNic + port);
    request.destination = m_cluster.GpuDevice(to);
    request.sourcePort = SourcePort(number);
    request.queuePair = static_cast<uint16_t>(number);
    return request;
}

uint32_t
Connector::StripesBetween(GpuId from, GpuId to, const NetworkPorts& ports) const
{
    const Topology& topology = m_cluster.GetTopology();
    for (uint32_t port = 0; port < m_striping.ports; ++port)
    {
        const DeviceId out =
            SwitchOf(topology, m_cluster.NicDevice(m_cluster.NodeOf(from), ports.outNic + port));
        const DeviceId in =
            SwitchOf(topology, m_cluster.NicDevice(m_cluster.NodeOf(to), ports.inNic + port));
        if (!out.IsValid() || out != in)
        {
            return Stripes();
        }
    }
    return m_striping.ports;
}

Connection
Connector::BetweenNodes(GpuId from, GpuId to, const NetworkPorts& ports, uint32_t queuePair)
{
    std::vector<RouteId> stripes;
    for (uint32_t i = 0; i < StripesBetween(from, to, ports); ++i)
    {
        stripes.push_back(m_routing.Add(RequestOf(from, to, ports, queuePair, i)));
    }
    const bool shareOnePath = m_routing.Policy().IsFixed() &&
                              std::all_of(stripes.begin(), stripes.end(), [&](RouteId each) {
                                  return m_routing.HaveSameLinks(each, stripes.front());
                              });
    return {shareOnePath ? stripes.front() : m_routing.AddStriped(stripes),
            ConnectionKind::Network};
}

Connector::HopsBetweenNodes
Connector::FindHopsBetweenNodes(
    GpuId from, GpuId to, const NetworkPorts& ports, uint32_t queuePair, uint32_t stripe)
{
    const RouteRequest request = RequestOf(from, to, ports, queuePair, stripe);
    return {m_routing.FindHops(request),
            {request.outNic,
             request.inNic,
             {request.outNic.Index(), request.inNic.Index(), request.sourcePort, request.queuePair},
             1}};
}

std::vector<LinkId>
Connector::LinksToNic(GpuId gpu, uint32_t nic, bool isBack)
{
    const DeviceId port = m_cluster.NicDevice(m_cluster.NodeOf(gpu), nic);
    const DeviceId device = m_cluster.GpuDevice(gpu);
    return m_routing.InsidePath(isBack ? port : device, isBack ? device : port, PCIE_KINDS);
}

/** The local GPUs of one host: those of a node's board that PCIe connects, ascending. */
const std::vector<uint32_t>&
Connector::BoardOf(uint32_t local)
{
    auto& board = m_boardOfLocalGpu[local];
    if (!board.empty())
    {
        return board;
    }
    const NodeSpec& node = m_cluster.GetSpec().node;
    const bool isNode = node.socketsPerBoard == 0 || node.socketsPerBoard >= node.sockets;
    const DeviceId own = m_cluster.GpuDevice(GpuId(local));
    for (uint32_t gpu = 0; gpu < m_cluster.GpusPerNode(); ++gpu)
    {
        const DeviceId other = m_cluster.GpuDevice(GpuId(gpu));
        if (isNode || gpu == local || m_routing.GetRouter().IsReachable(own, other, PCIE_KINDS))
        {
            board.push_back(gpu);
        }
    }
    return board;
}

/** The local GPUs that NicsOf gives @p nic, ascending. */
const std::vector<uint32_t>&
Connector::GpusOf(uint32_t nic)
{
    if (m_gpusOfNic.empty())
    {
        m_gpusOfNic.resize(m_cluster.NicsPerNode());
        for (uint32_t local = 0; local < m_cluster.GpusPerNode(); ++local)
        {
            for (const uint32_t each : NicsOf(GpuId(local)))
            {
                m_gpusOfNic[each].push_back(local);
            }
        }
    }
    return m_gpusOfNic[nic];
}

/** Whether a GPU may send through another one that owns @p nic. */
bool
Connector::MayRelay(GpuId from, GpuId proxy, uint32_t nic, NicReach reach)
{
    const DeviceId port = m_cluster.NicDevice(m_cluster.NodeOf(proxy), nic);
    const auto& path = m_routing.InsidePath(m_cluster.GpuDevice(proxy), port, PCIE_KINDS);
    return ReachOf(m_cluster.GetTopology(), path) <= reach &&
           (proxy == from || InsideNode(from, proxy).kind == ConnectionKind::NvLink);
}

NetworkPorts
Connector::PortsForSendRecv(const Communicator& group, GpuId from, GpuId to, uint32_t channel)
{
    const Ports receiving = PortsOf(group, to);
    if (receiving.count == 0)
    {
        ThrowNoNic(to);
    }
    const uint32_t inNic = receiving.OfChannel(channel);
    if (NicsOf(from).empty())
    {
        return PortsByAnyRelay(group, from, inNic, channel);
    }
    const uint32_t firstGpu = m_cluster.NodeOf(from) * m_cluster.GpusPerNode();
    const auto& theirs = BoardOf(m_cluster.LocalIndexOf(to));
    const auto number =
        std::find(theirs.begin(), theirs.end(), m_cluster.LocalIndexOf(to)) - theirs.begin();
    const auto& board = BoardOf(m_cluster.LocalIndexOf(from));
    const GpuId alike(firstGpu + board[std::min<std::size_t>(number, board.size() - 1)]);
    const bool isKnown = static_cast<std::size_t>(number) < board.size() &&
                         group.members[alike.Index()] && !NicsOf(alike).empty();
    const uint32_t own = PortsOf(group, from).OfChannel(channel);
    const uint32_t rail = isKnown ? PortsOf(group, alike).OfChannel(channel) : own;
    if (isKnown && m_rules.pxn)
    {
        for (const uint32_t local : GpusOf(rail))
        {
            const GpuId proxy(firstGpu + local);
            if (group.members[proxy.Index()] && PortsOf(group, proxy).Has(rail))
            {
                if (MayRelay(from, proxy, rail, *m_rules.pxn))
                {
                    return {rail, inNic, proxy};
                }
                break;
            }
        }
    }
    return {m_rules.crossNic == CrossNic::Never ? rail : own, inNic, from};
}

void
Connector::ThrowNoNic(GpuId gpu) const
{
    throw std::runtime_error("GPU " + std::to_string(m_cluster.LocalIndexOf(gpu)) + " of node " +
                             std::to_string(m_cluster.NodeOf(gpu)) +
                             " reaches no NIC of its node over PCIe");
}

/** The ports of a sender that reaches no NIC: preferably the receiver's rail. */
NetworkPorts
Connector::PortsByAnyRelay(const Communicator& group, GpuId from, uint32_t inNic, uint32_t channel)
{
    std::optional<NetworkPorts> found;
    for (uint32_t local = 0; local < m_cluster.GpusPerNode(); ++local)
    {
        const GpuId proxy(m_cluster.NodeOf(from) * m_cluster.GpusPerNode() + local);
        const Ports ports = PortsOf(group, proxy);
        const bool isRail = ports.Has(inNic);
        if (group.members[proxy.Index()] && ports.count > 0 && (!found || isRail) &&
            InsideNode(from, proxy).kind == ConnectionKind::NvLink)
        {
            found = {isRail ? inNic : ports.OfChannel(channel), inNic, proxy};
            if (isRail)
            {
                break;
            }
        }
    }
    if (!found)
    {
        ThrowNoNic(from);
    }
    return *found;
}

const std::vector<uint32_t>&
Connector::NicsOf(GpuId gpu)
{
    // All nodes have the same wiring, so one node's result holds for all.
    const uint32_t local = m_cluster.LocalIndexOf(gpu);
    auto& nics = m_nicsOfLocalGpu[local];
    if (!nics.empty() || m_cluster.NicsPerNode() == 0)
    {
        return nics;
    }
    Router& router = m_routing.GetRouter();
    std::size_t nearest = 0;
    const DeviceId device = m_cluster.GpuDevice(GpuId(local));
    for (const uint32_t nic : m_cluster.NearestNics(local))
    {
        const DeviceId port = m_cluster.NicDevice(0, nic);
        if (nic % m_striping.ports != 0 || !router.IsReachable(device, port, PCIE_KINDS))
        {
            continue; // a further port of a merged NIC, or the NIC is on another board
        }
        const std::size_t distance = router.RouteOver(device, port, {}, PCIE_KINDS).size();
        nearest = nics.empty() ? distance : nearest;
        if (distance == nearest)
        {
            nics.push_back(nic);
        }
    }
    return nics;
}

Connector::Ports
Connector::PortsOf(const Communicator& group, GpuId gpu)
{
    const auto& nics = NicsOf(gpu);
    if (nics.empty())
    {
        return {nics, 0};
    }
    const uint32_t firstGpu = m_cluster.NodeOf(gpu) * m_cluster.GpusPerNode();
    const auto& gpus = GpusOf(nics.front());
    const std::size_t sharers = std::count_if(
        gpus.begin(), gpus.end(), [&](uint32_t local) { return group.members[firstGpu + local]; });
    return {nics, (nics.size() + sharers - 1) / std::max<std::size_t>(sharers, 1)};
}

} // namespace weir
