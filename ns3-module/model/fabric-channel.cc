// SPDX-License-Identifier: GPL-2.0-only
#include "fabric-channel.h"

#include "fabric-net-device.h"

#include "fabric/routing/flow-hash.h"
#include "ns3/abort.h"
#include "ns3/ethernet-header.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv6-header.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/simulator.h"

#include <array>
#include <exception>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricChannel");

NS_OBJECT_ENSURE_REGISTERED(FabricChannel);

namespace
{

constexpr uint32_t ETHERNET_BYTES = 14; //!< destination, source, type

/** The first bytes of a frame, which switches inspect. */
struct FrameHead
{
    std::array<uint8_t, 80> bytes{}; //!< Ethernet, the longest IPv4 header or IPv6's, ports
    uint32_t size{0};                //!< number of valid bytes

    /** @param frame with its header */
    explicit FrameHead(const Packet& frame)
        : size(frame.CopyData(bytes.data(), bytes.size()))
    {
    }

    /**
     * A 32-bit word of the head; zero beyond its end.
     * @param offset offset of its first byte
     */
    uint32_t Word(uint32_t offset) const
    {
        return offset + 4 > size
                   ? 0
                   : uint32_t{bytes[offset]} << 24 | uint32_t{bytes[offset + 1]} << 16 |
                         uint32_t{bytes[offset + 2]} << 8 | bytes[offset + 3];
    }

    /** The EtherType of the frame. */
    uint16_t Type() const
    {
        return static_cast<uint16_t>(Word(ETHERNET_BYTES - 2) >> 16);
    }

    /** The destination. @return its address */
    Mac48Address Destination() const
    {
        Mac48Address address;
        address.CopyFrom(bytes.data());
        return address;
    }

    /**
     * The ECN codepoint (RFC 3168): the last two bits of the type of service or traffic class.
     * @return the codepoint; 0: not ECN capable
     */
    unsigned Ecn() const
    {
        return Type() == Ipv4L3Protocol::PROT_NUMBER   ? bytes[ETHERNET_BYTES + 1] & 3u
               : Type() == Ipv6L3Protocol::PROT_NUMBER ? Word(ETHERNET_BYTES) >> 20 & 3u
                                                       : 0u;
    }

    /**
     * A hash of addresses, protocol and ports; the ports of fragments are left out, since only the
     * first one has them.
     */
    uint32_t Hash() const
    {
        uint64_t hash = Type();
        const auto add = [&hash](uint32_t word) { hash = weir::SplitMix64(hash ^ word); };
        if (Type() == Ipv4L3Protocol::PROT_NUMBER)
        {
            const uint32_t header = 4 * (bytes[ETHERNET_BYTES] & 15u);
            const bool isFragment = (Word(ETHERNET_BYTES + 4) & 0x3fff) != 0;
            add(bytes[ETHERNET_BYTES + 9]);
            add(Word(ETHERNET_BYTES + 12));
            add(Word(ETHERNET_BYTES + 16));
            add(isFragment ? 0 : Word(ETHERNET_BYTES + header));
        }
        else if (Type() == Ipv6L3Protocol::PROT_NUMBER)
        {
            const uint8_t next = bytes[ETHERNET_BYTES + 6];
            add(next);
            for (uint32_t i = 8; i < 40; i += 4) // both addresses
            {
                add(Word(ETHERNET_BYTES + i));
            }
            const bool isFragment = next == Ipv6Header::IPV6_EXT_FRAGMENTATION;
            add(isFragment ? 0 : Word(ETHERNET_BYTES + 40));
        }
        return static_cast<uint32_t>(hash);
    }
};

} // namespace

TypeId
FabricChannel::GetTypeId()
{
    static TypeId tid = TypeId("ns3::FabricChannel")
                            .SetParent<Channel>()
                            .SetGroupName("Weir")
                            .AddConstructor<FabricChannel>();
    return tid;
}

FabricChannel::~FabricChannel() = default;

void
FabricChannel::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_devices.clear();
    m_frames = {};
    m_fabric = nullptr;
    Channel::DoDispose();
}

