// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/channels/message-cost.h"

#include "collective-bench.h"
#include "reference-machines.h"
#include "schedule-check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace weir
{
namespace
{

CollectiveCall
TreeCall(CommunicatorId id, Protocol protocol, Bytes bytes)
{
    return WithAlgorithm(WithProtocol(MakeCall(id, CollectiveOp::AllReduce, bytes), protocol),
                         Algorithm::Tree);
}

/** The first @p perNode GPUs of each of the first @p nodes nodes of eight. */
std::vector<GpuId>
Group(uint32_t nodes, uint32_t perNode)
{
    std::vector<GpuId> gpus;
    for (uint32_t i = 0; i < nodes * perNode; ++i)
    {
        gpus.emplace_back(i / perNode * 8 + i % perNode);
    }
    return gpus;
}

std::string
FaultOf(CollectiveBench& bench, const CollectiveCall& call, uint32_t ranks)
{
    return CheckSchedule(bench.GetPlanner().GetSchedule(call), {ranks, call.bytes, 0});
}

TEST(Tree, EveryScheduleMeetsItsPostcondition)
{
    CollectiveBench bench(H100Boxes(17));
    for (uint32_t nodes = 1; nodes <= 17; ++nodes)
    {
        for (uint32_t perNode : {1U, 2U, 3U, 4U, 8U})
        {
            const uint32_t n = nodes * perNode;
            if (n == 1 || n > 100)
            {
                continue;
            }
            const auto id = bench.GetPlanner().AddCommunicator(Group(nodes, perNode));
            const auto protocol = ALL_PROTOCOLS[(nodes + perNode) % 3];
            for (Bytes bytes : {Bytes(1), Bytes(3'234'567)})
            {
                EXPECT_EQ(FaultOf(bench, TreeCall(id, protocol, bytes), n), "")
                    << nodes << " x " << perNode << " " << ToString(protocol);
            }
        }
    }
}

TEST(Tree, ScatteredGroupsToo)
{
    std::mt19937 random(7);
    for (const auto& spec : {H100Boxes(5), Gh200Nodes(6), A100Boxes(4)})
    {
        CollectiveBench bench(spec);
        for (int trial = 0; trial < 12; ++trial)
        {
            auto gpus = FirstGpus(bench.GetFabric().GetCluster().GpuCount());
            std::shuffle(gpus.begin(), gpus.end(), random);
            gpus.resize(2 + random() % (gpus.size() - 2));
            const auto id = bench.GetPlanner().AddCommunicator(gpus);
            const auto call =
                TreeCall(id, ALL_PROTOCOLS[trial % 3], Bytes(1 + random() % (1 << 22)));
            EXPECT_EQ(FaultOf(bench, call, static_cast<uint32_t>(gpus.size())), "") << trial;
        }
    }
}

double
Microseconds(const ClusterSpec& spec, Protocol protocol, Bytes bytes)
{
    CollectiveBench bench(spec);
    const auto id =
        bench.GetPlanner().AddCommunicator(FirstGpus(bench.GetFabric().GetCluster().GpuCount()));
    return bench.GetPlanner().Plan(TreeCall(id, protocol, bytes)).duration.ToMicroseconds();
}

// Base + 2 ((p - 1) h_inner + log2 N h_network): LL with the measured latency of one flag word, the
// others with NCCL's. Two nodes are joined at the first GPUs of their chains; of four nodes, node 1
// is joined to node 2 at its second GPU, one more step in each direction. Moving the few bytes
// takes less than 0.01 us.
TEST(Tree, SmallMessagesTakeNcclsLatency)
{
    const auto time = [](uint32_t nodes, Protocol protocol) {
        return Microseconds(H100Boxes(nodes), protocol, Bytes(8));
    };
    EXPECT_NEAR(time(1, Protocol::Ll), 5 + 2 * 7 * 0.59, ROUNDING);
    EXPECT_NEAR(time(2, Protocol::Ll), 5 + 2 * (7 * 0.59 + 5.0), 0.01);
    EXPECT_NEAR(time(4, Protocol::Ll), 5 + 2 * (8 * 0.59 + 2 * 5.0), 0.01);
    EXPECT_NEAR(time(2, Protocol::Ll128), 14 + 2 * (7 * 1.25 + 8.5), ROUNDING);
    EXPECT_NEAR(time(2, Protocol::Simple), 8.4 + 2 * (7 * 4.0 + 14.0), 0.01);
}

/** Bytes on every network link out of a NIC. */
std::map<uint32_t, double>
NicBytes(CollectiveBench& bench, const CollectivePlan& plan)
{
    std::map<uint32_t, double> bytes;
    const auto& topology = bench.GetFabric().GetCluster().GetTopology();
    for (const auto& leg : plan.legs)
    {
        for (const auto& each : bench.GetFabric().GetRouting().Links(leg.route))
        {
            const Link& link = topology.GetLink(each.link);
            if (link.kind == LinkKind::Network &&
                topology.GetDevice(link.from).kind == DeviceKind::Nic)
            {
                bytes[each.link.Index()] += each.multiplicity * leg.bytes.ToDouble();
            }
        }
    }
    return bytes;
}

// Two nodes: every byte leaves each node once, so each of its 8 NICs sends an eighth of the
// message; a ring sends 2 x 15 / 16 of an eighth. The blocks are the bottleneck: NCCL's table has
// 41.4 GB/s for each of 8 search channels on two Hopper nodes, half of it for all-reduced data, so
// the time is the message over 8 x 41.4 / 2 GB/s.
TEST(Tree, EveryByteCrossesANicOnceEachWayBetweenTwoNodes)
{
    CollectiveBench bench(H100Boxes(2));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(16));
    const Bytes bytes = Bytes::GiB(1);
    const auto& plan = bench.GetPlanner().Plan(TreeCall(id, Protocol::Simple, bytes));
    EXPECT_EQ(plan.channels, 16U);
    const auto nics = NicBytes(bench, plan);
    EXPECT_EQ(nics.size(), 16U);
    for (const auto& [nic, sent] : nics)
    {
        EXPECT_NEAR(sent, bytes.ToDouble() / 8, 1) << nic;
    }
    const double blocks = bytes.ToDouble() / (8 * 41.4e9 / 2) * 1e6;
    EXPECT_NEAR(plan.wire.ToMicroseconds(), blocks, 1e-8 * blocks);
}

// Over several nodes the rate of large all-reduces is half of NCCL's bound per search channel
// (perChMaxTreeBws, perChMaxTreeLL128Bws) times the number of channels, however fast the links: 8
// channels of 42.8 and 24 GB/s on Blackwell, of 29 GB/s on Hopper under LL128. The shortcuts' last
// period, from passes that differ by less than a thousandth, is 0.3 % long there.
TEST(Tree, BlocksMoveWhatNcclsTablesHave)
{
    const auto rate = [](const ClusterSpec& spec, Protocol protocol, Fidelity fidelity) {
        CollectiveBench bench(spec);
        const auto id = bench.GetPlanner().AddCommunicator(
            FirstGpus(bench.GetFabric().GetCluster().GpuCount()));
        const auto time = [&](Bytes bytes) {
            return bench.Run(fidelity, TreeCall(id, protocol, bytes));
        };
        const Time more = time(Bytes::GiB(1)) - time(Bytes::MiB(512));
        return Bytes::MiB(512).ToDouble() / more.ToSeconds() * 1e-9;
    };
    for (const auto fidelity : {Fidelity::Analytical, Fidelity::Stream, Fidelity::Flow})
    {
        EXPECT_NEAR(rate(B200Boxes(2), Protocol::Simple, fidelity), 8 * 42.8 / 2, 0.5);
        EXPECT_NEAR(rate(B200Boxes(4), Protocol::Simple, fidelity), 8 * 24.0 / 2, 0.3);
        EXPECT_NEAR(rate(H100Boxes(4), Protocol::Ll128, fidelity),
                    8 * 29.0 / 2,
                    fidelity == Fidelity::Flow ? 0.3 : 0.5);
    }
}

// Before 2.19 Simple halves chunks of 512 KiB down to 128 KiB while a message has fewer than eight
// of them for each channel and level, then down to 64 KiB while it has fewer than four, then down
// to 32 KiB while it has fewer than one (enqueue.cc). Trees over two nodes of 8 have 7 + 1 levels.
TEST(Tree, OldReleasesCutSimpleChunksByDepth)
{
    constexpr int64_t PARTS = 4 * (7 + 1);
    for (const bool isOld : {false, true})
    {
        CollectiveBench bench(A100Boxes(2), isOld ? "2.18.3" : "2.19.3");
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(16));
        const auto expectChunk = [&](Bytes message, Bytes chunk) {
            const auto call = WithChannels(TreeCall(id, Protocol::Simple, message), 4);
            EXPECT_EQ(LargestChunk(bench, call),
                      isOld ? chunk : std::min(message / 4, Bytes::KiB(512)));
        };
        const Bytes less(16 * 4); // one unit of each channel
        expectChunk(Bytes::KiB(512) * 8 * PARTS, Bytes::KiB(512));
        expectChunk(Bytes::KiB(512) * 8 * PARTS - less, Bytes::KiB(256));
        expectChunk(Bytes::KiB(256) * 8 * PARTS - less, Bytes::KiB(128));
        expectChunk(Bytes::KiB(128) * 4 * PARTS, Bytes::KiB(128));
        expectChunk(Bytes::KiB(128) * 4 * PARTS - less, Bytes::KiB(64));
        expectChunk(Bytes::KiB(64) * PARTS, Bytes::KiB(64));
        expectChunk(Bytes::KiB(64) * PARTS - less, Bytes::KiB(32));
    }
}

