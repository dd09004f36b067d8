// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/plot/axis-ticks.h"
#include "scenarios/plot/chart.h"

#include <gtest/gtest.h>
#include <limits>

namespace weir
{
namespace
{

std::size_t
Count(const std::string& text, const std::string& part)
{
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    {
        ++count;
    }
    return count;
}

TEST(AxisTicks, LieAtRoundValuesInsideTheRange)
{
    const auto ticks = TicksOf({AxisScale::Linear, 0, 480}, 5);
    ASSERT_EQ(ticks.size(), 5U); // every 100
    EXPECT_EQ(ticks.front().label, "0");
    EXPECT_EQ(ticks.back().label, "400");
    const auto sizes = TicksOf({AxisScale::BinaryBytes, 1024, 1 << 30}, 20);
    EXPECT_EQ(sizes.front().label, "1 KiB");
    EXPECT_EQ(sizes.back().label, "1 GiB");
}

// Less than three powers of ten: 1, 2 and 5 times them; less than three of those: even steps.
TEST(AxisTicks, AShortLogarithmicRangeHasThemToo)
{
    const auto labels = [](double least, double most) {
        std::string text;
        for (const auto& tick : TicksOf({AxisScale::Decades, least, most}, 5))
        {
            text += tick.label + " ";
        }
        return text;
    };
    EXPECT_EQ(labels(0.5, 2000), "1 10 100 1000 ");
    EXPECT_EQ(labels(0.9, 12), "1 2 5 10 ");
    EXPECT_EQ(labels(2.5, 4.5), "2.5 3 3.5 4 4.5 ");
}

TEST(AxisTicks, PlacesAreProportionalInTheLogarithm)
{
    const AxisRange range{AxisScale::Decades, 1, 10000};
    EXPECT_DOUBLE_EQ(range.Place(1), 0);
    EXPECT_DOUBLE_EQ(range.Place(100), 0.5);
    EXPECT_DOUBLE_EQ(range.Place(10000), 1);
}

TEST(AxisTicks, ARangeIsNeverEmpty)
{
    EXPECT_GT(RangeOf({"", AxisScale::Linear}, {}).most, 0);
    const auto one = RangeOf({"", AxisScale::Decades}, {5, 5});
    EXPECT_GT(one.most, one.least);
}

TEST(Chart, DrawsEveryPointThatAnAxisCanShow)
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Chart chart{"a < b",
                      {"x", AxisScale::Decades},
                      {"y", AxisScale::Linear},
                      {{"s", SeriesStyle::Points, 0, {1, 10, 0, 100}, {1, nan, 3, 4}}}};
    const std::string svg = ToSvg({chart, chart}, 2);
    // Two charts with two points each (not those at nan and at zero of a logarithm), and a mark of
    // the legend each.
    EXPECT_EQ(Count(svg, "<circle"), 2U * (2 + 1));
    EXPECT_EQ(Count(svg, "a &lt; b"), 2U);
}

// Where the name of a series of two letters stands: left of the middle or not, above it or not.
std::pair<bool, bool>
LegendPlace(const std::vector<double>& y)
{
    const std::string svg =
        ToSvg({{"", {}, {}, {{"ab", SeriesStyle::Line, 0, {0, 1, 2, 3}, y}}}}, 1);
    const std::size_t at = svg.rfind("<text", svg.find(">ab</text>"));
    const auto figure = [&](const char* name) {
        return std::stod(svg.substr(svg.find(name, at) + 4));
    };
    return {figure(" x=\"") < 430. / 2, figure(" y=\"") < 270. / 2};
}

TEST(Chart, PutsTheLegendWhereNothingIsDrawn)
{
    EXPECT_EQ(LegendPlace({0, 1, 2, 3}), (std::pair{true, true}));  // a rising line leaves it
    EXPECT_EQ(LegendPlace({3, 2, 1, 0}), (std::pair{false, true})); // a falling line the right
    EXPECT_EQ(LegendPlace({3, 3, 3, 3}), (std::pair{true, false})); // a line along the top
}

TEST(Chart, RefusesSeriesThatDoNotMatch)
{
    EXPECT_THROW(ToSvg({{"", {}, {}, {{"s", SeriesStyle::Line, 0, {1, 2}, {1}}}}}, 1),
                 std::invalid_argument);
    EXPECT_THROW(ToSvg({}, 0), std::invalid_argument);
}

} // namespace
} // namespace weir
