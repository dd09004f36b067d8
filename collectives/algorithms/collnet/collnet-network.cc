// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/collnet/collnet-network.h"

#include "collectives/algorithms/call-description.h"
#include "collectives/algorithms/protocol.h"
#include "collectives/schedule/message-split.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

constexpr uint32_t UNREACHED = std::numeric_limits<uint32_t>::max();

bool
IsSwitch(const Device& device)
{
    return device.node == Device::NO_NODE && device.kind != DeviceKind::Host;
}

/** Whether a tree may use a link of the network and its opposite. */
bool
IsOfTrees(const Topology& topology, LinkId id, const LinkFilter& isUsable)
{
    const Link& link = topology.GetLink(id);
    return link.kind == LinkKind::Network && link.opposite.IsValid() && isUsable(id) &&
           isUsable(link.opposite);
}

/** By device: its distance from @p from over switches of the network, in links. */
std::vector<uint32_t>
DistancesFrom(const Topology& topology, DeviceId from, const LinkFilter& isUsable)
{
    std::vector<uint32_t> distances(topology.DeviceCount(), UNREACHED);
    std::vector<DeviceId> queue{from};
    distances[from.Index()] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i)
    {
        const DeviceId at = queue[i];
        if (i > 0 && !IsSwitch(topology.GetDevice(at)))
        {
            continue;
        }
        for (LinkId id : topology.LinksFrom(at))
        {
            const DeviceId to = topology.GetLink(id).to;
            if (distances[to.Index()] == UNREACHED && IsOfTrees(topology, id, isUsable))
            {
                distances[to.Index()] = distances[at.Index()] + 1;
                queue.push_back(to);
            }
        }
    }
    return distances;
}

/** The links from a device that are on shortest paths to the root. */
std::vector<LinkId>
LinksToRoot(const Topology& topology,
            DeviceId from,
            const std::vector<uint32_t>& distances,
            const LinkFilter& isUsable)
{
    std::vector<LinkId> links;
    for (LinkId id : topology.LinksFrom(from))
    {
        const DeviceId to = topology.GetLink(id).to;
        if (IsSwitch(topology.GetDevice(to)) &&
            distances[to.Index()] + 1 == distances[from.Index()] &&
            IsOfTrees(topology, id, isUsable))
        {
            links.push_back(id);
        }
    }
    return links;
}

/** By device: the distance of the farthest NIC, and the sum over all NICs. */
std::vector<std::pair<uint32_t, uint64_t>>
DistancesOf(const Topology& topology, const std::vector<DeviceId>& nics, const LinkFilter& isUsable)
{
    std::vector<std::pair<uint32_t, uint64_t>> all(topology.DeviceCount(), {0, 0});
    for (DeviceId nic : nics)
    {
        const std::vector<uint32_t> distances = DistancesFrom(topology, nic, isUsable);
        for (std::size_t i = 0; i < all.size(); ++i)
        {
            all[i].first = std::max(all[i].first, distances[i]);
            all[i].second += distances[i];
        }
    }
    return all;
}

/** The switches that may be the root, in ascending order of id. */
std::vector<DeviceId>
FindRoots(const Topology& topology, const std::vector<DeviceId>& nics, const LinkFilter& isUsable)
{
    const auto distances = DistancesOf(topology, nics, isUsable);
    std::vector<DeviceId> best;
    for (std::size_t i = 0; i < distances.size(); ++i)
    {
        if (!IsSwitch(topology.GetDevice(DeviceId(i))) || distances[i].first == UNREACHED)
        {
            continue;
        }
        if (!best.empty() && distances[i] < distances[best.front().Index()])
        {
            best.clear();
        }
        if (best.empty() || distances[i] == distances[best.front().Index()])
        {
            best.push_back(DeviceId(i));
        }
    }
    if (best.empty())
    {
        throw std::runtime_error("no switch connects the " + std::to_string(nics.size()) +
                                 " ports of an in-network reduction");
    }
    return best;
}

} // namespace

