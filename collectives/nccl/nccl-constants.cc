// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/nccl-constants.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <tuple>

namespace weir
{

NcclVersion
NcclVersion::Parse(const std::string& text)
{
    NcclVersion v;
    v.patch = 0;
    char rest = 0;
    const int three = std::sscanf(text.c_str(), "%u.%u.%u%c", &v.major, &v.minor, &v.patch, &rest);
    const bool two =
        three == 2 && std::sscanf(text.c_str(), "%u.%u%c", &v.major, &v.minor, &rest) == 2;
    if ((three != 3 && !two) || v.major != 2 || !v.AtLeast(4))
    {
        throw std::invalid_argument("NCCL version '" + text +
                                    "': expected two or three numbers from 2.4 on, such as 2.30.7");
    }
    return v;
}

namespace
{

NodeSpec
NodeOf(uint32_t computeCapability)
{
    NodeSpec node;
    node.computeCapability = computeCapability;
    return node;
}

} // namespace

NcclConstants::NcclConstants(NcclVersion version, uint32_t computeCapability, HostCpu cpu)
    : NcclConstants(
          version, computeCapability, cpu, MeasuredBlockTimes(NodeCosts(NodeOf(computeCapability))))
{
}

NcclConstants::NcclConstants(NcclVersion version,
                             uint32_t computeCapability,
                             HostCpu cpu,
                             const BlockTimes& blocks)
    : m_version(version),
      m_computeCapability(computeCapability),
      m_cpu(cpu),
      m_blockTimes(blocks)
{
    for (const NcclTableRow& row : NcclTableRows())
    {
        const NcclTableRow*& best = m_tables[static_cast<std::size_t>(row.table)];
        const bool holds = row.computeCapability <= computeCapability && version.AtLeast(row.since);
        if (holds && (!best || std::tie(row.computeCapability, row.since) >
                                   std::tie(best->computeCapability, best->since)))
        {
            best = &row;
        }
    }
}

double
NcclConstants::ValueOf(NcclTable table, uint32_t index) const
{
    const NcclTableRow* row = m_tables[static_cast<std::size_t>(table)];
    return row ? row->values[std::min<std::size_t>(index, row->values.size() - 1)]
               : std::numeric_limits<double>::infinity();
}

double
NcclConstants::LlMaxBandwidth(uint32_t nodes) const
{
    return nodes > 1 ? ValueOf(m_cpu == HostCpu::Amd ? NcclTable::LlMaxOverAmdNodes
                                                     : NcclTable::LlMaxOverNodes,
                               nodes - 2)
                     : ValueOf(NcclTable::LlMaxInsideNode);
}

double
NcclConstants::Ll128ChannelBandwidth(uint32_t nodes, CollectiveOp op) const
{
    constexpr uint32_t FOR_ALL_SINCE = 10;
    if (!m_version.AtLeast(FOR_ALL_SINCE))
    {
        switch (op)
        {
        case CollectiveOp::Broadcast:
            return ValueOf(NcclTable::RingLl128Broadcast);
        case CollectiveOp::Reduce:
            return ValueOf(NcclTable::RingLl128Reduce);
        case CollectiveOp::AllGather:
            return ValueOf(NcclTable::RingLl128AllGather);
        case CollectiveOp::ReduceScatter:
            return ValueOf(NcclTable::RingLl128ReduceScatter);
        default:
            break;
        }
    }
    return ValueOf(NcclTable::RingLl128);
}

double
NcclConstants::TreeLl128ChannelBandwidth(uint32_t nodes) const
{
    return ValueOf(NcclTable::TreeLl128, nodes - 1);
}

double
NcclConstants::TreeChannelBandwidth(uint32_t nodes) const
{
    return ValueOf(NcclTable::Tree, nodes - 1);
}

double
NcclConstants::NvlsTreeChannelBandwidth(uint32_t nodes) const
{
    return ValueOf(NcclTable::NvlsTree, nodes - 1);
}

double
NcclConstants::NvlsEfficiency() const
{
    return ValueOf(NcclTable::NvlsEfficiency);
}

double
NcclConstants::BlockBandwidth() const
{
    return m_blockTimes.AverageOf(PrimitiveKind::RecvReduceSend, PrimitiveKind::RecvCopySend)
        .ToGBps();
}

double
NcclConstants::NvLinkBandwidth() const
{
    return ValueOf(NcclTable::Nvlink);
}

const std::vector<double>&
NcclConstants::SearchSpeeds(bool interNode) const
{
    return m_tables[static_cast<std::size_t>(interNode ? NcclTable::SpeedsBetweenNodes
                                                       : NcclTable::SpeedsInsideNode)]
        ->values;
}

uint32_t
NcclConstants::MaxChannels() const
{
    return m_version.AtLeast(25) ? 64 : 32;
}

Time
ReferencePropagation(ConnectionKind kind)
{
    switch (kind)
    {
    case ConnectionKind::NvLink:
        return Time::Microseconds(0.3);
    case ConnectionKind::Pcie:
        return Time::Microseconds(0.6);
    case ConnectionKind::Network:
        break;
    }
    return Time::Microseconds(1.8);
}

} // namespace weir
