// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_FABRIC_BOX_SPEC_H
#define WEIR_TESTS_FABRIC_BOX_SPEC_H

#include "fabric/kinds/clos-fabric.h"
#include "fabric/topology/cluster-spec.h"

#include <string>

namespace weir
{

/** A link profile without overheads, so that expected values are round numbers. */
inline LinkProfile
PlainProfile(const std::string& name, Rate rate, Time latency)
{
    LinkProfile profile;
    profile.name = name;
    profile.rawRate = rate;
    profile.latency = latency;
    return profile;
}

/**
 * Nodes of eight GPUs on an NVSwitch, four PCIe switches on two sockets, and eight 50 GB/s NICs.
 */
inline ClusterSpec
BoxSpec(uint32_t nodes, const Polymorphic<FabricKind>& kind)
{
    ClusterSpec spec;
    spec.name = "boxes";
    spec.nodes = nodes;
    spec.node.nvlinksPerGpu = 18;
    spec.node.nvlink = PlainProfile("nvlink", Rate::GBps(20), Time::Nanoseconds(150));
    spec.node.pcie = PlainProfile("pcie", Rate::GBps(54), Time::Nanoseconds(150));
    spec.node.pcieUplink = PlainProfile("pcie-up", Rate::GBps(53), Time::Nanoseconds(160));
    spec.node.interSocket = PlainProfile("socket", Rate::GBps(22), Time::Nanoseconds(100));
    spec.node.nic = PlainProfile("nic", Rate::GBps(50), Time::Nanoseconds(500));
    spec.fabric.kind = kind;
    return spec;
}

/**
 * Nodes of one GPU and one NIC: the endpoints of a network.
 * @param radix ports per switch, for a Clos fabric
 * @param levels switch levels, for a fat tree
 */
inline ClusterSpec
PointSpec(uint32_t nodes,
          const Polymorphic<FabricKind>& kind,
          uint32_t radix = 64,
          uint32_t levels = 2)
{
    ClusterSpec spec = BoxSpec(nodes, kind);
    spec.node.gpus = 1;
    spec.node.nics = 1;
    spec.node.pcieSwitches = 0;
    spec.node.sockets = 1;
    if (spec.fabric.kind.Is<ClosFabric>())
    {
        spec.fabric.kind.As<ClosFabric>().leafRadix = radix;
    }
    if (spec.fabric.kind.Is<FatTree>())
    {
        spec.fabric.kind.As<FatTree>().levels = levels;
    }
    return spec;
}

} // namespace weir

#endif // WEIR_TESTS_FABRIC_BOX_SPEC_H
