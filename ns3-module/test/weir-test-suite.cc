// SPDX-License-Identifier: GPL-2.0-only

// Tests of the ns-3 layer on top of the plain code: time, attributes, trace sources, helpers. The
// tests of the plain code are in tests/.

#include "weir-test-case.h"

#include "fabric/kinds/clos-fabric.h"
#include "ns3/cluster-helper.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/engine-driver.h"
#include "ns3/event-id.h"
#include "ns3/fluid-fabric.h"
#include "ns3/gpu-server.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/weir-units.h"

#include <vector>

using namespace ns3;

namespace
{

/** An engine with events at given times, which records when they were processed. */
class ListEngine : public weir::PassiveEngine
{
  public:
    weir::Time NextEventTime() override
    {
        return m_next < m_times.size() ? m_times[m_next] : weir::Time::Infinite();
    }

    void AdvanceTo(weir::Time now) override
    {
        while (m_next < m_times.size() && m_times[m_next] <= now)
        {
            m_visits.push_back(now);
            m_wallVisits.push_back(Simulator::Now());
            m_next++;
        }
    }

    std::vector<weir::Time> m_times;  //!< event times, ascending
    std::vector<weir::Time> m_visits; //!< engine times of processing
    std::vector<Time> m_wallVisits;   //!< simulator times of processing
    std::size_t m_next{0};            //!< index of the next event
};

/**
 * Engines process events at exact picoseconds; the simulator's time is never before theirs, and
 * less than one of its time steps later.
 */
WEIR_TEST_CASE(RoundingTestCase,
               "Wake-ups are rounded up to the simulator's resolution, engine times are exact")
{
    ListEngine engine;
    for (const int64_t ps : {1, 999, 1000, 1001, 5000000})
    {
        engine.m_times.push_back(weir::Time::Picoseconds(ps));
    }
    Ptr<EngineDriver> driver = CreateObject<EngineDriver>();
    driver->Add(engine, nullptr);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(engine.m_visits.size(), 5, "every event is visited once");
    const int64_t roundedUp[]{1, 1, 1, 2, 5000}; // ns
    for (std::size_t i = 0; i < 5; i++)
    {
        NS_TEST_EXPECT_MSG_EQ((engine.m_visits[i] == engine.m_times[i]), true, "exact time");
        NS_TEST_EXPECT_MSG_EQ(engine.m_wallVisits[i],
                              NanoSeconds(roundedUp[i]),
                              "the simulator's time is the engine's, rounded up");
    }
    NS_TEST_EXPECT_MSG_EQ(Simulator::Now(), MicroSeconds(5), "nothing is pending afterwards");
    Simulator::Destroy();
}

/** An event that moves to an earlier or later time leaves no stale wake-up. */
WEIR_TEST_CASE(OnePendingEventTestCase, "The driver holds exactly one pending event")
{
    ListEngine engine;
    engine.m_times = {weir::Time::Microseconds(100)};
    Ptr<EngineDriver> driver = CreateObject<EngineDriver>();
    driver->Add(engine, nullptr);
    Simulator::Schedule(MicroSeconds(10), [&engine, driver]() {
        const weir::Time now = driver->Synchronize();
        engine.m_times = {now + weir::Time::Microseconds(1)};
        driver->Update();
    });
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(engine.m_visits.size(), 1, "the event happens once");
    NS_TEST_EXPECT_MSG_EQ(engine.m_visits[0].ToPicoseconds(), 11000000, "where it moved to");
    NS_TEST_EXPECT_MSG_EQ(Simulator::Now(), MicroSeconds(11), "no wake-up is left at its old time");
    Simulator::Destroy();
}

/** Conversions are exact within the resolution of the target. */
WEIR_TEST_CASE(UnitsTestCase, "ns-3's times and rates become Weir's and back")
{
    NS_TEST_EXPECT_MSG_EQ(ToWeir(NanoSeconds(25)).ToPicoseconds(), 25000, "25 ns");
    NS_TEST_EXPECT_MSG_EQ(ToNs3(weir::Time::Picoseconds(25000)), NanoSeconds(25), "25 ns");
    NS_TEST_EXPECT_MSG_EQ(ToNs3(weir::Time::Picoseconds(25001)), NanoSeconds(26), "up");
    NS_TEST_EXPECT_MSG_EQ(ToWeir(DataRate("400Gbps")).ToGBps(), 50, "400 Gb/s is 50 GB/s");
    NS_TEST_EXPECT_MSG_EQ(ToNs3(weir::Rate::GBps(25)), DataRate("200Gbps"), "25 GB/s");
}

/** An uncontended flow takes the latency of its path plus bytes / rate of its slowest link. */
class UncontendedFlowTestCase : public TestCase
{
  public:
    UncontendedFlowTestCase()
        : TestCase("An uncontended flow takes latency plus bytes over the bottleneck's rate")
    {
    }

