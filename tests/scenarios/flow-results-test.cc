// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/flows/flow-results.h"

#include "fabric/transport/fluid/fluid-transport.h"
#include "scenarios/flows/flow-network.h"
#include "scenarios/flows/flow-report.h"
#include "tests/scenarios/flow-files.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace weir
{
namespace
{

// Two hosts and a switch; links of 8 Gb/s and 1 us.
const char* const PAIR = "3 1 2\n2\n0 2 8Gbps 1us 0\n1 2 8Gbps 1us 0\n";

// 1 byte at 1 GB/s takes 1 ns. The flows are uncontended.
TEST(FlowResults, WritesEveryFlowExactlyInTheOrderOfTheFile)
{
    const auto played = PlayTexts(PAIR, "3\n1 0 3 100 1 1.5\n0 1 3 100 1000 0\n0 1 3 100 0 2\n");
    const TextFile csv("");
    WriteFlowCsv(played.results, played.network->GetTransport(), csv.Path());
    EXPECT_EQ(csv.Text(),
              "flow,src,dst,bytes,start_s,finish_s,fct_s,ideal_fct_s,slowdown\n"
              "0,1,0,1,1.5,1.500002001,0.000002001,0.000002001,1\n"
              "1,0,1,1000,0,0.000003,0.000003,0.000003,1\n"
              "2,0,1,0,2,2.000002,0.000002,0.000002,1\n");
}

// Two flows of 1000 bytes share their links: 2 us each instead of 1 us, so 4 us instead of 3 us
// with latency.
TEST(FlowResults, ASlowdownReadsBackToItsValue)
{
    const auto played = PlayTexts(PAIR, "2\n0 1 3 100 1000 0\n0 1 3 100 1000 0\n");
    const TextFile csv("");
    WriteFlowCsv(played.results, played.network->GetTransport(), csv.Path());
    EXPECT_NE(csv.Text().find("0,0,1,1000,0,0.000004,0.000004,0.000003,1.3333333333333333\n"),
              std::string::npos);
}

// 1000 bytes at 1 GB/s occupy each of two links for 1 us, ten bins of 100 ns; half the bytes need
// half the bins.
TEST(FlowResults, CountsTheBinsThatLinksFillAtLeast)
{
    const auto played = PlayTexts(PAIR, "2\n0 1 3 100 1000 0\n1 0 3 100 500 0\n");
    EXPECT_NEAR(MinLinkBins(played.results, played.network->GetRouting(), Time::Nanoseconds(100)),
                30,
                1e-9);
}

TEST(FlowResults, RefusesAFileThatCannotBeWritten)
{
    const Topology topology;
    Routing routing(topology, FabricSpec());
    FluidTransport transport(routing);
    EXPECT_THROW(WriteFlowCsv(FlowResults(), transport, "/no-such-folder/x.csv"),
                 std::runtime_error);
}

// 100 sequential flows, the k-th of k kB in k + 2 us: 99 steps from the minimum of 3 us to the
// maximum. Half of them are 49.5 us, 95 % are 94.05 us and 99 % are 98.01 us, the same
// interpolation as numpy's and the reports'.
TEST(FlowSummary, PercentilesAreLinearBetweenRanks)
{
    std::string text = "100\n";
    for (int k = 1; k <= 100; k++)
    {
        text += "0 1 3 100 " + std::to_string(k * 1000) + " " + std::to_string(k) + "\n";
    }
    const auto played = PlayTexts(PAIR, text);
    const auto summary = SummarizeFlows(played.results, played.network->GetTransport());
    ASSERT_EQ(summary.classes.size(), 2U); // all, and at most 100 kB
    EXPECT_EQ(summary.flows, 100U);
    EXPECT_EQ(summary.bytes, Bytes(5'050'000));
    EXPECT_NEAR(summary.classes[1].completionSeconds.p50, 52.5e-6, 1e-15);
    EXPECT_NEAR(summary.classes[1].completionSeconds.p95, 97.05e-6, 1e-15);
    EXPECT_NEAR(summary.classes[1].completionSeconds.p99, 101.01e-6, 1e-15);
    EXPECT_EQ(summary.classes[1].slowdown.p99, 1);
    EXPECT_EQ(summary.makespan, Time::Seconds(99) + Time::Microseconds(102));
}

TEST(FlowSummary, ClassesSplitAt100kBAnd10MB)
{
    const auto played = PlayTexts(PAIR,
                                  "5\n0 1 3 100 100000 0\n0 1 3 100 100001 1\n0 1 3 100 0 2\n"
                                  "0 1 3 100 10000000 3\n0 1 3 100 10000001 4\n");
    const auto summary = SummarizeFlows(played.results, played.network->GetTransport());
    ASSERT_EQ(summary.classes.size(), 4U);
    EXPECT_EQ(summary.classes[1].flows, 2U);
    EXPECT_EQ(summary.classes[2].flows, 2U);
    EXPECT_EQ(summary.classes[3].flows, 1U);
}

TEST(FlowSummary, NoFlowsAreASummaryToo)
{
    const auto played = PlayTexts(PAIR, "0\n");
    const auto summary = SummarizeFlows(played.results, played.network->GetTransport());
    EXPECT_EQ(summary.flows, 0U);
    EXPECT_TRUE(summary.classes.empty());
}

// Both flows are active for the whole makespan.
TEST(FlowReport, IsOneJsonObjectWithTheSummary)
{
    const auto played = PlayTexts(PAIR, "2\n0 1 3 100 1000 0\n0 1 3 100 1000 0\n");
    FlowReport report;
    report.topology = "pair";
    report.flows = "two";
    report.run = played.run;
    report.summary = SummarizeFlows(played.results, played.network->GetTransport());
    const auto object = nlohmann::json::parse(ToJson(report));
    EXPECT_EQ(object["flows"], 2);
    EXPECT_EQ(object["bytes"], 2000);
    EXPECT_EQ(object["makespan_s"], 4e-6);
    EXPECT_EQ(object["mean_active"], 2);
    EXPECT_EQ(object["max_active"], 2);
    EXPECT_EQ(object["classes"][0]["name"], "all");
    EXPECT_EQ(object["classes"][0]["fct_s"]["p99"], 4e-6);
    EXPECT_NE(ToText(report).find("1.333"), std::string::npos);
}

/** In fidelity hybrid the JSON has what the summary says of the coupling. */
TEST(FlowReport, HasTheCouplingOfPacketsAndFluid)
{
    FlowReport report;
    EXPECT_FALSE(nlohmann::json::parse(ToJson(report)).contains("coupling"));
    report.result.coupling = CouplingCounters{7, 4096};
    const auto coupling = nlohmann::json::parse(ToJson(report))["coupling"];
    EXPECT_EQ(coupling["windows"], 7);
    EXPECT_EQ(coupling["largest_debt_bytes"], 4096);
    EXPECT_NE(ToText(report).find("coupled in 7 windows"), std::string::npos);
}

/** Kinds of the links on a flow's path, in any order. */
std::vector<LinkKind>
KindsOfPath(FlowNetwork& network, uint32_t source, uint32_t destination)
{
    std::vector<LinkKind> kinds;
    const RouteId route = network.FindRoute(source, destination, {});
    for (const PathLink& link : network.GetRouting().Links(route))
    {
        kinds.push_back(network.GetRouting().GetTopology().GetLink(link.link).kind);
    }
    return kinds;
}

// HGX H100: inside a node NVLink to the NVSwitches and back. Between nodes PCIe (GPU, switch, NIC)
// on both sides and two network links over the leaf of the rail, four if the rails differ.
TEST(ClusterNetwork, GpusAreEndPointsOverTheirOwnNics)
{
    const auto network = OpenNetwork("hgx-h100", {2, {}, {}}, Catalog());
    EXPECT_EQ(network->EndPointCount(), 16U);
    EXPECT_EQ(network->WhyNoEndPoint(16), "a GPU of the system, 0 to 15");
    EXPECT_EQ(network->WhyNoEndPoint(15), "");
    EXPECT_EQ(KindsOfPath(*network, 0, 1), std::vector<LinkKind>(2, LinkKind::NvLink));
    const auto countOf = [](const std::vector<LinkKind>& kinds, LinkKind kind) {
        return std::count(kinds.begin(), kinds.end(), kind);
    };
    const auto sameRail = KindsOfPath(*network, 3, 11);
    EXPECT_EQ(countOf(sameRail, LinkKind::Pcie), 4);
    EXPECT_EQ(countOf(sameRail, LinkKind::Network), 2);
    EXPECT_EQ(sameRail.size(), 6U);
    const auto otherRail = KindsOfPath(*network, 3, 12);
    EXPECT_EQ(countOf(otherRail, LinkKind::Pcie), 4);
    EXPECT_EQ(countOf(otherRail, LinkKind::Network), 4);
    EXPECT_EQ(countOf(otherRail, LinkKind::NvLink), 0);
}

} // namespace
} // namespace weir
