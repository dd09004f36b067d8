// SPDX-License-Identifier: GPL-2.0-only

// Tests of stock ns-3 applications on a fabric with packets: latency, goodput, shares, losses and
// marks, and that devices which send nothing do not affect flows.

#include "weir-test-case.h"

#include "fabric/transport/packet/congestion/dcqcn.h"
#include "fabric/transport/packet/congestion/static-window.h"
#include "ns3/bulk-send-helper.h"
#include "ns3/cluster-helper.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/fabric-channel.h"
#include "ns3/fabric-net-device-helper.h"
#include "ns3/flow-monitor-helper.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-flow-classifier.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/ipv6-address-helper.h"
#include "ns3/on-off-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/pcap-file.h"
#include "ns3/simple-channel.h"
#include "ns3/simple-net-device.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/string.h"
#include "ns3/tcp-socket-base.h"
#include "ns3/udp-echo-helper.h"
#include "ns3/uinteger.h"
#include "ns3/weir-units.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr int64_t GIGABIT = 1000000000;       //!< bits/s
constexpr int64_t LINK_RATE = 10 * GIGABIT;   //!< rate of all network links, bits/s
constexpr int64_t LINK_LATENCY_NS = 500;      //!< latency of all network links
constexpr uint32_t UDP_HEADERS = 20 + 8 + 14; //!< IPv4, UDP, Ethernet
constexpr uint32_t WIRE_BYTES = 4 + 20;       //!< check sequence, preamble and gap
constexpr uint32_t FLOW_PACKET = 4096 + 82;   //!< packet of a flow on the wire, bytes

/** A cluster of servers with one GPU and one NIC each, connected by packets. */
class Servers
{
  public:
    Servers()
    {
        m_helper.SetTransport("packet");
        for (const char* count : {"Gpus", "Nics", "PcieSwitches", "Sockets"})
        {
            m_helper.SetServerAttribute(count, UintegerValue(1));
        }
        m_helper.SetServerAttribute("NicRate", DataRateValue(DataRate(LINK_RATE)));
        m_helper.SetServerAttribute("NicEfficiency", DoubleValue(1));
        m_helper.SetServerAttribute("NicLatency", TimeValue(NanoSeconds(LINK_LATENCY_NS)));
        m_helper.SetNetworkAttribute("Kind", StringValue("leaf-spine"));
    }

    /**
     * Builds the cluster, with net devices and IP addresses or without both.
     * @param leafRadix ports of a leaf switch
     * @param hasDevices whether to install net devices
     */
    void Install(uint32_t servers, uint32_t leafRadix = 64, bool hasDevices = true)
    {
        m_helper.SetNetworkAttribute("LeafRadix", UintegerValue(leafRadix));
        m_cluster = m_helper.Install(servers);
        if (hasDevices)
        {
            m_devices = m_deviceHelper.Install(m_cluster);
            InternetStackHelper stack;
            stack.Install(m_cluster.GetServers());
            m_interfaces = Ipv4AddressHelper("10.0.0.0", "255.255.0.0").Assign(m_devices);
        }
    }

    /**
     * Starts a stream of UDP packets at a constant rate.
     * @param from the sending server
     * @param to the receiving server
     * @param rate of payload, bits/s
     * @param bytes payload of a packet
     * @param stop when the stream ends
     * @return the receiving application
     */
    Ptr<PacketSink> Stream(uint32_t from, uint32_t to, uint64_t rate, uint32_t bytes, Time stop)
    {
        const Address address = InetSocketAddress(m_interfaces.GetAddress(to), m_port++);
        PacketSinkHelper sink("ns3::UdpSocketFactory", address);
        ApplicationContainer sinks = sink.Install(Node(to));
        OnOffHelper source("ns3::UdpSocketFactory", address);
        source.SetConstantRate(DataRate(rate), bytes);
        ApplicationContainer sources = source.Install(Node(from));
        sources.Stop(stop);
        m_sources.Add(sources);
        return DynamicCast<PacketSink>(sinks.Get(0));
    }

    /**
     * Starts a TCP connection that always has data to send.
     * @param from the sending server
     * @param to the receiving server
     * @return the receiving application
     */
    Ptr<PacketSink> Connect(uint32_t from, uint32_t to)
    {
        const Address address = InetSocketAddress(m_interfaces.GetAddress(to), m_port++);
        PacketSinkHelper sink("ns3::TcpSocketFactory", address);
        ApplicationContainer sinks = sink.Install(Node(to));
        BulkSendHelper source("ns3::TcpSocketFactory", address);
        source.SetAttribute("SendSize", UintegerValue(64 * 1024));
        m_sources.Add(source.Install(Node(from)));
        return DynamicCast<PacketSink>(sinks.Get(0));
    }

    /** A server's node. */
    Ptr<ns3::Node> Node(uint32_t server) const
    {
        return m_cluster.GetServers().Get(server);
    }

    /** A server's device. */
    Ptr<FabricNetDevice> Device(uint32_t server) const
    {
        return DynamicCast<FabricNetDevice>(m_devices.Get(server));
    }

    /**
     * The port of a leaf switch to a server.
     * @param leaf name of the switch
     */
    Ptr<FabricPort> PortTo(uint32_t server, const std::string& leaf = "leaf0") const
    {
        const Ptr<FluidFabric> fabric = m_cluster.GetFabric();
        return fabric->GetPort(fabric->FindLink(leaf, "node" + std::to_string(server) + "/nic0"));
    }

