// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/port-series.h"

#include "fabric/transport/packet/congestion/no-congestion-control.h"
#include "fabric/transport/packet/congestion/static-window.h"
#include "fabric/transport/packet/packet-transport.h"
#include "scenarios/results/recorder.h"
#include "scenarios/simulation/run-scenario.h"
#include "scenarios/simulation/wire-scenario.h"
#include "small-scenario.h"
#include "tests/scenarios/flow-files.h"

#include <gtest/gtest.h>
#include <map>
#include <vector>

namespace weir
{
namespace
{

constexpr unsigned DATA = 1;           //!< a traffic class
constexpr unsigned SENDERS = 4;        //!< of the incast
constexpr double BYTES_PER_US = 12500; //!< of a link of 100 Gb/s

struct Told : RecordSink
{
    void OnPortBin(const PortBinRecord& record) override
    {
        bins.push_back(record);
    }

    void OnPause(const PauseRecord& record) override
    {
        pauses.push_back(record);
    }

    void OnPausesLeftOut(uint64_t count) override
    {
        leftOut += count;
    }

    std::vector<PortBinRecord> bins;
    std::vector<PauseRecord> pauses;
    uint64_t leftOut{0};
};

/**
 * The queue is 1000 B from 50 us to 150 us and 3000 B until 250 us. The port is paused from 100 us
 * to 180 us, and a packet waits for credits from 170 us to 230 us.
 */
TEST(PortSeries, IsTheIntegralOverEachBin)
{
    PortSeries series(2, Time::Microseconds(100));
    series.OnQueue(LinkId(1), DATA, 1000, Time::Microseconds(50));
    series.OnPause(LinkId(1), DATA, true, Time::Microseconds(100));
    series.OnQueue(LinkId(1), 2, 2000, Time::Microseconds(150)); // another class
    series.OnMark(LinkId(1), DATA, Time::Microseconds(160));
    series.OnCreditWait(LinkId(1), DATA, true, Time::Microseconds(170));
    series.OnPause(LinkId(1), DATA, false, Time::Microseconds(180));
    series.OnCreditWait(LinkId(1), DATA, false, Time::Microseconds(230));
    series.OnDrop(LinkId(1), DATA, 700, Time::Microseconds(240));
    series.OnQueue(LinkId(1), DATA, 0, Time::Microseconds(250));
    series.OnQueue(LinkId(1), 2, 0, Time::Microseconds(250));
    Told told;
    series.Finish(Time::Microseconds(1000), told);
    const double mean[] = {1000 * 0.5, 1000 * 0.5 + 3000 * 0.5, 3000 * 0.5};
    const int64_t max[] = {1000, 3000, 3000};
    const double waiting[] = {50, 100, 50};
    const double paused[] = {0, 80, 0};
    const double credit[] = {0, 30, 30};
    const double held[] = {0, 100, 30};
    const uint32_t marks[] = {0, 1, 0};
    const uint32_t drops[] = {0, 0, 1};
    ASSERT_EQ(told.bins.size(), 3u);
    for (uint32_t i = 0; i < 3; i++)
    {
        EXPECT_EQ(told.bins[i].link, LinkId(1));
        EXPECT_EQ(told.bins[i].bin, i);
        EXPECT_NEAR(told.bins[i].meanQueued, mean[i], 1e-9);
        EXPECT_EQ(told.bins[i].maxQueued.Count(), max[i]);
        EXPECT_EQ(told.bins[i].waiting, Time::Microseconds(waiting[i]));
        EXPECT_EQ(told.bins[i].paused, Time::Microseconds(paused[i]));
        EXPECT_EQ(told.bins[i].creditWait, Time::Microseconds(credit[i]));
        EXPECT_EQ(told.bins[i].waitingHeld, Time::Microseconds(held[i]));
        EXPECT_EQ(told.bins[i].marks, marks[i]);
        EXPECT_EQ(told.bins[i].drops, drops[i]);
    }
    ASSERT_EQ(told.pauses.size(), 1u);
    EXPECT_EQ(told.pauses[0].started, Time::Microseconds(100));
    EXPECT_EQ(told.pauses[0].finished, Time::Microseconds(180));
}

/**
 * A queue of k bytes in microsecond k, k = 1 ... 1000, in at most 16 bins: they are 64 us wide
 * (1000 / 64 < 16 < 1000 / 32), and their sum is unchanged, 500500 byte us.
 */
TEST(PortSeries, WiderBinsLoseNothing)
{
    PortSeries series(1, Time::Microseconds(1), 16);
    for (int k = 1; k <= 1000; k++)
    {
        series.OnQueue(LinkId(0), DATA, k, Time::Microseconds(k - 1));
        series.OnMark(LinkId(0), DATA, Time::Microseconds(k - 1));
    }
    Told told;
    series.Finish(Time::Microseconds(1000), told);
    ASSERT_LE(told.bins.size(), 16u);
    double sum = 0;
    uint32_t marks = 0;
    for (const PortBinRecord& record : told.bins)
    {
        EXPECT_EQ(record.width, Time::Microseconds(64));
        EXPECT_EQ(record.maxQueued.Count(), std::min(1000u, 64 * (record.bin + 1)));
        sum += record.meanQueued * record.waiting.ToMicroseconds();
        marks += record.marks;
    }
    EXPECT_NEAR(sum, 500500, 1e-6);
    EXPECT_EQ(marks, 1000u);
}

/**
 * A queue for 100 ns after 20 s, in bins of 1 ns. Bin numbers have 32 bits, so that bins are
 * widened to 8 ns (20e9 / 8 < 2^32 < 20e9 / 4) and cover the time of the queue.
 */
TEST(PortSeries, BinsAreWiderWhereTheirNumbersWouldNotFit)
{
    PortSeries series(1, Time::Nanoseconds(1));
    const Time start = Time::Seconds(20);
    series.OnQueue(LinkId(0), DATA, 1000, Time());
    series.OnQueue(LinkId(0), DATA, 0, Time::Nanoseconds(100));
    series.OnQueue(LinkId(0), DATA, 1000, start);
    series.OnQueue(LinkId(0), DATA, 0, start + Time::Nanoseconds(100));
    Told told;
    series.Finish(start + Time::Microseconds(1), told);
    ASSERT_FALSE(told.bins.empty());
    const PortBinRecord& last = told.bins.back();
    EXPECT_EQ(last.width, Time::Nanoseconds(8));
    EXPECT_EQ(last.width * last.bin, start + Time::Nanoseconds(96));
    Time waiting;
    for (const PortBinRecord& record : told.bins)
    {
        waiting = waiting + record.waiting;
    }
    EXPECT_EQ(waiting, Time::Nanoseconds(200));
}

/** Of 200 ports with a queue and 200 paused ports, the highest 64 of each are recorded. */
TEST(PortSeries, TellsOfTheBusiestPorts)
{
    PortSeries series(400, Time::Microseconds(1));
    for (unsigned i = 0; i < 200; i++)
    {
        series.OnQueue(LinkId(i), DATA, i + 1, Time());
        series.OnPause(LinkId(200 + i), DATA, true, Time::Nanoseconds(i));
    }
    Told told;
    series.Finish(Time::Nanoseconds(500), told);
    ASSERT_EQ(told.bins.size(), 2 * PortSeries::MAX_PORTS);
    for (unsigned i = 0; i < PortSeries::MAX_PORTS; i++)
    {
        EXPECT_EQ(told.bins[i].link, LinkId(200 - PortSeries::MAX_PORTS + i));
        EXPECT_EQ(told.bins[PortSeries::MAX_PORTS + i].link, LinkId(200 + i));
    }
    EXPECT_EQ(told.pauses.size(), PortSeries::MAX_PORTS);
    EXPECT_EQ(told.leftOut, 200 - PortSeries::MAX_PORTS);
}

TEST(PortSeries, RefusesABinWithoutWidth)
{
    EXPECT_THROW(PortSeries(1, Time()), std::invalid_argument);
}

/** Queues exist in packet simulation only. */
TEST(PortSeries, RefusesAFluid)
{
    const PlayedFlows played =
        PlayTexts("3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n", "1\n0 1 3 100 1000 0\n");
    Recorder recorder;
    EXPECT_THROW(recorder.Watch(
                     played.network->GetTransport(),
                     played.network->GetRouting(),
                     [](const FlowRequest&) { return FlowOwner(); },
                     std::nullopt,
                     Time::Microseconds(1)),
                 std::invalid_argument);
}

/** Sums of the counters of flows. */
struct FlowSums : TransportObserver
{
    explicit FlowSums(Transport& transport)
        : transport(transport)
    {
    }

