// SPDX-License-Identifier: GPL-2.0-only
#include "scripts/bench/fluid-pattern.h"

#include "scripts/bench/fluid-fabric.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

namespace weir
{
namespace
{

const std::vector<std::string> PATTERNS{
    "ring", "tree", "all-to-all", "all-to-all-random", "permutation", "incast", "mix"};

/** The number of flows has a closed form, except for the background of a mix. */
TEST(FluidPattern, CountsAreThoseOfTheirDefinitions)
{
    for (const uint32_t n : {2u, 3u, 16u, 64u})
    {
        const auto count = [n](const char* name) { return MakePattern(name, n, 1)->Count(); };
        EXPECT_EQ(count("ring"), 2 * (n - 1) * n);
        EXPECT_EQ(count("tree"), 2 * 2 * 32 * (n - 1));
        EXPECT_EQ(count("all-to-all"), n * (n - 1));
        EXPECT_EQ(count("all-to-all-random"), n * (n - 1));
        EXPECT_EQ(count("permutation"), n);
        EXPECT_EQ(count("incast"), n - 1);
        EXPECT_EQ(count("none"), 0U);
        EXPECT_GT(count("mix"), 2 * (n - 1) * n); // the rings and the background
    }
}

// Dependencies are stored in both directions, as counts of predecessors and as lists of successors.
// A schedule that starts every flow exactly once exists only if both agree and there is no cycle.
TEST(FluidPattern, EveryFlowStartsOnceWhenAllThatItWaitsForHaveEnded)
{
    for (const std::string& name : PATTERNS)
    {
        for (const uint32_t n : {2u, 3u, 16u, 37u, 64u, 128u})
        {
            if (name == "mix" && n > 64 && n % 64 != 0)
            {
                continue;
            }
            const auto pattern = MakePattern(name, n, 1);
            std::vector<uint32_t> ended(pattern->Count(), 0);
            std::vector<uint32_t> ready;
            for (uint32_t flow = 0; flow < pattern->Count(); flow++)
            {
                if (pattern->Waits(flow) == 0)
                {
                    ready.push_back(flow);
                }
            }
            std::size_t started = 0;
            for (; started < ready.size(); started++)
            {
                std::vector<uint32_t> followers;
                pattern->AddFollowers(ready[started], followers);
                for (const uint32_t follower : followers)
                {
                    ASSERT_LT(follower, pattern->Count()) << name;
                    if (++ended[follower] == pattern->Waits(follower))
                    {
                        ready.push_back(follower);
                    }
                }
            }
            ASSERT_EQ(started, pattern->Count()) << name << " on " << n;
            for (uint32_t flow = 0; flow < pattern->Count(); flow++)
            {
                ASSERT_EQ(ended[flow], pattern->Waits(flow)) << name << " on " << n;
            }
        }
    }
}

TEST(FluidPattern, FlowsJoinDifferentRanksAndStartInOrder)
{
    for (const std::string& name : PATTERNS)
    {
        const auto pattern = MakePattern(name, 64, 1);
        double last = 0;
        for (uint32_t number = 0; number < pattern->Count(); number++)
        {
            const FluidFlow flow = pattern->Flow(number);
            ASSERT_LT(flow.source, 64U) << name;
            ASSERT_LT(flow.destination, 64U) << name;
            ASSERT_NE(flow.source, flow.destination) << name;
            ASSERT_GT(flow.bytes, 0) << name;
            if (pattern->Waits(number) == 0)
            {
                ASSERT_GE(flow.start, last) << name;
                last = flow.start;
            }
        }
    }
}

// In a ring all-reduce every rank sends 2 (n-1)/n of the data. A tree all-reduce sends half of the
// data once up and once down each edge of two trees; with at most three edges in one tree and one
// in the other, a rank sends at most twice the data.
TEST(FluidPattern, AllReducesSendWhatTheyMust)
{
    constexpr double GIB = 1073741824;
    constexpr uint32_t N = 16;
    for (const char* name : {"ring", "tree"})
    {
        const auto pattern = MakePattern(name, N, 1);
        std::vector<double> sent(N, 0);
        std::vector<double> received(N, 0);
        for (uint32_t number = 0; number < pattern->Count(); number++)
        {
            sent[pattern->Flow(number).source] += pattern->Flow(number).bytes;
            received[pattern->Flow(number).destination] += pattern->Flow(number).bytes;
        }
        EXPECT_EQ(sent, received) << name;
        double total = 0;
        for (const double bytes : sent)
        {
            total += bytes;
            EXPECT_LE(bytes, 2 * GIB) << name;
        }
        EXPECT_DOUBLE_EQ(total, 2 * (N - 1) * GIB) << name;
    }
}

TEST(FluidPattern, AllToAllMeetsEveryPairOnceAndAPermutationEveryRank)
{
    constexpr uint32_t N = 16;
    const auto allToAll = MakePattern("all-to-all-random", N, 1);
    std::set<std::pair<uint32_t, uint32_t>> pairs;
    double sum = 0;
    for (uint32_t i = 0; i < allToAll->Count(); i++)
    {
        pairs.insert({allToAll->Flow(i).source, allToAll->Flow(i).destination});
        sum += allToAll->Flow(i).bytes;
    }
    EXPECT_EQ(pairs.size(), N * (N - 1));
    // Uniform from 0.5 to 1.5 MiB: standard deviation 1 MiB / sqrt(12); five standard errors.
    EXPECT_NEAR(sum / allToAll->Count() / 1048576, 1, 5 / std::sqrt(12.0 * allToAll->Count()));
    const auto permutation = MakePattern("permutation", N, 1);
    std::map<uint32_t, uint32_t> next;
    for (uint32_t i = 0; i < N; i++)
    {
        next[permutation->Flow(i).source] = permutation->Flow(i).destination;
    }
    uint32_t rank = 0;
    for (uint32_t steps = 1; steps <= N; steps++)
    {
        rank = next.at(rank);
        EXPECT_EQ(rank == 0, steps == N); // one cycle through all
    }
}

TEST(FluidPattern, WrongNamesAndSizesAreRefused)
{
    EXPECT_THROW(MakePattern("rings", 8, 1), std::invalid_argument);
    EXPECT_THROW(MakePattern("ring", 1, 1), std::invalid_argument);
    EXPECT_THROW(MakePattern("ring", 65536, 1), std::invalid_argument);
    EXPECT_THROW(MakePattern("mix", 100, 1), std::invalid_argument);
    EXPECT_THROW(FluidFabric("torus", 8), std::invalid_argument);
}

// D-mod-k routing: the 16 ranks of a leaf are reached over distinct spines if there are 16 of them,
// and over two per spine if there are 8.
TEST(FluidFabric, SpinesAreSharedEvenlyAmongTheRanksOfALeaf)
{
    const std::map<std::string, std::size_t> ranksOnALink{
        {"clos", 1}, {"rail", 1}, {"fat-tree", 2}};
    for (const auto& [name, max] : ranksOnALink)
    {
        const uint32_t n = 512;
        const FluidFabric fabric(name, n);
        std::map<uint32_t, std::set<uint32_t>> reached; // by the link down to the leaf
        for (uint32_t source = 0; source < n; source++)
        {
            for (uint32_t destination = 0; destination < n; destination++)
            {
                if (source == destination)
                {
                    continue;
                }
                const auto route = fabric.Route(source, destination);
                ASSERT_TRUE(route.size() == 2 || route.size() == 4);
                double latency = 0;
                for (const uint32_t link : route)
                {
                    ASSERT_LT(link, fabric.Links().size());
                    latency += fabric.Links()[link].latency;
                }
                ASSERT_DOUBLE_EQ(latency, 1e-6) << name;
                if (route.size() == 4)
                {
                    reached[route[2]].insert(destination);
                }
            }
        }
        ASSERT_EQ(reached.size(), n / max) << name;
        for (const auto& [link, destinations] : reached)
        {
            ASSERT_EQ(destinations.size(), max) << name;
        }
    }
}

// Nodes of 8 ranks: ranks of one node connect over NVLink (450 GB/s), ranks of one rail in one
// leaf.
TEST(FluidFabric, RailsKeepToTheirLeaf)
{
    const FluidFabric fabric("rail", 256);
    const auto inNode = fabric.Route(8, 15);
    ASSERT_EQ(inNode.size(), 2U);
    EXPECT_EQ(fabric.Links()[inNode[0]].bytesPerSecond, 450e9);
    EXPECT_EQ(fabric.Route(3, 8 * 15 + 3).size(), 2U);
    EXPECT_EQ(fabric.Route(3, 8 * 15 + 4).size(), 4U);
    EXPECT_EQ(fabric.Route(3, 8 * 16 + 3).size(), 4U); // beyond the 16 nodes of a leaf
    EXPECT_EQ(fabric.Links()[fabric.Route(3, 11)[0]].bytesPerSecond, 50e9);
}

} // namespace
} // namespace weir
