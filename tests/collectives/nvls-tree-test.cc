// SPDX-License-Identifier: GPL-2.0-only
#include "collective-bench.h"
#include "reference-machines.h"
#include "schedule-check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

namespace weir
{
namespace
{

CollectiveCall
TreeCall(CommunicatorId id, Bytes bytes)
{
    return WithAlgorithm(MakeCall(id, CollectiveOp::AllReduce, bytes), Algorithm::NvlsTree);
}

// NCCL uses 16 channels on Hopper, within NCCL_MIN_CTAS and NCCL_MAX_CTAS.
TEST(NvlsTree, ChannelsKeepToTheLimits)
{
    const auto channels = [](ChannelLimits limits) {
        NcclSettings settings;
        settings.channelLimits = limits;
        CollectiveBench bench(H100Boxes(2), settings);
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(16));
        return bench.GetPlanner().Plan(TreeCall(id, Bytes::GiB(1))).channels;
    };
    EXPECT_EQ(channels({}), 16U);
    EXPECT_EQ(channels({24, 128}), 24U);
    EXPECT_EQ(channels({1, 8}), 8U);
}

// Blackwell has 32 channels on several nodes. On more than two 2.30 has 24 with NICs of 400 Gb/s
// and more, but for racks with NICs of 800 Gb/s; the ports of a merged NIC add up. Chunks of 256
// KiB are those of boards with NICs of 800 Gb/s (nvls.cc).
TEST(NvlsTree, BlackwellsChannelsFollowTheNic)
{
    struct Row
    {
        const char* version;
        uint32_t nodes;
        uint32_t gpus;
        double port; // GB/s
        uint32_t ports;
        uint32_t channels;
    };

    const Row rows[] = {{"2.29.7", 4, 8, 50, 1, 32},
                        {"2.30.7", 2, 8, 50, 1, 32},
                        {"2.30.7", 4, 8, 25, 1, 32},
                        {"2.30.7", 4, 8, 25, 2, 24},
                        {"2.30.7", 4, 8, 50, 1, 24},
                        {"2.30.7", 4, 8, 100, 1, 24},
                        {"2.30.7", 4, 16, 50, 1, 24},
                        {"2.30.7", 4, 16, 50, 2, 32},
                        {"2.30.7", 4, 16, 100, 1, 32}};
    for (const Row& row : rows)
    {
        ClusterSpec spec = B200Boxes(row.nodes);
        spec.node.gpus = row.gpus;
        spec.node.nics = row.gpus * row.ports;
        spec.node.portsPerNic = row.ports;
        spec.node.pcieSwitches = row.gpus;
        spec.node.nic = ReferenceLink("nic", row.port, 600);
        CollectiveBench bench(spec, row.version);
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(row.nodes * row.gpus));
        EXPECT_EQ(bench.GetPlanner().Plan(TreeCall(id, Bytes::GiB(1))).channels, row.channels)
            << row.version << ", " << row.nodes << " nodes of " << row.gpus << ", " << row.ports
            << " x " << row.port << " GB/s";
    }
}

// On two nodes a byte leaves a node once: as a child in one tree, as the root in the other. The
// ports, 8 x 50 GB/s, suffice; the NVLinks, 64 / 97 of 370.8 GB/s, are the bottleneck. Each pass of
// 16 MiB adds a synchronization of 11 us, of which stores overlap 97 / 80 - 1.
TEST(NvlsTree, TwoNodesAreBoundByNvLink)
{
    CollectiveBench bench(H100Boxes(2));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(16));
    const auto& plan = bench.GetPlanner().Plan(TreeCall(id, Bytes::GiB(4)));
    const double bytes = (int64_t{4} << 30) / (370.8e9 * 64 / 97) * 1e6;
    EXPECT_NEAR(plan.wire.ToMicroseconds(), bytes, ROUNDING);
    const Time half = bench.GetPlanner().Plan(TreeCall(id, Bytes::GiB(2))).duration;
    EXPECT_NEAR(
        (plan.duration - half).ToMicroseconds(), bytes / 2 + 128 * 11.0 * (2 - 97.0 / 80), 1e-4);
    const auto& topology = bench.GetFabric().GetCluster().GetTopology();
    EXPECT_EQ(topology.GetLink(plan.bottleneck).kind, LinkKind::NvLink);
}

// One pass on two nodes, 32 KiB from each of 8 heads on 16 channels, 4 MiB in total: a copy in and
// a copy out. NVLink reduces 64 bytes with 73 of its flits and stores them with 80. A port carries
// the sums of the 8 channels whose root is on the other node, then the totals of the others. The
// root's stores end while those totals are in transit, so half a store remains visible.
TEST(NvlsTree, OnePassIsTheSumOfItsParts)
{
    CollectiveBench bench(H100Boxes(2));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(16));
    const auto call = TreeCall(id, Bytes::MiB(4));
    Rate copy = Rate::Infinite();
    for (const auto& each : bench.GetPlanner().GetSchedule(call).channels[0].schedule.connections)
    {
        copy = std::min(copy, each.cap);
    }
    const double parts = 2 * (Bytes::KiB(32) / copy).ToMicroseconds() +
                         (1 << 22) * (73 + 80 / 2) / 64.0 / 370.8e9 * 1e6 +
                         2 * (8 << 15) / 50e9 * 1e6;
    const auto tiny = TreeCall(id, Bytes(16 * 8 * 16)); // the same latency
    const Time flow = bench.Run(Fidelity::Flow, call);
    EXPECT_NEAR((flow - bench.Run(Fidelity::Flow, tiny)).ToMicroseconds(), parts, 0.001 * parts);
    EXPECT_NEAR(bench.GetPlanner().Plan(call).duration / flow, 1, 1e-9);
}

