// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/kernel-times.h"

#include <algorithm>

namespace weir
{

KernelTimes::KernelTimes(uint32_t computeCapability, HostCpu cpu)
    : m_newest(NcclVersion(), computeCapability, cpu)
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
    // LL: all-reduce of 8 bytes on 8 H100 (13.0 to 13.7 us, 14 steps; dgxc-benchmarking 841f546)
    // and on 4 GH200 (7.8 us, 6 steps; nccl-benchmark-on-alps 897cff4).
    constexpr Time LL = Time::Nanoseconds(5000);
    // A kernel ends when its stores are acknowledged, over PCIe later than over NVLink: broadcast
    // of 8 bytes to 1 KiB between two A100 of one socket, repeated so that its hop does not count,
    // 10.0 to 10.4 us (NCCL_Test_Results 83dd17d).
    constexpr Time PCIE = Time::Nanoseconds(5200);
    const Time nvlink = protocol == Protocol::Ll ? LL : m_newest.BaseLatency(algorithm, protocol);
    return inner == ConnectionKind::Pcie ? nvlink + PCIE : nvlink;
}

KernelTimes::Step
KernelTimes::Of(Algorithm algorithm, Protocol protocol, ConnectionKind kind) const
{
    const Time table = m_newest.HardwareLatency(algorithm, kind, protocol);
    switch (kind)
    {
    case ConnectionKind::NvLink:
        // LL: a step of 4 KiB, one pass of the 512 threads, takes 0.95 to 1.0 us and every pass
        // more 0.65 (GH200 and H100 as above, 1 to 24 channels). LL128 in a tree: the table's
        // 1.25 us, which holds a pass (H100, nccl-tests issue 309, 256 KiB).
        return protocol == Protocol::Ll ? Step{Time::Microseconds(0.3), Time::Microseconds(0.7)}
               : protocol == Protocol::Ll128 && algorithm == Algorithm::Tree ? Step{Time(), table}
                                                                             : Step{table, Time()};
    case ConnectionKind::Pcie:
        // Two A100 of one socket, as above: all-reduce takes two steps and all-gather one, 14.3
        // and 12.3 us under LL; under Simple (256 KiB, less what the wire takes) 44 and 32.
        return protocol == Protocol::Ll       ? Step{Time::Microseconds(1.9), Time()}
               : protocol == Protocol::Simple ? Step{Time::Microseconds(11), Time()}
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
    // Hopper: 4 KiB in 0.65 us, as above. Blackwell: the same (B300, 4 MiB on 1 to 16 channels, 5.3
    // us for a step of 32 KiB; nccl-eBPF 14f9bca). Ampere, Volta: Hopper's by the ratios of NCCL's
    // llMaxBws for one channel of a node (5.9, 3.65 and 3.25 GB/s of bus bandwidth).
    constexpr double HOPPER = 6.3; // GB/s
    const uint32_t cc = m_newest.ComputeCapability();
    return Rate::GBps(HOPPER * (cc >= 90 ? 1 : cc >= 80 ? 3.65 / 5.9 : 3.25 / 5.9));
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