    void OnFlowFinished(FlowId id, const FlowRequest&, Time, Time) override
    {
        const FlowCounters& counters = *transport.GetFlowCounters(id);
        drops += counters.drops;
        retransmissions += counters.retransmissions;
        marks += counters.marks;
        paused.push_back(counters.paused);
    }

    Transport& transport;
    uint64_t drops{0};
    uint64_t retransmissions{0};
    uint64_t marks{0};
    std::vector<int64_t> paused;
};

/** SENDERS hosts send 2 MB each to one host over a switch, without congestion control. */
struct Incast
{
    explicit Incast(const PacketSpec& packets)
        : file(
              "6 1 5\n5\n0 5 100Gbps 1us 0\n1 5 100Gbps 1us 0\n2 5 100Gbps 1us 0\n"
              "3 5 100Gbps 1us 0\n4 5 100Gbps 1us 0\n"),
          network(ReadHpccTopology(file.Path()), FabricSpec(), {packets}),
          series(network.GetRouting().GetTopology().LinkCount(), Time::Microseconds(1)),
          flows(network.GetTransport())
    {
        const TextFile text(
            "4\n0 4 3 100 2000000 0\n1 4 3 100 2000000 0\n2 4 3 100 2000000 0\n"
            "3 4 3 100 2000000 0\n");
        Transport& transport = network.GetTransport();
        EXPECT_TRUE(transport.AddPortObserver(series));
        transport.AddObserver(flows, false);
        FlowFile rows(text.Path());
        FlowResults results = ReadFlows(rows, network);
        PlainLoop loop;
        PlayFlows(results, network, loop, [](Time) {});
        Time end;
        for (std::size_t flow = 0; flow < results.Size(); flow++)
        {
            end = std::max(end, results.Finish(flow));
        }
        transport.RemovePortObserver(series);
        series.Finish(end, told);
        transport.RemoveObserver(flows);
    }

