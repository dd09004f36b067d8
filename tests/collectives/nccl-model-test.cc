// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/nccl-tuning.h"

#include <gtest/gtest.h>

#include <numeric>

namespace weir
{
namespace
{

NcclConstants
Constants(const char* version, uint32_t computeCapability = 90, HostCpu cpu = HostCpu::Intel)
{
    return {NcclVersion::Parse(version), computeCapability, cpu};
}

/** A communicator as NCCL's search would produce it, with NVLink inside nodes. */
Communicator
Group(uint32_t nodes, uint32_t gpusPerNode, uint32_t ringChannels, double ringSpeed)
{
    Communicator group;
    group.nodes = nodes;
    group.gpusPerNode = gpusPerNode;
    group.gpus.resize(std::size_t{nodes} * gpusPerNode);
    std::vector<uint32_t> order(group.gpus.size());
    std::iota(order.begin(), order.end(), 0);
    RingChannel channel{order, std::vector<Connection>(order.size())};
    group.channels.assign(2 * ringChannels, channel);
    group.searchChannels = ringChannels;
    group.searchBandwidth = ringChannels * ringSpeed;
    group.treeGraph = {ringChannels, ringSpeed, ringSpeed};
    group.ll128 = true;
    return group;
}

/** 8 H100 in one node: 12 rings of 30 GB/s, 8 NVLS heads of 40 GB/s. */
Communicator
EightH100()
{
    Communicator group = Group(1, 8, 12, 30);
    group.nvlsGraph = {8, 40, 40};
    return group;
}

double
Microseconds(const NcclConstants& constants,
             const Communicator& group,
             Algorithm algorithm,
             Protocol protocol,
             int64_t bytes,
             CollectiveOp op = CollectiveOp::AllReduce)
{
    return NcclTime({constants, group, algorithm, op, protocol}, Bytes(bytes)).ToMicroseconds();
}

// 6.8 + 2 (3 x 0.6 + log2(N) x 5.0) us: four GPUs per node, 2 to 256 nodes.
TEST(NcclModel, TreeLatencyGrowsByTenMicrosecondsPerDoubling)
{
    double expected = 20.4;
    for (uint32_t nodes = 2; nodes <= 256; nodes *= 2, expected += 10)
    {
        const Time time = NcclLatency({Constants("2.23.4"),
                                       Group(nodes, 4, 4, 24),
                                       Algorithm::Tree,
                                       CollectiveOp::AllReduce,
                                       Protocol::Ll});
        EXPECT_NEAR(time.ToMicroseconds(), expected, 1e-9) << nodes << " nodes";
    }
}

// Ring LL 15.0 us + S / 80.571 GB/s, NVLS 25 us + S / (8 x 40 x 0.85 x 7/8 x 2 x 8/14 = 272 GB/s):
// they cross at 10 us / (1/80.571 - 1/272) = 1.1449 MB (measured: LL to 1 MB, NVLS from 2 MB);
// LL128 begins at 40.6 us.
TEST(NcclModel, EightH100SwitchFromRingLlToNvls)
{
    const auto constants = Constants("2.30.7");
    const auto group = EightH100();
    const auto ring = [&](int64_t bytes) {
        return Microseconds(constants, group, Algorithm::Ring, Protocol::Ll, bytes);
    };
    const auto nvls = [&](int64_t bytes) {
        return Microseconds(constants, group, Algorithm::Nvls, Protocol::Simple, bytes);
    };
    EXPECT_NEAR(ring(0), 15.0, 1e-9);
    EXPECT_NEAR(nvls(0), 25.0, 1e-9);
    EXPECT_LT(ring(1'144'000), nvls(1'144'000));
    EXPECT_GT(ring(1'146'000), nvls(1'146'000));
}

// The least latency of NVLS is 23 us in 2.17 to 2.21 and 25 us since, as its own or as that of its
// step: a ring under LL takes 15 us, so 8 bytes never go by NVLS. NVLSTree came with 2.18.
TEST(NcclModel, NvlsHasALatencyInEveryRelease)
{
    for (const char* version : {"2.17.1", "2.18.5", "2.19.3", "2.21.5", "2.22.3", "2.30.7"})
    {
        const NcclConstants constants = Constants(version);
        const double min = constants.Version().AtLeast(22) ? 25 : 23;
        EXPECT_NEAR(
            Microseconds(constants, EightH100(), Algorithm::Nvls, Protocol::Simple, 0), min, 1e-9)
            << version;
    }
    Communicator group = Group(2, 8, 8, 48);
    group.nvlsGraph = {8, 50, 48};
    const auto tree = [&](const char* version) {
        return NcclAlgorithmBandwidth({Constants(version),
                                       group,
                                       Algorithm::NvlsTree,
                                       CollectiveOp::AllReduce,
                                       Protocol::Simple});
    };
    EXPECT_EQ(tree("2.17.1"), 0);
    EXPECT_GT(tree("2.18.5"), 0);
}

// Up to 2.27 NVLS has 5/6 of its bus bandwidth; from 2.28 on n / (2 (n - 1)) of 8 x 40 x 0.85 x 7/8
// x 2.
TEST(NcclModel, NvlsBandwidthByRelease)
{
    const auto bandwidth = [](const char* version, uint32_t cc, CollectiveOp op) {
        return NcclAlgorithmBandwidth(
            {Constants(version, cc), EightH100(), Algorithm::Nvls, op, Protocol::Simple});
    };
    EXPECT_NEAR(bandwidth("2.26.2", 90, CollectiveOp::AllReduce), 320 * 5 / 6.0, 1e-9);
    EXPECT_NEAR(
        bandwidth("2.28.3", 90, CollectiveOp::AllReduce), 320 * .85 * 7 / 8 * 2 * 8 / 14, 1e-9);
    // All-gather: 40 x 0.85 x 7/8 x 7/8 per head, without further factors.
    EXPECT_NEAR(bandwidth("2.28.3", 90, CollectiveOp::AllGather), 8 * 40 * .85 * 49 / 64, 1e-9);
}

// Without switches that reduce, NVLS is limited to one node; NVLSTree needs several.
TEST(NcclModel, NvlsOverNodesNeedsATree)
{
    Communicator group = Group(2, 8, 8, 48);
    group.nvlsGraph = {8, 50, 48};
    const auto bandwidth = [&](const char* version, Algorithm algorithm) {
        return NcclAlgorithmBandwidth(
            {Constants(version), group, algorithm, CollectiveOp::AllReduce, Protocol::Simple});
    };
    EXPECT_EQ(bandwidth("2.30.7", Algorithm::Nvls), 0);
    EXPECT_NEAR(bandwidth("2.26.2", Algorithm::NvlsTree), 8 * 48 * 5 / 6.0, 1e-9);
    // min(74.375, 2 x 48, 57.7) per head, times 16 / 30
    EXPECT_NEAR(bandwidth("2.30.7", Algorithm::NvlsTree), 8 * 57.7 * 16 / 30, 1e-9);
    group.nodes = 4;
    group.gpus.resize(32);
    EXPECT_NEAR(bandwidth("2.26.2", Algorithm::NvlsTree), 8 * 24 * 5 / 6.0, 1e-9);
    EXPECT_NEAR(bandwidth("2.30.7", Algorithm::NvlsTree), 8 * 45.5 * 32 / 62, 1e-9);
}

// Tree over 4 nodes, 8 channels of 48: 0.92 x 384 = 353.3, cap 8 x 36 = 288; LL 288 / 3.8 but at
// most 20.4; LL128 288 x 120/128 but at most 8 x 29; halved to the algorithm's bandwidth.
TEST(NcclModel, TreeBandwidthByProtocol)
{
    const auto group = Group(4, 8, 8, 48);
    const auto bandwidth = [&](Protocol protocol) {
        return NcclAlgorithmBandwidth(
            {Constants("2.26.2"), group, Algorithm::Tree, CollectiveOp::AllReduce, protocol});
    };
    EXPECT_NEAR(bandwidth(Protocol::Simple), 144, 1e-9);
    EXPECT_NEAR(bandwidth(Protocol::Ll), 10.2, 1e-9);
    EXPECT_NEAR(bandwidth(Protocol::Ll128), 116, 1e-9);
    Communicator plain = group;
    plain.treeGraph.pattern = TreePattern::Plain;
    EXPECT_NEAR(NcclAlgorithmBandwidth({Constants("2.26.2"),
                                        plain,
                                        Algorithm::Tree,
                                        CollectiveOp::AllReduce,
                                        Protocol::Simple}),
                0.85 * 144,
                1e-9);
}

// SHARP with 4 GPUs a node on 8 channels of 48: f = 1/2, f - (f - 1)/2 = 3/4; Hopper 0.85; half.
TEST(NcclModel, CollNetBandwidth)
{
    Communicator group = Group(4, 4, 8, 48);
    const auto bandwidth = [&](Algorithm algorithm, CollectiveOp op) {
        return NcclAlgorithmBandwidth(
            {Constants("2.26.2"), group, algorithm, op, Protocol::Simple});
    };
    EXPECT_EQ(bandwidth(Algorithm::CollNetDirect, CollectiveOp::AllReduce), 0); // no CollNet
    group.collNetGraph = {8, 48, 48};
    EXPECT_NEAR(bandwidth(Algorithm::CollNetDirect, CollectiveOp::AllReduce),
                8 * 48 / 0.75 * 0.85 / 2,
                1e-9);
    EXPECT_NEAR(bandwidth(Algorithm::CollNetDirect, CollectiveOp::AllGather), 4 * 0.9 * 48, 1e-9);
    EXPECT_NEAR(bandwidth(Algorithm::CollNetChain, CollectiveOp::AllReduce), 192, 1e-9);
    EXPECT_EQ(bandwidth(Algorithm::CollNetChain, CollectiveOp::AllGather), 0);
}

// Latencies over 4 nodes of 8 GPUs, 2.30.7.
TEST(NcclModel, LatencyByAlgorithm)
{
    const auto group = Group(4, 8, 8, 48);
    const auto latency = [&](Algorithm algorithm) {
        return NcclLatency({Constants("2.30.7"),
                            group,
                            algorithm,
                            CollectiveOp::AllReduce,
                            Protocol::Simple})
            .ToMicroseconds();
    };
    EXPECT_NEAR(latency(Algorithm::Ring), 8.4 + 56 * 3.4 + 6 * 14, 1e-9);
    EXPECT_NEAR(latency(Algorithm::Tree), 8.4 + 2 * (7 * 4 + 2 * 14), 1e-9);
    EXPECT_NEAR(latency(Algorithm::CollNetDirect), 2 * (3.7 + 7 * 0.4) + 31, 1e-9);
    EXPECT_NEAR(latency(Algorithm::CollNetChain), 14 * 2.8 + 30, 1e-9);
    EXPECT_NEAR(latency(Algorithm::NvlsTree), 25 + 4 * 20.9, 1e-9);
    EXPECT_NEAR(latency(Algorithm::Pat), 8 + 2 * 14 / 3.5 + 2.8 * 32, 1e-9);
}

// From 2.12 to 2.22 NCCL counts 2N crossings for an all-reduce's ring, more than its 2(n-1) steps
// for two nodes of one GPU each: LL 3.6 + (2 - 4) 0.47 x 1.8 + 4 x 2.7 us and S / 6 GB/s; Simple
// 1.4 (8.4 + (2 - 4) 3.4 + 4 x 9.6) us and S / 24 GB/s. They cross at 43.3 us / (1/6 - 1/24) = 346
// kB.
TEST(NcclModel, RingOfTwoNodesWithAGpuEach)
{
    const auto constants = Constants("2.16.5", 80, HostCpu::Amd);
    const Communicator group = Group(2, 1, 1, 24);
    const auto ring = [&](Protocol protocol, int64_t bytes) {
        return Microseconds(constants, group, Algorithm::Ring, protocol, bytes);
    };
    EXPECT_NEAR(ring(Protocol::Ll, 0), 3.6 - 2 * 0.47 * 1.8 + 4 * 2.7, 1e-9);
    EXPECT_NEAR(ring(Protocol::Simple, 24000), 1.4 * (8.4 - 2 * 3.4 + 4 * 9.6) + 1, 1e-9);
    EXPECT_LT(ring(Protocol::Ll, 345'000), ring(Protocol::Simple, 345'000));
    EXPECT_GT(ring(Protocol::Ll, 348'000), ring(Protocol::Simple, 348'000));
}

// If all channels have one order there is one step; if orders differ there is a step per rank, for
// Simple at the tree's 4 us.
TEST(NcclModel, BroadcastWaitsForAllRanksWhenRingsDiffer)
{
    Communicator group = Group(1, 8, 12, 30);
    const auto latency = [&](Protocol protocol) {
        return NcclLatency(
                   {Constants("2.30.7"), group, Algorithm::Ring, CollectiveOp::Broadcast, protocol})
            .ToMicroseconds();
    };
    EXPECT_NEAR(latency(Protocol::Simple), 8.4 + 3.4, 1e-9);
    std::swap(group.channels[1].order[2], group.channels[1].order[3]);
    EXPECT_NEAR(latency(Protocol::Simple), 8.4 + 8 * 4.0, 1e-9);
    EXPECT_NEAR(latency(Protocol::Ll), 6.6 + 8 * 0.6, 1e-9);
}

// 8 KiB = 2^7 x 64 bytes, 512 KiB = 2^13 x 64, 1 GiB beyond the table.
TEST(NcclModel, TreeCorrectionByRelease)
{
    const auto factor = [](const char* version, Protocol protocol, Bytes bytes) {
        return Constants(version).TreeSizeCorrection(protocol, bytes);
    };
    EXPECT_EQ(factor("2.30.7", Protocol::Ll, Bytes(63)), 1);
    EXPECT_EQ(factor("2.30.7", Protocol::Simple, Bytes(64)), .9);
    EXPECT_EQ(factor("2.30.7", Protocol::Ll, Bytes::KiB(8)), .7);
    EXPECT_EQ(factor("2.30.7", Protocol::Ll, Bytes::KiB(512)), .4);
    EXPECT_EQ(factor("2.30.7", Protocol::Ll128, Bytes::KiB(512)), .6);
    EXPECT_EQ(factor("2.8.4", Protocol::Ll128, Bytes::KiB(512)), .5);
    EXPECT_EQ(factor("2.8.4", Protocol::Simple, Bytes::MiB(2)), .6);
    EXPECT_EQ(factor("2.7.8", Protocol::Simple, Bytes::MiB(2)), .5);
    EXPECT_EQ(factor("2.28.3", Protocol::Simple, Bytes::MiB(512)), 1);
    EXPECT_EQ(factor("2.29.7", Protocol::Simple, Bytes::MiB(512)), .9);
    EXPECT_EQ(factor("2.30.7", Protocol::Simple, Bytes::GiB(1)), 1);
}

// Trees under LL: a channel for each 512 x 8 = 4 KiB; the rule of traffic, 4 KiB of an all-reduce,
// agrees.
TEST(NcclModel, ThreadsShrinkWhenOneChannelIsLeft)
{
    const auto group = Group(1, 8, 12, 30);
    const auto width = [&](Algorithm algorithm, Protocol protocol, int64_t bytes) {
        return NcclKernelWidth(
            {Constants("2.30.7"), group, algorithm, CollectiveOp::AllReduce, protocol},
            Bytes(bytes),
            24);
    };
    EXPECT_EQ(width(Algorithm::Tree, Protocol::Ll, 64 << 10).channels, 16U);
    EXPECT_EQ(width(Algorithm::Ring, Protocol::Ll, 64 << 10).channels, 2U);
    EXPECT_EQ(width(Algorithm::Ring, Protocol::Ll, 32 << 10).threads, 512U);
    EXPECT_EQ(width(Algorithm::Ring, Protocol::Ll, 16 << 10).threads, 256U);
    EXPECT_EQ(width(Algorithm::Ring, Protocol::Ll, 8).threads, 64U);
    EXPECT_EQ(width(Algorithm::Nvls, Protocol::Simple, 8).channels, 24U);
    EXPECT_EQ(width(Algorithm::Ring, Protocol::Simple, 1 << 30).channels, 24U);
}

// CollNet Direct counts the threads of all heads (enqueue.cc): 24 channels fall one by one, and the
// threshold from 512 to 256 bytes at 24 and to 128 at 12. 11 x 640 x 8 x 128 bytes are the most
// below 8 MiB, 6 x 640 x 8 x 128 below 4 MiB.
TEST(NcclModel, CollNetDirectCountsAllHeads)
{
    Communicator group = Group(4, 8, 12, 48);
    const auto channels = [&](int64_t bytes) {
        return NcclKernelWidth({Constants("2.30.7"),
                                group,
                                Algorithm::CollNetDirect,
                                CollectiveOp::AllReduce,
                                Protocol::Simple},
                               Bytes(bytes),
                               24)
            .channels;
    };
    group.collNetGraph = {8, 48, 48};
    EXPECT_EQ(channels(1 << 30), 24U);
    EXPECT_EQ(channels(8 << 20), 11U);
    EXPECT_EQ(channels(4 << 20), 6U);
    group.collNetGraph = {4, 48, 48}; // 12 x 640 x 4 x 256 bytes
    EXPECT_EQ(channels(8 << 20), 12U);
}

// tuning.cc sets no threads for PAT: only its traffic limits its channels, 32 KiB each. Trees have
// 512 threads where a narrow ring has 256.
TEST(NcclModel, PatAndTreesKeepTheirWidth)
{
    const auto width = [](Algorithm algorithm, CollectiveOp op, int64_t bytes) {
        return NcclKernelWidth(
            {Constants("2.30.7"), Group(4, 1, 1, 12), algorithm, op, Protocol::Simple},
            Bytes(bytes),
            8);
    };
    EXPECT_EQ(width(Algorithm::Pat, CollectiveOp::AllGather, 128 << 10).channels, 4U);
    EXPECT_EQ(width(Algorithm::Ring, CollectiveOp::AllReduce, 1 << 20).threads, 256U);
    EXPECT_EQ(width(Algorithm::Tree, CollectiveOp::AllReduce, 1 << 20).threads, 512U);
}

// Before the cell rule each channel had 4 KiB, so trees of 4 to 16 KiB had up to 4 channels.
// From 2.28 on LL's traffic counts four times.
TEST(NcclModel, CellsCameWith22)
{
    const auto channels = [](const char* version, int64_t bytes) {
        return NcclKernelWidth({Constants(version),
                                Group(2, 4, 4, 24),
                                Algorithm::Tree,
                                CollectiveOp::AllReduce,
                                Protocol::Ll},
                               Bytes(bytes),
                               4)
            .channels;
    };
    EXPECT_EQ(channels("2.21.5", 16 << 10), 4U);
    EXPECT_EQ(channels("2.22.3", 16 << 10), 1U);
    EXPECT_EQ(channels("2.22.3", 64 << 10), 4U);
    EXPECT_EQ(channels("2.28.9", 16 << 10), 4U);
}

// The tables differ by release: latency of a Simple tree over 2 nodes of 8 GPUs.
TEST(NcclModel, TreeSimpleLatencyByRelease)
{
    const auto latency = [](const char* version) {
        return NcclLatency({Constants(version),
                            Group(2, 8, 8, 48),
                            Algorithm::Tree,
                            CollectiveOp::AllReduce,
                            Protocol::Simple})
            .ToMicroseconds();
    };
    EXPECT_NEAR(latency("2.7.8"), 2 * (7 * 28 + 50), 1e-9);
    EXPECT_NEAR(latency("2.16.2"), 2 * (7 * 28 + 28), 1e-9);
    EXPECT_NEAR(latency("2.18.5"), 2 * (7 * 4 + 14), 1e-9);
    EXPECT_NEAR(latency("2.19.3"), 2 * (7 * 28 + 28), 1e-9);
    EXPECT_NEAR(latency("2.23.4"), 8.4 + 2 * (7 * 4 + 14), 1e-9);
}

TEST(NcclModel, SimpleIsTheOnlyProtocolOfSwitchAlgorithms)
{
    for (auto algorithm : {Algorithm::Nvls, Algorithm::CollNetDirect, Algorithm::Pat})
    {
        EXPECT_FALSE(HasProtocol(algorithm, Protocol::Ll));
        EXPECT_TRUE(HasProtocol(algorithm, Protocol::Simple));
    }
    EXPECT_TRUE(HasProtocol(Algorithm::Tree, Protocol::Ll128));
}

} // namespace
} // namespace weir
