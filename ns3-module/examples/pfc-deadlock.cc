// SPDX-License-Identifier: GPL-2.0-only

// Network topology
//
//        router 0 ---- router 1 ---- router 2 ---- router 3 ---- router 4 ---- (router 0)
//         /   \         /   \         /   \         /   \         /   \           .
//        0     1       2     3       4     5       6     7       8     9      servers
//
// Five routers in a ring, two servers each, all links of 100 Gb/s. Every server sends to a server
// two routers further on, so the offered load of each ring link is the traffic of its router's
// servers and that from the previous router: twice its capacity. Buffers fill, and each router
// pauses the previous one. In a ring this is a cyclic dependency: each router waits for buffer
// space at the next one, forever. The fabric names the ports of the cycle. Congestion control that
// keeps queues below the pause threshold avoids the deadlock: HPCC does with buffers of 8 MiB;
// DCQCN, which starts at the full rate, does not.
//
// Try: pfc-deadlock --buffer=1

#include "ns3/cluster-helper.h"
#include "ns3/command-line.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <cstdio>

using namespace ns3;

/**
 * One run.
 * @param control kind of congestion control
 * @param buffer of a router, MiB
 * @param bytes of each flow
 */
void
RunOnce(const char* control, uint32_t buffer, uint64_t bytes)
{
    ClusterHelper helper;
    for (const char* count : {"Gpus", "Nics", "PcieSwitches", "Sockets"})
    {
        helper.SetServerAttribute(count, UintegerValue(1));
    }
    helper.SetServerAttribute("NicRate", StringValue("100Gbps"));
    helper.SetNetworkAttribute("Kind", StringValue("torus"));
    helper.SetNetworkAttribute("Sizes", StringValue("5"));
    helper.SetNetworkAttribute("NicsPerRouter", UintegerValue(2));
    helper.SetTransport("packet");
    helper.SetPacketAttribute("Buffer", UintegerValue(buffer << 20));
    helper.SetCongestionControl(control);
    ClusterContainer cluster = helper.Install(10);

    Ptr<FluidFabric> fabric = cluster.GetFabric();
    uint32_t ended = 0;
    for (uint32_t i = 0; i < 10; i++)
    {
        fabric->StartFlow(cluster.GetGpu(i, 0),
                          cluster.GetGpu((i + 4) % 10, 0),
                          bytes,
                          FluidFabric::FlowCallback([&ended](uint64_t) { ended++; }));
    }
    Simulator::Stop(MilliSeconds(200));
    Simulator::Run();
    std::printf("congestion control %s: %u of 10 flows have ended\n", control, ended);
    const std::string waiting = fabric->DescribeWaiting();
    if (!waiting.empty())
    {
        std::printf("%s\n", waiting.c_str());
    }
    Simulator::Destroy();
}

int
main(int argc, char* argv[])
{
    uint32_t buffer = 8;
    uint64_t bytes = 8 << 20;
    CommandLine cmd(__FILE__);
    cmd.AddValue("buffer", "Packet buffer of a router (MiB)", buffer);
    cmd.AddValue("bytes", "Bytes that each server sends", bytes);
    cmd.Parse(argc, argv);

    RunOnce("none", buffer, bytes);
    RunOnce("hpcc", buffer, bytes);
    return 0;
}
