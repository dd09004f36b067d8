// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/point-to-point/peer-call.h"
#include "collectives/algorithms/traffic.h"

#include "collective-bench.h"
#include "fabric/kinds/clos-fabric.h"
#include "fabric/routing/routing-policies.h"
#include "reference-machines.h"
#include "schedule-check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace weir
{
namespace
{

constexpr double NVLINK = 18 * 20.6e9;          // bytes/s of one H100, one direction
constexpr double PORT = 50e9;                   // bytes/s of a 400 Gb/s port
constexpr double BLOCK = (1 << 20) / 21.554e-6; // bytes/s: all sends and copies of a Hopper block
constexpr CollectiveOp GROUPED_OPS[] = {
    CollectiveOp::AllToAll,
    CollectiveOp::Gather,
    CollectiveOp::Scatter,
    CollectiveOp::SendRecv,
    CollectiveOp::Send,
};

// 0, 1, 3, 6, 10, 15, 21, 28 modulo 8: NCCL's order of distances in a node of 8.
TEST(PointToPointOrder, DistancesAreTriangularNumbers)
{
    CollectiveBench bench(H100Boxes(1));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8));
    const PointToPointOrder order(bench.GetPlanner().GetCommunicator(id),
                                  bench.GetFabric().GetCluster());
    const uint32_t distances[] = {0, 1, 3, 6, 2, 7, 5, 4};
    for (uint32_t round = 0; round < 8; ++round)
    {
        EXPECT_EQ(order.RoundOf(3, (3 + distances[round]) % 8), round);
    }
}

// In every round each rank sends to one peer and receives from one, for any group.
TEST(PointToPointOrder, EveryRoundPairsEachRankOnce)
{
    std::mt19937 random(7);
    CollectiveBench bench(H100Boxes(5));
    for (int trial = 0; trial < 20; ++trial)
    {
        auto gpus = FirstGpus(40);
        std::shuffle(gpus.begin(), gpus.end(), random);
        gpus.resize(2 + random() % 39);
        const auto id = bench.GetPlanner().AddCommunicator(gpus);
        const PointToPointOrder order(bench.GetPlanner().GetCommunicator(id),
                                      bench.GetFabric().GetCluster());
        for (uint32_t rank = 0; rank < gpus.size(); ++rank)
        {
            std::set<uint32_t> sending;
            std::set<uint32_t> receiving;
            for (uint32_t peer = 0; peer < gpus.size(); ++peer)
            {
                sending.insert(order.RoundOf(rank, peer));
                receiving.insert(order.RoundOf(peer, rank));
            }
            EXPECT_EQ(sending.size(), gpus.size());
            EXPECT_EQ(receiving.size(), gpus.size());
        }
    }
}

// 8 peers with 4 channels each fill 32 channels without overlap.
TEST(PointToPointOrder, PeersOfOneNodeHaveTheirOwnChannels)
{
    CollectiveBench bench(H100Boxes(1));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8));
    const PointToPointOrder order(bench.GetPlanner().GetCommunicator(id),
                                  bench.GetFabric().GetCluster());
    std::set<uint32_t> used;
    for (uint32_t round = 0; round < 8; ++round)
    {
        for (uint32_t part = 0; part < 4; ++part)
        {
            used.insert(order.ChannelOf(round, part, 32));
        }
    }
    EXPECT_EQ(used.size(), 32U);
}

// All point-to-point operations, 2 to 17 ranks over up to three nodes; sizes below a byte per rank,
// not divisible, and of many chunks.
TEST(PointToPoint, EveryScheduleDeliversItsMessages)
{
    CollectiveBench bench(H100Boxes(3));
    for (uint32_t n : {2U, 3U, 8U, 9U, 16U, 17U})
    {
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(n));
        for (auto op : GROUPED_OPS)
        {
            for (Bytes bytes : {Bytes(1), Bytes(1000), Bytes(1234567), Bytes(70'000'001)})
            {
                auto call = MakeCall(id, op, bytes);
                call.root = op == CollectiveOp::Send ? 0 : n / 2;
                EXPECT_EQ(
                    CheckSchedule(bench.GetPlanner().GetSchedule(call), {n, bytes, call.root}), "")
                    << ToString(op) << " n=" << n << " " << bytes.Count();
            }
        }
    }
}

