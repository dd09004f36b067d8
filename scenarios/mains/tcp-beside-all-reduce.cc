// SPDX-License-Identifier: GPL-2.0-only

// Network topology
//
//               leaf 0
//        /    |    |    \            100 Gb/s links
//    server server server server     one GPU and one NIC each
//      0     1     2     3
//
// An all-reduce of four GPUs runs repeatedly as RDMA; its flows are packets of a lossless class.
// From the third call on, a stock TCP connection of ns-3 from server 0 to server 1 uses the same
// NIC and the same switch, in a lossy class. The NIC of server 0 serves its classes round-robin,
// one packet each: while both have packets, TCP's frames of 1538 bytes get 27 % of the link, and
// the flow's packets of 4178 bytes the rest. All ranks wait for the slowest one, so contention at
// one NIC slows down the whole all-reduce.
//
// With --hybrid=true only TCP's frames are packets; the all-reduce is a fluid on the same links.
//
// Try: tcp-beside-all-reduce --mtu=4096 --pcap=true

#include "ns3/boolean.h"
#include "ns3/bulk-send-helper.h"
#include "ns3/cluster-helper.h"
#include "ns3/collective-helper.h"
#include "ns3/command-line.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/fabric-channel.h"
#include "ns3/fabric-net-device-helper.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <cstdio>

using namespace ns3;

/** Bytes that TCP had delivered when the last call ended. */
uint64_t g_delivered = 0;

/** Prints a call when it ends. */
void
PrintCall(Ptr<PacketSink> sink,
          uint32_t call,
          const weir::CollectivePlan& plan,
          weir::Time started,
          weir::Time now)
{
    const double seconds = (now - started).ToSeconds();
    const uint64_t delivered = sink->GetTotalRx();
    std::printf("call %u: %9.3f us  %6.3f GB/s   TCP %6.2f Gb/s\n",
                call,
                seconds * 1e6,
                plan.call.bytes.ToDouble() / seconds * 1e-9,
                static_cast<double>(delivered - g_delivered) * 8e-9 / seconds);
    g_delivered = delivered;
}

int
main(int argc, char* argv[])
{
    uint64_t size = 16 << 20;
    uint32_t mtu = 1500;
    bool pcap = false;
    bool hybrid = false;
    CommandLine cmd(__FILE__);
    cmd.AddValue("size", "Buffer size of each GPU (bytes)", size);
    cmd.AddValue("mtu", "Maximum size of an IP packet (bytes)", mtu);
    cmd.AddValue("pcap", "Capture the packets of the NICs of servers 0 and 1 in pcap files", pcap);
    cmd.AddValue("hybrid", "Move the flows of the all-reduce as a fluid", hybrid);
    cmd.Parse(argc, argv);
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(mtu - 52));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 20));

    ClusterHelper clusterHelper;
    for (const char* count : {"Gpus", "Nics", "PcieSwitches", "Sockets"})
    {
        clusterHelper.SetServerAttribute(count, UintegerValue(1));
    }
    clusterHelper.SetServerAttribute("NicRate", StringValue("100Gbps"));
    clusterHelper.SetServerAttribute("NicEfficiency", DoubleValue(1));
    clusterHelper.SetNetworkAttribute("Kind", StringValue("leaf-spine"));
    clusterHelper.SetTransport(hybrid ? "hybrid" : "packet");
    ClusterContainer cluster = clusterHelper.Install(4);

    FabricNetDeviceHelper deviceHelper;
    deviceHelper.SetDeviceAttribute("Mtu", UintegerValue(mtu));
    NetDeviceContainer devices = deviceHelper.Install(cluster);
    InternetStackHelper().Install(cluster.GetServers());
    Ipv4InterfaceContainer interfaces =
        Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(devices);
    const Address address = InetSocketAddress(interfaces.GetAddress(1), 9);
    PacketSinkHelper sinkHelper("ns3::TcpSocketFactory", address);
    Ptr<PacketSink> sink =
        DynamicCast<PacketSink>(sinkHelper.Install(cluster.GetServers().Get(1)).Get(0));
    BulkSendHelper source("ns3::TcpSocketFactory", address);
    source.SetAttribute("SendSize", UintegerValue(64 << 10));
    if (pcap)
    {
        deviceHelper.EnablePcap("tcp-beside-all-reduce", devices.Get(0));
        deviceHelper.EnablePcap("tcp-beside-all-reduce", devices.Get(1));
    }

    CollectiveHelper collective("all-reduce", size);
    collective.SetAttribute("Algorithm", StringValue("ring"));
    collective.SetAttribute("Protocol", StringValue("simple"));
    collective.SetAttribute("Fidelity", StringValue(hybrid ? "flow" : "packet"));
    collective.SetAttribute("Calls", UintegerValue(6));
    Ptr<CollectiveJob> job = collective.Install(cluster);
    job->TraceConnectWithoutContext("CollectiveFinished", MakeBoundCallback(&PrintCall, sink));
    job->TraceConnectWithoutContext(
        "CollectiveFinished",
        Callback<void, uint32_t, const weir::CollectivePlan&, weir::Time, weir::Time>(
            [&](uint32_t call, const weir::CollectivePlan&, weir::Time, weir::Time) {
                if (call == 1)
                {
                    source.Install(cluster.GetServers().Get(0));
                }
                else if (call == 5)
                {
                    Simulator::Stop();
                }
            }));
    Simulator::Run();

    const Ptr<FabricChannel> channel = FabricChannel::Of(cluster.GetFabric());
    std::printf("TCP packets: %llu sent, %llu delivered, %llu dropped\n",
                static_cast<unsigned long long>(channel->GetSent()),
                static_cast<unsigned long long>(channel->GetDelivered()),
                static_cast<unsigned long long>(channel->GetDropped()));
    Simulator::Destroy();
    return 0;
}
