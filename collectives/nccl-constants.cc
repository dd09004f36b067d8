// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl-constants.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>

namespace weir
{

namespace
{

using PerProtocol = std::array<double, 3>; //!< LL, LL128, Simple

double
Of(const PerProtocol& values, Protocol protocol)
{
    return values[static_cast<std::size_t>(protocol)];
}

/** NCCL's column for a number of nodes: 1, 2, more. */
std::size_t
Column(uint32_t nodes)
{
    return std::min<uint32_t>(nodes, 3) - 1;
}

std::vector<double>
IntraSpeeds(const NcclVersion& version, uint32_t cc)
{
    if (!version.AtLeast(14))
    {
        return {44, 30, 22, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
    }
    if (cc >= 100)
    {
        return version.AtLeast(27)
                   ? std::vector<double>{90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18}
                   : std::vector<double>{90, 80, 70, 60, 50, 40, 30, 24, 20, 19};
    }
    if (cc >= 90)
    {
        return {60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
    }
    return {40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
}

std::vector<double>
InterSpeeds(const NcclVersion& version, uint32_t cc)
{
    if (!version.AtLeast(14))
    {
        return {48, 30, 24, 22, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, 0.24, 0.12};
    }
    if (cc >= 100 && version.AtLeast(27))
    {
        return {96, 86,   80, 48, 45.1, 42, 40,  30,  24,   22,
                20, 17.5, 15, 12, 6,    3,  2.4, 1.2, 0.24, 0.12};
    }
    if (cc >= 90)
    {
        return {48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12};
    }
    return {48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, 0.24, 0.12};
}

} // namespace

NcclVersion
NcclVersion::Parse(const std::string& text)
{
    NcclVersion v;
    char rest = 0;
    if (std::sscanf(text.c_str(), "%u.%u.%u%c", &v.major, &v.minor, &v.patch, &rest) != 3 ||
        v.major != 2 || !v.AtLeast(7))
    {
        throw std::invalid_argument("NCCL version '" + text +
                                    "': expected three numbers from 2.7.0 on, such as 2.30.7");
    }
    return v;
}

NcclConstants::NcclConstants(NcclVersion version, uint32_t computeCapability, HostCpu cpu)
    : m_version(version),
      m_computeCapability(computeCapability),
      m_cpu(cpu),
      m_intraSpeeds(IntraSpeeds(version, computeCapability)),
      m_interSpeeds(InterSpeeds(version, computeCapability))
{
}

Time
NcclConstants::BaseLatency(Protocol protocol) const
{
    constexpr PerProtocol UNTIL_2_16{3.6, 10.0, 8.4};
    constexpr PerProtocol SINCE_2_18{6.6, 14.0, 8.4};
    return Time::Microseconds(Of(m_version.AtLeast(18) ? SINCE_2_18 : UNTIL_2_16, protocol));
}

Time
NcclConstants::StepLatency(ConnectionKind kind,
                           Protocol protocol,
                           uint32_t nodes,
                           uint32_t gpusPerNode) const
{
    constexpr PerProtocol NVLINK_UNTIL_2_16{0.47, 1.9, 3.4};
    constexpr PerProtocol NVLINK_SINCE_2_18{0.6, 1.9, 3.4};
    constexpr PerProtocol PCIE{1.0, 2.5, 5.7};
    constexpr PerProtocol NET_UNTIL_2_10{2.7, 4.0, 9.6}; // again in 2.14 and 2.16
    constexpr PerProtocol NET_2_12{2.7, 4.0, 28.0};
    constexpr PerProtocol NET_SINCE_2_18{2.7, 4.0, 14.0};
    constexpr PerProtocol TREE_NET_SINCE_2_23{5.0, 8.5, 14.0};

    if (kind == ConnectionKind::Network)
    {
        if (gpusPerNode == 1 && m_version.AtLeast(23))
        {
            return Time::Microseconds(Of(TREE_NET_SINCE_2_23, protocol));
        }
        const bool is12 = m_version.AtLeast(12) && !m_version.AtLeast(13);
        const auto& row = m_version.AtLeast(18) ? NET_SINCE_2_18 : is12 ? NET_2_12 : NET_UNTIL_2_10;
        return Time::Microseconds(Of(row, protocol));
    }
    const auto& nvlink = m_version.AtLeast(18) ? NVLINK_SINCE_2_18 : NVLINK_UNTIL_2_16;
    const double step = Of(kind == ConnectionKind::NvLink ? nvlink : PCIE, protocol);
    if (nodes == 1)
    {
        return Time::Microseconds(step);
    }
    if (!m_version.AtLeast(18))
    {
        return Time::Microseconds(protocol == Protocol::Ll ? 1.8 * step : step);
    }
    const double post =
        (m_cpu == HostCpu::Amd ? 2.0 : 1.0) * (protocol == Protocol::Simple ? 3 : 1);
    return Time::Microseconds(std::max(step, post));
}

double
NcclConstants::LlMaxBandwidth(uint32_t nodes) const
{
    constexpr std::array<double, 3> VOLTA_OR_INTEL{39.0, 39.0, 20.4};
    constexpr std::array<double, 3> AMPERE_OR_AMD{87.7, 22.5, 19.0};
    constexpr std::array<double, 3> HOPPER_SINCE_2_21{141.0, 45.0, 35.0};
    constexpr std::array<double, 3> BLACKWELL_SINCE_2_25{282.0, 90.0, 70.0};
    if (nodes > 1)
    {
        return (m_cpu == HostCpu::Amd ? AMPERE_OR_AMD : VOLTA_OR_INTEL)[Column(nodes)];
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
NcclConstants::Ll128ChannelBandwidth(uint32_t nodes) const
{
    // 2.7.8 and 2.8.4 have one value per operation, 16.7 to 16.9 for all-reduce; the row before
    // the tables by generation is 20 for all.
    if (!m_version.AtLeast(10))
    {
        return 16.9;
    }
    if (m_computeCapability >= 100 && m_version.AtLeast(25))
    {
        return m_version.AtLeast(29) ? 40.0 : 73.4;
    }
    return m_computeCapability >= 90 && m_version.AtLeast(17) ? 36.7 : 20.0;
}

double
NcclConstants::BlockBandwidth() const
{
    // Hopper: median NPKit times of 1 MiB on one channel of a GH200 (spcl/atlahs 8837294, site
    // clariden): recv-reduce-send 28.117 us, recv-copy-send 38.244 us, the two steps that make up
    // a ring all-reduce: 2 x 1 MiB / (28.117 + 38.244) us = 31.6 GB/s.
    constexpr double HOPPER = 31.6;
    // Blackwell: B300, 8 GPUs, 128 MiB ring all-reduce with one channel, 29.4 GB/s bus bandwidth
    // (eunomia-bpf/nccl-eBPF 14f9bca).
    constexpr double BLACKWELL = 29.4;
    // Older: no single-channel measurement at hand; Hopper's value scaled by the SM clock, 1.98
    // GHz to 1.41 (A100) and 1.53 (V100), as the block is bound by the instructions of one SM.
    constexpr double AMPERE = HOPPER * 1.41 / 1.98;
    constexpr double VOLTA = HOPPER * 1.53 / 1.98;
    return m_computeCapability >= 100  ? BLACKWELL
           : m_computeCapability >= 90 ? HOPPER
           : m_computeCapability >= 80 ? AMPERE
                                       : VOLTA;
}

double
NcclConstants::NvLinkBandwidth() const
{
    switch (m_computeCapability)
    {
    case 60:
        return 18.0;
    case 86:
        return 12.0;
    default:
        break;
    }
    return m_computeCapability >= 100 ? 40.1 : m_computeCapability >= 90 ? 20.6 : 20.0;
}

const std::vector<double>&
NcclConstants::SearchSpeeds(bool interNode) const
{
    return interNode ? m_interSpeeds : m_intraSpeeds;
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
