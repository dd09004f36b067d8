// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/packet/congestion/congestion-control.h"
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

/** Senders and one receiver on one switch. */
struct Incast
{
    /** @param more additional hosts without flows */
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

    /** @return mean queue, bytes, sampled every microsecond, and throughput, bytes/s */
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
 * Queue, bytes, at the fixed point of DCQCN's fluid model ("ECN or Delay", Zhu et al., CoNEXT 2016,
 * section 3): p solves a^2 alpha / ((b + d) (c + e)) = tau^2 R_AI R_C. The left side grows with p,
 * so bisection finds the root.
 */
double
FixedPointQueue(
    double packetsPerSecond, unsigned flows, double increase, double from, double all, double max)
{
    const double tau = 50e-6;
    const double alphaTimer = 55e-6;
    const double timer = 55e-6;
    const double bytes = 10000; // 10 MB in packets of 1000 bytes
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
    return from + low / max * (all - from);
}

/** The oracle itself reproduces the published roots for 40 Gb/s and 2, 4, 8 and 10 flows. */
TEST(Dcqcn, FixedPointIsThatOfItsEquation)
{
    // Kmin 5 KB, Kmax 200 KB, Pmax 1 %, R_AI 40 Mb/s, packets of 1000 bytes; queues in KB.
    const double packets = 40e9 / 8000;
    const double increase = 40e6 / 8000;
    EXPECT_NEAR(FixedPointQueue(packets, 2, increase, 5, 200, 0.01), 20.15, 0.02);
    EXPECT_NEAR(FixedPointQueue(packets, 4, increase, 5, 200, 0.01), 41.8, 0.1);
    EXPECT_NEAR(FixedPointQueue(packets, 8, increase, 5, 200, 0.01), 93.8, 0.2);
    EXPECT_NEAR(FixedPointQueue(packets, 10, increase, 5, 200, 0.01), 122.6, 0.3);
}

/**
 * Queue, bytes, at the fixed point of the packet mechanism, where congestion notifications are a
 * renewal process. After a notification none is sent for tau, whatever is marked; the next marked
 * packet sends one. So the time between two notifications is L = tau + X with X exponential at the
 * rate of marks. Within L
 * - the timer expires n = floor(L / T) times, and the rate becomes R - (alpha R / 2) / 2^n + R_AI
 *   s_n, where s_n = (s_{n-1} + max(0, n - F + 1)) / 2 counts the additive increases that took
 *   effect;
 * - alpha decays floor(L / tau') times, then rises once;
 * - p is the marking probability at which the mean change of the rate over L is zero while the mean
 *   of the rate over L is C / N.
 * In the fluid model each mark resets the timer and each interval tau draws whether to notify, so
 * its queue is shorter. The byte counter is too slow to matter: 10 MB take many L.
 */
