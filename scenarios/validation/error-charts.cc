// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/error-charts.h"

#include <algorithm>
#include <cmath>
#include <limits>

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

} // namespace weir