    ClusterHelper m_helper;               //!< description of the cluster
    FabricNetDeviceHelper m_deviceHelper; //!< creates the devices
    ClusterContainer m_cluster;           //!< the cluster
    NetDeviceContainer m_devices;         //!< by server
    Ipv4InterfaceContainer m_interfaces;  //!< by server
    ApplicationContainer m_sources;       //!< of Stream and Connect
    uint16_t m_port{1000};                //!< port number of the next stream or connection
};

/**
 * Sets TCP segments that fill frames of 1500 bytes, and buffers that fill any path of these tests.
 */
void
SetTcpDefaults()
{
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 20));
}

/**
 * Time on an idle path with store and forward.
 * @param frame bytes on the wire
 * @param hops number of links
 * @return the time, rounded up to the simulator's resolution
 */
Time
PathTime(uint32_t frame, int64_t hops)
{
    return ToNs3(weir::Time::Picoseconds(
        hops * (LINK_LATENCY_NS * 1000 + int64_t{frame} * 8 * 1000 / (LINK_RATE / GIGABIT))));
}

/** Latency with store and forward, exact to the nanosecond, over one switch and over three. */
class LatencyTestCase : public TestCase
{
  public:
    LatencyTestCase()
        : TestCase("A UDP packet takes its transmission time and the latency of each link")
    {
    }

  private:
    /**
     * Measures the times of a UDP echo.
     * @param leafRadix ports of a leaf switch
     * @param hops links from one server to the other
     * @param payload bytes
     */
    void Measure(uint32_t leafRadix, int64_t hops, uint32_t payload)
    {
        Servers servers;
        servers.Install(4, leafRadix);
        const uint16_t port = 9;
        UdpEchoServerHelper server(port);
        ApplicationContainer apps = server.Install(servers.Node(3));
        apps.Start(Seconds(0));
        UdpEchoClientHelper client(servers.m_interfaces.GetAddress(3), port);
        client.SetAttribute("MaxPackets", UintegerValue(1));
        client.SetAttribute("PacketSize", UintegerValue(payload));
        ApplicationContainer clients = client.Install(servers.Node(0));
        clients.Start(MicroSeconds(7));
        std::vector<Time> times;
        const auto note = [&times](Ptr<const Packet>) { times.push_back(Simulator::Now()); };
        for (const uint32_t each : {0, 3})
        {
            servers.Device(each)->TraceConnectWithoutContext(
                "MacRx", Callback<void, Ptr<const Packet>>(note));
        }
        Simulator::Run();
        Simulator::Destroy();
        // A frame has at least 64 bytes, including its check sequence.
        const uint32_t frame = std::max(payload + UDP_HEADERS + WIRE_BYTES, 64u + 20u);
        NS_TEST_ASSERT_MSG_EQ(times.size(), 2, "there and back");
        NS_TEST_EXPECT_MSG_EQ(times[0], MicroSeconds(7) + PathTime(frame, hops), "there");
        // The reply is sent at a whole nanosecond of ns-3.
        NS_TEST_EXPECT_MSG_EQ_TOL(
            times[1], MicroSeconds(7) + PathTime(frame, 2 * hops), NanoSeconds(1), "and back");
    }

    void DoRun() override
    {
        Measure(64, 2, 1000); // one leaf
        Measure(4, 4, 1000);  // two leaves: over a spine
        Measure(4, 4, 1472);  // the longest packet
        Measure(64, 2, 1);    // padded
    }
};

/** The channel resolves IPv6 addresses as it does IPv4 addresses. */
WEIR_TEST_CASE(Ipv6TestCase, "UDP over IPv6 takes what its longer header takes more")
{
    Servers servers;
    servers.Install(2);
    Ipv6AddressHelper addresses;
    addresses.SetBase(Ipv6Address("2001:db8::"), Ipv6Prefix(64));
    Ipv6InterfaceContainer interfaces = addresses.Assign(servers.m_devices);
    const uint16_t port = 9;
    UdpEchoServerHelper server(port);
    server.Install(servers.Node(1)).Start(Seconds(0));
    UdpEchoClientHelper client(interfaces.GetAddress(1, 1), port);
    client.SetAttribute("MaxPackets", UintegerValue(1));
    client.SetAttribute("PacketSize", UintegerValue(1000));
    client.Install(servers.Node(0)).Start(Seconds(5)); // after duplicate address detection
    Time received;
    servers.Device(1)->TraceConnectWithoutContext(
        "MacRx", Callback<void, Ptr<const Packet>>([&received](Ptr<const Packet> packet) {
            received = packet->GetSize() > 1000 ? Simulator::Now() : received;
        }));
    Simulator::Stop(Seconds(6));
    Simulator::Run();
    Simulator::Destroy();
    NS_TEST_EXPECT_MSG_EQ(received,
                          Seconds(5) + PathTime(1000 + 20 + UDP_HEADERS + WIRE_BYTES, 2),
                          "40 bytes of IPv6 in place of 20");
}

