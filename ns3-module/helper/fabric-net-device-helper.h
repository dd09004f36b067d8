// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_HELPER_FABRIC_NET_DEVICE_HELPER_H
#define WEIR_HELPER_FABRIC_NET_DEVICE_HELPER_H

#include "ns3/attribute.h"
#include "ns3/cluster-container.h"
#include "ns3/fabric-net-device.h"
#include "ns3/net-device-container.h"
#include "ns3/object-factory.h"
#include "ns3/trace-helper.h"

#include <cstdint>
#include <string>

namespace ns3
{

/**
 * Installs net devices on the NICs of a cluster with packets, so that stock applications of its
 * servers' nodes send over the fabric. InternetStackHelper and Ipv4AddressHelper complete the
 * nodes, as with any device.
 */
class FabricNetDeviceHelper : public PcapHelperForDevice, public AsciiTraceHelperForDevice
{
  public:
    /** Installs devices with a DropTailQueue of 100 packets. */
    FabricNetDeviceHelper();

    /**
     * Sets an attribute of the devices to be installed.
     * @param name of an attribute of FabricNetDevice
     */
    void SetDeviceAttribute(const std::string& name, const AttributeValue& value)
    {
        m_deviceFactory.Set(name, value);
    }

    /**
     * Sets an attribute of the devices' queues.
     * @param name of an attribute of DropTailQueue
     */
    void SetQueueAttribute(const std::string& name, const AttributeValue& value)
    {
        m_queueFactory.Set(name, value);
    }

    /**
     * Installs a device on one NIC of every server.
     * @param nic its number within the server
     * @return the devices, by server
     */
    NetDeviceContainer Install(const ClusterContainer& cluster, uint32_t nic = 0) const;

    /**
     * Installs a device on a NIC.
     * @param nic its number within the server
     */
    Ptr<FabricNetDevice> Install(const ClusterContainer& cluster,
                                 uint32_t server,
                                 uint32_t nic) const;

  private:
    void EnablePcapInternal(std::string prefix,
                            Ptr<NetDevice> device,
                            bool promiscuous,
                            bool explicitFilename) override;
    void EnableAsciiInternal(Ptr<OutputStreamWrapper> stream,
                             std::string prefix,
                             Ptr<NetDevice> device,
                             bool explicitFilename) override;

    ObjectFactory m_deviceFactory; //!< of devices
    ObjectFactory m_queueFactory;  //!< of their queues
};

} // namespace ns3

#endif // WEIR_HELPER_FABRIC_NET_DEVICE_HELPER_H
