// SPDX-License-Identifier: GPL-2.0-only
#include "schedule-check.h"

#include "collective-bench.h"
#include "reference-machines.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

// Every operation, protocol and group of 2 to 17 ranks over one to three nodes; sizes below one
// aligned chunk per rank, not divisible, and of several passes.
TEST(ScheduleCheck, EveryBuiltInScheduleMeetsItsPostcondition)
{
    CollectiveBench bench(H100Boxes(3));
    for (uint32_t n = 2; n <= 17; ++n)
    {
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(n));
        for (auto op : ALL_OPS)
        {
            for (auto protocol : ALL_PROTOCOLS)
            {
                for (Bytes bytes : {Bytes(1), Bytes(1000), Bytes(1234567), Bytes(70'000'001)})
                {
                    auto call = WithProtocol(MakeCall(id, op, bytes), protocol);
                    const bool rooted = op == CollectiveOp::Broadcast || op == CollectiveOp::Reduce;
                    call.root = rooted ? n / 2 : 0;
                    EXPECT_EQ(
                        CheckSchedule(bench.GetPlanner().GetSchedule(call), {n, bytes, call.root}),
                        "")
                        << ToString(op) << " " << ToString(protocol) << " n=" << n;
                }
            }
        }
    }
}

class BrokenSchedule : public testing::Test
{
  protected:
    BrokenSchedule()
    {
        const auto id = m_bench.GetPlanner().AddCommunicator(FirstGpus(4));
        auto call = MakeCall(id, CollectiveOp::AllReduce, m_claim.bytes);
        call = WithProtocol(WithChannels(call, 1), Protocol::Simple); // one pass
        call.overrides.algorithm = Algorithm::Ring;
        m_schedule = m_bench.GetPlanner().GetSchedule(call);
    }

    std::vector<Primitive>& Steps()
    {
        return m_schedule.channels[0].schedule.programs[0].primitives;
    }

    std::string Fault() const
    {
        return CheckSchedule(m_schedule, m_claim);
    }

    CollectiveBench m_bench{H100Boxes(1)};
    ScheduleClaim m_claim{4, Bytes::MiB(1), 0};
    Schedule m_schedule;
};

TEST_F(BrokenSchedule, TheIntactOneIsFine)
{
    EXPECT_EQ(Fault(), "");
}

TEST_F(BrokenSchedule, AHopThatForgetsToReduceIsFound)
{
    Steps()[1].kind = PrimitiveKind::RecvCopySend;
    EXPECT_NE(Fault(), "");
}

TEST_F(BrokenSchedule, AHopThatReducesTwiceIsFound)
{
    Steps()[4].kind = PrimitiveKind::RecvReduceCopySend;
    EXPECT_NE(Fault().find("twice"), std::string::npos) << Fault();
}

TEST_F(BrokenSchedule, AChunkOutOfOrderIsFound)
{
    std::swap(Steps()[1].chunk, Steps()[2].chunk);
    EXPECT_NE(Fault().find("expects chunk"), std::string::npos) << Fault();
}

TEST_F(BrokenSchedule, AReceiveBeforeEverySendBlocks)
{
    Steps().insert(Steps().begin(), {PrimitiveKind::Recv, 1});
    EXPECT_NE(Fault().find("waits for ever"), std::string::npos) << Fault();
}

TEST_F(BrokenSchedule, ADroppedReceiveLeavesItsChunkBehind)
{
    Steps().pop_back();
    EXPECT_NE(Fault().find("unreceived"), std::string::npos) << Fault();
}

TEST_F(BrokenSchedule, NoSlotsBlock)
{
    for (auto& connection : m_schedule.channels[0].schedule.connections)
    {
        connection.slots = 0;
    }
    EXPECT_NE(Fault().find("waits for ever"), std::string::npos) << Fault();
}

TEST_F(BrokenSchedule, MissingBytesAreFound)
{
    m_schedule.channels[0].schedule.loops[0].chunks[0] = Bytes(1);
    EXPECT_NE(Fault().find("bytes in all"), std::string::npos) << Fault();
}

TEST_F(BrokenSchedule, AConnectionThatDoesNotExistIsFound)
{
    Steps()[0].sendTo = 1;
    EXPECT_NE(Fault().find("does not have"), std::string::npos) << Fault();
}

} // namespace
} // namespace weir
