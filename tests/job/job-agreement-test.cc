// SPDX-License-Identifier: GPL-2.0-only

// The ns-3 objects of jobs add no time: at any resolution of the simulator they give the same
// picoseconds as the engines without ns-3 under PlainLoop.

#include "collectives/fidelity.h"
#include "collectives/planner.h"
#include "compute-model/training-run.h"
#include "fabric/fabric.h"
#include "ns3/boolean.h"
#include "ns3/cluster-helper.h"
#include "ns3/collective-helper.h"
#include "ns3/data-rate.h"
#include "ns3/fabric-port.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/training-job-helper.h"
#include "ns3/uinteger.h"
#include "scenarios/catalog.h"
#include "scenarios/job/ns3-loop.h"
#include "scenarios/readers/read-model.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/simulation/run-scenario.h"
#include "scenarios/yaml/yaml-node.h"

#include "plain-servers.h"

#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>

namespace
{

/** Four servers of the default kind of ClusterHelper. */
weir::ClusterSpec
FourServers()
{
    ns3::ClusterHelper helper;
    const weir::ClusterSpec spec =
        helper.Install(4).GetFabric()->GetFabric().GetCluster().GetSpec();
    ns3::Simulator::Destroy();
    return spec;
}

/** The engines without ns-3, driven by PlainLoop. */
class PlainRun : private weir::CollectiveClient
{
  public:
    PlainRun(const weir::ClusterSpec& spec, weir::Fidelity fidelity)
        : m_fabric(spec),
          m_planner(m_fabric.GetCluster(), m_fabric.GetRouting()),
          m_engine(weir::MakeCollectiveEngine(fidelity, m_planner, m_fabric.GetTransport()))
    {
    }

    /** End of an all-reduce over all GPUs that starts at 0. */
    weir::Time AllReduce(weir::Bytes bytes)
    {
        std::vector<weir::GpuId> gpus;
        for (uint32_t i = 0; i < m_fabric.GetCluster().GpuCount(); i++)
        {
            gpus.emplace_back(i);
        }
        weir::CollectiveCall call;
        call.communicator = m_planner.AddCommunicator(gpus);
        call.bytes = bytes;
        m_engine->Start(call, this, 0, weir::Time());
        RunToEnd({m_engine.get()});
        return m_end;
    }

    std::vector<weir::Time> Train(const weir::TrainingJobSpec& spec, const weir::Gpu& gpu)
    {
        weir::TrainingRun job(spec, gpu, m_planner, *m_engine);
        RunToEnd({&job.GetExecutor(), m_engine.get()});
        return job.GetExecutor().StepTimes();
    }

  private:
    void OnCollectiveDone(uint64_t token, weir::Time now) override
    {
        m_end = now;
    }

    void RunToEnd(const std::vector<weir::PassiveEngine*>& users)
    {
        weir::EngineSet engines;
        for (weir::PassiveEngine* user : users)
        {
            engines.Add(*user);
        }
        engines.Add(m_fabric.GetTransport());
        engines.RunToEnd();
    }

