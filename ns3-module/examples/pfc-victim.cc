// SPDX-License-Identifier: GPL-2.0-only

// Network topology
//
//              spine 0
//             /       \              400 Gb/s links
//        leaf 0       leaf 1
//       /  |  \      /  |  \         100 Gb/s links, lossless (PFC)
//      0   1   2    3   4   5        servers of one GPU and one NIC
//
// Servers 0 and 1 send to server 3, whose link is too slow for both. Server 2 sends to server 4
// concurrently; no link of its path is a bottleneck. But the buffer of leaf 1 fills with packets
// for server 3, so leaf 1 pauses the link from the spine, and the spine pauses leaf 0: all traffic
// on that path waits. The flow to server 4 is a victim of these pauses (head-of-line blocking) and
// gets half of its rate. Congestion control that keeps the buffer from filling restores its rate:
// DCQCN fully, HPCC to its target of 95 % of the link.
//
// Try: pfc-victim --bytes=67108864

#include "ns3/cluster-helper.h"
#include "ns3/command-line.h"
#include "ns3/double.h"
#include "ns3/fabric-port.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <cstdio>
#include <string>

using namespace ns3;

/**
 * One run.
 * @param control kind of congestion control
 * @param culprits number of servers that send to server 3
 * @param bytes of the victim's flow
 */
void
RunOnce(const char* name, const std::string& control, uint32_t culprits, uint64_t bytes)
{
    ClusterHelper helper;
    for (const char* count : {"Gpus", "Nics", "PcieSwitches", "Sockets"})
    {
        helper.SetServerAttribute(count, UintegerValue(1));
    }
    helper.SetServerAttribute("NicRate", StringValue("100Gbps"));
    helper.SetNetworkAttribute("Kind", StringValue("leaf-spine"));
    helper.SetNetworkAttribute("LeafRadix", UintegerValue(4));
    helper.SetNetworkAttribute("Oversubscription", DoubleValue(3));
    helper.SetNetworkAttribute("LinkRate", StringValue("400Gbps"));
    helper.SetTransport("packet");
    helper.SetPacketAttribute("Buffer", UintegerValue(4 << 20));
    helper.SetCongestionControl(control);
    ClusterContainer cluster = helper.Install(6);

    Ptr<FluidFabric> fabric = cluster.GetFabric();
    double microseconds = 0;
    fabric->StartFlow(cluster.GetGpu(2, 0),
                      cluster.GetGpu(4, 0),
                      bytes,
                      FluidFabric::FlowCallback([&microseconds](uint64_t) {
                          microseconds = Simulator::Now().GetSeconds() * 1e6;
                          Simulator::Stop();
                      }));
    for (uint32_t i = 0; i < culprits; i++)
    {
        fabric->StartFlow(cluster.GetGpu(i, 0), cluster.GetGpu(3, 0), 10 * bytes);
    }
    Ptr<FabricPort> uplink = fabric->GetPort(fabric->FindLink("leaf0", "spine0"));
    Simulator::Run();
    const weir::PortCounters counters = uplink->GetCounters();
    std::printf("%-24s  %10.3f  %6.2f  %14llu  %9.3f\n",
                name,
                microseconds,
                static_cast<double>(bytes) * 8e-3 / microseconds,
                static_cast<unsigned long long>(counters.pauses),
                static_cast<double>(counters.paused) * 1e-6);
    Simulator::Destroy();
}

int
main(int argc, char* argv[])
{
    uint64_t bytes = 16 << 20;
    CommandLine cmd(__FILE__);
    cmd.AddValue("bytes", "Size of the victim flow in bytes", bytes);
    cmd.Parse(argc, argv);

    std::printf("run                        victim_us    Gbps  uplink_pauses  paused_us\n");
    RunOnce("victim uncontended", "none", 0, bytes);
    RunOnce("two others, none", "none", 2, bytes);
    RunOnce("two others, dcqcn", "dcqcn", 2, bytes);
    RunOnce("two others, hpcc", "hpcc", 2, bytes);
    return 0;
}
