// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/pat/pat.h"

#include "collective-bench.h"
#include "reference-machines.h"
#include "schedule-check.h"

#include <gtest/gtest.h>

#include <set>

namespace weir
{
namespace
{

constexpr CollectiveOp PAT_OPS[] = {CollectiveOp::AllGather, CollectiveOp::ReduceScatter};

CollectiveCall
PatCall(CommunicatorId id, CollectiveOp op, Bytes bytes)
{
    return WithAlgorithm(MakeCall(id, op, bytes), Algorithm::Pat);
}

/** The first GPU of each of the first @p nodes nodes of eight. */
std::vector<GpuId>
OneOfEach(uint32_t nodes)
{
    std::vector<GpuId> gpus;
    for (uint32_t node = 0; node < nodes; ++node)
    {
        gpus.emplace_back(node * 8);
    }
    return gpus;
}

// Every offset is reached once, and from an offset that is already present (or 0).
TEST(Pat, OffsetsFormATree)
{
    for (uint32_t n = 2; n <= 130; ++n)
    {
        std::set<uint32_t> there{0};
        for (const auto& each : PatDistances(n))
        {
            std::set<uint32_t> brought;
            for (uint32_t offset : each.offsets)
            {
                EXPECT_EQ(there.count(offset - each.distance), 1U);
                brought.insert(offset);
            }
            there.insert(brought.begin(), brought.end());
        }
        EXPECT_EQ(there.size(), n);
        EXPECT_EQ(*there.rbegin(), n - 1);
    }
}

TEST(Pat, EveryScheduleMeetsItsPostcondition)
{
    CollectiveBench bench(H100Boxes(35));
    for (uint32_t n : {2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 13U, 16U, 17U, 32U, 35U})
    {
        const auto id = bench.GetPlanner().AddCommunicator(OneOfEach(n));
        for (auto op : PAT_OPS)
        {
            for (Bytes bytes : {Bytes(1), Bytes(4'567'891)})
            {
                const auto call = PatCall(id, op, bytes);
                EXPECT_EQ(CheckSchedule(bench.GetPlanner().GetSchedule(call), {n, bytes, 0}), "")
                    << ToString(op) << " n=" << n << " of " << bytes.Count();
            }
        }
    }
}

// 8 us, log2 8 hops of 14 / 3.5 us, and 7 messages of 2.8 us each, plus 16 bytes through a queue
// pair of 21.4 GB/s per hop: NCCL's 8 + 3 x 14 / 3.5 + 8 x 2.8 us, minus one message.
TEST(Pat, SmallMessagesTakeNcclsLatency)
{
    CollectiveBench bench(H100Boxes(8));
    const auto id = bench.GetPlanner().AddCommunicator(OneOfEach(8));
    for (auto op : PAT_OPS)
    {
        const auto call = PatCall(id, op, Bytes(128));
        const double expected = 8 + 12 + 7 * 2.8 + 3 * 16 / 21.4e3;
        EXPECT_NEAR(bench.GetPlanner().Plan(call).duration.ToMicroseconds(), expected, ROUNDING);
        EXPECT_NEAR(bench.Run(Fidelity::Flow, call).ToMicroseconds(), expected, 0.003);
    }
}

// All ranks have a part of at least one byte. While a message takes less than NCCL's 2.8 us on the
// wire, the call takes the same time at any size.
TEST(Pat, SmallMessagesAreOfAllRanks)
{
    CollectiveBench bench(H100Boxes(31));
    const auto id = bench.GetPlanner().AddCommunicator(OneOfEach(31));
    for (auto op : PAT_OPS)
    {
        const Time min = bench.Run(Fidelity::Flow, PatCall(id, op, Bytes(31)));
        for (const int64_t bytes : {64, 208, 1024, 4096, 31 * 64})
        {
            const Time time = bench.Run(Fidelity::Flow, PatCall(id, op, Bytes(bytes)));
            EXPECT_NEAR(time / min, 1, 0.01) << ToString(op) << " of " << bytes;
        }
    }
}

// All n - 1 parts leave each node through its single port.
TEST(Pat, LargeMessagesAreBoundByThePort)
{
    CollectiveBench bench(H100Boxes(16));
    const auto id = bench.GetPlanner().AddCommunicator(OneOfEach(16));
    for (auto op : PAT_OPS)
    {
        const auto call = PatCall(id, op, Bytes::GiB(1));
        const double wire = 15.0 / 16 * (1 << 30) / 50e9 * 1e6;
        const Time planned = bench.GetPlanner().Plan(call).duration;
        EXPECT_NEAR(planned.ToMicroseconds(), wire, 0.05 * wire);
        EXPECT_NEAR(bench.Run(Fidelity::Flow, call) / planned, 1, 0.02);
    }
}

// From messages limited by NCCL's 2.8 us to messages limited by the port, with whole and partial
// passes, also over rank counts that are not powers of two.
TEST(Pat, TheClosedFormKeepsToFlow)
{
    CollectiveBench bench(H100Boxes(33));
    for (const uint32_t n : {2U, 3U, 5U, 9U, 16U, 33U})
    {
        const auto id = bench.GetPlanner().AddCommunicator(OneOfEach(n));
        for (const auto op : PAT_OPS)
        {
            for (const int64_t bytes : {100'000, 3'000'000, 20'000'000, 150'000'000})
            {
                const auto call = PatCall(id, op, Bytes(bytes));
                EXPECT_NEAR(
                    bench.Run(Fidelity::Stream, call) / bench.Run(Fidelity::Flow, call), 1, 0.01)
                    << ToString(op) << " n=" << n << " of " << bytes;
            }
        }
    }
}

// 64 nodes are on two leaves, between which hashing loads links unequally: a message waits for the
// slowest one of the distance before, which the plan plays as flow does.
TEST(Pat, UnequalLinksDelayAsInFlow)
{
    CollectiveBench bench(H100Boxes(64));
    const auto id = bench.GetPlanner().AddCommunicator(OneOfEach(64));
    for (const auto op : PAT_OPS)
    {
        const auto call = PatCall(id, op, Bytes::MiB(64));
        const Time flow = bench.Run(Fidelity::Flow, call);
        EXPECT_NEAR(bench.GetPlanner().Plan(call).duration / flow, 1, 1e-3) << ToString(op);
        EXPECT_NEAR(bench.Run(Fidelity::Stream, call) / flow, 1, 1e-3) << ToString(op);
    }
}

// 256 MiB on one channel are limited by one queue pair of 21.4 GB/s, not by the port.
TEST(Pat, AChannelMovesWhatItsQueuePairDoes)
{
    CollectiveBench bench(H100Boxes(16));
    const auto id = bench.GetPlanner().AddCommunicator(OneOfEach(16));
    for (const auto op : PAT_OPS)
    {
        auto call = WithChannels(PatCall(id, op, Bytes::MiB(256)), 1);
        const double wire = 15.0 / 16 * (1 << 28) / 21.4e9 * 1e6;
        const Time planned = bench.GetPlanner().Plan(call).duration;
        EXPECT_NEAR(planned.ToMicroseconds(), wire, 0.1 * wire);
        EXPECT_NEAR(bench.Run(Fidelity::Flow, call) / planned, 1, 0.01);
    }
}

// One of a rank's n - 1 messages is in flight at a time. Next to a ring on the same ports each call
// moves at half of the rate until the ring has ended, for any n, except for the time that PAT
// waits.
TEST(Pat, SharesAPortWithARingAsOneFlowForEachChannel)
{
    CollectiveBench bench(H100Boxes(16));
    for (const uint32_t n : {4U, 8U, 16U})
    {
        const auto id = bench.GetPlanner().AddCommunicator(OneOfEach(n));
        for (const auto op : PAT_OPS)
        {
            auto ring =
                WithChannels(WithAlgorithm(MakeCall(id, op, Bytes::MiB(256)), Algorithm::Ring), 4);
            auto pat = WithChannels(PatCall(id, op, Bytes::GiB(1)), 4);
            const auto flow = bench.Run(Fidelity::Flow, {ring, pat});
            const auto stream = bench.Run(Fidelity::Stream, {ring, pat});
            EXPECT_NEAR(stream[0] / flow[0], 1, 0.02) << ToString(op) << " n=" << n;
            EXPECT_NEAR(stream[1] / flow[1], 1, 0.02) << ToString(op) << " n=" << n;
            EXPECT_NEAR(stream[0] / bench.Run(Fidelity::Stream, ring), 2, 0.2);
        }
    }
}

TEST(Pat, OnlyOneGpuPerNode)
{
    CollectiveBench bench(H100Boxes(2));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(16));
    EXPECT_THROW(bench.GetPlanner().Plan(PatCall(id, CollectiveOp::AllGather, Bytes(1))),
                 std::invalid_argument);
}

} // namespace
} // namespace weir