  private:
    /**
     * Trace sink of FlowFinished.
     * @param started its start time
     * @param now its end time
     */
    void Finished(uint64_t flow,
                  const weir::FlowRequest& request,
                  weir::Time started,
                  weir::Time now)
    {
        m_traced = now - started;
    }

    /** Called at the end of the flow. */
    void Done(uint64_t flow)
    {
        m_done = flow;
    }

    void DoRun() override
    {
        ClusterHelper helper;
        helper.SetServerAttribute("NicRate", StringValue("400Gbps"));
        helper.SetServerAttribute("NicEfficiency", DoubleValue(1));
        helper.SetServerAttribute("NicLatency", StringValue("500ns"));
        helper.SetServerAttribute("PcieLatency", StringValue("100ns"));
        ClusterContainer cluster = helper.Install(2);

        // The fabric can be reached through any server.
        PointerValue found;
        cluster.GetServers().Get(1)->GetObject<GpuServer>()->GetAttribute("Fabric", found);
        Ptr<FluidFabric> fabric = found.Get<FluidFabric>();
        NS_TEST_ASSERT_MSG_EQ(fabric, cluster.GetFabric(), "one fabric");
        Config::ConnectWithoutContext("/NodeList/*/$ns3::GpuServer/Fabric/FlowFinished",
                                      MakeCallback(&UncontendedFlowTestCase::Finished, this));

        // 5e6 bytes at 50 GB/s take 100 us; the path has two PCIe links on each side and two
        // network links.
        const uint64_t flow = fabric->StartFlow(cluster.GetGpu(0, 3),
                                                cluster.GetGpu(1, 3),
                                                5000000,
                                                MakeCallback(&UncontendedFlowTestCase::Done, this));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(m_traced.ToPicoseconds(), 101400000, "4 x 100 + 2 x 500 ns + 100 us");
        NS_TEST_EXPECT_MSG_EQ(Simulator::Now(), NanoSeconds(101400), "the simulator is there, too");
        NS_TEST_EXPECT_MSG_EQ(m_done, flow, "the callback names the flow");
        Simulator::Destroy();
    }

    weir::Time m_traced; //!< the flow's duration as traced
    uint64_t m_done{0};  //!< the flow that the callback named
};

/** Halving the rate of a link halfway through a flow doubles the time of the rest. */
class DegradedLinkTestCase : public TestCase
{
  public:
    DegradedLinkTestCase()
        : TestCase("A link that loses half its rate halfway makes a flow half as long again")
    {
    }

  private:
    /** Trace sink of LinkRate. */
    void LinkRate(uint32_t link, weir::Rate rate, weir::Time now)
    {
        m_rates.push_back(rate.ToGBps());
    }

    void DoRun() override
    {
        ClusterHelper helper;
        helper.SetServerAttribute("NicEfficiency", DoubleValue(1));
        for (const char* latency :
             {"NicLatency", "PcieLatency", "PcieUplinkLatency", "InterSocketLatency"})
        {
            helper.SetServerAttribute(latency, StringValue("0ns"));
        }
        ClusterContainer cluster = helper.Install(2);
        Ptr<FluidFabric> fabric = cluster.GetFabric();
        fabric->TraceConnectWithoutContext("LinkRate",
                                           MakeCallback(&DegradedLinkTestCase::LinkRate, this));
        fabric->StartFlow(cluster.GetGpu(0, 0), cluster.GetGpu(1, 0), 5000000);
        Simulator::Schedule(
            MicroSeconds(50), &FluidFabric::ScaleLinkRate, fabric, "node0/nic0", "leaf0", 0.5);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(Simulator::Now(), MicroSeconds(150), "50 us + 50 us x 2");
        NS_TEST_ASSERT_MSG_EQ(m_rates.empty(), false, "rates are traced");
        NS_TEST_EXPECT_MSG_EQ_TOL(m_rates.front(), 50, 1e-9, "at first the full rate");
        NS_TEST_EXPECT_MSG_EQ(m_rates.back(), 0, "at last none");
        Simulator::Destroy();
    }

