// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/nccl-constants.h"

#include <algorithm>
#include <array>
#include <limits>

/**
 * @file
 * NCCL's tables of bandwidth bounds (src/graph/tuning.cc) by release and GPU generation, GB/s; the
 * columns are one node, two, more.
 */
namespace weir
{

namespace
{

using BandwidthRow = std::array<double, 3>;

constexpr double NO_BOUND = std::numeric_limits<double>::infinity();

double
BandwidthOf(const BandwidthRow& row, uint32_t nodes)
{
    return row[std::min<uint32_t>(nodes, 3) - 1];
}

} // namespace

double
NcclConstants::LlMaxBandwidth(uint32_t nodes) const
{
    constexpr BandwidthRow VOLTA_OR_INTEL{39.0, 39.0, 20.4};
    constexpr BandwidthRow AMPERE_OR_AMD{87.7, 22.5, 19.0};
    constexpr BandwidthRow HOPPER_SINCE_2_21{141.0, 45.0, 35.0};
    constexpr BandwidthRow BLACKWELL_SINCE_2_25{282.0, 90.0, 70.0};
    if (!m_version.AtLeast(8))
    {
        return NO_BOUND;
    }
    if (nodes > 1)
    {
        return BandwidthOf(m_cpu == HostCpu::Amd ? AMPERE_OR_AMD : VOLTA_OR_INTEL, nodes);
    }
    if (m_computeCapability >= 100 && m_version.AtLeast(25))
    {
        return BLACKWELL_SINCE_2_25[0];
    }
    if (m_computeCapability >= 90 && m_version.AtLeast(21))
    {
        return HOPPER_SINCE_2_21[0];
    }
    return (m_computeCapability >= 80 ? AMPERE_OR_AMD : VOLTA_OR_INTEL)[0];
}

double
NcclConstants::Ll128ChannelBandwidth(uint32_t nodes, CollectiveOp op) const
{
    if (!m_version.AtLeast(10))
    {
        switch (op)
        {
        case CollectiveOp::Broadcast:
            return 18.8;
        case CollectiveOp::Reduce:
            return 12.0;
        case CollectiveOp::AllGather:
            return 18.3;
        case CollectiveOp::ReduceScatter:
            return 15.2;
        default:
            return m_version.AtLeast(8) ? 16.9 : 16.7;
        }
    }
    if (m_computeCapability >= 100 && m_version.AtLeast(25))
    {
        return m_version.AtLeast(29) ? 40.0 : 73.4;
    }
    return m_computeCapability >= 90 && m_version.AtLeast(17) ? 36.7 : 20.0;
}

double
NcclConstants::TreeLl128ChannelBandwidth(uint32_t nodes) const
{
    constexpr BandwidthRow HOPPER{36.7, 36.7, 29.0};
    constexpr BandwidthRow BLACKWELL_SINCE_2_25{73.4, 73.4, 58.0};
    constexpr BandwidthRow BLACKWELL_SINCE_2_28{55.6, 31.67, 20.0};
    if (!m_version.AtLeast(10))
    {
        return Ll128ChannelBandwidth(nodes);
    }
    if (m_computeCapability >= 100 && m_version.AtLeast(25))
    {
        return BandwidthOf(m_version.AtLeast(28) ? BLACKWELL_SINCE_2_28 : BLACKWELL_SINCE_2_25,
                           nodes);
    }
    return m_computeCapability >= 90 && m_version.AtLeast(17) ? BandwidthOf(HOPPER, nodes) : 20.0;
}

double
NcclConstants::TreeChannelBandwidth(uint32_t nodes) const
{
    constexpr BandwidthRow VOLTA{26.5, 18.5, 10.0};
    constexpr BandwidthRow AMPERE_2_8{24.0, 22.5, 16.0};
    constexpr BandwidthRow AMPERE{24.0, 23.6, 17.8};
    constexpr BandwidthRow HOPPER_2_17{38.7, 41.4, 33.0};
    constexpr BandwidthRow HOPPER{38.7, 41.4, 36.0};
    constexpr BandwidthRow BLACKWELL_SINCE_2_25{77.4, 82.8, 72.0};
    constexpr BandwidthRow BLACKWELL_SINCE_2_28{70.0, 42.8, 24.0};
    if (!m_version.AtLeast(8))
    {
        return NO_BOUND; // 2.7 bounds the sum of the channels
    }
    if (m_computeCapability >= 100 && m_version.AtLeast(25))
    {
        return BandwidthOf(m_version.AtLeast(28) ? BLACKWELL_SINCE_2_28 : BLACKWELL_SINCE_2_25,
                           nodes);
    }
    if (m_computeCapability >= 90 && m_version.AtLeast(17))
    {
        return BandwidthOf(m_version.AtLeast(18) ? HOPPER : HOPPER_2_17, nodes);
    }
    return BandwidthOf(m_computeCapability < 80 ? VOLTA
                       : m_version.AtLeast(10)  ? AMPERE
                                                : AMPERE_2_8,
                       nodes);
}

double
NcclConstants::NvlsTreeChannelBandwidth(uint32_t nodes) const
{
    if (!m_version.AtLeast(28))
    {
        return NO_BOUND;
    }
    if (m_computeCapability >= 100)
    {
        const double many = m_version.AtLeast(30) ? 80.0 : m_version.AtLeast(29) ? 43.8 : 43.1;
        return BandwidthOf({0, 96.0, many}, nodes);
    }
    return BandwidthOf({0, 57.7, 45.5}, nodes);
}

double
NcclConstants::NvlsEfficiency() const
{
    return !m_version.AtLeast(28) ? 1.0 : m_computeCapability >= 100 ? 0.74 : 0.85;
}

} // namespace weir
