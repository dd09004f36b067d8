// SPDX-License-Identifier: GPL-2.0-only

#include "collective-bench.h"
#include "reference-machines.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

/**
 * Protocol that the planner chooses for a ring all-reduce of the given size over the given GPUs.
 */
class TuningTest : public testing::Test
{
  protected:
    Protocol Chosen(ClusterSpec spec, uint32_t gpus, int64_t bytes)
    {
        CollectiveBench bench(std::move(spec));
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(gpus));
        return bench.GetPlanner()
            .Plan(
                WithAlgorithm(MakeCall(id, CollectiveOp::AllReduce, Bytes(bytes)), Algorithm::Ring))
            .protocol;
    }
};

// LL:     6.6 + 14 x 0.6 = 15.0 us,   bus min(141, 360 / 2)              = 141.0
// LL128:  14 + 14 x 1.9  = 40.6 us,   bus min(0.92 x 360, 12 x 36.7)     = 331.2
// Simple: 8.4 + 14 x 3.4 = 56.0 us,   bus 360; algorithm bandwidth = bus / 1.75
// LL = LL128 at 25.6 us / (1/80.571 - 1/189.257 ns/B) = 3.592 MB, LL128 = Simple at 36.44 MB.
TEST_F(TuningTest, ProtocolsOfEightH100)
{
    EXPECT_EQ(Chosen(H100Boxes(1), 8, 8), Protocol::Ll);
    EXPECT_EQ(Chosen(H100Boxes(1), 8, 3'580'000), Protocol::Ll);
    EXPECT_EQ(Chosen(H100Boxes(1), 8, 3'600'000), Protocol::Ll128);
    EXPECT_EQ(Chosen(H100Boxes(1), 8, 36'400'000), Protocol::Ll128);
    EXPECT_EQ(Chosen(H100Boxes(1), 8, 36'500'000), Protocol::Simple);
}

// Two nodes: LL 6.6 + 28 x 1 + 2 x 2.7 = 40.0 us, bus 39 (Intel); LL128 14 + 28 x 1.9 + 2 x 4 =
// 75.2 us, bus 8 x 36.7 = 293.6; Simple 1.4 x (8.4 + 28 x 3.4 + 2 x 14) = 184.24 us, bus 384;
// algorithm bandwidth = bus / 1.875. They cross at 0.8443 MB and 72.5 MB.
TEST_F(TuningTest, ProtocolsOfTwoNodes)
{
    EXPECT_EQ(Chosen(H100Boxes(2), 16, 843'000), Protocol::Ll);
    EXPECT_EQ(Chosen(H100Boxes(2), 16, 846'000), Protocol::Ll128);
    EXPECT_EQ(Chosen(H100Boxes(2), 16, 72'000'000), Protocol::Ll128);
    EXPECT_EQ(Chosen(H100Boxes(2), 16, 73'000'000), Protocol::Simple);
}

TEST_F(TuningTest, Ll128NeedsNvLinkAndPortsBelowTheCpu)
{
    ClusterSpec pcie = A100Boxes(1);
    pcie.node.wiring = NvLinkWiring::None;
    ClusterSpec viaCpu = A100Boxes(2);
    viaCpu.node.pcieSwitches = 0; // GPUs and ports attach to the root complexes
    for (int64_t bytes = 8; bytes < (int64_t{1} << 32); bytes *= 2)
    {
        EXPECT_NE(Chosen(pcie, 8, bytes), Protocol::Ll128);
        EXPECT_NE(Chosen(viaCpu, 16, bytes), Protocol::Ll128);
    }
}

// On Hopper from 2.27 on, LL128 is used over a GPU's chip-to-chip link to the CPU of its port
// (P2C), but not over PCIe to that CPU (PHB).
TEST_F(TuningTest, Ll128OverChips)
{
    const auto has = [](ClusterSpec spec, const char* version) {
        CollectiveBench bench(std::move(spec), version);
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8));
        return bench.GetPlanner().GetCommunicator(id).ll128;
    };
    ClusterSpec overPcie = Gh200Nodes(2);
    overPcie.node.pcieSwitches = 0;
    overPcie.node.sockets = 4;
    ClusterSpec overChips = overPcie;
    overChips.node.gpuLink = ReferenceLink("c2c", 450, 150);
    EXPECT_FALSE(has(overPcie, "2.30.7"));
    EXPECT_TRUE(has(overChips, "2.30.7"));
    EXPECT_FALSE(has(overChips, "2.26.2"));
}

// LL needs 8 bytes x 8 ranks for each of 512 threads, 32 KiB per channel; Simple 64 x 512 bytes,
// the same; LL128 8 x 640 bytes, but a channel carries 32 KiB of traffic, that is 16 KiB of an
// all-reduce's buffer.
TEST_F(TuningTest, SmallMessagesUseFewChannels)
{
    CollectiveBench bench(H100Boxes(1));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8));
    const auto channels = [&](CollectiveOp op, Protocol protocol, Bytes bytes) {
        const auto call = WithAlgorithm(MakeCall(id, op, bytes), Algorithm::Ring);
        return bench.GetPlanner().Plan(WithProtocol(call, protocol)).channels;
    };
    const auto op = CollectiveOp::AllReduce;
    EXPECT_EQ(channels(op, Protocol::Ll, Bytes(8)), 1U);
    EXPECT_EQ(channels(op, Protocol::Ll, Bytes::KiB(128)), 4U);
    EXPECT_EQ(channels(op, Protocol::Simple, Bytes::KiB(128)), 4U);
    EXPECT_EQ(channels(op, Protocol::Ll128, Bytes::KiB(128)), 8U);
    EXPECT_EQ(channels(CollectiveOp::AllGather, Protocol::Ll128, Bytes::KiB(128)), 4U);
    EXPECT_EQ(channels(op, Protocol::Simple, Bytes::MiB(64)), 24U);
}

TEST_F(TuningTest, WhatTheCallerFixesIsKept)
{
    CollectiveBench bench(H100Boxes(1));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8));
    auto call = WithChannels(MakeCall(id, CollectiveOp::AllReduce, Bytes::MiB(64)), 5);
    call = WithProtocol(call, Protocol::Ll);
    EXPECT_EQ(bench.GetPlanner().Plan(call).channels, 5U);
    EXPECT_EQ(bench.GetPlanner().Plan(call).protocol, Protocol::Ll);
}

} // namespace
} // namespace weir
