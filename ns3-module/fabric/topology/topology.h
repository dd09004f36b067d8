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

/** The kind of a device, which determines whether it forwards and how it is drawn. */
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
    Host //!< end point without inner structure (imported topologies)
};

/** The kind of a link, which determines the transport that NCCL would use on it. */
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
    uint32_t node{NO_NODE};  //!< server that it is part of; NO_NODE for fabric switches
    uint32_t index{0};       //!< its number among devices of this kind in this node (or fabric)
    std::string name;        //!< unique, e.g. "node3/gpu5" or "leaf2"
    uint32_t group{NO_NODE}; //!< dragonfly group of a switch, or NO_NODE
};

/** Whether a device is a switch between servers. */
inline bool
IsNetworkSwitch(const Device& device)
{
    return device.kind == DeviceKind::LeafSwitch || device.kind == DeviceKind::SpineSwitch ||
           device.kind == DeviceKind::CoreSwitch;
}

/** Whether flows between servers begin and end at a device. */
inline bool
IsEndPoint(const Device& device)
{
    return device.kind == DeviceKind::Nic || device.kind == DeviceKind::Host;
}

/** One direction of a wire (or of a bundle of wires that always share the load). */
struct Link
{
    DeviceId from;
    DeviceId to;
    LinkKind kind{LinkKind::Network};
    Rate rate;            //!< payload rate: raw rate times the profile's efficiency
    Time latency;         //!< propagation plus the fixed delay of the receiving device
    uint16_t parallel{0}; //!< index among parallel links between the same two devices
    LinkId opposite;      //!< other direction, if there is one
    uint16_t profile{0};  //!< index into Topology::GetProfileName
    uint8_t dimension{0}; //!< of a link between routers; dimension order takes the lowest first
    uint8_t cost{1};      //!< cost in path lengths; shortest paths minimize the sum
    double framing{1};    //!< payload fraction of the raw rate; 1: `rate` includes headers
};

/**
 * The payload fraction of the bytes of packets on a link: packets have headers on the network but
 * not inside nodes.
 */
inline double
PayloadFraction(const Link& link)
{
    return link.kind == LinkKind::Network ? link.framing : 1;
}

/**
 * The fabric as a directed multigraph: devices and links, indexed densely by DeviceId and LinkId.
 *
 * It is built once, by the wiring functions or by a reader, and then only read. Rates that change
 * during a run (a degraded or failed link) are state of the transport, not of the topology.
 */
class Topology
{
  public:
    /** @throws std::invalid_argument if a device with that name exists. */
    DeviceId AddDevice(DeviceKind kind,
                       std::string name,
                       uint32_t node = Device::NO_NODE,
                       uint32_t index = 0);

    /**
     * Registers the name of a link profile, if it is not registered yet.
     * @return its index for AddLink.
     * @throws std::invalid_argument if there are more than 65536 names.
     */
    uint16_t AddProfileName(const std::string& name);

    /**
     * Adds one direction. @p rate is the payload rate; zero is allowed and means a link that is
     * down.
     * @throws std::invalid_argument if an end point or the profile does not exist, the rate is
     *         negative or not a number, or the latency is negative.
     */
    LinkId AddLink(
        DeviceId from, DeviceId to, LinkKind kind, Rate rate, Time latency, uint16_t profile = 0);

    /** Adds both directions with the same figures. @return the direction from @p a to @p b. */
    LinkId AddDuplexLink(
        DeviceId a, DeviceId b, LinkKind kind, Rate rate, Time latency, uint16_t profile = 0);

    /** Adds both directions; the direction from @p b to @p a has the latency @p latencyBack. */
    LinkId AddDuplexLink(
        DeviceId a, DeviceId b, LinkKind kind, Rate rate, Time latency, Time latencyBack);

    /** Adds both directions as @p bundle wires of @p profile that always share the load. */
    LinkId AddDuplexLink(
        DeviceId a, DeviceId b, LinkKind kind, const LinkProfile& profile, uint32_t bundle = 1);

    /** Sets the dragonfly group of a switch. */
    void SetGroup(DeviceId device, uint32_t group)
    {
        m_devices[device.Index()].group = group;
    }

    /** Sets the dimension of both directions of a wire. */
    void SetDimension(LinkId link, uint8_t dimension);

    /** Sets the cost of both directions of a wire in path lengths; at least 1. */
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

    /** The links that leave a device, in the order in which they were added. */
    const std::vector<LinkId>& LinksFrom(DeviceId id) const
    {
        return m_outgoing[id.Index()];
    }

    /** The device with that name; an invalid id if there is none. */
    DeviceId FindDevice(const std::string& name) const;

    const std::string& GetProfileName(uint16_t profile) const
    {
        return m_profileNames[profile];
    }

    /**
     * The name of a link: "node0/gpu1->node0/nvswitch0", with "#2", "#3", ... appended for further
     * parallel links.
     */
    std::string LinkName(LinkId id) const;

  private:
    std::vector<Device> m_devices;
    std::vector<Link> m_links;
    std::vector<std::vector<LinkId>> m_outgoing; //!< by device
    std::vector<std::string> m_profileNames{""};
    std::unordered_map<std::string, DeviceId> m_devicesByName;
};

/** Whether a link connects two switches between servers. */
inline bool
JoinsSwitches(const Topology& topology, LinkId id)
{
    const Link& link = topology.GetLink(id);
    return IsNetworkSwitch(topology.GetDevice(link.from)) &&
           IsNetworkSwitch(topology.GetDevice(link.to));
}

/**
 * Finds the links whose name matches @p pattern, "a->b" with * for any text.
 * @throws std::invalid_argument if there are none.
 */
std::vector<LinkId> LinksNamed(const Topology& topology, const std::string& pattern);

} // namespace weir

#endif // WEIR_FABRIC_TOPOLOGY_H
