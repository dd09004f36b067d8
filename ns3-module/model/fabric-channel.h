// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_FABRIC_CHANNEL_H
#define WEIR_MODEL_FABRIC_CHANNEL_H

#include "fluid-fabric.h"

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
 * The fabric as a channel of ns-3: every FabricNetDevice on it reaches every other one. An
 * ns3::Packet of a device becomes a datagram of its size that passes the ports, queues and buffers
 * that packets of flows pass; the packet itself waits here until the datagram is at its
 * destination, or lost.
 *
 * Switches hash addresses, protocol and ports of a packet, so that a connection keeps its path.
 * There is no broadcast and no ARP: an IP packet goes to the device whose node has its destination
 * address, and a frame to the device that has its MAC address.
 */
class FabricChannel : public Channel, private weir::DatagramClient
{
  public:
    /**
     * Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    FabricChannel();
    ~FabricChannel() override;

    /**
     * The channel of a fabric, which is made when it is asked for first.
     * @param fabric that is wired for packets
     * @return its channel
     */
    static Ptr<FabricChannel> Of(Ptr<FluidFabric> fabric);

    /**
     * Attaches a device to a NIC.
     * @param device the device
     * @param nic of the cluster's topology, with one link into the network and no other device
     * @return the number of that link, for Offer
     */
    uint32_t Attach(Ptr<FabricNetDevice> device, weir::DeviceId nic);

    /**
     * The device that a frame is meant for.
     * @param address of a device; the broadcast address: the packet's IP address decides
     * @param packet without the header of a frame
     * @param protocol of the packet
     * @return the device; null when there is none
     */
    Ptr<FabricNetDevice> Find(Mac48Address address, Ptr<const Packet> packet, uint16_t protocol);

    /**
     * A device has frames to be sent; the channel asks for them when the port has time.
     * @param link what Attach returned
     * @param trafficClass of the frames
     */
    void Offer(uint32_t link, unsigned trafficClass);

    /**
     * The most bytes of a packet on the wire.
     * @return the bytes
     */
    uint32_t GetMaxWireBytes();

    /**
     * Whether a link is up.
     * @param link its number
     * @return true if so
     */
    bool IsLinkUp(uint32_t link) const;

    /**
     * The fabric.
     * @return the fabric
     */
    Ptr<FluidFabric> GetFabric() const;

    /**
     * Packets that have begun to leave their first ports.
     * @return the count
     */
    uint64_t GetSent() const;

    /**
     * Packets that have come to their destinations.
     * @return the count
     */
    uint64_t GetDelivered() const;

    /**
     * Packets that were dropped in the fabric.
     * @return the count
     */
    uint64_t GetDropped() const;

    std::size_t GetNDevices() const override;
    Ptr<NetDevice> GetDevice(std::size_t i) const override;

  protected:
    void DoDispose() override;

  private:
    /** A packet under way. */
    struct Frame
    {
        Ptr<Packet> packet;      //!< with the header of its frame
        uint32_t source{0};      //!< device
        uint32_t destination{0}; //!< device
    };

    std::optional<weir::Datagram> NextDatagram(weir::LinkId link,
                                               unsigned trafficClass,
                                               weir::Time now) override;
    void OnDatagram(uint64_t handle, bool isMarked, weir::Time now) override;
    void OnDatagramLost(uint64_t handle, weir::LinkId link, weir::Time now) override;

    /**
     * The route of a frame.
     * @param source device
     * @param destination device
     * @param hash of what switches look at
     * @return the route
     */
    weir::RouteId FindRoute(uint32_t source, uint32_t destination, uint32_t hash);

    /**
     * Takes a frame that is not under way any more.
     * @param handle its number
     * @return the frame
     */
    Frame Take(uint64_t handle);

    /**
     * Looks up the IP addresses of the devices' nodes. One of another interface of a node belongs
     * to its first device here.
     */
    void LookUpAddresses();

    Ptr<FluidFabric> m_fabric;                   //!< what moves packets
    std::vector<Ptr<FabricNetDevice>> m_devices; //!< in the order of Attach
    std::vector<weir::DeviceId> m_nics;          //!< by device
    std::map<uint32_t, uint32_t> m_deviceOfLink; //!< by first link
    std::vector<bool> m_isOffered;               //!< by device: the port asks for frames
    std::map<Mac48Address, uint32_t> m_macs;     //!< device by address, from Attach on
    std::map<Ipv4Address, uint32_t> m_ipv4;      //!< device by address, as last looked up
    std::map<Ipv6Address, uint32_t> m_ipv6;      //!< device by address, as last looked up
    std::vector<std::unordered_map<uint64_t, weir::RouteId>> m_routes; //!< by source: known ones
    std::vector<Frame> m_frames;    //!< by handle; free ones are used again
    std::vector<uint32_t> m_unused; //!< of m_frames
    uint64_t m_sent{0};             //!< packets
    uint64_t m_delivered{0};        //!< packets
    uint64_t m_dropped{0};          //!< packets
};

} // namespace ns3

#endif // WEIR_MODEL_FABRIC_CHANNEL_H