/** Addresses of other interfaces of a server are reached through its device, too. */
WEIR_TEST_CASE(OtherInterfaceTestCase,
               "A packet for an address of another interface comes to the node's device")
{
    Servers servers;
    servers.Install(3);
    Ptr<SimpleNetDevice> other = CreateObject<SimpleNetDevice>();
    other->SetAddress(Mac48Address::Allocate());
    other->SetChannel(CreateObject<SimpleChannel>());
    servers.Node(0)->AddDevice(other);
    const Ipv4InterfaceContainer outside =
        Ipv4AddressHelper("10.1.0.0", "255.255.0.0").Assign(NetDeviceContainer(other));
    Ipv4StaticRoutingHelper()
        .GetStaticRouting(servers.Node(2)->GetObject<Ipv4>())
        ->AddNetworkRouteTo("10.1.0.0", "255.255.0.0", servers.m_interfaces.GetAddress(0), 1);

    const Address address = InetSocketAddress(outside.GetAddress(0), 7);
    PacketSinkHelper sink("ns3::UdpSocketFactory", address);
    const auto sinks = sink.Install(servers.Node(0));
    const Ptr<Socket> socket =
        Socket::CreateSocket(servers.Node(2), TypeId::LookupByName("ns3::UdpSocketFactory"));
    socket->Connect(address);
    Simulator::Schedule(MicroSeconds(1), [socket]() { socket->Send(Create<Packet>(1000)); });
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(
        DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx(), 1000, "by the gateway's device");
    Simulator::Destroy();
}

/** The goodput of a connection is the payload of back-to-back frames. */
WEIR_TEST_CASE(GoodputTestCase, "An uncontended TCP connection has the payload's part of the link")
{
    SetTcpDefaults();
    Servers servers;
    servers.Install(2);
    const Ptr<PacketSink> sink = servers.Connect(0, 1);
    uint64_t before = 0;
    Simulator::Schedule(MilliSeconds(3), [&]() { before = sink->GetTotalRx(); });
    Simulator::Stop(MilliSeconds(8));
    Simulator::Run();
    const double goodput = static_cast<double>(sink->GetTotalRx() - before) * 8 / 0.005;
    Simulator::Destroy();
    Config::Reset();
    // 1448 bytes plus 52 of IP and TCP with timestamps, in a frame with 14 + 24 bytes more.
    const double bound = LINK_RATE * 1448.0 / (1500 + 14 + WIRE_BYTES);
    NS_TEST_EXPECT_MSG_LT(goodput, bound * 1.001, "not more than frames can hold");
    NS_TEST_EXPECT_MSG_GT(goodput, bound * 0.99, "and no less: nothing else is there");
}

/**
 * Ports serve traffic classes round robin, one packet each. A fluid flow, which has no headers,
 * must match this.
 */
class SharesTestCase : public TestCase
{
  public:
    /**
     * @param transport transport of the flow
     * @param tolerance relative, of the connection's goodput and of the flow's time
     */
    SharesTestCase(const std::string& transport, double tolerance)
        : TestCase("TCP beside a flow of the same NIC: round robin by packet, " + transport),
          m_transport(transport),
          m_tolerance(tolerance)
    {
    }

  private:
    std::string m_transport; //!< transport of the flow
    double m_tolerance;      //!< relative to the results

    void DoRun() override
    {
        SetTcpDefaults();
        Servers servers;
        servers.m_helper.SetTransport(m_transport);
        servers.Install(2);
        const Ptr<PacketSink> sink = servers.Connect(0, 1);
        const uint64_t flowBytes = 5000000;
        Time end;
        Simulator::Schedule(MilliSeconds(3), [&]() {
            servers.m_cluster.GetFabric()->StartFlow(
                0, 1, flowBytes, FluidFabric::FlowCallback([&end](uint64_t) {
                    end = Simulator::Now();
                }));
        });
        uint64_t before = 0;
        uint64_t after = 0;
        Simulator::Schedule(MilliSeconds(4), [&]() { before = sink->GetTotalRx(); });
        Simulator::Schedule(MilliSeconds(8), [&]() { after = sink->GetTotalRx(); });
        Simulator::Stop(MilliSeconds(9));
        Simulator::Run();
        const uint64_t dropped = FabricChannel::Of(servers.m_cluster.GetFabric())->GetDropped();
        Simulator::Destroy();
        Config::Reset();
        const double frame = 1500 + 14 + WIRE_BYTES;
        const double goodput = static_cast<double>(after - before) * 8 / 0.004;
        NS_TEST_EXPECT_MSG_EQ_TOL(goodput / (LINK_RATE * 1448.0 / (frame + FLOW_PACKET)),
                                  1,
                                  m_tolerance,
                                  "1448 bytes of each pair of packets are the connection's");
        const bool isFluid = m_transport == "hybrid";
        const double packets = flowBytes / (isFluid ? FLOW_PACKET : 4096.0);
        NS_TEST_EXPECT_MSG_EQ_TOL((end - MilliSeconds(3)).GetSeconds() /
                                      (std::ceil(packets) * (frame + FLOW_PACKET) * 8 / LINK_RATE),
                                  1,
                                  m_tolerance,
                                  "each packet of the flow waits for a frame");
        NS_TEST_EXPECT_MSG_EQ(dropped, 0, "the only queue is at the sender");
    }
};

