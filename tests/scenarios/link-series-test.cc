// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/link-series.h"

#include "scenarios/results/recorder.h"
#include "scenarios/simulation/run-recording.h"
#include "scenarios/simulation/run-scenario.h"
#include "scenarios/simulation/wire-scenario.h"
#include "scenarios/yaml/input-error.h"
#include "small-scenario.h"

#include <gtest/gtest.h>
#include <vector>

namespace weir
{
namespace
{

struct Bins : RecordSink
{
    void OnLinkBin(const LinkBinRecord& record) override
    {
        records.push_back(record);
    }

    std::vector<LinkBinRecord> records;
};

/**
 * 1 GB/s = 1 kB/us from 50 us to 350 us in bins of 100 us: bins 0 to 3 hold 50, 100, 100 and 50 kB.
 * Later bins are empty and are not recorded.
 */
TEST(LinkSeries, IsTheIntegralOfTheRateOverEachBin)
{
    Bins bins;
    LinkSeries series(1, Time::Microseconds(100), bins);
    series.SetRate(LinkId(0), Rate::GBps(1), Time::Microseconds(50));
    series.SetRate(LinkId(0), Rate(), Time::Microseconds(350));
    series.Finish(Time::Microseconds(1000));
    const double expected[] = {50e3, 100e3, 100e3, 50e3};
    ASSERT_EQ(bins.records.size(), 4U);
    for (std::size_t i = 0; i < 4; i++)
    {
        EXPECT_EQ(bins.records[i].bin, static_cast<int64_t>(i));
        EXPECT_NEAR(bins.records[i].bytes, expected[i], 1e-9);
    }
}

/**
 * Conservation: for any changes and bins, the sum over bins is the sum over intervals of constant
 * rate.
 */
TEST(LinkSeries, LosesNoBytes)
{
    Bins bins;
    LinkSeries series(2, Time::Microseconds(7), bins);
    double expected = 0;
    for (int i = 0; i < 100; i++)
    {
        const Rate rate = Rate::GBps(i % 3);
        series.SetRate(LinkId(i % 2), rate, Time::Microseconds(13.0 * i));
        const double span = i + 2 < 100 ? 26e-6 : (100 - i) * 13e-6;
        expected += rate.ToBytesPerSecond() * span;
    }
    series.Finish(Time::Microseconds(1300));
    double sum = 0;
    for (const auto& record : bins.records)
    {
        sum += record.bytes;
    }
    EXPECT_NEAR(sum, expected, expected * 1e-12);
}

/** Bin numbers have 64 bits: 1 GB/s from bin 2^33 on for two bins of 10 ns. */
TEST(LinkSeries, NumbersBinsBeyond32Bits)
{
    Bins bins;
    const Time width = Time::Nanoseconds(10);
    const int64_t first = int64_t{1} << 33;
    const Time start = Time::Picoseconds(first * width.ToPicoseconds());
    LinkSeries series(1, width, bins);
    series.SetRate(LinkId(0), Rate::GBps(1), start);
    series.SetRate(LinkId(0), Rate(), start + width + width);
    series.Finish(start + width + width);
    ASSERT_EQ(bins.records.size(), 2U);
    EXPECT_EQ(bins.records[0].bin, first);
    EXPECT_EQ(bins.records[1].bin, first + 1);
}

/**
 * A link that carries data without pause fills a bin per width. 60 us in bins of 1 ps are 60
 * million records; another 60 us would make 120 million and are refused before their first record.
 */
TEST(LinkSeries, RefusesMoreBinsThanAFileShouldHave)
{
    struct Count : RecordSink
    {
        void OnLinkBin(const LinkBinRecord&) override
        {
            told++;
        }

        int64_t told{0};
    };

    Count count;
    LinkSeries series(1, Time::Picoseconds(1), count);
    series.SetRate(LinkId(0), Rate::GBps(1), Time());
    series.SetRate(LinkId(0), Rate::GBps(2), Time::Microseconds(60));
    EXPECT_THROW(series.Finish(Time::Microseconds(120)), InputError);
    EXPECT_EQ(count.told, 60'000'000);
}

TEST(LinkSeries, RefusesABinWithoutWidth)
{
    Bins bins;
    EXPECT_THROW(LinkSeries(1, Time(), bins), std::invalid_argument);
}

/**
 * A bin holds at most rate x width of a link's bytes, so the bytes known before a run give a lower
 * bound on the number of filled bins. The bound is at least a fifth of the actual number.
 */
TEST(LinkSeries, FillsNoFewerBinsThanAreKnownBeforeARun)
{
    const char* jobs[] = {
        "[{name: a, collective: {op: all-reduce, bytes: 64MiB, calls: 3}}]",
        "[{name: a, collective: {sequence: [{op: all-gather, bytes: 8MiB}, {op: all-to-all, bytes: "
        "8MiB}], calls: 2}}]",
        "[{name: t, traffic: {pattern: permutation, bytes: 10MB, every: 1ms, times: 3}}]",
        "[{name: g, model: {base: gpt-22b, name: s, layers: 4}, parallel: {tensor: 8, data: 2, "
        "globalBatch: 2}, steps: 2}]"};
    for (const std::string text : jobs)
    {
        for (const std::string fidelity : {"stream", "flow"})
        {
            const Scenario scenario =
                SmallScenario({{"jobs", text}, {"network.fidelity", fidelity}});
            const auto simulation = WireScenario(scenario);
            const Time width = Time::Microseconds(1);
            const double min = MinLinkBins(*simulation, width);
            Bins bins;
            Recorder recorder;
            recorder.AddSink(bins);
            recorder.Watch(simulation->GetTransport(),
                           simulation->GetRouting(),
                           [&](const FlowRequest& request) { return simulation->OwnerOf(request); },
                           width,
                           {});
            simulation->OnLinksMeasured([&](Time end) { recorder.FinishSeries(end); });
            PlainLoop().Run(simulation->Engines(), [](Time) {});
            EXPECT_LE(min, static_cast<double>(bins.records.size())) << text << fidelity;
            EXPECT_GT(min, 0.2 * static_cast<double>(bins.records.size())) << text << fidelity;
        }
    }
}

/** Work that may end early or may load no link does not enter the bound. */
TEST(LinkSeries, CountsNoBinsOfWorkThatIsNotCertain)
{
    const std::string call = "collective: {op: all-reduce, bytes: 64MiB";
    const Scenario kept = SmallScenario(
        {{"jobs",
          "[{name: a, traffic: {pattern: permutation, bytes: 1kB}, gpus: 8}, {name: b, until: a, " +
              call + "}}]"}});
    const Time width = Time::Microseconds(1);
    EXPECT_LT(MinLinkBins(*WireScenario(kept), width), 8);
    const Scenario closed = SmallScenario(
        {{"jobs", "[{name: a, " + call + ", calls: 1}}]"}, {"network.fidelity", "analytical"}});
    EXPECT_EQ(MinLinkBins(*WireScenario(closed), width), 0);
}

} // namespace
} // namespace weir