// A single chunk has its blocks for itself: messages of one chunk per channel take as long as
// without the tables' bounds, whose half would make 2 x 8 hops of 512 KiB 0.7 ms longer.
TEST(Tree, OneChunkIsNotBoundByTheTables)
{
    CollectiveBench bench(B200Boxes(2));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(16));
    const Bytes chunk = Bytes::KiB(512);
    const auto call = TreeCall(id, Protocol::Simple, chunk * 16);
    const Time bound = chunk / Rate::GBps(42.8 / 4);
    EXPECT_LT(bench.GetPlanner().Plan(call).duration, bound * 16);
    EXPECT_NEAR(bench.Run(Fidelity::Flow, call) / bench.GetPlanner().Plan(call).duration, 1, 0.01);
}

// Trees 0 - 2 - {1, 3} and 3 - 1 - {2, 0}, each with half of the message on all its edges, up and
// down: in total 2 x 3 x 2 halves leave the NICs. Node 2 sends one half up and two down in the
// first tree and one up in the second: 4 / 2 of the message over its 8 NICs; node 0, a root and a
// leaf, sends half of that.
TEST(Tree, InnerNodesSendTwiceAsMuch)
{
    CollectiveBench bench(H100Boxes(4));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(32));
    const Bytes bytes = Bytes::GiB(1);
    const auto& plan = bench.GetPlanner().Plan(TreeCall(id, Protocol::Simple, bytes));
    double total = 0;
    double max = 0;
    for (const auto& [nic, sent] : NicBytes(bench, plan))
    {
        total += sent;
        max = std::max(max, sent);
    }
    EXPECT_NEAR(total, 2 * 3 * 2 * bytes.ToDouble() / 2, 1);
    EXPECT_NEAR(max, 2 * bytes.ToDouble() / 8, 1);
}

