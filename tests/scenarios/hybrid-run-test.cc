// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-scenario.h"
#include "scenarios/simulation/wire-scenario.h"
#include "scenarios/writers/write-scenario.h"

#include "refusal.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

/** Two jobs on a node each, and a flow between the nodes over their common leaf. */
Scenario
Read(const std::string& network)
{
    const std::string job =
        "model: gpt-1.7b, steps: 1,\n"
        "     parallel: {tensor: 2, pipeline: 2, data: 4, globalBatch: 8}}\n";
    return ReadScenario(
        YamlNode::Parse("system: {base: hgx-h800, nodes: 4, fabric: {kind: leaf-spine}}\n"
                        "jobs:\n"
                        "  - {name: one, " +
                            job + "  - {name: two, " + job + "network: " + network +
                            "\n"
                            "events:\n"
                            "  - {kind: background, at: 0s, from: node0/gpu0, to: node2/gpu0,\n"
                            "     bytes: 64MiB}\n",
                        "run.yaml"),
        Catalog());
}

std::string
Refusal(const std::string& network)
{
    return RefusalOf([&] { WireScenario(Read(network)); });
}

/** Number of packets that crossed links, and the step time of each job. */
struct Played
{
    uint64_t packets{0};
    Time one;
    Time two;
};

Played
Play(const std::string& network)
{
    const auto simulation = WireScenario(Read(network));
    simulation->Engines().RunToEnd();
    Played played;
    for (std::size_t i = 0; i < simulation->GetTopology().LinkCount(); i++)
    {
        const PortCounters* port = simulation->GetTransport().GetPortCounters(LinkId(i));
        played.packets += port != nullptr ? port->packets : 0;
    }
    played.one = simulation->GetJob(JobId(0)).GetExecutor().StepTimes().front();
    played.two = simulation->GetJob(JobId(1)).GetExecutor().StepTimes().front();
    return played;
}

/**
 * A packet flow next to fluid jobs, a packet job next to a fluid one, and flows that are packets
 * where they cross one link: there is little congestion, so the steps agree within 1 %.
 */
TEST(HybridRun, MovesWhatIsSelectedAsPackets)
{
    const Played fluid = Play("{fidelity: flow}");
    EXPECT_EQ(fluid.packets, 0u);
    const Played flow = Play("{fidelity: hybrid, packets: {flows: true}}");
    const uint64_t ofFlow = (64 << 20) / 4096;
    EXPECT_GE(flow.packets, 2 * ofFlow); // at least two hops, with acknowledgments
    EXPECT_LE(flow.packets, 2 * 6 * ofFlow);
    const Played job = Play("{fidelity: hybrid, packets: {jobs: [two]}}");
    EXPECT_GT(job.packets, flow.packets);
    const Played link = Play("{fidelity: hybrid, packets: {links: ['node0/nic0 -> *']}}");
    EXPECT_GT(link.packets, ofFlow);
    for (const Played& played : {flow, job, link})
    {
        EXPECT_NEAR(played.one / fluid.one, 1, 0.01);
        EXPECT_NEAR(played.two / fluid.two, 1, 0.01);
    }
}

/**
 * Of the two ports of a NIC only one is on a selected link: the flows on the other port are packets
 * as well, as those on both belong to one message. The call ends, 10 % apart from a fluid.
 */
TEST(HybridRun, StripesOfAConnectionMoveAlike)
{
    const auto timeOf = [](const std::string& network) {
        const auto simulation = WireScenario(ReadScenario(
            YamlNode::Parse(
                "system: {base: oci-a100, nodes: 2}\n"
                "jobs: [{name: a, collective: {op: all-reduce, bytes: 4MiB, calls: 1}}]\n"
                "network: " +
                    network + "\n",
                "run.yaml"),
            Catalog()));
        return simulation->Engines().RunToEnd();
    };
    const Time fluid = timeOf("{fidelity: flow}");
    const Time mixed = timeOf("{fidelity: hybrid, packets: {links: ['node0/nic1->*']}}");
    EXPECT_NEAR(mixed / fluid, 1, 0.1);
}

TEST(HybridRun, IsWrittenAsItIsRead)
{
    const Scenario scenario = Read(
        "{fidelity: hybrid, coupling: {window: 5us, insideNodes: true}, "
        "packets: {jobs: [two], flows: true, links: ['leaf0->*']}}");
    EXPECT_EQ(scenario.hybrid.coupling.window, Time::Microseconds(5));
    const std::string text = DumpScenario(scenario);
    const Scenario again = ReadScenario(YamlNode::Parse(text, "dump.yaml"), Catalog());
    EXPECT_EQ(again.fidelity, Fidelity::Hybrid);
    EXPECT_EQ(again.hybrid.jobs, scenario.hybrid.jobs);
    EXPECT_EQ(again.hybrid.coupling.links, scenario.hybrid.coupling.links);
    EXPECT_EQ(DumpScenario(again), text);
}

TEST(HybridRun, RefusesASelectionThatSelectsNothing)
{
    EXPECT_EQ(Refusal("{fidelity: hybrid}"),
              "run.yaml:7:21: network.fidelity: found 'hybrid' without any packets, expected "
              "packets: with jobs, flows or links beside it");
    EXPECT_EQ(Refusal("{fidelity: hybrid, packets: {jobs: [tow]}}"),
              "run.yaml:7:46: network.packets.jobs.0: found 'tow', expected one of: one, two (did "
              "you mean 'two'?)");
    EXPECT_EQ(Refusal("{fidelity: hybrid, packets: {links: ['leaf99->*']}}"),
              "run.yaml:7:47: network.packets.links.0: found 'leaf99->*', expected the name of a "
              "link, as 'node0/nic0->leaf0', in which * stands for any text");
}

} // namespace
} // namespace weir
