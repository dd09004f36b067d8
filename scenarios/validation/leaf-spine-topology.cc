// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/leaf-spine-topology.h"

#include <string>
#include <vector>

namespace weir
{

Topology
LeafSpineTopology(uint32_t hosts, uint32_t leaves, uint32_t spines, Rate rate, Time latency)
{
    Topology topology;
    for (uint32_t i = 0; i < hosts; i++)
    {
        topology.AddDevice(DeviceKind::Host, "host" + std::to_string(i));
    }
    std::vector<DeviceId> above;
    for (uint32_t i = 0; i < spines; i++)
    {
        above.push_back(topology.AddDevice(DeviceKind::SpineSwitch, "spine" + std::to_string(i)));
    }
    for (uint32_t i = 0; i < leaves; i++)
    {
        const DeviceId leaf =
            topology.AddDevice(DeviceKind::LeafSwitch, "leaf" + std::to_string(i));
        for (uint32_t host = i * hosts / leaves; host < (i + 1) * hosts / leaves; host++)
        {
            topology.AddDuplexLink(DeviceId(host), leaf, LinkKind::Network, rate, latency);
        }
        for (const DeviceId spine : above)
        {
            topology.AddDuplexLink(leaf, spine, LinkKind::Network, rate, latency);
        }
    }
    return topology;
}

} // namespace weir
