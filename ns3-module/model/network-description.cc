// SPDX-License-Identifier: GPL-2.0-only
#include "network-description.h"

#include "fabric/kinds/fabric-kinds.h"
#include "fabric/routing/policies/policies.h"
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
 * The policy of that name; ends the program when there is none.
 * @param name the name
 * @return the policy
 */
weir::RoutingKind
ParseRouting(const std::string& name)
{
    std::string expected;
    for (const weir::RoutingChoice& choice : weir::RoutingChoices())
    {
        if (name == choice.name)
        {
            return choice.kind;
        }
        expected += std::string(expected.empty() ? "" : ", ") + choice.name;
    }
    NS_ABORT_MSG("NetworkDescription: Routing is '" << name << "', expected one of: " << expected);
}

/**
 * One of every kind, with its defaults.
 * @return the kinds
 */
std::vector<weir::Polymorphic<weir::FabricKind>>
AllKinds()
{
    const auto kinds = weir::FabricKinds();
    return {kinds.begin(), kinds.end()};
}

/**
 * Plain components as AddParameterAttributes takes them.
 * @param kinds the components
 * @return them
 */
std::vector<weir::Parameterized*>
ComponentsOf(std::vector<weir::Polymorphic<weir::FabricKind>>& kinds)
{
    std::vector<weir::Parameterized*> components;
    for (auto& kind : kinds)
    {
        components.push_back(&*kind);
    }
    return components;
}

/**
 * The names of all kinds, in a row.
 * @return the names
 */
std::string
KindNames()
{
    std::string names;
    for (const std::string& name : weir::FabricKinds().Names())
    {
        names += (names.empty() ? "" : ", ") + name;
    }
    return names;
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
                "How servers are joined: " + KindNames() + ".",
                StringValue(weir::FabricSpec().kind->Name()),
                MakeStringAccessor(&NetworkDescription::SetKind, &NetworkDescription::GetKind),
                MakeStringChecker())
            .AddAttribute("Routing",
                          "Choice among paths: static (the first), ecmp (a salted hash of the flow "
                          "at each switch), dimension-order, valiant, adaptive, flowlet, spray.",
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
    auto kinds = AllKinds();
    static TypeId withKinds = AddParameterAttributes(whole, ComponentsOf(kinds));
    return withKinds;
}

NetworkDescription::NetworkDescription()
    : m_kinds(AllKinds())
{
}

NetworkDescription::~NetworkDescription()
{
}

void
NetworkDescription::SetSpec(const weir::FabricSpec& spec)
{
    m_spec = spec;
    m_kind = FindKind(spec.kind->Name());
    m_kinds.resize(std::max(m_kinds.size(), m_kind + 1), spec.kind);
    m_kinds[m_kind] = spec.kind;
    m_hashSeed = spec.hashSeed;
    m_link.Read(spec.link);
}

weir::FabricSpec
NetworkDescription::GetSpec() const
{
    weir::FabricSpec spec = m_spec;
    spec.kind = m_kinds[m_kind];
    spec.hashSeed = m_hashSeed;
    m_link.Write(spec.link);
    return spec;
}

std::vector<weir::Parameterized*>
NetworkDescription::GetComponents()
{
    auto components = ComponentsOf(m_kinds);
    std::swap(components.front(), components[m_kind]);
    return components;
}

std::size_t
NetworkDescription::FindKind(const std::string& name) const
{
    const auto found = std::find_if(
        m_kinds.begin(), m_kinds.end(), [&](const auto& kind) { return kind->Name() == name; });
    return static_cast<std::size_t>(found - m_kinds.begin());
}

void
NetworkDescription::SetKind(std::string kind)
{
    m_kind = FindKind(kind);
    NS_ABORT_MSG_IF(m_kind == m_kinds.size(),
                    "NetworkDescription: Kind is '" << kind
                                                    << "', expected one of: " << KindNames());
}

std::string
NetworkDescription::GetKind() const
{
    return m_kinds[m_kind]->Name();
}

void
NetworkDescription::SetRouting(std::string routing)
{
    m_spec.routing = ParseRouting(routing);
}

std::string
NetworkDescription::GetRouting() const
{
    for (const weir::RoutingChoice& choice : weir::RoutingChoices())
    {
        if (choice.kind == m_spec.routing)
        {
            return choice.name;
        }
    }
    NS_ABORT_MSG("NetworkDescription: a routing without a name");
}

} // namespace ns3
