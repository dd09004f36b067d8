// SPDX-License-Identifier: GPL-2.0-only
#include "fluid-fabric.h"

#include <algorithm>
#include <stdexcept>

namespace weir
{

namespace
{

constexpr double NIC_RATE = 50e9;       // 400 Gb/s
constexpr double NVLINK_RATE = 450e9;   // H100: 18 links of 25 GB/s
constexpr double RANK_LATENCY = 500e-9; // latency of the links at a rank, seconds
constexpr uint32_t RANKS_PER_LEAF = 16;
constexpr uint32_t RANKS_PER_NODE = 8;

} // namespace

// Order of links: two at each rank's NIC (out, in), two at its NVLink port if there is one, then
// leaf by leaf two for each spine (up, down).
FluidFabric::FluidFabric(const std::string& name, uint32_t ranks)
    : m_ranks(ranks)
{
    if (name == "clos" || name == "rail")
    {
        m_spines = 16;
        m_nodeSize = name == "rail" ? RANKS_PER_NODE : 0;
    }
    else if (name == "fat-tree")
    {
        m_spines = 8;
    }
    else if (name != "switch")
    {
        throw std::invalid_argument("no fabric " + name + ": switch, clos, rail or fat-tree");
    }
    uint32_t leaves = 0;
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        leaves = std::max(leaves, LeafOf(rank) + 1);
    }
    m_links.assign(2 * ranks, {NIC_RATE, RANK_LATENCY});
    m_links.resize((m_nodeSize > 0 ? 4 : 2) * ranks, {NVLINK_RATE, RANK_LATENCY});
    m_links.resize(m_links.size() + 2 * leaves * m_spines, {NIC_RATE, 0});
}

uint32_t
FluidFabric::LeafOf(uint32_t rank) const
{
    if (m_nodeSize == 0)
    {
        return rank / RANKS_PER_LEAF;
    }
    const uint32_t node = rank / m_nodeSize;
    return node / RANKS_PER_LEAF * m_nodeSize + rank % m_nodeSize;
}

uint32_t
FluidFabric::IndexInLeaf(uint32_t rank) const
{
    return (m_nodeSize == 0 ? rank : rank / m_nodeSize) % RANKS_PER_LEAF;
}

std::vector<uint32_t>
FluidFabric::Route(uint32_t source, uint32_t destination) const
{
    if (m_nodeSize > 0 && source / m_nodeSize == destination / m_nodeSize)
    {
        return {2 * (m_ranks + source), 2 * (m_ranks + destination) + 1};
    }
    const uint32_t out = 2 * source;
    const uint32_t in = 2 * destination + 1;
    if (m_spines == 0 || LeafOf(source) == LeafOf(destination))
    {
        return {out, in};
    }
    const uint32_t first = (m_nodeSize > 0 ? 4 : 2) * m_ranks;
    const uint32_t spine = IndexInLeaf(destination) % m_spines;
    return {out,
            first + 2 * (LeafOf(source) * m_spines + spine),
            first + 2 * (LeafOf(destination) * m_spines + spine) + 1,
            in};
}

} // namespace weir
