// SPDX-License-Identifier: GPL-2.0-only

// Network topology
//
//               leaf 0
//        /    |    |    \            100 Gb/s links
//    server server server server     one GPU and one NIC each
//      0     1     2      3
//
// Servers 1 to 3 send packets to server 0 under Swift, which keeps the delay of a packet near a
// target: the queue of the port to server 0 grows with the target. The program sets the target as
// an attribute, and connects a trace source of the port and one of the fabric.
// docs/guide/ns3-programs.md explains it line by line.
//
// Try: swift-target --ns3::CongestionControlDescription::SwiftTarget=100us

#include "ns3/cluster-helper.h"
#include "ns3/command-line.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/fabric-port.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdio>

using namespace ns3;

uint64_t g_maxQueue = 0; //!< maximum queue of flows' packets, bytes

/** Trace sink of QueueBytes. */
void
NoteQueue(uint32_t trafficClass, uint64_t bytes, weir::Time now)
{
    if (trafficClass == 1) // 0: control packets, 1: flows, 2 and above: devices
    {
        g_maxQueue = std::max(g_maxQueue, bytes);
    }
}

/** Trace sink of FlowFinished. */
void
PrintFlow(uint64_t flow, const weir::FlowRequest& request, weir::Time started, weir::Time now)
{
    std::printf(
        "%.0f bytes in %.3f us\n", request.bytes.ToDouble(), (now - started).ToMicroseconds());
}

int
main(int argc, char* argv[])
{
    Config::SetDefault("ns3::CongestionControlDescription::SwiftTarget",
                       TimeValue(MicroSeconds(25)));
    CommandLine cmd(__FILE__);
    cmd.Parse(argc, argv);

    ClusterHelper helper;
    for (const char* count : {"Gpus", "Nics", "PcieSwitches", "Sockets"})
    {
        helper.SetServerAttribute(count, UintegerValue(1));
    }
    helper.SetServerAttribute("NicRate", StringValue("100Gbps"));
    helper.SetNetworkAttribute("Kind", StringValue("leaf-spine"));
    helper.SetTransport("packet");
    helper.SetPacketAttribute("Buffer", UintegerValue(8 << 20));
    helper.SetCongestionControl("swift");
    helper.SetCongestionControlAttribute("SwiftIncrease", DoubleValue(2));
    ClusterContainer cluster = helper.Install(4);

    Ptr<FluidFabric> fabric = cluster.GetFabric();
    Ptr<FabricPort> port = fabric->GetPort(fabric->FindLink("leaf0", "node0/nic0"));
    port->TraceConnectWithoutContext("QueueBytes", MakeCallback(&NoteQueue));
    Config::ConnectWithoutContext("/NodeList/0/$ns3::GpuServer/Fabric/FlowFinished",
                                  MakeCallback(&PrintFlow));
    for (uint32_t server = 1; server < 4; server++)
    {
        fabric->StartFlow(cluster.GetGpu(server, 0), cluster.GetGpu(0, 0), 16000000);
    }
    Simulator::Run();
    std::printf("longest queue %.1f KiB\n", static_cast<double>(g_maxQueue) / 1024);
    Simulator::Destroy();
    return 0;
}
