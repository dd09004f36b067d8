// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/collnet/collnet-network.h"
#include "fabric/kinds/clos-fabric.h"

#include "collective-bench.h"
#include "reducing-network.h"
#include "reference-machines.h"
#include "schedule-check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>

namespace weir
{
namespace
{

constexpr Algorithm COLLNETS[] = {Algorithm::CollNetDirect, Algorithm::CollNetChain};
constexpr Algorithm ALL_REDUCED_IN_SWITCHES[] = {
    Algorithm::CollNetDirect, Algorithm::CollNetChain, Algorithm::Nvls};

CollectiveCall
HalfCall(CommunicatorId id, CollectiveOp op, Bytes bytes)
{
    return WithAlgorithm(MakeCall(id, op, bytes), Algorithm::CollNetDirect);
}

/** Bytes that enter each port of a group, summed over all legs of a plan. */
std::vector<double>
BytesIntoPorts(CollectiveBench& bench, const CollectivePlan& plan)
{
    const auto& topology = bench.GetFabric().GetCluster().GetTopology();
    std::vector<double> into(topology.DeviceCount(), 0);
    for (const auto& leg : plan.legs)
    {
        for (const auto& each : bench.GetPlanner().GetRouting().Links(leg.route))
        {
            const Link& link = topology.GetLink(each.link);
            if (link.kind == LinkKind::Network)
            {
                into[link.to.Index()] += leg.bytes.ToDouble() * each.multiplicity;
            }
        }
    }
    std::vector<double> ports;
    for (std::size_t i = 0; i < into.size(); ++i)
    {
        if (topology.GetDevice(DeviceId(i)).kind == DeviceKind::Nic)
        {
            ports.push_back(into[i]);
        }
    }
    return ports;
}

CollectiveCall
CollNetCall(CommunicatorId id, Algorithm algorithm, Bytes bytes)
{
    return WithAlgorithm(MakeCall(id, CollectiveOp::AllReduce, bytes), algorithm);
}

std::vector<DeviceId>
Rail(const Cluster& cluster, uint32_t nic)
{
    std::vector<DeviceId> nics;
    for (uint32_t node = 0; node < cluster.NodeCount(); ++node)
    {
        nics.push_back(cluster.NicDevice(node, nic));
    }
    return nics;
}

// Four nodes on one leaf per rail: the leaf is the root, and each port has one link up and one
// down.
TEST(SwitchTree, OfOneRailIsItsLeaf)
{
    CollectiveBench bench(H100Boxes(4));
    const Cluster& cluster = bench.GetFabric().GetCluster();
    const SwitchTree tree = FindSwitchTree(cluster.GetTopology(), Rail(cluster, 2), 0);
    EXPECT_EQ(cluster.GetTopology().GetDevice(tree.root).kind, DeviceKind::LeafSwitch);
    EXPECT_EQ(tree.links.size(), 8U);
    EXPECT_EQ(tree.latency, Time::Nanoseconds(2 * 600));
}

// Leaves of two nodes: the root is a spine, and a leaf forwards one sum: 8 ports and 4 leaves make
// 12 links up and 12 down, not 16. Other tree numbers have other roots.
TEST(SwitchTree, SumsGoOnTogether)
{
    ClusterSpec spec = H100Boxes(8);
    spec.fabric.kind = LeafSpine();
    spec.fabric.kind.As<ClosFabric>().leafRadix = 32;
    CollectiveBench bench(spec);
    const Cluster& cluster = bench.GetFabric().GetCluster();
    const SwitchTree tree = FindSwitchTree(cluster.GetTopology(), Rail(cluster, 0), 0);
    EXPECT_EQ(cluster.GetTopology().GetDevice(tree.root).kind, DeviceKind::SpineSwitch);
    EXPECT_EQ(tree.links.size(), 24U);
    EXPECT_FALSE(FindSwitchTree(cluster.GetTopology(), Rail(cluster, 0), 1).root == tree.root);
}

// Two leaves of two nodes under one spine with 16 wires each: 16 trees load each wire once, up and
// down. If a wire fails, its tree uses another one; if all fail, there is no tree.
TEST(SwitchTree, TreesSpreadOverParallelWires)
{
    ClusterSpec spec = H100Boxes(4);
    spec.fabric.kind = LeafSpine();
    spec.fabric.kind.As<ClosFabric>().leafRadix = 32;
    CollectiveBench bench(spec);
    const Cluster& cluster = bench.GetFabric().GetCluster();
    const Topology& topology = cluster.GetTopology();
    std::set<LinkId> uplinks;
    std::set<DeviceId> roots;
    constexpr uint32_t WIRES = 16;
    for (uint32_t choice = 0; choice < WIRES; choice++)
    {
        const SwitchTree tree = FindSwitchTree(topology, Rail(cluster, 0), choice);
        roots.insert(tree.root);
        for (const LinkId link : tree.links)
        {
            if (topology.GetDevice(topology.GetLink(link).from).kind == DeviceKind::LeafSwitch &&
                topology.GetLink(link).to == tree.root)
            {
                EXPECT_TRUE(uplinks.insert(link).second) << choice;
            }
        }
    }
    EXPECT_EQ(uplinks.size(), 2 * WIRES);
    const LinkId failed = *uplinks.begin();
    const auto without = [&](LinkId link) { return link != failed; };
    for (uint32_t choice = 0; choice < WIRES; choice++)
    {
        const SwitchTree tree = FindSwitchTree(topology, Rail(cluster, 0), choice, without);
        EXPECT_EQ(std::count(tree.links.begin(), tree.links.end(), failed), 0);
    }
    const auto none = [&](LinkId link) { return uplinks.count(link) == 0; };
    EXPECT_THROW(FindSwitchTree(topology, Rail(cluster, 0), 0, none), std::runtime_error);
}

// If a wire fails, the trees on it move to another one, so that the call can complete.
TEST(CollNet, TreesLeaveAWireThatIsDown)
{
    ClusterSpec spec = WithSharp(H100Boxes(4));
    spec.fabric.kind = LeafSpine();
    spec.fabric.kind.As<ClosFabric>().leafRadix = 32;
    CollectiveBench bench(spec);
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(32));
    Routing& routing = bench.GetFabric().GetRouting();
    const auto& plan =
        bench.GetPlanner().Plan(CollNetCall(id, Algorithm::CollNetDirect, Bytes::GiB(1)));
    const Topology& topology = bench.GetFabric().GetCluster().GetTopology();
    LinkId loaded;
    for (const StreamLeg& leg : plan.legs)
    {
        for (const PathLink& each : routing.Links(leg.route))
        {
            loaded = JoinsSwitches(topology, each.link) ? each.link : loaded;
        }
    }
    ASSERT_TRUE(loaded.IsValid());
    routing.SetUsable({loaded, topology.GetLink(loaded).opposite}, false);
    for (const StreamLeg& leg : plan.legs)
    {
        for (const PathLink& each : routing.Paths().Links(routing.CurrentPath(leg.route)))
        {
            EXPECT_FALSE(each.link == loaded);
        }
    }
}

TEST(CollNet, NeedsSwitchesThatReduceAndSeveralNodes)
{
    for (const auto& spec : {H100Boxes(2), WithSharp(H100Boxes(1))})
    {
        CollectiveBench bench(spec);
        const auto id = bench.GetPlanner().AddCommunicator(
            FirstGpus(bench.GetFabric().GetCluster().GpuCount()));
        for (Algorithm algorithm : COLLNETS)
        {
            EXPECT_THROW(bench.GetPlanner().Plan(CollNetCall(id, algorithm, Bytes::MiB(1))),
                         std::invalid_argument);
        }
    }
}

// For any number of nodes each of 8 ports sends an eighth of the message once; a ring sends twice
// as much.
TEST(CollNet, EachByteLeavesANodeOnce)
{
    for (uint32_t nodes : {2U, 5U})
    {
        CollectiveBench bench(WithSharp(H100Boxes(nodes)));
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8 * nodes));
        for (Algorithm algorithm : ALL_REDUCED_IN_SWITCHES)
        {
            const auto& plan = bench.GetPlanner().Plan(CollNetCall(id, algorithm, Bytes::GiB(1)));
            const auto ports = BytesOutOfPorts(bench, plan);
            ASSERT_EQ(ports.size(), 8 * nodes);
            for (double bytes : ports)
            {
                EXPECT_NEAR(bytes, (1 << 30) / 8.0, 1) << ToString(algorithm) << nodes;
            }
        }
    }
}

