// SPDX-License-Identifier: GPL-2.0-only

// Network topology
//
//               leaf 0
//        /    |    |    \            100 Gb/s links, lossless (PFC)
//    server server server server     one GPU and one NIC each
//      0     1     2  ...  N
//
// Servers 1 to N send packets to server 0 concurrently. Without congestion control each sends at
// the rate of its NIC: the queue of the port to server 0 grows until the leaf pauses the senders,
// repeatedly. With DCQCN the leaf marks packets, server 0 notifies the senders, and these slow
// down. The first burst is equally large, because DCQCN starts at the full rate. After that the
// queue is a small fraction of its former length, and no sender is paused any more. The cost is
// that the link to server 0 idles while the senders return to their shares: the flows end later.
//
// Try: incast-dcqcn --senders=31 --preset=connectx

#include "ns3/cluster-helper.h"
#include "ns3/command-line.h"
#include "ns3/fabric-port.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdio>
#include <string>

using namespace ns3;

/** The results of a run. */
struct Incast
{
    double slowest{0};    //!< maximum flow completion time, microseconds
    uint64_t longest{0};  //!< maximum queue of the port to server 0, bytes
    uint64_t queue{0};    //!< present queue, bytes
    double area{0};       //!< integral of the queue over time, byte seconds
    weir::Time last;      //!< time of its last change
    unsigned marks{0};    //!< ECN marks at that port
    unsigned pauses{0};   //!< pauses of all senders' ports
    double pausedTime{0}; //!< time paused of all senders' ports, microseconds
};

/** Trace sink of FlowFinished. */
void
NoteFlow(Incast* incast,
         uint64_t flow,
         const weir::FlowRequest& request,
         weir::Time started,
         weir::Time now)
{
    incast->slowest = std::max(incast->slowest, (now - started).ToMicroseconds());
}

/** Trace sink of QueueBytes. */
void
NoteQueue(Incast* incast, uint32_t trafficClass, uint64_t bytes, weir::Time now)
{
    if (trafficClass != 1)
    {
        return; // control packets
    }
    incast->area += static_cast<double>(incast->queue) * (now - incast->last).ToSeconds();
    incast->queue = bytes;
    incast->last = now;
    incast->longest = std::max(incast->longest, bytes);
}

/** Trace sink of Mark. */
void
NoteMark(Incast* incast, uint32_t trafficClass, weir::Time now)
{
    incast->marks++;
}

/** Trace sink of Pause. */
void
NotePause(Incast* incast, uint32_t trafficClass, bool isPaused, weir::Time now)
{
    incast->pauses += isPaused;
}

/**
 * One run.
 * @param control kind of congestion control
 * @param preset of DCQCN
 * @param bytes of each flow
 * @return the results
 */
Incast
RunOnce(const std::string& control, const std::string& preset, uint32_t senders, uint64_t bytes)
{
    ClusterHelper helper;
    for (const char* count : {"Gpus", "Nics", "PcieSwitches", "Sockets"})
    {
        helper.SetServerAttribute(count, UintegerValue(1));
    }
    helper.SetServerAttribute("NicRate", StringValue("100Gbps"));
    helper.SetNetworkAttribute("Kind", StringValue("leaf-spine"));
    helper.SetTransport("packet");
    helper.SetPacketAttribute("Buffer", UintegerValue(8 << 20));
    helper.SetCongestionControl(control);
    helper.SetCongestionControlAttribute("Preset", StringValue(preset));
    ClusterContainer cluster = helper.Install(senders + 1);

    Incast incast;
    Ptr<FluidFabric> fabric = cluster.GetFabric();
    fabric->TraceConnectWithoutContext("FlowFinished", MakeBoundCallback(&NoteFlow, &incast));
    Ptr<FabricPort> port = fabric->GetPort(fabric->FindLink("leaf0", "node0/nic0"));
    port->TraceConnectWithoutContext("QueueBytes", MakeBoundCallback(&NoteQueue, &incast));
    port->TraceConnectWithoutContext("Mark", MakeBoundCallback(&NoteMark, &incast));
    for (uint32_t i = 1; i <= senders; i++)
    {
        const std::string nic = "node" + std::to_string(i) + "/nic0";
        fabric->GetPort(fabric->FindLink(nic, "leaf0"))
            ->TraceConnectWithoutContext("Pause", MakeBoundCallback(&NotePause, &incast));
        fabric->StartFlow(cluster.GetGpu(i, 0), cluster.GetGpu(0, 0), bytes);
    }
    Simulator::Run();
    for (uint32_t i = 1; i <= senders; i++)
    {
        const std::string nic = "node" + std::to_string(i) + "/nic0";
        const Ptr<FabricPort> sender = fabric->GetPort(fabric->FindLink(nic, "leaf0"));
        incast.pausedTime += static_cast<double>(sender->GetCounters().paused) * 1e-6;
    }
    Simulator::Destroy();
    return incast;
}

int
main(int argc, char* argv[])
{
    uint32_t senders = 15;
    uint64_t bytes = 16 << 20;
    std::string preset = "paper";
    CommandLine cmd(__FILE__);
    cmd.AddValue("senders", "Number of sending servers", senders);
    cmd.AddValue("bytes", "Bytes that each server sends", bytes);
    cmd.AddValue("preset", "Preset of DCQCN's parameters", preset);
    cmd.Parse(argc, argv);

    std::printf(
        "control  slowest_us  longest_queue_KiB  mean_queue_KiB  marks  pauses  paused_us\n");
    for (const std::string control : {"none", "dcqcn"})
    {
        const Incast incast = RunOnce(control, preset, senders, bytes);
        std::printf("%-7s  %10.3f  %17.1f  %14.1f  %5u  %6u  %9.3f\n",
                    control.c_str(),
                    incast.slowest,
                    static_cast<double>(incast.longest) / 1024,
                    incast.area / incast.last.ToSeconds() / 1024,
                    incast.marks,
                    incast.pauses,
                    incast.pausedTime);
    }
    return 0;
}