/** Parts of up to @p max bytes; about every third is empty. */
std::vector<std::vector<Bytes>>
RandomParts(uint32_t ranks, uint32_t max, std::mt19937& random)
{
    std::vector<std::vector<Bytes>> parts(ranks, std::vector<Bytes>(ranks));
    for (auto& row : parts)
    {
        for (auto& part : row)
        {
            part = random() % 3 == 0 ? Bytes() : Bytes(random() % max);
        }
    }
    return parts;
}

CollectiveCall
UnequalCall(Planner& planner, CommunicatorId id, const std::vector<std::vector<Bytes>>& parts)
{
    const TrafficId traffic = planner.AddTraffic(parts);
    auto call = MakeCall(id, CollectiveOp::AllToAll, Traffic(parts).LargestRow());
    call.traffic = traffic;
    return call;
}

TEST(PointToPoint, UnequalPartsAreDelivered)
{
    std::mt19937 random(11);
    CollectiveBench bench(H100Boxes(3));
    for (uint32_t n : {2U, 7U, 8U, 20U})
    {
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(n));
        const auto parts = RandomParts(n, 3'000'000, random);
        const auto call = UnequalCall(bench.GetPlanner(), id, parts);
        const Traffic traffic(parts);
        EXPECT_EQ(CheckSchedule(bench.GetPlanner().GetSchedule(call), {n, call.bytes, 0, &traffic}),
                  "");
        EXPECT_NE(CheckSchedule(bench.GetPlanner().GetSchedule(call), {n, call.bytes, 0}), "");
    }
}

class EightH100 : public testing::Test
{
  protected:
    double Microseconds(const CollectiveCall& call)
    {
        return m_bench.GetPlanner().Plan(call).duration.ToMicroseconds();
    }

    CollectiveBench m_bench{H100Boxes(1)};
    CommunicatorId m_all{m_bench.GetPlanner().AddCommunicator(FirstGpus(8))};
};

// Each GPU sends 7 parts of an eighth over its NVLinks: base + one hop + 7/8 S / link.
TEST_F(EightH100, AllToAll)
{
    const auto call = MakeCall(m_all, CollectiveOp::AllToAll, Bytes::GiB(1));
    EXPECT_EQ(m_bench.GetPlanner().Plan(call).protocol, Protocol::Simple);
    EXPECT_NEAR(Microseconds(call), 8.4 + 3.4 + 0.875 * (1 << 30) / NVLINK * 1e6, ROUNDING);
}

// 1 KiB to each peer: LL, one step of 128 flag words, 7 / 9 of the range from 1 to 512.
TEST_F(EightH100, SmallAllToAllIsLl)
{
    const auto call = MakeCall(m_all, CollectiveOp::AllToAll, Bytes::KiB(8));
    EXPECT_EQ(m_bench.GetPlanner().Plan(call).protocol, Protocol::Ll);
    EXPECT_NEAR(Microseconds(call), 5 + 0.59 + 0.43 * 7 / 9, ROUNDING);
}

// With 8 ranks a pair has 16 channels: 32 channels, each shared by four peers. LL is used up to 16
// KiB on each of them.
TEST_F(EightH100, LlEndsWhereAMessageHasMoreThanItsThresholdOnAllItsChannels)
{
    const auto protocol = [&](int64_t part) {
        const auto call = MakeCall(m_all, CollectiveOp::AllToAll, Bytes(8 * part));
        return m_bench.GetPlanner().Plan(call).protocol;
    };
    EXPECT_EQ(protocol(16 * (16 << 10)), Protocol::Ll);
    EXPECT_EQ(protocol(16 * (16 << 10) + 1), Protocol::Simple);
}