    weir::Fabric m_fabric;
    weir::Planner m_planner;
    std::unique_ptr<weir::CollectiveEngine> m_engine;
    weir::Time m_end;
};

class JobAgreement : public testing::TestWithParam<weir::Fidelity>
{
};

TEST_P(JobAgreement, ACollectiveTakesWhatThePlainEngineSays)
{
    const weir::ClusterSpec spec = FourServers();
    const weir::Bytes bytes = weir::Bytes::MiB(4);

    ns3::CollectiveHelper helper("all-reduce", bytes.Count());
    helper.SetAttribute("Fidelity", ns3::StringValue(weir::ToString(GetParam())));
    helper.SetAttribute("Calls", ns3::UintegerValue(2));
    helper.SetAttribute("StartTime", ns3::TimeValue(ns3::MicroSeconds(3)));
    const auto cluster = ns3::ClusterHelper(spec).Install();
    const auto job = helper.Install(cluster);
    ns3::Simulator::Run();
    ns3::Simulator::Destroy();
    EXPECT_EQ(job->GetReferenceCount(), 1u); // no other references remain

    const weir::Time plain = PlainRun(spec, GetParam()).AllReduce(bytes);
    ASSERT_EQ(job->GetDurations().size(), 2u);
    EXPECT_EQ(job->GetDurations()[0].ToPicoseconds(), plain.ToPicoseconds());
    EXPECT_EQ(job->GetDurations()[1].ToPicoseconds(), plain.ToPicoseconds());
}

TEST_P(JobAgreement, ATrainingStepTakesWhatThePlainExecutorSays)
{
    const weir::Catalog catalog;
    const auto system = weir::ReadSystem(weir::YamlNode::Parse("hgx-h100", "system"), catalog);
    auto model = weir::ReadModel(weir::YamlNode::Parse("gpt-1.7b", "model"), catalog);
    model.layers = 4; // for speed; the property holds at any depth

    ns3::TrainingJobHelper helper(model, system.gpu);
    helper.SetAttribute("Tensor", ns3::UintegerValue(2));
    helper.SetAttribute("Pipeline", ns3::UintegerValue(2));
    helper.SetAttribute("Data", ns3::UintegerValue(4));
    helper.SetAttribute("GlobalBatch", ns3::UintegerValue(16));
    helper.SetAttribute("Fidelity", ns3::StringValue(weir::ToString(GetParam())));
    const auto cluster = ns3::ClusterHelper(system.cluster).Install(2);
    const auto job = helper.Install(cluster);
    ns3::Simulator::Run();
    ns3::Simulator::Destroy();
    EXPECT_EQ(job->GetReferenceCount(), 1u);

    weir::TrainingJobSpec spec;
    spec.network = model;
    spec.plan = job->GetRun().GetSpec().plan;
    spec.gpus = job->GetRun().GetSpec().gpus;
    weir::ClusterSpec two = system.cluster;
    two.nodes = 2;
    const auto plain = PlainRun(two, GetParam()).Train(spec, system.gpu);
    ASSERT_TRUE(job->IsFinished());
    ASSERT_GE(plain.size(), 1u);
    ASSERT_EQ(job->GetStepTimes().size(), plain.size());
    for (std::size_t i = 0; i < plain.size(); i++)
    {
        EXPECT_EQ(job->GetStepTimes()[i].ToPicoseconds(), plain[i].ToPicoseconds());
    }
}

INSTANTIATE_TEST_SUITE_P(Fidelities,
                         JobAgreement,
                         testing::Values(weir::Fidelity::Analytical,
                                         weir::Fidelity::Stream,
                                         weir::Fidelity::Flow),
                         [](const auto& info) { return weir::ToString(info.param); });

// Bytes are rate times time. The program starts no flow itself, only a job does.
class TracedRates : public JobAgreement
{
};

TEST_P(TracedRates, OfALinkAddUpToTheBytesOfACollective)
{
    const auto cluster = ns3::ClusterHelper().Install(2);
    const auto fabric = cluster.GetFabric();
    const uint32_t traced = fabric->FindLink("node0/nic0", "leaf0");
    double bytes = 0;
    weir::Rate last;
    weir::Time since;
    fabric->TraceConnectWithoutContext("LinkRate",
                                       ns3::Callback<void, uint32_t, weir::Rate, weir::Time>(
                                           [&](uint32_t link, weir::Rate rate, weir::Time now) {
                                               if (link == traced)
                                               {
                                                   bytes += last.ToBytesPerSecond() *
                                                            (now - since).ToSeconds();
                                                   last = rate;
                                                   since = now;
                                               }
                                           }));
    ns3::CollectiveHelper helper("all-reduce", 1 << 22);
    helper.SetAttribute("Fidelity", ns3::StringValue(weir::ToString(GetParam())));
    helper.Install(cluster);
    ns3::Simulator::Run();
    EXPECT_EQ(last, weir::Rate());
    const double carried = fabric->GetLinkUsage(traced).bytes;
    EXPECT_GT(carried, 0);
    EXPECT_NEAR(bytes, carried, 1e-6 * carried);
    ns3::Simulator::Destroy();
}

INSTANTIATE_TEST_SUITE_P(Fidelities,
                         TracedRates,
                         testing::Values(weir::Fidelity::Stream, weir::Fidelity::Flow),
                         [](const auto& info) { return weir::ToString(info.param); });

// 10 us, the default, is no time at a resolution of a millisecond: rates are those of milliseconds.
// The resolution of a process can be set once, so the test has one of its own.
TEST(FabricPort, RatesHaveIntervalsOfAtLeastTheResolution)
{
    EXPECT_EXIT(
        {
            ns3::Time::SetResolution(ns3::Time::MS);
            const auto cluster = PlainServers("packet").Install(2);
            const auto fabric = cluster.GetFabric();
            const auto port = fabric->GetPort(fabric->FindLink("node0/nic0", "leaf0"));
            double bytes = 0;
            port->TraceConnectWithoutContext(
                "Rate", ns3::Callback<void, ns3::DataRate>([&bytes](ns3::DataRate rate) {
                    bytes += static_cast<double>(rate.GetBitRate()) * 1e-3 / 8;
                }));
            fabric->StartFlow(0, 1, 50000000); // 4 ms
            ns3::Simulator::Run();
            const double sent = static_cast<double>(port->GetCounters().bytes);
            std::exit(std::abs(bytes - sent) < 1 && sent > 5e7 ? 0 : 1);
        },
        testing::ExitedWithCode(0),
        "");
}

// The defaults of ServerDescription's attributes are documented as those of the catalog's HGX H100.
TEST(ClusterHelper, BuildsTheServersOfHgxH100)
{
    const weir::Catalog catalog;
    const auto system = weir::ReadSystem(weir::YamlNode::Parse("hgx-h100", "system"), catalog);
    const weir::NodeSpec& read = system.cluster.node;
    const weir::NodeSpec built = FourServers().node;
    EXPECT_EQ(built.gpuModel, read.gpuModel);
    EXPECT_EQ(built.gpus, read.gpus);
    EXPECT_EQ(built.nvlinksPerGpu, read.nvlinksPerGpu);
    EXPECT_EQ(built.pcieSwitches, read.pcieSwitches);
    EXPECT_EQ(built.sockets, read.sockets);
    EXPECT_EQ(built.nics, read.nics);
    for (const auto link : {&weir::NodeSpec::nvlink,
                            &weir::NodeSpec::pcie,
                            &weir::NodeSpec::pcieUplink,
                            &weir::NodeSpec::interSocket,
                            &weir::NodeSpec::nic})
    {
        EXPECT_NEAR((built.*link).PayloadRate() / (read.*link).PayloadRate(), 1, 1e-9);
        EXPECT_EQ((built.*link).latency, (read.*link).latency);
    }
}

/** Has events at given times and records when it is advanced. */
class Metronome : public weir::PassiveEngine
{
  public:
    weir::Time NextEventTime() override
    {
        return m_beats < 5 ? weir::Time::Picoseconds(1234567 * (m_beats + 1))
                           : weir::Time::Infinite();
    }

    void AdvanceTo(weir::Time now) override
    {
        if (now == NextEventTime())
        {
            m_beats++;
        }
        m_visits.push_back(now.ToPicoseconds());
    }

    int64_t m_beats{0};
    std::vector<int64_t> m_visits;
};

TEST(Ns3Loop, VisitsTheInstantsThatThePlainLoopVisits)
{
    Metronome plain;
    weir::EngineSet plainSet;
    plainSet.Add(plain);
    weir::PlainLoop().Run(plainSet, [](weir::Time) {});

    Metronome driven;
    weir::EngineSet drivenSet;
    drivenSet.Add(driven);
    weir::Ns3Loop().Run(drivenSet, [](weir::Time) {});

    EXPECT_EQ(driven.m_beats, 5);
    EXPECT_EQ(driven.m_visits, plain.m_visits);
    EXPECT_EQ(drivenSet.Instants(), plainSet.Instants());
}

} // namespace