    std::vector<double> m_rates; //!< as traced, in GB/s
};

/**
 * Flows are rerouted around failed switches, stall without a path, and resume when a switch is up
 * again.
 */
WEIR_TEST_CASE(FailedSwitchTestCase,
               "Flows are rerouted around a switch that fails, stall where none is left, resume")
{
    // One leaf per server, several spines: a flow between servers gets the rate of one NIC over
    // any spine.
    weir::ClusterSpec spec =
        ClusterHelper().Install(4).GetFabric()->GetFabric().GetCluster().GetSpec();
    Simulator::Destroy();
    weir::LeafSpine kind;
    kind.leafRadix = 2 * spec.node.nics;
    spec.fabric.kind = kind;
    Ptr<FluidFabric> fabric = CreateObject<FluidFabric>();
    fabric->Wire(spec);
    const double rate =
        fabric->GetLinkCapacity(fabric->FindLink("node0/nic0", "leaf0")).ToBytesPerSecond();
    const auto bytes = static_cast<uint64_t>(rate * 1e-3); // a millisecond
    Time end;
    fabric->StartFlow(0, spec.node.gpus, bytes, Callback<void, uint64_t>([&end](uint64_t) {
                          end = Simulator::Now();
                      }));
    Simulator::Run();
    const Time uncontended = end;

    // With only one spine up, the flow takes that spine, in the same time.
    uint32_t spines = 0;
    const weir::Topology& topology = fabric->GetFabric().GetCluster().GetTopology();
    while (topology.FindDevice("spine" + std::to_string(spines)).IsValid())
    {
        spines++;
    }
    NS_TEST_ASSERT_MSG_GT(spines, 1u, "there are paths to choose from");
    for (uint32_t kept = 0; kept < spines; kept++)
    {
        const Time start = Simulator::Now();
        fabric->StartFlow(0, spec.node.gpus, bytes, Callback<void, uint64_t>([&end](uint64_t) {
                              end = Simulator::Now();
                          }));
        for (uint32_t spine = 0; spine < spines; spine++)
        {
            fabric->SetDeviceUp("spine" + std::to_string(spine), spine == kept);
        }
        NS_TEST_ASSERT_MSG_EQ(fabric->DescribeWaiting(), "", "a path is left");
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(end - start, uncontended, "rerouted over spine " << kept);
    }

    // With its leaf down the flow stalls, and DescribeWaiting reports it; it resumes 1 ms
    // later.
    const Time start = Simulator::Now();
    fabric->StartFlow(0, spec.node.gpus, bytes, Callback<void, uint64_t>([&end](uint64_t) {
                          end = Simulator::Now();
                      }));
    Simulator::Schedule(MicroSeconds(500), &FluidFabric::SetDeviceUp, fabric, "leaf0", false);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(fabric->GetActiveFlows(), 1u, "it has not ended");
    NS_TEST_ASSERT_MSG_NE(fabric->DescribeWaiting().find("node0/gpu0 to node1/gpu0 waits for "),
                          std::string::npos,
                          fabric->DescribeWaiting());
    Simulator::Schedule(MilliSeconds(1), &FluidFabric::SetDeviceUp, fabric, "leaf0", true);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(
        end - start, uncontended + MilliSeconds(1), "it has stood still for 1 ms");
    NS_TEST_ASSERT_MSG_EQ(fabric->DescribeWaiting(), "", "nobody waits");
    Simulator::Destroy();
}

/**
 * An uncontended fluid flow over one switch takes latency plus bytes / rate; with the forwarding
 * correction additionally packet / rate, as the switch receives the packet whole. A packet flow
 * takes longer by the latency of the switch model.
 */
class HelperModelsTestCase : public TestCase
{
  public:
    HelperModelsTestCase()
        : TestCase("A helper takes corrections of the fluid and models of switches")
    {
    }