// Flow, stream and closed form agree: small messages take the latency of one path, large ones the
// bytes of the busiest link; in between pipelines fill and drain, which the closed form follows by
// stages.
TEST(Tree, TheFidelitiesAgree)
{
    for (const auto& spec : {H100Boxes(1), H100Boxes(3), A100Boxes(2), Gh200Nodes(4)})
    {
        CollectiveBench bench(spec);
        const auto id = bench.GetPlanner().AddCommunicator(
            FirstGpus(bench.GetFabric().GetCluster().GpuCount()));
        const auto compare = [&](Protocol protocol, Bytes bytes, double tolerance) {
            const auto call = TreeCall(id, protocol, bytes);
            const Time planned = bench.GetPlanner().Plan(call).duration;
            const Time stream = bench.Run(Fidelity::Stream, call);
            EXPECT_LE(std::abs((stream - planned).ToPicoseconds()), 4);
            EXPECT_NEAR(bench.Run(Fidelity::Flow, call) / planned, 1, tolerance)
                << ToString(protocol) << " " << bytes.Count();
        };
        for (Protocol protocol : ALL_PROTOCOLS)
        {
            compare(protocol, Bytes(16), 0.01);
            compare(protocol, Bytes::KiB(64), 0.05);
        }
        // The 5 us of a network hop and the polling of a message's flag words take as long as some
        // slices of LL, so the paths up and down load the NICs concurrently for a shorter time than
        // stages without latencies assume.
        compare(Protocol::Ll, Bytes::MiB(2), 0.2);
        compare(Protocol::Ll128, Bytes::MiB(64), 0.05);
        compare(Protocol::Simple, Bytes::MiB(16), 0.12);
        compare(Protocol::Simple, Bytes::GiB(1), 0.03);
    }
}

