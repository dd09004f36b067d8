// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/back-to-back-calls.h"

#include "collectives/algorithms/ring/back-to-back-chains.h"
#include "collectives/engines/closed-form.h"
#include "collectives/engines/flow-engine.h"
#include "collectives/engines/leg-sharing.h"

#include "collective-bench.h"
#include "reference-machines.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ostream>

namespace weir
{
namespace
{

/** Chains whose hops share no link: a slice takes its size over the channel's rate cap. */
class BackToBackChainsTest : public testing::Test
{
  protected:
    /**
     * Back-to-back chains over ranks 0, 1, 2: one slice of 1 us, hops of 5 us, 10 us between a
     * rank's kernels.
     */
    BackToBackChains ChainsOf(const std::vector<std::vector<uint32_t>>& orders)
    {
        BackToBackChains backToBack;
        backToBack.slice = backToBack.bytes = Bytes(1000);
        backToBack.cap = Rate::GBps(1);
        backToBack.start = Time::Microseconds(10);
        for (const auto& order : orders)
        {
            ScheduleConnection hop;
            hop.connection.route = m_routes.Nowhere();
            hop.latency = Time::Microseconds(5);
            backToBack.chains.push_back({order, {hop, hop}});
        }
        return backToBack;
    }

    double Period(const BackToBackChains& backToBack, uint32_t calls = 20)
    {
        return PeriodOf(backToBack, UncontendedRates({}, m_routes), calls).ToMicroseconds();
    }

    Topology m_topology;
    Routing m_routes{m_topology, FabricSpec()};
};

TEST_F(BackToBackChainsTest, AreAsSlowAsTheSlowestRankWhereAllChainsHaveOneOrder)
{
    // A rank starts, sends for 1 us and starts again 10 us later, whatever the length of the chain.
    EXPECT_NEAR(Period(ChainsOf({{0, 1, 2}})), 11, 1e-9);
    EXPECT_NEAR(Period(ChainsOf({{0, 1, 2}, {0, 1, 2}})), 11, 1e-9);
}

TEST_F(BackToBackChainsTest, WaitForRanksThatAreLateOnAnotherChain)
{
    // Rank 1 ends a call when rank 2's slice has arrived, at least 1 + 5 us after rank 2 began it,
    // and vice versa; each begins the next call 10 us later.
    EXPECT_NEAR(Period(ChainsOf({{0, 1, 2}, {0, 2, 1}})), 16, 1e-9);
}

TEST_F(BackToBackChainsTest, AddWhatKeepsAKernelBeyondItsBytes)
{
    BackToBackChains backToBack = ChainsOf({{0, 1, 2}});
    backToBack.chains[0].hops[1].release = Time::Microseconds(3);
    EXPECT_NEAR(Period(backToBack), 14, 1e-9);
}

TEST_F(BackToBackChainsTest, WaitForSlotsWhereThereAreMoreSlicesThanTheseHold)
{
    // Ten slices, two slots: each of the last eight leaves when the next rank takes an earlier
    // slice, which that rank begins at f(p + 1) = f(p) + 1 + 5. So a kernel lasts 6 + 8 us, not 10.
    BackToBackChains backToBack = ChainsOf({{0, 1, 2}});
    backToBack.bytes = Bytes(10000);
    for (auto& hop : backToBack.chains[0].hops)
    {
        hop.slots = 2;
    }
    EXPECT_NEAR(Period(backToBack), 24, 1e-9);
}

/**
 * As BackToBackChainsTest, with hops over one link, as of a bridge that a rank receives and sends
 * through.
 */
class ContendedChains : public BackToBackChainsTest
{
  protected:
    ContendedChains()
    {
        const DeviceId a = m_topology.AddDevice(DeviceKind::Gpu, "a");
        const DeviceId b = m_topology.AddDevice(DeviceKind::Gpu, "b");
        m_link = m_topology.AddLink(a, b, LinkKind::Pcie, Rate::GBps(1), Time());
    }

    /** Period with 0, 1, 2 in order, @p start between a rank's kernels. */
    double PeriodWith(Time start)
    {
        Routing routes(m_topology, FabricSpec());
        BackToBackChains backToBack = ChainsOf({{0, 1, 2}});
        backToBack.start = start;
        for (auto& hop : backToBack.chains[0].hops)
        {
            hop.connection.route = routes.AddFixed(std::vector<LinkId>{m_link});
        }
        return PeriodOf(backToBack, UncontendedRates({}, routes), 1000).ToMicroseconds();
    }

    LinkId m_link;
};

TEST_F(ContendedChains, KeepALinkBusyWhereRanksBeginAtOnce)
{
    // Both hops of each call load the link for 1 us.
    EXPECT_NEAR(PeriodWith(Time()), 2, 0.02);
}

TEST_F(ContendedChains, DoNotContendWhereHopsAlternate)
{
    // Hops carry a slice in [0, 1) and [6, 7) of each 11 us.
    EXPECT_NEAR(PeriodWith(Time::Microseconds(10)), 11, 1e-6);
}

TEST_F(ContendedChains, ContendWithTheCallBefore)
{
    // The second hop begins 6 us after the first one. Uncontended calls have a period of 6 us, so
    // that it begins at the same time as the first hop of the next call; at half the rate a slice
    // takes 2 us, hops are 7 us apart and the period is 7 us.
    EXPECT_NEAR(PeriodWith(Time::Microseconds(5)), 7, 0.02);
}

/** Records the ends of @p maxCalls calls. */
class Ends : public BackToBackClient
{
  public:
    explicit Ends(std::size_t maxCalls)
        : m_maxCalls(maxCalls)
    {
    }

