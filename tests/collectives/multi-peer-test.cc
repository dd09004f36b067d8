// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/schedule/schedule-run.h"
#include "schedule-check.h"

#include <gtest/gtest.h>

#include <deque>
#include <utility>

namespace weir
{
namespace
{

constexpr uint32_t RANKS = 3;

/**
 * An all-reduce through a switch (block 0): every rank sends to the switch from one block and
 * receives from it in another.
 */
class ThroughASwitch : public testing::Test
{
  protected:
    ThroughASwitch()
    {
        Primitive sum{PrimitiveKind::RecvReduceSend};
        sum.recvs = sum.sends = RANKS;
        m_schedule.channels.resize(1);
        Channel().programs = {{{sum}}, {{{PrimitiveKind::Send}}}, {{{PrimitiveKind::Recv}}}};
        Channel().loops = {{5, {Bytes(100)}, 2}};
        Channel().blocks.push_back({RANKS, 0, 0, {}, {}});
        for (uint32_t rank = 0; rank < RANKS; ++rank)
        {
            const auto block = static_cast<uint32_t>(Channel().blocks.size());
            Channel().connections.push_back({{2, Time()}, block, 0, {}});
            Channel().connections.push_back({{2, Time()}, 0, block + 1, {}});
            Channel().blocks[0].recv.push_back(2 * rank);
            Channel().blocks[0].send.push_back(2 * rank + 1);
            Channel().blocks.push_back({rank, 0, 1, {}, {2 * rank}});
            Channel().blocks.push_back({rank, 0, 2, {2 * rank + 1}, {}});
        }
    }

    ChannelSchedule& Channel()
    {
        return m_schedule.channels[0].schedule;
    }

    Primitive& SwitchPrimitive()
    {
        return Channel().programs[0].primitives[0];
    }

    std::string Fault() const
    {
        return CheckSchedule(m_schedule, {RANKS, Bytes(500), 0});
    }

    Schedule m_schedule;
};

TEST_F(ThroughASwitch, IsAnAllReduce)
{
    EXPECT_EQ(Fault(), "");
}

TEST_F(ThroughASwitch, LeavingOutARankIsFound)
{
    SwitchPrimitive().recvs = 2;
    EXPECT_NE(Fault(), "");
}

TEST_F(ThroughASwitch, AReceiverThatGetsNothingWaits)
{
    SwitchPrimitive().sends = 2;
    EXPECT_NE(Fault().find("waits for ever"), std::string::npos) << Fault();
}

TEST_F(ThroughASwitch, MorePeersThanConnectionsAreFound)
{
    SwitchPrimitive().recvs = RANKS + 1;
    EXPECT_NE(Fault().find("does not have"), std::string::npos) << Fault();
}

// A switch has no data of its own to send.
TEST_F(ThroughASwitch, ASwitchThatSendsItsOwnDataIsFound)
{
    SwitchPrimitive().kind = PrimitiveKind::Send;
    EXPECT_NE(Fault().find("no data of its own"), std::string::npos) << Fault();
}

TEST_F(ThroughASwitch, TwoBlocksThatKeepTheSameChunkAreFound)
{
    Channel().programs[1].primitives.push_back({PrimitiveKind::Copy});
    EXPECT_NE(Fault().find("another block"), std::string::npos) << Fault();
}

// Connections are FIFOs, whatever the order in which they are served: every slice that is sent
// arrives, 5 passes of 2 slices on each of 6 connections, and all blocks end. The same holds for a
// run that moves the blocks out of the schedule.
TEST_F(ThroughASwitch, RunsToTheEndInAnyOrderOfArrivals)
{
    for (const auto& [newestFirst, takes] :
         {std::pair(false, false), std::pair(true, false), std::pair(true, true)})
    {
        Schedule schedule = m_schedule;
        ScheduleRun run =
            takes ? ScheduleRun(std::move(schedule)) : ScheduleRun(std::as_const(schedule));
        EXPECT_EQ(schedule.channels.front().schedule.blocks.empty(), takes);
        EXPECT_FALSE(schedule.channels.front().schedule.programs.empty());
        std::vector<uint32_t> started;
        for (uint32_t block = 0; block < run.BlockCount(); ++block)
        {
            run.Advance(block, started);
        }
        std::deque<uint32_t> sending(started.begin(), started.end());
        uint32_t slices = 0;
        while (!sending.empty())
        {
            const uint32_t connection = newestFirst ? sending.back() : sending.front();
            newestFirst ? sending.pop_back() : sending.pop_front();
            EXPECT_EQ(run.FrontBytes(connection), 50);
            ++slices;
            started.clear();
            if (run.PopFront(connection))
            {
                sending.push_back(connection);
            }
            run.Arrive(connection, started);
            sending.insert(sending.end(), started.begin(), started.end());
        }
        EXPECT_EQ(slices, 60U);
        EXPECT_EQ(run.BlocksLeft(), 0U) << run.DescribeWait();
    }
}

// Kept data can be sent again: rank 0 forwards what rank 1 sent.
TEST(FromKept, IsWhatTheBlockKept)
{
    Primitive pass{PrimitiveKind::Send};
    pass.fromKept = true;
    Schedule schedule;
    schedule.channels.resize(1);
    auto& channel = schedule.channels[0].schedule;
    channel.programs = {
        {{{PrimitiveKind::Recv}, pass}}, {{{PrimitiveKind::Send}}}, {{{PrimitiveKind::Recv}}}};
    channel.loops = {{1, {Bytes(8)}, 1}};
    schedule.op = CollectiveOp::Broadcast;
    channel.connections = {{{1, Time()}, 1, 0, {}}, {{1, Time()}, 0, 2, {}}};
    channel.blocks = {{0, 0, 0, {0}, {1}}, {1, 0, 1, {}, {0}}, {2, 0, 2, {1}, {}}};
    EXPECT_EQ(CheckSchedule(schedule, {3, Bytes(8), 1}), "");
    channel.programs[0].primitives[1].fromKept = false;
    EXPECT_NE(CheckSchedule(schedule, {3, Bytes(8), 1}), "");
}

} // namespace
} // namespace weir
