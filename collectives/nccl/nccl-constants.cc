// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/nccl-constants.h"

#include "collectives/schedule/message-split.h"

#include <algorithm>
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
NcclConstants::ValueOf(NcclTable table, std::size_t index) const
{
    const NcclTableRow* row = m_tables[static_cast<std::size_t>(table)];
    return row ? row->values[std::min(index, row->values.size() - 1)]
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
NcclConstants::BlockBandwidth() const
{
    return m_blockTimes.AverageOf(PrimitiveKind::RecvReduceSend, PrimitiveKind::RecvCopySend)
        .ToGBps();
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
    return static_cast<uint32_t>(ValueOf(NcclTable::MaxChannels));
}

uint32_t
NcclConstants::NvlsChannels(uint32_t nodes) const
{
    return static_cast<uint32_t>(ValueOf(NcclTable::NvlsChannels, nodes - 1));
}

Time
NcclConstants::CollNetPeerLatency() const
{
    return Time::Microseconds(ValueOf(NcclTable::CollNetPeer));
}

double
NcclConstants::TreeSizeCorrection(Protocol protocol, Bytes bytes) const
{
    const auto table = static_cast<NcclTable>(
        static_cast<std::size_t>(NcclTable::SizeCorrectionLl) + static_cast<std::size_t>(protocol));
    constexpr int64_t FIRST_SIZE = 64;
    const auto multiple = static_cast<uint64_t>(bytes.Count() / FIRST_SIZE);
    const std::size_t index = FloorLog2(multiple);
    const std::size_t sizes = m_tables[static_cast<std::size_t>(table)]->values.size();
    return multiple == 0 || index >= sizes ? 1 : ValueOf(table, index);
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

/** Send and receive and imported schedules run the ring's kernels. */
bool
RunsAsRing(Algorithm algorithm)
{
    return algorithm == Algorithm::Ring || algorithm == Algorithm::PointToPoint ||
           !RunsByDefault(algorithm);
}

} // namespace

bool
HasProtocol(Algorithm algorithm, Protocol protocol)
{
    return RunsAsRing(algorithm) || algorithm == Algorithm::Tree || protocol == Protocol::Simple;
}

Time
NcclConstants::LatencyOf(NcclTable ofRing, Algorithm algorithm, Protocol protocol) const
{
    const Algorithm run = RunsAsRing(algorithm) ? Algorithm::Ring : algorithm;
    const auto table =
        static_cast<NcclTable>(static_cast<std::size_t>(ofRing) + static_cast<std::size_t>(run));
    return Time::Microseconds(ValueOf(table, static_cast<std::size_t>(protocol)));
}

Time
NcclConstants::BaseLatency(Algorithm algorithm, Protocol protocol) const
{
    return LatencyOf(NcclTable::BaseRing, algorithm, protocol);
}

Time
NcclConstants::HardwareLatency(Algorithm algorithm, ConnectionKind kind, Protocol protocol) const
{
    switch (kind)
    {
    case ConnectionKind::NvLink:
        return LatencyOf(NcclTable::NvlinkRing, algorithm, protocol);
    case ConnectionKind::Pcie: {
        // On POWER hosts trees have the latency of rings (tuning.cc).
        const bool asRing =
            m_cpu == HostCpu::Power && algorithm == Algorithm::Tree && protocol == Protocol::Simple;
        return LatencyOf(NcclTable::PcieRing, asRing ? Algorithm::Ring : algorithm, protocol);
    }
    case ConnectionKind::Network:
        return LatencyOf(NcclTable::NetworkRing, algorithm, protocol);
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
    const auto index = static_cast<std::size_t>(protocol);
    const Time inner = step * ValueOf(NcclTable::InnerStep, index);
    const Time post = Time::Microseconds(ValueOf(
        m_cpu == HostCpu::Amd ? NcclTable::NetworkPostOfAmd : NcclTable::NetworkPost, index));
    return ring ? std::max(inner, post) : inner;
}

} // namespace weir