/** A lossy class drops packets that exceed its queue, and every packet is accounted for. */
WEIR_TEST_CASE(LossTestCase,
               "What was sent is received or dropped, at the port where too much comes")
{
    Servers servers;
    servers.m_helper.SetPacketAttribute("PortQueue", UintegerValue(50000));
    servers.Install(4);
    const uint32_t payload = 1000;
    const uint32_t frame = payload + UDP_HEADERS + WIRE_BYTES;
    // An offered load of three times 60 % of the link to server 3.
    const auto rate = static_cast<uint64_t>(0.6 * LINK_RATE * payload / frame);
    std::vector<Ptr<PacketSink>> sinks;
    uint64_t sent = 0;
    uint64_t dropped = 0;
    uint64_t traced = 0;
    for (uint32_t i = 0; i < 3; i++)
    {
        sinks.push_back(servers.Stream(i, 3, rate, payload, MilliSeconds(2)));
        servers.m_sources.Get(i)->TraceConnectWithoutContext(
            "Tx", Callback<void, Ptr<const Packet>>([&](Ptr<const Packet>) { sent++; }));
        const uint32_t link = servers.m_cluster.GetFabric()->FindLink("leaf0", "node3/nic0");
        servers.Device(i)->TraceConnectWithoutContext(
            "FabricDrop",
            Callback<void, Ptr<const Packet>, uint32_t>(
                [&, link](Ptr<const Packet> packet, uint32_t where) {
                    dropped++;
                    NS_TEST_EXPECT_MSG_EQ(where, link, "the bottleneck of three streams");
                    NS_TEST_EXPECT_MSG_EQ(packet->GetSize(), payload + UDP_HEADERS, "it");
                }));
    }
    uint64_t longest = 0;
    const Ptr<FabricPort> port = servers.PortTo(3);
    port->TraceConnectWithoutContext("Drop",
                                     Callback<void, uint32_t, uint64_t, weir::Time>(
                                         [&](uint32_t, uint64_t, weir::Time) { traced++; }));
    port->TraceConnectWithoutContext("QueueBytes",
                                     Callback<void, uint32_t, uint64_t, weir::Time>(
                                         [&](uint32_t trafficClass, uint64_t bytes, weir::Time) {
                                             longest = trafficClass == 2 ? std::max(longest, bytes)
                                                                         : longest;
                                         }));
    Simulator::Run();
    uint64_t received = 0;
    for (const auto& sink : sinks)
    {
        received += sink->GetTotalRx() / payload;
    }
    const Ptr<FabricChannel> channel = FabricChannel::Of(servers.m_cluster.GetFabric());
    NS_TEST_EXPECT_MSG_EQ(channel->GetSent(), sent, "devices drop nothing");
    NS_TEST_EXPECT_MSG_EQ(channel->GetDelivered(), received, "all that come are received");
    NS_TEST_EXPECT_MSG_EQ(channel->GetDropped(), sent - received, "the others are dropped");
    NS_TEST_EXPECT_MSG_EQ(dropped, sent - received, "as their senders trace");
    NS_TEST_EXPECT_MSG_EQ(traced, dropped, "as the port traces");
    NS_TEST_EXPECT_MSG_EQ(port->GetCounters().drops, dropped, "as the port counts");
    NS_TEST_EXPECT_MSG_GT(longest, 50000u - frame, "the queue was full");
    NS_TEST_EXPECT_MSG_LT(longest, 50001u, "and not more");
    // The link is busy for 2 ms, and then transmits the queued packets.
    const double capacity = (0.002 * LINK_RATE / 8 + 50000) / frame;
    NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(received), capacity, 5, "what it can carry");
    servers.m_cluster.GetFabric()->GetPackets().CheckConservation();
    Simulator::Destroy();
}

/** PFC pauses only the traffic class of flows. */
WEIR_TEST_CASE(ClassesTestCase, "A NIC whose flows are paused still sends its device's packets")
{
    Servers servers;
    servers.m_helper.SetPacketAttribute("Buffer", UintegerValue(300000));
    servers.Install(4);
    for (uint32_t i = 0; i < 2; i++) // server 2 is their bottleneck
    {
        servers.m_cluster.GetFabric()->StartFlow(i, 2, 5000000);
    }
    unsigned pauses = 0;
    Time longest;
    servers.Device(0)->GetPort()->TraceConnectWithoutContext(
        "Pause",
        Callback<void, uint32_t, bool, weir::Time>(
            [&](uint32_t trafficClass, bool isPaused, weir::Time) {
                pauses += isPaused;
                NS_TEST_EXPECT_MSG_EQ(trafficClass, 1u, "the class of flows");
            }));
    // One packet every 10 us, which waits for at most one packet of the flow at each of two
    // ports.
    const uint32_t payload = 500;
    servers.Stream(0, 3, payload * 8 * 100000, payload, MilliSeconds(4));
    std::vector<Time> sent;
    std::size_t received = 0;
    servers.Device(0)->TraceConnectWithoutContext(
        "MacTx", Callback<void, Ptr<const Packet>>([&](Ptr<const Packet>) {
            sent.push_back(Simulator::Now());
        }));
    servers.Device(3)->TraceConnectWithoutContext(
        "MacRx", Callback<void, Ptr<const Packet>>([&](Ptr<const Packet>) {
            longest = Max(longest, Simulator::Now() - sent[received++]);
        }));
    Simulator::Run();
    NS_TEST_EXPECT_MSG_GT(pauses, 10, "two flows that share a link are paused alternately");
    NS_TEST_ASSERT_MSG_EQ(received, sent.size(), "nothing is lost");
    const Time empty = PathTime(payload + UDP_HEADERS + WIRE_BYTES, 2);
    NS_TEST_EXPECT_MSG_LT(longest, empty + PathTime(FLOW_PACKET, 1), "it waits for one packet");
    NS_TEST_EXPECT_MSG_GT(longest, empty, "and some do");
    Simulator::Destroy();
}

/** Marks of switches set CE in ECN-capable packets, and TCP reacts to them. */
class EcnTestCase : public TestCase
{
  public:
    EcnTestCase()
        : TestCase("Marks come as CE, and a sender that heeds them loses nothing")
    {
    }

