// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_PLOT_CHART_H
#define WEIR_SCENARIOS_PLOT_CHART_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/**
 * @file
 * Diagrams of numbers as SVG, without a plotting library: small multiples of points and lines over
 * linear or logarithmic axes. Text stays text, so pictures can be searched.
 */
namespace weir
{

/** How an axis is divided. */
enum class AxisScale : uint8_t
{
    Linear,
    Decades,    //!< logarithmic, ticks at powers of ten, or closer in a short range
    BinaryBytes //!< logarithmic, ticks at sizes: 1 KiB, 16 KiB, ...
};

/** One axis of a diagram. */
struct ChartAxis
{
    std::string label;
    AxisScale scale{AxisScale::Linear};
    std::optional<double> least{}; //!< default: what the series span
    std::optional<double> most{};
};

/** How a series is drawn. */
enum class SeriesStyle : uint8_t
{
    Line,
    Dashed,
    Points
};

/** Some points of one meaning; those not finite, or not positive on a logarithmic axis, are left
 * out. */
struct ChartSeries
{
    std::string name; //!< for the legend; none when empty
    SeriesStyle style{SeriesStyle::Line};
    std::size_t color{0}; //!< of a palette of eight; taken modulo its size
    std::vector<double> x{};
    std::vector<double> y{}; //!< as many as x
};

/** One diagram. */
struct Chart
{
    std::string title;
    ChartAxis x;
    ChartAxis y;
    std::vector<ChartSeries> series{};
};

/**
 * The diagrams in rows of @p columns as one SVG document.
 * @throws std::invalid_argument when x and y of a series differ in length or columns is zero.
 */
std::string ToSvg(const std::vector<Chart>& charts, std::size_t columns);

} // namespace weir

#endif // WEIR_SCENARIOS_PLOT_CHART_H