// All parts except the root's own enter or leave through the root's NVLinks.
TEST_F(EightH100, GatherAndScatterAreBoundByTheRoot)
{
    for (auto op : {CollectiveOp::Gather, CollectiveOp::Scatter})
    {
        auto call = MakeCall(m_all, op, Bytes::GiB(1));
        call.root = 5;
        EXPECT_NEAR(Microseconds(call), 8.4 + 3.4 + 0.875 * (1 << 30) / NVLINK * 1e6, ROUNDING)
            << ToString(op);
    }
}

// Every GPU sends its whole buffer to one peer and receives as much: its NVLinks carry S in each
// direction.
TEST_F(EightH100, ExchangeUsesEachLinkOnce)
{
    const auto call = MakeCall(m_all, CollectiveOp::SendRecv, Bytes::GiB(1));
    EXPECT_NEAR(Microseconds(call), 8.4 + 3.4 + (1 << 30) / NVLINK * 1e6, ROUNDING);
}

/** Three nodes of 8 GPUs whose groups have one channel. */
class OneChannel : public testing::Test
{
  protected:
    static NcclSettings Settings()
    {
        NcclSettings settings;
        settings.channelLimits.max = 1;
        return settings;
    }

    CollectiveCall Simple(CollectiveOp op, Bytes bytes) const
    {
        return WithProtocol(MakeCall(m_all, op, bytes), Protocol::Simple);
    }

    CollectiveBench m_bench{H100Boxes(3), Settings()};
    CommunicatorId m_all{m_bench.GetPlanner().AddCommunicator(FirstGpus(24))};
};

// The eight slots of a block process 24 parts in three rounds, each slot at an eighth of the
// block's rate. All parts of a root pass through its one block, one buffer in total; in an
// all-to-all so does the buffer of each rank.
TEST_F(OneChannel, ABlockMovesAllPartsNoFasterThanItCan)
{
    const Bytes bytes = Bytes::MiB(384);
    for (const auto op : {CollectiveOp::Scatter, CollectiveOp::Gather, CollectiveOp::AllToAll})
    {
        const auto call = Simple(op, bytes);
        const Time throughTheBlock = bytes / Rate::BytesPerSecond(BLOCK);
        const Time planned = m_bench.GetPlanner().Plan(call).duration;
        EXPECT_NEAR(planned / throughTheBlock, 1, 0.005) << ToString(op);
        EXPECT_NEAR(m_bench.Run(Fidelity::Stream, call) / planned, 1, 1e-9) << ToString(op);
        EXPECT_NEAR(m_bench.Run(Fidelity::Flow, call) / planned, 1, 0.03) << ToString(op);
    }
}

// The first round of a slot stays in the node, and each further round goes to another node: a
// further node costs one message over the network, not one per round.
TEST_F(OneChannel, ATurnWaitsForWhatItsPlaceReceives)
{
    const auto call = Simple(CollectiveOp::AllToAll, Bytes(24 * 4));
    const auto over = [&](uint32_t gpus) {
        auto part = call;
        part.communicator = m_bench.GetPlanner().AddCommunicator(FirstGpus(gpus));
        return m_bench.GetPlanner().Plan(part).duration;
    };
    const Time planned = m_bench.GetPlanner().Plan(call).duration;
    const Time message = over(16) - over(8);
    EXPECT_NEAR((planned - over(8)) / (message * 2), 1, 2e-5);
    EXPECT_NEAR(m_bench.Run(Fidelity::Flow, call) / planned, 1, 1e-7);
}

// Four nodes: 24 of 32 parts leave each GPU's node. By PXN each port sends and receives as many,
// 3/4 of the buffer. The hop is Simple's over the network, plus NVLink to the port's GPU.
TEST(PointToPoint, AllToAllOverNodesIsBoundByThePorts)
{
    CollectiveBench bench(H100Boxes(4));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(32));
    const auto& plan = bench.GetPlanner().Plan(MakeCall(id, CollectiveOp::AllToAll, Bytes::GiB(1)));
    EXPECT_NEAR(
        plan.duration.ToMicroseconds(), 8.4 + 14.3 + 0.75 * (1 << 30) / PORT * 1e6, ROUNDING);
    const auto& topology = bench.GetFabric().GetCluster().GetTopology();
    EXPECT_EQ(topology.GetLink(plan.bottleneck).kind, LinkKind::Network);
    EXPECT_EQ(plan.legs.size(), 1U);
}