  private:
    /**
     * Runs two connections to one server.
     * @param useEcn whether they are ECN capable
     */
    void Measure(bool useEcn)
    {
        SetTcpDefaults();
        Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue(useEcn ? "On" : "Off"));
        Servers servers;
        servers.m_helper.SetPacketAttribute("PortQueue", UintegerValue(400000));
        servers.m_helper.SetPacketAttribute("MarkFrom", UintegerValue(40000));
        servers.m_helper.SetPacketAttribute("MarkAll", UintegerValue(40000));
        servers.Install(3);
        servers.Connect(0, 2);
        servers.Connect(1, 2);
        uint64_t experienced = 0;
        servers.Node(2)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
            "LocalDeliver",
            Callback<void, const Ipv4Header&, Ptr<const Packet>, uint32_t>(
                [&](const Ipv4Header& header, Ptr<const Packet>, uint32_t) {
                    experienced += header.GetEcn() == Ipv4Header::ECN_CE;
                }));
        const Ptr<FabricPort> port = servers.PortTo(2);
        Simulator::Stop(MilliSeconds(8));
        Simulator::Run();
        const uint64_t marks = port->GetCounters().marks;
        const uint64_t drops = port->GetCounters().drops;
        const auto queued = static_cast<uint64_t>(port->GetCounters().maxQueued);
        Simulator::Destroy();
        Config::Reset();
        if (useEcn)
        {
            NS_TEST_EXPECT_MSG_GT(experienced, 10u, "the queue passes its threshold");
            NS_TEST_EXPECT_MSG_LT(marks - experienced, 2u, "one may be on the last link");
            NS_TEST_EXPECT_MSG_EQ(drops, 0u, "senders slow down in time");
            NS_TEST_EXPECT_MSG_LT(queued, 400000u, "below what the queue may hold");
        }
        else
        {
            NS_TEST_EXPECT_MSG_EQ(marks + experienced, 0u, "nothing may be marked");
            NS_TEST_EXPECT_MSG_GT(drops, 0u, "the queue fills until it overflows");
        }
    }

    void DoRun() override
    {
        Measure(true);
        Measure(false);
    }
};

/** Switches hash the tuple of a packet, or spray packets. */
class PathsTestCase : public TestCase
{
  public:
    PathsTestCase()
        : TestCase("A connection keeps its path under ECMP, and takes all of them when sprayed")
    {
    }

  private:
    /**
     * Sends streams from leaf 0 to leaf 1 over four spines.
     * @param routing the routing policy
     * @param streams number of streams
     * @return packets on each uplink
     */
    std::vector<uint64_t> Uplinks(const std::string& routing, uint32_t streams)
    {
        Servers servers;
        servers.m_helper.SetNetworkAttribute("Routing", StringValue(routing));
        servers.Install(32, 8); // eight leaves with one uplink to each of four spines
        const uint32_t payload = 500;
        for (uint32_t i = 0; i < streams; i++)
        {
            servers.Stream(i % 4, 4 + i % 4, payload * 8 * 100000, payload, MicroSeconds(405));
        }
        const Ptr<FluidFabric> fabric = servers.m_cluster.GetFabric();
        std::vector<Ptr<FabricPort>> ports;
        for (uint32_t spine = 0; spine < 4; spine++)
        {
            ports.push_back(
                fabric->GetPort(fabric->FindLink("leaf0", "spine" + std::to_string(spine))));
        }
        Simulator::Run();
        std::vector<uint64_t> packets;
        for (const auto& port : ports)
        {
            packets.push_back(port->GetCounters().packets);
        }
        Simulator::Destroy();
        return packets;
    }

    void DoRun() override
    {
        const uint64_t each = 40; // one packet every 10 us
        auto one = Uplinks("ecmp", 1);
        std::sort(one.begin(), one.end());
        NS_TEST_EXPECT_MSG_EQ((one == std::vector<uint64_t>{0, 0, 0, each}), true, "one path");
        std::size_t used = 0;
        for (const uint64_t packets : Uplinks("ecmp", 32))
        {
            NS_TEST_EXPECT_MSG_EQ(packets % each, 0u, "whole streams");
            used += packets > 0;
        }
        NS_TEST_EXPECT_MSG_EQ(used, 4u, "of 32 streams each spine has some (1 - 4 (3/4)^32)");
        for (const uint64_t packets : Uplinks("spray", 1))
        {
            NS_TEST_EXPECT_MSG_EQ(packets, each / 4, "round robin");
        }
    }
};

/** Only the first fragment has the ports, so that switches hash none. */
WEIR_TEST_CASE(FragmentsTestCase,
               "Fragments of IPv6 packets keep the path of their addresses under ECMP")
{
    Servers servers;
    servers.m_helper.SetNetworkAttribute("Routing", StringValue("ecmp"));
    servers.Install(32, 8); // eight leaves with one uplink to each of four spines
    Ipv6AddressHelper addresses;
    addresses.SetBase(Ipv6Address("2001:db8::"), Ipv6Prefix(64));
    Ipv6InterfaceContainer interfaces = addresses.Assign(servers.m_devices);
    const uint16_t port = 9;
    UdpEchoServerHelper server(port);
    server.Install(servers.Node(4)).Start(Seconds(0));
    UdpEchoClientHelper client(interfaces.GetAddress(4, 1), port);
    client.SetAttribute("MaxPackets", UintegerValue(10));
    client.SetAttribute("Interval", TimeValue(MilliSeconds(1)));
    client.SetAttribute("PacketSize", UintegerValue(5000));
    client.Install(servers.Node(0)).Start(Seconds(5)); // after duplicate address detection
    const Ptr<FluidFabric> fabric = servers.m_cluster.GetFabric();
    std::vector<Ptr<FabricPort>> ports;
    for (uint32_t spine = 0; spine < 4; spine++)
    {
        ports.push_back(
            fabric->GetPort(fabric->FindLink("leaf0", "spine" + std::to_string(spine))));
    }
    Simulator::Stop(Seconds(6));
    Simulator::Run();
    std::vector<uint64_t> packets;
    for (const auto& each : ports)
    {
        packets.push_back(each->GetCounters().packets);
    }
    Simulator::Destroy();
    std::sort(packets.begin(), packets.end());
    NS_TEST_EXPECT_MSG_EQ(packets[2], 0u, "one path");
    NS_TEST_EXPECT_MSG_GT_OR_EQ(packets[3], 40u, "of 5000 bytes each, at most 1500 in a packet");
}

