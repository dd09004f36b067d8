// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_COLLECTIVES_REFERENCE_MACHINES_H
#define WEIR_TESTS_COLLECTIVES_REFERENCE_MACHINES_H

#include "fabric/ids.h"
#include "fabric/kinds/no-fabric.h"
#include "fabric/topology/cluster-spec.h"

#include <string>
#include <vector>

namespace weir
{

/** A link without overheads. */
inline LinkProfile
ReferenceLink(const std::string& name, double gbps, double nanoseconds)
{
    LinkProfile profile;
    profile.name = name;
    profile.rawRate = Rate::GBps(gbps);
    profile.latency = Time::Nanoseconds(nanoseconds);
    return profile;
}

/** Sets the transport of @p node and its default costs; verbs have the costs of ReferenceBoxes. */
inline void
SetTransport(NodeSpec& node, NetTransport transport)
{
    node.transport = transport;
    node.costs.clear();
    if (transport == NetTransport::Infiniband || transport == NetTransport::Roce)
    {
        node.costs.push_back({"messageFetch", 0, "only NCCL's steps"});
    }
}

/**
 * @p nodes nodes of 8 GPUs on NVSwitch, two GPUs and two NICs under each PCIe switch, one leaf per
 *   rail. Latencies are those of the machines behind NCCL's constants: NVLink 2 x 150 ns, network 4
 *   x 150 + 2 x 600 ns over one leaf. A message has no overhead beyond NCCL's steps.
 */
inline ClusterSpec
ReferenceBoxes(uint32_t nodes,
               uint32_t computeCapability,
               uint32_t nvlinks,
               double nvlinkGBps,
               double pcieRawGBps,
               double nicGBps)
{
    ClusterSpec spec;
    spec.name = "reference";
    spec.nodes = nodes;
    spec.node.computeCapability = computeCapability;
    spec.node.nvlinksPerGpu = nvlinks;
    spec.node.nvlink = ReferenceLink("nvlink", nvlinkGBps, 150);
    spec.node.pcie = ReferenceLink("pcie", pcieRawGBps, 150);
    spec.node.pcie.measured = 0.8;
    spec.node.pcieUplink = ReferenceLink("pcie-up", pcieRawGBps, 150);
    spec.node.pcieUplink.measured = 0.8;
    spec.node.interSocket = ReferenceLink("socket", 22, 200);
    spec.node.nic = ReferenceLink("nic", nicGBps, 600);
    SetTransport(spec.node, NetTransport::Infiniband);
    if (nodes == 1)
    {
        spec.fabric.kind = NoFabric();
    }
    spec.fabric.link = ReferenceLink("trunk", nicGBps, 300);
    return spec;
}

inline ClusterSpec
H100Boxes(uint32_t nodes)
{
    return ReferenceBoxes(nodes, 90, 18, 20.6, 64, 50);
}

inline ClusterSpec
A100Boxes(uint32_t nodes)
{
    return ReferenceBoxes(nodes, 80, 12, 20, 32, 25);
}

inline ClusterSpec
B200Boxes(uint32_t nodes)
{
    return ReferenceBoxes(nodes, 100, 18, 40.1, 64, 50);
}

/** 4 GPUs, 6 NVLinks per pair, a PCIe root and a 200 Gb/s port for each. */
inline ClusterSpec
Gh200Nodes(uint32_t nodes)
{
    ClusterSpec spec = ReferenceBoxes(nodes, 90, 0, 20.6, 64, 25);
    spec.node.gpus = 4;
    spec.node.nics = 4;
    spec.node.wiring = NvLinkWiring::Mesh;
    for (uint32_t a = 0; a < 4; ++a)
    {
        for (uint32_t b = a + 1; b < 4; ++b)
        {
            spec.node.meshLinks.push_back({a, b, 6});
        }
    }
    spec.node.cpu = HostCpu::Arm;
    return spec;
}

/** The GPUs 0 to @p count - 1. */
inline std::vector<GpuId>
FirstGpus(uint32_t count)
{
    std::vector<GpuId> gpus;
    for (uint32_t i = 0; i < count; ++i)
    {
        gpus.emplace_back(i);
    }
    return gpus;
}

} // namespace weir

#endif // WEIR_TESTS_COLLECTIVES_REFERENCE_MACHINES_H
