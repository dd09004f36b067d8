// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/simulation/back-to-back-time.h"

#include "scenarios/readers/read-system.h"
#include "scenarios/simulation/simulation.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

constexpr uint32_t CALLS = 20;

/** Broadcasts on nodes with one GPU each, whose host bridge relays what they receive and send. */
class BackToBackBroadcasts : public testing::TestWithParam<uint32_t>
{
  protected:
    BackToBackBroadcasts()
        : m_cluster(ReadSystem(YamlNode::Parse("a100-pcie-hdr", "system"), Catalog()).cluster)
    {
        m_cluster.nodes = GetParam();
    }

    CollectiveCall CallIn(Simulation& simulation) const
    {
        CollectiveCall call;
        std::vector<GpuId> gpus;
        for (uint32_t gpu = 0; gpu < GetParam(); gpu++)
        {
            gpus.emplace_back(gpu);
        }
        call.communicator = simulation.GetPlanner().AddCommunicator(gpus);
        call.op = CollectiveOp::Broadcast;
        call.bytes = Bytes(589695);
        return call;
    }

    /** Mean time of a call. */
    Time MeanTime(Fidelity fidelity) const
    {
        Simulation simulation(m_cluster);
        return BackToBackTime(simulation, fidelity, CallIn(simulation), CALLS);
    }

    ClusterSpec m_cluster;
};

/** Makes all calls, whatever their periods. */
class AllEnds : public BackToBackClient
{
  public:
    bool OnCallDone(Time end, bool /* steady */) override
    {
        last = ++m_calls <= CALLS ? end : last;
        return m_calls < CALLS;
    }

    Time last;

  private:
    uint32_t m_calls{0};
};

// The first calls find idle links behind them and reach the last ranks at other intervals than
// later ones, twice as long on 13 nodes and more. Extrapolation must not begin before.
TEST_P(BackToBackBroadcasts, AreExtrapolatedOnceAllRanksAreSteady)
{
    Simulation simulation(m_cluster);
    AllEnds ends;
    simulation.GetFlowEngine(Fidelity::Flow)
        .StartBackToBack(CallIn(simulation), ends, simulation.Engines().Now());
    simulation.Engines().RunToEnd();
    EXPECT_NEAR(MeanTime(Fidelity::Flow) / (ends.last * (1.0 / CALLS)), 1, 1e-3);
}

// A rank receives a call while it sends the previous one, so each hop contends with its neighbors.
TEST_P(BackToBackBroadcasts, TakeInStreamWhatTheyTakeInFlow)
{
    EXPECT_NEAR(MeanTime(Fidelity::Stream) / MeanTime(Fidelity::Flow), 1, 0.015);
}

INSTANTIATE_TEST_SUITE_P(Nodes, BackToBackBroadcasts, testing::Values(2, 3, 4, 8, 12, 13, 24));

} // namespace
} // namespace weir
