// SPDX-License-Identifier: GPL-2.0-only
#include "collective-bench.h"
#include "reference-machines.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace weir
{
namespace
{

class PlannerTest : public testing::Test
{
  protected:
    CollectiveBench m_bench{H100Boxes(2)};
    Planner& m_planner{m_bench.GetPlanner()};
};

TEST_F(PlannerTest, TheSameGroupHasTheSameId)
{
    const auto a = m_planner.AddCommunicator({GpuId(0), GpuId(1)});
    const auto b = m_planner.AddCommunicator({GpuId(1), GpuId(0)}); // a different rank order
    EXPECT_NE(a, b);
    EXPECT_EQ(m_planner.AddCommunicator({GpuId(0), GpuId(1)}), a);
}

TEST_F(PlannerTest, EqualCallsShareAPlanThatStaysWhereItIs)
{
    const auto id = m_planner.AddCommunicator(FirstGpus(8));
    const auto call = MakeCall(id, CollectiveOp::AllReduce, Bytes::MiB(1));
    const CollectivePlan* first = &m_planner.Plan(call);
    for (int64_t size = 1; size < 2000; ++size)
    {
        m_planner.Plan(MakeCall(id, CollectiveOp::AllReduce, Bytes::KiB(size)));
    }
    EXPECT_EQ(&m_planner.Plan(call), first);
    EXPECT_EQ(first->call, call);
    EXPECT_NE(&m_planner.Plan(WithChannels(call, 3)), first);
    EXPECT_EQ(&m_planner.GetSchedule(call), &m_planner.GetSchedule(call));
}

TEST_F(PlannerTest, NothingToMoveTakesNoTime)
{
    const auto all = m_planner.AddCommunicator(FirstGpus(8));
    const auto one = m_planner.AddCommunicator({GpuId(5)});
    for (const auto& call : {MakeCall(all, CollectiveOp::AllReduce, Bytes()),
                             MakeCall(one, CollectiveOp::AllReduce, Bytes::MiB(1))})
    {
        EXPECT_EQ(m_planner.Plan(call).duration, Time());
        for (auto fidelity : {Fidelity::Analytical, Fidelity::Stream, Fidelity::Flow})
        {
            EXPECT_EQ(m_bench.Run(fidelity, call), Time()) << ToString(fidelity);
        }
    }
}

TEST_F(PlannerTest, WrongGroupsAreRefused)
{
    EXPECT_THROW(m_planner.AddCommunicator({}), std::invalid_argument);
    EXPECT_THROW(m_planner.AddCommunicator({GpuId(1), GpuId(1)}), std::invalid_argument);
    EXPECT_THROW(m_planner.AddCommunicator({GpuId(16)}), std::invalid_argument);
    EXPECT_THROW(m_planner.AddCommunicator({GpuId()}), std::invalid_argument);
}

TEST_F(PlannerTest, CallsThatCannotBeMetAreRefused)
{
    const auto id = m_planner.AddCommunicator(FirstGpus(8));
    const auto one = m_planner.AddCommunicator({GpuId(5)});
    const auto good = MakeCall(id, CollectiveOp::Broadcast, Bytes::MiB(1));
    auto wrong = good;
    wrong.root = 8;
    EXPECT_THROW(m_planner.Plan(wrong), std::invalid_argument);
    wrong = good;
    wrong.bytes = Bytes(-1);
    EXPECT_THROW(m_planner.Plan(wrong), std::invalid_argument);
    wrong = good;
    wrong.bytes = Bytes((int64_t{1} << 58) + 1); // 16 times as much does not fit into 64 bits
    EXPECT_THROW(m_planner.Plan(wrong), std::invalid_argument);
    EXPECT_THROW(m_planner.GetSchedule(wrong), std::invalid_argument);
    wrong = good;
    wrong.overrides.algorithm = Algorithm::PointToPoint;
    EXPECT_THROW(m_planner.Plan(wrong), std::invalid_argument);
    EXPECT_THROW(m_planner.Plan(WithChannels(good, 0)), std::invalid_argument);
    EXPECT_THROW(m_planner.Plan(WithChannels(good, 25)), std::invalid_argument);
    EXPECT_THROW(m_planner.Plan(MakeCall(CommunicatorId(99), CollectiveOp::AllReduce, Bytes(1))),
                 std::invalid_argument);
    EXPECT_THROW(m_planner.Plan(MakeCall(CommunicatorId(), CollectiveOp::AllReduce, Bytes(1))),
                 std::invalid_argument);
    EXPECT_THROW(m_planner.Plan(MakeCall(one, CollectiveOp::Send, Bytes(1))),
                 std::invalid_argument);
    EXPECT_NO_THROW(m_planner.Plan(good));
}

// A GPU of eight sends 7/8 of the buffer twice; on the wire LL doubles it and LL128 adds 1/15. At
// the largest size none of these figures overflows, and all 24 channels are used.
TEST_F(PlannerTest, TheLargestCallIsReckonedExactly)
{
    const auto id = m_planner.AddCommunicator(FirstGpus(8));
    const int64_t bytes = int64_t{1} << 58;
    for (const auto protocol : {Protocol::Ll, Protocol::Ll128, Protocol::Simple})
    {
        const auto& plan = m_planner.Plan(WithAlgorithm(
            WithProtocol(MakeCall(id, CollectiveOp::AllReduce, Bytes(bytes)), protocol),
            Algorithm::Ring));
        EXPECT_EQ(plan.channels, 24U) << ToString(protocol);
        double onWire = 0;
        for (const auto& leg : plan.legs)
        {
            onWire += leg.bytes.ToDouble();
        }
        const double overhead = protocol == Protocol::Ll      ? 2.0
                                : protocol == Protocol::Ll128 ? 16.0 / 15
                                                              : 1.0;
        EXPECT_NEAR(onWire / (1.75 * static_cast<double>(bytes) * overhead), 1, 1e-12)
            << ToString(protocol);
        EXPECT_GT(plan.duration, Time::Seconds(1e5)) << ToString(protocol);
    }
}

// Channels get their paths when calls first use them. Plans do not depend on the order of planning,
// for small calls (few channels), large calls, trees, and sends and receives.
TEST(PlannerOrder, PlansDoNotDependOnWhatWasPlannedBefore)
{
    CollectiveBench one(H100Boxes(4));
    CollectiveBench other(H100Boxes(4));
    Planner& forward = one.GetPlanner();
    Planner& backward = other.GetPlanner();
    const auto group = forward.AddCommunicator(FirstGpus(32));
    ASSERT_EQ(backward.AddCommunicator(FirstGpus(32)), group);
    std::vector<CollectiveCall> calls;
    for (const auto op : {CollectiveOp::AllToAll,
                          CollectiveOp::AllReduce,
                          CollectiveOp::AllGather,
                          CollectiveOp::Broadcast})
    {
        for (const auto bytes : {Bytes(64), Bytes::KiB(512), Bytes::GiB(1)})
        {
            calls.push_back(MakeCall(group, op, bytes));
        }
    }
    std::vector<Time> durations;
    for (const CollectiveCall& call : calls)
    {
        durations.push_back(forward.Plan(call).duration);
    }
    backward.GetCommunicator(group); // creates all channels and trees
    for (std::size_t i = calls.size(); i-- > 0;)
    {
        const CollectivePlan& plan = backward.Plan(calls[i]);
        EXPECT_EQ(plan.duration, durations[i]) << ToString(calls[i].op);
        EXPECT_EQ(plan.legs.size(), forward.Plan(calls[i]).legs.size());
    }
}

TEST(PlannerVersion, AnUnknownReleaseIsRefused)
{
    Fabric fabric(H100Boxes(1));
    EXPECT_THROW(Planner(fabric.GetCluster(), fabric.GetRouting(), "latest"),
                 std::invalid_argument);
}

} // namespace
} // namespace weir
