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

NcclFilter
Algorithms(const std::string& text)
{
    NcclFilter filter;
    filter.SetAlgorithms(text);
    return filter;
}

// The example of NCCL's parseList: ring and collnetdirect for all operations, then others for two
// of them.
TEST(NcclFilter, ReadsNcclsSyntax)
{
    const auto filter =
        Algorithms("ring,CollnetDirect;allreduce:tree,collnetdirect;broadcast:ring");
    EXPECT_TRUE(filter.Allows(CollectiveOp::Reduce, Algorithm::Ring));
    EXPECT_TRUE(filter.Allows(CollectiveOp::AllGather, Algorithm::CollNetDirect));
    EXPECT_FALSE(filter.Allows(CollectiveOp::AllGather, Algorithm::Pat));
    EXPECT_TRUE(filter.Allows(CollectiveOp::AllReduce, Algorithm::Tree));
    EXPECT_FALSE(filter.Allows(CollectiveOp::AllReduce, Algorithm::Ring));
    EXPECT_FALSE(filter.Allows(CollectiveOp::Broadcast, Algorithm::CollNetDirect));
    EXPECT_TRUE(filter.Allows(CollectiveOp::AllToAll, Algorithm::PointToPoint));
}

TEST(NcclFilter, InvertsAndLeavesOtherOperationsAlone)
{
    const auto filter = Algorithms("allreduce:^nvls,nvls-tree");
    EXPECT_FALSE(filter.Allows(CollectiveOp::AllReduce, Algorithm::Nvls));
    EXPECT_FALSE(filter.Allows(CollectiveOp::AllReduce, Algorithm::NvlsTree));
    EXPECT_TRUE(filter.Allows(CollectiveOp::AllReduce, Algorithm::Ring));
    EXPECT_TRUE(filter.Allows(CollectiveOp::AllGather, Algorithm::Nvls));
    NcclFilter protocols;
    protocols.SetProtocols("^LL128;allreduce:LL128");
    EXPECT_FALSE(protocols.Allows(CollectiveOp::AllGather, Protocol::Ll128));
    EXPECT_TRUE(protocols.Allows(CollectiveOp::AllGather, Protocol::Ll));
    EXPECT_TRUE(protocols.Allows(CollectiveOp::AllReduce, Protocol::Ll128));
    EXPECT_FALSE(protocols.Allows(CollectiveOp::AllReduce, Protocol::Simple));
}

TEST(NcclFilter, RefusesWhatNcclHasNoNameFor)
{
    for (const char* text : {"", "rings", "ring,", "allreduce", "ring;tree", "alltoall:ring", "^"})
    {
        EXPECT_THROW(Algorithms(text), std::invalid_argument) << text;
    }
}

// The planner chooses the best of the allowed combinations by the cost model; an operation without
// an allowed combination is refused, as NCCL does.
TEST(NcclFilter, LeavesTheChoiceAmongWhatItAllows)
{
    const auto chosen = [](const std::string& algorithms, const std::string& protocols) {
        NcclSettings settings;
        settings.filter.SetAlgorithms(algorithms);
        settings.filter.SetProtocols(protocols);
        CollectiveBench bench(H100Boxes(1), settings);
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8));
        const auto& plan =
            bench.GetPlanner().Plan(MakeCall(id, CollectiveOp::AllReduce, Bytes::MiB(64)));
        return std::make_pair(plan.algorithm, plan.protocol);
    };
    using Pair = std::pair<Algorithm, Protocol>;
    EXPECT_EQ(chosen("^pat", "^ll"), Pair(Algorithm::Nvls, Protocol::Simple));
    EXPECT_EQ(chosen("^nvls,nvlstree", "^ll"), Pair(Algorithm::Ring, Protocol::Simple));
    EXPECT_EQ(chosen("^nvls", "ll,ll128").second, Protocol::Ll128);
    EXPECT_EQ(chosen("allreduce:tree", "ll").first, Algorithm::Tree);
    EXPECT_THROW(chosen("pat", "ll"), std::invalid_argument);
    EXPECT_THROW(chosen("nvls", "ll"), std::invalid_argument);
}

// Before 2.24 NCCL_ALGO took rings from all-reduce only; since then it is strict.
TEST(NcclFilter, LeavesRingsToOtherOperationsBefore224)
{
    const auto chosen = [](const char* version, CollectiveOp op) {
        NcclSettings settings(version);
        settings.filter.SetAlgorithms("tree");
        CollectiveBench bench(H100Boxes(2), settings);
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(16));
        return bench.GetPlanner().Plan(MakeCall(id, op, Bytes::MiB(64))).algorithm;
    };
    for (const char* version : {"2.7.8", "2.18.5", "2.23.4"})
    {
        EXPECT_EQ(chosen(version, CollectiveOp::AllReduce), Algorithm::Tree) << version;
        EXPECT_EQ(chosen(version, CollectiveOp::AllGather), Algorithm::Ring) << version;
        EXPECT_EQ(chosen(version, CollectiveOp::Broadcast), Algorithm::Ring) << version;
    }
    EXPECT_EQ(chosen("2.24.3", CollectiveOp::AllReduce), Algorithm::Tree);
    EXPECT_THROW(chosen("2.24.3", CollectiveOp::AllGather), std::invalid_argument);
}

} // namespace
} // namespace weir
