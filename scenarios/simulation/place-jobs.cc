// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/simulation/place-jobs.h"

#include "fabric/routing/flow-hash.h"
#include "scenarios/yaml/input-error.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace weir
{

namespace
{

[[noreturn]] void
Fail(const PlacementSpec& placement, const std::string& message)
{
    throw InputError((placement.where.empty() ? "placement" : placement.where) + ": " + message);
}

/** The switch that a NIC's first network port is attached to; invalid if there is none. */
DeviceId
SwitchOf(const Topology& topology, DeviceId nic)
{
    for (const LinkId link : topology.LinksFrom(nic))
    {
        if (topology.GetLink(link).kind == LinkKind::Network)
        {
            return topology.GetLink(link).to;
        }
    }
    return DeviceId();
}

} // namespace

JobPlacer::JobPlacer(const Cluster& cluster)
    : m_cluster(cluster),
      m_takenBy(cluster.GpuCount())
{
}

std::vector<uint32_t>
JobPlacer::NodesAcrossLeaves(const PlacementSpec& placement) const
{
    std::vector<std::pair<std::size_t, uint32_t>> order; // index of the node at its leaf, node
    std::vector<std::size_t> taken(m_cluster.GetTopology().DeviceCount());
    for (uint32_t node = 0; node < m_cluster.NodeCount(); node++)
    {
        const DeviceId leaf = m_cluster.NicsPerNode() == 0
                                  ? DeviceId()
                                  : SwitchOf(m_cluster.GetTopology(), m_cluster.NicDevice(node, 0));
        if (!leaf.IsValid())
        {
            Fail(placement, "found nodes that no switch connects, expected another placement");
        }
        order.emplace_back(taken[leaf.Index()]++, node);
    }
    std::stable_sort(
        order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<uint32_t> nodes;
    for (const auto& [position, node] : order)
    {
        nodes.push_back(node);
    }
    return nodes;
}

std::vector<uint32_t>
JobPlacer::NodesAtLeaves(const PlacementSpec& placement) const
{
    std::vector<uint32_t> nodes;
    for (const std::string& name : placement.leaves)
    {
        const DeviceId leaf = m_cluster.GetTopology().FindDevice(name);
        const std::size_t before = nodes.size();
        for (uint32_t node = 0; leaf.IsValid() && node < m_cluster.NodeCount(); node++)
        {
            for (uint32_t nic = 0; nic < m_cluster.NicsPerNode(); nic++)
            {
                if (SwitchOf(m_cluster.GetTopology(), m_cluster.NicDevice(node, nic)) == leaf)
                {
                    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end())
                    {
                        nodes.push_back(node);
                    }
                    break;
                }
            }
        }
        if (nodes.size() == before)
        {
            Fail(placement,
                 "found '" + name + "', expected a switch that further nodes are attached to");
        }
    }
    return nodes;
}

std::vector<uint32_t>
JobPlacer::NodesOf(const PlacementSpec& placement) const
{
    if (placement.kind == Placement::AcrossLeaves)
    {
        return NodesAcrossLeaves(placement);
    }
    if (placement.kind == Placement::Leaves)
    {
        return NodesAtLeaves(placement);
    }
    std::vector<uint32_t> nodes(m_cluster.NodeCount());
    std::iota(nodes.begin(), nodes.end(), 0);
    if (placement.kind == Placement::Nodes)
    {
        return placement.list;
    }
    if (placement.kind == Placement::Strided)
    {
        nodes.clear();
        for (uint32_t first = 0; first < placement.stride; first++)
        {
            for (uint32_t node = first; node < m_cluster.NodeCount(); node += placement.stride)
            {
                nodes.push_back(node);
            }
        }
    }
    if (placement.kind == Placement::Random)
    {
        // Fisher-Yates shuffle; each draw is a hash of the seed and the draw's index.
        for (std::size_t left = nodes.size(); left > 1; left--)
        {
            const uint64_t draw = SplitMix64(placement.seed ^ SplitMix64(left));
            std::swap(nodes[left - 1], nodes[draw % left]);
        }
    }
    return nodes;
}

std::vector<GpuId>
JobPlacer::CandidatesOf(const PlacementSpec& placement) const
{
    std::vector<GpuId> gpus;
    const bool isList = placement.kind == Placement::Gpus;
    const uint32_t perNode = isList ? 1 : m_cluster.GpusPerNode();
    const uint32_t most = isList ? m_cluster.GpuCount() : m_cluster.NodeCount();
    for (const uint32_t each : isList ? placement.list : NodesOf(placement))
    {
        if (each >= most)
        {
            Fail(placement,
                 "found " + std::string(isList ? "GPU " : "node ") + std::to_string(each) +
                     ", expected one of 0 to " + std::to_string(most - 1));
        }
        for (uint32_t local = 0; local < perNode; local++)
        {
            gpus.emplace_back(each * perNode + local);
        }
    }
    return gpus;
}

std::vector<GpuId>
JobPlacer::Place(const std::string& job,
                 uint32_t ranks,
                 const PlacementSpec& placement,
                 const std::string& ranksWhere)
{
    const bool isList = placement.kind == Placement::Gpus || placement.kind == Placement::Nodes;
    std::vector<GpuId> gpus;
    for (const GpuId gpu : CandidatesOf(placement))
    {
        std::string& owner = m_takenBy[gpu.Index()];
        if (ranks > 0 && gpus.size() == ranks)
        {
            break;
        }
        if (owner.empty())
        {
            owner = job;
            gpus.push_back(gpu);
        }
        else if (isList)
        {
            Fail(placement,
                 "found GPU " + std::to_string(gpu.Index()) + ", which job '" + owner +
                     "' has, expected one that is free");
        }
    }
    if (gpus.empty() || gpus.size() < ranks)
    {
        const std::string message = "found " + std::to_string(gpus.size()) +
                                    " free GPUs for job '" + job + "', expected " +
                                    (ranks == 0 ? "at least 1" : std::to_string(ranks));
        if (placement.where.empty() && !ranksWhere.empty())
        {
            throw InputError(ranksWhere + ": " + message);
        }
        Fail(placement, message);
    }
    return gpus;
}

} // namespace weir