Ptr<FabricChannel>
FabricChannel::Of(Ptr<FluidFabric> fabric)
{
    NS_ABORT_MSG_IF(!fabric, "FabricChannel: found no fabric, expected one");
    Ptr<FabricChannel> channel = fabric->GetObject<FabricChannel>();
    if (!channel)
    {
        channel = CreateObject<FabricChannel>();
        channel->m_fabric = fabric;
        fabric->GetPackets().SetDatagramClient(*channel);
        fabric->GetDriver()->Hold(channel);
        fabric->AggregateObject(channel);
    }
    return channel;
}

uint32_t
FabricChannel::Attach(Ptr<FabricNetDevice> device, weir::DeviceId nic)
{
    NS_LOG_FUNCTION(this << device << nic.Index());
    const weir::Topology& topology = m_fabric->GetFabric().GetCluster().GetTopology();
    std::vector<weir::LinkId> links;
    for (const weir::LinkId link : topology.LinksFrom(nic))
    {
        if (topology.GetLink(link).kind == weir::LinkKind::Network)
        {
            links.push_back(link);
        }
    }
    const std::string& name = topology.GetDevice(nic).name;
    NS_ABORT_MSG_IF(links.size() != 1,
                    "FabricChannel: found " << links.size() << " links from " << name
                                            << " into the network, expected one");
    const auto index = static_cast<uint32_t>(m_devices.size());
    NS_ABORT_MSG_IF(!m_deviceOfLink.emplace(links.front().Index(), index).second,
                    "FabricChannel: found two devices on " << name << ", expected one");
    m_devices.push_back(device);
    m_nics.push_back(nic);
    m_isOffered.push_back(false);
    m_routes.emplace_back();
    m_macs[Mac48Address::ConvertFrom(device->GetAddress())] = index;
    return links.front().Index();
}

void
FabricChannel::LookUpAddresses()
{
    m_ipv4.clear();
    m_ipv6.clear();
    std::map<Ipv4Address, uint32_t> others4; // addresses of other interfaces of the nodes
    std::map<Ipv6Address, uint32_t> others6; // as others4
    for (uint32_t d = 0; d < m_devices.size(); d++)
    {
        const Ptr<NetDevice> device = m_devices[d];
        const Ptr<Ipv4> ipv4 = device->GetNode()->GetObject<Ipv4>();
        for (uint32_t i = 0; ipv4 && i < ipv4->GetNInterfaces(); i++)
        {
            for (uint32_t a = 0; a < ipv4->GetNAddresses(i); a++)
            {
                const Ipv4Address address = ipv4->GetAddress(i, a).GetLocal();
                if (!address.IsLocalhost())
                {
                    (ipv4->GetNetDevice(i) == device ? m_ipv4 : others4).emplace(address, d);
                }
            }
        }
        const Ptr<Ipv6> ipv6 = device->GetNode()->GetObject<Ipv6>();
        for (uint32_t i = 0; ipv6 && i < ipv6->GetNInterfaces(); i++)
        {
            for (uint32_t a = 0; a < ipv6->GetNAddresses(i); a++)
            {
                const Ipv6Address address = ipv6->GetAddress(i, a).GetAddress();
                if (!address.IsLocalhost())
                {
                    (ipv6->GetNetDevice(i) == device ? m_ipv6 : others6).emplace(address, d);
                }
            }
        }
    }
    m_ipv4.insert(others4.begin(), others4.end()); // own addresses take precedence
    m_ipv6.insert(others6.begin(), others6.end());
}

Ptr<FabricNetDevice>
FabricChannel::Find(Mac48Address address, Ptr<const Packet> packet, uint16_t protocol)
{
    const auto find = [this](const auto& devices, const auto& key) {
        auto found = devices.find(key);
        if (found == devices.end())
        {
            LookUpAddresses(); // addresses may be assigned after Attach, and change
            found = devices.find(key);
        }
        return found == devices.end() ? nullptr : m_devices[found->second];
    };
    if (!address.IsGroup())
    {
        return find(m_macs, address);
    }
    std::array<uint8_t, 40> head{};
    packet->CopyData(head.data(), head.size());
    if (address.IsBroadcast() && protocol == Ipv4L3Protocol::PROT_NUMBER)
    {
        const Ipv4Address to = Ipv4Address::Deserialize(&head[16]);
        return to.IsMulticast() || to.IsBroadcast() ? nullptr : find(m_ipv4, to);
    }
    if (address.IsBroadcast() && protocol == Ipv6L3Protocol::PROT_NUMBER)
    {
        const Ipv6Address to = Ipv6Address::Deserialize(&head[24]);
        return to.IsMulticast() ? nullptr : find(m_ipv6, to);
    }
    return nullptr;
}

