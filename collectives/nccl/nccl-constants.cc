// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/nccl-constants.h"

#include <cstdio>
#include <stdexcept>

namespace weir
{

namespace
{

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
    v.patch = 0;
    char rest = 0;
    const int three = std::sscanf(text.c_str(), "%u.%u.%u%c", &v.major, &v.minor, &v.patch, &rest);
    const bool two =
        three == 2 && std::sscanf(text.c_str(), "%u.%u%c", &v.major, &v.minor, &rest) == 2;
    if ((three != 3 && !two) || v.major != 2 || !v.AtLeast(7))
    {
        throw std::invalid_argument("NCCL version '" + text +
                                    "': expected two or three numbers from 2.7 on, such as 2.30.7");
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
      m_blockTimes(blocks),
      m_intraSpeeds(IntraSpeeds(version, computeCapability)),
      m_interSpeeds(InterSpeeds(version, computeCapability))
{
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
    switch (m_computeCapability)
    {
    case 60:
        return 18.0;
    case 86:
        return 12.0;
    default:
        break;
    }
    if (m_computeCapability < 90 && !m_version.AtLeast(14))
    {
        return 22.0; // SM70_NVLINK_WIDTH and SM80_NVLINK_WIDTH of then
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
