// SPDX-License-Identifier: GPL-2.0-only

// Network topology
//
//         spine 0   spine 1  ...
//          |  \    /  |
//          |    \/    |            as many uplinks as server ports: not oversubscribed
//          |    /\    |
//          |  /    \  |
//         leaf 0    leaf 1
//        / .. \     / .. \         one 400 Gb/s port per server
//      servers      servers
//      0 .. N-1     N .. 2N-1
//
// Server i of the first leaf sends to server N + i of the second, all concurrently. No link has to
// carry more than one flow, so with ideal routing every flow runs at the full rate. ECMP hashes
// each flow to an uplink instead, so that some uplinks get two or three flows while others stay
// idle: those flows take two or three times as long. The run is repeated with several hash salts of
// the switches, as a training step waits for its slowest flow.
//
// Try: ecmp-collisions --servers=32 --seeds=20

#include "ns3/cluster-helper.h"
#include "ns3/command-line.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdio>
#include <vector>

using namespace ns3;

/** The completion time of each flow in microseconds, in the order of their ends. */
std::vector<double> g_microseconds;

/** Records the completion time of a flow. */
void
NoteFlow(uint64_t flow, const weir::FlowRequest& request, weir::Time started, weir::Time now)
{
    g_microseconds.push_back((now - started).ToMicroseconds());
}

/**
 * One run: every server of the first leaf sends to its partner of the second.
 * @param servers per leaf
 * @param seed of the switches' hash salts
 * @param bytes of each flow
 */
void
RunOnce(uint32_t servers, uint64_t seed, uint64_t bytes)
{
    ClusterHelper helper;
    helper.SetServerAttribute("Gpus", UintegerValue(1));
    helper.SetServerAttribute("Nics", UintegerValue(1));
    helper.SetServerAttribute("PcieSwitches", UintegerValue(1));
    helper.SetServerAttribute("Sockets", UintegerValue(1));
    helper.SetNetworkAttribute("Kind", StringValue("leaf-spine"));
    helper.SetNetworkAttribute("LeafRadix", UintegerValue(2 * servers));
    helper.SetNetworkAttribute("HashSeed", UintegerValue(seed));
    ClusterContainer cluster = helper.Install(2 * servers);

    g_microseconds.clear();
    Ptr<FluidFabric> fabric = cluster.GetFabric();
    fabric->TraceConnectWithoutContext("FlowFinished", MakeCallback(&NoteFlow));
    for (uint32_t i = 0; i < servers; i++)
    {
        fabric->StartFlow(cluster.GetGpu(i, 0), cluster.GetGpu(servers + i, 0), bytes);
    }
    Simulator::Run();
    Simulator::Destroy();
}

int
main(int argc, char* argv[])
{
    uint32_t servers = 16;
    uint32_t seeds = 8;
    uint64_t bytes = 64 << 20;
    CommandLine cmd(__FILE__);
    cmd.AddValue("servers", "Number of servers attached to each of the two leaf switches", servers);
    cmd.AddValue("seeds", "Number of ECMP hash seeds to run", seeds);
    cmd.AddValue("bytes", "Bytes that each server sends", bytes);
    cmd.Parse(argc, argv);

    std::printf("seed  fastest_us  slowest_us  slowest/fastest\n");
    for (uint32_t seed = 1; seed <= seeds; seed++)
    {
        RunOnce(servers, seed, bytes);
        const auto [fastest, slowest] =
            std::minmax_element(g_microseconds.begin(), g_microseconds.end());
        std::printf("%4u  %10.3f  %10.3f  %15.2f\n", seed, *fastest, *slowest, *slowest / *fastest);
    }
    return 0;
}