double
RenewalQueue(
    double packetsPerSecond, unsigned flows, double increase, double from, double all, double max)
{
    const double tau = 50e-6;
    const double period = 55e-6; // of the timer and of alpha's decay
    const double gain = 1.0 / 256;
    const unsigned recovery = 5;
    const auto growth = [&](double p) {
        const double share = packetsPerSecond / flows;
        const double marks = -std::log1p(-p) * share; // marks per second
        const auto longer = [&](double t) { return t < tau ? 1 : std::exp(-marks * (t - tau)); };
        const auto integral = [&](double t) { // of `longer` from t to infinity
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
    return from + low / max * (all - from);
}

/**
 * The setting of "ECN or Delay": 40 Gb/s, Kmin 5 KB, marking probability 1 % per 195 KB of queue.
 * @param all Kmax, bytes; where it is not 200 KB, the slope of the marking probability is the same
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

constexpr double ENDLESS_RAMP = 5000 + 100 * 195000.0; //!< Kmax at which every packet is marked

/** Bytes sent by each flow between two times, relative to the mean over the flows. */
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
 * The packet simulation settles at the fixed point of its own mechanism, whose queue exceeds that
 * of the fluid model by 20 to 40 %. The link is full and the shares are equal.
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
 * @return time in seconds after which the rates differ by at most a tenth of C / N
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

/**
 * Two flows that start with very unequal rates share the link equally, within a tenth, after the
 * bound.
 */
TEST(Dcqcn, ConvergesWithinItsBound)
{
    EXPECT_NEAR(ConvergenceBound(2), 96.9e-3, 0.01 * 96.9e-3); // published value
    EXPECT_NEAR(ConvergenceBound(4), 63.6e-3, 0.01 * 63.6e-3);
    EXPECT_NEAR(ConvergenceBound(10), 35.9e-3, 0.02 * 35.9e-3);
    Incast incast(1, Rate::Gbps(40), Time::Microseconds(1), DcqcnSpec(200e3), 1);
    const Time joins = Time::Milliseconds(20);
    incast.AddFlow(1, joins);
    const std::vector<double> first =
        SharesBetween(incast, 2, joins, joins + Time::Milliseconds(10));
    EXPECT_GT(std::abs(first[0] - first[1]), 0.25); // its first cuts are deep: alpha is 1
    const Time from = joins + Time::Seconds(ConvergenceBound(2));
    const std::vector<double> last = SharesBetween(incast, 2, from, from + Time::Milliseconds(100));
    EXPECT_LT(std::abs(last[0] - last[1]), 0.1);
}

/** Standard deviation of the queue relative to its mean, and utilization of the link. */
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
 * "ECN or Delay", section 3.2: at a loop delay of 100 us, ten flows have a phase margin of -18
 * degrees and two flows one of -10; without delay both are stable. So the delay makes the queue of
 * ten flows swing more than that of two, and lets it run empty.
 */
TEST(Dcqcn, SwingsWithDelayMostForTenFlows)
{
    const Time near = Time::Microseconds(1);
    const Time far = Time::Microseconds(21.25); // 85 us round trip
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

/** HPCC keeps the most utilized link at its target utilization, with almost no queue. */
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
    // Utilization eta C, plus at most the additive increase of each flow.
    EXPECT_NEAR(carried, 0.95 * 12.5e9, 0.025 * 12.5e9);
    EXPECT_LT(queue, 20000);
}

/**
 * While the RTT is constant and between the two thresholds, TIMELY adds the same amount to every
 * rate. Differences between flows persist, so there is no unique fair fixed point. Patched TIMELY
 * converges to delta / (beta x error) for every flow, because a flow's own rate enters the balance.
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
            ack.rtt = Time::Microseconds(60); // between the thresholds of 50 and 500
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
 * Increases are specified for 10 Gb/s links and scale with the line rate. From half the line rate,
 * every line is full after the same number of round trips: 0.5 x 10 Gb/s over 10 Mb/s, or over 50
 * Mb/s after the first five (hyperactive increase).
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
            ack.rtt = Time::Microseconds(4); // below the low threshold of 50
            uint64_t rounds = 0;
            for (; sender->PacingRate() < facts.lineRate * (1 - 1e-12); rounds++)
            {
                ASSERT_LT(rounds, 1000u);
                ack.next = 10 * rounds + 1;
                ack.sent = ack.next + 8;
                sender->OnAck(ack);
            }
            // The first round trip only provides a sample.
            EXPECT_EQ(rounds, hyperAfter == 0 ? 1 + 500u : 1 + 5u + 99u) << gbps;
        }
    }
}

/**
 * A path with a bandwidth-delay product of 1.2 MB and an RTT of 12 us. NSCC's largest window is 1.5
 * times that: 1.8 MB.
 */
ConnectionFacts
NsccFacts()
{
    ConnectionFacts facts;
    facts.lineRate = facts.bottleneckRate = 1e11;
    facts.baseRtt = Time::Microseconds(12);
    facts.mtu = 4000;
    return facts;
}

/** An acknowledgment at @p us of @p bytes that were sent one RTT earlier. */
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
 * Quick adapt sets the window to the bytes delivered in a round that ends with a loss. Every other
 * loss is subtracted from the window, which never falls below one packet.
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
    EXPECT_EQ(sender->Window(), 96'000); // all bytes delivered in this round
    sender->OnLoss(Time::Microseconds(33), 8000);
    EXPECT_EQ(sender->Window(), 88'000);
    sender->OnLoss(Time::Microseconds(34), 1'000'000);
    EXPECT_EQ(sender->Window(), 4000); // at least one packet
}

/**
 * Of 120 kB, 96 kB are acknowledged and 4 kB lost when the loss ends the round. The 20 kB still in
 * flight reflect the window before the quick adapt: neither their losses nor a mark at a delay of
 * 30 us, above the target, reduce the window further. A later loss does.
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
    sender->OnLoss(Time::Microseconds(35), 4000); // last of the 20 kB in flight
    EXPECT_EQ(sender->Window(), 96'000);
    sender->OnLoss(Time::Microseconds(36), 4000);
    EXPECT_EQ(sender->Window(), 92'000);
}

/**
 * An increase is the same number of bytes at any line rate, unless it is configured to scale with
 * the rate. An unmarked packet at half the target delay adds 4 a b / 2 packets times its fraction
 * of the window, where a is 1 for 100 Gb/s and 12 us, and b is 0.75, the target delay over 12 us.
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
            ack.rtt = Time::Microseconds(12 + 4.5); // half the target delay
            sender->OnAck(ack);
            return sender->Window() - window - 0.15 * 4000 * (rate > Rate() ? 1 : lines);
        };
        // alpha (target - delay) bytes / window = 4 a b / 2 packets of 4000 bytes, times 4000 bytes
        // / window.
        const double expected = 4 * 0.75 / 2 * 4000 * 4000 / (0.5 * 150'000 * lines);
        EXPECT_NEAR(increaseOf(Rate::Gbps(100)), expected, 1e-6);
        EXPECT_NEAR(increaseOf(Rate()), expected * lines, 1e-6);
    }
}

/**
 * The target delay is 0.75 of the network's RTT: 9 us if the path's own RTT of 12 us is taken, 27
 * us for a network of 36 us. A delay of 18 us cuts the window in the first case only.
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
        ack.rtt = Time::Microseconds(12 + 18); // 1.5 RTTs of the path, 0.5 of the network
        ack.isMarked = true;
        const double before = sender->Window();
        sender->OnAck(ack);
        // Factor 1 - 0.8 (18 - 9) / 18, then 0.15 packets for the round trip; the window never
        // exceeds its maximum.
        EXPECT_NEAR(sender->Window(), isOfNetwork ? before : 0.6 * before + 600, 1e-6);
    }
}

/**
 * A packet that waited 24 us without a mark counts as 3 us, a quarter of the RTT. With weight one
 * half on the newest sample, the mean of that and of a marked packet's 12 us is 7.5 - 0.75 = 6.75
 * us, below the target of 9 us: no cut. Had the first packet been marked, the second packet's own
 * 12 us would cut the window by 0.8 (12 - 9) / 12.
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
 * A round that delivers little because little was sent, and loses nothing, leaves the window as it
 * is, whatever an earlier round lost. The earlier round delivered more than an eighth of the
 * largest window, so it cost only the lost bytes.
 */
TEST(Nscc, AdaptsToLossesOfTheSameRoundOnly)
{
    const Nscc control;
    const auto sender = control.Open(NsccFacts());
    sender->OnAck(NsccAck(20, 4000));
    const double before = sender->Window();
    sender->OnLoss(Time::Microseconds(21), 4000);
    EXPECT_EQ(sender->Window(), before - 4000);
    sender->OnAck(NsccAck(30, 896'000)); // half the largest window in this round
    sender->OnAck(NsccAck(33, 4000));    // ends the round
    const double after = sender->Window();
    sender->OnAck(NsccAck(1000, 4000)); // ends a round of 4000 bytes
    EXPECT_GE(sender->Window(), after);
}

/** Swift settles at its target delay: the RTT over a bottleneck that is full. */
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
    // 20 us minus the RTT of the empty path: 4 us of latency, two packets and two acknowledgments.
    const double path = 4e-6 + 2 * (1048 + 84) / 12.5e9;
    EXPECT_NEAR(queue, (20e-6 - path) * 12.5e9, 0.1 * 20e-6 * 12.5e9);
    EXPECT_GT(carried, 0.99 * 12.5e9);
}

/**
 * Entry i of the congestion control table inserts a pause of i steps of a packet's transmission
 * time after each packet, so the rate is line / (1 + i step). A mark advances the entry by
 * `increase`, up to the limit; each timer period moves it back by one.
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

/** A packet and its pause take 1 + i step transmission times. */
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
    // In isolation nothing queues and nothing is marked: the full rate.
    Incast uncontended(1, Rate::Gbps(80), Time::Microseconds(1), spec);
    const double whole = uncontended.Watch(Time::Milliseconds(1), Time::Milliseconds(2)).second;
    EXPECT_NEAR(whole, 10e9, 0.001 * 10e9);
    // Entry 8 halves the rate. Two senders whose packets are marked whenever they queue fill the
    // link.
    Incast two(2, Rate::Gbps(80), Time::Microseconds(1), spec);
    const auto [queue, carried] = two.Watch(Time::Milliseconds(1), Time::Milliseconds(2));
    EXPECT_GT(carried, 0.95 * 10e9);
    EXPECT_LT(queue, 100000);
}

/**
 * Five of six senders send to a hot port. The sixth, the victim, sends to a free port over an
 * uplink that it shares with one of the five and that has room for both. With credits only, the
 * victim gets the same rate as that sender, because they alternate on the uplink. With congestion
 * control the five slow down, and the victim fills its port. The uplink is full for lack of
 * credits, so it is no root of congestion.
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
    // The sender on the shared uplink gets a fifth of the hot port.
    EXPECT_NEAR(victim[0], 0.2, 0.05);
    EXPECT_GT(victim[1], 0.95);
    EXPECT_GT(hot[0], 0.99);
    EXPECT_GT(hot[1], 0.8); // rates oscillate around their fair share
}

/** Every registered congestion control completes two flows through a bottleneck. */
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
        // Not faster than the bytes allow, and at more than a twentieth of the link rate.
        const double min = 2 * 4e6 * (4096 + 82) / 4096 / 12.5e9;
        const double last = std::max(bench.Duration(0), bench.Duration(1)).ToSeconds();
        EXPECT_GT(last, min) << control->Name();
        EXPECT_LT(last, 20 * min) << control->Name();
        EXPECT_EQ(bench.Transport().GetQueuePairs().Counters().lost, 0u) << control->Name();
    }
}

/** Values whose range depends on others are checked where the transport is created. */
TEST(CongestionControls, RefuseInconsistentValues)
{
    const auto refusal = [](const Polymorphic<CongestionControl>& control) {
        PacketBench bench;
        bench.AddChain(1, Rate::Gbps(100), Time::Microseconds(1));
        PacketSpec spec = PlainPackets();
        spec.congestionControl = control;
        try
        {
            bench.Open(spec);
        }
        catch (const std::invalid_argument& error)
        {
            return std::string(error.what());
        }
        return std::string();
    };
    Swift swift;
    EXPECT_EQ(refusal(swift), "");
    swift.scalingFrom = swift.scalingTo;
    EXPECT_EQ(refusal(swift),
              "congestionControl.scalingFrom: found 100 packets, expected less than scalingTo, "
              "100");
    Timely timely;
    timely.high = timely.low;
    EXPECT_EQ(refusal(timely), "");
    timely.high = Time::Microseconds(49.5);
    EXPECT_EQ(refusal(timely),
              "congestionControl.low: found 50 us, expected at most high, 49.5 us");
}

} // namespace
} // namespace weir
