// SPDX-License-Identifier: GPL-2.0-only
#include "network-description.h"

#include "fabric/kinds/fabric-kinds.h"
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

/** How switches choose, by the names that scenario files use. */
constexpr std::pair<const char*, weir::RoutingKind> ROUTINGS[] = {
    {"static", weir::RoutingKind::Static},
    {"ecmp", weir::RoutingKind::Ecmp},
    {"dimension-order", weir::RoutingKind::DimensionOrder},
    {"valiant", weir::RoutingKind::Valiant},
    {"adaptive", weir::RoutingKind::Adaptive},
    {"flowlet", weir::RoutingKind::Flowlet},
    {"spray", weir::RoutingKind::Spray}};

/** The value of that name; ends the program when @p choices has none. */
template <typename E, std::size_t N>
E
Parse(const std::pair<const char*, E> (&choices)[N], const std::string& name, const char* attribute)
{
    std::string expected;
    for (const auto& [text, value] : choices)
    {
        if (name == text)
        {
            return value;
        }
        expected += std::string(expected.empty() ? "" : ", ") + text;
    }
    NS_ABORT_MSG("NetworkDescription: " << attribute << " is '" << name
                                        << "', expected one of: " << expected);
}

/** The name of @p value among @p choices. */
template <typename E, std::size_t N>
std::string
NameOf(const std::pair<const char*, E> (&choices)[N], E value)
{
    for (const auto& [text, choice] : choices)
    {
        if (choice == value)
        {
            return text;
        }
    }
    NS_ABORT_MSG("NetworkDescription: a value without a name");
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
    m_spec.routing = Parse(ROUTINGS, routing, "Routing");
}

std::string
NetworkDescription::GetRouting() const
{
    return NameOf(ROUTINGS, m_spec.routing);
}

} // namespace ns3