/** Packets that cannot be sent are dropped, and the drop is traced. */
WEIR_TEST_CASE(RefusalsTestCase,
               "Packets to nobody or to their sender are dropped, and frames are no longer "
               "than packets")
{
    Servers servers;
    servers.Install(2);
    unsigned tried = 0;
    unsigned dropped = 0;
    Config::ConnectWithoutContext(
        "/NodeList/0/DeviceList/0/$ns3::FabricNetDevice/MacTx",
        Callback<void, Ptr<const Packet>>([&](Ptr<const Packet>) { tried++; }));
    Config::ConnectWithoutContext(
        "/NodeList/0/DeviceList/0/$ns3::FabricNetDevice/MacTxDrop",
        Callback<void, Ptr<const Packet>>([&](Ptr<const Packet>) { dropped++; }));
    unsigned transmitted = 0;
    Config::ConnectWithoutContext(
        "/NodeList/0/DeviceList/0/$ns3::FabricNetDevice/Port/Transmit",
        Callback<void, uint32_t, uint32_t, weir::Time, weir::Time>(
            [&](uint32_t, uint32_t, weir::Time, weir::Time) { transmitted++; }));
    const Ipv4Address nobody("10.0.0.77");
    const Ipv4Address somebody = servers.m_interfaces.GetAddress(1);
    for (const Ipv4Address& address : {nobody, Ipv4Address("10.0.255.255"), somebody})
    {
        UdpEchoClientHelper client(address, 9);
        client.SetAttribute("MaxPackets", UintegerValue(1));
        client.Install(servers.Node(0)).Start(Seconds(0));
    }
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(tried, 3u, "three come to the device");
    NS_TEST_EXPECT_MSG_EQ(dropped, 2u, "no device has two of the addresses");
    NS_TEST_EXPECT_MSG_EQ(transmitted, 1u, "the other one is sent");
    // 14 + 4 + 20 bytes in addition to the packet; the maximum is 4096 + 82.
    const Ptr<FabricNetDevice> device = servers.Device(0);
    NS_TEST_EXPECT_MSG_EQ(device->SetMtu(4140), true, "as long as packets are");
    NS_TEST_EXPECT_MSG_EQ(device->SetMtu(4141), false, "longer");
    NS_TEST_EXPECT_MSG_EQ(device->GetMtu(), 4140, "it stays");
    const Address other = servers.Device(1)->GetAddress();
    const uint16_t protocol = 0x88b5; // local experimental
    NS_TEST_EXPECT_MSG_EQ(
        device->Send(Create<Packet>(4141), other, protocol), false, "longer than Mtu");
    NS_TEST_EXPECT_MSG_EQ(device->Send(Create<Packet>(100), device->GetAddress(), protocol),
                          false,
                          "switches return no frame to its sender");
    NS_TEST_EXPECT_MSG_EQ(
        device->Send(Create<Packet>(4140), other, protocol), true, "as long as Mtu");
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(dropped, 4u, "two more");
    NS_TEST_EXPECT_MSG_EQ(transmitted, 2u, "one more");
    Simulator::Destroy();
}

/**
 * Runs flows that contend for links.
 * @param hasDevices whether to install net devices
 * @return the end time of each flow, picoseconds
 */
std::vector<int64_t>
Ends(bool hasDevices)
{
    Servers servers;
    servers.m_helper.SetCongestionControl("dcqcn");
    servers.m_helper.SetPacketAttribute("Buffer", UintegerValue(400000));
    servers.Install(6, 4, hasDevices);
    std::vector<int64_t> ends;
    servers.m_cluster.GetFabric()->TraceConnectWithoutContext(
        "FlowFinished",
        Callback<void, uint64_t, const weir::FlowRequest&, weir::Time, weir::Time>(
            [&](uint64_t, const weir::FlowRequest&, weir::Time, weir::Time now) {
                ends.push_back(now.ToPicoseconds());
            }));
    for (uint32_t i = 0; i < 15; i++)
    {
        Simulator::Schedule(MicroSeconds(3 * i), [&servers, i]() {
            servers.m_cluster.GetFabric()->StartFlow(i % 6, (i * i + i + 1) % 6, 100000 + i);
        });
    }
    Simulator::Run();
    Simulator::Destroy();
    return ends;
}

/** Idle devices do not affect flows. */
WEIR_TEST_CASE(IdleTestCase, "Flows take the same picoseconds with idle devices as without")
{
    const auto with = Ends(true);
    const auto without = Ends(false);
    NS_TEST_EXPECT_MSG_EQ(with.size(), 15u, "all end");
    NS_TEST_EXPECT_MSG_EQ((with == without), true, "to the picosecond");
}

