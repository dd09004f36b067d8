// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/node-wiring.h"

#include "fabric/profile-check.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace weir
{

namespace
{

/** The block that item @p i of @p items falls into when they are cut into @p blocks even parts. */
uint32_t
BlockOf(uint32_t i, uint32_t items, uint32_t blocks)
{
    return static_cast<uint32_t>(static_cast<uint64_t>(i) * blocks / items);
}

/** How many things GPUs and NICs hang on: PCIe switches, or root complexes when there are none. */
uint32_t
PcieAttachments(const NodeSpec& spec)
{
    return spec.pcieSwitches > 0 ? spec.pcieSwitches : spec.sockets;
}

/** PCIe links between two devices that hang on the attachments @p a and @p b. */
uint32_t
PcieHops(const NodeSpec& spec, uint32_t a, uint32_t b)
{
    if (a == b)
    {
        return 2;
    }
    if (spec.pcieSwitches == 0)
    {
        return 3;
    }
    const bool sameSocket =
        BlockOf(a, spec.pcieSwitches, spec.sockets) == BlockOf(b, spec.pcieSwitches, spec.sockets);
    return sameSocket ? 4 : 5;
}

std::vector<DeviceId>
AddDevices(
    Topology& topology, DeviceKind kind, const std::string& prefix, uint32_t node, uint32_t count)
{
    std::vector<DeviceId> devices;
    devices.reserve(count);
    for (uint32_t i = 0; i < count; i++)
    {
        devices.push_back(topology.AddDevice(kind, prefix + std::to_string(i), node, i));
    }
    return devices;
}

/** Joins each of @p lower to its place in @p upper, spread evenly and contiguously. */
void
Spread(Topology& topology,
       const std::vector<DeviceId>& lower,
       const std::vector<DeviceId>& upper,
       const LinkProfile& profile)
{
    const auto items = static_cast<uint32_t>(lower.size());
    const auto blocks = static_cast<uint32_t>(upper.size());
    for (uint32_t i = 0; i < items; i++)
    {
        topology.AddDuplexLink(lower[i], upper[BlockOf(i, items, blocks)], LinkKind::Pcie, profile);
    }
}

void
WireNvLink(Topology& topology,
           const NodeSpec& spec,
           uint32_t node,
           const std::string& prefix,
           const std::vector<DeviceId>& gpus)
{
    if (spec.wiring == NvLinkWiring::Switched)
    {
        const DeviceId nvSwitch =
            topology.AddDevice(DeviceKind::NvSwitch, prefix + "nvswitch0", node, 0);
        for (const DeviceId gpu : gpus)
        {
            topology.AddDuplexLink(
                gpu, nvSwitch, LinkKind::NvLink, spec.nvlink, spec.nvlinksPerGpu);
        }
    }
    else if (spec.wiring == NvLinkWiring::Mesh)
    {
        for (const MeshLink& mesh : spec.meshLinks)
        {
            topology.AddDuplexLink(
                gpus[mesh.a], gpus[mesh.b], LinkKind::NvLink, spec.nvlink, mesh.links);
        }
    }
}

void
CheckNvLink(const NodeSpec& spec)
{
    if (spec.wiring == NvLinkWiring::None)
    {
        return;
    }
    CheckProfile(spec.nvlink, "node.nvlink");
    if (spec.wiring == NvLinkWiring::Switched)
    {
        if (spec.nvlinksPerGpu == 0)
        {
            throw std::invalid_argument(
                "node.nvlinksPerGpu: 0, expected at least 1 for switched NVLink wiring");
        }
        return;
    }
    for (std::size_t i = 0; i < spec.meshLinks.size(); i++)
    {
        const MeshLink& mesh = spec.meshLinks[i];
        const std::string field = "node.meshLinks[" + std::to_string(i) + "]: ";
        if (mesh.a >= spec.gpus || mesh.b >= spec.gpus || mesh.a == mesh.b)
        {
            throw std::invalid_argument(
                field + "joins GPUs " + std::to_string(mesh.a) + " and " + std::to_string(mesh.b) +
                ", expected two different ones of 0 to " + std::to_string(spec.gpus - 1));
        }
        if (mesh.links == 0)
        {
            throw std::invalid_argument(field + "0 NVLinks, expected at least 1");
        }
    }
}

} // namespace

void
CheckNodeSpec(const NodeSpec& spec)
{
    if (spec.gpus == 0)
    {
        throw std::invalid_argument("node.gpus: 0, expected at least 1");
    }
    if (spec.sockets == 0)
    {
        throw std::invalid_argument("node.sockets: 0, expected at least 1");
    }
    CheckNvLink(spec);
    CheckProfile(spec.pcie, "node.pcie");
    if (spec.pcieSwitches > 0)
    {
        CheckProfile(spec.pcieUplink, "node.pcieUplink");
    }
    if (spec.sockets > 1)
    {
        CheckProfile(spec.interSocket, "node.interSocket");
    }
}

NodeDevices
WireNode(Topology& topology, const NodeSpec& spec, uint32_t node)
{
    const std::string prefix = "node" + std::to_string(node) + "/";
    NodeDevices devices;
    devices.gpus = AddDevices(topology, DeviceKind::Gpu, prefix + "gpu", node, spec.gpus);
    WireNvLink(topology, spec, node, prefix, devices.gpus);

    devices.nics = AddDevices(topology, DeviceKind::Nic, prefix + "nic", node, spec.nics);
    const auto switches =
        AddDevices(topology, DeviceKind::PcieSwitch, prefix + "pcie", node, spec.pcieSwitches);
    const auto roots =
        AddDevices(topology, DeviceKind::RootComplex, prefix + "cpu", node, spec.sockets);
    const auto& attachments = switches.empty() ? roots : switches;
    Spread(topology, devices.gpus, attachments, spec.pcie);
    Spread(topology, devices.nics, attachments, spec.pcie);
    Spread(topology, switches, roots, spec.pcieUplink);
    for (std::size_t a = 0; a < roots.size(); a++)
    {
        for (std::size_t b = a + 1; b < roots.size(); b++)
        {
            topology.AddDuplexLink(roots[a], roots[b], LinkKind::InterSocket, spec.interSocket);
        }
    }
    return devices;
}

std::vector<std::vector<uint32_t>>
NearestNicsByGpu(const NodeSpec& spec)
{
    const uint32_t attachments = PcieAttachments(spec);
    std::vector<std::vector<uint32_t>> nearest(spec.gpus);
    std::vector<std::vector<uint32_t>> nearestSets; // by GPU so far, before the rotation
    for (uint32_t gpu = 0; gpu < spec.gpus && spec.nics > 0; gpu++)
    {
        const uint32_t place = BlockOf(gpu, spec.gpus, attachments);
        const auto hops = [&](uint32_t nic) {
            return PcieHops(spec, place, BlockOf(nic, spec.nics, attachments));
        };
        auto& nics = nearest[gpu];
        for (uint32_t nic = 0; nic < spec.nics; nic++)
        {
            nics.push_back(nic);
        }
        std::stable_sort(
            nics.begin(), nics.end(), [&](uint32_t a, uint32_t b) { return hops(a) < hops(b); });
        const uint32_t least = hops(nics.front());
        const auto end =
            std::find_if(nics.begin(), nics.end(), [&](uint32_t nic) { return hops(nic) > least; });
        std::vector<uint32_t> set(nics.begin(), end);
        const auto turn =
            std::count(nearestSets.begin(), nearestSets.end(), set) % (end - nics.begin());
        std::rotate(nics.begin(), nics.begin() + turn, end);
        nearestSets.push_back(std::move(set));
    }
    return nearest;
}

} // namespace weir
