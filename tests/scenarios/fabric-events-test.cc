// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/simulation/fabric-events.h"

#include "fabric/kinds/leaf-spine.h"
#include "fabric/kinds/no-fabric.h"
#include "fabric/routing/policies/adaptive.h"
#include "fabric/routing/policies/flowlet.h"
#include "fabric/routing/policies/spray.h"
#include "scenarios/simulation/run-scenario.h"
#include "scenarios/yaml/input-error.h"
#include "small-scenario.h"

#include <gtest/gtest.h>

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
    PlainLoop loop;
    return RunScenario(scenario, loop, [](Time) {});
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

/** NIC 0 of the first node to the switch it hangs on, as the cluster names them. */
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

/** One GPU twice as slow holds up all that share its layers: compute is at most doubled. */
TEST(FabricEvents, ASlowGpuSlowsTheStep)
{
    const double before = RunWith({}).StepTime().ToSeconds();
    const double slow =
        RunWith({Event(EventKind::SlowGpu, "node0/gpu3", "", 2)}).StepTime().ToSeconds();
    EXPECT_GT(slow, before * 1.2);
    EXPECT_LT(slow, before * 2);
}

/** Pipeline transfers cross the degraded NIC link, so the step is longer; at factor 1 it is not. */
TEST(FabricEvents, ADegradedLinkSlowsWhatCrossesIt)
{
    const auto [nic, leaf] = FirstNicLink();
    const Time before = RunWith({}).StepTime();
    EXPECT_EQ(RunWith({Event(EventKind::Degrade, nic, leaf, 1)}).StepTime(), before);
    EXPECT_GT(RunWith({Event(EventKind::Degrade, nic, leaf, 0.001)}).StepTime(), before);
}

/** A NIC's only wire fails: what crosses it waits, and the run says who waits. */
TEST(FabricEvents, ARunThatCannotGoOnSaysWhoWaits)
{
    const auto [nic, leaf] = FirstNicLink();
    for (const auto fidelity : {Fidelity::Stream, Fidelity::Flow})
    {
        const RunResult result = RunWith({Event(EventKind::LinkDown, nic, leaf)}, fidelity);
        // Rank 0 sends to its peer of the next stage, eight ranks on.
        EXPECT_NE(result.waiting.find("with rank 8 of group"), std::string::npos) << result.waiting;
        EXPECT_NE(result.waiting.find("links down: " + nic + "->" + leaf), std::string::npos)
            << result.waiting;
        EXPECT_TRUE(result.StepTime().IsInfinite());
    }
}

/** The wire comes back: what stood still goes on, and the step takes no less than the outage. */
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

/** Whatever chooses the way, a failed uplink is gone around: the step ends, at most as much later
 * as a leaf with seven of eight uplinks is slower. */
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
        PlainLoop loop;
        const RunResult whole = RunScenario(scenario, loop, [](Time) {});
        EventSpec down = Event(EventKind::LinkDown, "leaf0", "spine0");
        down.at = whole.StepTime() * 0.5;
        scenario.events = {down};
        const RunResult result = RunScenario(scenario, loop, [](Time) {});
        EXPECT_EQ(result.waiting, "") << routing->Name();
        EXPECT_LT(result.StepTime(), whole.StepTime() * 2) << routing->Name();
    }
}

/** Pipeline stages on nodes that nothing joins: refused before anything runs. */
TEST(FabricEvents, RefusesJobsOverNodesThatAreNotJoined)
{
    Scenario scenario = SmallScenario();
    scenario.cluster.fabric.kind = NoFabric();
    PlainLoop loop;
    std::string refusal;
    try
    {
        RunScenario(scenario, loop, [](Time) {});
    }
    catch (const InputError& error)
    {
        refusal = error.what();
    }
    EXPECT_NE(refusal.find("no path from node0/nic"), std::string::npos) << refusal;
}

TEST(FabricEvents, BackgroundTrafficIsCarried)
{
    EventSpec background = Event(EventKind::Background, "node0/gpu0", "node1/gpu0");
    background.bytes = Bytes::GiB(8);
    const RunResult with = RunWith({background});
    const RunResult without = RunWith({});
    EXPECT_GE(with.StepTime(), without.StepTime());
    EXPECT_EQ(with.busiestLinks.front().kind, "network")
        << "8 GiB over one 200 Gb/s NIC keep it busy longer than the run is";
}

TEST(FabricEvents, RefusesWhatDoesNotExist)
{
    EXPECT_THROW(RunWith({Event(EventKind::SlowGpu, "node0/gpu9", "", 2)}), InputError);
    EXPECT_THROW(RunWith({Event(EventKind::LinkDown, "node0/gpu0", "node1/gpu0")}), InputError);
    EXPECT_THROW(RunWith({Event(EventKind::Background, "node0/gpu0", "node0/gpu0")}), InputError);
}

/** What only the wired system knows to be wrong is told with its place in the file, too. */
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
    EXPECT_EQ(messageOf(down, Fidelity::Analytical).substr(0, 28), "run.yaml:9:5: events.0: foun");
    down.from = "node9/nic0";
    EXPECT_EQ(messageOf(down, Fidelity::Stream),
              "run.yaml:9:40: events.0.from: found 'node9/nic0', expected a device of the system");
}

TEST(FabricEvents, RefusesEventsOnLinksWhereNoLinkIsSimulated)
{
    const auto [nic, leaf] = FirstNicLink();
    EXPECT_THROW(RunWith({Event(EventKind::LinkDown, nic, leaf)}, Fidelity::Analytical),
                 InputError);
}

} // namespace
} // namespace weir