SwitchTree
FindSwitchTree(const Topology& topology,
               const std::vector<DeviceId>& nics,
               uint32_t choice,
               const LinkFilter& isUsable)
{
    const std::vector<DeviceId> roots = FindRoots(topology, nics, isUsable);
    SwitchTree tree;
    tree.root = roots[choice % roots.size()];
    const std::vector<uint32_t> distances = DistancesFrom(topology, tree.root, isUsable);
    for (DeviceId nic : nics)
    {
        Time latency;
        std::vector<LinkId> path;
        for (DeviceId at = nic; at != tree.root;)
        {
            const std::vector<LinkId> links = LinksToRoot(topology, at, distances, isUsable);
            const LinkId up = links[choice / roots.size() % links.size()];
            const Link& link = topology.GetLink(up);
            tree.links.push_back(up);
            tree.links.push_back(link.opposite);
            path.push_back(up);
            latency += link.latency + topology.GetLink(link.opposite).latency;
            at = link.to;
        }
        tree.paths.push_back(std::move(path));
        tree.latency = std::max(tree.latency, latency);
    }
    std::sort(tree.links.begin(), tree.links.end());
    tree.links.erase(std::unique(tree.links.begin(), tree.links.end()), tree.links.end());
    return tree;
}

namespace
{

/** The heads' ports, and the tree of switches that connects them. */
struct JoinedHeads
{
    SwitchTree tree;
    std::vector<DeviceId> nics;               //!< by head
    std::vector<std::vector<LinkId>> toNic;   //!< as above
    std::vector<std::vector<LinkId>> fromNic; //!< as above
    Time latency;                             //!< of a CollNetPath
};

JoinedHeads
Join(const AlgorithmInputs& inputs,
     Algorithm algorithm,
     const std::vector<CollNetHead>& heads,
     uint32_t choice)
{
    const Cluster& cluster = inputs.connector.GetCluster();
    const Topology& topology = cluster.GetTopology();
    JoinedHeads joined;
    Time inside;
    for (const auto& head : heads)
    {
        const GpuId gpu = inputs.communicator.gpus[head.rank];
        joined.nics.push_back(cluster.NicDevice(cluster.NodeOf(gpu), head.nic));
        joined.toNic.push_back(inputs.connector.LinksToNic(gpu, head.nic, false));
        joined.fromNic.push_back(inputs.connector.LinksToNic(gpu, head.nic, true));
        Time latency;
        for (const auto* part : {&joined.toNic.back(), &joined.fromNic.back()})
        {
            for (LinkId link : *part)
            {
                latency += topology.GetLink(link).latency;
            }
        }
        inside = std::max(inside, latency);
    }
    joined.tree = FindSwitchTree(topology, joined.nics, choice);
    const Time nccl =
        inputs.constants.HardwareLatency(algorithm, ConnectionKind::Network, Protocol::Simple);
    const Time wire = ReferencePropagation(ConnectionKind::Network);
    joined.latency = std::max(Time(), nccl - wire) + inside + joined.tree.latency;
    return joined;
}

void
Append(std::vector<LinkId>& links, const std::vector<LinkId>& more)
{
    links.insert(links.end(), more.begin(), more.end());
}

std::vector<LinkId>
Opposites(const Topology& topology, const std::vector<LinkId>& links)
{
    std::vector<LinkId> opposites;
    for (LinkId link : links)
    {
        opposites.push_back(topology.GetLink(link).opposite);
    }
    return opposites;
}

/**
 * Adds routes, by tree, over the links that @p linksOf returns for the connected heads. When links
 * fail, the routes use another tree of @p choice.
 */
template <typename LinksOf>
std::vector<RouteId>
AddTrees(const AlgorithmInputs& inputs,
         const JoinedHeads& joined,
         uint32_t choice,
         const LinksOf& linksOf)
{
    const Topology& topology = inputs.connector.GetCluster().GetTopology();
    return inputs.routing.AddTrees(
        linksOf(joined),
        [&topology, joined, choice, linksOf](
            const Router& router) -> std::vector<std::vector<LinkId>> {
            try
            {
                const auto isUsable = [&router](LinkId link) { return router.IsUsable(link); };
                JoinedHeads others = joined;
                others.tree = FindSwitchTree(topology, joined.nics, choice, isUsable);
                return linksOf(others);
            }
            catch (const std::runtime_error&)
            {
                return {}; // no switch connects them any more
            }
        });
}

/** The links of all heads when each sends to the root (@p gives), or each receives from it. */
std::vector<LinkId>
AllOf(const JoinedHeads& joined, const Topology& topology, bool gives)
{
    std::vector<LinkId> links;
    for (const auto& path : joined.tree.paths)
    {
        Append(links, path);
    }
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());
    links = gives ? links : Opposites(topology, links);
    for (const auto& part : gives ? joined.toNic : joined.fromNic)
    {
        Append(links, part);
    }
    return links;
}

} // namespace

