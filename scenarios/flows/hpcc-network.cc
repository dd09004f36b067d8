// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/flows/hpcc-network.h"

#include "fabric/transport/fluid/load-balancing-transport.h"

#include <utility>

namespace weir
{

namespace
{

FabricSpec
Ecmp(uint64_t hashSeed)
{
    FabricSpec fabric;
    fabric.kind = FabricKind::Graph;
    fabric.hashSeed = hashSeed;
    return fabric;
}

constexpr uint8_t NETWORK_ONLY = 1u << static_cast<unsigned>(LinkKind::Network);
constexpr int PRIORITY_SHIFT = 13; //!< priority groups are 0 to 7: the top bits of a queue pair

} // namespace

HpccNetwork::HpccNetwork(Topology topology, const FabricSpec& fabric)
    : m_topology(std::move(topology)),
      m_paths(m_topology),
      m_router(m_topology, fabric.routing, fabric.hashSeed),
      m_transport(MakeFluidTransport(m_paths, m_router, fabric))
{
    for (std::size_t node = 0; node < m_topology.DeviceCount(); node++)
    {
        m_hosts += m_topology.GetDevice(DeviceId(node)).kind == DeviceKind::Host ? 1 : 0;
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
    const auto nodes = static_cast<int64_t>(m_topology.DeviceCount());
    if (node < 0 || node >= nodes)
    {
        return "a node of the topology, 0 to " + std::to_string(nodes - 1);
    }
    const Device& device = m_topology.GetDevice(DeviceId(static_cast<std::size_t>(node)));
    return device.kind == DeviceKind::Host
               ? ""
               : "a host; node " + std::to_string(node) + " is a switch of the topology";
}

PathId
HpccNetwork::FindPath(uint32_t source, uint32_t destination, const FlowPorts& ports)
{
    FlowTuple tuple;
    tuple.source = source;
    tuple.destination = destination;
    tuple.sourcePort = ports.sourcePort;
    tuple.queuePair =
        static_cast<uint16_t>(ports.destinationPort ^ ports.priorityGroup << PRIORITY_SHIFT);
    return m_paths.Intern(
        m_router.RouteOver(DeviceId(source), DeviceId(destination), tuple, NETWORK_ONLY));
}

const PathTable&
HpccNetwork::Paths()
{
    return m_paths;
}

Transport&
HpccNetwork::GetTransport()
{
    return *m_transport;
}

} // namespace weir
