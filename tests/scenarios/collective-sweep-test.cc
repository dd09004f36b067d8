// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/simulation/collective-sweep.h"

#include "scenarios/bound/calibration-file.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/size-list.h"
#include "small-scenario.h"

#include <gtest/gtest.h>
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

/** nccl-tests' definitions: algbw = size / time, busbw = algbw x 2 (n - 1) / n for all-reduce. */
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

/** Every size runs alone: its time does not depend on what ran before it. */
TEST(CollectiveSweep, SizesDoNotDisturbEachOther)
{
    for (const auto fidelity : {Fidelity::Analytical, Fidelity::Stream, Fidelity::Flow})
    {
        CollectiveSweepSpec spec = TwoNodes(CollectiveOp::AllGather);
        spec.fidelity = fidelity;
        const auto together = RunCollectiveSweep(spec);
        for (std::size_t i = 0; i < together.size(); i++)
        {
            CollectiveSweepSpec alone = spec;
            alone.sizes = {spec.sizes[i]};
            EXPECT_EQ(RunCollectiveSweep(alone).front().time, together[i].time);
        }
    }
}

/** An idle fabric is what the closed form assumes. */
TEST(CollectiveSweep, StreamAloneIsTheClosedForm)
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

/** Times of a shortcut carry a bound; an all-to-all that nothing disturbs is flow's to a hundredth
 * of a percent, so both ends are at the time. 2^50 bytes are more than any calibrated call has. */
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
        EXPECT_NEAR(point.bound->lower, 1, 1e-4);
        EXPECT_NEAR(point.bound->upper, 1, 1e-4);
    }
    const std::string header =
        "collective,size_bytes,time_us,algbw_GBps,busbw_GBps,lower_us,upper_us,coverage,regime,"
        "region\n";
    EXPECT_EQ(ToCsv(spec, points).rfind(header, 0), 0U);
    spec.sizes = {Bytes(int64_t{1} << 50)};
    auto largest = RunCollectiveSweep(spec);
    AddBounds(calibration, 0.9, largest);
    EXPECT_EQ(largest.front().bound->region.rfind("outside: ", 0), 0U);
    EXPECT_NE(ToCsv(spec, largest).find(",,,0.9,"), std::string::npos); // no ends
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

/** NCCL's limit is 64 channels; a group that has fewer gets copies of them. */
TEST(CollectiveSweep, ChannelsBeyondThoseOfTheSearchAreCopies)
{
    CollectiveSweepSpec spec = TwoNodes(CollectiveOp::AllReduce);
    spec.overrides.algorithm = Algorithm::Ring;
    spec.overrides.channels = 64;
    spec.sizes = {Bytes::GiB(1)};
    EXPECT_EQ(RunCollectiveSweep(spec).front().channels, 64U);
}

TEST(CollectiveSweep, RefusesOverridesThatCannotBeMet)
{
    CollectiveSweepSpec spec = TwoNodes(CollectiveOp::AllReduce);
    spec.overrides.channels = 1000;
    EXPECT_THROW(RunCollectiveSweep(spec), InputError);
}

} // namespace
} // namespace weir
