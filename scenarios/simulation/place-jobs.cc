// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/simulation/place-jobs.h"

#include "fabric/routing/flow-hash.h"
#include "scenarios/yaml/input-error.h"

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

} // namespace

JobPlacer::JobPlacer(const Cluster& cluster)
    : m_cluster(cluster),
      m_takenBy(cluster.GpuCount())
{
}

std::vector<uint32_t>
JobPlacer::NodesOf(const PlacementSpec& placement) const
{
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
        // Fisher and Yates; each draw is a hash of the seed and its number.
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
JobPlacer::Place(const std::string& job, uint32_t ranks, const PlacementSpec& placement)
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
        Fail(placement,
             "found " + std::to_string(gpus.size()) + " free GPUs for job '" + job +
                 "', expected " + (ranks == 0 ? "at least 1" : std::to_string(ranks)));
    }
    return gpus;
}

} // namespace weir
