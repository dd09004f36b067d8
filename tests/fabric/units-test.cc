// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/units.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

TEST(Units, TimeIsWholePicosecondsRoundedToTheNearest)
{
    EXPECT_EQ(Time::Nanoseconds(1), Time::Picoseconds(1000));
    EXPECT_EQ(Time::Microseconds(1.5), Time::Picoseconds(1500000));
    EXPECT_EQ(Time::Seconds(1), Time::Picoseconds(1000000000000));
    EXPECT_EQ(Time::Nanoseconds(0.0014), Time::Picoseconds(1));
    EXPECT_EQ(Time::Nanoseconds(0.0016), Time::Picoseconds(2));
    EXPECT_EQ(Time::Nanoseconds(-0.0016), Time::Picoseconds(-2));
}

TEST(Units, InfiniteTimeStaysInfinite)
{
    const Time second = Time::Seconds(1);
    EXPECT_TRUE((Time::Infinite() + second).IsInfinite());
    EXPECT_TRUE((Time::Infinite() - second).IsInfinite());
    EXPECT_TRUE((Time::Infinite() * 0.5).IsInfinite());
    EXPECT_TRUE(Time::Seconds(1e300).IsInfinite());
    EXPECT_LT(second, Time::Infinite());
    // 2^63 ps are 106 days: larger sums saturate instead of overflowing.
    const Time late = Time::Picoseconds(9000000000000000000);
    EXPECT_TRUE((late + late).IsInfinite());
    // A sum with a negative time is finite, near either end of the range.
    EXPECT_EQ(second + Time::Seconds(-3), Time::Seconds(-2));
    EXPECT_EQ(Time::Seconds(-3) + second, Time::Seconds(-2));
    EXPECT_EQ(late + Time::Seconds(-3), late - Time::Seconds(3));
    EXPECT_TRUE((Time::Infinite() + Time::Seconds(-3)).IsInfinite());
}

TEST(Units, BytesOverRateIsTheTimeTheyTake)
{
    EXPECT_EQ(Bytes(50000) / Rate::GBps(50), Time::Microseconds(1));
    EXPECT_EQ(Bytes(50) / Rate::Gbps(400), Time::Nanoseconds(1)); // 400 Gb/s is 50 bytes/ns
    EXPECT_EQ(Bytes(0) / Rate(), Time());
    EXPECT_TRUE((Bytes(1) / Rate()).IsInfinite());
    EXPECT_EQ(Bytes(1) / Rate::Infinite(), Time());
}

TEST(Units, BinaryAndDecimalPrefixesDiffer)
{
    EXPECT_EQ(Bytes::GiB(1).Count(), int64_t{1} << 30);
    EXPECT_EQ(Bytes::MiB(3), Bytes::KiB(3 * 1024));
    EXPECT_DOUBLE_EQ(Rate::GBps(1).ToBytesPerSecond(), 1e9);
    EXPECT_DOUBLE_EQ(Rate::Gbps(8).ToGBps(), 1);
    EXPECT_DOUBLE_EQ(Rate::BitsPerSecond(8).ToBytesPerSecond(), 1);
}

TEST(Units, FlopsOverFlopRateIsTheTimeTheyTake)
{
    EXPECT_EQ(Flops(2e12) / FlopRate::FlopsPerSecond(1e12), Time::Seconds(2));
    EXPECT_EQ(Flops(0) / FlopRate(), Time());
    EXPECT_TRUE((Flops(1) / FlopRate()).IsInfinite());
}

} // namespace
} // namespace weir