// By PXN every message stays on the receiver's rail, so an all-to-all needs no link between rails:
// it takes the same time where there is none, also over two groups of two nodes (leaves of 4
// ports).
TEST(PointToPoint, AllToAllNeedsNoLinksBetweenRails)
{
    for (const uint32_t radix : {64u, 4u})
    {
        const auto over = [radix](auto kind) {
            kind.leafRadix = radix;
            ClusterSpec spec = H100Boxes(4);
            spec.fabric.kind = kind;
            spec.fabric.routing = SprayRouting();
            CollectiveBench bench(spec);
            const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(32));
            const auto call = MakeCall(id, CollectiveOp::AllToAll, Bytes::MiB(64));
            return std::pair(bench.GetPlanner().Plan(call).duration,
                             bench.Run(Fidelity::Flow, call));
        };
        EXPECT_EQ(over(RailOnly()), over(RailOptimized())) << radix;
    }
}

// A GPU with two ports chooses one by the channel (ncclTopoGetLocalNet), and the channel of a round
// is its number. Of the 2^k - 1 rounds to other nodes of 2^k nodes, the 2^(k - 1) odd ones use one
// port and the others the other.
TEST(PointToPoint, PortsOfAGpuTakeTurns)
{
    for (const uint32_t nodes : {4u, 8u, 16u})
    {
        ClusterSpec spec = A100Boxes(nodes);
        spec.node.nics = 16;
        spec.node.nic = ReferenceLink("nic", 12.5, 600);
        CollectiveBench bench(spec);
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(nodes * 8));
        const auto call = MakeCall(id, CollectiveOp::AllToAll, Bytes::MiB(512));
        const double ofANode = (512 << 20) / nodes;
        const double port = spec.node.nic.PayloadRate().ToBytesPerSecond();
        const double busiest = nodes / 2 * ofANode / port;
        EXPECT_NEAR(bench.GetPlanner().Plan(call).duration.ToSeconds() / busiest, 1, 0.02) << nodes;
        EXPECT_NEAR(bench.Run(Fidelity::Flow, call).ToSeconds() / busiest, 1, 0.02) << nodes;
    }
}

// The exchange over two nodes: one message in each direction crosses, through one port.
TEST(PointToPoint, ExchangeOverNodesIsBoundByOnePort)
{
    CollectiveBench bench(H100Boxes(2));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(16));
    const auto call = MakeCall(id, CollectiveOp::SendRecv, Bytes::GiB(1));
    const Time planned = bench.GetPlanner().Plan(call).duration;
    EXPECT_NEAR(planned.ToMicroseconds(), 8.4 + 14.3 + (1 << 30) / PORT * 1e6, ROUNDING);
    EXPECT_NEAR(bench.Run(Fidelity::Flow, call) / planned, 1, 1e-9);
}

// Before 2.30 a peer over the network has two channels with one queue pair each, slower than a 400
// Gb/s port: 2 x 21.4 GB/s. Since then the number is the port's rate over 14 GB/s, rounded to a
// power of two.
TEST(PointToPoint, ChannelsOfAPortByRelease)
{
    const auto exchange = [](const char* version) {
        CollectiveBench bench(H100Boxes(2), version);
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(16));
        const auto& plan =
            bench.GetPlanner().Plan(MakeCall(id, CollectiveOp::SendRecv, Bytes::GiB(1)));
        return std::make_pair(plan.channels, (1 << 30) / plan.duration.ToSeconds());
    };
    const auto [two, bounded] = exchange("2.29.7");
    const auto [four, full] = exchange("2.30.7");
    EXPECT_EQ(two, 2U);
    EXPECT_NEAR(bounded / 42.8e9, 1, 0.002);
    EXPECT_EQ(four, 4U);
    EXPECT_NEAR(full / PORT, 1, 0.002);
}