std::vector<CollNetHead>
HeadsAt(const std::vector<NvlsNode>& nodes, uint32_t head)
{
    std::vector<CollNetHead> members;
    for (const NvlsNode& node : nodes)
    {
        members.push_back({node.ranks[node.heads[head].member], node.heads[head].nic});
    }
    return members;
}

uint32_t
CollNetPort(const AlgorithmInputs& in, const Connection& hop, bool leaves)
{
    const Topology& topology = in.routing.GetTopology();
    for (const auto& each : in.routing.Links(hop.route))
    {
        const Link& link = topology.GetLink(each.link);
        const Device& end = topology.GetDevice(leaves ? link.from : link.to);
        if (link.kind == LinkKind::Network && end.kind == DeviceKind::Nic)
        {
            return end.index;
        }
    }
    throw std::logic_error("CollNet: a hop between nodes has no network port");
}

CollNetPath
FindCollNetPath(const AlgorithmInputs& inputs,
                Algorithm algorithm,
                const std::vector<CollNetHead>& heads,
                uint32_t choice)
{
    const JoinedHeads joined = Join(inputs, algorithm, heads, choice);
    const auto linksOf = [](const JoinedHeads& each) {
        std::vector<LinkId> links = each.tree.links;
        for (std::size_t head = 0; head < each.nics.size(); ++head)
        {
            Append(links, each.toNic[head]);
            Append(links, each.fromNic[head]);
        }
        return std::vector<std::vector<LinkId>>{links};
    };
    return {AddTrees(inputs, joined, choice, linksOf).front(), joined.latency};
}

std::vector<CollNetPath>
FindCollNetPartPaths(const AlgorithmInputs& inputs,
                     Algorithm algorithm,
                     const std::vector<CollNetHead>& heads,
                     uint32_t choice)
{
    const bool gathers = inputs.call.op == CollectiveOp::AllGather;
    const Topology& topology = inputs.connector.GetCluster().GetTopology();
    const JoinedHeads joined = Join(inputs, algorithm, heads, choice);
    const auto linksOf = [&topology, gathers](const JoinedHeads& each) {
        const std::vector<LinkId> all = AllOf(each, topology, !gathers);
        std::vector<std::vector<LinkId>> parts;
        for (std::size_t head = 0; head < each.nics.size(); ++head)
        {
            parts.push_back(all);
            const auto& path = each.tree.paths[head];
            Append(parts.back(), gathers ? each.toNic[head] : each.fromNic[head]);
            Append(parts.back(), gathers ? path : Opposites(topology, path));
        }
        return parts;
    };
    std::vector<CollNetPath> paths;
    for (const RouteId route : AddTrees(inputs, joined, choice, linksOf))
    {
        paths.push_back({route, joined.latency});
    }
    return paths;
}

BlockPair
AddCollNet(ScheduleWiring& wiring,
           const AlgorithmInputs& inputs,
           uint32_t chunk,
           CollNetEnds ends,
           const CollNetPipe& pipe)
{
    const uint32_t nowhere = inputs.communicator.Size(); // blocks of no rank
    BlockPair blocks;
    blocks.up = wiring.AddBlock(nowhere, chunk, PrimitiveKind::RecvReduceSend, ends.givers, 1);
    blocks.down = wiring.AddBlock(nowhere, chunk, PrimitiveKind::RecvCopySend, 1, ends.takers);
    ScheduleConnection network;
    network.connection = {pipe.path.route, ConnectionKind::Network};
    network.slots = 2 * NCCL_STEPS; // a buffer at each end (net.cc)
    network.latency = pipe.path.latency;
    network.cap = pipe.cap;
    network.weight = pipe.weight;
    wiring.Join(blocks.up, blocks.down, network);
    return blocks;
}

Bytes
PartOf(Bytes chunk, uint32_t nodes)
{
    return DivideUp(chunk, nodes * CHUNK_ALIGNMENT.Count()) * CHUNK_ALIGNMENT.Count();
}

PartsWiring::PartsWiring(const AlgorithmInputs& inputs,
                         const std::vector<NvlsNode>& nodes,
                         const std::vector<std::vector<CollNetPath>>& paths,
                         Rate cap,
                         ChannelSchedule& channel)
    : m_in(inputs),
      m_nodes(nodes),
      m_count(static_cast<uint32_t>(nodes.size())),
      m_heads(static_cast<uint32_t>(paths.size())),
      m_gathers(inputs.call.op == CollectiveOp::AllGather),
      m_wiring(channel)
{
    const CollNetEnds ends = m_gathers ? CollNetEnds{1, m_count} : CollNetEnds{m_count, 1};
    for (uint32_t node = 0; node < m_count; ++node)
    {
        for (uint32_t head = 0; head < m_heads; ++head)
        {
            // A head's parts of all nodes load its port in total like one channel of a ring.
            const CollNetPipe pipe{paths[head][node], cap / m_count, 1.0 / m_count};
            m_networks.push_back(AddCollNet(m_wiring, m_in, PartIndexOf(node, head), ends, pipe));
        }
    }
}

