// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/schedule/sub-channels.h"

#include "collectives/schedule/schedule-wiring.h"

#include "collective-bench.h"
#include "reference-machines.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace weir
{
namespace
{

class SubChannels : public testing::Test
{
  protected:
    /** A connection over links with the given latency in microseconds. */
    ScheduleConnection Pipe(double latency)
    {
        const auto id = m_bench.GetPlanner().AddCommunicator(FirstGpus(8));
        ScheduleConnection pipe;
        pipe.connection = m_bench.GetPlanner().GetCommunicator(id).channels.front().hops.front();
        pipe.latency = Time::Microseconds(latency);
        return pipe;
    }

    ScheduleConnection WithoutLinks()
    {
        ScheduleConnection pipe;
        pipe.connection.route = m_bench.GetPlanner().GetRouting().Nowhere();
        return pipe;
    }

    std::vector<SubChannel> Find(uint32_t chunks, uint32_t subChannels)
    {
        return SubChannelsOf(m_channel, chunks, subChannels, m_bench.GetPlanner().GetRouting());
    }

    CollectiveBench m_bench{H100Boxes(1)};
    ChannelSchedule m_channel;
    ScheduleWiring m_wiring{m_channel};
};

// 2 -> 1 -> 0 <- 3 and back. The stages are 2 -> 1, 1 -> 0, 0 -> 1, 1 -> 2; the hops of rank 3
// share the stages next to the root. The slowest path goes up and down the longer branch.
TEST_F(SubChannels, AChunkIsSummedUpAndSpreadDown)
{
    const auto root = m_wiring.AddBlock(0, 0, PrimitiveKind::RecvReduceCopySend, 2, 2);
    const auto up1 = m_wiring.AddBlock(1, 0, PrimitiveKind::RecvReduceSend, 1, 1);
    const auto down1 = m_wiring.AddBlock(1, 0, PrimitiveKind::RecvCopySend, 1, 1);
    for (const auto& [rank, up, down] : {std::tuple{2U, up1, down1}, std::tuple{3U, root, root}})
    {
        const auto send = m_wiring.AddBlock(rank, 0, PrimitiveKind::Send, 1, 1);
        const auto recv = m_wiring.AddBlock(rank, 0, PrimitiveKind::Recv, 1, 1);
        m_wiring.Join(send, up, Pipe(2));
        m_wiring.Join(down, recv, Pipe(3));
    }
    m_wiring.Join(up1, root, Pipe(5));
    m_wiring.Join(root, down1, Pipe(7));
    const auto subChannels = Find(1, 1);
    ASSERT_EQ(subChannels.size(), 1u);
    EXPECT_EQ(subChannels[0].latency, Time::Microseconds(2 + 5 + 7 + 3));
    ASSERT_EQ(subChannels[0].path.size(), 4u);
    const uint32_t stages[]{0, 3, 1, 2, 1, 2}; // in the order in which connections were added
    const uint32_t distances[]{2, 2, 1, 1, 1, 1};
    ASSERT_EQ(subChannels[0].hops.size(), 6u);
    for (std::size_t i = 0; i < 6; ++i)
    {
        EXPECT_EQ(subChannels[0].hops[i].stage, stages[i]) << i;
        EXPECT_EQ(subChannels[0].hops[i].distance, distances[i]) << i;
        EXPECT_EQ(subChannels[0].hops[i].isUp, i == 0 || i == 2 || i == 4) << i;
    }
}

// A rank sends each of two heads its chunk of a pass and gets both back: two sub-channels, each
// limited only by its own connections. Copies that cross no links limit a sub-channel, but take
// none of its stages.
TEST_F(SubChannels, HeadsHaveEachASubChannel)
{
    const auto give = m_wiring.AddBlock(0, 1, EachChunk(PrimitiveKind::Send, {0, 1}));
    const auto take = m_wiring.AddBlock(0, 1, EachChunk(PrimitiveKind::Recv, {0, 1}));
    for (const uint32_t head : {1U, 0U}) // at position 1: its chunk 0 is head 1's
    {
        const auto sum = m_wiring.AddBlock(9, head, PrimitiveKind::RecvReduceSend, 1, 1);
        const auto out = m_wiring.AddBlock(9, head, PrimitiveKind::RecvCopySend, 1, 1);
        ScheduleConnection copy = WithoutLinks();
        copy.cap = Rate::GBps(head == 0 ? 3 : 4);
        m_wiring.Join(give, sum, copy);
        m_wiring.Join(sum, out, Pipe(head == 0 ? 1 : 2));
        m_wiring.Join(out, take, WithoutLinks());
    }
    const auto subChannels = Find(2, 2);
    ASSERT_EQ(subChannels.size(), 2u);
    for (const uint32_t head : {0U, 1U})
    {
        EXPECT_EQ(subChannels[head].latency, Time::Microseconds(head == 0 ? 1 : 2));
        EXPECT_EQ(subChannels[head].cap, Rate::GBps(head == 0 ? 3 : 4));
        ASSERT_EQ(subChannels[head].hops.size(), 1u);
        EXPECT_EQ(subChannels[head].hops[0].uses, 1u);
        EXPECT_EQ(subChannels[head].path.size(), 1u);
    }
}

// A connection crossed twice per pass gives each chunk half of its rate.
TEST_F(SubChannels, ChunksThatShareAConnectionShareItsRate)
{
    const auto send =
        m_wiring.AddBlock(0, 0, {{{PrimitiveKind::Send, 0}, {PrimitiveKind::Send, 2}}});
    const auto recv =
        m_wiring.AddBlock(1, 0, {{{PrimitiveKind::Recv, 0}, {PrimitiveKind::Recv, 2}}});
    ScheduleConnection pipe = Pipe(1);
    pipe.cap = Rate::GBps(8);
    m_wiring.Join(send, recv, pipe);
    const auto subChannels = Find(4, 2); // chunks 0 and 2 belong to sub-channel 0
    EXPECT_EQ(subChannels[0].hops.front().uses, 2u);
    EXPECT_EQ(subChannels[0].cap, Rate::GBps(4));
    EXPECT_TRUE(subChannels[1].hops.empty());
}

TEST_F(SubChannels, RefuseCircles)
{
    const auto a = m_wiring.AddBlock(0, 0, PrimitiveKind::RecvCopySend, 1, 1);
    const auto b = m_wiring.AddBlock(1, 0, PrimitiveKind::RecvCopySend, 1, 1);
    m_wiring.Join(a, b, Pipe(1));
    m_wiring.Join(b, a, Pipe(1));
    EXPECT_THROW(Find(1, 1), std::logic_error);
}

} // namespace
} // namespace weir