// Inside a node a part has at least an eighth of a step (addP2pToPlan): from 2.22 on 8 KiB of LL's
// 64 KiB, before 64 KiB of Simple's 512. All of 8 GPUs have 4 of 32 channels for each of 8 peers.
TEST(PointToPoint, PartsInsideANodeAreAnEighthOfAStep)
{
    const auto channels = [](const char* version, Bytes ofAPeer) {
        CollectiveBench bench(H100Boxes(1), version);
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8));
        const auto& plan =
            bench.GetPlanner().Plan(MakeCall(id, CollectiveOp::AllToAll, ofAPeer * 8));
        EXPECT_EQ(plan.protocol, Protocol::Ll);
        return plan.channels;
    };
    EXPECT_EQ(channels("2.30.7", Bytes::KiB(8)), 1U);
    EXPECT_EQ(channels("2.30.7", Bytes::KiB(16)), 2U);
    EXPECT_EQ(channels("2.30.7", Bytes::KiB(64)), 4U);
    EXPECT_EQ(channels("2.21.5", Bytes::KiB(64)), 1U);
    EXPECT_EQ(channels("2.21.5", Bytes::KiB(128)), 2U);
}

// A GPU pair has two channels for each NVLink of its generation that NCCL sees between them (2 x
// 18, rounded up to 64; 16 of them as 8 peers share the channels), however the links are described:
// one link of 18 times the rate is 18 links.
TEST(PointToPoint, AFastNvLinkCountsAsSeveral)
{
    ClusterSpec one = H100Boxes(1);
    one.node.nvlinksPerGpu = 1;
    one.node.nvlink = ReferenceLink("fat", 18 * 20.6, 150);
    for (const CollectiveOp op : {CollectiveOp::SendRecv, CollectiveOp::AllToAll})
    {
        const auto planned = [&](const ClusterSpec& spec) {
            CollectiveBench bench(spec);
            const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8));
            const auto& plan = bench.GetPlanner().Plan(MakeCall(id, op, Bytes::MiB(256)));
            return std::make_pair(plan.channels, plan.duration);
        };
        const auto [channels, duration] = planned(one);
        EXPECT_EQ(channels, planned(H100Boxes(1)).first) << ToString(op);
        EXPECT_NEAR(duration / planned(H100Boxes(1)).second, 1, 1e-6) << ToString(op);
    }
}

// Equal parts, any group: flow takes the time of the busiest link, for few and for many chunks.
TEST(PointToPoint, FlowsTakeWhatTheBusiestLinkNeeds)
{
    for (const auto& spec : {H100Boxes(1), H100Boxes(2), Gh200Nodes(2), A100Boxes(2)})
    {
        CollectiveBench bench(spec);
        const uint32_t all = bench.GetFabric().GetCluster().GpuCount();
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(all));
        for (auto op : GROUPED_OPS)
        {
            for (const Bytes bytes : {Bytes::KiB(64), Bytes::MiB(256)})
            {
                const auto call = MakeCall(id, op, bytes);
                const Time planned = bench.GetPlanner().Plan(call).duration;
                const Time flow = bench.Run(Fidelity::Flow, call);
                EXPECT_NEAR(flow / planned, 1, 1e-6)
                    << ToString(op) << " of " << bytes.Count() << " over " << all;
            }
        }
    }
}

// Unequal parts: the plan is the time of the busiest link. Flow is not faster, and the uncontended
// stream takes exactly that time.
TEST(PointToPoint, UnequalPartsTakeNoLessThanTheBusiestLink)
{
    std::mt19937 random(5);
    for (const auto& spec : {H100Boxes(1), H100Boxes(2)})
    {
        CollectiveBench bench(spec);
        const uint32_t n = bench.GetFabric().GetCluster().GpuCount();
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(n));
        for (int trial = 0; trial < 5; ++trial)
        {
            const auto call =
                UnequalCall(bench.GetPlanner(), id, RandomParts(n, 30'000'000, random));
            const auto& plan = bench.GetPlanner().Plan(call);
            const Time streamed = bench.Run(Fidelity::Stream, call);
            EXPECT_NEAR(streamed / plan.duration, 1, 1e-9);
            const Time flow = bench.Run(Fidelity::Flow, call);
            EXPECT_GE(flow / plan.duration, 0.999);
            EXPECT_LE(flow / plan.duration, 1.5);
        }
    }
}

