// SPDX-License-Identifier: GPL-2.0-only
#include "cluster-helper.h"

#include "ns3/gpu-server.h"
#include "ns3/node.h"

namespace ns3
{

ClusterHelper::ClusterHelper()
    : m_server(CreateObject<ServerDescription>()),
      m_network(CreateObject<NetworkDescription>())
{
}

ClusterHelper::ClusterHelper(const weir::ClusterSpec& spec)
    : ClusterHelper()
{
    m_spec = spec;
    m_server->SetSpec(spec.node);
    m_network->SetSpec(spec.fabric);
}

void
ClusterHelper::SetServerAttribute(const std::string& name, const AttributeValue& value)
{
    m_server->SetAttribute(name, value);
}

void
ClusterHelper::SetNetworkAttribute(const std::string& name, const AttributeValue& value)
{
    m_network->SetAttribute(name, value);
}

ClusterContainer
ClusterHelper::Install(uint32_t servers) const
{
    weir::ClusterSpec spec = m_spec;
    spec.nodes = servers;
    spec.node = m_server->GetSpec();
    spec.fabric = m_network->GetSpec();

    Ptr<FluidFabric> fabric = CreateObject<FluidFabric>();
    fabric->Wire(spec);
    NodeContainer nodes;
    nodes.Create(servers);
    for (uint32_t i = 0; i < servers; i++)
    {
        Ptr<GpuServer> server = CreateObject<GpuServer>();
        server->Attach(fabric, i);
        nodes.Get(i)->AggregateObject(server);
    }
    return ClusterContainer(fabric, nodes);
}

ClusterContainer
ClusterHelper::Install() const
{
    return Install(m_spec.nodes);
}

} // namespace ns3
