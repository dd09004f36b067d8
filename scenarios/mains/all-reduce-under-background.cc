// SPDX-License-Identifier: GPL-2.0-only

// Network topology
//
//      leaf 0      leaf 1   ...  leaf 7        one leaf per rail, 400 Gb/s links
//      | |  \      | |  \        | |  \        (one group, so no spines)
//      | |   \     | |   \       | |   \       rail r joins NIC r of every server
//     nic0 of     nic1 of       nic7 of
//     0 1 2 3     0 1 2 3       0 1 2 3
//
//     server 0 .. 3: eight GPUs on NVSwitches, each with a NIC of its own
//
// An all-reduce of all 32 GPUs runs repeatedly; its rings cross between servers on every rail.
// During the third call a background flow starts on rail 0, from server 0 to server 1, and takes
// its share of the two links that the rings of that rail use. A collective ends when its slowest
// channel ends, so one shared link slows down all eight rails: the bus bandwidth falls although
// seven eighths of the network are uncontended. It recovers when the flow ends.
//
// Try: all-reduce-under-background --fidelity=flow --size=67108864

#include "ns3/cluster-helper.h"
#include "ns3/collective-helper.h"
#include "ns3/command-line.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <cstdio>

using namespace ns3;

/** Prints a call when it ends. */
void
PrintCall(uint32_t call, const weir::CollectivePlan& plan, weir::Time started, weir::Time now)
{
    const double seconds = (now - started).ToSeconds();
    std::printf("call %2u: %10.3f us  (uncontended %10.3f us)  %7.3f GB/s\n",
                call,
                seconds * 1e6,
                plan.duration.ToMicroseconds(),
                plan.call.bytes.ToDouble() / seconds * 1e-9);
}

/** Prints the end of the background flow. */
void
PrintEnd(uint64_t flow)
{
    std::printf("the background flow ends at %.3f ms\n", Simulator::Now().GetSeconds() * 1e3);
}

/**
 * Starts the background flow.
 * @param cluster the cluster
 * @param bytes size of the flow (bytes)
 */
void
StartBackground(ClusterContainer cluster, uint64_t bytes)
{
    std::printf("the background flow starts at %.3f ms\n", Simulator::Now().GetSeconds() * 1e3);
    cluster.GetFabric()->StartFlow(
        cluster.GetGpu(0, 0), cluster.GetGpu(1, 0), bytes, MakeCallback(&PrintEnd));
}

int
main(int argc, char* argv[])
{
    uint64_t size = 256 << 20;
    std::string fidelity = "stream";
    uint64_t background = 150000000;
    CommandLine cmd(__FILE__);
    cmd.AddValue("size", "Buffer size of each GPU (bytes)", size);
    cmd.AddValue("fidelity", "analytical, stream or flow", fidelity);
    cmd.AddValue("background", "Size of the background flow (bytes)", background);
    cmd.Parse(argc, argv);

    ClusterHelper clusterHelper;
    clusterHelper.SetServerAttribute("NicRate", StringValue("400Gbps"));
    clusterHelper.SetNetworkAttribute("Kind", StringValue("rail-optimized"));
    ClusterContainer cluster = clusterHelper.Install(4);

    CollectiveHelper collective("all-reduce", size);
    collective.SetAttribute("Algorithm", StringValue("ring"));
    collective.SetAttribute("Protocol", StringValue("simple"));
    collective.SetAttribute("Fidelity", StringValue(fidelity));
    collective.SetAttribute("Calls", UintegerValue(8));
    Ptr<CollectiveJob> job = collective.Install(cluster);
    job->TraceConnectWithoutContext("CollectiveFinished", MakeCallback(&PrintCall));

    const weir::CollectivePlan& plan = job->GetPlan();
    std::printf("%s, %s, %u channels\n",
                weir::ToString(plan.algorithm),
                weir::ToString(plan.protocol),
                plan.channels);
    // In the middle of the third call.
    Simulator::Schedule(
        Seconds(plan.duration.ToSeconds() * 2.5), &StartBackground, cluster, background);
    Simulator::Run();
    std::printf("bus bandwidth of the last call: %.3f GB/s\n", job->GetBusBandwidth().ToGBps());
    Simulator::Destroy();
    return 0;
}