/** Sixteen H100 nodes on two leaves, four downlinks per uplink. */
ClusterSpec
OversubscribedLeaves()
{
    ClusterSpec spec = H100Boxes(16);
    spec.fabric.kind = LeafSpine();
    spec.fabric.kind.As<ClosFabric>().leafRadix = 64;
    spec.fabric.kind.As<ClosFabric>().oversubscription = 4;
    return spec;
}

// Under ECMP an all-to-all over oversubscribed leaves has a leg per class of paths. In total they
// move (n - 8) parts through every port, and take the time of the busiest link, as in flow. A ring
// beside them, whose flows cross all links, is blocked on each as long as the parts on it run.
TEST(PointToPoint, UnequallyLoadedPathsAreLegsOfTheirOwn)
{
    CollectiveBench bench(OversubscribedLeaves());
    std::vector<GpuId> even;
    std::vector<GpuId> odd;
    for (uint32_t gpu = 0; gpu < 128; ++gpu)
    {
        (gpu / 8 % 2 == 0 ? even : odd).emplace_back(gpu);
    }
    Planner& planner = bench.GetPlanner();
    const auto n = static_cast<uint32_t>(odd.size());
    const auto call =
        MakeCall(planner.AddCommunicator(odd), CollectiveOp::AllToAll, Bytes::MiB(64));
    const CollectivePlan& plan = planner.Plan(call);
    EXPECT_GT(plan.legs.size(), 1U);
    EXPECT_LE(plan.legs.size(), 16U);
    const auto out = BytesOutOfPorts(bench, plan);
    ASSERT_EQ(out.size(), 2 * n); // one of each GPU
    const double part = call.bytes.ToDouble() / n;
    for (const GpuId gpu : odd)
    {
        EXPECT_NEAR(out[gpu.Index()] / ((n - 8) * part), 1, 1e-9);
    }
    EXPECT_NEAR(bench.Run(Fidelity::Stream, call) / plan.duration, 1, 1e-9);
    EXPECT_NEAR(bench.Run(Fidelity::Flow, call) / plan.duration, 1, 1e-3);

    const auto ring = WithAlgorithm(
        MakeCall(planner.AddCommunicator(even), CollectiveOp::AllReduce, Bytes::MiB(1)),
        Algorithm::Ring);
    const Time stream = bench.Run(Fidelity::Stream, {ring, call}).front();
    const Time flow = bench.Run(Fidelity::Flow, {ring, call}).front();
    EXPECT_GT(flow / bench.Run(Fidelity::Flow, ring), 3);
    EXPECT_NEAR(stream / flow, 1, 0.25);
}

// Unequal parts: the legs still take the time of the most utilized link, which has the largest sum
// of bytes over rate. Where switches spray, there is one leg.
TEST(PointToPoint, LegsOfUnequalPartsTakeTheTimeOfTheBusiestLink)
{
    for (const bool sprays : {false, true})
    {
        ClusterSpec spec = OversubscribedLeaves();
        if (sprays)
        {
            spec.fabric.routing = SprayRouting();
        }
        CollectiveBench bench(spec);
        Planner& planner = bench.GetPlanner();
        std::vector<std::vector<Bytes>> parts(128, std::vector<Bytes>(128, Bytes::KiB(256)));
        for (auto& row : parts)
        {
            for (uint32_t hot = 0; hot < 128; hot += 16)
            {
                row[hot] = Bytes::KiB(2560);
            }
        }
        const auto call = UnequalCall(planner, planner.AddCommunicator(FirstGpus(128)), parts);
        const CollectivePlan& plan = planner.Plan(call);
        if (sprays)
        {
            EXPECT_EQ(plan.legs.size(), 1U);
        }
        else
        {
            EXPECT_GT(plan.legs.size(), 1U);
            const auto& topology = bench.GetFabric().GetCluster().GetTopology();
            std::vector<double> seconds(topology.LinkCount(), 0);
            for (const StreamLeg& leg : plan.legs)
            {
                for (const PathLink& each : planner.GetRouting().Links(leg.route))
                {
                    seconds[each.link.Index()] +=
                        leg.bytes.ToDouble() * each.multiplicity /
                        topology.GetLink(each.link).rate.ToBytesPerSecond();
                }
            }
            const double busiest = *std::max_element(seconds.begin(), seconds.end());
            EXPECT_NEAR(plan.wire.ToSeconds() / busiest, 1, 1e-6);
        }
        EXPECT_NEAR(bench.Run(Fidelity::Stream, call) / plan.duration, 1, 1e-6);
    }
}

