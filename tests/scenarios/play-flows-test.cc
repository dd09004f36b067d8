// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/flows/play-flows.h"

#include "fabric/routing/routing-policies.h"
#include "tests/fabric/plain-sharing.h"
#include "tests/fabric/random-stream.h"
#include "tests/scenarios/flow-files.h"

#include <algorithm>
#include <map>
#include <set>

namespace weir
{
namespace
{

// Hosts 0, 1 -- switch 4 -- 8 Gb/s -- switch 5 -- hosts 2, 3, with 80 Gb/s at the edges and 1 us
// per link.
const char* const DUMBBELL =
    "6 2 5\n"
    "4 5\n"
    "0 4 80Gbps 1us 0\n"
    "1 4 80Gbps 1us 0\n"
    "4 5 8Gbps 0.001ms 0\n"
    "5 2 80000000000.0 1us 0\n"
    "5 3 80Gbps 0.000001 0\n";

// Uncontended: 3 us of latency, then 1 MB at 1 GB/s.
TEST(PlayFlows, AnUncontendedFlowTakesLatencyPlusBytesOverTheBottleneck)
{
    const auto played = PlayTexts(DUMBBELL, "1\n0 2 3 100 1000000 0.5\n");
    EXPECT_EQ(played.results.CompletionTime(0), Time::Microseconds(3 + 1000));
    EXPECT_EQ(played.results.IdealTime(0, played.network->GetTransport()),
              Time::Microseconds(1003));
    EXPECT_EQ(played.results.Finish(0), Time::Seconds(0.5) + Time::Microseconds(1003));
    EXPECT_EQ(played.Slowdown(0), 1);
}

// Both have 0.5 GB/s from 3 us on. The first (1 MB) ends at 2003 us, when the second has 1 MB of
// its 2 MB left, which take 1000 us uncontended.
TEST(PlayFlows, TwoFlowsShareTheBottleneckOfADumbbell)
{
    const auto played = PlayTexts(DUMBBELL, "2\n0 2 3 100 1000000 0\n1 3 3 100 2000000 0\n");
    EXPECT_EQ(played.results.Finish(0), Time::Microseconds(2003));
    EXPECT_EQ(played.results.Finish(1), Time::Microseconds(3003));
    EXPECT_NEAR(played.Slowdown(0), 2003.0 / 1003, 1e-12);
    EXPECT_EQ(played.run.maxActive, 2U);
}

// The second shares the link from 500 us + 3 us on, when the first has sent 0.5 MB. The first sends
// the rest at half rate in 1000 us. The second has then sent 0.5 MB and sends the rest uncontended
// in 500 us.
TEST(PlayFlows, AFlowSharesFromItsStartPlusLatencyOn)
{
    const auto played = PlayTexts(DUMBBELL, "2\n0 2 3 100 1000000 0\n1 3 3 100 1000000 0.0005\n");
    EXPECT_EQ(played.results.Finish(0), Time::Microseconds(3 + 500 + 1000));
    EXPECT_EQ(played.results.Finish(1), Time::Microseconds(503 + 1000 + 500));
}

// Full duplex: the directions of a link are independent.
TEST(PlayFlows, OppositeDirectionsDoNotShare)
{
    const auto played = PlayTexts(DUMBBELL, "2\n0 2 3 100 1000000 0\n2 0 3 100 1000000 0\n");
    EXPECT_EQ(played.Slowdown(0), 1);
    EXPECT_EQ(played.Slowdown(1), 1);
}

// Hosts 0, 1 -- switch 4 -- switch 5 -- hosts 2, 3 over two middle switches, 6 with 8 Gb/s and 7
// with 16 Gb/s. Of two flows that start concurrently each takes a path of its own and is
// uncontended: 1 MB in 4 us plus 1000 us or 500 us.
TEST(PlayFlows, AFlowIsComparedWithThePathThatItTook)
{
    const std::string topology =
        "8 4 8\n4 5 6 7\n0 4 80Gbps 1us 0\n1 4 80Gbps 1us 0\n"
        "2 5 80Gbps 1us 0\n3 5 80Gbps 1us 0\n4 6 8Gbps 1us 0\n"
        "6 5 8Gbps 1us 0\n4 7 16Gbps 1us 0\n7 5 16Gbps 1us 0\n";
    const auto played =
        PlayTexts(topology, "2\n0 2 3 100 1000000 0\n1 3 3 100 1000000 0\n", 1, AdaptiveRouting());
    const Time first = played.results.CompletionTime(0);
    const Time second = played.results.CompletionTime(1);
    EXPECT_EQ(std::min(first, second), Time::Microseconds(504));
    EXPECT_EQ(std::max(first, second), Time::Microseconds(1004));
    EXPECT_EQ(played.Slowdown(0), 1);
    EXPECT_EQ(played.Slowdown(1), 1);
}

TEST(PlayFlows, AFlowOfZeroBytesTakesItsLatency)
{
    const auto played = PlayTexts(DUMBBELL, "2\n0 2 3 100 0 0.25\n1 3 3 100 1000000 0.25\n");
    EXPECT_EQ(played.results.CompletionTime(0), Time::Microseconds(3));
    EXPECT_EQ(played.Slowdown(0), 1);
    EXPECT_EQ(played.Slowdown(1), 1);
}

// 5e9 bytes exceed 32 bits: 5 s at 1 GB/s.
TEST(PlayFlows, SizesHave64Bits)
{
    const auto played = PlayTexts(DUMBBELL, "1\n0 2 3 100 5000000000 0\n");
    EXPECT_EQ(played.results.CompletionTime(0), Time::Microseconds(5000003));
}

// Two flows of 6e6 bytes on a link of 1 B/s take 12e6 s, more than the 9.2e6 s that 64-bit
// picoseconds represent.
TEST(PlayFlows, AFlowThatOutlastsTimeIsNamed)
{
    const std::string slow = "3 1 2\n2\n0 2 8bps 1us 0\n1 2 8bps 1us 0\n";
    try
    {
        PlayTexts(slow, "3\n0 1 3 100 1 0\n1 0 3 100 6000000 0\n1 0 3 100 6000000 0\n");
        FAIL() << "a run that cannot end has ended";
    }
    catch (const std::runtime_error& error)
    {
        EXPECT_STREQ(error.what(),
                     "flow 1 (1 to 0) does not end within the maximum simulated time of 106 days");
    }
}

// Times do not depend on the order of rows, and results keep it.
TEST(PlayFlows, TheOrderOfTheFileDoesNotMatter)
{
    const auto sorted = PlayTexts(
        DUMBBELL, "src,dst,bytes,start_s\n0,2,1000000,0\n1,3,3000000,0.0005\n0,3,7,0.001\n");
    const auto shuffled = PlayTexts(
        DUMBBELL, "src,dst,bytes,start_s\n0,3,7,0.001\n0,2,1000000,0\n1,3,3000000,0.0005\n");
    EXPECT_TRUE(sorted.results.IsSortedByStart());
    EXPECT_FALSE(shuffled.results.IsSortedByStart());
    EXPECT_EQ(shuffled.results.Finish(0), sorted.results.Finish(2));
    EXPECT_EQ(shuffled.results.Finish(1), sorted.results.Finish(0));
    EXPECT_EQ(shuffled.results.Finish(2), sorted.results.Finish(1));
}

// Two links of 1 GB/s join the switches. Each flow uses one of them, so two flows take 1 ms each
// (on different links) or 2 ms each (on the same); over seeds both occur.
TEST(PlayFlows, ParallelLinksAreDistinct)
{
    const std::string topology =
        "6 2 6\n4 5\n"
        "0 4 80Gbps 0ns 0\n1 4 80Gbps 0ns 0\n"
        "4 5 8Gbps 0ns 0\n4 5 8Gbps 0ns 0\n"
        "5 2 80Gbps 0ns 0\n5 3 80Gbps 0ns 0\n";
    std::set<double> seen;
    for (uint64_t seed = 1; seed <= 20; seed++)
    {
        const auto played =
            PlayTexts(topology, "2\n0 2 3 100 1000000 0\n1 3 3 100 1000000 0\n", seed);
        EXPECT_EQ(played.Slowdown(0), played.Slowdown(1));
        seen.insert(played.Slowdown(0));
    }
    EXPECT_EQ(seen, (std::set<double>{1, 2}));
}

/** Two edge switches joined by @p spines others; hosts 0 and 1 are each attached to one edge. */
std::string
Spines(int spines)
{
    std::string switches = "2 3";
    std::string links = "0 2 100Gbps 1us 0\n1 3 100Gbps 1us 0\n";
    for (int spine = 4; spine < 4 + spines; spine++)
    {
        const std::string id = std::to_string(spine);
        switches += " " + id;
        links += "2 " + id + " 100Gbps 1us 0\n3 " + id + " 100Gbps 1us 0\n";
    }
    return std::to_string(4 + spines) + " " + std::to_string(2 + spines) + " " +
           std::to_string(2 + 2 * spines) + "\n" + switches + "\n" + links;
}

// Flows of one pair have distinct source ports: of 800 flows over 8 equal paths each path gets 100
// +- 47, five standard deviations of the binomial distribution, sqrt(800 x 1/8 x 7/8) = 9.4.
TEST(PlayFlows, EcmpSpreadsTheFlowsOfAPair)
{
    const TextFile topology(Spines(8));
    std::string text = "800\n";
    for (int flow = 0; flow < 800; flow++)
    {
        text += "0 1 3 100 1000 0\n";
    }
    const TextFile flows(text);
    HostNetwork network(ReadHpccTopology(topology.Path()));
    FlowFile file(flows.Path());
    const FlowResults read = ReadFlows(file, network);
    std::map<PathId, int> onPath;
    for (std::size_t flow = 0; flow < read.Size(); flow++)
    {
        onPath[read.Path(flow, network.GetRouting())]++;
    }
    ASSERT_EQ(onPath.size(), 8U);
    for (const auto& [path, count] : onPath)
    {
        EXPECT_NEAR(count, 100, 47);
    }
}

PathId
PathOf(FlowNetwork& network, uint32_t source, uint32_t destination, const FlowPorts& ports)
{
    const RouteId route = network.FindRoute(source, destination, ports);
    return network.GetRouting().PlannedPath(route);
}

// Eight values of one header field over 64 equal paths all hash to one path with probability 64^-7,
// unless the field is not hashed.
TEST(PlayFlows, PortsAndPriorityGroupEnterTheHash)
{
    const TextFile topology(Spines(64));
    HostNetwork network(ReadHpccTopology(topology.Path()));
    std::set<PathId> bySourcePort;
    std::set<PathId> byDestinationPort;
    std::set<PathId> byPriorityGroup;
    for (uint16_t value = 0; value < 8; value++)
    {
        bySourcePort.insert(PathOf(network, 0, 1, {value, 100, 3}));
        byDestinationPort.insert(PathOf(network, 0, 1, {10000, value, 3}));
        byPriorityGroup.insert(PathOf(network, 0, 1, {10000, 100, value}));
    }
    EXPECT_GT(bySourcePort.size(), 1U);
    EXPECT_GT(byDestinationPort.size(), 1U);
    EXPECT_GT(byPriorityGroup.size(), 1U);
    EXPECT_EQ(PathOf(network, 0, 1, {1, 2, 3}), PathOf(network, 0, 1, {1, 2, 3}));
}

/** A random tree of switches with hosts on them: every path is unique. */
std::string
RandomTree(RandomStream& random, int hosts, int switches)
{
    std::string text = std::to_string(hosts + switches) + " " + std::to_string(switches) + " " +
                       std::to_string(hosts + switches - 1) + "\n";
    for (int s = 0; s < switches; s++)
    {
        text += std::to_string(hosts + s) + " ";
    }
    text += "\n";
    const auto link = [&](int a, int b) {
        text += std::to_string(a) + " " + std::to_string(b) + " " +
                std::to_string(1 + random.Below(100)) + "Gbps " +
                std::to_string(random.Below(5000)) + "ns 0\n";
    };
    for (int s = 1; s < switches; s++)
    {
        link(hosts + s, hosts + static_cast<int>(random.Below(static_cast<uint64_t>(s))));
    }
    for (int h = 0; h < hosts; h++)
    {
        link(h, hosts + static_cast<int>(random.Below(static_cast<uint64_t>(switches))));
    }
    return text;
}

std::string
RandomFlows(RandomStream& random, int hosts, int flows)
{
    std::string text = "src,dst,bytes,start_s\n";
    for (int flow = 0; flow < flows; flow++)
    {
        const uint64_t source = random.Below(static_cast<uint64_t>(hosts));
        const uint64_t step = 1 + random.Below(static_cast<uint64_t>(hosts) - 1);
        text += std::to_string(source) + "," +
                std::to_string((source + step) % static_cast<uint64_t>(hosts)) + "," +
                std::to_string(random.OneIn(10) ? 0 : random.Below(2'000'000)) + "," +
                std::to_string(static_cast<double>(random.Below(200)) * 1e-6) + "\n";
    }
    return text;
}

/** Completion times of the oracle's event loop. */
std::vector<Time>
OracleFinishes(const PlayedFlows& played)
{
    const Routing& routing = played.network->GetRouting();
    const Topology& topology = routing.GetTopology();
    PlainSharing plain;
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        plain.capacities.push_back(topology.GetLink(LinkId(i)).rate.ToBytesPerSecond());
    }
    for (std::size_t flow = 0; flow < played.results.Size(); flow++)
    {
        const RouteId route = played.results.Route(flow);
        PlainTransfer transfer{{{}, 1, std::numeric_limits<double>::infinity()}, 0, Time()};
        for (const PathLink& link : routing.Links(route))
        {
            transfer.flow.links.emplace_back(link.link.Index(), link.multiplicity);
        }
        transfer.left = played.results.GetBytes(flow).ToDouble();
        transfer.sharesFrom = played.results.Start(flow) + routing.Latency(route);
        plain.transfers.push_back(transfer);
    }
    for (Time next = plain.Next(); !next.IsInfinite(); next = plain.Next())
    {
        plain.AdvanceTo(next);
    }
    std::vector<Time> finishes;
    for (const auto& transfer : plain.transfers)
    {
        finishes.push_back(transfer.finish);
    }
    return finishes;
}

// Unique paths leave no choice of routing: completion times are those of a plain progressive
// filling. Both round every event to a picosecond, which gives the tolerance.
TEST(PlayFlows, AgreesWithProgressiveFillingOnRandomTrees)
{
    for (uint64_t seed = 1; seed <= 40; seed++)
    {
        RandomStream random(seed);
        const int hosts = 3 + static_cast<int>(random.Below(8));
        const std::string topology =
            RandomTree(random, hosts, 1 + static_cast<int>(random.Below(5)));
        const auto played = PlayTexts(topology, RandomFlows(random, hosts, 40));
        const auto finishes = OracleFinishes(played);
        ASSERT_EQ(finishes.size(), 40U);
        for (std::size_t flow = 0; flow < finishes.size(); flow++)
        {
            EXPECT_NEAR(static_cast<double>(played.results.Finish(flow).ToPicoseconds()),
                        static_cast<double>(finishes[flow].ToPicoseconds()),
                        2)
                << "seed " << seed << ", flow " << flow;
        }
    }
}

} // namespace
} // namespace weir
