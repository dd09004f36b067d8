// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/symmetric-kernels.h"

#include "collective-bench.h"
#include "reference-machines.h"
#include "schedule-check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>

namespace weir
{
namespace
{

constexpr CollectiveOp SYMMETRIC_OPS[] = {
    CollectiveOp::AllReduce, CollectiveOp::AllGather, CollectiveOp::ReduceScatter};

NcclSettings
InSymmetricMemory(const char* version = "2.30.7")
{
    NcclSettings settings(version);
    settings.symmetricMemory = true;
    return settings;
}

SymmetricKernel
Choice(CollectiveOp op, Bytes bytes, bool hasMulticast, uint32_t computeCapability = 90)
{
    const NcclConstants constants(NcclVersion(), computeCapability, HostCpu::Intel);
    return ChooseSymmetricKernel({constants, op, bytes, 8, hasMulticast});
}

/** GiB/s of @p blocks blocks of @p each, at most about @p peak. */
double
SmoothRate(double blocks, double each, double peak)
{
    return peak - each * std::log1p((std::exp(peak / each) - 1) * std::exp(-blocks));
}

// Eight bytes take the latency plus log(1 + exp(x - 1)) us, where x is their moving time: 8 ranks x
// 8 bytes x 9 at the rate of one block, 1.1 times as fast by multicast.
TEST(SymmetricKernels, SmallCallsTakeLlOnOneBlock)
{
    const SymmetricKernel kernel = Choice(CollectiveOp::AllReduce, Bytes(8), false);
    EXPECT_EQ(kernel.protocol, Protocol::Ll);
    EXPECT_FALSE(kernel.isMulticast);
    EXPECT_EQ(kernel.blocks, 1U);
    EXPECT_DOUBLE_EQ(kernel.latency.ToMicroseconds(), 4.5);
    const double moving = 8 * 8 * 9 / (SmoothRate(1, 65, 320) * 1073.741824);
    EXPECT_NEAR(kernel.moving.ToMicroseconds(), moving, 1e-6);
    EXPECT_NEAR(kernel.estimate.ToMicroseconds(), 4.5 + std::log1p(std::exp(moving - 1)), 1e-6);
    EXPECT_TRUE(Choice(CollectiveOp::AllReduce, Bytes(8), true).isMulticast);
}

// Large calls move (n - 1) / n of the message twice at the peak of all blocks, or, reduced by the
// NVSwitches, (n + 1) / n of it, with 16 / 8 blocks at most.
TEST(SymmetricKernels, LargeCallsTakeLoadsAndStores)
{
    const Bytes bytes = Bytes::GiB(1);
    const SymmetricKernel plain = Choice(CollectiveOp::AllReduce, bytes, false);
    EXPECT_EQ(plain.protocol, Protocol::Simple);
    EXPECT_NEAR(plain.moving.ToMicroseconds(), 2.0 * 7 / 8 / 320 * 1e6, 0.03 * 5469);
    const SymmetricKernel multicast = Choice(CollectiveOp::AllReduce, bytes, true);
    EXPECT_EQ(multicast.protocol, Protocol::Simple);
    EXPECT_TRUE(multicast.isMulticast);
    EXPECT_LE(multicast.blocks, 2U);
    EXPECT_NEAR(multicast.moving.ToMicroseconds(), 9.0 / 8 / 480 * 1e6, 0.03 * 2344);
}

// On Blackwell an all-gather's LL takes 8.5 us, other LL kernels 11 us.
TEST(SymmetricKernels, LatenciesDependOnTheGeneration)
{
    EXPECT_EQ(Choice(CollectiveOp::AllGather, Bytes(64), true, 100).latency,
              Time::Microseconds(8.5));
    EXPECT_EQ(Choice(CollectiveOp::ReduceScatter, Bytes(64), true, 100).latency,
              Time::Microseconds(11));
}

TEST(SymmetricKernels, RefuseLl128AndLlOfTwoGibibytes)
{
    const NcclConstants constants(NcclVersion(), 90, HostCpu::Intel);
    SymmetricCase call{constants, CollectiveOp::AllReduce, Bytes::GiB(2), 8};
    call.protocol = Protocol::Ll128;
    EXPECT_THROW(ChooseSymmetricKernel(call), std::invalid_argument);
    call.protocol = Protocol::Ll;
    EXPECT_THROW(ChooseSymmetricKernel(call), std::invalid_argument);
    call.bytes = Bytes::GiB(2) - Bytes(1);
    EXPECT_EQ(ChooseSymmetricKernel(call).protocol, Protocol::Ll);
}

// Every kernel, on groups with and without multicast, does what its operation says.
TEST(SymmetricMemory, SchedulesMeetTheirPostconditions)
{
    for (const ClusterSpec& spec : {H100Boxes(1), B200Boxes(1), A100Boxes(1)})
    {
        for (const uint32_t gpus : {2U, 3U, 8U})
        {
            CollectiveBench bench(spec, InSymmetricMemory());
            const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(gpus));
            for (const CollectiveOp op : SYMMETRIC_OPS)
            {
                for (const Protocol protocol : {Protocol::Ll, Protocol::Simple})
                {
                    for (const Bytes bytes : {Bytes(1), Bytes(5'000'001), Bytes::MiB(64)})
                    {
                        const auto call = WithProtocol(
                            WithAlgorithm(MakeCall(id, op, bytes), Algorithm::Symmetric), protocol);
                        EXPECT_EQ(
                            CheckSchedule(bench.GetPlanner().MakeSchedule(call), {gpus, bytes}), "")
                            << ToString(op) << " " << ToString(protocol) << " of " << bytes.Count()
                            << " on " << gpus;
                    }
                }
            }
        }
    }
}

// All fidelities follow from one description; the pieces of an all-reduce by loads and stores fill
// its pipeline, the others move in one step.
TEST(SymmetricMemory, FidelitiesAgree)
{
    for (const ClusterSpec& spec : {H100Boxes(1), A100Boxes(1)})
    {
        for (const CollectiveOp op : SYMMETRIC_OPS)
        {
            for (const Protocol protocol : {Protocol::Ll, Protocol::Simple})
            {
                for (const Bytes bytes : {Bytes::KiB(4), Bytes::MiB(1), Bytes::MiB(64)})
                {
                    CollectiveBench bench(spec, InSymmetricMemory());
                    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8));
                    const auto call = WithProtocol(
                        WithAlgorithm(MakeCall(id, op, bytes), Algorithm::Symmetric), protocol);
                    const double flow = bench.Run(Fidelity::Flow, call).ToMicroseconds();
                    EXPECT_NEAR(
                        bench.Run(Fidelity::Stream, call).ToMicroseconds(), flow, 0.03 * flow)
                        << ToString(op) << " " << ToString(protocol) << " of " << bytes.Count();
                    EXPECT_NEAR(
                        bench.Run(Fidelity::Analytical, call).ToMicroseconds(), flow, 0.03 * flow);
                }
            }
        }
    }
}