// Equal parts given as a traffic matrix equal the all-to-all of their sum.
TEST(PointToPoint, EqualTrafficIsTheSameAsNone)
{
    CollectiveBench bench(H100Boxes(2));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(16));
    const std::vector<std::vector<Bytes>> parts(16, std::vector<Bytes>(16, Bytes::MiB(3)));
    const auto unequal = UnequalCall(bench.GetPlanner(), id, parts);
    const auto equal = MakeCall(id, CollectiveOp::AllToAll, Bytes::MiB(48));
    EXPECT_EQ(bench.GetPlanner().Plan(unequal).duration, bench.GetPlanner().Plan(equal).duration);
    EXPECT_EQ(bench.Run(Fidelity::Flow, unequal), bench.Run(Fidelity::Flow, equal));
}

TEST(Traffic, EqualPartsShareAnId)
{
    CollectiveBench bench(H100Boxes(1));
    auto& planner = bench.GetPlanner();
    const auto a = planner.AddTraffic({{Bytes(1), Bytes(2)}, {Bytes(3), Bytes(4)}});
    EXPECT_EQ(planner.AddTraffic({{Bytes(1), Bytes(2)}, {Bytes(3), Bytes(4)}}), a);
    EXPECT_NE(planner.AddTraffic({{Bytes(1), Bytes(2)}, {Bytes(3), Bytes(5)}}), a);
}

TEST(Traffic, TheRankThatGivesMostSetsItsSize)
{
    const Traffic traffic({{Bytes(1), Bytes(2)}, {Bytes(3), Bytes(4)}});
    EXPECT_EQ(traffic.LargestRow(), Bytes(7));
    EXPECT_EQ(traffic.Part(0, 1), Bytes(2));
}

TEST(Traffic, WhatIsNoTrafficIsRefused)
{
    CollectiveBench bench(H100Boxes(1));
    auto& planner = bench.GetPlanner();
    EXPECT_THROW(planner.AddTraffic({}), std::invalid_argument);
    EXPECT_THROW(planner.AddTraffic({{Bytes(1), Bytes(1)}, {Bytes(1)}}), std::invalid_argument);
    EXPECT_THROW(planner.AddTraffic({{Bytes(-1)}}), std::invalid_argument);
    EXPECT_THROW(planner.AddTraffic({{Bytes((int64_t{1} << 58) + 1)}}), std::invalid_argument);

    const auto id = planner.AddCommunicator(FirstGpus(2));
    const std::vector<std::vector<Bytes>> parts(2, std::vector<Bytes>(2, Bytes(8)));
    const auto good = UnequalCall(planner, id, parts);
    EXPECT_NO_THROW(planner.Plan(good));
    auto wrong = good;
    wrong.bytes = Bytes(15);
    EXPECT_THROW(planner.Plan(wrong), std::invalid_argument);
    wrong = good;
    wrong.op = CollectiveOp::AllGather;
    EXPECT_THROW(planner.Plan(wrong), std::invalid_argument);
    wrong = good;
    wrong.traffic = TrafficId(7);
    EXPECT_THROW(planner.Plan(wrong), std::invalid_argument);
    wrong = good;
    wrong.communicator = planner.AddCommunicator(FirstGpus(3));
    EXPECT_THROW(planner.GetSchedule(wrong), std::invalid_argument);
}

} // namespace
} // namespace weir