// NCCL gives a communicator half as many channels again where chains are faster inside nodes than
// between them (connect.cc), except with one GPU a node.
TEST(CollNet, ChainsThatAreFasterInsideNodesGetMoreChannels)
{
    const auto channels = [](const ClusterSpec& spec, uint32_t gpus) {
        CollectiveBench bench(spec);
        Planner& planner = bench.GetPlanner();
        std::vector<GpuId> group;
        for (uint32_t i = 0; i < 2 * gpus; ++i)
        {
            group.emplace_back(i / gpus * 8 + i % gpus);
        }
        return planner.GetCommunicator(planner.AddCommunicator(group)).channels.size();
    };
    EXPECT_EQ(channels(B200Boxes(2), 8), 16U);
    EXPECT_EQ(channels(WithSharp(B200Boxes(2)), 8), 24U);
    EXPECT_EQ(channels(WithSharp(B200Boxes(2)), 1), channels(B200Boxes(2), 1));
}

// The heads of a chain stay on one rail, and its blocks sum and spread concurrently, as those of a
// tree over two nodes: a fourth of 42.8 GB/s each (2.30's perChMaxTreeBws of Blackwell). So the
// bandwidth of large messages does not depend on the number of nodes, even or odd, and equals that
// of 24 blocks where the links are faster.
TEST(CollNet, ChainsHaveTheBandwidthOfTheirBlocks)
{
    for (uint32_t nodes : {2U, 8U, 9U})
    {
        CollectiveBench bench(WithSharp(B200Boxes(nodes)));
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8 * nodes));
        const auto time = [&](Bytes bytes) {
            return bench.GetPlanner()
                .Plan(CollNetCall(id, Algorithm::CollNetChain, bytes))
                .duration.ToSeconds();
        };
        const double rate =
            Bytes::MiB(512).ToDouble() / (time(Bytes::GiB(1)) - time(Bytes::MiB(512)));
        EXPECT_NEAR(rate / (24 * 42.8e9 / 4), 1, 0.0015) << nodes; // of rounded chunks
    }
}

