// SPDX-License-Identifier: GPL-2.0-only
#include "collective-bench.h"
#include "collectives/engines/striped-flows.h"
#include "fabric/kinds/clos-fabric.h"
#include "fabric/transport/packet/congestion/static-window.h"
#include "reference-machines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

/**
 * @file
 * Connections between nodes over several queue pairs and over the merged ports of a NIC.
 */
namespace weir
{

namespace
{

/** Two nodes of eight 400 Gb/s NICs, each node on a leaf with as many uplinks, routed by ECMP. */
ClusterSpec
TwoLeaves(uint64_t hashSeed = 1)
{
    ClusterSpec spec = H100Boxes(2);
    spec.fabric.hashSeed = hashSeed;
    LeafSpine kind;
    kind.leafRadix = 16;
    spec.fabric.kind = kind;
    return spec;
}

/** A node of @p nodes has eight NICs of two 100 Gb/s ports. */
ClusterSpec
DualPortBoxes(uint32_t nodes)
{
    ClusterSpec spec = ReferenceBoxes(nodes, 80, 12, 20, 32, 12.5);
    spec.node.nics = 16;
    spec.node.portsPerNic = 2;
    return spec;
}

/** One send on one channel from each GPU of the first node to its peer on the second. */
std::vector<CollectiveCall>
SendsToPeers(CollectiveBench& bench, Bytes bytes)
{
    std::vector<CollectiveCall> calls;
    for (uint32_t gpu = 0; gpu < 8; ++gpu)
    {
        const auto pair = bench.GetPlanner().AddCommunicator({GpuId(gpu), GpuId(gpu + 8)});
        calls.push_back(WithProtocol(WithChannels(MakeCall(pair, CollectiveOp::Send, bytes), 1),
                                     Protocol::Simple));
    }
    return calls;
}

/** Maximum bytes that @p calls move over one link of the network, counted stripe by stripe. */
double
BytesOnBusiestLink(CollectiveBench& bench, const std::vector<CollectiveCall>& calls)
{
    const Routing& routing = bench.GetFabric().GetRouting();
    std::map<LinkId, double> bytes;
    for (const CollectiveCall& call : calls)
    {
        for (const StreamLeg& leg : bench.GetPlanner().Plan(call).legs)
        {
            const std::size_t stripes = routing.StripeCount(leg.route);
            for (std::size_t i = 0; i < stripes; ++i)
            {
                for (const PathLink& each : routing.Links(routing.Stripe(leg.route, i)))
                {
                    bytes[each.link] += leg.bytes.ToDouble() / static_cast<double>(stripes);
                }
            }
        }
    }
    double max = 0;
    for (const auto& [link, onLink] : bytes)
    {
        const Link& its = bench.GetFabric().GetCluster().GetTopology().GetLink(link);
        max = its.kind == LinkKind::Network ? std::max(max, onLink) : max;
    }
    return max;
}

/** Time of a 64 MiB send on one channel between two nodes. */
Time
SendOf(CollectiveBench& bench, Fidelity fidelity)
{
    return bench.Run(fidelity, SendsToPeers(bench, Bytes::MiB(64)).front());
}

const Communicator&
Searched(CollectiveBench& bench)
{
    Planner& planner = bench.GetPlanner();
    const auto group = planner.AddCommunicator(FirstGpus(16));
    planner.Plan(MakeCall(group, CollectiveOp::AllReduce, Bytes::MiB(1)));
    return planner.GetCommunicator(group);
}

} // namespace

// All network links have one rate, so that the flows on the busiest link are the last to end, and
// share it equally until then: the slowest send takes the busiest link's bytes / rate, where that
// share is less than what one channel sends. With more queue pairs each link's load comes nearer to
// the mean.
TEST(StripedConnections, QueuePairsTakeTheirOwnPaths)
{
    constexpr uint64_t SEED = 2; // three single queue pairs take one link
    double before = 0;
    for (const uint32_t queuePairs : {1U, 4U, 64U})
    {
        NcclSettings settings;
        settings.queuePairs = queuePairs;
        CollectiveBench bench(TwoLeaves(SEED), settings);
        const auto calls = SendsToPeers(bench, Bytes::MiB(256));
        const double max = BytesOnBusiestLink(bench, calls);
        const double wire = max / Rate::GBps(50).ToBytesPerSecond();
        for (const Fidelity fidelity : {Fidelity::Stream, Fidelity::Flow})
        {
            const auto times = bench.Run(fidelity, calls);
            const Time slowest = *std::max_element(times.begin(), times.end());
            EXPECT_GE(slowest.ToSeconds(), wire);
            EXPECT_LE(slowest.ToSeconds(), 1.02 * wire) << queuePairs << " queue pairs";
        }
        EXPECT_TRUE(before == 0 || max < 0.9 * before);
        before = max;
    }
}

// On a rail there is one path: queue pairs change only how fast a channel may be.
TEST(StripedConnections, QueuePairsOnOnePathAreOne)
{
    CollectiveBench bench(H100Boxes(2), ManyQueuePairs());
    const CollectiveCall call = SendsToPeers(bench, Bytes::MiB(1)).front();
    const Routing& routing = bench.GetFabric().GetRouting();
    for (const StreamLeg& leg : bench.GetPlanner().Plan(call).legs)
    {
        EXPECT_FALSE(routing.IsStriped(leg.route));
    }
}

// Each of the queue pairs on one path has its own window as packets: while windows bound the rate,
// four move a message in a quarter of the time, but for the latency of some tens of microseconds.
TEST(StripedConnections, QueuePairsOnOnePathHaveTheirOwnWindows)
{
    StaticWindow window;
    window.window = Bytes::KiB(8);
    PacketSpec packets;
    packets.congestionControl = window;
    CollectiveBench one(H100Boxes(2), {}, packets);
    CollectiveBench four(H100Boxes(2), ManyQueuePairs(), packets);
    const double seconds = SendOf(one, Fidelity::Packet).ToSeconds();
    EXPECT_NEAR(SendOf(four, Fidelity::Packet).ToSeconds(), seconds / 4, 60e-6);
    EXPECT_GT(seconds, 1e-2);
}

// NCCL 2.20 sees a NIC of two 100 Gb/s ports as one of 200 Gb/s: eight channels of 24 GB/s, as with
// eight such ports, where before it found sixteen of 12.
TEST(StripedConnections, MergedPortsAreOneNicOfTheSearch)
{
    NcclSettings apart;
    apart.mergeNics = false;
    for (const auto& [settings, channels] : std::vector<std::pair<NcclSettings, uint32_t>>{
             {NcclSettings(), 8}, {NcclSettings("2.19.3"), 16}, {apart, 16}})
    {
        for (const Rate assumed : {Rate(), Rate::GBps(12.5)})
        {
            ClusterSpec spec = DualPortBoxes(2);
            spec.node.nic.ncclRate = assumed;
            CollectiveBench bench(spec, settings);
            const Communicator& found = Searched(bench);
            EXPECT_EQ(found.searchChannels, channels) << settings.version;
            EXPECT_DOUBLE_EQ(found.searchBandwidth, 192);
        }
    }
}

// The bytes of one channel leave by both ports, which takes half the time of one port but for the
// latency, of about 20 us: the rates of PCIe 4 x16 (25.6 GB/s) and a queue pair on each port are
// no limit. As packets they take their headers and acknowledgements more.
TEST(StripedConnections, AChannelFillsBothPortsOfAMergedNic)
{
    NcclSettings apart;
    apart.mergeNics = false;
    for (const Fidelity fidelity : {Fidelity::Analytical, Fidelity::Stream, Fidelity::Flow})
    {
        CollectiveBench merged(DualPortBoxes(2));
        CollectiveBench single(DualPortBoxes(2), apart);
        const double wire = Bytes::MiB(64).ToDouble() / Rate::GBps(25).ToBytesPerSecond();
        EXPECT_NEAR(SendOf(merged, fidelity).ToSeconds(), wire, 30e-6);
        EXPECT_NEAR(SendOf(single, fidelity).ToSeconds(), 2 * wire, 30e-6);
    }
    CollectiveBench packets(DualPortBoxes(2), {}, PacketSpec());
    CollectiveBench fluid(DualPortBoxes(2));
    const double ratio = SendOf(packets, Fidelity::Packet) / SendOf(fluid, Fidelity::Flow);
    EXPECT_GE(ratio, 1);
    EXPECT_LE(ratio, 1.1);
}

// Every port carries the same bytes, whatever the algorithm and its number of channels.
TEST(StripedConnections, CollectivesLoadBothPortsOfAMergedNicAlike)
{
    for (const Algorithm algorithm : {Algorithm::Ring, Algorithm::Tree})
    {
        CollectiveBench bench(DualPortBoxes(2));
        const auto group = bench.GetPlanner().AddCommunicator(FirstGpus(16));
        const auto call =
            WithAlgorithm(MakeCall(group, CollectiveOp::AllReduce, Bytes::MiB(64)), algorithm);
        const auto out = BytesOutOfPorts(bench, bench.GetPlanner().Plan(call));
        ASSERT_EQ(out.size(), 32U);
        for (std::size_t nic = 0; nic < out.size(); nic += 2)
        {
            EXPECT_GT(out[nic], 0);
            EXPECT_DOUBLE_EQ(out[nic], out[nic + 1]);
        }
    }
}

// All pairs of GPUs: the ports of a merged NIC carry what one port of twice the rate does.
TEST(StripedConnections, AnAllToAllOverMergedPortsIsThatOverOnePortOfTheirRate)
{
    for (const Fidelity fidelity : {Fidelity::Analytical, Fidelity::Stream, Fidelity::Flow})
    {
        std::vector<Time> times;
        for (const ClusterSpec& spec : {DualPortBoxes(2), A100Boxes(2)})
        {
            CollectiveBench bench(spec);
            const auto group = bench.GetPlanner().AddCommunicator(FirstGpus(16));
            times.push_back(
                bench.Run(fidelity, MakeCall(group, CollectiveOp::AllToAll, Bytes::MiB(64))));
        }
        EXPECT_NEAR(times[0] / times[1], 1, 1e-3);
    }
}

// A stripe that is ahead waits for the others of its slice.
TEST(StripedSlices, ASliceIsWholeWithItsLastStripe)
{
    StripedSlices slices(2);
    EXPECT_FALSE(slices.Add(0));
    EXPECT_FALSE(slices.Add(0));
    EXPECT_TRUE(slices.Add(1));
    EXPECT_TRUE(slices.Add(1));
    EXPECT_FALSE(slices.Add(1));
}

} // namespace weir
