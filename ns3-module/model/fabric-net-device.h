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
 * A NIC of a cluster as a device of ns-3: stock applications, sockets and protocols of its node
 * send over the links, ports and buffers of the fabric, beside the flows of GPUs, in a traffic
 * class of their own.
 *
 * Packets wait in TxQueue until the NIC's port has time for them: it serves its classes in turns, a
 * packet each. A switch that has no room in a lossy class drops them; one that marks sets CE in the
 * IP header of those that are ECN capable. The device has Ethernet frames and MAC addresses, but
 * neither broadcasts nor asks for addresses: the channel knows them.
 */
class FabricNetDevice : public NetDevice
{
  public:
    /**
     * Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    FabricNetDevice();
    ~FabricNetDevice() override;

    /**
     * Attaches the device to a NIC; once, and after its attributes are set.
     * @param channel the fabric's channel
     * @param nic of the cluster's topology
     */
    void Attach(Ptr<FabricChannel> channel, weir::DeviceId nic);

    /**
     * Sets what packets wait in before they are sent.
     * @param queue the queue
     */
    void SetQueue(Ptr<Queue<Packet>> queue);

    /**
     * What packets wait in before they are sent.
     * @return the queue
     */
    Ptr<Queue<Packet>> GetQueue() const;

    /**
     * The NIC's port into the network, which the GPUs' flows use, too.
     * @return the port
     */
    Ptr<FabricPort> GetPort() const;

    /**
     * The link that the port leads to.
     * @return its number in the topology
     */
    uint32_t GetLink() const;

    /**
     * What a frame takes on the wire.
     * @param bytes of the frame with its header, without check sequence
     * @return the bytes, with check sequence, padding, preamble and gap
     */
    uint32_t GetWireBytes(uint32_t bytes) const;

    /**
     * The next frame is sent now.
     * @return the frame; null when none waits
     */
    Ptr<Packet> Dequeue();

    /**
     * A frame has come.
     * @param frame with its header
     * @param isMarked whether a switch has marked it
     */
    void Receive(Ptr<Packet> frame, bool isMarked);

    /**
     * A frame that this device has sent was dropped.
     * @param frame with its header
     * @param link what it could not enter, or was on when it failed
     */
    void NoteDrop(Ptr<const Packet> frame, uint32_t link);

    void SetIfIndex(const uint32_t index) override;
    uint32_t GetIfIndex() const override;
    Ptr<Channel> GetChannel() const override;
    void SetAddress(Address address) override;
    Address GetAddress() const override;
    bool SetMtu(const uint16_t mtu) override;
    uint16_t GetMtu() const override;
    bool IsLinkUp() const override;
    void AddLinkChangeCallback(Callback<void> callback) override;
    bool IsBroadcast() const override;
    Address GetBroadcast() const override;
    bool IsMulticast() const override;
    Address GetMulticast(Ipv4Address multicastGroup) const override;
    Address GetMulticast(Ipv6Address address) const override;
    bool IsBridge() const override;
    bool IsPointToPoint() const override;
    bool Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber) override;
    bool SendFrom(Ptr<Packet> packet,
                  const Address& source,
                  const Address& dest,
                  uint16_t protocolNumber) override;
    Ptr<Node> GetNode() const override;
    void SetNode(Ptr<Node> node) override;
    bool NeedsArp() const override;
    void SetReceiveCallback(ReceiveCallback callback) override;
    void SetPromiscReceiveCallback(PromiscReceiveCallback callback) override;
    bool SupportsSendFrom() const override;

    /**
     * TracedCallback signature of FabricDrop.
     * @param packet the frame
     * @param link what it could not enter, or was on when it failed
     */
    typedef void (*FabricDropTracedCallback)(Ptr<const Packet> packet, uint32_t link);

  protected:
    void DoDispose() override;

  private:
    /**
     * Sets the class of its packets; before it is attached.
     * @param trafficClass of the fabric
     */
    void SetTrafficClass(uint32_t trafficClass);

    /**
     * Gets the class of its packets.
     * @return the class
     */
    uint32_t GetTrafficClass() const;

    /**
     * Sets the least length of a frame; before it is attached.
     * @param bytes with check sequence
     */
    void SetMinFrame(uint32_t bytes);

    /**
     * Gets the least length of a frame.
     * @return the bytes
     */
    uint32_t GetMinFrame() const;

    /**
     * Sets what a frame takes on the wire besides; before it is attached.
     * @param bytes of preamble and gap
     */
    void SetGap(uint32_t bytes);

    /**
     * Gets what a frame takes on the wire besides.
     * @return the bytes
     */
    uint32_t GetGap() const;

    /**
     * Ends the program when the device is attached.
     * @param attribute that is being set
     */
    void CheckDetached(const char* attribute) const;

    Ptr<FabricChannel> m_channel;            //!< the fabric's
    Ptr<Node> m_node;                        //!< whose device it is
    Ptr<Queue<Packet>> m_queue;              //!< what packets wait in
    Mac48Address m_address;                  //!< of the device
    uint32_t m_link{0};                      //!< of the topology: the port's
    uint32_t m_ifIndex{0};                   //!< number among the node's devices
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
