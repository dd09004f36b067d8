// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/dimension-wise/dimension-grid.h"

#include "fabric/kinds/fabric-kind.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>

namespace weir
{

namespace
{

uint64_t
PointsOf(const std::vector<FabricDimension>& dimensions)
{
    uint64_t points = 1;
    for (const FabricDimension& each : dimensions)
    {
        points *= each.size;
    }
    return points;
}

FabricDimension
SwitchOf(uint32_t size)
{
    FabricDimension dimension;
    dimension.kind = DimensionKind::Switch;
    dimension.size = size;
    return dimension;
}

/** Group ranks ordered by node, then by GPU; nodes in the order of their first rank. */
std::vector<uint32_t>
RanksByNode(const Communicator& communicator, const Cluster& cluster)
{
    std::map<uint32_t, uint32_t> nodes;
    for (const GpuId gpu : communicator.gpus)
    {
        nodes.emplace(cluster.NodeOf(gpu), static_cast<uint32_t>(nodes.size()));
    }
    std::vector<uint32_t> ranks(communicator.Size());
    std::iota(ranks.begin(), ranks.end(), 0);
    std::sort(ranks.begin(), ranks.end(), [&](uint32_t a, uint32_t b) {
        const GpuId left = communicator.gpus[a];
        const GpuId right = communicator.gpus[b];
        return std::pair(nodes.at(cluster.NodeOf(left)), cluster.LocalIndexOf(left)) <
               std::pair(nodes.at(cluster.NodeOf(right)), cluster.LocalIndexOf(right));
    });
    return ranks;
}

} // namespace

uint32_t
DimensionGrid::Next(uint32_t point, uint32_t dimension, uint32_t steps) const
{
    const auto& [size, stride, kind] = dimensions[dimension];
    const uint32_t digit = DigitOf(point, dimension);
    return point - digit * stride + (digit + steps) % size * stride;
}

DimensionGrid
GridOf(const Communicator& communicator, const Cluster& cluster)
{
    const uint32_t ranks = communicator.Size();
    if (ranks != communicator.nodes * communicator.gpusPerNode)
    {
        throw std::invalid_argument("found dimension-wise over " + std::to_string(ranks) +
                                    " GPUs of " + std::to_string(communicator.nodes) +
                                    " nodes, expected the same number on each node");
    }
    const auto& kind = cluster.GetSpec().fabric.kind;
    std::vector<FabricDimension> shape = kind->GridDimensions();
    const bool isWhole = ranks == cluster.GpuCount() && !shape.empty();
    if (isWhole && PointsOf(shape) * communicator.gpusPerNode == ranks)
    {
        shape.insert(shape.begin(), SwitchOf(communicator.gpusPerNode));
    }
    if (!isWhole || PointsOf(shape) != ranks)
    {
        shape = {SwitchOf(communicator.gpusPerNode), SwitchOf(communicator.nodes)};
    }
    DimensionGrid grid;
    uint32_t stride = 1;
    for (const FabricDimension& each : shape)
    {
        if (each.size > 1)
        {
            grid.dimensions.push_back({each.size, stride, each.kind});
            stride *= each.size;
        }
    }
    grid.rankAt = RanksByNode(communicator, cluster);
    return grid;
}

} // namespace weir
