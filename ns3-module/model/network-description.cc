// SPDX-License-Identifier: GPL-2.0-only
#include "network-description.h"

#include "fabric/kinds/fabric-kinds.h"
#include "fabric/routing/routing-policies.h"
#include "ns3/abort.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <utility>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(NetworkDescription);

namespace
{

/**
 * One of every component, with its defaults.
 * @param registry the components
 * @return them
 */
template <typename T>
std::vector<weir::Polymorphic<T>>
AllOf(const weir::Registry<T>& registry)
{
    return {registry.begin(), registry.end()};
}

/**
 * Plain components as AddParameterAttributes takes them.
 * @param kinds all kinds
 * @param policies all routing policies
 * @return kinds, then policies
 */
std::vector<ParameterComponent>
ComponentsOf(std::vector<weir::Polymorphic<weir::FabricKind>>& kinds,
             std::vector<weir::Polymorphic<weir::RoutingPolicy>>& policies)
{
    std::vector<ParameterComponent> components;
    for (auto& kind : kinds)
    {
        components.push_back({kind->Name(), &*kind});
    }
    for (auto& policy : policies)
    {
        components.push_back({policy->Name(), &*policy});
    }
    return components;
}

/**
 * Names in a row.
 * @param names the names
 * @return "first, second, third"
 */
std::string
InARow(const std::vector<std::string>& names)
{
    std::string row;
    for (const std::string& name : names)
    {
        row += (row.empty() ? "" : ", ") + name;
    }
    return row;
}

/**
 * Where a component is.
 * @param components the components
 * @param name of one
 * @return its index, or the number of components when there is none
 */
template <typename T>
std::size_t
Find(const std::vector<weir::Polymorphic<T>>& components, const std::string& name)
{
    const auto found = std::find_if(components.begin(), components.end(), [&](const auto& each) {
        return each->Name() == name;
    });
    return static_cast<std::size_t>(found - components.begin());
}

/**
 * Takes a component out of plain values.
 * @param components all that there are; grows by one of an unknown name
 * @param chosen the one that is meant, from now on that of the plain values
 * @param value the plain value
 */
template <typename T>
void
Choose(std::vector<weir::Polymorphic<T>>& components,
       std::size_t& chosen,
       const weir::Polymorphic<T>& value)
{
    chosen = Find(components, value->Name());
    components.resize(std::max(components.size(), chosen + 1), value);
    components[chosen] = value;
}

} // namespace

TypeId
NetworkDescription::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::NetworkDescription")
            .SetParent<Object>()
            .SetGroupName("Weir")
            .AddConstructor<NetworkDescription>()
            .AddAttribute(
                "Kind",
                "How servers are joined: " + InARow(weir::FabricKinds().Names()) + ".",
                StringValue(weir::FabricSpec().kind->Name()),
                MakeStringAccessor(&NetworkDescription::SetKind, &NetworkDescription::GetKind),
                MakeStringChecker())
            .AddAttribute(
                "Routing",
                "How switches choose among paths: " + InARow(weir::RoutingPolicies().Names()) + ".",
                StringValue("ecmp"),
                MakeStringAccessor(&NetworkDescription::SetRouting,
                                   &NetworkDescription::GetRouting),
                MakeStringChecker())
            .AddAttribute("HashSeed",
                          "What the switches' ECMP salts derive from.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&NetworkDescription::m_hashSeed),
                          MakeUintegerChecker<uint64_t>());
    static TypeId whole =
        AddLinkAttributes(tid,
                          "Link",
                          "a link between switches (0: as the NICs', efficiency and latency, too)",
                          {DataRate(0), 1, Time(0)},
                          [](ObjectBase& object) -> LinkFigures& {
                              return dynamic_cast<NetworkDescription&>(object).m_link;
                          });
    auto kinds = AllOf(weir::FabricKinds());
    auto policies = AllOf(weir::RoutingPolicies());
    static TypeId withParameters = AddParameterAttributes(whole, ComponentsOf(kinds, policies));
    return withParameters;
}

NetworkDescription::NetworkDescription()
    : m_kinds(AllOf(weir::FabricKinds())),
      m_policies(AllOf(weir::RoutingPolicies()))
{
}

void
NetworkDescription::SetSpec(const weir::FabricSpec& spec)
{
    m_spec = spec;
    Choose(m_kinds, m_kind, spec.kind);
    Choose(m_policies, m_policy, spec.routing);
    m_hashSeed = spec.hashSeed;
    m_link.Read(spec.link);
}

weir::FabricSpec
NetworkDescription::GetSpec() const
{
    weir::FabricSpec spec = m_spec;
    spec.kind = m_kinds[m_kind];
    spec.routing = m_policies[m_policy];
    spec.hashSeed = m_hashSeed;
    m_link.Write(spec.link);
    return spec;
}

std::vector<ParameterComponent>
NetworkDescription::GetComponents()
{
    auto components = ComponentsOf(m_kinds, m_policies);
    std::swap(components.front(), components[m_kind]);
    return components;
}

void
NetworkDescription::SetKind(std::string kind)
{
    m_kind = Find(m_kinds, kind);
    NS_ABORT_MSG_IF(m_kind == m_kinds.size(),
                    "NetworkDescription: Kind is '"
                        << kind << "', expected one of: " << InARow(weir::FabricKinds().Names()));
}

std::string
NetworkDescription::GetKind() const
{
    return m_kinds[m_kind]->Name();
}

void
NetworkDescription::SetRouting(std::string routing)
{
    m_policy = Find(m_policies, routing);
    NS_ABORT_MSG_IF(m_policy == m_policies.size(),
                    "NetworkDescription: Routing is '" << routing << "', expected one of: "
                                                       << InARow(weir::RoutingPolicies().Names()));
}

std::string
NetworkDescription::GetRouting() const
{
    return m_policies[m_policy]->Name();
}

} // namespace ns3
