// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/kernel-times.h"

#include <algorithm>
#include <cmath>

namespace weir
{

KernelTimes::KernelTimes(const NodeSpec& node)
    : m_newest(NcclVersion(), node.computeCapability, node.cpu),
      m_costs(node)
{
}

Time
KernelTimes::Step::Beside(Bytes wire, Rate cap) const
{
    if (flagWords == Time())
    {
        return minTotal == Time() ? fixed : std::max(fixed, minTotal - wire / cap);
    }
    constexpr double FLAG_WORD = 16;        // bytes
    constexpr double PASS_FLAG_WORDS = 512; // one a thread
    const double all = std::max(1.0, wire.ToDouble() / FLAG_WORD);
    const double more = std::ceil(all / PASS_FLAG_WORDS) - 1;
    const double fill = std::log2(std::min(all, PASS_FLAG_WORDS)) / std::log2(PASS_FLAG_WORDS);
    const Time pass = Bytes(static_cast<int64_t>(PASS_FLAG_WORDS * FLAG_WORD)) / cap;
    return std::max(Time(), fixed + flagWords * fill + pass * more - wire / cap);
}

Time
KernelTimes::Call(Algorithm algorithm, Protocol protocol, ConnectionKind inner) const
{
    const Time base = m_newest.BaseLatency(algorithm, protocol);
    const double simpleFactor = m_costs.FactorOf(NodeCostKind::BlockFloor);
    const Time nvlink = protocol == Protocol::Ll       ? m_costs.TimeOf(NodeCostKind::LlCall)
                        : protocol == Protocol::Simple ? base * simpleFactor
                                                       : base;
    return inner == ConnectionKind::Pcie ? nvlink + m_costs.TimeOf(NodeCostKind::PcieEnd) : nvlink;
}

KernelTimes::Step
KernelTimes::Of(Algorithm algorithm, Protocol protocol, ConnectionKind kind) const
{
    const Time table = m_newest.HardwareLatency(algorithm, kind, protocol);
    switch (kind)
    {
    case ConnectionKind::NvLink:
        if (protocol == Protocol::Simple)
        {
            return {table * m_costs.FactorOf(NodeCostKind::BlockFloor), Time(), Time()};
        }
        // LL128 in a tree: the table's 1.25 us includes a pass (H100, nccl-tests issue 309, 256
        // KiB).
        return protocol == Protocol::Ll ? Step{m_costs.TimeOf(NodeCostKind::LlStep),
                                               Time(),
                                               m_costs.TimeOf(NodeCostKind::LlPass)}
               : protocol == Protocol::Ll128 && algorithm == Algorithm::Tree
                   ? Step{Time(), table, Time()}
                   : Step{table, Time(), Time()};
    case ConnectionKind::Pcie:
        return protocol == Protocol::Ll
                   ? Step{m_costs.TimeOf(NodeCostKind::LlPcieStep), Time(), Time()}
               : protocol == Protocol::Simple
                   ? Step{m_costs.TimeOf(NodeCostKind::SimplePcieStep), Time(), Time()}
                   : Step{table, Time(), Time()};
    case ConnectionKind::Network:
        break;
    }
    // LL: the tree's 5.0 us applies to rings, too: an all-gather of 512 bytes on 8 nodes of Polaris
    // has 8 consecutive hops and takes 60 to 65 us (alcf-nccl-tests 385be33).
    const Algorithm shape = protocol == Protocol::Simple ? algorithm : Algorithm::Tree;
    const Time step = m_newest.HardwareLatency(shape, kind, protocol);
    return protocol == Protocol::Ll128 && algorithm == Algorithm::Tree ? Step{Time(), step, Time()}
                                                                       : Step{step, Time(), Time()};
}

Rate
KernelTimes::TreeBlockRate(Protocol protocol, uint32_t nodes) const
{
    const double ofSimple = m_newest.ValueOf(NcclTable::Tree, nodes - 1);
    switch (protocol)
    {
    case Protocol::Ll:
        return Rate::Infinite();
    case Protocol::Ll128:
        return Rate::GBps(std::min(ofSimple, m_newest.ValueOf(NcclTable::TreeLl128, nodes - 1)) /
                          4);
    case Protocol::Simple:
        break;
    }
    return Rate::GBps(ofSimple / 4);
}

ConnectionKind
InnerKind(const Communicator& communicator)
{
    for (const auto& hop : communicator.channels.front().hops)
    {
        if (hop.kind == ConnectionKind::Pcie)
        {
            return ConnectionKind::Pcie;
        }
    }
    return ConnectionKind::NvLink;
}

} // namespace weir
