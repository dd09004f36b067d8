// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/bound-charts.h"

#include "collectives/fidelity.h"

#include <algorithm>
#include <map>

namespace weir
{

namespace
{

constexpr std::size_t MAX_REGIMES = 6; //!< that have a diagram of their own
constexpr std::size_t MIN_POINTS = 5;  //!< of such a regime

const std::vector<CalibratedThing> THINGS{
    CalibratedThing::Collectives, CalibratedThing::Steps, CalibratedThing::Packets};

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
    for (std::size_t thing = 0; thing < THINGS.size(); thing++)
    {
        ChartSeries series{ToString(THINGS[thing]), SeriesStyle::Line, thing};
        for (std::size_t level = 0; level < coverages.size(); level++)
        {
            std::size_t cases = 0;
            std::size_t covered = 0;
            for (const BoundPoint& point : agreement.points)
            {
                if (point.thing == THINGS[thing])
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
    for (std::size_t thing = 0; thing < THINGS.size(); thing++)
    {
        ChartSeries series{ToString(THINGS[thing]), SeriesStyle::Line, thing};
        for (const BoundPoint& point : agreement.points)
        {
            if (point.thing == THINGS[thing])
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
