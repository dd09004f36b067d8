// SPDX-License-Identifier: GPL-2.0-only
#include "network-description.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <utility>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(NetworkDescription);

namespace
{

/** The shapes by the names that scenario files use. */
constexpr std::pair<const char*, weir::FabricKind> KINDS[] = {
    {"none", weir::FabricKind::None},
    {"rail-optimized", weir::FabricKind::RailOptimized},
    {"leaf-spine", weir::FabricKind::LeafSpine},
    {"fat-tree", weir::FabricKind::FatTree},
    {"dragonfly", weir::FabricKind::Dragonfly},
    {"dragonfly-plus", weir::FabricKind::DragonflyPlus},
    {"torus", weir::FabricKind::Torus},
    {"dimensions", weir::FabricKind::Dimensions},
    {"graph", weir::FabricKind::Graph}};

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
                "Shape: none, rail-optimized (leaf r takes port r of every server of a "
                "group), leaf-spine (leaves take whole servers), fat-tree; dragonfly, "
                "dragonfly-plus, torus, dimensions and graph with the shape of SetSpec.",
                StringValue("rail-optimized"),
                MakeStringAccessor(&NetworkDescription::SetKind, &NetworkDescription::GetKind),
                MakeStringChecker())
            .AddAttribute("Routing",
                          "Choice among paths: static (the first), ecmp (a salted hash of the flow "
                          "at each switch), dimension-order, valiant, adaptive, flowlet, spray.",
                          StringValue("ecmp"),
                          MakeStringAccessor(&NetworkDescription::SetRouting,
                                             &NetworkDescription::GetRouting),
                          MakeStringChecker())
            .AddAttribute("LeafRadix",
                          "Ports of a leaf switch; in a fat tree of every switch.",
                          UintegerValue(64),
                          MakeUintegerAccessor(&NetworkDescription::m_leafRadix),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("Oversubscription",
                          "Capacity of a leaf's ports to servers over that of its uplinks.",
                          DoubleValue(1),
                          MakeDoubleAccessor(&NetworkDescription::m_oversubscription),
                          MakeDoubleChecker<double>(1))
            .AddAttribute("Levels",
                          "Levels of switches of a fat tree.",
                          UintegerValue(2),
                          MakeUintegerAccessor(&NetworkDescription::m_levels),
                          MakeUintegerChecker<uint32_t>(1, 8))
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
    return whole;
}

NetworkDescription::NetworkDescription()
{
}

NetworkDescription::~NetworkDescription()
{
}

void
NetworkDescription::SetSpec(const weir::FabricSpec& spec)
{
    m_spec = spec;
    m_leafRadix = spec.leafRadix;
    m_oversubscription = spec.oversubscription;
    m_levels = spec.levels;
    m_hashSeed = spec.hashSeed;
    m_link.Read(spec.link);
}

weir::FabricSpec
NetworkDescription::GetSpec() const
{
    weir::FabricSpec spec = m_spec;
    spec.leafRadix = m_leafRadix;
    spec.oversubscription = m_oversubscription;
    spec.levels = m_levels;
    spec.hashSeed = m_hashSeed;
    m_link.Write(spec.link);
    return spec;
}

void
NetworkDescription::SetKind(std::string kind)
{
    m_spec.kind = Parse(KINDS, kind, "Kind");
}

std::string
NetworkDescription::GetKind() const
{
    return NameOf(KINDS, m_spec.kind);
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
