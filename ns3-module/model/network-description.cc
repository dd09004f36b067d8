// SPDX-License-Identifier: GPL-2.0-only
#include "network-description.h"

#include "fabric/kinds/fabric-kinds.h"
#include "fabric/routing/routing-policies.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(NetworkDescription);

TypeId
NetworkDescription::GetTypeId()
{
    static TypeId tid = MakeParameterizedType<NetworkDescription>("ns3::NetworkDescription");
    return tid;
}

NetworkDescription::NetworkDescription()
    : m_kind(
          "kind", "Kind of the network that connects servers:", weir::FabricKinds(), m_spec.kind),
      m_routing("routing",
                "Routing policy by which switches select paths:",
                weir::RoutingPolicies(),
                m_spec.routing)
{
}

void
NetworkDescription::SetSpec(const weir::FabricSpec& spec)
{
    m_spec = spec;
    m_kind.Set(spec.kind);
    m_routing.Set(spec.routing);
}

weir::FabricSpec
NetworkDescription::GetSpec() const
{
    weir::FabricSpec spec = m_spec;
    spec.kind = m_kind.Get();
    spec.routing = m_routing.Get();
    return spec;
}

std::vector<ParameterComponent>
NetworkDescription::GetComponents()
{
    std::vector<ParameterComponent> components{{"", this}};
    m_kind.AddTo(components);
    m_routing.AddTo(components);
    return components;
}

void
NetworkDescription::VisitParameters(weir::ParameterVisitor& visitor)
{
    visitor.Seed({"hashSeed", "Seed of the switches' ECMP hash salts."}, m_spec.hashSeed);
    visitor.Link({"link",
                  "Link between switches; a rate of 0: the same as the NICs' links, including "
                  "efficiency and latency."},
                 m_spec.link);
}

} // namespace ns3
