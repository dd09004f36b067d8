// SPDX-License-Identifier: GPL-2.0-only

// Tests of the application that sends flows: start times, durations, destinations, and independent
// random variables.

#include "weir-test-case.h"

#include "ns3/cluster-helper.h"
#include "ns3/double.h"
#include "ns3/flow-source-helper.h"
#include "ns3/node.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <cmath>
#include <set>
#include <vector>

using namespace ns3;

namespace
{

/** A flow as traced. */
struct TracedFlow
{
    uint32_t source;      //!< GPU
    uint32_t destination; //!< GPU
    uint64_t bytes;       //!< bytes of the flow
    weir::Time started;   //!< exact time
    weir::Time finished;  //!< exact time
};

/** Flows in the order of their ends. */
std::vector<TracedFlow> g_flows;

/** Trace sink of FlowFinished. */
void
Note(uint32_t source, uint32_t destination, uint64_t bytes, weir::Time started, weir::Time now)
{
    g_flows.push_back({source, destination, bytes, started, now});
}

/** Two servers with 50 GB/s NICs and round link latencies. */
ClusterContainer
TwoServers()
{
    ClusterHelper helper;
    helper.SetServerAttribute("NicRate", StringValue("400Gbps"));
    helper.SetServerAttribute("NicEfficiency", DoubleValue(1));
    helper.SetServerAttribute("NicLatency", StringValue("500ns"));
    helper.SetServerAttribute("PcieLatency", StringValue("100ns"));
    return helper.Install(2);
}

/**
 * Runs the simulation to its end.
 * @param sources whose flows are recorded
 */
std::vector<TracedFlow>
RunToEnd(const ApplicationContainer& sources)
{
    g_flows.clear();
    for (uint32_t i = 0; i < sources.GetN(); i++)
    {
        sources.Get(i)->TraceConnectWithoutContext("FlowFinished", MakeCallback(&Note));
    }
    Simulator::Run();
    return g_flows;
}

/** Uncontended flows start periodically and take as long as those of StartFlow. */
WEIR_TEST_CASE(IntervalTestCase, "Flows start at the start time and every interval from then on")
{
    ClusterContainer cluster = TwoServers();
    FlowSourceHelper helper({cluster.GetGpu(1, 3)});
    helper.SetAttribute("Size", StringValue("ns3::ConstantRandomVariable[Constant=5e6]"));
    helper.SetAttribute("Interval", StringValue("ns3::ConstantRandomVariable[Constant=1e-3]"));
    helper.SetAttribute("MaxFlows", UintegerValue(3));
    ApplicationContainer sources = helper.Install(cluster, {cluster.GetGpu(0, 3)});
    sources.Start(MilliSeconds(2));
    const auto flows = RunToEnd(sources);
    NS_TEST_ASSERT_MSG_EQ(flows.size(), 3, "as many as MaxFlows");
    for (std::size_t i = 0; i < flows.size(); i++)
    {
        NS_TEST_EXPECT_MSG_EQ(flows[i].source, 3, "GPU 3 of server 0");
        NS_TEST_EXPECT_MSG_EQ(flows[i].destination, 11, "GPU 3 of server 1");
        NS_TEST_EXPECT_MSG_EQ(flows[i].bytes, 5000000, "what Size says");
        NS_TEST_EXPECT_MSG_EQ(
            flows[i].started.ToPicoseconds(), (2 + int64_t(i)) * 1000000000, "2, 3, 4 ms");
        // 5e6 bytes at 50 GB/s, two PCIe links each side and two network links.
        NS_TEST_EXPECT_MSG_EQ((flows[i].finished - flows[i].started).ToPicoseconds(),
                              101400000,
                              "100 us + 4 x 100 + 2 x 500 ns");
    }
    Ptr<FluidFabric> fabric = cluster.GetFabric();
    const uint32_t up = fabric->FindLink("node0/nic3", "leaf3");
    NS_TEST_EXPECT_MSG_EQ(fabric->GetLinkName(up), "node0/nic3->leaf3", "its ends");
    NS_TEST_EXPECT_MSG_EQ_TOL(fabric->GetLinkCapacity(up).ToGBps(), 50, 1e-9, "400 Gb/s");
    NS_TEST_EXPECT_MSG_EQ_TOL(fabric->GetLinkUsage(up).bytes, 15e6, 1, "three flows");
    const uint32_t down = fabric->FindLink("leaf3", "node0/nic3");
    NS_TEST_EXPECT_MSG_EQ(fabric->GetLinkUsage(down).bytes, 0, "the other direction is idle");
    Simulator::Destroy();
}

/** The open loop stops starting flows, but completes those in progress. */
WEIR_TEST_CASE(StopTestCase, "A source that stops starts no more flows and lets active ones end")
{
    ClusterContainer cluster = TwoServers();
    FlowSourceHelper helper({cluster.GetGpu(1, 0)});
    // 50 MB take 1 ms in isolation and start every 0.4 ms, so they overlap.
    helper.SetAttribute("Size", StringValue("ns3::ConstantRandomVariable[Constant=50e6]"));
    helper.SetAttribute("Interval", StringValue("ns3::ConstantRandomVariable[Constant=4e-4]"));
    ApplicationContainer sources = helper.Install(cluster, {cluster.GetGpu(0, 0)});
    sources.Start(Seconds(0));
    sources.Stop(MilliSeconds(1));
    const auto flows = RunToEnd(sources);
    const auto source = DynamicCast<FlowSource>(sources.Get(0));
    NS_TEST_EXPECT_MSG_EQ(source->GetStarted(), 3, "at 0, 0.4 and 0.8 ms");
    NS_TEST_EXPECT_MSG_EQ(source->GetFinished(), 3, "all of them end");
    NS_TEST_ASSERT_MSG_EQ(flows.size(), 3, "and are traced");
    // The link is busy from the first start to the end of 150 MB.
    NS_TEST_EXPECT_MSG_EQ_TOL(flows.back().finished.ToSeconds(), 3e-3, 2e-6, "3 x 1 ms");
    Simulator::Destroy();
}

/** Each source has its own random variables, which are reproducible. */
class StreamsTestCase : public TestCase
{
  public:
    StreamsTestCase()
        : TestCase("Sources draw apart, and the same streams give the same traffic")
    {
    }

