// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_FABRIC_NET_DEVICE_H
#define WEIR_MODEL_FABRIC_NET_DEVICE_H

#include "fabric-channel.h"
#include "fabric-port.h"

#include "ns3/mac48-address.h"
#include "ns3/net-device.h"
#include "ns3/packet.h"
#include "ns3/queue.h"
#include "ns3/traced-callback.h"

#include <cstdint>

namespace ns3
{

/**
 * A NIC of a cluster as an ns-3 net device. Stock applications, sockets and protocols of its node
 * send over the links, ports and buffers of the fabric, alongside the flows of GPUs, in a separate
 * traffic class.
 *
 * Packets wait in TxQueue until the NIC's port is free. The port serves its traffic classes round
 * robin, one packet each. A switch without buffer space in a lossy class drops packets; a switch
 * that marks sets CE in the IP header of ECN-capable packets. The device uses Ethernet frames and
 * MAC addresses, but neither broadcast nor ARP: the channel knows the addresses.
 */
class FabricNetDevice : public NetDevice
{
  public:
    /** Get the type ID. */
    static TypeId GetTypeId();

    FabricNetDevice();
    ~FabricNetDevice() override;

    /**
     * Attaches the device to a NIC. May be called only once, after the attributes are set.
     * @param channel the fabric's channel
     * @param nic NIC of the cluster's topology
     */
    void Attach(Ptr<FabricChannel> channel, weir::DeviceId nic);

    /** Sets the transmit queue. */
    void SetQueue(Ptr<Queue<Packet>> queue);

    /** The transmit queue. */
    Ptr<Queue<Packet>> GetQueue() const
    {
        return m_queue;
    }

    /** The NIC's port into the network, which flows of GPUs also use. */
    Ptr<FabricPort> GetPort() const;

    /** The link of the port. @return its number in the topology */
    uint32_t GetLink() const
    {
        return m_link;
    }

    /**
     * The bytes of a frame on the wire.
     * @param bytes of the frame with its header, without check sequence
     * @return the bytes, with check sequence, padding, preamble and gap
     */
    uint32_t GetWireBytes(uint32_t bytes) const;

    /**
     * Takes the next frame out of the queue for transmission now.
     * @return the frame; null if the queue is empty
     */
    Ptr<Packet> Dequeue();

    /**
     * Receives a frame.
     * @param frame with its header
     * @param isMarked whether a switch has marked it
     */
    void Receive(Ptr<Packet> frame, bool isMarked);

    /**
     * Reports that a frame of this device was dropped.
     * @param frame with its header
     * @param link the link whose queue had no room, or that failed with the frame on it
     */
    void TraceDrop(Ptr<const Packet> frame, uint32_t link);

    void SetIfIndex(const uint32_t index) override
    {
        m_ifIndex = index;
    }

    uint32_t GetIfIndex() const override
    {
        return m_ifIndex;
    }

    Ptr<Channel> GetChannel() const override
    {
        return m_channel;
    }

    void SetAddress(Address address) override;

    Address GetAddress() const override
    {
        return m_address;
    }

    bool SetMtu(const uint16_t mtu) override;

    uint16_t GetMtu() const override
    {
        return m_mtu;
    }

    bool IsLinkUp() const override;
    void AddLinkChangeCallback(Callback<void> callback) override;

    bool IsBroadcast() const override
    {
        return false;
    }

    Address GetBroadcast() const override
    {
        return Mac48Address::GetBroadcast();
    }

    bool IsMulticast() const override
    {
        return false;
    }

    Address GetMulticast(Ipv4Address multicastGroup) const override;
    Address GetMulticast(Ipv6Address address) const override;

    bool IsBridge() const override
    {
        return false;
    }

    bool IsPointToPoint() const override
    {
        return false;
    }

    bool Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber) override
    {
        return SendFrom(packet, m_address, dest, protocolNumber);
    }

    bool SendFrom(Ptr<Packet> packet,
                  const Address& source,
                  const Address& dest,
                  uint16_t protocolNumber) override;

    Ptr<Node> GetNode() const override
    {
        return m_node;
    }

    void SetNode(Ptr<Node> node) override
    {
        m_node = node;
    }

    bool NeedsArp() const override
    {
        return false;
    }

    void SetReceiveCallback(ReceiveCallback callback) override
    {
        m_receive = callback;
    }

    void SetPromiscReceiveCallback(PromiscReceiveCallback callback) override
    {
        m_promiscReceive = callback;
    }

    bool SupportsSendFrom() const override
    {
        return true;
    }

    /**
     * TracedCallback signature of FabricDrop.
     * @param packet the frame
     * @param link the link whose queue had no room, or that failed with the frame on it
     */
    typedef void (*FabricDropTracedCallback)(Ptr<const Packet> packet, uint32_t link);

  protected:
    void DoDispose() override;

  private:
    /**
     * Sets the traffic class of its packets. To be called before Attach.
     * @param trafficClass of the fabric
     */
    void SetTrafficClass(uint32_t trafficClass);

    /** Gets the traffic class of its packets. */
    uint32_t GetTrafficClass() const
    {
        return m_trafficClass;
    }

    /**
     * Sets the minimum length of a frame. To be called before Attach.
     * @param bytes with check sequence
     */
    void SetMinFrame(uint32_t bytes);

    /** Gets the minimum length of a frame. @return the bytes */
    uint32_t GetMinFrame() const
    {
        return m_minFrame;
    }

    /**
     * Sets the overhead of a frame on the wire. To be called before Attach.
     * @param bytes of preamble and gap
     */
    void SetGap(uint32_t bytes);

    /** Gets the overhead of a frame on the wire. @return the bytes of preamble and gap */
    uint32_t GetGap() const
    {
        return m_gap;
    }

    /**
     * Aborts if the device is attached.
     * @param attribute that is being set
     */
    void CheckDetached(const char* attribute) const;

    Ptr<FabricChannel> m_channel;            //!< channel of the fabric
    Ptr<Node> m_node;                        //!< node of the device
    Ptr<Queue<Packet>> m_queue;              //!< transmit queue
    Mac48Address m_address;                  //!< of the device
    uint32_t m_link{0};                      //!< link of the port, in the topology
    uint32_t m_ifIndex{0};                   //!< index among the node's devices
    uint32_t m_trafficClass;                 //!< of its packets
    uint16_t m_mtu;                          //!< bytes
    uint32_t m_minFrame;                     //!< bytes
    uint32_t m_gap;                          //!< bytes
    ReceiveCallback m_receive;               //!< of the node
    PromiscReceiveCallback m_promiscReceive; //!< of the node

    TracedCallback<Ptr<const Packet>> m_macTx;          //!< MacTx trace source
    TracedCallback<Ptr<const Packet>> m_macTxDrop;      //!< MacTxDrop trace source
    TracedCallback<Ptr<const Packet>> m_macPromiscRx;   //!< MacPromiscRx trace source
    TracedCallback<Ptr<const Packet>> m_macRx;          //!< MacRx trace source
    TracedCallback<Ptr<const Packet>> m_phyTxBegin;     //!< PhyTxBegin trace source
    TracedCallback<Ptr<const Packet>> m_phyRxEnd;       //!< PhyRxEnd trace source
    TracedCallback<Ptr<const Packet>> m_sniffer;        //!< Sniffer trace source
    TracedCallback<Ptr<const Packet>> m_promiscSniffer; //!< PromiscSniffer trace source
    TracedCallback<Ptr<const Packet>, uint32_t> m_drop; //!< FabricDrop trace source
};

} // namespace ns3

#endif // WEIR_MODEL_FABRIC_NET_DEVICE_H
