// SPDX-License-Identifier: GPL-2.0-only
#include "fabric-net-device.h"

#include "ns3/abort.h"
#include "ns3/ethernet-header.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv6-header.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/pointer.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricNetDevice");

NS_OBJECT_ENSURE_REGISTERED(FabricNetDevice);

namespace
{

constexpr uint32_t CHECK_BYTES = 4; //!< frame check sequence (IEEE 802.3)

/**
 * Sets the codepoint "congestion experienced" of an IP packet (RFC 3168).
 * @param packet without the Ethernet header
 */
void
SetCongestionExperienced(Ptr<Packet> packet, uint16_t protocol)
{
    if (protocol == Ipv4L3Protocol::PROT_NUMBER)
    {
        Ipv4Header header;
        packet->RemoveHeader(header);
        header.SetEcn(Ipv4Header::ECN_CE);
        if (Node::ChecksumEnabled())
        {
            header.EnableChecksum();
        }
        packet->AddHeader(header);
    }
    else if (protocol == Ipv6L3Protocol::PROT_NUMBER)
    {
        Ipv6Header header;
        packet->RemoveHeader(header);
        header.SetEcn(Ipv6Header::ECN_CE);
        packet->AddHeader(header);
    }
}

} // namespace

TypeId
FabricNetDevice::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FabricNetDevice")
            .SetParent<NetDevice>()
            .SetGroupName("Weir")
            .AddConstructor<FabricNetDevice>()
            .AddAttribute("Mtu",
                          "Maximum size of an IP packet in bytes. A frame must not be longer than "
                          "the fabric's packets.",
                          UintegerValue(1500),
                          MakeUintegerAccessor(&FabricNetDevice::SetMtu, &FabricNetDevice::GetMtu),
                          MakeUintegerChecker<uint16_t>(68))
            .AddAttribute("TrafficClass",
                          "Traffic class of the device's packets in the fabric. Class 1 is that of "
                          "flows; classes beyond LosslessClasses of PacketDescription are lossy. "
                          "It must be set before the device is attached.",
                          UintegerValue(weir::Datagrams::FIRST_CLASS),
                          MakeUintegerAccessor(&FabricNetDevice::SetTrafficClass,
                                               &FabricNetDevice::GetTrafficClass),
                          MakeUintegerChecker<uint32_t>(weir::Datagrams::FIRST_CLASS, 7))
            .AddAttribute(
                "MinFrame",
                "Minimum size of a frame in bytes, including the check sequence; shorter frames "
                "are padded (IEEE 802.3: 64). It must be set before the device is attached.",
                UintegerValue(64),
                MakeUintegerAccessor(&FabricNetDevice::SetMinFrame, &FabricNetDevice::GetMinFrame),
                MakeUintegerChecker<uint32_t>(0, 1500))
            .AddAttribute("Gap",
                          "Bytes of preamble and inter-frame gap per frame on the wire (IEEE "
                          "802.3: 8 and 12). It must be set before the device is attached.",
                          UintegerValue(20),
                          MakeUintegerAccessor(&FabricNetDevice::SetGap, &FabricNetDevice::GetGap),
                          MakeUintegerChecker<uint32_t>(0, 1500))
            .AddAttribute(
                "TxQueue",
                "Queue in which packets wait for the NIC's port.",
                PointerValue(),
                MakePointerAccessor(&FabricNetDevice::SetQueue, &FabricNetDevice::GetQueue),
                MakePointerChecker<Queue<Packet>>())
            .AddAttribute("Port",
                          "Port of the NIC into the network, which is shared with flows.",
                          TypeId::ATTR_GET,
                          PointerValue(),
                          MakePointerAccessor(&FabricNetDevice::GetPort),
                          MakePointerChecker<FabricPort>())
            .AddTraceSource("MacTx",
                            "A packet was handed to the device for transmission.",
                            MakeTraceSourceAccessor(&FabricNetDevice::m_macTx),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource(
                "MacTxDrop",
                "The device dropped a packet: its queue was full, it is longer than Mtu, or "
                "no other device has the destination address.",
                MakeTraceSourceAccessor(&FabricNetDevice::m_macTxDrop),
                "ns3::Packet::TracedCallback")
            .AddTraceSource("MacPromiscRx",
                            "A packet was received.",
                            MakeTraceSourceAccessor(&FabricNetDevice::m_macPromiscRx),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource(
                "MacRx",
                "A packet was received; all packets received are addressed to this device.",
                MakeTraceSourceAccessor(&FabricNetDevice::m_macRx),
                "ns3::Packet::TracedCallback")
            .AddTraceSource("PhyTxBegin",
                            "The transmission of a frame begins.",
                            MakeTraceSourceAccessor(&FabricNetDevice::m_phyTxBegin),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("PhyRxEnd",
                            "A frame was received completely.",
                            MakeTraceSourceAccessor(&FabricNetDevice::m_phyRxEnd),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("Sniffer",
                            "The transmission of a frame begins, or a frame was received, as seen "
                            "by a sniffer.",
                            MakeTraceSourceAccessor(&FabricNetDevice::m_sniffer),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("PromiscSniffer",
                            "The same as Sniffer.",
                            MakeTraceSourceAccessor(&FabricNetDevice::m_promiscSniffer),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("FabricDrop",
                            "A frame that this device has sent was dropped in the fabric.",
                            MakeTraceSourceAccessor(&FabricNetDevice::m_drop),
                            "ns3::FabricNetDevice::FabricDropTracedCallback");
    return tid;
}

FabricNetDevice::FabricNetDevice()
    : m_address(Mac48Address::Allocate())
{
    NS_LOG_FUNCTION(this);
}

FabricNetDevice::~FabricNetDevice() = default;

void
FabricNetDevice::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_channel = nullptr;
    m_node = nullptr;
    m_queue = nullptr;
    m_receive = ReceiveCallback();
    m_promiscReceive = PromiscReceiveCallback();
    NetDevice::DoDispose();
}

void
FabricNetDevice::Attach(Ptr<FabricChannel> channel, weir::DeviceId nic)
{
    NS_LOG_FUNCTION(this << channel << nic.Index());
    NS_ABORT_MSG_IF(m_channel, "FabricNetDevice: attached twice");
    NS_ABORT_MSG_IF(!channel, "FabricNetDevice: found no channel to attach to, expected one");
    const weir::PacketSpec& spec = channel->GetFabric()->GetPackets().GetSpec();
    NS_ABORT_MSG_IF(m_trafficClass > spec.trafficClasses,
                    "FabricNetDevice: TrafficClass is " << m_trafficClass
                                                        << ", expected at most the fabric's "
                                                           "TrafficClasses, which is "
                                                        << spec.trafficClasses);
    m_channel = channel;
    m_link = channel->Attach(this, nic);
    NS_ABORT_MSG_IF(!SetMtu(m_mtu),
                    "FabricNetDevice: Mtu is " << m_mtu << ", expected frames of at most "
                                               << channel->GetMaxWireBytes()
                                               << " bytes on the wire (Mtu and Header of "
                                                  "PacketDescription)");
}

void
FabricNetDevice::SetQueue(Ptr<Queue<Packet>> queue)
{
    NS_LOG_FUNCTION(this << queue);
    m_queue = queue;
}

Ptr<FabricPort>
FabricNetDevice::GetPort() const
{
    return m_channel ? m_channel->GetFabric()->GetPort(m_link) : nullptr;
}

uint32_t
FabricNetDevice::GetWireBytes(uint32_t bytes) const
{
    return std::max(bytes + CHECK_BYTES, m_minFrame) + m_gap;
}

bool
FabricNetDevice::SendFrom(Ptr<Packet> packet,
                          const Address& source,
                          const Address& dest,
                          uint16_t protocolNumber)
{
    NS_LOG_FUNCTION(this << packet << source << dest << protocolNumber);
    NS_ABORT_MSG_IF(!m_channel,
                    "FabricNetDevice: found a packet to send on a device that is not attached, "
                    "expected FabricNetDeviceHelper to install it");
    m_macTx(packet);
    const Ptr<FabricNetDevice> to =
        m_channel->Find(Mac48Address::ConvertFrom(dest), packet, protocolNumber);
    const char* const reason = !m_queue                    ? "The device has no TxQueue"
                               : packet->GetSize() > m_mtu ? "A packet is longer than Mtu"
                               : !to ? "No device of the fabric has the destination address of a "
                                       "packet"
                               : PeekPointer(to) == this
                                   ? "A packet is for its sender; switches return none"
                                   : nullptr;
    if (reason)
    {
        NS_LOG_WARN(reason);
        m_macTxDrop(packet);
        return false;
    }
    EthernetHeader header(false);
    header.SetSource(Mac48Address::ConvertFrom(source));
    header.SetDestination(to->m_address);
    header.SetLengthType(protocolNumber);
    packet->AddHeader(header);
    if (!m_queue->Enqueue(packet))
    {
        m_macTxDrop(packet);
        return false;
    }
    m_channel->Offer(m_link, m_trafficClass);
    return true;
}

Ptr<Packet>
FabricNetDevice::Dequeue()
{
    const Ptr<Packet> frame = m_queue->Dequeue();
    if (frame)
    {
        m_phyTxBegin(frame);
        m_sniffer(frame);
        m_promiscSniffer(frame);
    }
    return frame;
}

void
FabricNetDevice::Receive(Ptr<Packet> frame, bool isMarked)
{
    NS_LOG_FUNCTION(this << frame << isMarked);
    EthernetHeader header(false);
    frame->RemoveHeader(header);
    const uint16_t protocol = header.GetLengthType();
    if (isMarked)
    {
        SetCongestionExperienced(frame, protocol);
    }
    if (!m_phyRxEnd.IsEmpty() || !m_sniffer.IsEmpty() || !m_promiscSniffer.IsEmpty())
    {
        const Ptr<Packet> whole = frame->Copy();
        whole->AddHeader(header);
        m_phyRxEnd(whole);
        m_sniffer(whole);
        m_promiscSniffer(whole);
    }
    m_macPromiscRx(frame);
    if (!m_promiscReceive.IsNull())
    {
        m_promiscReceive(this,
                         frame->Copy(),
                         protocol,
                         header.GetSource(),
                         header.GetDestination(),
                         NetDevice::PACKET_HOST);
    }
    m_macRx(frame);
    m_receive(this, frame, protocol, header.GetSource());
}

void
FabricNetDevice::TraceDrop(Ptr<const Packet> frame, uint32_t link)
{
    NS_LOG_FUNCTION(this << frame << link);
    m_drop(frame, link);
}

void
FabricNetDevice::SetAddress(Address address)
{
    NS_ABORT_MSG_IF(m_channel,
                    "FabricNetDevice: found an address set on a device that is attached, expected "
                    "it to be set before");
    m_address = Mac48Address::ConvertFrom(address);
}

void
FabricNetDevice::CheckDetached(const char* attribute) const
{
    NS_ABORT_MSG_IF(m_channel,
                    "FabricNetDevice: found " << attribute
                                              << " set on a device that is attached, expected it "
                                                 "to be set before (SetDeviceAttribute)");
}

void
FabricNetDevice::SetTrafficClass(uint32_t trafficClass)
{
    CheckDetached("TrafficClass");
    m_trafficClass = trafficClass;
}

void
FabricNetDevice::SetMinFrame(uint32_t bytes)
{
    CheckDetached("MinFrame");
    m_minFrame = bytes;
}

void
FabricNetDevice::SetGap(uint32_t bytes)
{
    CheckDetached("Gap");
    m_gap = bytes;
}

bool
FabricNetDevice::SetMtu(const uint16_t mtu)
{
    if (m_channel && GetWireBytes(mtu + EthernetHeader(false).GetSerializedSize()) >
                         m_channel->GetMaxWireBytes())
    {
        return false;
    }
    m_mtu = mtu;
    return true;
}

bool
FabricNetDevice::IsLinkUp() const
{
    return m_channel && m_channel->IsLinkUp(m_link);
}

void
FabricNetDevice::AddLinkChangeCallback(Callback<void> callback)
{
    // Failures of fabric links are not reported to devices: packets for a link that is down wait.
}

Address
FabricNetDevice::GetMulticast(Ipv4Address multicastGroup) const
{
    return Mac48Address::GetMulticast(multicastGroup);
}

Address
FabricNetDevice::GetMulticast(Ipv6Address address) const
{
    return Mac48Address::GetMulticast(address);
}

} // namespace ns3
