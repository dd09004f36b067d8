// SPDX-License-Identifier: GPL-2.0-only

// Invalid calls of an ns-3 program end it with one line that states what was found and expected.

#include "ns3/cluster-helper.h"
#include "ns3/collective-helper.h"
#include "ns3/double.h"
#include "ns3/fabric-net-device-helper.h"
#include "ns3/flow-source-helper.h"
#include "ns3/fluid-fabric.h"
#include "ns3/gpu-server.h"
#include "ns3/nstime.h"
#include "ns3/pointer.h"
#include "ns3/results-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/training-job.h"
#include "ns3/uinteger.h"

#include "../scenarios/scratch-folder.h"
#include "plain-servers.h"

#include <cstdint>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <string>

namespace
{

ns3::ClusterContainer
TwoServers(const char* transport = "fluid")
{
    return PlainServers(transport).Install(2);
}

/** Runs a FlowSource with this attribute for one millisecond. */
void
Send(const char* attribute, const char* value)
{
    const auto cluster = TwoServers();
    ns3::FlowSourceHelper helper({1});
    helper.SetAttribute(attribute, ns3::StringValue(value));
    helper.Install(cluster, {0});
    ns3::Simulator::Stop(ns3::MilliSeconds(1));
    ns3::Simulator::Run();
}

TEST(Refusals, NameGpusThatThereAreNot)
{
    EXPECT_DEATH(ns3::CollectiveHelper("all-reduce", 1).Install(TwoServers(), {}),
                 "found no GPU to install it on");
    EXPECT_DEATH(ns3::FlowSourceHelper({1}).Install(TwoServers(), {99}),
                 "found sending GPU 99, expected an index below 2");
    EXPECT_DEATH(ns3::FlowSourceHelper({99}).Install(TwoServers(), {0}),
                 "found receiving GPU 99, expected an index below 2");
}

TEST(Refusals, NameAmountsThatCannotBe)
{
    EXPECT_DEATH(TwoServers().GetFabric()->StartFlow(0, 1, UINT64_MAX), "expected less than 2.63");
    EXPECT_DEATH(Send("Size", "ns3::ConstantRandomVariable[Constant=1e19]"),
                 "found a Size of 1e.19 bytes");
    EXPECT_DEATH(Send("Interval", "ns3::ConstantRandomVariable[Constant=0]"),
                 "consecutive Intervals of 0 s, expected a positive Interval");
    for (const double factor : {1e-12, std::numeric_limits<double>::infinity(), -1.0})
    {
        EXPECT_DEATH(TwoServers().GetFabric()->ScaleLinkRate("node0/nic0", "leaf0", factor),
                     "found a link rate scaled by");
    }
}

TEST(Refusals, NameWhatThereIsToChoose)
{
    const auto install = [](const char* attribute) {
        ns3::CollectiveHelper helper("all-reduce", 1 << 20);
        helper.SetAttribute(attribute, ns3::StringValue("best"));
        helper.Install(TwoServers());
    };
    EXPECT_DEATH(install("Algorithm"), "expected one of: auto, ring, tree, ");
    EXPECT_DEATH(install("Protocol"), "expected one of: auto, ll, ll128, simple");
    EXPECT_DEATH(install("Fidelity"), "expected one of: analytical, stream, flow, packet");
    EXPECT_DEATH(install("Operation"), "expected one of: all-reduce, all-gather, ");
    EXPECT_DEATH(
        ns3::ClusterHelper().SetCongestionControlAttribute("Increase", ns3::StringValue("2")),
        "such as one with the prefix of the kind: .*SwiftIncrease");
}

TEST(Refusals, NameDevicesThatAreNotAttachedOrAre)
{
    const auto device = ns3::CreateObject<ns3::FabricNetDevice>();
    EXPECT_DEATH(device->Send(ns3::Create<ns3::Packet>(100), device->GetAddress(), 0x800),
                 "a packet to send on a device that is not attached");
    device->SetAttribute("Gap", ns3::UintegerValue(0)); // before attachment
    const auto cluster = TwoServers("packet");
    const auto attached = ns3::FabricNetDeviceHelper().Install(cluster, 0, 0);
    for (const char* attribute : {"TrafficClass", "Gap", "MinFrame"})
    {
        EXPECT_DEATH(attached->SetAttribute(attribute, ns3::UintegerValue(7)),
                     std::string("found ") + attribute + " set on a device that is attached");
    }
    ns3::Simulator::Destroy();
}

TEST(Refusals, SayHowACallbackInstallsAJob)
{
    const auto cluster = TwoServers();
    const auto install = [&cluster] { ns3::CollectiveHelper("all-reduce", 1).Install(cluster); };
    EXPECT_DEATH(
        {
            cluster.GetFabric()->StartFlow(
                0, 1, 1, ns3::FluidFabric::FlowCallback([&](uint64_t) { install(); }));
            ns3::Simulator::Run();
        },
        "expected the callback to schedule it with Simulator::ScheduleNow");
    cluster.GetFabric()->StartFlow(0, 1, 1, ns3::FluidFabric::FlowCallback([&](uint64_t) {
                                       ns3::Simulator::ScheduleNow(install);
                                   }));
    ns3::Simulator::Run();
    EXPECT_GT(ns3::Simulator::Now(), ns3::Time(0));
    ns3::Simulator::Destroy();
}

TEST(Refusals, SayThatThereIsNoFabric)
{
    EXPECT_DEATH(ns3::CreateObject<ns3::CollectiveJob>()->Install(nullptr, {0, 1}),
                 "found no fabric to install on");
    EXPECT_DEATH(ns3::CreateObject<ns3::TrainingJob>()->Install(nullptr, {0}, {}, {}),
                 "found no fabric to install on");
    const auto recorder = ns3::CreateObject<ns3::RunRecorder>();
    recorder->SetAttribute("TimelineFile", ns3::StringValue("never-written.json"));
    EXPECT_DEATH(recorder->Install(nullptr), "found no fabric to install on");
    EXPECT_DEATH(ns3::CreateObject<ns3::GpuServer>()->Attach(nullptr, 0), "found no fabric");
    ns3::FlowSourceHelper source({1});
    source.SetAttribute("Interval", ns3::PointerValue());
    EXPECT_DEATH(
        {
            source.Install(TwoServers(), {0});
            ns3::Simulator::Run();
        },
        "found no Interval, expected a random variable");
}

// 4294967295 + 2 is 1 in 32 bits.
TEST(Refusals, CountServersBeyondTheRangeOfTheirNumbers)
{
    const auto cluster = TwoServers();
    EXPECT_DEATH(cluster.GetGpus(std::numeric_limits<uint32_t>::max(), 2),
                 "there are only 2 servers");
    EXPECT_EQ(cluster.GetGpus(2, 0).size(), 0U);
    ns3::Simulator::Destroy();
}

TEST(Refusals, SayHowACallbackWritesResults)
{
    const weir::ScratchFolder folder;
    const auto cluster = TwoServers();
    const auto recorder = ns3::ResultsHelper(folder / "callback.h5").Install(cluster);
    const auto write = [recorder] { recorder->Write(); };
    EXPECT_DEATH(
        {
            cluster.GetFabric()->StartFlow(
                0, 1, 1, ns3::FluidFabric::FlowCallback([&](uint64_t) { write(); }));
            ns3::Simulator::Run();
        },
        "found Write inside a callback .*Simulator::ScheduleNow");
    cluster.GetFabric()->StartFlow(0, 1, 1, ns3::FluidFabric::FlowCallback([&](uint64_t) {
                                       ns3::Simulator::ScheduleNow(write);
                                   }));
    ns3::Simulator::Run();
    EXPECT_TRUE(std::ifstream(folder / "callback.h5"));
    ns3::Simulator::Destroy();
}

TEST(Refusals, AFabricEndsWithItsSimulator)
{
    const auto fabric = TwoServers().GetFabric();
    fabric->StartFlow(0, 1, 1000);
    ns3::Simulator::Run();
    ns3::Simulator::Destroy();
    EXPECT_EQ(fabric->GetActiveFlows(), 0U); // its state can still be read
    EXPECT_DEATH(fabric->StartFlow(0, 1, 1000), "used after Simulator::Destroy");
}

TEST(Refusals, ACallWithNothingToMoveHasNoBandwidth)
{
    const auto cluster = TwoServers();
    const auto job = ns3::CollectiveHelper("all-reduce", 1 << 20).Install(cluster, {0});
    ns3::Simulator::Run();
    EXPECT_EQ(job->GetBusBandwidth().ToBytesPerSecond(), 0);
    ns3::Simulator::Destroy();
}

} // namespace
