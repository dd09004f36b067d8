// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/switch-layers.h"

#include "fabric/refuse.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/topology/link-profile.h"

namespace weir
{

LinkProfile
TrunkProfile(const ClusterSpec& spec)
{
    LinkProfile trunk = spec.fabric.link;
    if (trunk.rawRate == Rate())
    {
        const LinkProfile& nic = spec.node.nic;
        trunk.name = trunk.name.empty() ? nic.name : trunk.name;
        trunk.rawRate = nic.rawRate;
        trunk.encoding = nic.encoding;
        trunk.framing = nic.framing;
        trunk.measured = nic.measured;
        trunk.latency = trunk.latency == Time() ? nic.latency : trunk.latency;
    }
    return trunk;
}

void
CheckNics(const ClusterSpec& spec)
{
    WEIR_REFUSE_IF(spec.node.nics == 0,
                   "node.nics: 0, expected at least 1, because fabric.kind connects nodes by NICs");
    CheckProfile(spec.node.nic, "node.nic");
}

void
CheckFabricLinks(const ClusterSpec& spec)
{
    CheckNics(spec);
    CheckProfile(TrunkProfile(spec), "fabric.link");
}

std::vector<DeviceId>
AddSwitches(
    Topology& topology, DeviceKind kind, const std::string& prefix, uint32_t first, uint32_t count)
{
    std::vector<DeviceId> switches;
    switches.reserve(count);
    for (uint32_t i = first; i < first + count; i++)
    {
        switches.push_back(
            topology.AddDevice(kind, prefix + std::to_string(i), Device::NO_NODE, i));
    }
    return switches;
}

void
JoinLayers(Topology& topology,
           const std::vector<DeviceId>& lower,
           const std::vector<DeviceId>& upper,
           uint32_t count,
           const LinkProfile& profile)
{
    for (const DeviceId low : lower)
    {
        for (const DeviceId up : upper)
        {
            for (uint32_t i = 0; i < count; i++)
            {
                topology.AddDuplexLink(low, up, LinkKind::Network, profile);
            }
        }
    }
}

} // namespace weir