/** The packets in ns-3's own tools: FlowMonitor, pcap files, ascii traces. */
WEIR_TEST_CASE(ToolsTestCase, "FlowMonitor, pcap and ascii traces see every packet")
{
    const std::string pcap = CreateTempDirFilename("device.pcap");
    const std::string ascii = CreateTempDirFilename("device.tr");
    const uint32_t payload = 1000;
    const uint32_t count = 50;
    {
        Servers servers;
        servers.Install(2);
        servers.m_deviceHelper.EnablePcap(pcap, servers.m_devices.Get(1), false, true);
        servers.m_deviceHelper.EnableAscii(ascii, servers.m_devices.Get(1), true);
        FlowMonitorHelper monitors;
        const Ptr<FlowMonitor> monitor = monitors.InstallAll();
        servers.Stream(0, 1, payload * 8 * 100000, payload, MicroSeconds(10 * count + 5));
        Simulator::Stop(MilliSeconds(1));
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(monitor->GetFlowStats().size(), 1u, "one flow");
        const FlowMonitor::FlowStats& stats = monitor->GetFlowStats().begin()->second;
        NS_TEST_EXPECT_MSG_EQ(stats.txPackets, count, "one each 10 us");
        NS_TEST_EXPECT_MSG_EQ(stats.rxPackets, count, "all received");
        NS_TEST_EXPECT_MSG_EQ(stats.lostPackets, 0u, "none lost");
        NS_TEST_EXPECT_MSG_EQ(stats.delaySum.GetNanoSeconds(),
                              count *
                                  PathTime(payload + UDP_HEADERS + WIRE_BYTES, 2).GetNanoSeconds(),
                              "uncontended, each takes the time of its path");
        Simulator::Destroy();
    }
    PcapFile file;
    file.Open(pcap, std::ios::in);
    NS_TEST_EXPECT_MSG_EQ(file.GetDataLinkType(), 1u, "Ethernet");
    uint32_t records = 0;
    while (true)
    {
        uint8_t data[2048];
        uint32_t seconds;
        uint32_t microseconds;
        uint32_t captured;
        uint32_t original;
        uint32_t read;
        file.Read(data, sizeof(data), seconds, microseconds, captured, original, read);
        if (file.Fail())
        {
            break;
        }
        records++;
        NS_TEST_EXPECT_MSG_EQ(original, payload + UDP_HEADERS, "a frame");
        NS_TEST_EXPECT_MSG_EQ((data[12] << 8 | data[13]), 0x800, "of IPv4");
    }
    NS_TEST_EXPECT_MSG_EQ(records, count, "every packet that was received");
    std::ifstream text(ascii);
    uint32_t lines = 0;
    for (std::string line; std::getline(text, line);)
    {
        lines += line.rfind("r ", 0) == 0;
    }
    NS_TEST_EXPECT_MSG_EQ(lines, count, "as many lines");
}

/**
 * The parameters of packets and of congestion control are attributes, each of its own component.
 */
WEIR_TEST_CASE(DescriptionTestCase,
               "Attributes are the parameters of packets and of congestion control")
{
    ClusterHelper helper;
    helper.SetTransport("packet");
    helper.SetPacketAttribute("Mtu", UintegerValue(1000));
    helper.SetPacketAttribute("Recovery", StringValue("selective"));
    helper.SetPacketAttribute("Window", UintegerValue(12345));
    helper.SetPacketAttribute("PauseTime", TimeValue(MicroSeconds(5)));
    helper.SetPacketAttribute("Alpha", DoubleValue(0.5));
    helper.SetCongestionControl("dcqcn");
    helper.SetCongestionControlAttribute("Preset", StringValue("paper"));
    helper.SetCongestionControlAttribute("AlphaTimer", TimeValue(MicroSeconds(50)));
    const weir::PacketSpec spec = helper.Install(2).GetFabric()->GetPackets().GetSpec();
    NS_TEST_EXPECT_MSG_EQ(spec.format.mtu.Count(), 1000, "packet.mtu");
    NS_TEST_EXPECT_MSG_EQ(
        (spec.queuePair.recovery == weir::LossRecovery::Selective), true, "a choice");
    NS_TEST_EXPECT_MSG_EQ(spec.queuePair.window.Count(), 12345, "queuePair.window");
    NS_TEST_EXPECT_MSG_EQ(spec.switches.pauseTime.ToPicoseconds(), 5000000, "a time");
    NS_TEST_EXPECT_MSG_EQ(spec.switches.alpha, 0.5, "a number");
    NS_TEST_EXPECT_MSG_EQ(spec.trafficClasses, 2u, "of flows, and of devices");
    const auto& dcqcn = spec.congestionControl.As<weir::Dcqcn>();
    NS_TEST_EXPECT_MSG_EQ(dcqcn.window.Count(), 0, "not the queue pair's");
    NS_TEST_EXPECT_MSG_EQ(dcqcn.increaseTimer.ToPicoseconds(), 55000000, "SIGCOMM 2015 says 55 us");
    NS_TEST_EXPECT_MSG_EQ(dcqcn.alphaTimer.ToPicoseconds(), 50000000, "set after the preset");
    Simulator::Destroy();

    Ptr<PacketDescription> packets = CreateObject<PacketDescription>();
    NS_TEST_EXPECT_MSG_EQ(packets->GetSpec().switches.pauseTime.IsInfinite(), true, "until told");
    TimeValue pauseTime;
    packets->GetAttribute("PauseTime", pauseTime);
    NS_TEST_EXPECT_MSG_EQ(pauseTime.Get(), Time::Max(), "infinite");
    packets->SetAttribute("PauseTime", TimeValue(MicroSeconds(1)));
    packets->SetAttribute("PauseTime", TimeValue(Time::Max()));
    NS_TEST_EXPECT_MSG_EQ(packets->GetSpec().switches.pauseTime.IsInfinite(), true, "and back");
    NS_TEST_EXPECT_MSG_EQ(
        packets->SetAttributeFailSafe("Alpha", DoubleValue(-1)), false, "ranges are checked");
}

