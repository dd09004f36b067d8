// SPDX-License-Identifier: GPL-2.0-only

// Network topology
//
//          leaf 0 (rail 0)
//        /    |    |    \            400 Gb/s links
//     nic0  nic0  nic0  nic0
//      |     |     |     |           PCIe
//     gpu0  gpu0  gpu0  gpu0
//    server server server server
//      0     1     2  ...  N
//
// GPU 0 of each server 1 to N sends the same number of bytes to GPU 0 of server 0 concurrently, as
// in the gather at the end of a tree. All flows share one link evenly, from the leaf to the NIC of
// server 0: each takes N times as long as in isolation, and no other traffic in the cluster is
// slowed down. (In a real fabric the queue has a cost as well: see "Scope and Limitations" in
// doc/weir.rst.)
//
// Try: incast --senders=15 --bytes=1000000

#include "ns3/cluster-helper.h"
#include "ns3/command-line.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <cstdio>

using namespace ns3;

/** Prints a flow at its end. */
void
PrintFlow(uint64_t flow, const weir::FlowRequest& request, weir::Time started, weir::Time now)
{
    std::printf("flow of %lld bytes: %.3f us\n",
                static_cast<long long>(request.bytes.Count()),
                (now - started).ToMicroseconds());
}

int
main(int argc, char* argv[])
{
    uint32_t senders = 7;
    uint64_t bytes = 16 << 20;
    CommandLine cmd(__FILE__);
    cmd.AddValue("senders", "Number of sending servers", senders);
    cmd.AddValue("bytes", "Bytes that each server sends", bytes);
    cmd.Parse(argc, argv);

    ClusterHelper helper;
    helper.SetServerAttribute("NicRate", StringValue("400Gbps"));
    helper.SetNetworkAttribute("Kind", StringValue("rail-optimized"));
    ClusterContainer cluster = helper.Install(senders + 1);
    Ptr<FluidFabric> fabric = cluster.GetFabric();

    // A flow in isolation, for comparison.
    fabric->TraceConnectWithoutContext("FlowFinished", MakeCallback(&PrintFlow));
    std::printf("uncontended:\n");
    fabric->StartFlow(cluster.GetGpu(1, 0), cluster.GetGpu(0, 0), bytes);
    Simulator::Run();

    std::printf("%u concurrent flows:\n", senders);
    for (uint32_t server = 1; server <= senders; server++)
    {
        fabric->StartFlow(cluster.GetGpu(server, 0), cluster.GetGpu(0, 0), bytes);
    }
    Simulator::Run();
    Simulator::Destroy();
    return 0;
}
