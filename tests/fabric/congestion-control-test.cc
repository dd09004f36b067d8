// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/packet/congestion/congestion-controls.h"
#include "fabric/transport/packet/congestion/dcqcn.h"
#include "fabric/transport/packet/congestion/hpcc.h"
#include "fabric/transport/packet/congestion/infiniband.h"
#include "fabric/transport/packet/congestion/nscc.h"
#include "fabric/transport/packet/congestion/swift.h"
#include "fabric/transport/packet/congestion/timely.h"
#include "packet-bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weir
{
namespace
{

/** Senders and one receiver at a switch. */
struct Incast
{
    /** @param more hosts beside the senders */
    Incast(unsigned senders, Rate rate, Time latency, const PacketSpec& spec, unsigned more = 0)
    {
        const uint32_t middle = bench.AddSwitch();
        sink = bench.AddHost();
        for (unsigned i = 0; i < senders + more; i++)
        {
            hosts.push_back(bench.AddHost());
            bench.Join(hosts.back(), middle, rate, latency);
        }
        port = bench.Join(middle, sink, rate, latency);
        bench.Open(spec);
        for (unsigned i = 0; i < senders; i++)
        {
            AddFlow(i, Time());
        }
    }

    void AddFlow(unsigned sender, Time start)
    {
        bench.AddFlow(hosts[sender], sink, Bytes::GiB(64), start);
    }

    /** Mean queue, bytes, sampled each microsecond; bytes carried a second. */
    std::pair<double, double> Watch(Time from, Time until, std::vector<double>* all = nullptr)
    {
        bench.RunUntil(from);
        const uint64_t before = bench.Network().Counters(port.Index()).bytes;
        double queued = 0;
        const auto samples = static_cast<int>((until - from) / Time::Microseconds(1));
        for (int i = 1; i <= samples; i++)
        {
            bench.RunUntil(from + Time::Microseconds(i));
            const auto now = static_cast<double>(bench.Network().QueuedBytes(port.Index()));
            queued += now / samples;
            if (all != nullptr)
            {
                all->push_back(now);
            }
        }
        const uint64_t after = bench.Network().Counters(port.Index()).bytes;
        return {queued, static_cast<double>(after - before) / (until - from).ToSeconds()};
    }

    PacketBench bench;
    LinkId port;
    uint32_t sink;
    std::vector<uint32_t> hosts;
};

double
JainIndex(const std::vector<double>& rates)
{
    const double sum = std::accumulate(rates.begin(), rates.end(), 0.0);
    double squares = 0;
    for (const double rate : rates)
    {
        squares += rate * rate;
    }
    return sum * sum / (squares * static_cast<double>(rates.size()));
}

/**
 * The fixed point of DCQCN's fluid model ("ECN or Delay", Zhu et al., CoNEXT 2016, section 3):
 * p solves a^2 alpha / ((b + d) (c + e)) = tau^2 R_AI R_C, the left side grows with p.
 */
double
FixedPointQueue(
    double packetsPerSecond, unsigned flows, double increase, double from, double all, double most)
{
    const double tau = 50e-6;
    const double alphaTimer = 55e-6;
    const double timer = 55e-6;
    const double bytes = 10000; // packets of 1000 bytes in 10 MB
    const double recovery = 5;
    const double rate = packetsPerSecond / flows;
    const auto left = [&](double p) {
        const double a = 1 - std::pow(1 - p, tau * rate);
        const double alpha = 1 - std::pow(1 - p, alphaTimer * rate);
        const double b = p / (std::pow(1 - p, -bytes) - 1);
        const double c = b * std::pow(1 - p, recovery * bytes);
        const double d = p / (std::pow(1 - p, -timer * rate) - 1);
        const double e = d * std::pow(1 - p, recovery * timer * rate);
        return a * a * alpha / ((b + d) * (c + e)) - tau * tau * increase * rate;
    };
    double low = 1e-9;
    double high = 0.5;
    for (int i = 0; i < 200; i++)
    {
        const double middle = (low + high) / 2;
        (left(middle) < 0 ? low : high) = middle;
    }
    return from + low / most * (all - from);
}

/** The oracle itself gives the published roots: 40 Gb/s, 2, 4, 8 and 10 flows. */
TEST(Dcqcn, FixedPointIsThatOfItsEquation)
{
    // Kmin 5 KB, Kmax 200 KB, Pmax 1 %, 40 Mb/s, packets of 1000 bytes.
    const double packets = 40e9 / 8000;
    const double increase = 40e6 / 8000;
    EXPECT_NEAR(FixedPointQueue(packets, 2, increase, 5, 200, 0.01), 20.15, 0.02);
    EXPECT_NEAR(FixedPointQueue(packets, 4, increase, 5, 200, 0.01), 41.8, 0.1);
    EXPECT_NEAR(FixedPointQueue(packets, 8, increase, 5, 200, 0.01), 93.8, 0.2);
    EXPECT_NEAR(FixedPointQueue(packets, 10, increase, 5, 200, 0.01), 122.6, 0.3);
}

/**
 * The fixed point of packets: notifications are a renewal process. After one there is none for
 * tau, whatever is marked; the next marked packet sends one. So the time between two is L = tau + X
 * with X exponential at the rate of marks, and within it
 *  - n = floor(L / T) times the timer goes: the rate comes to R - (alpha R / 2) / 2^n + R_AI s_n,
 *    where s_n = (s_{n-1} + max(0, n - F + 1)) / 2 counts the additive increases that took effect;
 *  - alpha falls floor(L / tau') times, then rises once;
 * and p is that at which the mean of what L adds to a rate is zero while the mean of the rate over
 * L is C / N. The fluid model lets each mark reset the timer and each tau draw whether to
 * notify, so its queue is lower. (Bytes are counted too slowly to matter: 10 MB take many L.)
 */
double
RenewalQueue(
    double packetsPerSecond, unsigned flows, double increase, double from, double all, double most)
{
    const double tau = 50e-6;
    const double period = 55e-6; // of the timer and of alpha
    const double gain = 1.0 / 256;
    const unsigned recovery = 5;
    const auto growth = [&](double p) {
        const double share = packetsPerSecond / flows;
        const double marks = -std::log1p(-p) * share; // a second
        const auto longer = [&](double t) { return t < tau ? 1 : std::exp(-marks * (t - tau)); };
        const auto integral = [&](double t) { // of `longer` from t on
            return t < tau ? tau - t + 1 / marks : longer(t) / marks;
        };
        double gained = 0; // s_n
        double meanGained = 0;
        double meanLeft = 0; // 2^-n
        double gainedTime = 0;
        double leftTime = 0;
        double kept = 0; // (1 - g)^n
        for (unsigned n = 0; longer(n * period) > 1e-12; n++)
        {
            gained = (gained + (n >= recovery ? n - recovery + 1 : 0)) / 2;
            const double chance = longer(n * period) - longer((n + 1) * period);
            const double time = integral(n * period) - integral((n + 1) * period);
            meanGained += chance * gained;
            meanLeft += chance * std::pow(0.5, n);
            gainedTime += time * gained;
            leftTime += time * std::pow(0.5, n);
            kept += chance * std::pow(1 - gain, n);
        }
        const double mean = tau + 1 / marks;
        const double alpha = gain * kept / (1 - (1 - gain) * kept);
        const double rate =
            (share - increase * gainedTime / mean) / (1 - alpha / 2 * leftTime / mean);
        return increase * meanGained - rate * alpha / 2 * meanLeft;
    };
    double low = 1e-6;
    double high = 0.5;
    for (int i = 0; i < 60; i++)
    {
        const double middle = (low + high) / 2;
        (growth(middle) > 0 ? low : high) = middle;
    }
    return from + low / most * (all - from);
}

/**
 * The setting of "ECN or Delay": 40 Gb/s, Kmin 5 KB, marks at 1 % for each 195 KB beyond.
 * @param all Kmax; where it is not 200 KB the slope is the same
 */
PacketSpec
DcqcnSpec(double all)
{
    PacketSpec spec;
    spec.format.mtu = Bytes(1000);
    spec.format.header = 0;
    spec.switches.buffer = Bytes::MiB(64);
    spec.switches.markFrom = Bytes(5000);
    spec.switches.markAll = Bytes(static_cast<int64_t>(all));
    spec.switches.markProbability = 0.01 * (all - 5000) / 195000;
    Dcqcn control;
    control.notificationInterval = Time::Microseconds(50);
    control.alphaTimer = Time::Microseconds(55);
    control.cutCheck = Time();
    control.increaseTimer = Time::Microseconds(55);
    control.byteCounter = Bytes(10000000);
    control.fastRecovery = 5;
    control.additiveIncrease = Rate::Gbps(0.04);
    control.hyperIncrease = Rate::Gbps(0.04);
    control.alphaGain = 1.0 / 256;
    control.minimumRate = Rate::Gbps(0.01);
    spec.congestionControl = control;
    return spec;
}

constexpr double ENDLESS_RAMP = 5000 + 100 * 195000.0; //!< Kmax at which all is marked

/** What each sender has sent, in part of the mean. */
std::vector<double>
SharesBetween(Incast& incast, unsigned flows, Time from, Time until)
{
    std::vector<double> sent;
    for (const Time time : {from, until})
    {
        incast.bench.RunUntil(time);
        for (uint32_t i = 0; i < flows; i++)
        {
            sent.push_back(static_cast<double>(incast.bench.Network().Counters(2 * i).bytes));
        }
    }
    double all = 0;
    for (uint32_t i = 0; i < flows; i++)
    {
        sent[i] = sent[flows + i] - sent[i];
        all += sent[i];
    }
    sent.resize(flows);
    for (double& each : sent)
    {
        each *= flows / all;
    }
    return sent;
}

/**
 * Packets stand at the fixed point of their mechanism, above that of the fluid model: its queue, a
 * full link, equal shares.
 */
TEST(Dcqcn, StandsAtTheFixedPoint)
{
    for (const unsigned flows : {2u, 8u})
    {
        const Time from = Time::Milliseconds(100);
        const Time until = Time::Milliseconds(200);
        Incast incast(flows, Rate::Gbps(40), Time::Microseconds(1), DcqcnSpec(ENDLESS_RAMP));
        const auto [queue, carried] = incast.Watch(from, until);
        const double fluid = FixedPointQueue(5e6, flows, 5e3, 5000, 200000, 0.01);
        const double expected = RenewalQueue(5e6, flows, 5e3, 5000, 200000, 0.01);
        EXPECT_GT(expected, 1.2 * fluid);
        EXPECT_LT(expected, 1.4 * fluid);
        EXPECT_NEAR(queue, expected, 0.06 * expected) << flows << " flows";
        EXPECT_GT(carried, 0.98 * 5e9);
        const Time later = until + Time::Milliseconds(50);
        EXPECT_GT(JainIndex(SharesBetween(incast, flows, until, later)), 0.99);
    }
}

/**
 * "ECN or Delay", section 3.3: the difference of two rates shrinks by 1 - alpha / 2 in each cycle
 * of dt = 2 + (t / 2 + C / (2 N R_AI)) alpha periods of alpha, where t = (-1 + sqrt(1 + 8 Kmax / (N
 * R_AI tau'))) / 2 and alpha = (1 - g)^dt ((1 - g) alpha + g).
 * @return the time after which rates differ by a tenth of C / N at most.
 */
double
ConvergenceBound(double flows)
{
    const double period = 55e-6;
    const double increase = 5e6; // bytes/s
    const double gain = 1.0 / 256;
    const double t = (-1 + std::sqrt(1 + 8 * 200e3 / (flows * increase * period))) / 2;
    double alpha = 0.1;
    double cycle = 0;
    for (int i = 0; i < 1000; i++)
    {
        cycle = 2 + (t / 2 + 5e9 / (2 * flows * increase)) * alpha;
        alpha = (alpha + std::pow(1 - gain, cycle) * ((1 - gain) * alpha + gain)) / 2;
    }
    return period * cycle * std::log(0.1 / flows) / std::log(1 - alpha / 2);
}

/** Two flows that begin as unequal as can be share equally after the bound, but for a tenth. */
TEST(Dcqcn, ConvergesWithinItsBound)
{
    EXPECT_NEAR(ConvergenceBound(2), 96.9e-3, 0.01 * 96.9e-3); // published
    EXPECT_NEAR(ConvergenceBound(4), 63.6e-3, 0.01 * 63.6e-3);
    EXPECT_NEAR(ConvergenceBound(10), 35.9e-3, 0.02 * 35.9e-3);
    Incast incast(1, Rate::Gbps(40), Time::Microseconds(1), DcqcnSpec(200e3), 1);
    const Time joins = Time::Milliseconds(20);
    incast.AddFlow(1, joins);
    const std::vector<double> first =
        SharesBetween(incast, 2, joins, joins + Time::Milliseconds(10));
    EXPECT_GT(std::abs(first[0] - first[1]), 0.25); // its first cuts are the deepest: alpha is 1
    const Time from = joins + Time::Seconds(ConvergenceBound(2));
    const std::vector<double> last = SharesBetween(incast, 2, from, from + Time::Milliseconds(100));
    EXPECT_LT(std::abs(last[0] - last[1]), 0.1);
}

/** The standard deviation of the queue, in part of its mean, and the part of the link that is used.
 */
std::pair<double, double>
Swing(unsigned flows, Time latency)
{
    Incast incast(flows, Rate::Gbps(40), latency, DcqcnSpec(200e3));
    std::vector<double> queued;
    const auto [mean, carried] =
        incast.Watch(Time::Milliseconds(60), Time::Milliseconds(110), &queued);
    double square = 0;
    for (const double each : queued)
    {
        square += (each - mean) * (each - mean) / static_cast<double>(queued.size());
    }
    return {std::sqrt(square) / mean, carried / 5e9};
}

/**
 * "ECN or Delay", section 3.2: at a loop delay of 100 us ten flows have a phase margin of -18
 * degrees and two one of -10, at none both are stable. So delay makes ten swing more than it makes
 * two, and drains their queue.
 */
TEST(Dcqcn, SwingsWithDelayMostForTenFlows)
{
    const Time near = Time::Microseconds(1);
    const Time far = Time::Microseconds(21.25); // 85 us to come back
    const auto [twoNear, twoUsed] = Swing(2, near);
    const auto [twoFar, twoUsedFar] = Swing(2, far);
    const auto [tenNear, tenUsed] = Swing(10, near);
    const auto [tenFar, tenUsedFar] = Swing(10, far);
    EXPECT_LT(tenNear, 0.4);
    EXPECT_GT(tenFar, 1.2);
    EXPECT_LT(twoFar / twoNear, 1.6);
    EXPECT_GT(tenFar / tenNear, 3);
    EXPECT_GT(tenUsed, 0.995);
    EXPECT_GT(twoUsedFar, 0.98);
    EXPECT_LT(tenUsedFar, 0.97);
}

/** HPCC holds the most utilized link at its target, with next to no queue. */
TEST(Hpcc, HoldsItsUtilization)
{
    PacketSpec spec;
    spec.format.mtu = Bytes(1000);
    spec.format.header = 48;
    Hpcc control;
    control.increase = Rate::Gbps(0.05);
    spec.congestionControl = control;
    Incast incast(4, Rate::Gbps(100), Time::Microseconds(1), spec);
    const auto [queue, carried] = incast.Watch(Time::Milliseconds(2), Time::Milliseconds(4));
    // eta C plus what each flow adds, at most.
    EXPECT_NEAR(carried, 0.95 * 12.5e9, 0.025 * 12.5e9);
    EXPECT_LT(queue, 20000);
}

/**
 * While round trips do not change, between the two thresholds, TIMELY adds the same to every rate:
 * what flows have of a link stays as unequal as it was, so it has no fair fixed point. Patched, all
 * come to delta / (beta x error): a flow's own rate is in the balance.
 */
TEST(Timely, IsUnfairUnlessPatched)
{
    for (const bool patched : {false, true})
    {
        std::vector<double> rates;
        for (const double start : {0.7, 0.3})
        {
            Timely control;
            control.patched = patched;
            control.decrease = patched ? 0.008 : 0.8;
            control.startRate = start;
            control.hyperAfter = 0;
            control.increaseRate = Rate();
            ConnectionFacts facts;
            facts.lineRate = 10e9;
            facts.baseRtt = Time::Microseconds(4);
            facts.mtu = 1000;
            const auto sender = control.Open(facts);
            Acknowledgment ack;
            ack.rtt = Time::Microseconds(60); // of 50 to 500
            const uint64_t rounds = patched ? 20000 : 100;
            for (uint64_t round = 1; round <= rounds; round++)
            {
                ack.next = 10 * round;
                ack.sent = ack.next + 9;
                sender->OnAck(ack);
            }
            rates.push_back(sender->PacingRate());
        }
        if (patched)
        {
            const double fixed = Rate::Gbps(0.01).ToBytesPerSecond() / (0.008 * (60.0 / 50 - 1));
            EXPECT_NEAR(rates[0], fixed, 1e-3 * fixed);
            EXPECT_NEAR(rates[1], fixed, 1e-3 * fixed);
        }
        else
        {
            EXPECT_NEAR(rates[0] - rates[1], 4e9, 1);
        }
    }
}

/**
 * Increases are for links of 10 Gb/s: a faster line gets more in proportion, so that from half of
 * it every line is full after as many round trips: 0.5 x 10 Gb/s over 10 Mb/s, or over 50 Mb/s
 * behind the first five.
 */
TEST(Timely, FillsEveryLineInAsManyRounds)
{
    for (const double gbps : {10.0, 100.0, 400.0})
    {
        for (const uint32_t hyperAfter : {0u, 5u})
        {
            Timely control;
            control.startRate = 0.5;
            control.hyperAfter = hyperAfter;
            ConnectionFacts facts;
            facts.lineRate = Rate::Gbps(gbps).ToBytesPerSecond();
            facts.baseRtt = Time::Microseconds(4);
            facts.mtu = 1000;
            const auto sender = control.Open(facts);
            Acknowledgment ack;
            ack.rtt = Time::Microseconds(4); // below 50
            uint64_t rounds = 0;
            for (; sender->PacingRate() < facts.lineRate * (1 - 1e-12); rounds++)
            {
                ASSERT_LT(rounds, 1000u);
                ack.next = 10 * rounds + 1;
                ack.sent = ack.next + 8;
                sender->OnAck(ack);
            }
            // The first round trip is only a sample.
            EXPECT_EQ(rounds, hyperAfter == 0 ? 1 + 500u : 1 + 5u + 99u) << gbps;
        }
    }
}

/** A path of 1.2 MB in its round trip of 12 us, of which NSCC's first window has 1.5: 1.8 MB. */
ConnectionFacts
NsccFacts()
{
    ConnectionFacts facts;
    facts.lineRate = facts.bottleneckRate = 1e11;
    facts.baseRtt = Time::Microseconds(12);
    facts.mtu = 4000;
    return facts;
}

/** The answer to @p bytes that were sent a round trip before @p us. */
Acknowledgment
NsccAck(double us, uint32_t bytes)
{
    Acknowledgment ack;
    ack.now = Time::Microseconds(us);
    ack.rtt = Time::Microseconds(12);
    ack.bytes = bytes;
    return ack;
}

/**
 * Quick adapt: what got through in a round that ends with a loss is the window, after a timeout,
 * too. All that is lost else is taken off it, but for what was under way at a quick adapt.
 */
TEST(Nscc, LossesAreTakenOffTheWindow)
{
    const Nscc control;
    const auto sender = control.Open(NsccFacts());
    sender->OnAck(NsccAck(20, 4000)); // the first round ends at 32 us
    sender->OnAck(NsccAck(30, 96'000));
    sender->OnLoss(Time::Microseconds(31), 4000);
    EXPECT_EQ(sender->Window(), 1'796'000);
    sender->OnLoss(Time::Microseconds(32), 4000);
    EXPECT_EQ(sender->Window(), 96'000); // all that got through in this round
    sender->OnLoss(Time::Microseconds(33), 8000);
    EXPECT_EQ(sender->Window(), 88'000);
    sender->OnLoss(Time::Microseconds(34), 1'000'000);
    EXPECT_EQ(sender->Window(), 4000); // a packet at least
}

/**
 * Of 120 kB 96 are answered when a loss ends the round, and 4 are lost: the 20 kB that are under
 * way then tell of the window before, so neither their losses nor a mark at more than the delay
 * aimed at, of 30 us, make it smaller still. What is lost after them does.
 */
TEST(Nscc, QuickAdaptIgnoresWhatIsUnderWay)
{
    Nscc control;
    control.gain = 1;
    const auto sender = control.Open(NsccFacts());
    sender->OnAck(NsccAck(20, 4000)); // the first round ends at 32 us
    sender->OnSent(120'000, Time::Microseconds(21));
    sender->OnAck(NsccAck(30, 96'000));
    sender->OnLoss(Time::Microseconds(32), 4000);
    EXPECT_EQ(sender->Window(), 96'000);
    sender->OnLoss(Time::Microseconds(33), 8000);
    EXPECT_EQ(sender->Window(), 96'000);
    Acknowledgment marked = NsccAck(34, 8000);
    marked.rtt = Time::Microseconds(12 + 30);
    marked.isMarked = true;
    sender->OnAck(marked);
    EXPECT_EQ(sender->Window(), 96'000);
    sender->OnLoss(Time::Microseconds(35), 4000); // the last of the 20 kB
    EXPECT_EQ(sender->Window(), 96'000);
    sender->OnLoss(Time::Microseconds(36), 4000);
    EXPECT_EQ(sender->Window(), 92'000);
}

/**
 * An increase is the same number of bytes at any rate of the line, unless it is asked to scale with
 * it: an unmarked packet at half of the delay aimed at adds 4 a b / 2 packets times its part of the
 * window, where a is 1 for 100 Gb/s and 12 us, and b 0.75, the delay aimed at over 12 us.
 */
TEST(Nscc, IncreasesAreScaledByTheirRate)
{
    for (const double lines : {1.0, 8.0})
    {
        ConnectionFacts facts = NsccFacts();
        facts.lineRate = facts.bottleneckRate = lines * 100e9 / 8;
        const auto increaseOf = [&](Rate rate) {
            Nscc control;
            control.startWindow = 0.5;
            control.increaseRate = rate;
            const auto sender = control.Open(facts);
            const double window = sender->Window();
            Acknowledgment ack = NsccAck(20, 4000);
            ack.rtt = Time::Microseconds(12 + 4.5); // half of the delay aimed at
            sender->OnAck(ack);
            return sender->Window() - window - 0.15 * 4000 * (rate > Rate() ? 1 : lines);
        };
        // alpha (target - delay) bytes / window = 4 a b / 2 packets, of a window's 4000 bytes
        const double expected = 4 * 0.75 / 2 * 4000 * 4000 / (0.5 * 150'000 * lines);
        EXPECT_NEAR(increaseOf(Rate::Gbps(100)), expected, 1e-6);
        EXPECT_NEAR(increaseOf(Rate()), expected * lines, 1e-6);
    }
}

/** The delay aimed at is of the network's round trip: one that a path of its own cuts for is less.
 */
TEST(Nscc, AimsAtTheDelayOfTheNetwork)
{
    for (const bool isOfNetwork : {false, true})
    {
        Nscc control;
        control.gain = 1;
        control.networkRtt = isOfNetwork ? Time::Microseconds(36) : Time();
        const auto sender = control.Open(NsccFacts());
        Acknowledgment ack = NsccAck(20, 4000);
        ack.rtt = Time::Microseconds(12 + 18); // 1.5 round trips of the path, 0.5 of the network
        ack.isMarked = true;
        const double before = sender->Window();
        sender->OnAck(ack);
        // 1 - 0.8 (18 - 9) / 18; then the round trip's 0.15 packets, or no more than the largest
        EXPECT_NEAR(sender->Window(), isOfNetwork ? before : 0.6 * before + 600, 1e-6);
    }
}

/**
 * A packet that waited 24 us without a mark counts as 3, a quarter of the round trip. With half of
 * the weight on the newest, the mean of that and a marked one's 12 us is 6.75, below the 9 aimed
 * at; had the first been marked, its own 12 would have cut the window by 0.8 (12 - 9) / 12.
 */
TEST(Nscc, ForgetsDelaysOfPacketsWithoutMarks)
{
    for (const bool isMarked : {false, true})
    {
        Nscc control;
        control.gain = 0.5;
        const auto sender = control.Open(NsccFacts());
        const double before = sender->Window();
        Acknowledgment ack = NsccAck(20, 4000);
        ack.rtt = Time::Microseconds(12 + 24);
        ack.isMarked = isMarked;
        sender->OnAck(ack);
        ack = NsccAck(21, 4000);
        ack.rtt = Time::Microseconds(12 + 12);
        ack.isMarked = true;
        sender->OnAck(ack);
        EXPECT_NEAR(sender->Window(), isMarked ? 0.8 * before + 600 : before, 1e-6);
    }
}

/**
 * Little has got through in a round because little was sent, and nothing of it was lost: the window
 * stays, whatever a round before it has lost. That one had got more than an eighth of the largest
 * window through, so it has cost what was lost alone.
 */
TEST(Nscc, AdaptsToLossesOfTheSameRoundOnly)
{
    const Nscc control;
    const auto sender = control.Open(NsccFacts());
    sender->OnAck(NsccAck(20, 4000));
    const double before = sender->Window();
    sender->OnLoss(Time::Microseconds(21), 4000);
    EXPECT_EQ(sender->Window(), before - 4000);
    sender->OnAck(NsccAck(30, 896'000)); // half of the largest window in this round
    sender->OnAck(NsccAck(33, 4000));    // ends it
    const double after = sender->Window();
    sender->OnAck(NsccAck(1000, 4000)); // ends a round of 4000 bytes
    EXPECT_GE(sender->Window(), after);
}

/** Swift's delay is its target: the round trip of a bottleneck that one flow fills. */
TEST(Swift, DelayIsItsTarget)
{
    PacketSpec spec;
    spec.format.mtu = Bytes(1000);
    spec.format.header = 48;
    spec.switches.marks = false;
    Swift control;
    control.target = Time::Microseconds(20);
    control.perHop = Time();
    control.scaling = Time::Nanoseconds(1);
    spec.congestionControl = control;
    Incast incast(2, Rate::Gbps(100), Time::Microseconds(1), spec);
    const auto [queue, carried] = incast.Watch(Time::Milliseconds(10), Time::Milliseconds(12));
    // 20 us less the path's: 4 us of latency, two packets and two acknowledgments.
    const double path = 4e-6 + 2 * (1048 + 84) / 12.5e9;
    EXPECT_NEAR(queue, (20e-6 - path) * 12.5e9, 0.1 * 20e-6 * 12.5e9);
    EXPECT_GT(carried, 0.99 * 12.5e9);
}

/**
 * Entry i of the table pauses i steps of a packet's time behind each packet: the rate is line /
 * (1 + i step). Marks lead on, to the limit at most, and each period of the timer back by one.
 */
TEST(Infiniband, RateIsThatOfItsEntry)
{
    Infiniband control;
    control.increase = 3;
    control.limit = 8;
    control.tableStep = 0.5;
    control.timer = Time::Microseconds(10);
    ConnectionFacts facts;
    facts.lineRate = 10e9;
    const auto sender = control.Open(facts);
    Acknowledgment ack;
    sender->OnAck(ack); // no mark
    EXPECT_EQ(sender->PacingRate(), 10e9);
    EXPECT_TRUE(sender->NextTimer().IsInfinite());
    ack.isMarked = true;
    for (const double entry : {3.0, 6.0, 8.0, 8.0})
    {
        sender->OnAck(ack);
        EXPECT_DOUBLE_EQ(sender->PacingRate(), 10e9 / (1 + 0.5 * entry));
    }
    for (int entry = 7; entry >= 0; entry--)
    {
        EXPECT_EQ(sender->NextTimer(), Time::Microseconds(10 * (8 - entry)));
        sender->OnTimer(sender->NextTimer());
        EXPECT_DOUBLE_EQ(sender->PacingRate(), 10e9 / (1 + 0.5 * entry));
    }
    EXPECT_TRUE(sender->NextTimer().IsInfinite());
}

/** A packet and its pause take (1 + i step) of its time: that is what the link carries. */
TEST(Infiniband, PausesFollowPackets)
{
    PacketSpec spec;
    spec.format.mtu = Bytes(1000);
    spec.format.header = 0;
    spec.switches.flowControl = FlowControl::Credits;
    spec.switches.markFrom = spec.switches.markAll = Bytes(0);
    spec.switches.markRoots = true;
    Infiniband control;
    control.limit = 8;
    control.tableStep = 0.125;
    control.timer = Time::Microseconds(1);
    spec.congestionControl = control;
    // Alone nothing waits and nothing is marked: the whole rate.
    Incast alone(1, Rate::Gbps(80), Time::Microseconds(1), spec);
    const double whole = alone.Watch(Time::Milliseconds(1), Time::Milliseconds(2)).second;
    EXPECT_NEAR(whole, 10e9, 0.001 * 10e9);
    // Entry 8 halves the rate: two senders, marked whenever they meet, share the link evenly.
    Incast two(2, Rate::Gbps(80), Time::Microseconds(1), spec);
    const auto [queue, carried] = two.Watch(Time::Milliseconds(1), Time::Milliseconds(2));
    EXPECT_GT(carried, 0.95 * 10e9);
    EXPECT_LT(queue, 100000);
}

/**
 * Of six senders five send to a hot port and one, the victim, to a free one, through an uplink that
 * it shares with one of the five and that has room for both. Credits alone leave the victim as much
 * as the hot port leaves that one, for they take turns; with congestion control the five hold back
 * and the victim has all its port has. The uplink is full for want of credits, which is no root.
 */
TEST(Infiniband, RelievesVictims)
{
    double victim[2];
    double hot[2];
    for (const bool controls : {false, true})
    {
        PacketBench bench;
        const uint32_t left = bench.AddSwitch();
        const uint32_t right = bench.AddSwitch();
        bench.Join(left, right, Rate::Gbps(160), Time::Microseconds(1));
        const uint32_t sink = bench.AddHost();
        const uint32_t free = bench.AddHost();
        const LinkId hotPort = bench.Join(right, sink, Rate::Gbps(80), Time::Microseconds(1));
        const LinkId freePort = bench.Join(right, free, Rate::Gbps(80), Time::Microseconds(1));
        std::vector<uint32_t> hosts;
        for (int i = 0; i < 6; i++)
        {
            hosts.push_back(bench.AddHost());
            bench.Join(hosts.back(), i < 2 ? left : right, Rate::Gbps(80), Time::Microseconds(1));
        }
        PacketSpec spec;
        spec.format.mtu = Bytes(1000);
        spec.format.header = 0;
        spec.switches.flowControl = FlowControl::Credits;
        spec.switches.creditBuffer = Bytes(64000);
        spec.switches.markFrom = spec.switches.markAll = Bytes(20000);
        spec.switches.markRoots = true;
        spec.switches.marks = controls;
        Infiniband control;
        control.timer = Time::Microseconds(10);
        spec.congestionControl = control;
        bench.Open(spec);
        bench.AddFlow(hosts[0], free, Bytes::GiB(1));
        for (int i = 1; i < 6; i++)
        {
            bench.AddFlow(hosts[i], sink, Bytes::GiB(1));
        }
        bench.RunUntil(Time::Milliseconds(2));
        const uint64_t before = bench.Network().Counters(freePort.Index()).bytes;
        const uint64_t beforeHot = bench.Network().Counters(hotPort.Index()).bytes;
        bench.RunUntil(Time::Milliseconds(6));
        const double seconds = 4e-3 * 10e9;
        victim[controls] =
            static_cast<double>(bench.Network().Counters(freePort.Index()).bytes - before) /
            seconds;
        hot[controls] =
            static_cast<double>(bench.Network().Counters(hotPort.Index()).bytes - beforeHot) /
            seconds;
    }
    // A fifth of the hot port is left for the sender that the victim shares the uplink with.
    EXPECT_NEAR(victim[0], 0.2, 0.05);
    EXPECT_GT(victim[1], 0.95);
    EXPECT_GT(hot[0], 0.99);
    EXPECT_GT(hot[1], 0.8); // rates swing around what is left for each
}

/** Every control of the registry carries two flows through a bottleneck to their ends. */
TEST(CongestionControls, AllEndTheirFlows)
{
    for (const Polymorphic<CongestionControl>& control : CongestionControls())
    {
        PacketBench bench;
        const uint32_t middle = bench.AddSwitch();
        const uint32_t sink = bench.AddHost();
        const uint32_t a = bench.AddHost();
        const uint32_t b = bench.AddHost();
        for (const uint32_t host : {sink, a, b})
        {
            bench.Join(middle, host, Rate::Gbps(100), Time::Microseconds(1));
        }
        PacketSpec spec;
        spec.congestionControl = control;
        bench.Open(spec);
        bench.AddFlow(a, sink, Bytes(4000000));
        bench.AddFlow(b, sink, Bytes(4000000));
        bench.Run();
        // Not faster than the bytes allow, and not below a twentieth of the link.
        const double least = 2 * 4e6 * (4096 + 82) / 4096 / 12.5e9;
        const double last = std::max(bench.Duration(0), bench.Duration(1)).ToSeconds();
        EXPECT_GT(last, least) << control->Name();
        EXPECT_LT(last, 20 * least) << control->Name();
        EXPECT_EQ(bench.Transport().GetQueuePairs().Counters().lost, 0u) << control->Name();
    }
}

} // namespace
} // namespace weir
