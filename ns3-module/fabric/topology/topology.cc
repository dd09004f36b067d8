// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/topology/topology.h"

#include "fabric/enum-names.h"
#include "fabric/refuse.h"
#include "fabric/topology/link-profile.h"

#include <algorithm>
#include <limits>

namespace weir
{

const char*
ToString(DeviceKind kind)
{
    static constexpr EnumName<DeviceKind> NAMES[]{
        {DeviceKind::Gpu, "gpu"},
        {DeviceKind::NvSwitch, "nvswitch"},
        {DeviceKind::PcieSwitch, "pcie-switch"},
        {DeviceKind::RootComplex, "root-complex"},
        {DeviceKind::Nic, "nic"},
        {DeviceKind::LeafSwitch, "leaf"},
        {DeviceKind::SpineSwitch, "spine"},
        {DeviceKind::CoreSwitch, "core"},
        {DeviceKind::Host, "host"},
    };
    return NameIn(NAMES, kind);
}

const char*
ToString(LinkKind kind)
{
    static constexpr EnumName<LinkKind> NAMES[]{
        {LinkKind::NvLink, "nvlink"},
        {LinkKind::Pcie, "pcie"},
        {LinkKind::InterSocket, "inter-socket"},
        {LinkKind::Network, "network"},
    };
    return NameIn(NAMES, kind);
}

namespace
{

/** Sets a field of a link and of its other direction, if there is one. */
template <typename T>
void
SetBothDirections(std::vector<Link>& links, LinkId link, T Link::*field, T value)
{
    links[link.Index()].*field = value;
    const LinkId opposite = links[link.Index()].opposite;
    if (opposite.IsValid())
    {
        links[opposite.Index()].*field = value;
    }
}

/** Whether @p text matches @p pattern, in which * stands for any text. */
bool
Matches(const std::string& text, const std::string& pattern)
{
    std::size_t t = 0;
    std::size_t p = 0;
    std::size_t star = std::string::npos;
    std::size_t from = 0;
    while (t < text.size())
    {
        if (p < pattern.size() && pattern[p] == '*')
        {
            star = p++;
            from = t;
        }
        else if (p < pattern.size() && pattern[p] == text[t])
        {
            p++;
            t++;
        }
        else if (star != std::string::npos)
        {
            p = star + 1;
            t = ++from;
        }
        else
        {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string::npos;
}

} // namespace

DeviceId
Topology::AddDevice(DeviceKind kind, std::string name, uint32_t node, uint32_t index)
{
    const DeviceId id(m_devices.size());
    const bool isNew = m_devicesByName.emplace(name, id).second;
    WEIR_REFUSE_IF(!isNew, "Topology::AddDevice: there is a device '" << name << "' already");
    m_devices.push_back({kind, node, index, std::move(name), Device::NO_NODE});
    m_outgoing.emplace_back();
    return id;
}

uint16_t
Topology::AddProfileName(const std::string& name)
{
    const auto known = std::find(m_profileNames.begin(), m_profileNames.end(), name);
    const auto index = static_cast<std::size_t>(known - m_profileNames.begin());
    WEIR_REFUSE_IF(index > std::numeric_limits<uint16_t>::max(),
                   "Topology::AddProfileName: more than 65536 link profiles");
    if (known == m_profileNames.end())
    {
        m_profileNames.push_back(name);
    }
    return static_cast<uint16_t>(index);
}

LinkId
Topology::AddLink(
    DeviceId from, DeviceId to, LinkKind kind, Rate rate, Time latency, uint16_t profile)
{
    WEIR_REFUSE_IF(from.Index() >= m_devices.size() || to.Index() >= m_devices.size(),
                   "Topology::AddLink: an end of the link is not a device");
    WEIR_REFUSE_IF(!(rate >= Rate()), "Topology::AddLink: the rate is negative or not a number");
    WEIR_REFUSE_IF(latency < Time(), "Topology::AddLink: the latency is negative");
    WEIR_REFUSE_IF(profile >= m_profileNames.size(), "Topology::AddLink: no such link profile");
    auto& outgoing = m_outgoing[from.Index()];
    const auto parallel = std::count_if(outgoing.begin(), outgoing.end(), [this, to](LinkId other) {
        return m_links[other.Index()].to == to;
    });
    const LinkId id(m_links.size());
    m_links.push_back({from,
                       to,
                       kind,
                       rate,
                       latency,
                       static_cast<uint16_t>(parallel),
                       LinkId(),
                       profile,
                       0,
                       1,
                       1});
    outgoing.push_back(id);
    return id;
}

LinkId
Topology::AddDuplexLink(
    DeviceId a, DeviceId b, LinkKind kind, Rate rate, Time latency, uint16_t profile)
{
    const LinkId there = AddDuplexLink(a, b, kind, rate, latency, latency);
    m_links[there.Index()].profile = profile;
    m_links[m_links[there.Index()].opposite.Index()].profile = profile;
    return there;
}

LinkId
Topology::AddDuplexLink(
    DeviceId a, DeviceId b, LinkKind kind, Rate rate, Time latency, Time latencyBack)
{
    const LinkId there = AddLink(a, b, kind, rate, latency);
    const LinkId back = AddLink(b, a, kind, rate, latencyBack);
    m_links[there.Index()].opposite = back;
    m_links[back.Index()].opposite = there;
    return there;
}

LinkId
Topology::AddDuplexLink(
    DeviceId a, DeviceId b, LinkKind kind, const LinkProfile& profile, uint32_t bundle)
{
    const LinkId there = AddDuplexLink(
        a, b, kind, profile.PayloadRate() * bundle, profile.latency, AddProfileName(profile.name));
    SetBothDirections(m_links, there, &Link::framing, profile.framing);
    return there;
}

void
Topology::SetDimension(LinkId link, uint8_t dimension)
{
    SetBothDirections(m_links, link, &Link::dimension, dimension);
}

void
Topology::SetCost(LinkId link, uint8_t cost)
{
    SetBothDirections(m_links, link, &Link::cost, cost);
}

DeviceId
Topology::FindDevice(const std::string& name) const
{
    const auto found = m_devicesByName.find(name);
    return found == m_devicesByName.end() ? DeviceId() : found->second;
}

std::string
Topology::LinkName(LinkId id) const
{
    const Link& link = GetLink(id);
    std::string name = GetDevice(link.from).name + "->" + GetDevice(link.to).name;
    if (link.parallel > 0)
    {
        name += "#" + std::to_string(link.parallel + 1);
    }
    return name;
}

std::vector<LinkId>
LinksNamed(const Topology& topology, const std::string& pattern)
{
    std::vector<LinkId> links;
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        if (Matches(topology.LinkName(LinkId(i)), pattern))
        {
            links.emplace_back(i);
        }
    }
    WEIR_REFUSE_IF(links.empty(),
                   "found '" << pattern
                             << "', expected the name of a link, as 'leaf0->spine1', in which * "
                                "stands for any text");
    return links;
}

} // namespace weir