// With one GPU per node there is no hop inside a node and one pass through the network: 30 us for
// the chain, 31 us for direct, plus the message through one port in back-to-back slices. Direct
// reaches 0.85 of the port on Hopper; the end of each of its chunks is rounded to a picosecond.
TEST(CollNet, OfOneGpuANodeIsTheNetworkAlone)
{
    CollectiveBench bench(WithSharp(H100Boxes(3)));
    const auto id = bench.GetPlanner().AddCommunicator({GpuId(1), GpuId(9), GpuId(17)});
    for (Algorithm algorithm : COLLNETS)
    {
        const auto call = CollNetCall(id, algorithm, Bytes::GiB(1));
        const auto& plan = bench.GetPlanner().Plan(call);
        const double network = algorithm == Algorithm::CollNetChain ? 30 : 31;
        const double reached = algorithm == Algorithm::CollNetChain ? 1 : 0.85;
        EXPECT_NEAR(
            plan.duration.ToMicroseconds(), network + (1 << 30) / (reached * 50e9) * 1e6, ROUNDING);
        EXPECT_NEAR(bench.Run(Fidelity::Flow, call) / plan.duration, 1, 1e-7);
    }
}

TEST(CollNet, SchedulesMeetTheirPostcondition)
{
    std::mt19937 random(3);
    CollectiveBench bench(WithSharp(H100Boxes(3)));
    for (int trial = 0; trial < 12; ++trial)
    {
        auto group = FirstGpus(24);
        std::shuffle(group.begin(), group.end(), random);
        group.resize(9 + random() % 16); // at least two nodes
        const auto id = bench.GetPlanner().AddCommunicator(group);
        const auto ranks = static_cast<uint32_t>(group.size());
        for (Algorithm algorithm : COLLNETS)
        {
            for (Bytes bytes : {Bytes(1), Bytes(1234567), Bytes(70'000'001)})
            {
                EXPECT_EQ(
                    CheckSchedule(bench.GetPlanner().GetSchedule(CollNetCall(id, algorithm, bytes)),
                                  {ranks, bytes, 0}),
                    "")
                    << ToString(algorithm) << " of " << ranks;
            }
        }
    }
}

