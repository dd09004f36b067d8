// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/nccl-settings.h"

#include "collective-bench.h"
#include "reference-machines.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace weir
{
namespace
{

TEST(TunerRule, ReadsTheColumnsOfTheExamplePlugin)
{
    const auto rules = ParseTunerRules(
        "# a comment\n"
        "collective_type,min_bytes,max_bytes,algorithm,protocol,"
        "channels,nNodes,nRanks\n"
        "\n"
        "allreduce, 0, 65536, tree, ll, 2, 4, -1, -1, 0\r\n"
        "reducescatter,1,2,-1,-1,-1,-1,-1\n"
        "all-gather,1,2,collnet_direct,simple,-1,-1,8",
        "t.csv");
    ASSERT_EQ(rules.size(), 3U);
    EXPECT_EQ(rules[0].op, CollectiveOp::AllReduce);
    EXPECT_EQ(rules[0].maxBytes, Bytes::KiB(64));
    EXPECT_EQ(rules[0].algorithm, Algorithm::Tree);
    EXPECT_EQ(rules[0].protocol, Protocol::Ll);
    EXPECT_EQ(rules[0].channels, 2U);
    EXPECT_EQ(rules[0].nodes, 4U);
    EXPECT_FALSE(rules[0].ranks);
    EXPECT_EQ(rules[1].op, CollectiveOp::ReduceScatter);
    EXPECT_FALSE(rules[1].algorithm);
    EXPECT_EQ(rules[2].algorithm, Algorithm::CollNetDirect);
    EXPECT_EQ(rules[2].ranks, 8U);
}

TEST(TunerRule, FitsItsSizesNodesAndRanks)
{
    const auto rule = ParseTunerRules("allreduce,16,32,ring,ll,1,2,-1", "t.csv").front();
    EXPECT_TRUE(rule.Fits(CollectiveOp::AllReduce, Bytes(16), 2, 7));
    EXPECT_TRUE(rule.Fits(CollectiveOp::AllReduce, Bytes(32), 2, 16));
    EXPECT_FALSE(rule.Fits(CollectiveOp::AllReduce, Bytes(33), 2, 16));
    EXPECT_FALSE(rule.Fits(CollectiveOp::AllReduce, Bytes(16), 1, 16));
    EXPECT_FALSE(rule.Fits(CollectiveOp::AllGather, Bytes(16), 2, 16));
}

// Calls are groups of one (numPipeOps 1), and their buffers are not registered (regBuff 0).
TEST(TunerRule, OfOtherCallsFitsNone)
{
    const auto fits = [](const std::string& ends) {
        return ParseTunerRules("allreduce,16,32,ring,ll,1,-1,-1" + ends, "t.csv")
            .front()
            .Fits(CollectiveOp::AllReduce, Bytes(16), 2, 16);
    };
    EXPECT_TRUE(fits(""));
    EXPECT_TRUE(fits(",-1,-1"));
    EXPECT_TRUE(fits(",1,0"));
    EXPECT_FALSE(fits(",2,0"));
    EXPECT_FALSE(fits(",-1,1"));
}

TEST(TunerRule, RefusesWithThePlace)
{
    const auto error = [](const std::string& text) {
        try
        {
            ParseTunerRules(text, "t.csv");
        }
        catch (const std::invalid_argument& e)
        {
            return std::string(e.what());
        }
        return std::string();
    };
    EXPECT_EQ(error("\nallreduce,0,1"), "t.csv:2: found 3 columns, expected 8 to 10");
    EXPECT_EQ(error("allreduce,0,x,ring,ll,1,1,1"),
              "t.csv:1, column 3 (max_bytes): found 'x', expected a whole number from 0 on");
    EXPECT_EQ(error("allreduce,2,1,ring,ll,1,1,1"),
              "t.csv:1, column 3 (max_bytes): found '1', expected at least min_bytes");
    EXPECT_EQ(error("allreduce,0,1,ring,ll,0,1,1"),
              "t.csv:1, column 6 (channels): found '0', expected -1 or a count from 1 on");
    EXPECT_EQ(error("allreduce,0,1,ring,ll256,1,1,1"),
              "t.csv:1, column 5 (protocol): found 'll256', expected one of: ll, ll128, simple");
    EXPECT_NE(error("allreduce,0,1,star,ll,1,1,1").find("column 4 (algorithm): found 'star'"),
              std::string::npos);
}

// The first matching rule decides what the call leaves open; the call's own overrides take
// precedence.
TEST(TunerRule, DecidesCallsInAPlanner)
{
    Fabric fabric(H100Boxes(1));
    NcclSettings settings;
    settings.tuner = ParseTunerRules(
        "allreduce,0,1048576,ring,simple,3,-1,8\n"
        "allreduce,0,1048576,ring,ll,5,-1,8",
        "t.csv");
    Planner planner(fabric.GetCluster(), fabric.GetRouting(), settings);
    const auto id = planner.AddCommunicator(FirstGpus(8));
    const auto small = planner.Plan(MakeCall(id, CollectiveOp::AllReduce, Bytes(96)));
    EXPECT_EQ(small.protocol, Protocol::Simple);
    EXPECT_EQ(small.channels, 3U);
    const auto own = planner.Plan(
        WithProtocol(MakeCall(id, CollectiveOp::AllReduce, Bytes(96)), Protocol::Ll128));
    EXPECT_EQ(own.protocol, Protocol::Ll128);
    EXPECT_EQ(own.channels, 3U);
    const auto other = planner.AddCommunicator(FirstGpus(4));
    EXPECT_EQ(planner.Plan(MakeCall(other, CollectiveOp::AllReduce, Bytes(96))).protocol,
              Protocol::Ll);
}

} // namespace
} // namespace weir
