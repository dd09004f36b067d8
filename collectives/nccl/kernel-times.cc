// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/kernel-times.h"

#include <algorithm>

namespace weir
{

KernelTimes::KernelTimes(const NodeSpec& node)
    : m_newest(NcclVersion(), node.computeCapability, node.cpu),
      m_costs(node)
{
}

bool
KernelTimes::Knows(Algorithm algorithm)
{
    return algorithm == Algorithm::Ring || algorithm == Algorithm::Tree ||
           algorithm == Algorithm::PointToPoint || algorithm == Algorithm::Imported;
}

Time
KernelTimes::Call(Algorithm algorithm, Protocol protocol, ConnectionKind inner) const
{
    const Time nvlink = protocol == Protocol::Ll ? m_costs.TimeOf(NodeCostKind::LlCall)
                                                 : m_newest.BaseLatency(algorithm, protocol);
    return inner == ConnectionKind::Pcie ? nvlink + m_costs.TimeOf(NodeCostKind::PcieEnd) : nvlink;
}

KernelTimes::Step
KernelTimes::Of(Algorithm algorithm, Protocol protocol, ConnectionKind kind) const
{
    const Time table = m_newest.HardwareLatency(algorithm, kind, protocol);
    switch (kind)
    {
    case ConnectionKind::NvLink:
        // LL128 in a tree: the table's 1.25 us, which holds a pass (H100, nccl-tests issue 309, 256
        // KiB).
        return protocol == Protocol::Ll ? Step{m_costs.TimeOf(NodeCostKind::LlStep),
                                               m_costs.TimeOf(NodeCostKind::LlPass)}
               : protocol == Protocol::Ll128 && algorithm == Algorithm::Tree ? Step{Time(), table}
                                                                             : Step{table, Time()};
    case ConnectionKind::Pcie:
        return protocol == Protocol::Ll ? Step{m_costs.TimeOf(NodeCostKind::LlPcieStep), Time()}
               : protocol == Protocol::Simple
                   ? Step{m_costs.TimeOf(NodeCostKind::SimplePcieStep), Time()}
                   : Step{table, Time()};
    case ConnectionKind::Network:
        break;
    }
    // LL: the tree's 5.0 us in rings, too: all-gather of 512 bytes on 8 nodes of Polaris, 8 hops in
    // turn, 60 to 65 us (alcf-nccl-tests 385be33).
    const Algorithm shape = protocol == Protocol::Simple ? algorithm : Algorithm::Tree;
    const Time step = m_newest.HardwareLatency(shape, kind, protocol);
    return protocol == Protocol::Ll128 && algorithm == Algorithm::Tree ? Step{Time(), step}
                                                                       : Step{step, Time()};
}

Rate
KernelTimes::LlBlockRate() const
{
    return m_costs.RateOf(NodeCostKind::LlBlockRate);
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
