// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/fabric.h"

#include "fabric/transport/corrected/corrected-transport.h"
#include "fabric/transport/hybrid/hybrid-transport.h"
#include "fabric/transport/packet/packet-transport.h"
#include "fabric/transport/replay/replay-transport.h"

#include <utility>

namespace weir
{

std::unique_ptr<Transport>
MakeTransport(Routing& routing, TransportSpec spec)
{
    std::optional<PacketSpec>& packets = spec.packets;
    if (spec.coupling)
    {
        return std::make_unique<HybridTransport>(routing, std::move(spec));
    }
    if (packets && packets->settle.IsOn())
    {
        return std::make_unique<ReplayTransport>(routing, std::move(*packets));
    }
    if (packets)
    {
        return std::make_unique<PacketTransport>(routing, std::move(*packets));
    }
    return MakeFluidTransport(routing, spec.corrections, spec.sharing);
}

Fabric::Fabric(ClusterSpec spec, TransportSpec transport)
    : m_cluster(std::move(spec)),
      m_routing(m_cluster.GetTopology(), m_cluster.GetSpec().fabric)
{
    if (transport.packets)
    {
        FillHeader(transport.packets->format, m_cluster.GetSpec().node.nic.framing);
    }
    m_transport = MakeTransport(m_routing, std::move(transport));
}

Fabric::Fabric(Topology topology, FabricSpec fabric, TransportSpec transport)
    : m_cluster(std::move(topology), std::move(fabric)),
      m_routing(m_cluster.GetTopology(), m_cluster.GetSpec().fabric),
      m_transport(MakeTransport(m_routing, std::move(transport)))
{
}

Fabric::~Fabric() = default;

RouteRequest
Fabric::RequestBetween(DeviceId source, DeviceId destination)
{
    const Topology& topology = m_cluster.GetTopology();
    const Device& from = topology.GetDevice(source);
    const Device& to = topology.GetDevice(destination);
    RouteRequest request;
    request.source = source;
    request.destination = destination;
    const bool isInside = from.node == to.node && from.node != Device::NO_NODE;
    const bool hasNvLink = m_routing.GetRouter().IsReachable(source, destination, NVLINK_KINDS);
    if (isInside)
    {
        request.insideKinds = hasNvLink ? NVLINK_KINDS : ALL_KINDS;
        return request;
    }
    const auto portOf = [this](DeviceId id, const Device& device) {
        const bool hasNic = device.kind == DeviceKind::Gpu && m_cluster.NicsPerNode() > 0;
        return hasNic
                   ? m_cluster.NicDevice(device.node, m_cluster.NearestNics(device.index).front())
                   : id;
    };
    request.outNic = portOf(source, from);
    request.inNic = portOf(destination, to);
    request.networkKinds = hasNvLink ? NVLINK_KINDS : ALL_KINDS;
    return request;
}

} // namespace weir
