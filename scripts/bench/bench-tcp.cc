// SPDX-License-Identifier: GPL-2.0-only

// Benchmark of one stock ns-3 TCP connection, host - switch - host, over point-to-point devices
// with a router between them, and over the packets of a fabric: data packets per second of CPU
// time.
//
// bench-tcp [--mtu=1500] [--rate=100Gbps] [--time=5ms]

#include "ns3/bulk-send-helper.h"
#include "ns3/cluster-helper.h"
#include "ns3/command-line.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/fabric-net-device-helper.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <cstdio>
#include <ctime>
#include <string>

using namespace ns3;

namespace
{

constexpr uint16_t PORT = 9;

/** The parameters of both measurements. */
struct Setting
{
    uint16_t mtu{1500};
    std::string rate{"100Gbps"};
    Time latency{MicroSeconds(1)}; //!< latency of a link
    Time time{MilliSeconds(5)};    //!< simulated time
};

/** Runs a connection from one node to another and prints its throughput and CPU time. */
void
Measure(const char* name, Ptr<Node> from, Ptr<Node> to, Ipv4Address address, const Setting& setting)
{
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(address, PORT));
    Ptr<PacketSink> received = DynamicCast<PacketSink>(sink.Install(to).Get(0));
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(address, PORT));
    source.SetAttribute("SendSize", UintegerValue(64 << 10));
    source.Install(from);
    Simulator::Stop(setting.time);
    const std::clock_t start = std::clock();
    Simulator::Run();
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    const double packets = static_cast<double>(received->GetTotalRx()) / (setting.mtu - 52);
    std::printf("%-16s %9.0f data packets  %7.2f Gb/s  %6.2f s  %8.0f packets/s\n",
                name,
                packets,
                received->GetTotalRx() * 8 / setting.time.GetSeconds() * 1e-9,
                seconds,
                packets / seconds);
    Simulator::Destroy();
}

void
MeasurePointToPoint(const Setting& setting)
{
    NodeContainer nodes;
    nodes.Create(3);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(setting.rate));
    link.SetDeviceAttribute("Mtu", UintegerValue(setting.mtu));
    link.SetChannelAttribute("Delay", TimeValue(setting.latency));
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    addresses.Assign(link.Install(nodes.Get(0), nodes.Get(1)));
    addresses.NewNetwork();
    const auto interfaces = addresses.Assign(link.Install(nodes.Get(1), nodes.Get(2)));
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    Measure("point-to-point", nodes.Get(0), nodes.Get(2), interfaces.GetAddress(1), setting);
}

void
MeasureFabric(const Setting& setting)
{
    ClusterHelper helper;
    helper.SetTransport("packet");
    for (const char* count : {"Gpus", "Nics", "PcieSwitches", "Sockets"})
    {
        helper.SetServerAttribute(count, UintegerValue(1));
    }
    helper.SetServerAttribute("NicRate", StringValue(setting.rate));
    helper.SetServerAttribute("NicEfficiency", DoubleValue(1));
    helper.SetServerAttribute("NicLatency", TimeValue(setting.latency));
    helper.SetNetworkAttribute("Kind", StringValue("leaf-spine"));
    helper.SetPacketAttribute("Mtu", UintegerValue(setting.mtu));
    ClusterContainer cluster = helper.Install(2);
    FabricNetDeviceHelper devices;
    devices.SetDeviceAttribute("Mtu", UintegerValue(setting.mtu));
    NetDeviceContainer nics = devices.Install(cluster);
    InternetStackHelper().Install(cluster.GetServers());
    const auto interfaces = Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(nics);
    Measure("fabric",
            cluster.GetServers().Get(0),
            cluster.GetServers().Get(1),
            interfaces.GetAddress(1),
            setting);
}

} // namespace

int
main(int argc, char* argv[])
{
    Setting setting;
    CommandLine cmd(__FILE__);
    cmd.AddValue("mtu", "Bytes of an IP packet", setting.mtu);
    cmd.AddValue("rate", "Of the links", setting.rate);
    cmd.AddValue("time", "Simulated time", setting.time);
    cmd.Parse(argc, argv);
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(setting.mtu - 52));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 20));
    for (int run = 0; run < 3; run++)
    {
        MeasurePointToPoint(setting);
        MeasureFabric(setting);
    }
    return 0;
}