/** Mean rates over intervals add up to the transmitted bytes. */
WEIR_TEST_CASE(RateTestCase, "Rates of a port's intervals sum to its bytes, and end with zero")
{
    Servers servers;
    servers.Install(2, 64, false);
    const Ptr<FabricPort> port = servers.PortTo(1);
    port->SetAttribute("RateInterval", TimeValue(MicroSeconds(20)));
    std::vector<double> rates;
    uint64_t transmitted = 0;
    port->TraceConnectWithoutContext("Rate", Callback<void, DataRate>([&](DataRate rate) {
                                         rates.push_back(rate.GetBitRate());
                                     }));
    port->TraceConnectWithoutContext(
        "Transmit",
        Callback<void, uint32_t, uint32_t, weir::Time, weir::Time>(
            [&](uint32_t, uint32_t bytes, weir::Time, weir::Time) { transmitted += bytes; }));
    const Ptr<FluidFabric> fabric = servers.m_cluster.GetFabric();
    const uint64_t flow = fabric->StartFlow(0, 1, 1000000);
    double allowed = 0;
    Simulator::Schedule(MicroSeconds(100), [&]() { allowed = fabric->GetFlowRate(flow).ToGbps(); });
    Simulator::Run();
    NS_TEST_EXPECT_MSG_GT(allowed * GIGABIT, LINK_RATE - 1, "no congestion control: all of it");
    NS_TEST_EXPECT_MSG_EQ(fabric->GetFlowRate(flow).ToGbps(), 0, "it has ended");
    double bytes = 0;
    for (const double rate : rates)
    {
        bytes += rate * 20e-6 / 8;
    }
    NS_TEST_EXPECT_MSG_EQ(port->GetCounters().bytes, transmitted, "as counted");
    NS_TEST_EXPECT_MSG_EQ_TOL(bytes, static_cast<double>(transmitted), 1, "as traced");
    NS_TEST_ASSERT_MSG_GT(rates.size(), 40u, "817 us of packets in intervals of 20 us");
    NS_TEST_EXPECT_MSG_EQ(rates.back(), 0, "the last one is empty");
    NS_TEST_EXPECT_MSG_EQ_TOL(
        rates[10] / LINK_RATE, 1, FLOW_PACKET * 8 / 20e-6 / LINK_RATE, "one packet more or less");
    Simulator::Destroy();
}

/** Packets that were lost again and again are sent again once their link is repaired. */
WEIR_TEST_CASE(RepairTestCase, "A livelock ends when its link stops losing packets")
{
    Servers servers;
    servers.Install(2, 64, false);
    const Ptr<FluidFabric> fabric = servers.m_cluster.GetFabric();
    fabric->SetLinkLoss("leaf0", "node1/nic0", 1 - 0x1p-52);
    Time end;
    fabric->StartFlow(
        0, 1, 5000, Callback<void, uint64_t>([&end](uint64_t) { end = Simulator::Now(); }));
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(fabric->DescribeWaiting().rfind("livelock: ", 0), 0u, "all are lost");
    const Time repaired = Simulator::Now() + Seconds(1);
    Simulator::Schedule(Seconds(1), &FluidFabric::SetLinkLoss, fabric, "leaf0", "node1/nic0", 0.0);
    Simulator::Run();
    NS_TEST_EXPECT_MSG_GT(end, repaired, "they are sent again");
    NS_TEST_EXPECT_MSG_LT(end, repaired + MilliSeconds(5), "at the next timeout of 4 ms");
    Simulator::Destroy();
}

/** The suite. */
class FabricNetDeviceTestSuite : public TestSuite
{
  public:
    FabricNetDeviceTestSuite()
        : TestSuite("weir-fabric-net-device", TestSuite::Type::UNIT)
    {
        AddTestCase(new LatencyTestCase);
        AddTestCase(new Ipv6TestCase);
        AddTestCase(new OtherInterfaceTestCase);
        AddTestCase(new GoodputTestCase);
        AddTestCase(new SharesTestCase("packet", 0.005));
        AddTestCase(new SharesTestCase("hybrid", 0.02));
        AddTestCase(new LossTestCase);
        AddTestCase(new ClassesTestCase);
        AddTestCase(new EcnTestCase);
        AddTestCase(new PathsTestCase);
        AddTestCase(new FragmentsTestCase);
        AddTestCase(new RefusalsTestCase);
        AddTestCase(new IdleTestCase);
        AddTestCase(new ToolsTestCase);
        AddTestCase(new DescriptionTestCase);
        AddTestCase(new RateTestCase);
        AddTestCase(new RepairTestCase);
    }

  private:
    void DoSetup() override
    {
        // One test case writes ascii traces, which must be enabled before the first packet.
        Packet::EnablePrinting();
    }
};

FabricNetDeviceTestSuite g_fabricNetDeviceTestSuite; //!< registers the suite

} // namespace
