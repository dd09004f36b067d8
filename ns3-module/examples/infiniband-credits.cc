// SPDX-License-Identifier: GPL-2.0-only

// Network topology
//
//     server 0 ---------- leaf 0 ---------- server 1      200 Gb/s, a long cable each
//
// In InfiniBand a port sends a packet when it has credits for buffer space at the other end of the
// link. The credits of freed space arrive one cable latency later. A receive buffer of b bytes
// therefore limits the link to b bytes in the time from the start of a packet to the return of its
// credits, whatever the rate of the link: long cables need large buffers. The closed form next to
// the measurement is
//
//     min(rate, packets in the buffer x packet / (packet's transmission time + 2 x latency))
//
// for a switch that stores and forwards.
//
// Try: infiniband-credits --latency=10us

#include "ns3/cluster-helper.h"
#include "ns3/command-line.h"
#include "ns3/double.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/spec-descriptions.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdio>
#include <iostream>

using namespace ns3;

constexpr uint32_t PAYLOAD = 4096; //!< payload of a packet, bytes
constexpr uint32_t HEADER = 30;    //!< bytes: LRH 8, BTH 12, ICRC 4, VCRC 2, framing 4

/**
 * One run.
 * @param buffer receive buffer of a link, in packets
 * @param latency of a cable
 * @param bytes of the flow
 * @return the flow's throughput, Gb/s
 */
double
RunOnce(uint32_t buffer, Time latency, uint64_t bytes)
{
    ClusterHelper helper;
    for (const char* count : {"Gpus", "Nics", "PcieSwitches", "Sockets"})
    {
        helper.SetServerAttribute(count, UintegerValue(1));
    }
    helper.SetServerAttribute("NicRate", StringValue("200Gbps"));
    helper.SetServerAttribute("NicEfficiency", DoubleValue(1));
    helper.SetServerAttribute("NicLatency", TimeValue(latency));
    helper.SetNetworkAttribute("Kind", StringValue("leaf-spine"));
    helper.SetTransport("packet");
    helper.SetPacketAttribute("Mtu", UintegerValue(PAYLOAD));
    helper.SetPacketAttribute("Header", UintegerValue(HEADER));
    helper.SetPacketAttribute("FlowControl", StringValue("credits"));
    helper.SetPacketAttribute("CreditUnit", UintegerValue(1));
    helper.SetPacketAttribute("CreditBuffer", UintegerValue(buffer * (PAYLOAD + HEADER)));
    ClusterContainer cluster = helper.Install(2);

    Time end;
    cluster.GetFabric()->StartFlow(
        cluster.GetGpu(0, 0),
        cluster.GetGpu(1, 0),
        bytes,
        FluidFabric::FlowCallback([&end](uint64_t) { end = Simulator::Now(); }));
    Simulator::Run();
    Simulator::Destroy();
    return static_cast<double>(bytes) * 8e-9 / end.GetSeconds();
}

int
main(int argc, char* argv[])
{
    Time latency = MicroSeconds(2);
    uint64_t bytes = 64 << 20;
    CommandLine cmd(__FILE__);
    cmd.AddValue("latency", "Latency of each cable", latency);
    cmd.AddValue("bytes", "Size of the flow in bytes", bytes);
    cmd.Parse(argc, argv);

    TimeValue timeout;
    CreateObject<PacketDescription>()->GetAttribute("RetransmissionTimeout", timeout);
    if (timeout.Get() < 4 * latency)
    {
        std::cerr << "note: RetransmissionTimeout: found " << timeout.Get().As(Time::MS)
                  << ", below the " << (4 * latency).As(Time::MS)
                  << " that a packet and its acknowledgment spend on the cables: packets that are "
                     "not lost are retransmitted, and the flow takes longer\n";
    }
    const double rate = 200e9;
    const double bits = 8.0 * (PAYLOAD + HEADER);
    std::printf("buffer_packets  measured_Gbps  closed_form_Gbps\n");
    for (const uint32_t buffer : {1, 2, 4, 8, 16, 32, 64})
    {
        const double credits = buffer * bits / (bits / rate + 2 * latency.GetSeconds());
        std::printf("%14u  %13.2f  %16.2f\n",
                    buffer,
                    RunOnce(buffer, latency, bytes),
                    std::min(rate, credits) * PAYLOAD / (PAYLOAD + HEADER) * 1e-9);
    }
    return 0;
}
