// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/nccl-constants.h"

#include <algorithm>
#include <array>
#include <limits>
#include <regex>
#include <stdexcept>
#include <tuple>

namespace weir
{

NcclVersion
NcclVersion::Parse(const std::string& text)
{
    // "2.30", "2.30.7", and the suffixes of tags (-1) and of NCCL's own banner (+cuda12.9). All
    // repetitions are bounded, as std::regex recurs at each of them.
    static const std::regex form(R"((\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?:-\d{1,4})?)"
                                 R"((?:\+cuda\d{1,4}(?:\.\d{1,4}){0,2})?)");
    std::smatch numbers;
    NcclVersion v;
    const bool isVersion = std::regex_match(text, numbers, form);
    if (isVersion)
    {
        v.major = std::stoi(numbers[1]);
        v.minor = std::stoi(numbers[2]);
        v.patch = numbers[3].matched ? std::stoi(numbers[3]) : 0;
    }
    if (!isVersion || v.major != 2 || !v.AtLeast(4))
    {
        throw std::invalid_argument("NCCL version '" + text +
                                    "': expected two or three numbers from 2.4 on, such as 2.30.7");
    }
    return v;
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
NcclConstants::Ll128ChannelBandwidth(CollectiveOp op) const
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

namespace
{

/*
 * NCCL's tables baseLatencies and hwLatencies (src/graph/tuning.cc) by release, in microseconds, in
 * the order LL, LL128, Simple. Tags read: 2.7.8, 2.8.4, 2.10.3, 2.12.12, 2.14.3, 2.16.2, 2.18.5,
 * 2.19.3, 2.22.3, 2.23.4, 2.26.2, 2.28.3, 2.29.7, 2.30.7. A release between two tags uses the
 * earlier one.
 */
using LatencyRow = std::array<double, 3>;

/** A table row of an algorithm that runs under Simple only. */
constexpr LatencyRow
SimpleOnly(double latency)
{
    return {0, 0, latency};
}

/** Whether the minor number of a release is from @p first to @p last. */
bool
Between(const NcclVersion& version, uint32_t first, uint32_t last)
{
    return version.AtLeast(first) && !version.AtLeast(last + 1);
}

LatencyRow
BaseRow(const NcclVersion& v, Algorithm algorithm)
{
    switch (algorithm)
    {
    case Algorithm::Ring:
        return v.AtLeast(18) ? LatencyRow{6.6, 14.0, 8.4} : LatencyRow{3.6, 10.0, 8.4};
    case Algorithm::Tree:
        return v.AtLeast(23)   ? LatencyRow{6.8, 14.0, 8.4}
               : v.AtLeast(18) ? LatencyRow{6.8, 14.0, 0}
                               : LatencyRow{4.4, 4.4, 0};
    case Algorithm::CollNetDirect:
    case Algorithm::CollNetChain:
        return v.AtLeast(19)   ? LatencyRow{}
               : v.AtLeast(18) ? LatencyRow{6.8, 14.0, 0}
                               : LatencyRow{4.4, 4.4, 0};
    case Algorithm::Nvls:
    case Algorithm::NvlsTree:
        return Between(v, 17, 18) ? SimpleOnly(23) : LatencyRow{}; // 2.17, not read: as 2.18
    case Algorithm::Pat:
        return {8, 8, 8};
    default:
        break;
    }
    return BaseRow(v, Algorithm::Ring); // runs the ring's kernels
}

LatencyRow
NvLinkRow(const NcclVersion& v, Algorithm algorithm)
{
    switch (algorithm)
    {
    case Algorithm::Tree: {
        const bool slow = !v.AtLeast(18) || Between(v, 19, 22);
        return {v.AtLeast(18) ? 0.6 : 0.52, v.AtLeast(8) ? 1.25 : 1.2, slow ? 28.0 : 4.0};
    }
    case Algorithm::CollNetDirect:
        return v.AtLeast(19)   ? SimpleOnly(3.7)
               : v.AtLeast(10) ? SimpleOnly(8.0)
                               : LatencyRow{0.5, 1.2, 4.0};
    case Algorithm::CollNetChain:
        return SimpleOnly(v.AtLeast(19) ? 2.8 : v.AtLeast(18) ? 4.75 : 8.0);
    case Algorithm::Nvls:
    case Algorithm::NvlsTree:
        return SimpleOnly(v.AtLeast(22) ? 25 : v.AtLeast(19) ? 23 : 0);
    case Algorithm::Pat:
        return SimpleOnly(4.0);
    default:
        break;
    }
    return {v.AtLeast(18) ? 0.6 : 0.47, 1.9, 3.4};
}

LatencyRow
PcieRow(const NcclVersion& v, Algorithm algorithm)
{
    switch (algorithm)
    {
    case Algorithm::Tree: {
        const bool slow = !v.AtLeast(18) || Between(v, 19, 22);
        return {1.0, 1.9, slow ? 28.0 : v.AtLeast(19) ? 4.0 : 6.0};
    }
    case Algorithm::CollNetDirect:
        return SimpleOnly(v.AtLeast(19) ? 3.7 : v.AtLeast(10) ? 8.0 : 5.5);
    case Algorithm::CollNetChain:
        return SimpleOnly(v.AtLeast(19) ? 2.8 : 8.0);
    case Algorithm::Nvls:
    case Algorithm::NvlsTree:
        return {};
    case Algorithm::Pat:
        return SimpleOnly(4.0);
    default:
        break;
    }
    return {1.0, 2.5, 5.7};
}

LatencyRow
NetworkRow(const NcclVersion& v, Algorithm algorithm)
{
    switch (algorithm)
    {
    case Algorithm::Tree: {
        const bool fast = v.AtLeast(23) || Between(v, 18, 18);
        return {5.0, 8.5, fast ? 14.0 : v.AtLeast(8) ? 28.0 : 50.0};
    }
    case Algorithm::CollNetDirect:
        return SimpleOnly(v.AtLeast(19) ? 31 : 10.7);
    case Algorithm::CollNetChain:
        return SimpleOnly(v.AtLeast(19) ? 30 : v.AtLeast(18) ? 14 : 10.7);
    case Algorithm::Nvls:
        return SimpleOnly(18);
    case Algorithm::NvlsTree:
        return SimpleOnly(v.AtLeast(29) ? 20.9 : v.AtLeast(19) ? 14 : 19);
    case Algorithm::Pat:
        return SimpleOnly(14);
    default:
        break;
    }
    return {2.7, 4.0, v.AtLeast(18) ? 14.0 : Between(v, 12, 13) ? 28.0 : 9.6};
}

/** Send and receive and imported schedules run the ring's kernels. */
bool
RunsAsRing(Algorithm algorithm)
{
    return algorithm == Algorithm::Ring || algorithm == Algorithm::PointToPoint ||
           !RunsByDefault(algorithm);
}

Time
LatencyOf(const LatencyRow& row, Protocol protocol)
{
    return Time::Microseconds(row[static_cast<std::size_t>(protocol)]);
}

} // namespace

bool
HasProtocol(Algorithm algorithm, Protocol protocol)
{
    return RunsAsRing(algorithm) || algorithm == Algorithm::Tree || protocol == Protocol::Simple;
}

Time
NcclConstants::BaseLatency(Algorithm algorithm, Protocol protocol) const
{
    return LatencyOf(BaseRow(m_version, algorithm), protocol);
}

Time
NcclConstants::HardwareLatency(Algorithm algorithm, ConnectionKind kind, Protocol protocol) const
{
    switch (kind)
    {
    case ConnectionKind::NvLink:
        return LatencyOf(NvLinkRow(m_version, algorithm), protocol);
    case ConnectionKind::Pcie:
        return LatencyOf(PcieRow(m_version, algorithm), protocol);
    case ConnectionKind::Network:
        return LatencyOf(NetworkRow(m_version, algorithm), protocol);
    }
    throw std::logic_error("HardwareLatency: no such kind of connection");
}

Time
NcclConstants::StepLatency(Algorithm algorithm,
                           ConnectionKind kind,
                           Protocol protocol,
                           uint32_t nodes,
                           uint32_t gpusPerNode) const
{
    const bool ring = RunsAsRing(algorithm);
    if (kind == ConnectionKind::Network)
    {
        const bool asTree = ring && gpusPerNode == 1 && m_version.AtLeast(23);
        return HardwareLatency(asTree ? Algorithm::Tree : algorithm, kind, protocol);
    }
    const Time step = HardwareLatency(algorithm, kind, protocol);
    if (nodes == 1)
    {
        return step;
    }
    if (!m_version.AtLeast(18))
    {
        return protocol == Protocol::Ll ? step * 1.8 : step;
    }
    const double post =
        (m_cpu == HostCpu::Amd ? 2.0 : 1.0) * (protocol == Protocol::Simple ? 3 : 1);
    return ring ? std::max(step, Time::Microseconds(post)) : step;
}

} // namespace weir