// NVLS in every node and the network's reduction between the heads, for nodes of 3, 5 and 8 GPUs.
TEST(CollNet, NvlsSchedulesMeetTheirPostcondition)
{
    CollectiveBench bench(WithSharp(H100Boxes(3)));
    for (uint32_t gpus : {3U, 5U, 8U})
    {
        std::vector<GpuId> group;
        for (uint32_t i = 0; i < 3 * gpus; ++i)
        {
            group.emplace_back(i % 3 * 8 + i / 3);
        }
        const auto id = bench.GetPlanner().AddCommunicator(group);
        for (Bytes bytes : {Bytes(1), Bytes(1234567), Bytes(70'000'001)})
        {
            EXPECT_EQ(CheckSchedule(
                          bench.GetPlanner().GetSchedule(CollNetCall(id, Algorithm::Nvls, bytes)),
                          {3 * gpus, bytes, 0}),
                      "")
                << gpus;
        }
    }
}

TEST(CollNet, FlowIsNearTheClosedForm)
{
    CollectiveBench bench(WithSharp(H100Boxes(4)));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(32));
    for (Algorithm algorithm : ALL_REDUCED_IN_SWITCHES)
    {
        for (Bytes bytes : {Bytes::KiB(64), Bytes::MiB(4), Bytes::MiB(64), Bytes::GiB(1)})
        {
            const auto call = CollNetCall(id, algorithm, bytes);
            const double planned = bench.GetPlanner().Plan(call).duration.ToMicroseconds();
            EXPECT_NEAR(bench.Run(Fidelity::Stream, call).ToMicroseconds(), planned, ROUNDING);
            EXPECT_NEAR(bench.Run(Fidelity::Flow, call).ToMicroseconds() / planned, 1, 0.1)
                << ToString(algorithm) << " " << bytes.Count() << " planned " << planned;
        }
    }
}

// All-gather and reduce-scatter need every GPU to be a head: they are refused over unequal nodes
// and where half as many ports as GPUs give half as many channels; the chain does not support them.
TEST(CollNet, HalvesNeedAHeadPerRank)
{
    ClusterSpec fewPorts = WithSharp(H100Boxes(2));
    fewPorts.node.nics = 4;
    for (const auto& [spec, gpus] : {std::pair{H100Boxes(2), 16U},
                                     std::pair{WithSharp(H100Boxes(1)), 8U},
                                     std::pair{WithSharp(H100Boxes(2)), 12U},
                                     std::pair{fewPorts, 16U}})
    {
        CollectiveBench bench(spec);
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(gpus));
        for (CollectiveOp op : HALVES)
        {
            EXPECT_THROW(bench.GetPlanner().Plan(HalfCall(id, op, Bytes::MiB(1))),
                         std::invalid_argument)
                << gpus;
        }
    }
    CollectiveBench bench(WithSharp(H100Boxes(2)));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(16));
    const auto call = MakeCall(id, CollectiveOp::AllGather, Bytes::MiB(1));
    EXPECT_THROW(bench.GetPlanner().Plan(WithAlgorithm(call, Algorithm::CollNetChain)),
                 std::invalid_argument);
}

// With N nodes of 8 GPUs a port of an all-gather sends its rank's part, S / 8N, and receives the
// parts of its index from all nodes, S / 8; a reduce-scatter does the opposite.
TEST(CollNet, PartsAreMulticastOrSummedInTheSwitches)
{
    for (uint32_t nodes : {2U, 5U})
    {
        CollectiveBench bench(WithSharp(H100Boxes(nodes)));
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8 * nodes));
        for (CollectiveOp op : HALVES)
        {
            const auto& plan = bench.GetPlanner().Plan(HalfCall(id, op, Bytes::GiB(1)));
            const double all = (1 << 30) / 8.0;
            const bool gathers = op == CollectiveOp::AllGather;
            const auto out = BytesOutOfPorts(bench, plan);
            const auto in = BytesIntoPorts(bench, plan);
            ASSERT_EQ(out.size(), 8 * nodes);
            ASSERT_EQ(in.size(), 8 * nodes);
            for (double bytes : out)
            {
                EXPECT_NEAR(bytes, gathers ? all / nodes : all, 1e-6 * all);
            }
            for (double bytes : in)
            {
                EXPECT_NEAR(bytes, gathers ? all : all / nodes, 1e-6 * all);
            }
        }
    }
}