    LinkId Find(const std::string& name) const
    {
        const Topology& topology = network.GetSimulation().GetTopology();
        for (std::size_t i = 0; i < topology.LinkCount(); i++)
        {
            if (topology.LinkName(LinkId(i)) == name)
            {
                return LinkId(i);
            }
        }
        return LinkId();
    }

    TextFile file;
    mutable HostNetwork network;
    PortSeries series;
    FlowSums flows;
    Told told;
};

PacketSpec
WithPauses()
{
    PacketSpec packets;
    packets.switches.flowControl = FlowControl::Pfc;
    packets.switches.buffer = Bytes(2000000);
    packets.switches.alpha = 0.25;
    packets.switches.alphaRate = Rate();
    packets.switches.marks = false;
    packets.congestionControl = NoCongestionControl();
    return packets;
}

/**
 * n senders at rate C into one port: the queue grows at (n - 1) C from the arrival of the first
 * packet on. With shared buffer S and reserve R per port, a sender is paused when its share x of S
 * reaches alpha times the free part, x = alpha (S - n x), which is a queue of n (R + alpha S / (1 +
 * n alpha)). The pause takes effect one link latency and one pause frame of 84 bytes later.
 */
TEST(PortSeries, AnIncastFillsItsPortUntilItPauses)
{
    const PacketSpec packets = WithPauses();
    Incast incast(packets);
    auto& transport = dynamic_cast<PacketTransport&>(incast.network.GetTransport());
    const LinkId hot = incast.Find("switch5->host4");
    const LinkId in = incast.Find("host0->switch5");
    const double packet = transport.GetNetwork().MaxBytes(in.Index());
    const double began = 1 + packet / BYTES_PER_US; // us
    Time firstPause = Time::Infinite();
    for (const PauseRecord& pause : incast.told.pauses)
    {
        firstPause = std::min(firstPause, pause.started);
    }
    unsigned checked = 0;
    for (const PortBinRecord& record : incast.told.bins)
    {
        const double middle = record.bin + 0.5;
        if (record.link == hot && record.bin >= 2 && middle + 0.5 < firstPause.ToMicroseconds())
        {
            EXPECT_NEAR(record.meanQueued,
                        (SENDERS - 1) * BYTES_PER_US * (middle - began),
                        SENDERS * packet);
            checked++;
        }
    }
    EXPECT_GE(checked, 5u);
    const SwitchSpec& spec = packets.switches;
    const auto reserve = spec.reserve.ToDouble();
    double shared = spec.buffer.ToDouble();
    for (unsigned host = 0; host <= SENDERS; host++)
    {
        const LinkId link = incast.Find("host" + std::to_string(host) + "->switch5");
        shared -= static_cast<double>(transport.GetNetwork().HeadroomOf(link.Index())) + reserve;
    }
    const double full = SENDERS * (reserve + spec.alpha * shared / (1 + SENDERS * spec.alpha));
    const double pausedAt = began + full / ((SENDERS - 1) * BYTES_PER_US) + 1 + 84 / BYTES_PER_US;
    EXPECT_NEAR(firstPause.ToMicroseconds(), pausedAt, 2 * SENDERS * packet / BYTES_PER_US);
}

/** Per port, bins, pause records and the port's counter give the same time to the picosecond. */
TEST(PortSeries, PausesAreWhatTheCountersSay)
{
    for (const Time pauseTime : {Time::Infinite(), Time::Microseconds(4)})
    {
        PacketSpec packets = WithPauses();
        packets.switches.pauseTime = pauseTime;
        Incast incast(packets);
        std::map<uint32_t, int64_t> ofBins;
        std::map<uint32_t, int64_t> ofPauses;
        for (const PortBinRecord& record : incast.told.bins)
        {
            ofBins[record.link.Index()] += record.paused.ToPicoseconds();
        }
        for (const PauseRecord& pause : incast.told.pauses)
        {
            ofPauses[pause.link.Index()] += (pause.finished - pause.started).ToPicoseconds();
        }
        EXPECT_EQ(incast.told.leftOut, 0u);
        for (unsigned host = 0; host < SENDERS; host++)
        {
            const LinkId link = incast.Find("host" + std::to_string(host) + "->switch5");
            const PortCounters& port = *incast.network.GetTransport().GetPortCounters(link);
            EXPECT_GT(port.paused, 0);
            EXPECT_EQ(ofBins[link.Index()], port.paused);
            EXPECT_EQ(ofPauses[link.Index()], port.paused);
            // Its only flow is active for longer than the port is paused.
            EXPECT_EQ(
                std::count(incast.flows.paused.begin(), incast.flows.paused.end(), port.paused), 1);
        }
        EXPECT_EQ(incast.flows.drops, 0u);
        EXPECT_EQ(incast.flows.retransmissions, 0u);
    }
}

/**
 * Without flow control each lost packet is retransmitted once: counts by flow, port and bin agree.
 */
TEST(PortSeries, LossesAreTheSameByFlowAndPort)
{
    PacketSpec packets = WithPauses();
    packets.switches.flowControl = FlowControl::None;
    packets.switches.portQueue = Bytes(100000);
    packets.queuePair.recovery = LossRecovery::Selective;
    packets.congestionControl = StaticWindow();
    Incast incast(packets);
    Transport& transport = incast.network.GetTransport();
    uint64_t inBins = 0;
    for (const PortBinRecord& record : incast.told.bins)
    {
        inBins += record.drops;
    }
    uint64_t again = 0;
    for (unsigned host = 0; host < SENDERS; host++)
    {
        again +=
            transport.GetPortCounters(incast.Find("host" + std::to_string(host) + "->switch5"))
                ->retransmissions;
    }
    const uint64_t drops = transport.GetPortCounters(incast.Find("switch5->host4"))->drops;
    EXPECT_GT(drops, 0u);
    EXPECT_EQ(inBins, drops);
    EXPECT_EQ(incast.flows.drops, drops);
    EXPECT_EQ(incast.flows.retransmissions, again);
    EXPECT_EQ(again, drops);
}

/** Marks of a port are counted at the flows of the marked packets. */
TEST(PortSeries, MarksAreTheSameByFlowAndPort)
{
    PacketSpec packets = WithPauses();
    packets.switches.marks = true;
    packets.switches.markFrom = Bytes(50000);
    packets.switches.markAll = Bytes(200000);
    Incast incast(packets);
    const LinkId hot = incast.Find("switch5->host4");
    const uint64_t marks = incast.network.GetTransport().GetPortCounters(hot)->marks;
    EXPECT_GT(marks, 0u);
    EXPECT_EQ(incast.flows.marks, marks);
}

/**
 * A permutation of 4 MB, 160 us at 200 Gb/s, outlives a call of 64 KiB. What its ports send, mark
 * and queue after the call, the only job to wait for, is in no bin and no counter of the window.
 */
TEST(PortSeries, EndsWithTheLastJobAsTheCountersOfLinksDo)
{
    const Scenario scenario = SmallScenario(
        {{"network.fidelity", "packet"},
         {"jobs",
          "[{name: call, collective: {op: all-reduce, bytes: 64KiB, calls: 1}}, {name: after, "
          "traffic: {pattern: permutation, bytes: 4MB, every: 1ms}, until: call}]"}});
    const auto simulation = WireScenario(scenario);
    Transport& transport = simulation->GetTransport();
    const std::size_t links = simulation->GetTopology().LinkCount();
    Told told;
    Recorder recorder;
    recorder.AddSink(told);
    const Time width = Time::Microseconds(1);
    recorder.Watch(
        transport,
        simulation->GetRouting(),
        [&](const FlowRequest& request) { return simulation->OwnerOf(request); },
        {},
        width);
    std::vector<uint64_t> sent;
    simulation->OnLinksMeasured([&](Time end) {
        recorder.FinishSeries(end);
        for (std::size_t link = 0; link < links; link++)
        {
            sent.push_back(transport.GetPortCounters(LinkId(link))->packets);
        }
    });
    PlainLoop().Run(simulation->Engines(), [](Time) {});
    const MeasuredLinks& measured = simulation->GetMeasuredLinks();
    ASSERT_EQ(sent.size(), links);
    ASSERT_EQ(measured.ports.size(), links);
    uint64_t later = 0;
    for (std::size_t link = 0; link < links; link++)
    {
        EXPECT_EQ(measured.ports[link].packets, sent[link]);
        later += transport.GetPortCounters(LinkId(link))->packets - sent[link];
    }
    EXPECT_GT(later, 0u);
    EXPECT_FALSE(told.bins.empty());
    for (const PortBinRecord& record : told.bins)
    {
        EXPECT_LE(record.bin, measured.end.ToPicoseconds() / width.ToPicoseconds());
    }
}

} // namespace
} // namespace weir
