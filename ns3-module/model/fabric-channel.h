// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_FABRIC_CHANNEL_H
#define WEIR_MODEL_FABRIC_CHANNEL_H

#include "fluid-fabric.h"

#include "fabric/slot-pool.h"
#include "fabric/transport/packet/datagrams.h"
#include "ns3/channel.h"
#include "ns3/ipv4-address.h"
#include "ns3/ipv6-address.h"
#include "ns3/mac48-address.h"
#include "ns3/packet.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace ns3
{

class FabricNetDevice;

/**
 * The fabric as an ns-3 channel: every FabricNetDevice on it reaches every other one. An
 * ns3::Packet of a device becomes a datagram of the same size, which passes the same ports, queues
 * and buffers as the packets of flows. The channel holds the ns3::Packet until the datagram is
 * delivered or lost.
 *
 * Switches hash the addresses, protocol and ports of a packet, so that a connection keeps its path.
 * There is neither broadcast nor ARP: an IP packet goes to the device whose node has its
 * destination address, and a frame to the device with its MAC address.
 */
class FabricChannel : public Channel, private weir::DatagramClient
{
  public:
    /** Get the type ID. */
    static TypeId GetTypeId();

    ~FabricChannel() override;

    /**
     * The channel of a fabric; created on first use.
     * @param fabric wired for packets
     */
    static Ptr<FabricChannel> Of(Ptr<FluidFabric> fabric);

    /**
     * Attaches a device to a NIC.
     * @param nic NIC of the cluster's topology, with one link into the network and no other device
     * @return the number of that link, for Offer
     */
    uint32_t Attach(Ptr<FabricNetDevice> device, weir::DeviceId nic);

    /**
     * The destination device of a frame.
     * @param address of a device; the broadcast address: the packet's IP address decides
     * @param packet without the Ethernet header
     * @return the device; null if there is none
     */
    Ptr<FabricNetDevice> Find(Mac48Address address, Ptr<const Packet> packet, uint16_t protocol);

    /**
     * Notifies the channel that a device has frames to send; the channel takes them when the port
     * is free.
     * @param link as returned by Attach
     */
    void Offer(uint32_t link, unsigned trafficClass);

    /** The maximum bytes of a packet on the wire. */
    uint32_t GetMaxWireBytes();

    /** Whether a link is up. */
    bool IsLinkUp(uint32_t link) const;

    /** The fabric. */
    Ptr<FluidFabric> GetFabric() const
    {
        return m_fabric;
    }

    /** The number of packets that have started to leave their first ports. */
    uint64_t GetSent() const
    {
        return m_sent;
    }

    /** The number of packets that have reached their destinations. */
    uint64_t GetDelivered() const
    {
        return m_delivered;
    }

    /** The number of packets that were dropped in the fabric. */
    uint64_t GetDropped() const
    {
        return m_dropped;
    }

    std::size_t GetNDevices() const override
    {
        return m_devices.size();
    }

    Ptr<NetDevice> GetDevice(std::size_t i) const override;

  protected:
    void DoDispose() override;

  private:
    /** A packet in flight. */
    struct Frame
    {
        Ptr<Packet> packet;      //!< with its Ethernet header
        uint32_t source{0};      //!< device index
        uint32_t destination{0}; //!< device index
    };

    std::optional<weir::Datagram> NextDatagram(weir::LinkId link,
                                               unsigned trafficClass,
                                               weir::Time now) override;
    void OnDatagram(uint64_t handle, bool isMarked, weir::Time now) override;
    void OnDatagramLost(uint64_t handle, weir::LinkId link, weir::Time now) override;

    /**
     * The route of a frame. Routes are kept for the whole run, as Routing keeps them: their number
     * is that of different hashes, which grows with connections, not with packets.
     * @param source device index
     * @param destination device index
     * @param hash of the fields that switches hash
     */
    weir::RouteId FindRoute(uint32_t source, uint32_t destination, uint32_t hash);

    /** Removes a frame that is no longer in flight. */
    Frame Take(uint64_t handle);

    /**
     * Looks up the IP addresses of the devices' nodes. An address of another interface of a node
     * belongs to the node's first device on this channel.
     */
    void LookUpAddresses();

    Ptr<FluidFabric> m_fabric;                   //!< fabric that moves the packets
    std::vector<Ptr<FabricNetDevice>> m_devices; //!< in the order of Attach
    std::vector<weir::DeviceId> m_nics;          //!< by device
    std::map<uint32_t, uint32_t> m_deviceOfLink; //!< device by its link
    std::vector<bool> m_isOffered;               //!< by device: the port will take its frames
    std::map<Mac48Address, uint32_t> m_macs;     //!< device by address; set by Attach
    std::map<Ipv4Address, uint32_t> m_ipv4;      //!< device by address, as last looked up
    std::map<Ipv6Address, uint32_t> m_ipv6;      //!< device by address, as last looked up
    std::vector<std::unordered_map<uint64_t, weir::RouteId>> m_routes; //!< by source device
    weir::SlotPool<std::vector<Frame>> m_frames;                       //!< by handle
    uint64_t m_sent{0};                                                //!< packets
    uint64_t m_delivered{0};                                           //!< packets
    uint64_t m_dropped{0};                                             //!< packets
};

} // namespace ns3

#endif // WEIR_MODEL_FABRIC_CHANNEL_H
