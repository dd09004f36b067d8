// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/point-to-point/point-to-point-order.h"

#include "collectives/schedule/message-split.h"

#include <algorithm>
#include <map>

namespace weir
{

namespace
{

uint32_t
ReverseBits(uint32_t value, uint32_t bits)
{
    uint32_t reversed = 0;
    for (uint32_t i = 0; i < bits; ++i)
    {
        reversed = reversed << 1 | (value >> i & 1);
    }
    return reversed;
}

/**
 * For each distance below @p count its index in the order 0, 1, 3, 6, 10, ... mod a power of two.
 */
std::vector<uint32_t>
TriangularIndices(uint32_t count)
{
    const uint32_t power = PowerOfTwoUp(count);
    std::vector<uint32_t> indices(count, 0);
    uint32_t next = 0;
    uint32_t distance = 0;
    for (uint32_t round = 0; round < power; ++round)
    {
        distance = (distance + round) % power;
        if (distance < count)
        {
            indices[distance] = next++;
        }
    }
    return indices;
}

} // namespace

PointToPointOrder::PointToPointOrder(const Communicator& communicator, const Cluster& cluster)
{
    std::map<uint32_t, uint32_t> nodes;
    std::vector<uint32_t> members;
    for (const GpuId gpu : communicator.gpus)
    {
        const auto [it, isNew] =
            nodes.emplace(cluster.NodeOf(gpu), static_cast<uint32_t>(nodes.size()));
        if (isNew)
        {
            members.push_back(0);
        }
        m_node.push_back(it->second);
        m_local.push_back(members[it->second]++);
    }
    m_nodeDistanceIndex = TriangularIndices(static_cast<uint32_t>(members.size()));
    m_gpuDistanceIndex = TriangularIndices(*std::max_element(members.begin(), members.end()));
}

uint32_t
PointToPointOrder::RoundOf(uint32_t from, uint32_t to) const
{
    const auto nodes = static_cast<uint32_t>(m_nodeDistanceIndex.size());
    const auto locals = static_cast<uint32_t>(m_gpuDistanceIndex.size());
    const uint32_t nodeDistance = (m_node[to] + nodes - m_node[from]) % nodes;
    const uint32_t localDistance = (m_local[to] + locals - m_local[from]) % locals;
    return m_nodeDistanceIndex[nodeDistance] * locals + m_gpuDistanceIndex[localDistance];
}

uint32_t
PointToPointOrder::ChannelOf(uint32_t round, uint32_t part, uint32_t channels) const
{
    const auto locals = static_cast<uint32_t>(m_gpuDistanceIndex.size());
    uint32_t base = round;
    if (m_nodeDistanceIndex.size() > 1)
    {
        const uint32_t groups = (locals + WORKS_AT_ONCE - 1) / WORKS_AT_ONCE;
        base = round / locals * groups + round % locals / WORKS_AT_ONCE;
    }
    return (base + ReverseBits(part, FloorLog2(channels))) % channels;
}

} // namespace weir
