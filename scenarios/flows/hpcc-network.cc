// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/flows/hpcc-network.h"

#include <utility>

namespace weir
{

namespace
{

FabricSpec
Ecmp(uint64_t hashSeed)
{
    FabricSpec fabric;
    fabric.hashSeed = hashSeed;
    return fabric;
}

constexpr int PRIORITY_SHIFT = 13; //!< priority groups 0 to 7 are the top bits of a queue pair

} // namespace

HpccNetwork::HpccNetwork(Topology topology, const FabricSpec& fabric, TransportSpec transport)
    : m_simulation(std::move(topology), fabric, std::move(transport))
{
    const Topology& own = m_simulation.GetTopology();
    for (std::size_t node = 0; node < own.DeviceCount(); node++)
    {
        m_hosts += own.GetDevice(DeviceId(node)).kind == DeviceKind::Host ? 1 : 0;
    }
}

HpccNetwork::HpccNetwork(Topology topology, uint64_t hashSeed)
    : HpccNetwork(std::move(topology), Ecmp(hashSeed))
{
}

const char*
HpccNetwork::EndPointName() const
{
    return "host";
}

std::size_t
HpccNetwork::EndPointCount() const
{
    return m_hosts;
}

std::string
HpccNetwork::WhyNoEndPoint(int64_t node) const
{
    const auto nodes = static_cast<int64_t>(m_simulation.GetTopology().DeviceCount());
    if (node < 0 || node >= nodes)
    {
        return "a node of the topology, 0 to " + std::to_string(nodes - 1);
    }
    const Device& device =
        m_simulation.GetTopology().GetDevice(DeviceId(static_cast<std::size_t>(node)));
    return device.kind == DeviceKind::Host
               ? ""
               : "a host; node " + std::to_string(node) + " is a switch of the topology";
}

std::vector<uint32_t>
HpccNetwork::EndPoints() const
{
    std::vector<uint32_t> hosts;
    const Topology& topology = m_simulation.GetTopology();
    for (std::size_t node = 0; node < topology.DeviceCount(); node++)
    {
        if (topology.GetDevice(DeviceId(node)).kind == DeviceKind::Host)
        {
            hosts.push_back(static_cast<uint32_t>(node));
        }
    }
    return hosts;
}

TrafficEndPoint
HpccNetwork::EndPointAt(uint32_t node) const
{
    Rate rate;
    for (const LinkId link : m_simulation.GetTopology().LinksFrom(DeviceId(node)))
    {
        rate = rate + m_simulation.GetTopology().GetLink(link).rate;
    }
    return {node, rate};
}

RouteId
HpccNetwork::FindRoute(uint32_t source, uint32_t destination, const FlowPorts& ports)
{
    RouteRequest request;
    request.source = request.outNic = DeviceId(source);
    request.destination = request.inNic = DeviceId(destination);
    request.sourcePort = ports.sourcePort;
    request.queuePair =
        static_cast<uint16_t>(ports.destinationPort ^ ports.priorityGroup << PRIORITY_SHIFT);
    return m_simulation.GetRouting().Add(request);
}

Simulation&
HpccNetwork::GetSimulation()
{
    return m_simulation;
}

} // namespace weir