// Where receivers request messages, a port waits while proxies handle the messages beyond the 8
// slots of a connection: 512 KiB take 20.97 us on a 25 GB/s port, and 5.5 us are lost per message.
// Four nodes with 4 ports that carry everything twice then reduce 50 x 20.97 / 26.47 GB/s; up to 8
// chunks per channel there is no loss.
TEST(Tree, PortsWaitForProcessesThatHandleMessages)
{
    ClusterSpec spec = Gh200Nodes(4);
    spec.node.costs = {{"messageEager", 4096, "t"}, {"messageHandling", 5.5, "t"}};
    CollectiveBench asking(spec);
    const auto time = [](CollectiveBench& bench, Fidelity fidelity, Bytes bytes) {
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(16));
        return bench.Run(fidelity, TreeCall(id, Protocol::Simple, bytes));
    };
    const double chunk = (512 << 10) / 25e9 * 1e6;
    for (const auto fidelity : {Fidelity::Analytical, Fidelity::Stream, Fidelity::Flow})
    {
        const Time more =
            time(asking, fidelity, Bytes::GiB(2)) - time(asking, fidelity, Bytes::GiB(1));
        EXPECT_NEAR(
            Bytes::GiB(1).ToDouble() / more.ToSeconds() * 1e-9, 50 * chunk / (chunk + 5.5), 0.5)
            << ToString(fidelity);
    }
    EXPECT_EQ(MessageCost(NodeCosts(spec.node)).WireFactor({Bytes::KiB(512), 8, 1, Rate::GBps(25)}),
              1);
}

// Results of NCCL's search for chains and trees: as many channels as rings; the balanced pattern
// where two GPUs are near each NIC, the plain pattern on Hopper where only one is.
TEST(Tree, GraphsFollowTheRings)
{
    const auto graph = [](const ClusterSpec& spec) {
        CollectiveBench bench(spec);
        const auto id = bench.GetPlanner().AddCommunicator(
            FirstGpus(bench.GetFabric().GetCluster().GpuCount()));
        return bench.GetPlanner().GetCommunicator(id);
    };
    const auto h100 = graph(H100Boxes(2));
    EXPECT_EQ(h100.treeGraph.channels, 8U);
    EXPECT_EQ(h100.treeGraph.inter, 48);
    EXPECT_EQ(h100.treeGraph.pattern, TreePattern::Balanced);
    const auto gh200 = graph(Gh200Nodes(2));
    EXPECT_EQ(gh200.treeGraph.channels, 4U);
    EXPECT_EQ(gh200.treeGraph.inter, 24);
    EXPECT_EQ(gh200.treeGraph.pattern, TreePattern::Plain);
    const auto a100 = graph(A100Boxes(1));
    EXPECT_EQ(a100.treeGraph.channels, 12U);
    EXPECT_EQ(a100.treeGraph.intra, 20);
}

} // namespace
} // namespace weir