// A reduction by the NVSwitches copies nothing before or after, so that links limit it: 11 n + 9
// flits of 16 bytes for each 8 n of data on the 18 x 20.6 GB/s of a GPU.
TEST(SymmetricMemory, LinksLimitLargeCallsInTheNvSwitches)
{
    CollectiveBench bench(H100Boxes(1), InSymmetricMemory());
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8));
    const Bytes bytes = Bytes::GiB(4);
    const CollectivePlan& plan =
        bench.GetPlanner().Plan(MakeCall(id, CollectiveOp::AllReduce, bytes));
    EXPECT_EQ(plan.algorithm, Algorithm::Symmetric);
    EXPECT_EQ(plan.protocol, Protocol::Simple);
    const double links = bytes.ToDouble() * (11 * 8 + 9) / (8 * 8) / (18 * 20.6e9);
    EXPECT_NEAR(plan.duration.ToSeconds(), links, 0.002 * links);
}

// NCCL runs the kernels where all of it holds: 2.27, one NVLink domain, an operation that they
// have, and no other algorithm or protocol asked for. Elsewhere symmetric memory changes nothing.
TEST(SymmetricMemory, RunsWhereNcclHasTheKernels)
{
    const auto planned = [](const ClusterSpec& spec,
                            const NcclSettings& settings,
                            CollectiveOp op,
                            uint32_t gpus,
                            std::optional<Protocol> protocol = {}) {
        CollectiveBench bench(spec, settings);
        CollectiveCall call =
            MakeCall(bench.GetPlanner().AddCommunicator(FirstGpus(gpus)), op, Bytes::MiB(1));
        call.overrides.protocol = protocol;
        return bench.GetPlanner().Plan(call).algorithm == Algorithm::Symmetric;
    };
    const CollectiveOp op = CollectiveOp::AllGather;
    EXPECT_TRUE(planned(H100Boxes(1), InSymmetricMemory(), op, 8));
    EXPECT_TRUE(planned(H100Boxes(1), InSymmetricMemory("2.27.3"), op, 8));
    EXPECT_TRUE(planned(H100Boxes(2), InSymmetricMemory(), op, 8)); // one node of two
    EXPECT_FALSE(planned(H100Boxes(1), InSymmetricMemory("2.26.2"), op, 8));
    EXPECT_FALSE(planned(H100Boxes(2), InSymmetricMemory(), op, 16));
    EXPECT_FALSE(planned(H100Boxes(1), InSymmetricMemory(), CollectiveOp::Broadcast, 8));
    EXPECT_FALSE(planned(H100Boxes(1), InSymmetricMemory(), op, 8, Protocol::Ll128));
    EXPECT_FALSE(planned(H100Boxes(1), NcclSettings(), op, 8));
    NcclSettings rings = InSymmetricMemory();
    rings.filter.SetAlgorithms("ring");
    EXPECT_FALSE(planned(H100Boxes(1), rings, op, 8));
    NcclSettings local = InSymmetricMemory();
    local.p2pLevel = P2pLevel::Local; // no GPU accesses another one's memory
    EXPECT_FALSE(planned(H100Boxes(1), local, op, 8));
}