  private:
    /**
     * Two Poisson sources that send to all GPUs of server 1.
     * @param stream number of the first stream
     */
    std::vector<TracedFlow> Traffic(int64_t stream)
    {
        ClusterContainer cluster = TwoServers();
        FlowSourceHelper helper(cluster.GetGpus(1, 1));
        helper.SetAttribute("Size", StringValue("ns3::UniformRandomVariable[Min=1|Max=1000]"));
        helper.SetAttribute("Interval", StringValue("ns3::ExponentialRandomVariable[Mean=1e-3]"));
        helper.SetAttribute("MaxFlows", UintegerValue(200));
        ApplicationContainer sources = helper.Install(cluster, cluster.GetGpus(0, 1));
        NS_TEST_EXPECT_MSG_EQ(sources.GetN(), 8, "a source a GPU");
        NS_TEST_EXPECT_MSG_EQ(helper.AssignStreams(sources, stream), 24, "three a source");
        const auto flows = RunToEnd(sources);
        Simulator::Destroy();
        return flows;
    }

    void DoRun() override
    {
        const auto flows = Traffic(1);
        const auto again = Traffic(1);
        const auto other = Traffic(1001);
        NS_TEST_ASSERT_MSG_EQ(flows.size(), 1600, "8 x 200");
        NS_TEST_ASSERT_MSG_EQ(again.size(), flows.size(), "as many");
        bool same = true;
        std::set<uint32_t> destinations;
        std::set<int64_t> starts;
        double last = 0;
        for (std::size_t i = 0; i < flows.size(); i++)
        {
            same = same && flows[i].started == again[i].started &&
                   flows[i].bytes == again[i].bytes && flows[i].destination == again[i].destination;
            destinations.insert(flows[i].destination);
            starts.insert(flows[i].started.ToPicoseconds());
            last = std::max(last, flows[i].started.ToSeconds());
            NS_TEST_EXPECT_MSG_EQ((flows[i].bytes >= 1 && flows[i].bytes <= 1000), true, "size");
        }
        NS_TEST_EXPECT_MSG_EQ(same, true, "the same streams");
        NS_TEST_EXPECT_MSG_EQ((other.back().started == flows.back().started), false, "others");
        NS_TEST_EXPECT_MSG_EQ(destinations.size(), 8, "every destination is picked");
        // All eight start at 0, and each of their 199 further flows at a distinct time.
        NS_TEST_EXPECT_MSG_GT(starts.size(), 1500, "no two sources draw the same");
        // The sum of 199 exponential intervals of mean 1 ms has mean 199 ms and standard deviation
        // sqrt(199) ms; the last of eight is within six standard deviations.
        NS_TEST_EXPECT_MSG_EQ_TOL(last, 0.199, 6 * std::sqrt(199.) * 1e-3, "Poisson");
        Simulator::Destroy();
    }
};

/** The suite. */
class FlowSourceTestSuite : public TestSuite
{
  public:
    FlowSourceTestSuite()
        : TestSuite("weir-flow-source", TestSuite::Type::UNIT)
    {
        AddTestCase(new IntervalTestCase);
        AddTestCase(new StopTestCase);
        AddTestCase(new StreamsTestCase);
    }
};

FlowSourceTestSuite g_flowSourceTestSuite; //!< registers the suite

} // namespace