    bool OnCallDone(Time end, bool /* steady */) override
    {
        m_ends.push_back(end);
        return m_ends.size() < m_maxCalls;
    }

    const std::vector<Time>& Get() const
    {
        return m_ends;
    }

  private:
    std::size_t m_maxCalls;
    std::vector<Time> m_ends;
};

CommunicatorId
AllOf(CollectiveBench& bench)
{
    return bench.GetPlanner().AddCommunicator(
        FirstGpus(bench.GetPlanner().GetCluster().GpuCount()));
}

/** Ends of @p calls back-to-back calls in `flow`, and of those begun before the last one ended. */
std::vector<Time>
PlayBackToBack(CollectiveBench& bench, const CollectiveCall& call, std::size_t calls)
{
    FlowEngine engine(bench.GetPlanner(), bench.GetFabric().GetTransport());
    EngineSet set;
    set.Add(engine);
    set.Add(bench.GetFabric().GetTransport());
    Ends ends(calls);
    engine.StartBackToBack(call, ends, Time());
    set.RunToEnd();
    return ends.Get();
}

struct BackToBackCase
{
    uint32_t nodes;
    CollectiveOp op;
    Bytes bytes;
};

/** Used in gtest's messages. */
void
PrintTo(const BackToBackCase& one, std::ostream* out)
{
    *out << ToString(one.op) << " of " << one.bytes.Count() << " B on " << one.nodes << " nodes";
}

class BackToBackCallsTest : public testing::TestWithParam<BackToBackCase>
{
};

TEST_P(BackToBackCallsTest, FollowEachOtherByThePlansPeriod)
{
    const BackToBackCase& one = GetParam();
    CollectiveBench bench(H100Boxes(one.nodes));
    CollectiveCall call;
    call.communicator = AllOf(bench);
    call.op = one.op;
    call.bytes = one.bytes;
    const CollectivePlan& plan = bench.GetPlanner().Plan(call);
    const auto ends = PlayBackToBack(bench, call, 20);
    ASSERT_GE(ends.size(), 20U);
    EXPECT_LT(plan.period, plan.duration);
    const double period = (ends[19] - ends[0]).ToSeconds() / 19;
    EXPECT_NEAR(period / plan.period.ToSeconds(), 1, 2e-4);
}

INSTANTIATE_TEST_SUITE_P(Sizes,
                         BackToBackCallsTest,
                         testing::Values(BackToBackCase{1, CollectiveOp::Broadcast, Bytes(8)},
                                         BackToBackCase{1, CollectiveOp::Broadcast, Bytes::MiB(1)},
                                         BackToBackCase{1, CollectiveOp::Reduce, Bytes::MiB(64)},
                                         BackToBackCase{3, CollectiveOp::Broadcast, Bytes(8)},
                                         BackToBackCase{3, CollectiveOp::Reduce, Bytes::MiB(1)},
                                         BackToBackCase{
                                             3, CollectiveOp::Broadcast, Bytes::MiB(64)}));

TEST(BackToBackCalls, OfOneIsTheCallAlone)
{
    CollectiveBench bench(H100Boxes(2));
    CollectiveCall call;
    call.communicator = AllOf(bench);
    call.op = CollectiveOp::Broadcast;
    call.bytes = Bytes(8);
    const Time uncontended = bench.Run(Fidelity::Flow, call);
    CollectiveBench other(H100Boxes(2));
    call.communicator = AllOf(other);
    // Other ranks have begun the next call by then, but a slice waits for the one before it.
    EXPECT_EQ(PlayBackToBack(other, call, 1).front(), uncontended);
}

TEST(LegSharing, NeverEndsWhatIsOnALinkOfNoRate)
{
    Topology topology;
    const DeviceId a = topology.AddDevice(DeviceKind::Gpu, "a");
    const DeviceId b = topology.AddDevice(DeviceKind::Gpu, "b");
    const LinkId dead = topology.AddLink(a, b, LinkKind::Network, Rate::GBps(0), Time());
    const LinkId live = topology.AddLink(a, b, LinkKind::Network, Rate::GBps(1), Time());
    Routing routes(topology, FabricSpec());
    const std::vector<StreamLeg> legs{
        {routes.AddFixed(std::vector<LinkId>{dead}), Bytes(1000), Rate::GBps(1), 1},
        {routes.AddFixed(std::vector<LinkId>{live}), Bytes(1000), Rate::GBps(1), 1}};
    const std::vector<double> ends = LegSharing(legs, routes).Ends();
    EXPECT_TRUE(std::isinf(ends[0]));
    EXPECT_NEAR(ends[1], 1e-6, 1e-15);
}

} // namespace
} // namespace weir