TEST(SymmetricMemory, RefusesWhatNcclLacks)
{
    const auto plan = [](const ClusterSpec& spec, const NcclSettings& settings, uint32_t gpus) {
        CollectiveBench bench(spec, settings);
        bench.GetPlanner().Plan(
            WithAlgorithm(MakeCall(bench.GetPlanner().AddCommunicator(FirstGpus(gpus)),
                                   CollectiveOp::AllReduce,
                                   Bytes::MiB(1)),
                          Algorithm::Symmetric));
    };
    EXPECT_NO_THROW(plan(H100Boxes(1), NcclSettings(), 8));
    EXPECT_THROW(plan(H100Boxes(1), NcclSettings("2.26.2"), 8), std::invalid_argument);
    EXPECT_THROW(plan(H100Boxes(2), NcclSettings(), 16), std::invalid_argument);
}

// A refusal names algorithms that would run: symmetric only with a release that has it.
TEST(SymmetricMemory, RefusalsOfOthersNameItWhereItRuns)
{
    const auto names = [](const char* version) {
        CollectiveBench bench(H100Boxes(1), NcclSettings(version));
        try
        {
            bench.GetPlanner().Plan(
                WithAlgorithm(MakeCall(bench.GetPlanner().AddCommunicator(FirstGpus(8)),
                                       CollectiveOp::AllReduce,
                                       Bytes::MiB(1)),
                              Algorithm::CollNetChain));
        }
        catch (const std::invalid_argument& error)
        {
            return std::string(error.what()).find("symmetric") != std::string::npos;
        }
        ADD_FAILURE() << "an all-reduce by switches of one node";
        return false;
    };
    EXPECT_TRUE(names("2.27.3"));
    EXPECT_FALSE(names("2.26.2"));
}

} // namespace
} // namespace weir
