// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/simulation/collective-sweep.h"

#include "scenarios/bound/calibration.h"
#include "scenarios/bound/measured-bounds.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/simulation/run-recording.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/size-list.h"
#include "small-scenario.h"

#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

namespace weir
{
namespace
{

CollectiveSweepSpec
TwoNodes(CollectiveOp op)
{
    CollectiveSweepSpec spec;
    spec.cluster = SmallScenario().cluster;
    spec.op = op;
    spec.sizes = ParseSizeList("1MiB:256MiB:x16");
    return spec;
}

/**
 * The definitions of nccl-tests: algbw = size / time, busbw = algbw x 2 (n - 1) / n for all-reduce.
 */
TEST(CollectiveSweep, BandwidthsFollowNcclTests)
{
    const auto points = RunCollectiveSweep(TwoNodes(CollectiveOp::AllReduce));
    ASSERT_EQ(points.size(), 3U);
    for (const auto& point : points)
    {
        const double algorithm = point.size.ToDouble() / point.time.ToSeconds();
        EXPECT_NEAR(point.algorithmBandwidth.ToBytesPerSecond() / algorithm, 1, 1e-12);
        EXPECT_NEAR(point.busBandwidth / point.algorithmBandwidth, 2.0 * 15 / 16, 1e-12);
    }
}

/**
 * One NIC's transfers as packets beside those of the other NICs as a fluid: they share the links of
 * the receiving node, in windows of at least 100 ns each. Without packets there is no coupling.
 */
TEST(CollectiveSweep, JsonHasTheCouplingOfPacketsAndFluid)
{
    CollectiveSweepSpec spec = TwoNodes(CollectiveOp::AllToAll);
    spec.sizes = ParseSizeList("1MiB");
    for (const auto fidelity : {Fidelity::Flow, Fidelity::Hybrid})
    {
        spec.fidelity = fidelity;
        spec.coupling.links = {"node0/nic0->*"};
        RunRecording recording{RecordingSpec()};
        const CollectiveSweepResult result = RecordCollectiveSweep(spec, recording);
        const auto object = nlohmann::json::parse(ToJson(spec, result));
        ASSERT_EQ(object.contains("coupling"), fidelity == Fidelity::Hybrid);
        if (fidelity == Fidelity::Hybrid)
        {
            const double windows = object["coupling"]["windows"];
            EXPECT_GT(windows, 0);
            EXPECT_LT(windows, result.result.measured / Time::Nanoseconds(100));
            EXPECT_GE(object["coupling"]["largest_debt_bytes"], 0);
        }
    }
}

/** Every size runs in isolation: its time does not depend on the sizes before it. */
TEST(CollectiveSweep, SizesDoNotDisturbEachOther)
{
    for (const auto fidelity : {Fidelity::Analytical, Fidelity::Stream, Fidelity::Flow})
    {
        CollectiveSweepSpec spec = TwoNodes(CollectiveOp::AllGather);
        spec.fidelity = fidelity;
        const auto all = RunCollectiveSweep(spec);
        ASSERT_EQ(all.size(), spec.sizes.size());
        for (std::size_t i = 0; i < all.size(); i++)
        {
            CollectiveSweepSpec isolated = spec;
            isolated.sizes = {spec.sizes[i]};
            EXPECT_EQ(RunCollectiveSweep(isolated).front().time, all[i].time);
        }
    }
}

/** On an idle fabric the stream equals the closed form. */
TEST(CollectiveSweep, UncontendedStreamIsTheClosedForm)
{
    CollectiveSweepSpec spec = TwoNodes(CollectiveOp::ReduceScatter);
    const auto stream = RunCollectiveSweep(spec);
    spec.fidelity = Fidelity::Analytical;
    const auto analytical = RunCollectiveSweep(spec);
    ASSERT_EQ(stream.size(), spec.sizes.size());
    ASSERT_EQ(analytical.size(), spec.sizes.size());
    for (std::size_t i = 0; i < stream.size(); i++)
    {
        EXPECT_NEAR(stream[i].time / analytical[i].time, 1, 1e-9);
    }
}

/**
 * Eight rings of two nodes with 16 GPUs share every NVLink. A chunk waits for its arrival, and the
 * hops between nodes take longest. All rings send at the same moments until the first chunks have
 * waited there, which is half of an all-gather's 31 steps, so NVLinks are as slow as with all rings
 * at a time for that long: without this a call seems to take up to 20 % less.
 */
TEST(CollectiveSweep, RingsSendAtTheSameMomentsUntilTheyHaveWaited)
{
    CollectiveSweepSpec spec;
    spec.cluster = ReadSystem(YamlNode::Parse("dgx2-v100", "system"), Catalog()).cluster;
    spec.cluster.nodes = 2;
    spec.gpusPerNode = 16;
    spec.op = CollectiveOp::AllGather;
    spec.overrides.algorithm = Algorithm::Ring;
    spec.overrides.protocol = Protocol::Simple;
    spec.sizes = ParseSizeList("4MiB,8MiB,16MiB,24MiB");
    const auto stream = RunCollectiveSweep(spec);
    spec.fidelity = Fidelity::Flow;
    const auto flow = RunCollectiveSweep(spec);
    ASSERT_EQ(stream.size(), spec.sizes.size());
    ASSERT_EQ(flow.size(), spec.sizes.size());
    for (std::size_t i = 0; i < stream.size(); i++)
    {
        EXPECT_NEAR(stream[i].time / flow[i].time, 1, 0.08) << spec.sizes[i].Count();
    }
}

/**
 * Times of a shortcut have a bound. An uncontended all-to-all takes flow's time, and so do those of
 * its regime within 0.2 %, so both ends of the bound are at the time. No calibrated call has 2^50
 * bytes.
 */
TEST(CollectiveSweep, CsvOfAShortcutHasBounds)
{
    const Calibration calibration = ReadCalibration("collectives", Catalog());
    CollectiveSweepSpec spec = TwoNodes(CollectiveOp::AllToAll);
    auto points = RunCollectiveSweep(spec);
    AddBounds(calibration, 0.9, points);
    for (const CollectivePoint& point : points)
    {
        ASSERT_TRUE(point.bound.has_value());
        EXPECT_EQ(point.bound->region, "inside");
        EXPECT_NEAR(point.bound->lower, 1, 2e-3);
        EXPECT_NEAR(point.bound->upper, 1, 2e-3);
    }
    const std::string header =
        "collective,size_bytes,time_us,algbw_GBps,busbw_GBps,lower_us,upper_us,coverage,regime,"
        "region\n";
    EXPECT_EQ(ToCsv(spec, points).rfind(header, 0), 0U);
    spec.sizes = {Bytes(int64_t{1} << 50)};
    auto largest = RunCollectiveSweep(spec);
    AddBounds(calibration, 0.9, largest);
    EXPECT_EQ(largest.front().bound->region.rfind("outside: ", 0), 0U);
    EXPECT_NE(ToCsv(spec, largest).find(",,,0.9,"), std::string::npos); // no bound
}

/**
 * The samples have NCCL's algorithms: other algorithms have no bound against flow, and none against
 * measurements.
 */
TEST(CollectiveSweep, AlgorithmsOutsideTheSampleHaveNoBound)
{
    const Catalog catalog;
    CollectiveSweepSpec spec = TwoNodes(CollectiveOp::AllReduce);
    spec.overrides.algorithm = Algorithm::DimensionWise;
    auto points = RunCollectiveSweep(spec);
    AddBounds(ReadCalibration("collectives", catalog), 0.9, points);
    ASSERT_FALSE(points.empty());
    for (const CollectivePoint& point : points)
    {
        ASSERT_EQ(point.algorithm, Algorithm::DimensionWise);
        EXPECT_EQ(point.bound->region.rfind("outside: ", 0), 0U) << point.bound->region;
    }
    EXPECT_EQ(MeasuredLines(spec, MeasuredBounds(catalog), 0.9, points), "");
}

TEST(CollectiveSweep, CsvHasOneLineASizeAndTheNamedColumns)
{
    const CollectiveSweepSpec spec = TwoNodes(CollectiveOp::AllReduce);
    const auto points = RunCollectiveSweep(spec);
    std::istringstream lines(ToCsv(spec, points));
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, "collective,size_bytes,time_us,algbw_GBps,busbw_GBps");
    std::getline(lines, line);
    EXPECT_EQ(line.rfind("all-reduce,1048576,", 0), 0U) << line;
    EXPECT_NE(ToNcclTestsTable(spec, points).find("# Avg bus bandwidth"), std::string::npos);
}

TEST(CollectiveSweep, SendRecvJoinsTheFirstGpuAndTheLast)
{
    const auto gpus = SweepGpus(TwoNodes(CollectiveOp::Send));
    ASSERT_EQ(gpus.size(), 2U);
    EXPECT_EQ(gpus[0], GpuId(0));
    EXPECT_EQ(gpus[1], GpuId(15));
}

/** NCCL's limit is 64 channels; a group with fewer channels gets copies of them. */
TEST(CollectiveSweep, ChannelsBeyondThoseOfTheSearchAreCopies)
{
    CollectiveSweepSpec spec = TwoNodes(CollectiveOp::AllReduce);
    spec.overrides.algorithm = Algorithm::Ring;
    spec.overrides.channels = 64;
    spec.sizes = {Bytes::GiB(1)};
    EXPECT_EQ(RunCollectiveSweep(spec).front().channels, 64U);
}

/**
 * Counts of an all-to-all-v: equal counts are an all-to-all whose size is a row of the matrix. If a
 * single rank sends, its own links take at most as long.
 */
TEST(CollectiveSweep, CountsDecideWhoGivesHowMuch)
{
    CollectiveSweepSpec spec = TwoNodes(CollectiveOp::AllToAll);
    const std::size_t ranks = SweepGpus(spec).size();
    const Bytes part = Bytes::MiB(4);
    spec.sizes = {part * static_cast<int64_t>(ranks)};
    const Time equal = RunCollectiveSweep(spec).front().time;
    spec.counts.assign(ranks, std::vector<Bytes>(ranks, part));
    EXPECT_NEAR(RunCollectiveSweep(spec).front().time / equal, 1, 1e-3);
    for (std::size_t rank = 1; rank < ranks; rank++)
    {
        spec.counts[rank].assign(ranks, Bytes());
    }
    const Time one = RunCollectiveSweep(spec).front().time;
    EXPECT_LE(one / equal, 1 + 1e-9);
    EXPECT_GT(one / equal, 0.25);
    spec.sizes = {part};
    EXPECT_THROW(RunCollectiveSweep(spec), InputError);
}

TEST(CollectiveSweep, ReadsCountsAsRowsOfSizes)
{
    const std::string path = ::testing::TempDir() + "weir-counts.csv";
    const auto read = [&](const std::string& text) {
        std::ofstream(path) << text;
        return ReadCounts(path, 2);
    };
    const auto refusal = [&](const std::string& text) {
        try
        {
            read(text);
        }
        catch (const InputError& error)
        {
            return std::string(error.what()).substr(path.size());
        }
        return std::string();
    };
    using Rows = std::vector<std::vector<Bytes>>;
    EXPECT_EQ(read("# to 0, to 1\n1,2KiB\n3,0\n"),
              (Rows{{Bytes(1), Bytes::KiB(2)}, {Bytes(3), Bytes()}}));
    EXPECT_EQ(read("1,2\n"), (Rows{{Bytes(1), Bytes(2)}, {Bytes(1), Bytes(2)}}));
    EXPECT_EQ(refusal("1,2\n3\n"), ":2: found 1 sizes, expected 2, one for each receiver");
    EXPECT_EQ(refusal("1,2\n1,2\n1,2\n"), ": found 3 rows, expected 1 or 2, one for each sender");
    EXPECT_EQ(refusal("1,x\n").rfind(":1: found 'x'", 0), 0U) << refusal("1,x\n");
}

TEST(CollectiveSweep, RefusesOverridesThatCannotBeMet)
{
    CollectiveSweepSpec spec = TwoNodes(CollectiveOp::AllReduce);
    spec.overrides.channels = 1000;
    EXPECT_THROW(RunCollectiveSweep(spec), InputError);
}

} // namespace
} // namespace weir
