// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traffic/traffic-pattern.h"

#include "refusal.h"
#include "scenarios/readers/read-traffic.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace weir
{
namespace
{

const Rate LINK = Rate::GBps(10);

/** @p nodes nodes of @p each end points. */
std::vector<TrafficEndPoint>
EndPoints(uint32_t nodes, uint32_t each)
{
    std::vector<TrafficEndPoint> ends;
    for (uint32_t node = 0; node < nodes; node++)
    {
        ends.insert(ends.end(), each, {node, LINK});
    }
    return ends;
}

std::vector<TrafficFlow>
FlowsOf(const TrafficSpec& spec, const std::vector<TrafficEndPoint>& ends)
{
    const auto pattern = MakeTrafficPattern(spec, ends);
    std::vector<TrafficFlow> flows;
    while (const auto flow = pattern->Next())
    {
        flows.push_back(*flow);
    }
    return flows;
}

TrafficSpec
Spec(TrafficKind kind)
{
    TrafficSpec spec;
    spec.kind = kind;
    spec.sizes = SizeDistribution(Bytes(1000000));
    return spec;
}

SizeDistribution
WebSearch()
{
    return LoadFlowSizes("websearch", Catalog({std::string(WEIR_SOURCE_DIR) + "/scenarios"}));
}

// The mean is the sum of midpoint times probability of each segment: 5 kB x 0.15 + 15 kB x 0.05 +
// 25 kB x 0.1 + ...
TEST(SizeDistribution, HasItsMeanByHand)
{
    const double byHand =
        750 + 750 + 2500 + 4000 + 8450 + 9800 + 60e3 + 150e3 + 350e3 + 525e3 + 600e3;
    EXPECT_NEAR(WebSearch().Mean(), byHand, 1e-6);
    EXPECT_EQ(SizeDistribution(Bytes(77)).Mean(), 77);
}

// Linear interpolation: halfway from the 30 % to the 40 % quantile is halfway from 30 kB to 50 kB.
TEST(SizeDistribution, IsLinearBetweenItsPoints)
{
    EXPECT_EQ(WebSearch().Quantile(0.35), Bytes(40000));
    EXPECT_EQ(WebSearch().Quantile(0), Bytes(1));
    EXPECT_EQ(SizeDistribution(Bytes(77)).Quantile(0.99), Bytes(77));
}

TEST(SizeDistribution, RefusesWhatIsNone)
{
    using Points = std::vector<std::pair<double, double>>;
    EXPECT_THROW(SizeDistribution(Points{{0, 0}, {10, 0.5}}), std::invalid_argument);
    EXPECT_THROW(SizeDistribution(Points{{10, 0.5}, {5, 1}}), std::invalid_argument);
    EXPECT_THROW(SizeDistribution(Points{{0, 0}, {0, 1}}), std::invalid_argument);
    EXPECT_THROW(SizeDistribution(Points{}), std::invalid_argument);
}

// Arrivals of a Poisson process of rate r within T: their number is Poisson distributed with
// standard error sqrt(rT); the bytes are a compound Poisson sum with standard error sqrt(rT
// E[S^2]).
TEST(PoissonTraffic, OffersTheLoadThatIsAskedFor)
{
    TrafficSpec spec = Spec(TrafficKind::Poisson);
    spec.sizes = WebSearch();
    spec.load = 0.4;
    spec.duration = Time::Seconds(1);
    const auto flows = FlowsOf(spec, EndPoints(32, 1));
    double bytes = 0;
    double squares = 0;
    for (const TrafficFlow& flow : flows)
    {
        bytes += flow.bytes.ToDouble();
        squares += flow.bytes.ToDouble() * flow.bytes.ToDouble();
    }
    const double asked = spec.load * 32 * LINK.ToBytesPerSecond();
    const double count = asked / spec.sizes.Mean();
    EXPECT_NEAR(static_cast<double>(flows.size()), count, 4 * std::sqrt(count));
    EXPECT_NEAR(bytes, asked, 4 * std::sqrt(squares));
    EXPECT_GT(flows.size(), 50000U);
}

// Gaps of a Poisson process are exponential: E[X^2] / E[X]^2 = 2.
TEST(PoissonTraffic, HasExponentialGaps)
{
    TrafficSpec spec = Spec(TrafficKind::Poisson);
    spec.load = 0.5;
    spec.duration = Time::Seconds(1);
    const auto flows = FlowsOf(spec, EndPoints(8, 1));
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 1; i < flows.size(); i++)
    {
        const double gap = (flows[i].start - flows[i - 1].start).ToSeconds();
        sum += gap;
        squares += gap * gap;
    }
    const auto count = static_cast<double>(flows.size() - 1);
    const double mean = sum / count;
    EXPECT_NEAR(squares / count / (mean * mean), 2, 4 * std::sqrt(20 / count));
}

// Sources are drawn in proportion to their rates: one of twice the rate of the four others has 2/6
// of the flows, each other one 1/6.
TEST(PoissonTraffic, DrawsSourcesByTheirRates)
{
    TrafficSpec spec = Spec(TrafficKind::Poisson);
    spec.load = 0.5;
    spec.duration = Time::Seconds(1);
    auto ends = EndPoints(5, 1);
    ends[2].rate = LINK * 2.0;
    std::map<uint32_t, double> sent;
    const auto flows = FlowsOf(spec, ends);
    for (const TrafficFlow& flow : flows)
    {
        sent[flow.source] += 1;
    }
    const auto count = static_cast<double>(flows.size());
    EXPECT_NEAR(sent[2] / count, 1.0 / 3, 4 * std::sqrt(1.0 / 3 / count));
    EXPECT_NEAR(sent[0] / count, 1.0 / 6, 4 * std::sqrt(1.0 / 6 / count));
}

TEST(PermutationTraffic, SendsAndReceivesOnceAndNeverToItself)
{
    for (const uint32_t each : {1U, 4U})
    {
        TrafficSpec spec = Spec(TrafficKind::Permutation);
        spec.times = 20;
        spec.every = Time::Milliseconds(1);
        const auto ends = EndPoints(6, each);
        const auto flows = FlowsOf(spec, ends);
        ASSERT_EQ(flows.size(), 20 * ends.size());
        for (std::size_t round = 0; round < 20; round++)
        {
            std::set<uint32_t> sources;
            std::set<uint32_t> destinations;
            for (std::size_t i = 0; i < ends.size(); i++)
            {
                const TrafficFlow& flow = flows[round * ends.size() + i];
                EXPECT_NE(ends[flow.source].node, ends[flow.destination].node);
                EXPECT_EQ(flow.start, Time::Milliseconds(static_cast<double>(round)));
                sources.insert(flow.source);
                destinations.insert(flow.destination);
            }
            EXPECT_EQ(sources.size(), ends.size());
            EXPECT_EQ(destinations.size(), ends.size());
        }
    }
}

// Two nodes of four end points: each sends to the other node, as in only 4! x 4! of 8!
// permutations, one of 70.
TEST(PermutationTraffic, IsFoundWhereItIsRare)
{
    const TrafficSpec spec = Spec(TrafficKind::Permutation);
    EXPECT_EQ(FlowsOf(spec, EndPoints(2, 4)).size(), 8U);
    auto ends = EndPoints(2, 4);
    ends.pop_back();
    EXPECT_NE(RefusalOf([&] {
                  FlowsOf(spec, ends);
              }).find("found 4 of 7 end points on one node, expected at most half"),
              std::string::npos);
}

TEST(IncastTraffic, HasAsManySendersToOneReceiver)
{
    TrafficSpec spec = Spec(TrafficKind::Incast);
    spec.senders = 12;
    spec.times = 30;
    spec.every = Time::Milliseconds(1);
    const auto ends = EndPoints(4, 4);
    const auto flows = FlowsOf(spec, ends);
    ASSERT_EQ(flows.size(), 12U * 30);
    std::set<uint32_t> receivers;
    for (std::size_t round = 0; round < 30; round++)
    {
        std::set<uint32_t> senders;
        for (std::size_t i = 0; i < 12; i++)
        {
            const TrafficFlow& flow = flows[round * 12 + i];
            EXPECT_EQ(flow.destination, flows[round * 12].destination);
            EXPECT_NE(ends[flow.source].node, ends[flow.destination].node);
            senders.insert(flow.source);
        }
        EXPECT_EQ(senders.size(), 12U);
        receivers.insert(flows[round * 12].destination);
    }
    EXPECT_GT(receivers.size(), 8U); // of 16, equally likely
    spec.senders = 13;
    EXPECT_NE(RefusalOf([&] { FlowsOf(spec, ends); }).find("expected at most the 12 end points"),
              std::string::npos);
}

TEST(AllToAllTraffic, JoinsEveryPairOnce)
{
    const auto flows = FlowsOf(Spec(TrafficKind::AllToAll), EndPoints(3, 2));
    std::set<std::pair<uint32_t, uint32_t>> pairs;
    for (const TrafficFlow& flow : flows)
    {
        EXPECT_NE(flow.source, flow.destination);
        pairs.emplace(flow.source, flow.destination);
    }
    EXPECT_EQ(flows.size(), 30U);
    EXPECT_EQ(pairs.size(), 30U);
    EXPECT_NE(RefusalOf([] {
                  FlowsOf(Spec(TrafficKind::AllToAll), EndPoints(4098, 1));
              }).find("flows a round, expected at most 16777216"),
              std::string::npos);
}

// 1 ms on at 5 GB/s, 3 ms off: 5 MB every 4 ms from each end point to a fixed destination.
TEST(OnOffTraffic, HasFixedSpans)
{
    TrafficSpec spec = Spec(TrafficKind::OnOff);
    spec.on = Time::Milliseconds(1);
    spec.off = Time::Milliseconds(3);
    spec.rate = Rate::GBps(5);
    spec.isFixed = true;
    spec.duration = Time::Milliseconds(39);
    const auto flows = FlowsOf(spec, EndPoints(8, 1));
    ASSERT_EQ(flows.size(), 80U);
    for (std::size_t i = 0; i < flows.size(); i++)
    {
        EXPECT_EQ(flows[i].bytes, Bytes(5000000));
        EXPECT_EQ(flows[i].cap, Rate::GBps(5));
        EXPECT_EQ(flows[i].destination, flows[i % 8].destination);
        EXPECT_NEAR(flows[i].start.ToSeconds(), 4e-3 * static_cast<double>(i / 8), 1e-12);
    }
}

TEST(OnOffTraffic, IsNoFasterThanTheSlowestLink)
{
    TrafficSpec spec = Spec(TrafficKind::OnOff);
    spec.on = spec.off = Time::Milliseconds(1);
    spec.duration = Time::Milliseconds(1);
    auto ends = EndPoints(8, 1);
    ends[2].rate = Rate::Gbps(60);
    spec.rate = Rate::Gbps(61);
    EXPECT_NE(RefusalOf([&] {
                  FlowsOf(spec, ends);
              }).find("found a rate of 61 Gb/s, expected at most the 60 Gb/s of the slowest"),
              std::string::npos);
    spec.rate = Rate::Gbps(60);
    EXPECT_FALSE(FlowsOf(spec, ends).empty());
}

// Over many periods the fraction of time on is on / (on + off).
TEST(OnOffTraffic, IsOnForItsShare)
{
    TrafficSpec spec = Spec(TrafficKind::OnOff);
    spec.on = Time::Milliseconds(1);
    spec.off = Time::Milliseconds(3);
    spec.duration = Time::Seconds(10);
    double bytes = 0;
    const auto flows = FlowsOf(spec, EndPoints(16, 1));
    for (const TrafficFlow& flow : flows)
    {
        bytes += flow.bytes.ToDouble();
    }
    const double periods = 16 * 10 / 4e-3;
    EXPECT_NEAR(
        bytes / (LINK.ToBytesPerSecond() * 16 * 10), 0.25, 0.25 * 4 * std::sqrt(2 / periods));
}

TEST(Traffic, IsTheSameFromTheSameSeedAndInOrder)
{
    for (const TrafficKind kind :
         {TrafficKind::Poisson, TrafficKind::Permutation, TrafficKind::Incast, TrafficKind::OnOff})
    {
        TrafficSpec spec = Spec(kind);
        spec.load = 0.5;
        spec.senders = 3;
        spec.times = 5;
        spec.every = Time::Milliseconds(1);
        spec.on = spec.off = Time::Milliseconds(1);
        spec.duration = Time::Milliseconds(10);
        const auto text = [&] {
            std::string all;
            Time before;
            for (const TrafficFlow& flow : FlowsOf(spec, EndPoints(8, 2)))
            {
                EXPECT_LE(before, flow.start);
                before = flow.start;
                all += std::to_string(flow.source) + " " + std::to_string(flow.destination) + " " +
                       std::to_string(flow.bytes.Count()) + " " +
                       std::to_string(flow.start.ToPicoseconds()) + "\n";
            }
            return all;
        };
        const std::string first = text();
        EXPECT_EQ(text(), first);
        spec.seed = 2;
        EXPECT_NE(text(), first) << ToString(kind);
    }
}

// Exact for rounds and fixed spans; for random traffic within four standard errors of a Poisson
// process, an upper bound.
TEST(Traffic, HasAsManyFlowsAsItsMeanSays)
{
    for (const TrafficKind kind : {TrafficKind::Poisson,
                                   TrafficKind::Permutation,
                                   TrafficKind::Incast,
                                   TrafficKind::AllToAll,
                                   TrafficKind::OnOff})
    {
        TrafficSpec spec = Spec(kind);
        spec.load = 0.5;
        spec.senders = 3;
        spec.times = 100;
        spec.every = Time::Milliseconds(3);
        spec.on = spec.off = Time::Milliseconds(1);
        spec.duration = Time::Milliseconds(100); // 34 rounds begin in it
        const auto ends = EndPoints(8, 2);
        const double mean = MeanFlowCount(spec, ends);
        const bool isRandom = kind == TrafficKind::Poisson || kind == TrafficKind::OnOff;
        EXPECT_NEAR(FlowsOf(spec, ends).size(), mean, isRandom ? 4 * std::sqrt(mean) : 0)
            << ToString(kind);
    }
}

// Flows that start at the end of the duration are excluded: n periods have n rounds, whatever the
// rounding of sums of periods.
TEST(Traffic, EndsWithItsDuration)
{
    const auto ends = EndPoints(8, 1);
    for (const auto& [periods, microseconds] :
         {std::pair(10, 1000.0), std::pair(10, 100.0), std::pair(30, 100.0), std::pair(7, 100.0)})
    {
        TrafficSpec spec = Spec(TrafficKind::Permutation);
        spec.times = 1000;
        spec.every = Time::Microseconds(microseconds);
        spec.duration = Time::Microseconds(periods * microseconds);
        EXPECT_EQ(FlowsOf(spec, ends).size(), periods * ends.size()) << periods;
        EXPECT_EQ(MeanFlowCount(spec, ends), static_cast<double>(periods * ends.size())) << periods;
        spec.kind = TrafficKind::OnOff;
        spec.isFixed = true;
        spec.on = Time::Microseconds(microseconds);
        spec.off = Time();
        EXPECT_EQ(FlowsOf(spec, ends).size(), periods * ends.size()) << periods;
    }
}

} // namespace
} // namespace weir
