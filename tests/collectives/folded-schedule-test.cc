// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/schedule/folded-schedule.h"

#include "collectives/engines/back-to-back-calls.h"
#include "collectives/engines/flow-engine.h"
#include "fabric/transport/fluid/fluid-transport.h"

#include "collective-bench.h"
#include "reference-machines.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace weir
{
namespace
{

/** Makes a given number of calls and records their ends. */
class Ends : public BackToBackClient
{
  public:
    explicit Ends(std::size_t calls)
        : m_calls(calls)
    {
    }

    bool OnCallDone(Time end, bool /* steady */) override
    {
        ends.push_back(end);
        return ends.size() < m_calls;
    }

    std::vector<Time> ends;

  private:
    std::size_t m_calls;
};

/** Ends of three back-to-back calls on an idle fabric. */
std::vector<Time>
PlayBackToBack(CollectiveBench& bench, const CollectiveCall& call, bool folds)
{
    FluidTransport transport(bench.GetFabric().GetRouting());
    FlowEngine engine(bench.GetPlanner(), transport);
    if (folds)
    {
        engine.FoldCalls();
    }
    Ends ends(3);
    EngineSet set;
    set.Add(transport);
    set.Add(engine);
    engine.StartBackToBack(call, ends, Time());
    set.RunToEnd();
    return ends.ends;
}

std::size_t
ConnectionCount(const Schedule& schedule)
{
    std::size_t connections = 0;
    for (const auto& [channel, copies] : schedule.channels)
    {
        connections += channel.connections.size();
    }
    return connections;
}

/** Expects the time of every call to equal the unfolded one within rounding. */
void
ExpectSameTimes(CollectiveBench& bench, const CollectiveCall& call, const std::string& what)
{
    const auto exact = PlayBackToBack(bench, call, false);
    const auto folded = PlayBackToBack(bench, call, true);
    ASSERT_EQ(folded.size(), exact.size()) << what;
    for (std::size_t i = 0; i < exact.size(); i++)
    {
        EXPECT_NEAR(folded[i].ToMicroseconds(), exact[i].ToMicroseconds(), ROUNDING) << what;
    }
}

TEST(FoldedSchedule, TakesAsLongAsTheWholeOne)
{
    for (const auto& [boxes, ranks] : {std::pair{1U, 8U}, {1U, 5U}, {4U, 32U}, {5U, 40U}})
    {
        CollectiveBench bench(H100Boxes(boxes));
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(ranks));
        for (const auto op : {CollectiveOp::AllReduce,
                              CollectiveOp::AllGather,
                              CollectiveOp::Broadcast,
                              CollectiveOp::AllToAll})
        {
            for (const int64_t bytes : {int64_t{4096}, int64_t{1000003}, int64_t{8} << 20})
            {
                ExpectSameTimes(bench,
                                MakeCall(id, op, Bytes(bytes)),
                                std::string(ToString(op)) + " of " + std::to_string(bytes) +
                                    " on " + std::to_string(ranks));
            }
        }
        for (const auto algorithm : {Algorithm::Ring, Algorithm::Tree})
        {
            ExpectSameTimes(
                bench,
                WithAlgorithm(MakeCall(id, CollectiveOp::AllReduce, Bytes(8 << 20)), algorithm),
                std::string(ToString(algorithm)) + " on " + std::to_string(ranks));
        }
    }
}

// Rings over identical nodes: every node is a shifted copy of the one before, so the folded
// schedule has the connections of one node, whatever the number of nodes. One leaf joins all nodes.
TEST(FoldedSchedule, OfARingOverAlikeBoxesIsThatOfOneBox)
{
    std::size_t of4 = 0;
    for (const uint32_t boxes : {4U, 8U, 16U})
    {
        CollectiveBench bench(H100Boxes(boxes));
        const uint32_t ranks = 8 * boxes;
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(ranks));
        const auto call = WithAlgorithm(
            MakeCall(id, CollectiveOp::AllReduce, Bytes(int64_t{ranks} << 20)), Algorithm::Ring);
        const Schedule& schedule = bench.GetPlanner().GetSchedule(call);
        const auto folded = FoldSchedule(schedule, ranks, bench.GetFabric().GetRouting());
        const std::size_t left = ConnectionCount(folded.schedule);
        EXPECT_LE(left, ConnectionCount(schedule) / boxes);
        of4 = boxes == 4 ? left : of4;
        EXPECT_EQ(left, of4);
        EXPECT_LE(folded.ranks, 8U);
    }
}

// In a chain every rank has a different position, so nothing can be folded.
TEST(FoldedSchedule, HasAllConnectionsWhereTooLittleIsAlike)
{
    CollectiveBench bench(H100Boxes(1));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8));
    const auto call = WithChannels(
        WithAlgorithm(MakeCall(id, CollectiveOp::Broadcast, Bytes(1 << 20)), Algorithm::Ring), 1);
    const Schedule& schedule = bench.GetPlanner().GetSchedule(call);
    const auto folded = FoldSchedule(schedule, 8, bench.GetFabric().GetRouting());
    EXPECT_EQ(ConnectionCount(folded.schedule), ConnectionCount(schedule));
    EXPECT_EQ(folded.ranks, 8U);
}

} // namespace
} // namespace weir
