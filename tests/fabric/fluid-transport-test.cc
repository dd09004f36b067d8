// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/topology/cluster-spec.h"
#include "fabric/transport/fluid/fluid-transport.h"
#include "random-stream.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace weir
{
namespace
{

/** Records the ends of flows in order, and may react to them. */
class Log : public FlowClient
{
  public:
    void OnFlowDone(uint64_t token, Time now) override
    {
        ends.emplace_back(token, now.ToPicoseconds());
        if (answer)
        {
            answer(token, now);
        }
    }

    std::vector<std::pair<uint64_t, int64_t>> ends; //!< token, ps
    std::function<void(uint64_t, Time)> answer;
};

using Ends = std::vector<std::pair<uint64_t, int64_t>>;

Topology
TwoLinks()
{
    Topology topology;
    const DeviceId a = topology.AddDevice(DeviceKind::Host, "a");
    const DeviceId b = topology.AddDevice(DeviceKind::Host, "b");
    const DeviceId c = topology.AddDevice(DeviceKind::Host, "c");
    topology.AddLink(a, b, LinkKind::Network, Rate::GBps(1), Time::Nanoseconds(10));
    topology.AddLink(b, c, LinkKind::Network, Rate::GBps(1), Time::Nanoseconds(10));
    return topology;
}

/** Two links of 1 GB/s (1 ns per byte) in sequence. */
class FluidTransportTest : public testing::Test
{
  protected:
    FlowRequest Request(std::vector<LinkId> links, int64_t bytes, uint64_t token = 0)
    {
        FlowRequest request;
        request.route = routing.AddPinned(links);
        request.addsLatency = false;
        request.bytes = Bytes(bytes);
        request.client = &log;
        request.token = token;
        return request;
    }

    void RunToEnd()
    {
        EngineSet set;
        set.Add(transport);
        set.RunToEnd();
    }

    static Time Ns(int64_t ns)
    {
        return Time::Picoseconds(ns * 1000);
    }

    const LinkId first{0};
    const LinkId second{1};
    const Topology topology{TwoLinks()};
    Routing routing{topology, FabricSpec()};
    Log log;
    FluidTransport transport{routing};
};

TEST_F(FluidTransportTest, ForgettingIdleVariablesLosesNothing)
{
    // 10 000 consecutive transfers of 1000 bytes, each with its own rate cap and therefore its own
    // solver variable, far more than the transport keeps for reuse. Transfer i takes 1000 B /
    // cap_i, and the link has carried every byte. Finally the first cap recurs, whose variable has
    // been discarded.
    constexpr int COUNT = 10000;
    const auto capOf = [](uint64_t i) { return Rate::GBps(0.25 + 5e-5 * static_cast<double>(i)); };
    const auto start = [&](uint64_t i, Time now) {
        FlowRequest request = Request({first}, 1000, i);
        request.cap = capOf(i % COUNT);
        transport.Start(request, now);
    };
    log.answer = [&](uint64_t token, Time now) {
        if (token < COUNT)
        {
            start(token + 1, now);
        }
    };
    start(0, Time());
    RunToEnd();

    ASSERT_EQ(log.ends.size(), COUNT + 1u);
    Time expected;
    for (uint64_t i = 0; i <= COUNT; i++)
    {
        expected += Bytes(1000) / capOf(i % COUNT);
        EXPECT_NEAR(log.ends[i].second, expected.ToPicoseconds(), 1.0 + i) << i;
    }
    EXPECT_EQ(transport.GetLinkUsage(first).bytes, 1000.0 * (COUNT + 1));
    EXPECT_EQ(transport.GetLinkUsage(first).busy.ToPicoseconds(), log.ends.back().second);
}

TEST_F(FluidTransportTest, ALoneTransferTakesItsLatencyPlusBytesOverTheBottleneck)
{
    auto request = Request({first, second}, 12345);
    request.overhead = Ns(20);
    transport.Start(request, Ns(7));
    RunToEnd();
    EXPECT_EQ(log.ends, (Ends{{0, (7 + 20 + 12345) * 1000}}));
}

TEST_F(FluidTransportTest, ALoneTransferThatCrossesALinkThreeTimesHasAThirdOfIt)
{
    transport.Start(Request({first, first, second, first}, 1000), Time());
    RunToEnd();
    EXPECT_EQ(log.ends, (Ends{{0, 3000000}}));
}

TEST_F(FluidTransportTest, TwoShareALinkUntilOneIsDone)
{
    // Both at half rate until 1000 bytes have passed (2000 ns), then the other's last 500 bytes
    // uncontended.
    transport.Start(Request({first}, 1000, 1), Time());
    transport.Start(Request({first, second}, 1500, 2), Time());
    RunToEnd();
    EXPECT_EQ(log.ends, (Ends{{1, 2000000}, {2, 2500000}}));
}

TEST_F(FluidTransportTest, ATransferTakesItsShareOnlyAfterItsLatency)
{
    // Uncontended for 500 ns, then at half rate: the first has 500 bytes left, so 1000 ns more.
    transport.Start(Request({first}, 1000, 1), Time());
    auto late = Request({first}, 1000, 2);
    late.overhead = Ns(500);
    const FlowId id = transport.Start(late, Time());
    EXPECT_EQ(transport.CurrentRate(id), Rate());
    RunToEnd();
    EXPECT_EQ(log.ends, (Ends{{1, 1500000}, {2, 2000000}}));
}

TEST_F(FluidTransportTest, WeightsDivideALink)
{
    // Weights 3 and 1: 0.75 and 0.25 GB/s, so 750 bytes take 1000 ns; then 750 bytes uncontended.
    auto heavy = Request({first}, 750, 1);
    heavy.weight = 3;
    transport.Start(heavy, Time());
    transport.Start(Request({first}, 1000, 2), Time());
    RunToEnd();
    EXPECT_EQ(log.ends, (Ends{{1, 1000000}, {2, 1750000}}));
}

TEST_F(FluidTransportTest, ACapHoldsATransferAndLeavesTheRestToOthers)
{
    auto slow = Request({first}, 100, 1);
    slow.cap = Rate::GBps(0.1);
    const FlowId capped = transport.Start(slow, Time());
    const FlowId other = transport.Start(Request({first}, 900, 2), Time());
    EXPECT_DOUBLE_EQ(transport.CurrentRate(capped).ToGBps(), 0.1);
    EXPECT_DOUBLE_EQ(transport.CurrentRate(other).ToGBps(), 0.9);
    EXPECT_DOUBLE_EQ(transport.CurrentLinkRate(first).ToGBps(), 1);
    RunToEnd();
    EXPECT_EQ(log.ends, (Ends{{1, 1000000}, {2, 1000000}}));
}

TEST_F(FluidTransportTest, NoBytesTakeTheLatencyAndNoShare)
{
    auto empty = Request({first}, 0, 1);
    empty.overhead = Ns(30);
    transport.Start(empty, Time());
    transport.Start(Request({first}, 0, 2), Time());
    transport.Start(Request({first}, 100, 3), Time());
    RunToEnd();
    EXPECT_EQ(log.ends, (Ends{{2, 0}, {1, 30000}, {3, 100000}}));
}

TEST_F(FluidTransportTest, TheEmptyPathTakesItsCapOrNoTime)
{
    auto capped = Request({}, 1000, 1);
    capped.cap = Rate::GBps(2);
    transport.Start(capped, Time());
    auto free = Request({}, 1000, 2);
    free.overhead = Ns(5);
    transport.Start(free, Time());
    RunToEnd();
    EXPECT_EQ(log.ends, (Ends{{2, 5000}, {1, 500000}}));
}

TEST_F(FluidTransportTest, ALinkThatIsDownHoldsItsTransfersUntilItIsBack)
{
    transport.Start(Request({first}, 1000, 1), Time());
    transport.SetLinkRate(first, Rate(), Ns(400));
    EXPECT_TRUE(transport.NextEventTime().IsInfinite());
    EXPECT_EQ(transport.CurrentLinkRate(first), Rate());
    transport.SetLinkRate(first, Rate::GBps(2), Ns(5000));
    RunToEnd();
    EXPECT_EQ(log.ends, (Ends{{1, 5300000}})); // 600 bytes at 2 GB/s
    EXPECT_EQ(transport.GetLinkUsage(first).busy, Ns(700));
}

TEST_F(FluidTransportTest, ATransferThatChangesPathKeepsWhatItHasMoved)
{
    transport.Start(Request({first}, 1000, 1), Time());
    const FlowId id = transport.Start(Request({first}, 1000, 2), Time());
    EXPECT_TRUE(
        transport.SetRoute(id, routing.AddPinned({second}), Ns(1000))); // both have 500 bytes left
    RunToEnd();
    EXPECT_EQ(log.ends, (Ends{{1, 1500000}, {2, 1500000}}));
    EXPECT_EQ(transport.GetLinkUsage(first).bytes, 1500);
    EXPECT_EQ(transport.GetLinkUsage(second).bytes, 500);
    EXPECT_FALSE(transport.SetRoute(id, routing.AddPinned({first}), Ns(1500)));
}

TEST_F(FluidTransportTest, ACancelledTransferGivesItsShareBackAndTellsNobody)
{
    transport.Start(Request({first}, 1000, 1), Time());
    const FlowId id = transport.Start(Request({first}, 1000, 2), Time());
    EXPECT_EQ(transport.ActiveFlows(), 2U);
    EXPECT_TRUE(transport.Cancel(id, Ns(1000)));
    EXPECT_FALSE(transport.Cancel(id, Ns(1000)));
    EXPECT_EQ(transport.ActiveFlows(), 1U);
    RunToEnd();
    EXPECT_EQ(log.ends, (Ends{{1, 1500000}}));
    EXPECT_EQ(transport.GetLinkUsage(first).bytes, 1500);
}

// An occupant of half a link leaves the rest of it, until it is canceled.
TEST_F(FluidTransportTest, ACanceledOccupantCannotBeChanged)
{
    const FlowId id = transport.Occupy(Request({first}, 1), FlowPath(), Time());
    transport.Start(Request({first}, 1000, 1), Time());
    EXPECT_TRUE(transport.SetOccupant(id, Rate::GBps(0.25), FlowPath(), 1, Ns(400))); // 800 left
    EXPECT_TRUE(transport.Cancel(id, Ns(800)));                                       // 500 left
    EXPECT_FALSE(transport.SetOccupant(id, Rate::GBps(0.25), FlowPath(), 1, Ns(800)));
    RunToEnd();
    EXPECT_EQ(log.ends, (Ends{{1, 1300000}}));
}

TEST_F(FluidTransportTest, AllThatEndInOnePicosecondEndInTheOrderOfTheirStarts)
{
    for (uint64_t i = 0; i < 4; i++)
    {
        transport.Start(Request({i % 2 == 0 ? second : first}, 500, i), Time());
    }
    EXPECT_EQ(transport.NextEventTime(), Ns(1000));
    transport.AdvanceTo(Ns(1000));
    EXPECT_EQ(log.ends, (Ends{{0, 1000000}, {1, 1000000}, {2, 1000000}, {3, 1000000}}));
    EXPECT_EQ(transport.ActiveFlows(), 0U);
}

TEST_F(FluidTransportTest, AClientMayStartTheNextTransferWhenOneEnds)
{
    log.answer = [this](uint64_t token, Time now) {
        if (token < 1000)
        {
            transport.Start(Request({first}, 100, token + 1), now);
        }
    };
    transport.Start(Request({first}, 100, 1), Time());
    RunToEnd();
    EXPECT_EQ(log.ends.back(), (std::pair<uint64_t, int64_t>{1000, 100000000}));
    const LinkUsage usage = transport.GetLinkUsage(first);
    EXPECT_EQ(usage.bytes, 100000);
    EXPECT_EQ(usage.busy, Ns(100000));
    EXPECT_EQ(usage.saturated, Ns(100000));
}

TEST_F(FluidTransportTest, UsageCountsBytesAndBusyAndSaturatedTimeAtAnyMoment)
{
    auto slow = Request({first, first}, 1000, 1); // 0.25 GB/s, crossing the link twice
    slow.cap = Rate::GBps(0.25);
    transport.Start(slow, Ns(100));
    EXPECT_FALSE(transport.Cancel(FlowId{}, Ns(1100)));
    LinkUsage usage = transport.GetLinkUsage(first);
    EXPECT_DOUBLE_EQ(usage.bytes, 500); // 250 bytes of the transfer have passed, twice
    EXPECT_EQ(usage.busy, Ns(1000));
    EXPECT_EQ(usage.saturated, Time());
    transport.Start(Request({first}, 100, 2), Ns(1100)); // takes the other half: 200 ns
    RunToEnd();
    usage = transport.GetLinkUsage(first);
    EXPECT_EQ(usage.bytes, 2100);
    EXPECT_EQ(usage.busy, Ns(4000));
    EXPECT_EQ(usage.saturated, Ns(200));
}

/** Records the calls of an observer. */
class Witness : public TransportObserver
{
  public:
    void OnFlowStarted(FlowId id, const FlowRequest& request, Time now) override
    {
        seen.push_back("start " + std::to_string(request.token));
    }

    void OnFlowFinished(FlowId id, const FlowRequest& request, Time started, Time now) override
    {
        seen.push_back("finish " + std::to_string(request.token) + " of " +
                       std::to_string(request.bytes.Count()));
    }

    void OnLinkRate(LinkId link, Rate rate, Time now) override
    {
        seen.push_back("link " + std::to_string(link.Index()) + " " +
                       std::to_string(static_cast<int>(rate.ToBytesPerSecond() / 1e6)) + " at " +
                       std::to_string(now.ToPicoseconds()));
    }

    std::vector<std::string> seen;
};

TEST_F(FluidTransportTest, AnObserverSeesStartsEndsAndChangesOfRate)
{
    Witness witness;
    transport.AddObserver(witness, true);
    auto capped = Request({first}, 250, 1);
    capped.cap = Rate::GBps(0.25);
    transport.Start(capped, Time());
    transport.AdvanceTo(Ns(100)); // uncontended: 0.25 GB/s
    transport.Start(Request({first}, 600, 2), Ns(100));
    RunToEnd(); // 0.25 + 0.75 = 1 until 900 ns, then 0.25 until 1000 ns, then 0
    EXPECT_EQ(witness.seen,
              (std::vector<std::string>{"start 1",
                                        "link 0 250 at 0",
                                        "start 2",
                                        "link 0 1000 at 100000",
                                        "finish 2 of 600",
                                        "link 0 250 at 900000",
                                        "finish 1 of 250",
                                        "link 0 0 at 1000000"}));
}

// A flow has two links in isolation until it is cancelled and another flow takes the first link;
// the observer is told that the second link is idle from then on.
TEST_F(FluidTransportTest, AnObserverSeesALinkThatIsFreeWhenItsFlowMakesRoomForAnother)
{
    Witness witness;
    transport.AddObserver(witness, true);
    const FlowId flow = transport.Start(Request({first, second}, 1000, 1), Time());
    transport.AdvanceTo(Ns(100));
    transport.Cancel(flow, Ns(100));
    transport.Start(Request({first}, 100, 2), Ns(100));
    RunToEnd(); // at 1 GB/s
    EXPECT_EQ(witness.seen,
              (std::vector<std::string>{"start 1",
                                        "link 0 1000 at 0",
                                        "link 1 1000 at 0",
                                        "start 2",
                                        "link 1 0 at 100000",
                                        "link 0 1000 at 100000",
                                        "finish 2 of 100",
                                        "link 0 0 at 200000"}));
}

TEST_F(FluidTransportTest, NothingDriftsInTenMillionTransfers)
{
    // Four chains over one link and four over the next, always 100 bytes at a quarter of 1 GB/s:
    // every 400 ns eight transfers end, always at whole picoseconds.
    const int rounds = 1250000;
    int64_t ended = 0;
    log.answer = [&](uint64_t token, Time now) {
        log.ends.clear();
        ASSERT_EQ(now, Ns(400 * (1 + ended / 8)));
        ended++;
        if (ended <= 8 * (rounds - 1))
        {
            transport.Start(Request({token % 2 == 0 ? first : second}, 100, token), now);
        }
    };
    for (uint64_t i = 0; i < 8; i++)
    {
        transport.Start(Request({i % 2 == 0 ? first : second}, 100, i), Time());
    }
    RunToEnd();
    EXPECT_EQ(ended, 8 * int64_t{rounds});
    EXPECT_EQ(transport.GetLinkUsage(first).bytes, 400.0 * rounds);
    EXPECT_EQ(transport.GetLinkUsage(second).bytes, 400.0 * rounds);
}

TEST_F(FluidTransportTest, NothingDriftsWhereEveryEventChangesTheRates)
{
    // Four chains of random sizes and weights keep the first link full, so the last transfer ends
    // when all bytes have passed at 1 GB/s, up to a rounding of half a picosecond per transfer.
    const int64_t transfers = 500000;
    RandomStream random(1);
    int64_t started = 0;
    int64_t bytes = 0;
    Time last;
    const auto start = [&](uint64_t chain, Time now) {
        FlowRequest request = Request({first}, 100 + int64_t(random.Below(900)), chain);
        request.weight = 1.0 + chain;
        bytes += request.bytes.Count();
        started++;
        transport.Start(request, now);
    };
    log.answer = [&](uint64_t chain, Time now) {
        log.ends.clear();
        last = now;
        if (started < transfers)
        {
            start(chain, now);
        }
    };
    for (uint64_t chain = 0; chain < 4; chain++)
    {
        start(chain, Time());
    }
    RunToEnd();
    EXPECT_EQ(started, transfers);
    EXPECT_EQ(transport.GetLinkUsage(first).bytes, double(bytes));
    EXPECT_NEAR(last.ToSeconds(), bytes / 1e9, transfers * 0.5e-12);
    EXPECT_EQ(transport.GetLinkUsage(first).saturated, last);
}

TEST_F(FluidTransportTest, WrongRequestsAreRefused)
{
    const auto refused = [this](auto change) {
        auto request = Request({first}, 1);
        change(request);
        EXPECT_THROW(transport.Start(request, Time()), std::invalid_argument);
    };
    refused([](FlowRequest& r) { r.bytes = Bytes(-1); });
    refused([](FlowRequest& r) { r.overhead = Time::Picoseconds(-1); });
    refused([](FlowRequest& r) { r.overhead = Time::Infinite(); });
    refused([](FlowRequest& r) { r.weight = 0; });
    refused([](FlowRequest& r) { r.weight = std::numeric_limits<double>::quiet_NaN(); });
    refused([](FlowRequest& r) { r.cap = Rate(); });
    refused([](FlowRequest& r) { r.route = RouteId(99); });
    refused([](FlowRequest& r) { r.route = RouteId(); });
    EXPECT_THROW(transport.SetLinkRate(LinkId(2), Rate(), Time()), std::invalid_argument);
    EXPECT_THROW(transport.SetLinkRate(first, Rate::GBps(-1), Time()), std::invalid_argument);
    EXPECT_EQ(transport.ActiveFlows(), 0U);
}

TEST(FluidTransport, ALinkThatCameAfterTheTransportIsRefused)
{
    Topology topology = TwoLinks();
    Routing routing(topology, FabricSpec());
    FluidTransport transport(routing);
    const LinkId late =
        topology.AddLink(DeviceId(2), DeviceId(0), LinkKind::Network, Rate::GBps(1), Time());
    FlowRequest request;
    request.route = routing.AddPinned({late});
    EXPECT_THROW(transport.Start(request, Time()), std::invalid_argument);
    EXPECT_EQ(transport.ActiveFlows(), 0U);
}

TEST_F(FluidTransportTest, TimeNeitherGoesBackNorSkipsAnEvent)
{
    transport.Start(Request({first}, 1000), Ns(5));
    EXPECT_THROW(transport.AdvanceTo(Ns(4)), std::invalid_argument);
    EXPECT_THROW(transport.AdvanceTo(Ns(1006)), std::invalid_argument);
    EXPECT_NO_THROW(transport.AdvanceTo(Ns(1005)));
}

} // namespace
} // namespace weir
