// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TOPOLOGY_H
#define WEIR_FABRIC_TOPOLOGY_H

#include "fabric/ids.h"
#include "fabric/units.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace weir
{

struct LinkProfile;

/** What a device is; decides what may pass through it and how it is drawn. */
enum class DeviceKind : uint8_t
{
    Gpu,
    NvSwitch,
    PcieSwitch,
    RootComplex, //!< a CPU socket's PCIe root
    Nic,
    LeafSwitch,
    SpineSwitch,
    CoreSwitch,
    Host //!< an end point without inner structure (imported topologies)
};

/** What a link is made of; decides which transport NCCL would call it. */
enum class LinkKind : uint8_t
{
    NvLink,
    Pcie,
    InterSocket,
    Network
};

/** A set of link kinds: bit 1 << LinkKind. */
constexpr uint8_t
KindBit(LinkKind kind)
{
    return static_cast<uint8_t>(1u << static_cast<unsigned>(kind));
}

constexpr uint8_t NVLINK_KINDS = KindBit(LinkKind::NvLink);
constexpr uint8_t PCIE_KINDS = KindBit(LinkKind::Pcie) | KindBit(LinkKind::InterSocket);
constexpr uint8_t NETWORK_KINDS = KindBit(LinkKind::Network);
constexpr uint8_t ALL_KINDS = NVLINK_KINDS | PCIE_KINDS | NETWORK_KINDS;

const char* ToString(DeviceKind kind);
const char* ToString(LinkKind kind);

/** A vertex of the fabric. */
struct Device
{
    static constexpr uint32_t NO_NODE = 0xffffffff; //!< not inside a server

    DeviceKind kind{DeviceKind::Host};
    uint32_t node{NO_NODE};  //!< the server it is part of, or NO_NODE for fabric switches
    uint32_t index{0};       //!< its number among devices of this kind in this node (or fabric)
    std::string name;        //!< unique, e.g. "node3/gpu5" or "leaf2"
    uint32_t group{NO_NODE}; //!< the group of a dragonfly that a switch is in, or NO_NODE
};

/** Whether it is a switch between servers. */
inline bool
IsNetworkSwitch(const Device& device)
{
    return device.kind == DeviceKind::LeafSwitch || device.kind == DeviceKind::SpineSwitch ||
           device.kind == DeviceKind::CoreSwitch;
}

/** Whether flows between servers begin and end there. */
inline bool
IsEndPoint(const Device& device)
{
    return device.kind == DeviceKind::Nic || device.kind == DeviceKind::Host;
}

/** One direction of a wire (or of a bundle of wires that always share their load). */
struct Link
{
    DeviceId from;
    DeviceId to;
    LinkKind kind{LinkKind::Network};
    Rate rate;            //!< payload rate: raw rate times the profile's efficiency
    Time latency;         //!< propagation plus the fixed delay of the device it ends at
    uint16_t parallel{0}; //!< tells parallel links between the same two devices apart
    LinkId opposite;      //!< the other direction, if there is one
    uint16_t profile{0};  //!< index into Topology::GetProfileName
    uint8_t dimension{0}; //!< that a link between routers goes along; dimension order takes the
                          //!< lowest first
    uint8_t cost{1}; //!< what it counts in the length of a path; shortest paths have the least sum
    double framing{1}; //!< part of the raw rate that `rate` is; 1: headers count in `rate`
};

/** Payload a byte that packets carry: their bytes have headers on the network, none inside nodes.
 */
inline double
PayloadPart(const Link& link)
{
    return link.kind == LinkKind::Network ? link.framing : 1;
}

/**
 * The fabric as a directed multigraph: devices and links, indexed densely by DeviceId and LinkId.
 *
 * Built once, by the builders beside this file or by a reader, then only read. Rates that change
 * during a run (a degraded or failed link) are state of the transport, not of the topology.
 */
class Topology
{
  public:
    /** @throws std::invalid_argument when a device of that name exists. */
    DeviceId AddDevice(DeviceKind kind,
                       std::string name,
                       uint32_t node = Device::NO_NODE,
                       uint32_t index = 0);

    /**
     * Registers the name of a link profile, once however often it is given.
     * @return its index for AddLink.
     */
    uint16_t AddProfileName(const std::string& name);

    /**
     * Adds one direction.
     * @throws std::invalid_argument when an end does not exist, the rate is negative or not a
     *         number, or the latency is negative. Rate zero is allowed: a link that is down.
     */
    LinkId AddLink(
        DeviceId from, DeviceId to, LinkKind kind, Rate rate, Time latency, uint16_t profile = 0);

    /** Adds both directions with the same figures. @return the direction from @p a to @p b. */
    LinkId AddDuplexLink(
        DeviceId a, DeviceId b, LinkKind kind, Rate rate, Time latency, uint16_t profile = 0);

    /** Adds both directions, of which the one from @p b to @p a has another latency. */
    LinkId AddDuplexLink(
        DeviceId a, DeviceId b, LinkKind kind, Rate rate, Time latency, Time latencyBack);

    /** Adds both directions as @p bundle wires of @p profile that always share their load. */
    LinkId AddDuplexLink(
        DeviceId a, DeviceId b, LinkKind kind, const LinkProfile& profile, uint32_t bundle = 1);

    /** Says that a switch is in a group of a dragonfly. */
    void SetGroup(DeviceId device, uint32_t group)
    {
        m_devices[device.Index()].group = group;
    }

    /** Says that a wire, both directions of it, goes along a dimension. */
    void SetDimension(LinkId link, uint8_t dimension);

    /** Says what a wire, both directions of it, counts in the length of a path; at least 1. */
    void SetCost(LinkId link, uint8_t cost);

    const Device& GetDevice(DeviceId id) const
    {
        return m_devices[id.Index()];
    }

    const Link& GetLink(LinkId id) const
    {
        return m_links[id.Index()];
    }

    std::size_t DeviceCount() const
    {
        return m_devices.size();
    }

    std::size_t LinkCount() const
    {
        return m_links.size();
    }

    /** The links that leave a device, in the order they were added. */
    const std::vector<LinkId>& LinksFrom(DeviceId id) const
    {
        return m_outgoing[id.Index()];
    }

    /** The device of that name; an invalid id when there is none. */
    DeviceId FindDevice(const std::string& name) const;

    const std::string& GetProfileName(uint16_t profile) const
    {
        return m_profileNames[profile];
    }

    /** "node0/gpu1->node0/nvswitch0", with "#2" appended for parallel links past the first. */
    std::string LinkName(LinkId id) const;

  private:
    std::vector<Device> m_devices;
    std::vector<Link> m_links;
    std::vector<std::vector<LinkId>> m_outgoing; //!< by device
    std::vector<std::string> m_profileNames{""};
    std::unordered_map<std::string, DeviceId> m_devicesByName;
};

/** Whether a link leads from a switch between servers to another. */
inline bool
JoinsSwitches(const Topology& topology, LinkId id)
{
    const Link& link = topology.GetLink(id);
    return IsNetworkSwitch(topology.GetDevice(link.from)) &&
           IsNetworkSwitch(topology.GetDevice(link.to));
}

} // namespace weir

#endif // WEIR_FABRIC_TOPOLOGY_H