void
FabricChannel::Offer(uint32_t link, unsigned trafficClass)
{
    const uint32_t device = m_deviceOfLink.at(link);
    if (m_isOffered[device])
    {
        return; // the port takes the next frame after the present one
    }
    m_isOffered[device] = true;
    const weir::Time now = m_fabric->GetDriver()->Synchronize();
    m_fabric->GetPackets().OfferDatagrams(weir::LinkId(link), trafficClass, now);
    m_fabric->GetDriver()->Update();
}

weir::RouteId
FabricChannel::FindRoute(uint32_t source, uint32_t destination, uint32_t hash)
{
    const auto [found, isNew] =
        m_routes[source].try_emplace(uint64_t{destination} << 32 | hash, weir::RouteId());
    if (isNew)
    {
        weir::RouteRequest request;
        request.source = request.outNic = m_nics[source];
        request.destination = request.inNic = m_nics[destination];
        request.sourcePort = static_cast<uint16_t>(hash);
        request.queuePair = static_cast<uint16_t>(hash >> 16);
        try
        {
            found->second = m_fabric->GetFabric().GetRouting().Add(request);
        }
        catch (const std::exception& error)
        {
            NS_ABORT_MSG("FabricChannel: " << error.what());
        }
    }
    return found->second;
}

std::optional<weir::Datagram>
FabricChannel::NextDatagram(weir::LinkId link, unsigned trafficClass, weir::Time now)
{
    const uint32_t source = m_deviceOfLink.at(link.Index());
    const Ptr<Packet> packet = m_devices[source]->Dequeue();
    if (!packet)
    {
        m_isOffered[source] = false;
        return std::nullopt;
    }
    const FrameHead head(*packet);
    const uint32_t destination = m_macs.at(head.Destination()); // Find has checked it
    weir::Datagram datagram;
    datagram.handle = m_frames.Take();
    datagram.route = FindRoute(source, destination, head.Hash());
    datagram.bytes = m_devices[source]->GetWireBytes(packet->GetSize());
    datagram.isEcnCapable = head.Ecn() != 0;
    m_frames[datagram.handle] = {packet, source, destination};
    m_sent++;
    return datagram;
}

FabricChannel::Frame
FabricChannel::Take(uint64_t handle)
{
    m_frames.Free(static_cast<uint32_t>(handle));
    return std::exchange(m_frames[handle], Frame());
}

void
FabricChannel::OnDatagram(uint64_t handle, bool isMarked, weir::Time now)
{
    const Frame frame = Take(handle);
    m_delivered++;
    // ns-3 asserts that a node receives in its own context.
    const Ptr<FabricNetDevice> device = m_devices[frame.destination];
    Simulator::ScheduleWithContext(device->GetNode()->GetId(),
                                   Time(0),
                                   &FabricNetDevice::Receive,
                                   device,
                                   frame.packet,
                                   isMarked);
}

void
FabricChannel::OnDatagramLost(uint64_t handle, weir::LinkId link, weir::Time now)
{
    const Frame frame = Take(handle);
    m_dropped++;
    m_devices[frame.source]->TraceDrop(frame.packet, link.Index());
}

uint32_t
FabricChannel::GetMaxWireBytes()
{
    const weir::PacketFormat& format = m_fabric->GetPackets().GetSpec().format;
    return static_cast<uint32_t>(format.mtu.Count()) + format.header.value_or(0);
}

bool
FabricChannel::IsLinkUp(uint32_t link) const
{
    return m_fabric->GetFabric().GetTransport().IsLinkUp(weir::LinkId(link));
}

Ptr<NetDevice>
FabricChannel::GetDevice(std::size_t i) const
{
    return m_devices[i];
}

} // namespace ns3
