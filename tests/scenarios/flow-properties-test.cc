// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/flows/flow-network.h"
#include "scenarios/flows/hpcc-topology.h"
#include "scenarios/flows/play-flows.h"
#include "scratch-folder.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <numeric>

/**
 * @file
 * Properties of all random flow patterns: every link conserves bytes, completion times are
 * proportional to bytes, halve with doubled rates, and do not depend on the numbering of hosts.
 */
namespace weir
{
namespace
{

constexpr uint32_t LEAVES = 4;
constexpr uint32_t HOSTS = 16; // four per leaf
constexpr uint32_t SPINE = HOSTS + LEAVES;

/**
 * A tree with one path per pair: hosts under leaves, leaves under one spine over uplinks of half
 * the hosts' total rate.
 */
std::string
Tree(double gbps, const std::string& latency)
{
    const auto link = [&](uint32_t a, uint32_t b, double rate) {
        return std::to_string(a) + " " + std::to_string(b) + " " + std::to_string(rate) + "Gbps " +
               latency + " 0\n";
    };
    std::string text = std::to_string(SPINE + 1) + " " + std::to_string(LEAVES + 1) + " " +
                       std::to_string(HOSTS + LEAVES) + "\n";
    for (uint32_t node = HOSTS; node <= SPINE; node++)
    {
        text += std::to_string(node) + " ";
    }
    text += "\n";
    for (uint32_t host = 0; host < HOSTS; host++)
    {
        text += link(host, HOSTS + host / LEAVES, gbps);
    }
    for (uint32_t leaf = 0; leaf < LEAVES; leaf++)
    {
        text += link(HOSTS + leaf, SPINE, 2 * gbps);
    }
    return text;
}

FileTraffic
Traffic(TrafficKind kind, int64_t bytes, uint64_t seed)
{
    FileTraffic traffic;
    traffic.spec.kind = kind;
    traffic.spec.sizes = SizeDistribution(Bytes(bytes));
    traffic.spec.senders = 7;
    traffic.spec.seed = seed;
    return traffic;
}

/** Flows simulated on a tree, and the tree. */
struct Played
{
    Played(const FileTraffic& traffic, double gbps = 100, const std::string& latency = "0ms")
    {
        const ScratchFolder folder;
        std::ofstream(folder / "tree.txt") << Tree(gbps, latency);
        network = std::make_unique<HostNetwork>(ReadHpccTopology(folder / "tree.txt"));
        flows = DrawFlows({traffic}, *network);
        PlainLoop loop;
        PlayFlows(flows, *network, loop, [](Time) {});
    }

    /** Completion times in ascending order. */
    std::vector<Time> Times() const
    {
        EXPECT_GT(flows.Size(), 0U);
        std::vector<Time> times;
        for (std::size_t flow = 0; flow < flows.Size(); flow++)
        {
            times.push_back(flows.CompletionTime(flow));
        }
        std::sort(times.begin(), times.end());
        return times;
    }

    std::unique_ptr<HostNetwork> network;
    FlowResults flows;
};

constexpr TrafficKind KINDS[] = {
    TrafficKind::Permutation, TrafficKind::Incast, TrafficKind::AllToAll};
constexpr uint64_t SEEDS = 8;

// Each link has carried the bytes of the flows whose path includes it.
TEST(FlowProperties, EveryLinkCarriesTheBytesOfItsFlows)
{
    for (const TrafficKind kind : KINDS)
    {
        Played played(Traffic(kind, 1234567, 3));
        const Topology& topology = played.network->GetSimulation().GetTopology();
        std::vector<double> expected(topology.LinkCount());
        Routing& routing = played.network->GetRouting();
        for (std::size_t flow = 0; flow < played.flows.Size(); flow++)
        {
            for (const auto& entry : routing.Paths().Links(played.flows.Path(flow, routing)))
            {
                expected[entry.link.Index()] += played.flows.GetBytes(flow).ToDouble();
            }
        }
        EXPECT_GT(*std::max_element(expected.begin(), expected.end()), 0);
        for (std::size_t link = 0; link < expected.size(); link++)
        {
            const double carried = played.network->GetTransport().GetLinkUsage(LinkId(link)).bytes;
            EXPECT_NEAR(carried, expected[link], 1 + 1e-9 * expected[link]) << ToString(kind);
        }
    }
}

// Max-min rates do not depend on bytes: with k times the bytes and no latency all flows take k
// times as long, so more bytes never take less time.
TEST(FlowProperties, TimesAreInProportionToBytes)
{
    for (const TrafficKind kind : KINDS)
    {
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
        {
            const auto once = Played(Traffic(kind, 1000000, seed)).Times();
            const auto thrice = Played(Traffic(kind, 3000000, seed)).Times();
            ASSERT_EQ(thrice.size(), once.size());
            for (std::size_t i = 0; i < once.size(); i++)
            {
                EXPECT_NEAR(thrice[i] / once[i], 3, 1e-6) << ToString(kind) << " " << seed;
            }
        }
    }
}

TEST(FlowProperties, DoubledRatesHalveTimes)
{
    for (const TrafficKind kind : KINDS)
    {
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
        {
            const auto slow = Played(Traffic(kind, 1000000, seed), 100).Times();
            const auto fast = Played(Traffic(kind, 1000000, seed), 200).Times();
            ASSERT_EQ(fast.size(), slow.size());
            for (std::size_t i = 0; i < slow.size(); i++)
            {
                EXPECT_NEAR(slow[i] / fast[i], 2, 1e-6) << ToString(kind) << " " << seed;
            }
        }
    }
}

// The same pattern between other hosts of the same leaves: only the names change.
TEST(FlowProperties, TimesDoNotKnowHowHostsAreNumbered)
{
    for (const TrafficKind kind : KINDS)
    {
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
        {
            FileTraffic traffic = Traffic(kind, 1000000, seed);
            traffic.endPoints.resize(HOSTS);
            std::iota(traffic.endPoints.begin(), traffic.endPoints.end(), 0);
            const auto times = Played(traffic, 100, "1us").Times();
            for (uint32_t host = 0; host < HOSTS; host++) // rotates leaves, and hosts within them
            {
                traffic.endPoints[host] = (host / 4 + 1) % LEAVES * 4 + (host + 1) % 4;
            }
            const auto turned = Played(traffic, 100, "1us").Times();
            ASSERT_EQ(turned.size(), times.size());
            for (std::size_t i = 0; i < times.size(); i++)
            {
                EXPECT_NEAR((turned[i] - times[i]).ToSeconds(), 0, 2e-12)
                    << ToString(kind) << " " << seed;
            }
        }
    }
}

TEST(FlowProperties, TheSameSeedGivesTheSameTimes)
{
    for (const TrafficKind kind : KINDS)
    {
        EXPECT_EQ(Played(Traffic(kind, 777777, 5)).Times(),
                  Played(Traffic(kind, 777777, 5)).Times());
    }
}

} // namespace
} // namespace weir