// One GPU per node: 31 us, and the whole message into its port (or out of it), at 0.85 of the rate
// for CollNet direct on Hopper (NCCL 2.30.7 tuning.cc).
TEST(CollNet, HalfOfOneGpuANodeIsTheNetworkAlone)
{
    CollectiveBench bench(WithSharp(H100Boxes(3)));
    const auto id = bench.GetPlanner().AddCommunicator({GpuId(1), GpuId(9), GpuId(17)});
    for (CollectiveOp op : HALVES)
    {
        const auto call = HalfCall(id, op, Bytes::GiB(1));
        const auto& plan = bench.GetPlanner().Plan(call);
        const double port = 0.85 * 50e9; // bytes/s
        EXPECT_NEAR(plan.duration.ToMicroseconds(), 31 + (1 << 30) / port * 1e6, 1e-3);
        EXPECT_NEAR(bench.Run(Fidelity::Flow, call) / plan.duration, 1, 1e-6);
    }
}

// A head's chunk is an eighth of the buffer, 512 KiB, halved down to 128 KiB while the message has
// fewer than 64 of them for each channel, head and hop inside the node and beyond it, then down to
// 32 KiB while it has fewer than 8 (enqueue.cc).
TEST(CollNet, DirectCutsChunksByDepth)
{
    CollectiveBench bench(WithSharp(H100Boxes(2)));
    auto& planner = bench.GetPlanner();
    const auto boxes = planner.AddCommunicator(FirstGpus(16));
    const auto single = planner.AddCommunicator({GpuId(0), GpuId(8)});
    const auto expectChunk = [&](CommunicatorId id, Bytes message, Bytes chunk) {
        const auto call = CollNetCall(id, Algorithm::CollNetDirect, message);
        EXPECT_EQ(LargestChunk(bench, WithChannels(call, 2)), chunk);
    };
    for (const auto& [id, parts] : {std::pair(boxes, 2 * 8 * 2), std::pair(single, 2 * 1 * 1)})
    {
        const Bytes less(16 * parts); // one unit of each part
        expectChunk(id, Bytes::KiB(512) * 64 * parts, Bytes::KiB(512));
        expectChunk(id, Bytes::KiB(512) * 64 * parts - less, Bytes::KiB(256));
        expectChunk(id, Bytes::KiB(256) * 64 * parts - less, Bytes::KiB(128));
        expectChunk(id, Bytes::KiB(128) * 8 * parts, Bytes::KiB(128));
        expectChunk(id, Bytes::KiB(128) * 8 * parts - less, Bytes::KiB(64));
        expectChunk(id, Bytes::KiB(64) * 8 * parts - less, Bytes::KiB(32));
    }
}

// NVLS over several nodes has chunks of 128 KiB, of 32 KiB where NCCL's model gives an all-reduce
// less than 150 GB/s: eight ports of 12.5 GB/s instead of 50.
TEST(CollNet, NvlsCutsChunksForSlowNetworks)
{
    for (const double port : {12.5, 50.0})
    {
        CollectiveBench bench(WithSharp(ReferenceBoxes(2, 90, 18, 20.6, 64, port)));
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(16));
        EXPECT_EQ(LargestChunk(bench, CollNetCall(id, Algorithm::Nvls, Bytes::GiB(4))),
                  Bytes::KiB(port < 50 ? 32 : 128));
    }
}

TEST(CollNet, HalvesMeetTheirPostcondition)
{
    ExpectHalvesMeetTheirPostcondition(Algorithm::CollNetDirect, {1, 2, 5, 8});
}

TEST(CollNet, FlowOfHalvesIsNearTheClosedForm)
{
    ExpectHalvesAgree(Algorithm::CollNetDirect);
}

// NCCL's model has 8 x 0.9 x 48 GB/s over any number of nodes, against the ring's 8 x 48 x n / (n -
// 1), and a few hops against n - 1. So where switches reduce, from 2.20 on, CollNet gathers small
// messages and the ring large ones.
TEST(CollNet, GathersSmallMessagesByDefault)
{
    for (const bool isOld : {false, true})
    {
        NcclSettings settings;
        settings.version = isOld ? "2.19.3" : "2.30.7";
        CollectiveBench bench(WithSharp(H100Boxes(4)), settings);
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(32));
        for (CollectiveOp op : HALVES)
        {
            auto& planner = bench.GetPlanner();
            EXPECT_EQ(planner.Plan(MakeCall(id, op, Bytes::MiB(8))).algorithm,
                      isOld ? Algorithm::Ring : Algorithm::CollNetDirect);
            EXPECT_EQ(planner.Plan(MakeCall(id, op, Bytes::GiB(4))).algorithm, Algorithm::Ring);
        }
    }
}

} // namespace
} // namespace weir
