// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_PLOT_AXIS_TICKS_H
#define WEIR_SCENARIOS_PLOT_AXIS_TICKS_H

#include "scenarios/plot/chart.h"

#include <string>
#include <vector>

namespace weir
{

/** A marked value of an axis. */
struct AxisTick
{
    double value{0};
    std::string label;
};

/** A finite part of an axis, as it is drawn. */
struct AxisRange
{
    AxisScale scale{AxisScale::Linear};
    double least{0};
    double most{1};

    /** Where @p value lies: 0 at least, 1 at most. */
    double Place(double value) const;
};

/**
 * The range that shows @p values: with some room above and from zero on a linear axis of positive
 * values, and never empty.
 */
AxisRange RangeOf(const ChartAxis& axis, const std::vector<double>& values);

/** Round values inside @p range, about @p wanted of them. */
std::vector<AxisTick> TicksOf(const AxisRange& range, std::size_t wanted);

} // namespace weir

#endif // WEIR_SCENARIOS_PLOT_AXIS_TICKS_H
