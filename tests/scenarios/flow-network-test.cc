// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/routing-policies.h"
#include "scenarios/flows/play-flows.h"
#include "scenarios/yaml/yaml-node.h"
#include "tests/scenarios/flow-files.h"
#include "tests/scenarios/refusal.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace weir
{
namespace
{

/** Four hosts on a switch, with links of 100 Gb/s and 1 us. */
const char* const STAR =
    "5 1 4\n4\n0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n2 4 100Gbps 1us 0\n3 4 100Gbps 1us 0\n";

/** Simulated flows and their network. */
struct Played
{
    std::unique_ptr<HostNetwork> network;
    FlowResults flows;
};

Played
Play(const std::string& topologyText,
     const std::string& flowText,
     TransportSpec transport,
     const FlowSelection& selection = {},
     const std::vector<EventSpec>& events = {})
{
    const TextFile topology(topologyText);
    const TextFile flows(flowText);
    std::vector<EventSpec> lossy;
    Played played;
    played.network = std::make_unique<HostNetwork>(
        ReadHpccTopology(topology.Path(), &lossy), FabricSpec(), std::move(transport));
    played.network->AddEvents(lossy);
    played.network->AddEvents(events);
    FlowFile file(flows.Path());
    played.flows = ReadFlows(file, *played.network);
    selection.Apply(played.flows);
    PlainLoop loop;
    PlayFlows(played.flows, *played.network, loop, [](Time) {});
    return played;
}

// Host 0 -- left -- right -- host 1: 0.6 + 1 + 0.6 us, then 1 MB at 40 GB/s. Hosts count from 0 in
// the order of the file.
TEST(FlowNetwork, AGraphIsATopologyToo)
{
    const std::string path = testing::TempDir() + "weir-graph-" + std::to_string(::getpid());
    const std::string file = path + ".yaml";
    std::ofstream(file) << "source: test\nhosts: [a, b]\nswitches: [left, right]\nrate: 400Gbps\n"
                           "latency: 600ns\nlinks:\n- [a, left]\n- [right, b]\n"
                           "- [left, right, 320Gbps, 1us]\n";
    const TextFile flows("src,dst,bytes,start_s\n0,1,1000000,0\n");
    EXPECT_FALSE(IsSystem(file));
    const auto network = OpenNetwork(file, {}, Catalog());
    FlowFile reader(flows.Path());
    FlowResults results = ReadFlows(reader, *network);
    PlainLoop loop;
    PlayFlows(results, *network, loop, [](Time) {});
    EXPECT_EQ(results.CompletionTime(0), Time::Nanoseconds(2200 + 25'000));
    std::filesystem::remove(file);
}

/** Twelve flows of 0.1 to 1.2 MB that contend for the links of STAR. */
std::string
Meeting()
{
    std::string text = "src,dst,bytes,start_s\n";
    for (int i = 0; i < 12; i++)
    {
        text += std::to_string(i % 4) + "," + std::to_string((i + 1 + i / 4) % 4) + "," +
                std::to_string((i + 1) * 100'000) + "," + std::to_string(i * 5e-6) + "\n";
    }
    return text;
}

FlowSelection
Selection(const std::string& yaml)
{
    return ReadFlowSelection(YamlNode::Parse(yaml, "net.yaml"));
}

std::vector<Time>
Finishes(const FlowResults& flows)
{
    std::vector<Time> finishes;
    for (std::size_t flow = 0; flow < flows.Size(); flow++)
    {
        finishes.push_back(flows.Finish(flow));
    }
    return finishes;
}

/**
 * The two limits of hybrid: with all flows as packets it equals fidelity packet, with none it
 * equals fidelity flow.
 */
TEST(FlowNetwork, HybridHasItsTwoLimits)
{
    const TransportSpec hybrid{PacketSpec(), CouplingSpec()};
    const auto both = Play(STAR, Meeting(), hybrid, Selection("flows: [0-11]"));
    EXPECT_EQ(Finishes(both.flows), Finishes(Play(STAR, Meeting(), {PacketSpec()}).flows));
    const auto none = Play(STAR, Meeting(), hybrid);
    EXPECT_EQ(Finishes(none.flows), Finishes(Play(STAR, Meeting(), {}).flows));
    const auto some = Play(STAR, Meeting(), hybrid, Selection("flows: [0, 5-6]"));
    EXPECT_NE(Finishes(some.flows), Finishes(both.flows));
    EXPECT_NE(Finishes(some.flows), Finishes(none.flows));
}

/**
 * A flow is a packet flow if its number, its ends or its size is selected; selections are united.
 */
TEST(FlowNetwork, SelectionsAreUnions)
{
    const auto selected = [](const std::string& yaml) {
        FlowResults flows;
        for (uint32_t i = 0; i < 8; i++)
        {
            flows.Add(i, 7 - i, Bytes(1000 * (i + 1)), Time(), RouteId(0));
        }
        Selection(yaml).Apply(flows);
        std::string numbers;
        for (std::size_t i = 0; i < flows.Size(); i++)
        {
            numbers += flows.Request(i).form == FlowForm::Packets ? std::to_string(i) : "";
        }
        return numbers;
    };
    EXPECT_EQ(selected("{}"), "");
    EXPECT_EQ(selected("flows: [1, 3-5]"), "1345");
    EXPECT_EQ(selected("sources: [0-7]"), "01234567");
    EXPECT_EQ(selected("destinations: [0]"), "7"); // flow i has destination 7 - i
    EXPECT_EQ(selected("below: 3kB"), "01");       // sizes are 1, 2, 3 ... kB
    EXPECT_EQ(selected("{below: 2kB, sources: [4], destinations: [1, 7]}"), "046");
    EXPECT_EQ(Selection("links: [\"a->*\"]").links, std::vector<std::string>{"a->*"});
    EXPECT_EQ(Selection("links: [\"a  -> *\"]").links, std::vector<std::string>{"a->*"});
    EXPECT_EQ(RefusalOf([&] { selected("flows: [8]"); }),
              "net.yaml:1:9: flows.0: found '8', expected numbers of the flows, of which there are "
              "8");
    EXPECT_EQ(RefusalOf([&] { selected("sources: [5-3]"); }),
              "net.yaml:1:11: sources.0: found '5-3', expected a number from 0 to 4294967295, or "
              "two that ascend, such as 0-15");
    EXPECT_EQ(RefusalOf([&] { selected("source: [1]"); }),
              "net.yaml:1:1: source: found the unknown key 'source', expected one of: flows, "
              "sources, destinations, below, links (did you mean 'sources'?)");
}

EventSpec
Event(EventKind kind, Time at)
{
    EventSpec event;
    event.kind = kind;
    event.at = at;
    event.from = "host0";
    event.to = "switch4";
    return event;
}

/**
 * 12.5 MB take 1 ms at 100 Gb/s, plus 2 us of latency. Halfway the link fails for 1.5 ms, or has
 * half its rate from then on: the flow ends later by 1.5 ms, or by 500 us. Events after the last
 * flow have no effect.
 */
TEST(FlowNetwork, LinksFailAndSlowDownDuringFlows)
{
    const std::string one = "src,dst,bytes,start_s\n0,1,12500000,0\n";
    const Time half = Time::Microseconds(501); // the first bytes left at 1 us
    const Time uncontended = Play(STAR, one, {}).flows.Finish(0);
    EXPECT_EQ(uncontended, Time::Microseconds(1002));

    const std::vector<EventSpec> down{Event(EventKind::LinkDown, half),
                                      Event(EventKind::LinkUp, half + Time::Microseconds(1500)),
                                      Event(EventKind::LinkDown, Time::Seconds(1))};
    const auto failed = Play(STAR, one, {}, {}, down);
    EXPECT_EQ(failed.flows.Finish(0), uncontended + Time::Microseconds(1500));
    EXPECT_EQ(failed.network->GetSimulation().Now(), failed.flows.Finish(0));

    EventSpec slow = Event(EventKind::Degrade, half);
    slow.factor = 0.5;
    const double after =
        (Play(STAR, one, {}, {}, {slow}).flows.Finish(0) - uncontended).ToSeconds();
    EXPECT_NEAR(after, 500e-6, 1.5e-6); // 500 or 501 us, depending on the progress at `half`
}

/** Sprayed packets of a host with two links use both, and each stays on the switch of its link. */
TEST(FlowNetwork, SprayedPacketsKeepToTheirPort)
{
    const TextFile topology(
        "4 2 4\n2 3\n0 2 100Gbps 1us 0\n0 3 100Gbps 1us 0\n"
        "1 2 100Gbps 1us 0\n1 3 100Gbps 1us 0\n");
    const TextFile one("src,dst,bytes,start_s\n0,1,1000000,0\n");
    FabricSpec fabric;
    fabric.routing = SprayRouting();
    HostNetwork network(ReadHpccTopology(topology.Path()), fabric, {PacketSpec()});
    FlowFile file(one.Path());
    FlowResults flows = ReadFlows(file, network);
    PlainLoop loop;
    PlayFlows(flows, network, loop, [](Time) {});
    const auto packets = [&](std::size_t link) {
        return network.GetTransport().GetPortCounters(LinkId(link))->packets;
    };
    EXPECT_EQ(packets(0), packets(5)); // through switch 2
    EXPECT_EQ(packets(2), packets(7)); // through switch 3
    EXPECT_EQ(packets(0) + packets(2), 1000000 / PacketSpec().format.mtu.Count() + 1);
}

/**
 * One of a host's two links fails halfway: the flow continues on the other link, also if its
 * packets were queued for the failed one. Lost packets are retransmitted after at most 4 ms.
 */
TEST(FlowNetwork, FlowsGoOnByTheLinkThatIsLeft)
{
    const std::string star = "3 1 3\n2\n0 2 100Gbps 1us 0\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n";
    const std::string one = "src,dst,bytes,start_s\n0,1,12500000,0\n";
    const Time half = Time::Microseconds(501);
    for (const char* to : {"switch2", "switch2#2"})
    {
        EventSpec down = Event(EventKind::LinkDown, half);
        down.to = to;
        for (const TransportSpec& transport : {TransportSpec(),
                                               TransportSpec{PacketSpec()},
                                               TransportSpec{PacketSpec(), CouplingSpec()}})
        {
            const Time uncontended =
                Play(star, one, transport, Selection("flows: [0]")).flows.Finish(0);
            const Time failed =
                Play(star, one, transport, Selection("flows: [0]"), {down}).flows.Finish(0);
            EXPECT_GE(failed, uncontended);
            EXPECT_LE(failed, uncontended + Time::Milliseconds(5));
        }
    }
}

/**
 * Packets over a link without a rate would be retransmitted forever: a later event must restore a
 * rate.
 */
TEST(FlowNetwork, LinksWithoutARateAreToHaveOneAgain)
{
    EventSpec none = Event(EventKind::Degrade, Time::Microseconds(5));
    none.factor = 0;
    none.where = "net.yaml:2:5: events.0";
    EventSpec again = Event(EventKind::Degrade, Time::Microseconds(50));
    for (const Fidelity fidelity : {Fidelity::Packet, Fidelity::Hybrid})
    {
        EXPECT_EQ(
            RefusalOf([&] { ExpectSimulated({none}, fidelity, false, ""); }),
            "net.yaml:2:5: events.0: found a link whose packets would be retransmitted forever, "
            "expected a factor of at least 1e-9, a later event that raises it, or kind link-down");
        ExpectSimulated({none, again}, fidelity, false, "");
    }
    ExpectSimulated({none}, Fidelity::Flow, false, "");
    const auto played = Play(STAR, Meeting(), {PacketSpec()}, {}, {none, again});
    EXPECT_GT(played.flows.Finish(0), again.at);
}

/** For flows that never end the message names the links that are down, also in hybrid runs. */
TEST(FlowNetwork, LinksThatStayDownAreNamed)
{
    const FlowSelection some = Selection("flows: [0, 5-6]");
    for (const TransportSpec& transport : {TransportSpec(),
                                           TransportSpec{PacketSpec()},
                                           TransportSpec{PacketSpec(), CouplingSpec()}})
    {
        try
        {
            Play(STAR, Meeting(), transport, some, {Event(EventKind::LinkDown, Time())});
            ADD_FAILURE() << "flow 0 ended";
        }
        catch (const std::runtime_error& error)
        {
            EXPECT_EQ(std::string(error.what()),
                      "links down: host0->switch4, switch4->host0; flow 0 (0 to 1) does not end");
        }
    }
}

/**
 * The error rate of a topology file is a loss rate in both directions: the losses among the packets
 * that crossed are within five standard deviations. Flows complete nevertheless, although switches
 * pause hosts over the lossy link.
 */
TEST(FlowNetwork, ErrorRatesOfTopologiesLosePackets)
{
    const std::string lossy =
        "5 1 4\n4\n0 4 100Gbps 1us 0.02\n1 4 100Gbps 1us 0\n2 4 100Gbps 1us 0\n3 4 100Gbps 1us 0\n";
    const std::string incasts =
        "src,dst,bytes,start_s\n0,3,5000000,0\n1,3,5000000,0\n"
        "2,3,5000000,0\n1,0,5000000,0\n2,0,5000000,0\n";
    const auto played = Play(lossy, incasts, {PacketSpec()});
    Transport& transport = played.network->GetTransport();
    for (const LinkId link : {LinkId(0), LinkId(1)})
    {
        const PortCounters& port = *transport.GetPortCounters(link);
        const double mean = 0.02 * static_cast<double>(port.packets);
        EXPECT_NEAR(static_cast<double>(port.drops), mean, 5 * std::sqrt(mean));
        EXPECT_GT(port.drops, 0u);
    }
    EXPECT_GT(transport.GetPortCounters(LinkId(0))->pauses, 0u);
    EXPECT_EQ(transport.GetPortCounters(LinkId(2))->drops, 0u);

    const TextFile file(lossy);
    std::vector<EventSpec> events;
    ReadHpccTopology(file.Path(), &events);
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(file.Strip(RefusalOf([&] { ExpectSimulated(events, Fidelity::Flow, false, ""); })),
              "3: error_rate: found a lossy link where not every packet is simulated, expected "
              "fidelity packet or hybrid without network.settle");
}

} // namespace
} // namespace weir
