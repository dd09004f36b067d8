// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/yaml/quantity.h"

#include "refusal.h"

#include <gtest/gtest.h>
#include <random>

namespace weir
{
namespace
{

TEST(Quantity, SizesAreDecimalOrBinaryAsTheirUnitSays)
{
    EXPECT_EQ(ParseBytes("8B"), Bytes(8));
    EXPECT_EQ(ParseBytes("1kB"), Bytes(1000));
    EXPECT_EQ(ParseBytes("1KB"), Bytes(1000));
    EXPECT_EQ(ParseBytes("1MB"), Bytes(1000000));
    EXPECT_EQ(ParseBytes("1GB"), Bytes(1000000000));
    EXPECT_EQ(ParseBytes("1TB"), Bytes(1000000000000));
    EXPECT_EQ(ParseBytes("1KiB"), Bytes(1024));
    EXPECT_EQ(ParseBytes("40MiB"), Bytes::MiB(40));
    EXPECT_EQ(ParseBytes("16GiB"), Bytes::GiB(16));
    EXPECT_EQ(ParseBytes("1TiB"), Bytes::GiB(1024));
}

TEST(Quantity, NumbersAreReadAsExactDecimals)
{
    EXPECT_EQ(ParseBytes("1.5GiB"), Bytes(3 * (int64_t{1} << 29)));
    EXPECT_EQ(ParseBytes("0.001kB"), Bytes(1));
    EXPECT_EQ(ParseBytes("1e3 B"), Bytes(1000));
    EXPECT_EQ(ParseBytes("9223372036854775807B"), Bytes(9223372036854775807)); // 2^63 - 1
    EXPECT_EQ(ParseTime("0.3us").ToPicoseconds(), 300000); // 0.3 * 1e6 in doubles rounds to it, too
    EXPECT_EQ(ParseTime("106.7s").ToPicoseconds(), 106700000000000);
    EXPECT_EQ(ParseTime("8000000.000000000001s").ToPicoseconds(), 8000000000000000001);
}

TEST(Quantity, TimesRoundToTheNearestPicosecond)
{
    EXPECT_EQ(ParseTime("1ps").ToPicoseconds(), 1);
    EXPECT_EQ(ParseTime("150ns").ToPicoseconds(), 150000);
    EXPECT_EQ(ParseTime("2us").ToPicoseconds(), 2000000);
    EXPECT_EQ(ParseTime("3ms").ToPicoseconds(), 3000000000);
    EXPECT_EQ(ParseTime("1s").ToPicoseconds(), 1000000000000);
    EXPECT_EQ(ParseTime("0.0004ns").ToPicoseconds(), 0);
    EXPECT_EQ(ParseTime("0.0005ns").ToPicoseconds(), 1);
    EXPECT_EQ(ParseTime("0.0014ns").ToPicoseconds(), 1);
}

TEST(Quantity, RatesInBitsAreAnEighthOfRatesInBytes)
{
    EXPECT_EQ(ParseRate("400Gbps"), Rate::GBps(50));
    EXPECT_EQ(ParseRate("8bps"), Rate::BytesPerSecond(1));
    EXPECT_EQ(ParseRate("8kbps"), ParseRate("1kB/s"));
    EXPECT_EQ(ParseRate("8Mbps"), ParseRate("1MB/s"));
    EXPECT_EQ(ParseRate("8Gbps"), ParseRate("1GB/s"));
    EXPECT_EQ(ParseRate("8Tbps"), ParseRate("1TB/s"));
    EXPECT_EQ(ParseRate("1GiB/s"), Rate::BytesPerSecond(1073741824));
    EXPECT_EQ(ParseRate("20.6GB/s"), Rate::BytesPerSecond(20600000000.0));
    EXPECT_EQ(ParseRate("0GB/s"), Rate());
}

TEST(Quantity, FrequenciesAndComputeRates)
{
    EXPECT_EQ(ParseHertz("1.98GHz"), 1.98e9);
    EXPECT_EQ(ParseHertz("1410MHz"), 1.41e9);
    EXPECT_EQ(ParseHertz("5Hz"), 5);
}

TEST(Quantity, WritesWhatItReads)
{
    EXPECT_EQ(FormatBytes(Bytes::MiB(40)), "40MiB");
    EXPECT_EQ(FormatBytes(Bytes(1500)), "1500B");
    EXPECT_EQ(FormatBytes(Bytes()), "0B");
    EXPECT_EQ(FormatTime(Time::Nanoseconds(150)), "150ns");
    EXPECT_EQ(FormatTime(Time()), "0ps");
    EXPECT_EQ(FormatRate(Rate::Gbps(400)), "50GB/s");
    EXPECT_EQ(FormatRate(Rate::Gbps(100)), "100Gbps");
    std::mt19937_64 random(7);
    for (int i = 0; i < 2000; ++i)
    {
        const auto count = static_cast<int64_t>(random() >> (1 + random() % 62));
        EXPECT_EQ(ParseBytes(FormatBytes(Bytes(count))), Bytes(count));
        EXPECT_EQ(ParseTime(FormatTime(Time::Picoseconds(count / 2))).ToPicoseconds(), count / 2);
        const Rate rate = Rate::BytesPerSecond(static_cast<double>(random()) / 1e6);
        EXPECT_EQ(ParseRate(FormatRate(rate)), rate) << FormatRate(rate);
    }
}

TEST(Quantity, RefusesBareNumbersWithAnExample)
{
    EXPECT_EQ(RefusalOf([] { ParseRate("400"); }),
              "found '400' without a unit, expected a rate with a unit, such as 400Gbps");
    EXPECT_EQ(RefusalOf([] { ParseBytes("0"); }),
              "found '0' without a unit, expected a size with a unit, such as 40MiB");
    EXPECT_EQ(RefusalOf([] { ParseTime("1e-6"); }),
              "found '1e-6' without a unit, expected a time with a unit, such as 150ns");
}

TEST(Quantity, RefusesWhatIsNoNumber)
{
    for (const char* text : {"", "GB", "-", "1.2.3GB", ".GB", "fastGB", "nanGB", "infGB", "0x10GB"})
    {
        EXPECT_NE(RefusalOf([&] { ParseBytes(text); }), "") << text;
    }
    EXPECT_EQ(RefusalOf([] { ParseTime("soon"); }),
              "found 'soon', expected a time with a unit, such as 150ns");
}

TEST(Quantity, RefusesUnknownUnitsWithTheNearestOne)
{
    EXPECT_EQ(
        RefusalOf([] { ParseTime("5msec"); }),
        "found '5msec' with the unit 'msec', expected one of the units ps, ns, us, ms, s (did "
        "you mean 'ms'?)");
    EXPECT_EQ(RefusalOf([] { ParseBytes("5mib"); }),
              "found '5mib' with the unit 'mib', expected one of the units B, kB, KB, MB, GB, TB, "
              "KiB, MiB, GiB, TiB (did you mean 'MiB'?)");
    EXPECT_EQ(RefusalOf([] { ParseHertz("2ghz"); }),
              "found '2ghz' with the unit 'ghz', expected one of the units Hz, kHz, MHz, GHz (did "
              "you mean 'GHz'?)");
}

TEST(Quantity, RefusesWhatCannotBeHeld)
{
    EXPECT_EQ(RefusalOf([] { ParseBytes("-1GB"); }),
              "found '-1GB', expected a size of at least zero");
    EXPECT_EQ(RefusalOf([] { ParseBytes("0.5B"); }),
              "found '0.5B', expected a whole number of bytes");
    EXPECT_EQ(RefusalOf([] { ParseBytes("9223372036854775808B"); }),
              "found '9223372036854775808B', expected a size below 2^63 bytes");
    EXPECT_EQ(RefusalOf([] { ParseTime("1e9s"); }),
              "found '1e9s', expected a time below 2^63 ps (106 days)");
    EXPECT_EQ(RefusalOf([] { ParseRate("1e400GB/s"); }),
              "found '1e400GB/s', expected a rate that fits in 128 bits");
}

} // namespace
} // namespace weir
