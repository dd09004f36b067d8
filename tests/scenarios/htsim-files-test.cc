// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/routing-policies.h"
#include "fabric/transport/packet/congestion/nscc.h"
#include "fabric/transport/packet/congestion/rccc.h"
#include "scenarios/flows/htsim-topology.h"
#include "tests/scenarios/flow-files.h"
#include "tests/scenarios/refusal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace weir
{
namespace
{

/**
 * A fat tree of 16 hosts in pods of four: two edge and two aggregation switches per pod, four core
 * switches.
 */
const char* const FAT_TREE =
    "# k = 4\n"
    "Nodes 16\n"
    "Tiers 3\n"
    "PodSize 4\n"
    "Tier 0\n"
    "Downlink_speed_Gbps 100\n"
    "Radix_Up 2\n"
    "Radix_Down 2\n"
    "Downlink_Latency_ns 1000\n"
    "Tier 1\n"
    "Downlink_speed_Gbps 100\n"
    "Radix_Up 2\n"
    "Radix_Down 2\n"
    "Bundle 1\n"
    "Downlink_Latency_ns 1000\n"
    "Tier 2\n"
    "Downlink_speed_Gbps 100\n"
    "Radix_Down 4\n"
    "Bundle 1\n"
    "Downlink_Latency_ns 1000\n";

std::string
TopologyRefusal(const std::string& text)
{
    const TextFile file(text);
    return file.Strip(RefusalOf([&] { ReadHtsimTopology(file.Path()); }));
}

/** Error message for a connection file of this text on FAT_TREE, without the file's name. */
std::string
FlowRefusal(const std::string& text)
{
    const TextFile topology(FAT_TREE);
    const TextFile flows(text);
    return flows.Strip(RefusalOf([&] {
        HostNetwork network(ReadHtsimTopology(topology.Path()));
        FlowFile file(flows.Path());
        ReadFlows(file, network);
    }));
}

/** k^3 / 4 hosts, k^2 edge and aggregation switches, k^2 / 4 core switches, 3 k^3 / 4 cables. */
TEST(HtsimFiles, AFatTreeHasItsSwitchesAndCables)
{
    const TextFile file(FAT_TREE);
    const Topology topology = ReadHtsimTopology(file.Path());
    std::map<DeviceKind, unsigned> count;
    for (std::size_t i = 0; i < topology.DeviceCount(); i++)
    {
        count[topology.GetDevice(DeviceId(i)).kind]++;
    }
    EXPECT_EQ(count[DeviceKind::Host], 16u);
    EXPECT_EQ(count[DeviceKind::LeafSwitch], 8u);
    EXPECT_EQ(count[DeviceKind::SpineSwitch], 8u);
    EXPECT_EQ(count[DeviceKind::CoreSwitch], 4u);
    EXPECT_EQ(topology.LinkCount(), 2u * 48);
    EXPECT_EQ(topology.GetDevice(DeviceId(15)).name, "host15");
}

/**
 * The delay of a switch applies to arriving packets: up the tree that of the upper switch, down
 * that of the lower.
 */
TEST(HtsimFiles, SwitchesDelayWhatComesToThem)
{
    const TextFile file(
        "Nodes 4\nTiers 2\nPodsize 4\n"
        "Tier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 4\n"
        "Downlink_Latency_ns 10\nSwitch_Latency_ns 300\n"
        "Tier 1\nDownlink_speed_Gbps 200\nRadix_Down 4\nBundle 2\n"
        "Downlink_Latency_ns 20\nSwitch_Latency_ns 500\n");
    const Topology topology = ReadHtsimTopology(file.Path());
    EXPECT_EQ(topology.DeviceCount(), 4u + 2 + 2); // bundles of two: two spines
    EXPECT_EQ(topology.LinkCount(), 2u * (4 + 2 * 4));
    const auto latency = [&](const char* name) {
        for (std::size_t i = 0; i < topology.LinkCount(); i++)
        {
            if (topology.LinkName(LinkId(i)) == name)
            {
                return topology.GetLink(LinkId(i)).latency;
            }
        }
        return Time::Infinite();
    };
    EXPECT_EQ(latency("host0->tor0"), Time::Nanoseconds(310));
    EXPECT_EQ(latency("tor0->host0"), Time::Nanoseconds(10));
    EXPECT_EQ(latency("tor0->spine1"), Time::Nanoseconds(520));
    EXPECT_EQ(latency("spine1->tor0"), Time::Nanoseconds(320));
}

TEST(HtsimFiles, RefusesTreesThatDoNotFit)
{
    std::string text = FAT_TREE;
    EXPECT_EQ(TopologyRefusal("Nodes x\n"),
              "1: Nodes: found 'x', expected a whole number from 1 to 1048576");
    EXPECT_EQ(TopologyRefusal("Radix_Up 2\n"),
              "1: key: found 'Radix_Up', expected the line Tier before it");
    EXPECT_NE(TopologyRefusal("Nodes 4\nPodsiez 2\n").find("did you mean 'podsize'"),
              std::string::npos);
    EXPECT_EQ(TopologyRefusal("Nodes 4\nTier 0\nBundle 1\nTier 1\nBundle 2\nTier 0\nBundle 1\n"),
              "7: key: found 'Bundle', expected each key once, those of a tier once in each");
    EXPECT_EQ(TopologyRefusal("Nodes 4\nnodes 8\n"),
              "2: key: found 'nodes', expected each key once, those of a tier once in each");
    EXPECT_EQ(TopologyRefusal("Nodes 4\nTiers 2\n"),
              "2: found no Downlink_speed_Gbps of tier 0, expected one");
    EXPECT_EQ(TopologyRefusal(text.replace(text.find("Nodes 16"), 8, "Nodes 18")),
              "20: found 18 and 4, expected Nodes to be a multiple of Podsize");
}

/**
 * htsim's one.cm: 2 MB over six links of 100 Gb/s and 1 us in packets of 4086 + 64 bytes take 176.2
 * us until the last acknowledgment.
 */
TEST(HtsimFiles, OneFlowTakesWhatHtsimPrints)
{
    const TextFile topology(FAT_TREE);
    const TextFile flows("Nodes 16\nConnections 1\n0->13 id 1 start 5 size 2000000\n");
    PacketSpec packets;
    packets.format.mtu = Bytes(4086);
    packets.format.header = 64;
    packets.format.controlSize = Bytes(64);
    packets.queuePair.flowEnd = FlowEnd::Acknowledged;
    FabricSpec fabric;
    HostNetwork network(ReadHtsimTopology(topology.Path()), fabric, {packets});
    FlowFile file(flows.Path());
    FlowResults results = ReadFlows(file, network);
    PlainLoop loop;
    PlayFlows(results, network, loop, [](Time) {});
    ASSERT_EQ(results.Size(), 1u);
    EXPECT_EQ(results.Start(0), Time::Microseconds(5));
    EXPECT_NEAR((results.Finish(0) - results.Start(0)).ToMicroseconds(), 176.2, 0.05);
}

TEST(HtsimFiles, RefusesConnectionsThatCannotBePlayed)
{
    const std::string head = "Nodes 16\nConnections 1\n";
    EXPECT_EQ(FlowRefusal("Nodes 16\n0->1 start 0 size 1\n"),
              "2: found no line Connections after Nodes, expected the number of flows");
    EXPECT_EQ(FlowRefusal(head),
              "2: found the end of the file after 0 flows, expected 1 as line 2 "
              "says");
    EXPECT_EQ(FlowRefusal(head + "0->1 start 0 size 1\n2->3 start 0 size 1\n"),
              "4: found one more flow, expected 1 as line 2 says");
    EXPECT_EQ(FlowRefusal(head + "0-1 start 0 size 1\n"),
              "3: found '0-1' and 4 fields, expected src->dst and keys with values: start, size");
    EXPECT_EQ(FlowRefusal(head + "0->x start 0 size 1\n"),
              "3: src->dst: found '0->x', expected two whole numbers, as 0->13");
    EXPECT_EQ(FlowRefusal(head + "0->1 size 1\n"),
              "3: found no start, expected src->dst start t size bytes");
    EXPECT_EQ(FlowRefusal(head + "0->1 trigger 3 size 1\n"),
              "3: trigger: found '3', expected a start: triggers are not supported");
    EXPECT_EQ(FlowRefusal(head + "0->1 start 0 size 1 foo 3\n"),
              "3: key: found 'foo', expected start, size, id, prio, send_done_trigger, "
              "recv_done_trigger");
    EXPECT_EQ(FlowRefusal(head + "0->1 id 1 prio 2 start 0 size 1 send_done_trigger 4\n"), "");
    EXPECT_EQ(FlowRefusal("Nodes 5\nConnections 1\n0->1 start 0 size 1\n"),
              "1: Nodes: found '5', expected 16, the hosts of the topology");
    EXPECT_EQ(FlowRefusal(head + "Triggers 2\n0->1 start 0 size 1\n"),
              "3: Triggers: found '2', expected 0: triggers and failures are not supported, only "
              "start times and events");
}

/** Packets, queues and messages of htsim's Ultra Ethernet runs at 100 Gb/s. */
PacketSpec
UltraEthernet(const Polymorphic<CongestionControl>& control)
{
    PacketSpec packets;
    packets.format.mtu = Bytes(4086);
    packets.format.header = 64;
    packets.format.controlSize = Bytes(64);
    packets.queuePair.recovery = LossRecovery::Selective;
    packets.queuePair.ackEvery = 4;
    packets.queuePair.reordering = 100000;
    packets.queuePair.paths = 128;
    packets.queuePair.retransmissionTimeout = Time::Milliseconds(1);
    packets.queuePair.flowEnd = FlowEnd::Acknowledged;
    packets.switches.flowControl = FlowControl::None;
    packets.switches.trim = true;
    packets.switches.trimTail = 0.5;
    packets.switches.buffer = Bytes::GiB(1);
    packets.switches.portQueue = Bytes(175000); // bandwidth-delay product of six links
    packets.switches.markFrom = Bytes(35000);
    packets.switches.markAll = Bytes(140000);
    packets.switches.markProbability = 1;
    packets.congestionControl = control;
    return packets;
}

/** Completion times of the first and the last message of a matrix on a tree, us. */
std::pair<double, double>
FirstAndLast(const std::string& matrix,
             const Polymorphic<CongestionControl>& control,
             const char* tree = FAT_TREE,
             uint64_t seed = 1)
{
    const TextFile topology(tree);
    const TextFile flows(matrix);
    FabricSpec fabric;
    fabric.routing = SprayRouting();
    PacketSpec packets = UltraEthernet(control);
    packets.seed = seed;
    HostNetwork network(ReadHtsimTopology(topology.Path()), fabric, {packets});
    FlowFile file(flows.Path());
    FlowResults results = ReadFlows(file, network);
    PlainLoop loop;
    PlayFlows(results, network, loop, [](Time) {});
    std::vector<double> times;
    for (std::size_t i = 0; i < results.Size(); i++)
    {
        times.push_back(results.CompletionTime(i).ToMicroseconds());
    }
    const auto [first, last] = std::minmax_element(times.begin(), times.end());
    return {*first, *last};
}

/**
 * bidir.cm of Ultra Ethernet's htsim: two opposite messages, whose acknowledgments delay the data:
 * 176.804 us with NSCC in htsim.
 */
TEST(HtsimFiles, MessagesAgainstEachOtherTakeWhatHtsimPrints)
{
    const std::string matrix =
        "Nodes 16\nConnections 2\n0->13 id 1 start 0 size 2000000\n"
        "13->0 id 2 start 0 size 2000000\n";
    EXPECT_NEAR(FirstAndLast(matrix, Nscc()).second, 176.804, 0.01);
}

/**
 * incast.cm: 15 messages of 2 MB to one host. Its link carries 15 (2000000 + 490 x 64) bytes in
 * 2437.63 us. A message from the nearest host has two links, which add 2 us and a packet's 0.33 us,
 * and as much latency back for the last acknowledgment: no congestion control is faster. With
 * receiver credit it is at most 2 % slower; htsim needs 2464.4 us, and 2478.5 us with NSCC.
 */
TEST(HtsimFiles, CreditFillsTheLinkOfAnIncast)
{
    std::string matrix = "Nodes 16\nConnections 15\n";
    for (int source = 0; source < 15; source++)
    {
        matrix += std::to_string(source) + "->15 id " + std::to_string(source + 1) +
                  " start 0 size 2000000\n";
    }
    const double bound = 15 * (2000000 + 490 * 64) * 8 / 100e9 * 1e6 + 4.0 + 0.33;
    const auto byCredit = FirstAndLast(matrix, Rccc());
    EXPECT_GE(byCredit.second, bound);
    EXPECT_LE(byCredit.second, 1.02 * bound);
    EXPECT_GE(byCredit.first, 0.9 * bound); // served round-robin: they end simultaneously
    const auto bySender = FirstAndLast(matrix, Nscc());
    EXPECT_GE(bySender.second, bound);
    EXPECT_LE(bySender.second, 1.05 * bound);
}

/**
 * Eight hosts of a leaf send 2 MB each to eight hosts of another leaf over one uplink, which
 * carries 8 (2000000 + 490 x 64) bytes in 1300.1 us. Each receiver has a link of its own, and
 * learns of the lower rate from trimmed packets. Averaged over twelve seeds the last message takes
 * at most 6 % longer than the uplink needs (which packets are trimmed is random, and single runs
 * take 1 to 10 % longer). With credit at the rate of the receivers' links, most packets would be
 * trimmed, and the last message would be later.
 */
TEST(HtsimFiles, CreditLeavesRoomInTheNetwork)
{
    const char* const leaves =
        "Nodes 16\n"
        "Tiers 2\n"
        "PodSize 16\n"
        "Tier 0\n"
        "Downlink_speed_Gbps 100\n"
        "Radix_Up 1\n"
        "Radix_Down 8\n"
        "Downlink_Latency_ns 1000\n"
        "Tier 1\n"
        "Downlink_speed_Gbps 100\n"
        "Radix_Down 2\n"
        "Downlink_Latency_ns 1000\n";
    std::string matrix = "Nodes 16\nConnections 8\n";
    for (int source = 0; source < 8; source++)
    {
        matrix += std::to_string(source) + "->" + std::to_string(source + 8) + " id " +
                  std::to_string(source + 1) + " start 0 size 2000000\n";
    }
    const double bound = 8 * (2000000 + 490 * 64) * 8 / 100e9 * 1e6;
    Rccc unmoved;
    unmoved.minimum = 1;
    constexpr uint64_t SEEDS = 12;
    double mean = 0;
    double meanUnmoved = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
    {
        const double last = FirstAndLast(matrix, Rccc(), leaves, seed).second;
        EXPECT_GE(last, bound) << seed;
        mean += last / SEEDS;
        meanUnmoved += FirstAndLast(matrix, unmoved, leaves, seed).second / SEEDS;
    }
    EXPECT_LE(mean, 1.06 * bound);
    EXPECT_GE(meanUnmoved, mean + 0.02 * bound);
}

/**
 * Host 15 receives from host 0 and from two hosts that have four other receivers each. The links of
 * the latter give it a fifth each, so three fifths of its own link are left for host 0, whose 2 MB
 * take 163 us in isolation. With credit given round-robin, host 0 would get a third.
 */
TEST(HtsimFiles, CreditGoesToThoseWhoCanUseIt)
{
    std::string matrix = "Nodes 16\nConnections 11\n0->15 id 1 start 0 size 2000000\n";
    int id = 2;
    for (const int source : {1, 2})
    {
        for (int other = 0; other < 5; other++)
        {
            const int destination = other == 4 ? 15 : source * 4 + other;
            matrix += std::to_string(source) + "->" + std::to_string(destination) + " id " +
                      std::to_string(id++) + " start 0 size 2000000\n";
        }
    }
    const double uncontended = (2000000 + 490 * 64) * 8 / 100e9 * 1e6;
    EXPECT_GE(FirstAndLast(matrix, Rccc()).first, uncontended);
    EXPECT_LE(FirstAndLast(matrix, Rccc()).first, 1.1 * uncontended / 0.6);
    EXPECT_LE(FirstAndLast(matrix, Rccc()).second, 1.05 * 5 * uncontended);
}

/** Credit resumes after a pause: an idle sender starts as it did initially. */
TEST(HtsimFiles, CreditBeginsAnewAfterAPause)
{
    const std::string one = "Nodes 16\nConnections 1\n0->13 id 1 start 0 size 2000000\n";
    const std::string two =
        "Nodes 16\nConnections 2\n0->13 id 1 start 0 size 2000000\n"
        "0->13 id 2 start 1000 size 2000000\n";
    const double uncontended = FirstAndLast(one, Rccc()).second;
    EXPECT_NEAR(uncontended, 176.2, 0.01); // the same as without congestion control
    EXPECT_NEAR(FirstAndLast(two, Rccc()).first, uncontended, 1e-6);
    EXPECT_NEAR(FirstAndLast(two, Rccc()).second, uncontended, 1e-6);
}

} // namespace
} // namespace weir