uint32_t
PartsWiring::AddHead(uint32_t node, uint32_t head, uint32_t rank, uint32_t ends)
{
    const ScheduleConnection nothing = WithinDevice(m_in);
    const uint32_t position = PartIndexOf(node, head);
    const uint32_t own = m_wiring.AddBlock(m_nodes[node].ranks[head],
                                           position,
                                           m_gathers ? PrimitiveKind::Send : PrimitiveKind::Recv,
                                           1,
                                           1);
    const uint32_t all = m_wiring.AddBlock(rank, position, EachPart(node, head, true, ends));
    Join(own, m_gathers ? m_networks[position].up : m_networks[position].down, nothing);
    for (uint32_t i = 0; i < m_count; ++i)
    {
        const BlockPair& network = m_networks[PartIndexOf((node + i) % m_count, head)];
        Join(m_gathers ? network.down : network.up, all, nothing);
    }
    return all;
}

uint32_t
PartsWiring::AddBehind(
    uint32_t node, uint32_t head, uint32_t block, uint32_t ends, const ScheduleConnection& pipe)
{
    const uint32_t behind = m_wiring.AddBlock(
        m_in.communicator.Size(), PartIndexOf(node, head), EachPart(node, head, false, ends));
    Join(block, behind, pipe);
    return behind;
}

void
PartsWiring::AddMember(uint32_t node,
                       uint32_t member,
                       const std::vector<uint32_t>& heads,
                       const std::vector<uint32_t>& blocks,
                       const std::vector<ScheduleConnection>& pipes)
{
    const uint32_t position = PartIndexOf(node, member);
    Program program;
    for (uint32_t i = 0; i < m_count; ++i)
    {
        for (std::size_t j = 0; j < heads.size(); ++j)
        {
            Primitive step{m_gathers ? PrimitiveKind::Recv : PrimitiveKind::Send,
                           PartFrom(node, i, heads[j], position)};
            step.recvFrom = static_cast<uint16_t>(j);
            step.sendTo = static_cast<uint16_t>(j);
            program.primitives.push_back(step);
        }
    }
    const uint32_t group = m_wiring.AddBlock(m_nodes[node].ranks[member], position, program);
    for (std::size_t j = 0; j < heads.size(); ++j)
    {
        ScheduleConnection pipe = pipes[j];
        pipe.slots *= m_count;
        Join(blocks[heads[j]], group, pipe);
    }
}

/**
 * The parts of a head of all nodes, one after the other; towards the network over one connection
 * each.
 */
Program
PartsWiring::EachPart(uint32_t node, uint32_t head, bool isAtNetwork, uint32_t ends) const
{
    Program program;
    for (uint32_t i = 0; i < m_count; ++i)
    {
        Primitive step{PrimitiveKind::Send, PartFrom(node, i, head, PartIndexOf(node, head))};
        const auto pipe = static_cast<uint16_t>(isAtNetwork ? i : 0);
        if (m_gathers)
        {
            step.kind = ends > 0 ? PrimitiveKind::RecvCopySend : PrimitiveKind::Recv;
            step.recvFrom = pipe;
            step.sends = static_cast<uint16_t>(ends);
        }
        else
        {
            step.kind = ends > 0 ? PrimitiveKind::RecvReduceSend : PrimitiveKind::Send;
            step.sendTo = pipe;
            step.recvs = static_cast<uint16_t>(ends);
        }
        program.primitives.push_back(step);
    }
    return program;
}

int32_t
PartsWiring::PartFrom(uint32_t node, uint32_t i, uint32_t head, uint32_t position) const
{
    const uint32_t parts = m_count * m_heads;
    return static_cast<int32_t>((PartIndexOf((node + i) % m_count, head) + parts - position) %
                                parts);
}

/** Connects @p nearer to @p farther for an all-gather, and in reverse for a reduce-scatter. */
void
PartsWiring::Join(uint32_t nearer, uint32_t farther, const ScheduleConnection& pipe)
{
    m_gathers ? m_wiring.Join(nearer, farther, pipe) : m_wiring.Join(farther, nearer, pipe);
}

} // namespace weir