  private:
    /**
     * The time of an uncontended flow of 5 MB.
     * @param helper builds its fabric
     */
    static Time DurationOf(ClusterHelper helper)
    {
        helper.SetServerAttribute("NicRate", StringValue("400Gbps"));
        helper.SetServerAttribute("NicEfficiency", DoubleValue(1));
        helper.SetServerAttribute("NicLatency", StringValue("500ns"));
        helper.SetServerAttribute("PcieLatency", StringValue("100ns"));
        ClusterContainer cluster = helper.Install(2);
        Time end;
        cluster.GetFabric()->StartFlow(cluster.GetGpu(0, 3),
                                       cluster.GetGpu(1, 3),
                                       5000000,
                                       MakeBoundCallback(&HelperModelsTestCase::Note, &end));
        Simulator::Run();
        Simulator::Destroy();
        return end;
    }

    /**
     * Called at the end of the flow.
     * @param end receives the time
     */
    static void Note(Time* end, uint64_t flow)
    {
        *end = Simulator::Now();
    }

    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_EQ(DurationOf({}), NanoSeconds(101400), "as UncontendedFlowTestCase");
        ClusterHelper corrected;
        corrected.SetCorrectionAttribute("Packet", UintegerValue(5000));
        NS_TEST_EXPECT_MSG_EQ(DurationOf(corrected), NanoSeconds(101500), "5000 bytes, 100 ns");
        weir::CorrectionSpec corrections;
        corrections.forwarding.packet = weir::Bytes(10000);
        corrected.SetCorrections(corrections);
        NS_TEST_EXPECT_MSG_EQ(DurationOf(corrected), NanoSeconds(101600), "10000 bytes, 200 ns");

        ClusterHelper packets;
        packets.SetTransport("packet");
        const Time without = DurationOf(packets);
        weir::SwitchSpec model;
        model.latency = weir::Time::Nanoseconds(700);
        packets.SetSwitch(model);
        NS_TEST_EXPECT_MSG_EQ(DurationOf(packets) - without, NanoSeconds(700), "the model's");
        packets.SetPacketAttribute("Latency", TimeValue(NanoSeconds(100)));
        NS_TEST_EXPECT_MSG_EQ(DurationOf(packets) - without, NanoSeconds(100), "set after it");
    }
};

/** A cluster can be given as plain values, of which attributes change single ones. */
WEIR_TEST_CASE(PlainValuesTestCase,
               "A helper starts from plain values, and attributes change single figures")
{
    ClusterHelper described;
    described.SetServerAttribute("Nics", UintegerValue(4));
    described.SetServerAttribute("NicEfficiency", DoubleValue(0.75));
    described.SetServerAttribute("NvlinkLatency", StringValue("170ns"));
    const weir::ClusterSpec spec =
        described.Install(2).GetFabric()->GetFabric().GetCluster().GetSpec();

    ClusterHelper copied(spec);
    copied.SetServerAttribute("NicRate", StringValue("200Gbps"));
    ClusterContainer cluster = copied.Install();
    const weir::ClusterSpec& copy = cluster.GetFabric()->GetFabric().GetCluster().GetSpec();
    NS_TEST_EXPECT_MSG_EQ(cluster.GetServers().GetN(), 2, "as many servers");
    NS_TEST_EXPECT_MSG_EQ(copy.node.nics, 4, "as many NICs");
    NS_TEST_EXPECT_MSG_EQ(copy.node.nic.rawRate.ToGbps(), 200, "half the rate");
    NS_TEST_EXPECT_MSG_EQ_TOL(
        copy.node.nic.PayloadRate().ToGbps(), 150, 1e-9, "the same efficiency");
    NS_TEST_EXPECT_MSG_EQ(copy.node.nvlink.latency.ToPicoseconds(), 170000, "the same latency");
    Simulator::Destroy();
}

/** The suite. */
class WeirTestSuite : public TestSuite
{
  public:
    WeirTestSuite()
        : TestSuite("weir", TestSuite::Type::UNIT)
    {
        AddTestCase(new RoundingTestCase);
        AddTestCase(new OnePendingEventTestCase);
        AddTestCase(new UnitsTestCase);
        AddTestCase(new UncontendedFlowTestCase);
        AddTestCase(new DegradedLinkTestCase);
        AddTestCase(new FailedSwitchTestCase);
        AddTestCase(new HelperModelsTestCase);
        AddTestCase(new PlainValuesTestCase);
    }
};

WeirTestSuite g_weirTestSuite; //!< registers the suite

} // namespace
