// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/simulation/fabric-events.h"

#include "collectives/planner.h"
#include "fabric/fabric.h"
#include "fabric/kinds/clos-fabric.h"
#include "fabric/routing/routing-policies.h"
#include "scenarios/simulation/run-scenario.h"
#include "scenarios/yaml/input-error.h"
#include "small-scenario.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <memory>

namespace weir
{
namespace
{

RunResult
RunWith(std::vector<EventSpec> events, Fidelity fidelity = Fidelity::Stream)
{
    Scenario scenario = SmallScenario();
    scenario.events = std::move(events);
    scenario.fidelity = fidelity;
    return RunScenario(scenario);
}

EventSpec
Event(EventKind kind, const std::string& from, const std::string& to, double factor = 1)
{
    EventSpec event;
    event.kind = kind;
    event.from = from;
    event.to = to;
    event.factor = factor;
    return event;
}

/** Names of NIC 0 of the first node and of the switch that it is attached to. */
std::pair<std::string, std::string>
FirstNicLink()
{
    const Cluster cluster(SmallScenario().cluster);
    const Topology& topology = cluster.GetTopology();
    const DeviceId nic = cluster.NicDevice(0, 0);
    for (const LinkId link : topology.LinksFrom(nic))
    {
        if (topology.GetLink(link).kind == LinkKind::Network)
        {
            return {topology.GetDevice(nic).name,
                    topology.GetDevice(topology.GetLink(link).to).name};
        }
    }
    return {};
}

/**
 * One GPU that is slower by 2 delays all GPUs that share its layers: compute time at most doubles.
 */
TEST(FabricEvents, ASlowGpuSlowsTheStep)
{
    const double before = RunWith({}).StepTime().ToSeconds();
    const double slow =
        RunWith({Event(EventKind::SlowGpu, "node0/gpu3", "", 2)}).StepTime().ToSeconds();
    EXPECT_GT(slow, before * 1.2);
    EXPECT_LT(slow, before * 2);
}

/**
 * Pipeline transfers cross the degraded NIC link, so the step is longer; with factor 1 it is not.
 */
TEST(FabricEvents, ADegradedLinkSlowsWhatCrossesIt)
{
    const auto [nic, leaf] = FirstNicLink();
    const Time before = RunWith({}).StepTime();
    EXPECT_EQ(RunWith({Event(EventKind::Degrade, nic, leaf, 1)}).StepTime(), before);
    EXPECT_GT(RunWith({Event(EventKind::Degrade, nic, leaf, 0.001)}).StepTime(), before);
}

/**
 * The only link of a NIC fails: operations over it stall, and the result names the blocked ranks.
 */
TEST(FabricEvents, ARunThatCannotGoOnSaysWhoWaits)
{
    const auto [nic, leaf] = FirstNicLink();
    for (const auto fidelity : {Fidelity::Stream, Fidelity::Flow})
    {
        const RunResult result = RunWith({Event(EventKind::LinkDown, nic, leaf)}, fidelity);
        // Rank 0 sends to its peer of the next stage, rank 8.
        EXPECT_NE(result.waiting.find("with rank 8 of group"), std::string::npos) << result.waiting;
        EXPECT_NE(result.waiting.find("links down: " + nic + "->" + leaf), std::string::npos)
            << result.waiting;
        EXPECT_TRUE(result.StepTime().IsInfinite());
    }
}

/**
 * As above beside a job that is kept busy until the one that stalled ends: it stops, so that the
 * run ends.
 */
TEST(FabricEvents, AJobThatStallsEndsTheRunThoughOthersAreKeptBusyUntilItEnds)
{
    for (const char* busy : {"collective: {op: all-reduce, bytes: 64MiB}",
                             "traffic: {pattern: poisson, bytes: 1MiB, load: 0.1}"})
    {
        const Scenario scenario = SmallScenario(
            {{"system.nodes", "4"},
             {"jobs",
              std::string("[{name: alpha, collective: {op: all-reduce, bytes: 64MiB, calls: 10}, "
                          "placement: {nodes: [0, 1]}}, {name: beta, until: alpha, placement: "
                          "{nodes: [2, 3]}, ") +
                  busy + "}]"},
             {"events", "[{kind: link-down, at: 1ms, from: node0/nic0, to: leaf0}]"}});
        const RunResult result = RunScenario(scenario);
        EXPECT_NE(result.waiting.find("alpha: all-reduce of 16 GPUs: call "), std::string::npos)
            << result.waiting;
        EXPECT_EQ(result.waiting.find("beta"), std::string::npos) << result.waiting;
    }
}

/**
 * The link is restored: stalled operations resume, and the step takes at least as long as the
 * outage.
 */
TEST(FabricEvents, ALinkThatComesUpLetsTheRunGoOn)
{
    const auto [nic, leaf] = FirstNicLink();
    const Time before = RunWith({}).StepTime();
    EventSpec up = Event(EventKind::LinkUp, nic, leaf);
    up.at = before * 3;
    for (const auto fidelity : {Fidelity::Stream, Fidelity::Flow})
    {
        const RunResult result = RunWith({Event(EventKind::LinkDown, nic, leaf), up}, fidelity);
        EXPECT_EQ(result.waiting, "");
        EXPECT_GE(result.jobs.front().steps.front(), up.at);
        EXPECT_LT(result.jobs.front().steps.front(), up.at + before * 2);
    }
}

/**
 * Every routing policy reroutes around a failed uplink: the step ends, in at most twice the time.
 */
TEST(FabricEvents, RoutingByLoadGoesAroundAFailedUplink)
{
    for (const Polymorphic<RoutingPolicy>& routing : std::vector<Polymorphic<RoutingPolicy>>{
             EcmpRouting(), AdaptiveRouting(), FlowletRouting(), SprayRouting()})
    {
        Scenario scenario = SmallScenario();
        scenario.cluster.fabric.kind = LeafSpine();
        scenario.cluster.fabric.kind.As<ClosFabric>().leafRadix = 16;
        scenario.cluster.fabric.routing = routing;
        scenario.fidelity = Fidelity::Flow;
        const RunResult whole = RunScenario(scenario);
        EventSpec down = Event(EventKind::LinkDown, "leaf0", "spine0");
        down.at = whole.StepTime() * 0.5;
        scenario.events = {down};
        const RunResult result = RunScenario(scenario);
        EXPECT_EQ(result.waiting, "") << routing->Name();
        EXPECT_LT(result.StepTime(), whole.StepTime() * 2) << routing->Name();
    }
}

/**
 * Eight background flows of 8 GiB over one 200 Gb/s NIC keep it busy for 2.7 s, longer than the
 * run. A pipeline transfer over the same NIC gets a ninth of its rate, so the step takes longer.
 */
TEST(FabricEvents, BackgroundTrafficIsCarried)
{
    EventSpec background = Event(EventKind::Background, "node0/gpu0", "node1/gpu0");
    background.bytes = Bytes::GiB(8);
    const RunResult with = RunWith(std::vector<EventSpec>(8, background));
    EXPECT_GT(with.StepTime(), RunWith({}).StepTime());
    ASSERT_FALSE(with.busiestLinks.empty());
    EXPECT_EQ(with.busiestLinks.front().kind, "network");
    EXPECT_NEAR(with.busiestLinks.front().busyFraction, 1, 1e-3);
}

/**
 * The background traffic uses the named one of two parallel uplinks, whatever a hash would choose.
 */
TEST(FabricEvents, BackgroundTrafficOfAParallelLinkIsOnThatLink)
{
    Scenario scenario = SmallScenario();
    scenario.cluster.fabric.kind = LeafSpine();
    ClosFabric& leaves = scenario.cluster.fabric.kind.As<ClosFabric>();
    leaves.leafRadix = 16;
    leaves.leafDown = 8;
    leaves.leafUp = 2;
    const Cluster cluster(scenario.cluster);
    const Topology& topology = cluster.GetTopology();
    const auto isParallel = [&topology](LinkId link) {
        return topology.LinkName(link) == "leaf0->spine0#2";
    };
    const auto links = topology.LinksFrom(topology.FindDevice("leaf0"));
    ASSERT_EQ(std::count_if(links.begin(), links.end(), isParallel), 1);
    EventSpec background = Event(EventKind::Background, "leaf0", "spine0#2");
    background.bytes = Bytes::GiB(8);
    scenario.events = {background};
    const RunResult result = RunScenario(scenario);
    EXPECT_EQ(result.busiestLinks.front().name, "leaf0->spine0#2");
    background.to = "spine0#1";
    scenario.events = {background};
    const RunResult first = RunScenario(scenario);
    EXPECT_EQ(first.busiestLinks.front().name, "leaf0->spine0");
    background.to = "spine0#3";
    scenario.events = {background};
    EXPECT_THROW(RunScenario(scenario), InputError);
}

TEST(FabricEvents, RefusesWhatDoesNotExist)
{
    EXPECT_THROW(RunWith({Event(EventKind::SlowGpu, "node0/gpu9", "", 2)}), InputError);
    EXPECT_THROW(RunWith({Event(EventKind::LinkDown, "node0/gpu0", "node1/gpu0")}), InputError);
    EXPECT_THROW(RunWith({Event(EventKind::Background, "node0/gpu0", "node0/gpu0")}), InputError);
}

/** Errors that only the wired system can detect also contain the position in the file. */
TEST(FabricEvents, SaysWhereWhatDoesNotExistWasNamed)
{
    EventSpec down = Event(EventKind::LinkDown, "node0/gpu0", "node9/gpu0");
    down.where = "run.yaml:9:5: events.0";
    down.fromWhere = "run.yaml:9:40: events.0.from";
    down.toWhere = "run.yaml:9:60: events.0.to";
    const auto messageOf = [](const EventSpec& event, Fidelity fidelity) -> std::string {
        try
        {
            RunWith({event}, fidelity);
        }
        catch (const InputError& error)
        {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(messageOf(down, Fidelity::Stream),
              "run.yaml:9:60: events.0.to: found 'node9/gpu0', expected a device that a link from "
              "'node0/gpu0' leads to");
    EXPECT_EQ(messageOf(down, Fidelity::Analytical),
              "run.yaml:9:5: events.0: found an event on links with fidelity analytical, which "
              "ignores load, expected fidelity stream, flow, packet or hybrid");
    down.from = "node9/nic0";
    EXPECT_EQ(messageOf(down, Fidelity::Stream),
              "run.yaml:9:40: events.0.from: found 'node9/nic0', expected a device of the system");
}

/**
 * Packets lost on a lossy link are retransmitted; fidelities and links without packets refuse the
 * event.
 */
TEST(FabricEvents, ALossyLinkSlowsPackets)
{
    const auto [nic, leaf] = FirstNicLink();
    EventSpec lossy = Event(EventKind::LossyLink, nic, leaf);
    const auto callTime = [](std::vector<EventSpec> events) {
        Scenario scenario = SmallScenario();
        scenario.events = std::move(events);
        scenario.fidelity = Fidelity::Packet;
        scenario.jobs.clear();
        scenario.collectives.emplace_back();
        scenario.collectives.front().name = "calls";
        scenario.collectives.front().sequence = {{CollectiveOp::AllReduce, Bytes::MiB(4), {}}};
        return RunScenario(scenario).BoundedTime();
    };
    const Time before = callTime({});
    EXPECT_EQ(callTime({lossy}), before);
    lossy.loss = 0.02;
    EXPECT_GT(callTime({lossy}), before);
    EventSpec ended = lossy;
    ended.loss = 0; // immediately
    EXPECT_EQ(callTime({lossy, ended}), before);
    EXPECT_THROW(RunWith({lossy}, Fidelity::Stream), InputError);
    EXPECT_THROW(RunWith({lossy}, Fidelity::Flow), InputError);
    lossy.from = "node0/gpu0";
    lossy.to = "node0/nvswitch0";
    EXPECT_THROW(RunWith({lossy}, Fidelity::Packet), InputError);
}

/** A network whose two leaves are joined to spines, for failures of the links between switches. */
struct TwoSwitches
{
    TwoSwitches()
    {
        const Scenario scenario = SmallScenario(
            {{"system.nodes", "4"},
             {"system.fabric", "{kind: leaf-spine, leafRadix: 32, routing: adaptive}"}});
        fabric = std::make_unique<Fabric>(scenario.cluster);
        planner =
            std::make_unique<Planner>(fabric->GetCluster(), fabric->GetRouting(), NcclSettings());
    }

    /**
     * Fraction of @p span for which each link between switches is up, and the total number of
     * failures.
     */
    std::pair<double, uint64_t> UpShare(const EventSpec& event, Time span)
    {
        FabricEvents events({event}, fabric->GetTransport(), *planner, [] { return false; });
        const Topology& topology = fabric->GetCluster().GetTopology();
        std::vector<LinkId> wires;
        for (std::size_t i = 0; i < topology.LinkCount(); i++)
        {
            const Link& link = topology.GetLink(LinkId(i));
            if (topology.GetDevice(link.from).kind == DeviceKind::LeafSwitch &&
                topology.GetDevice(link.to).kind == DeviceKind::SpineSwitch)
            {
                wires.push_back(LinkId(i));
            }
        }
        double up = 0;
        uint64_t failures = 0;
        Time before;
        std::vector<bool> wasUp(wires.size(), true);
        while (before < span)
        {
            const Time now = std::min(events.NextEventTime(), span);
            for (std::size_t i = 0; i < wires.size(); i++)
            {
                up += wasUp[i] ? (now - before).ToSeconds() : 0;
            }
            events.AdvanceTo(now);
            for (std::size_t i = 0; i < wires.size(); i++)
            {
                const bool isUp = fabric->GetTransport().IsLinkUp(wires[i]);
                failures += wasUp[i] && !isUp ? 1 : 0;
                EXPECT_EQ(fabric->GetTransport().IsLinkUp(topology.GetLink(wires[i]).opposite),
                          isUp);
                wasUp[i] = isUp;
            }
            before = now;
        }
        wireCount = wires.size();
        return {up / span.ToSeconds() / static_cast<double>(wires.size()), failures};
    }

    std::unique_ptr<Fabric> fabric;
    std::unique_ptr<Planner> planner;
    std::size_t wireCount{0};
};

// Availability is up / (up + down), and failures are a renewal process: one per up + down and link.
TEST(RandomFailures, HaveTheAvailabilityAndTheRateThatTheirMeansSay)
{
    EventSpec event;
    event.kind = EventKind::Failures;
    event.links = {SWITCH_LINKS};
    event.up = Time::Milliseconds(30);
    event.down = Time::Milliseconds(10);
    TwoSwitches network;
    const auto [share, failures] = network.UpShare(event, Time::Seconds(20));
    const double cycles = 20 / 40e-3 * static_cast<double>(network.wireCount);
    ASSERT_GT(cycles, 5000);
    // With alternating exponential times the standard deviation of the fraction is at most 0.75 *
    // sqrt(2 / cycles).
    EXPECT_NEAR(share, 0.75, 4 * 0.75 * std::sqrt(2 / cycles));
    EXPECT_NEAR(static_cast<double>(failures), cycles, 4 * std::sqrt(cycles));
}

TEST(RandomFailures, AreTheSameFromTheSameSeed)
{
    EventSpec event;
    event.kind = EventKind::Failures;
    event.links = {"leaf0 -> spine0", "leaf1->spine0#2"};
    event.up = event.down = Time::Milliseconds(10);
    const auto share = [&event] { return TwoSwitches().UpShare(event, Time::Seconds(1)).first; };
    const double first = share();
    EXPECT_EQ(share(), first);
    event.seed = 2;
    EXPECT_NE(share(), first);
    event.links = {"leaf0 -> nobody"};
    EXPECT_THROW(share(), std::invalid_argument);
}

/**
 * An operation blocked on a link that stays down waits forever, whatever other links fail and
 * recover.
 */
TEST(RandomFailures, DoNotKeepARunGoingThatNothingElseDoes)
{
    for (const auto fidelity : {Fidelity::Stream, Fidelity::Flow, Fidelity::Packet})
    {
        Scenario scenario =
            SmallScenario({{"system.nodes", "4"},
                           {"system.fabric", "{kind: leaf-spine, leafRadix: 32, routing: ecmp}"}});
        const auto [nic, leaf] = FirstNicLink();
        EventSpec failures;
        failures.kind = EventKind::Failures;
        failures.links = {SWITCH_LINKS};
        failures.up = failures.down = Time::Milliseconds(10);
        scenario.events = {Event(EventKind::LinkDown, nic, leaf), failures};
        scenario.fidelity = fidelity;
        PlainLoop loop;
        const RunResult result = RunScenario(scenario, loop, [](Time) {});
        EXPECT_NE(result.waiting.find("links down: " + nic + "->" + leaf), std::string::npos)
            << result.waiting;
        scenario.events = {failures};
        EXPECT_TRUE(RunScenario(scenario, loop, [](Time) {}).waiting.empty());
    }
}

// Down for 2 ms of each 10 ms, three times: up for 94 of 100 ms.
TEST(FlappingLinks, AreDownAsLongAndAsOftenAsTheySay)
{
    EventSpec event = Event(EventKind::Flap, "leaf0", "spine0");
    event.at = Time::Milliseconds(5);
    event.down = Time::Milliseconds(2);
    event.up = Time::Milliseconds(8);
    event.times = 3;
    TwoSwitches network;
    const auto [share, failures] = network.UpShare(event, Time::Milliseconds(100));
    EXPECT_EQ(failures, 3U);
    EXPECT_NEAR((1 - share) * static_cast<double>(network.wireCount), 0.06, 1e-9);
}

// Down from 0 to 50 ms and from 51 to 101 ms. With four micro-batches on two stages a step is about
// five times the forward and backward pass of one, and no pass of a micro-batch through both stages
// fits into the 1 ms between: the first step ends after the second outage, with less than two steps
// left to do, and the second step takes its typical time.
TEST(FlappingLinks, DelayTheStepTheyInterrupt)
{
    for (const auto fidelity : {Fidelity::Stream, Fidelity::Flow})
    {
        const auto [nic, leaf] = FirstNicLink();
        EventSpec event = Event(EventKind::Flap, nic, leaf);
        event.down = Time::Milliseconds(50);
        event.up = Time::Milliseconds(1);
        event.times = 2;
        const Time before = RunWith({}, fidelity).StepTime();
        ASSERT_GT(before * 0.2, event.up);
        const RunResult result = RunWith({event}, fidelity);
        EXPECT_EQ(result.waiting, "");
        const std::vector<Time>& steps = result.jobs.front().steps;
        ASSERT_EQ(steps.size(), 2U);
        EXPECT_GE(steps[0], Time::Milliseconds(101));
        EXPECT_LT(steps[0], Time::Milliseconds(101) + before * 2);
        EXPECT_NEAR(steps[1] / before, 1, 1e-3);
    }
}

} // namespace
} // namespace weir