// The eight ports of a node share the message: each byte is sent once in each direction on two
// nodes.
TEST(NvlsTree, TwoNodesSendEachByteOnce)
{
    CollectiveBench bench(H100Boxes(2));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(16));
    const auto& plan = bench.GetPlanner().Plan(TreeCall(id, Bytes::GiB(1)));
    const auto ports = BytesOutOfPorts(bench, plan);
    ASSERT_EQ(ports.size(), 16U);
    for (double bytes : ports)
    {
        EXPECT_NEAR(bytes, (1 << 30) / 8.0, 1);
    }
}

// On more than two nodes an inner node of a tree sends one sum up and two totals down, a leaf only
// the sum: over both trees at most 4 halves of a port's eighth. 8 ports of 50 GB/s then carry 200
// GB/s; with one queue pair per connection they reach 0.82 of it (treePortEfficiency).
TEST(NvlsTree, FourNodesAreBoundByTheirPorts)
{
    NcclSettings two;
    two.queuePairs = 2;
    for (const auto& [cluster, settings, port] :
         {std::tuple{B200Boxes(4), two, 50.0},
          std::tuple{B200Boxes(4), NcclSettings(), 50 * 0.82},
          std::tuple{H100Boxes(4), NcclSettings(), 50 * 0.82}})
    {
        CollectiveBench bench(cluster, settings);
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(32));
        const auto& plan = bench.GetPlanner().Plan(TreeCall(id, Bytes::GiB(4)));
        const auto bytes = BytesOutOfPorts(bench, plan);
        const double wire = 2 * (int64_t{4} << 30) / 8.0 * 50 / port;
        EXPECT_NEAR(*std::max_element(bytes.begin(), bytes.end()), wire, 32);
        EXPECT_NEAR(plan.wire.ToMicroseconds(), wire / 50e9 * 1e6, 0.01);
    }
}

TEST(NvlsTree, SchedulesMeetTheirPostcondition)
{
    for (uint32_t nodes = 2; nodes <= 7; ++nodes)
    {
        CollectiveBench bench(H100Boxes(nodes));
        for (uint32_t gpus : {3U, 8U})
        {
            std::vector<GpuId> group;
            for (uint32_t i = 0; i < nodes * gpus; ++i)
            {
                group.emplace_back(i / gpus * 8 + i % gpus);
            }
            const auto id = bench.GetPlanner().AddCommunicator(group);
            for (Bytes bytes : {Bytes(1), Bytes(1234567), Bytes(70'000'001)})
            {
                EXPECT_EQ(CheckSchedule(bench.GetPlanner().GetSchedule(TreeCall(id, bytes)),
                                        {nodes * gpus, bytes, 0}),
                          "")
                    << nodes << " x " << gpus;
            }
        }
    }
}

// Ranks in random order, nodes with different GPUs.
TEST(NvlsTree, RanksMayBeInAnyOrder)
{
    std::mt19937 random(5);
    CollectiveBench bench(H100Boxes(3));
    for (int trial = 0; trial < 10; ++trial)
    {
        std::vector<GpuId> group;
        for (uint32_t node = 0; node < 3; ++node)
        {
            auto gpus = FirstGpus(8);
            std::shuffle(gpus.begin(), gpus.end(), random);
            const std::size_t count = 3 + random() % 6;
            for (std::size_t i = 0; i < count; ++i)
            {
                group.emplace_back(node * 8 + gpus[i].Index());
            }
        }
        std::shuffle(group.begin(), group.end(), random);
        const auto id = bench.GetPlanner().AddCommunicator(group);
        const Bytes bytes(1 + random() % 5'000'000);
        const auto ranks = static_cast<uint32_t>(group.size());
        EXPECT_EQ(
            CheckSchedule(bench.GetPlanner().GetSchedule(TreeCall(id, bytes)), {ranks, bytes, 0}),
            "");
    }
}

// The closed form assumes that all levels of the trees take the time of the slowest; in flow the
// first sums go up without concurrent traffic down. With few channels copies take longest.
TEST(NvlsTree, FlowIsNearTheClosedForm)
{
    for (uint32_t nodes : {2U, 5U})
    {
        CollectiveBench bench(H100Boxes(nodes));
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8 * nodes));
        for (const uint32_t channels : {1U, 4U, 16U})
        {
            for (Bytes bytes : {Bytes::KiB(64), Bytes::MiB(4), Bytes::MiB(64), Bytes::MiB(512)})
            {
                const auto call = WithChannels(TreeCall(id, bytes), channels);
                const double planned = bench.GetPlanner().Plan(call).duration.ToMicroseconds();
                EXPECT_NEAR(bench.Run(Fidelity::Stream, call).ToMicroseconds() / planned, 1, 1e-9);
                const double flow = bench.Run(Fidelity::Flow, call).ToMicroseconds();
                EXPECT_NEAR(flow / planned, 1, channels < 16 ? 0.08 : 0.05)
                    << nodes << " nodes " << bytes.Count() << " on " << channels << " flow "
                    << flow;
            }
        }
    }
}

} // namespace
} // namespace weir
