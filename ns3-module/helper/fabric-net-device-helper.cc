// SPDX-License-Identifier: GPL-2.0-only
#include "fabric-net-device-helper.h"

#include "ns3/abort.h"
#include "ns3/config.h"
#include "ns3/fabric-channel.h"
#include "ns3/log.h"
#include "ns3/net-device-queue-interface.h"
#include "ns3/node.h"
#include "ns3/queue.h"

#include <sstream>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricNetDeviceHelper");

FabricNetDeviceHelper::FabricNetDeviceHelper()
    : m_deviceFactory("ns3::FabricNetDevice"),
      m_queueFactory("ns3::DropTailQueue<Packet>")
{
}

NetDeviceContainer
FabricNetDeviceHelper::Install(const ClusterContainer& cluster, uint32_t nic) const
{
    NetDeviceContainer devices;
    for (uint32_t server = 0; server < cluster.GetServers().GetN(); server++)
    {
        devices.Add(Install(cluster, server, nic));
    }
    return devices;
}

Ptr<FabricNetDevice>
FabricNetDeviceHelper::Install(const ClusterContainer& cluster, uint32_t server, uint32_t nic) const
{
    const weir::Cluster& plain = cluster.GetFabric()->GetFabric().GetCluster();
    NS_ABORT_MSG_IF(server >= cluster.GetServers().GetN() || nic >= plain.NicsPerNode(),
                    "FabricNetDeviceHelper: there is no NIC " << nic << " of server " << server);
    const Ptr<FabricChannel> channel = FabricChannel::Of(cluster.GetFabric());
    Ptr<FabricNetDevice> device = m_deviceFactory.Create<FabricNetDevice>();
    const Ptr<Queue<Packet>> queue = m_queueFactory.Create<Queue<Packet>>();
    device->SetQueue(queue);
    cluster.GetServers().Get(server)->AddDevice(device);
    device->Attach(channel, plain.NicDevice(server, nic));
    // Provides flow control: queue discs of the node wait while the device's queue is full.
    Ptr<NetDeviceQueueInterface> queues = CreateObject<NetDeviceQueueInterface>();
    queues->GetTxQueue(0)->ConnectQueueTraces(queue);
    device->AggregateObject(queues);
    return device;
}

void
FabricNetDeviceHelper::EnablePcapInternal(std::string prefix,
                                          Ptr<NetDevice> device,
                                          bool promiscuous,
                                          bool explicitFilename)
{
    const Ptr<FabricNetDevice> fabricDevice = device->GetObject<FabricNetDevice>();
    if (!fabricDevice)
    {
        NS_LOG_INFO("Device " << device << " not of type ns3::FabricNetDevice");
        return;
    }
    PcapHelper pcapHelper;
    const std::string filename =
        explicitFilename ? prefix : pcapHelper.GetFilenameFromDevice(prefix, device);
    Ptr<PcapFileWrapper> file =
        pcapHelper.CreateFile(filename, std::ios::out, PcapHelper::DLT_EN10MB);
    pcapHelper.HookDefaultSink<FabricNetDevice>(
        fabricDevice, promiscuous ? "PromiscSniffer" : "Sniffer", file);
}

void
FabricNetDeviceHelper::EnableAsciiInternal(Ptr<OutputStreamWrapper> stream,
                                           std::string prefix,
                                           Ptr<NetDevice> device,
                                           bool explicitFilename)
{
    const Ptr<FabricNetDevice> fabricDevice = device->GetObject<FabricNetDevice>();
    if (!fabricDevice)
    {
        NS_LOG_INFO("Device " << device << " not of type ns3::FabricNetDevice");
        return;
    }
    Packet::EnablePrinting();
    if (!stream)
    {
        AsciiTraceHelper asciiTraceHelper;
        const std::string filename =
            explicitFilename ? prefix : asciiTraceHelper.GetFilenameFromDevice(prefix, device);
        Ptr<OutputStreamWrapper> file = asciiTraceHelper.CreateFileStream(filename);
        const Ptr<Queue<Packet>> queue = fabricDevice->GetQueue();
        asciiTraceHelper.HookDefaultReceiveSinkWithoutContext<FabricNetDevice>(
            fabricDevice, "MacRx", file);
        asciiTraceHelper.HookDefaultEnqueueSinkWithoutContext<Queue<Packet>>(
            queue, "Enqueue", file);
        asciiTraceHelper.HookDefaultDequeueSinkWithoutContext<Queue<Packet>>(
            queue, "Dequeue", file);
        asciiTraceHelper.HookDefaultDropSinkWithoutContext<Queue<Packet>>(queue, "Drop", file);
        return;
    }
    std::ostringstream path;
    path << "/NodeList/" << device->GetNode()->GetId() << "/DeviceList/" << device->GetIfIndex()
         << "/$ns3::FabricNetDevice/";
    Config::Connect(path.str() + "MacRx",
                    MakeBoundCallback(&AsciiTraceHelper::DefaultReceiveSinkWithContext, stream));
    Config::Connect(path.str() + "TxQueue/Enqueue",
                    MakeBoundCallback(&AsciiTraceHelper::DefaultEnqueueSinkWithContext, stream));
    Config::Connect(path.str() + "TxQueue/Dequeue",
                    MakeBoundCallback(&AsciiTraceHelper::DefaultDequeueSinkWithContext, stream));
    Config::Connect(path.str() + "TxQueue/Drop",
                    MakeBoundCallback(&AsciiTraceHelper::DefaultDropSinkWithContext, stream));
}

} // namespace ns3
