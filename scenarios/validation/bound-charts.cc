// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/bound-charts.h"

#include "collectives/fidelity.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace weir
{
namespace
{

constexpr double BAND = 0.1; //!< either side of equality
constexpr double ROOM = 1.2; //!< beyond the extreme times, as a factor

/** The line predicted = factor * measured between two measured times. */
ChartSeries
Ray(const std::string& name, SeriesStyle style, double factor, double least, double most)
{
    ChartSeries line;
    line.name = name;
    line.style = style;
    line.color = 1;
    line.x = {least, most};
    line.y = {least * factor, most * factor};
    return line;
}

constexpr std::size_t MAX_REGIMES = 6; //!< that have a diagram of their own
constexpr std::size_t MIN_POINTS = 5;  //!< of such a regime

constexpr auto THINGS = static_cast<std::size_t>(LAST_CALIBRATED_THING) + 1; //!< how many

/** Nominal against observed coverage; on the diagonal a bound keeps what it says. */
Chart
ReliabilityDiagram(const BoundAgreement& agreement)
{
    constexpr double MIN_COVERAGE = 60; // of coverages that are shown
    const auto axis = [](const char* label) {
        return ChartAxis{label, AxisScale::Linear, MIN_COVERAGE, 100};
    };
    Chart chart{"reliability", axis("nominal coverage, %"), axis("observed coverage, %")};
    chart.series.push_back(
        {"equal", SeriesStyle::Dashed, 7, {MIN_COVERAGE, 100}, {MIN_COVERAGE, 100}});
    const auto& coverages = CalibratedCoverages();
    for (std::size_t thing = 0; thing < THINGS; thing++)
    {
        const auto of = static_cast<CalibratedThing>(thing);
        ChartSeries series{ToString(of), SeriesStyle::Line, thing};
        for (std::size_t level = 0; level < coverages.size(); level++)
        {
            std::size_t cases = 0;
            std::size_t covered = 0;
            for (const BoundPoint& point : agreement.points)
            {
                if (point.thing == of)
                {
                    cases++;
                    covered += point.ratio >= point.bounds[level].lower &&
                               point.ratio <= point.bounds[level].upper;
                }
            }
            if (cases > 0)
            {
                series.x.push_back(100 * coverages[level]);
                series.y.push_back(100.0 * static_cast<double>(covered) /
                                   static_cast<double>(cases));
            }
        }
        chart.series.push_back(std::move(series));
    }
    return chart;
}

/** Part of the bounds that are no wider than so much. */
Chart
WidthDistribution(const BoundAgreement& agreement, std::size_t level)
{
    Chart chart{"width of the bounds of " + CoverageText(CalibratedCoverages()[level]),
                {"upper end less lower end, % of the estimate", AxisScale::Decades},
                {"part of the bounds, %"}};
    for (std::size_t thing = 0; thing < THINGS; thing++)
    {
        const auto of = static_cast<CalibratedThing>(thing);
        ChartSeries series{ToString(of), SeriesStyle::Line, thing};
        for (const BoundPoint& point : agreement.points)
        {
            if (point.thing == of)
            {
                series.x.push_back(100 * point.bounds[level].Width());
            }
        }
        std::sort(series.x.begin(), series.x.end());
        for (std::size_t i = 0; i < series.x.size(); i++)
        {
            series.y.push_back(100.0 * static_cast<double>(i + 1) /
                               static_cast<double>(series.x.size()));
        }
        chart.series.push_back(std::move(series));
    }
    return chart;
}

/** Errors of the collectives of one regime against their size, in the band of the bound. */
Chart
ErrorsBySize(const std::string& regime,
             const std::vector<const BoundPoint*>& points,
             std::size_t level)
{
    Chart chart{
        regime, {"message size", AxisScale::BinaryBytes}, {"time of flow, % above the estimate"}};
    ChartSeries errors{"fresh cases", SeriesStyle::Points, 0};
    for (const BoundPoint* point : points)
    {
        errors.x.push_back(point->bytes);
        errors.y.push_back(100 * (point->ratio - 1));
    }
    const auto [least, most] = std::minmax_element(errors.x.begin(), errors.x.end());
    const ErrorBound& bound = points.front()->bounds[level];
    const auto edge = [&, from = *least, to = *most](const std::string& name, double end) {
        const double error = 100 * (end - 1);
        chart.series.push_back({name, SeriesStyle::Dashed, 1, {from, to}, {error, error}});
    };
    edge(CoverageText(bound.coverage) + " bound", bound.lower);
    edge("", bound.upper);
    chart.series.push_back(std::move(errors));
    return chart;
}

} // namespace

Chart
ParityChart(const std::string& title, const std::vector<TimePair>& pairs)
{
    Chart chart;
    chart.title = title;
    double least = std::numeric_limits<double>::infinity();
    double most = 0;
    ChartSeries points;
    points.style = SeriesStyle::Points;
    for (const TimePair& pair : pairs)
    {
        points.x.push_back(pair.measured);
        points.y.push_back(pair.predicted);
        least = std::min({least, pair.measured, pair.predicted});
        most = std::max({most, pair.measured, pair.predicted});
    }
    chart.x = {"measured (s)", AxisScale::Decades};
    chart.y = {"predicted (s)", AxisScale::Decades};
    if (!pairs.empty())
    {
        // Both axes alike, so that equality is the diagonal, with room for points on the rim.
        least /= ROOM;
        most *= ROOM;
        chart.x.least = chart.y.least = least;
        chart.x.most = chart.y.most = most;
        chart.series.push_back(Ray("equal", SeriesStyle::Line, 1, least, most));
        chart.series.push_back(Ray("10 %", SeriesStyle::Dashed, 1 + BAND, least, most));
        chart.series.push_back(Ray("", SeriesStyle::Dashed, 1 - BAND, least, most));
    }
    chart.series.push_back(points);
    return chart;
}

Chart
ErrorDistribution(const std::string& title, const std::vector<TimePair>& pairs)
{
    std::vector<double> errors;
    for (const TimePair& pair : pairs)
    {
        errors.push_back(std::abs(pair.predicted / pair.measured - 1) * 100);
    }
    std::sort(errors.begin(), errors.end());
    Chart chart;
    chart.title = title;
    chart.x = {"absolute error (%)", AxisScale::Linear, 0.0};
    chart.y = {"share of cases (%)", AxisScale::Linear, 0.0, 100.0};
    ChartSeries line;
    line.x.push_back(0);
    line.y.push_back(0);
    for (std::size_t i = 0; i < errors.size(); i++)
    {
        line.x.insert(line.x.end(), 2, errors[i]); // a step up
        line.y.push_back(line.y.back());
        line.y.push_back(100.0 * static_cast<double>(i + 1) / static_cast<double>(errors.size()));
    }
    chart.series.push_back(line);
    return chart;
}

std::vector<Chart>
BoundCharts(const BoundAgreement& agreement)
{
    const auto& coverages = CalibratedCoverages();
    const auto level = static_cast<std::size_t>(
        std::find(coverages.begin(), coverages.end(), agreement.coverage) - coverages.begin());
    std::vector<Chart> charts{ReliabilityDiagram(agreement), WidthDistribution(agreement, level)};
    std::map<std::string, std::vector<const BoundPoint*>> regimes;
    for (const BoundPoint& point : agreement.points)
    {
        if (point.thing == CalibratedThing::Collectives)
        {
            regimes[point.bounds[level].regime].push_back(&point);
        }
    }
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [name, points] : regimes)
    {
        const bool isStream = name.rfind(ToString(Fidelity::Stream), 0) == 0;
        if (isStream && points.size() >= MIN_POINTS)
        {
            order.emplace_back(points.front()->bounds[level].Width(), name);
        }
    }
    std::stable_sort(
        order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    order.resize(std::min(order.size(), MAX_REGIMES));
    for (const auto& [width, name] : order)
    {
        charts.push_back(ErrorsBySize(name, regimes[name], level));
    }
    return charts;
}

} // namespace weir
