// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/plot/axis-ticks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace weir
{

namespace
{

std::string
Print(const char* format, double value)
{
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), format, value);
    return text.data();
}

std::string
BytesLabel(int exponent)
{
    constexpr std::array<const char*, 5> UNITS{"B", "KiB", "MiB", "GiB", "TiB"};
    const int unit = std::clamp(exponent / 10, 0, 4);
    return Print("%.0f ", std::ldexp(1.0, exponent - 10 * unit)) + UNITS[unit];
}

/** 1, 2 or 5 times a power of ten, at least @p rough. */
double
RoundStep(double rough)
{
    const double power = std::pow(10, std::floor(std::log10(rough)));
    for (const double digit : {1.0, 2.0, 5.0})
    {
        if (digit * power >= rough * (1 - 1e-9))
        {
            return digit * power;
        }
    }
    return 10 * power;
}

std::vector<AxisTick>
LinearTicks(const AxisRange& range, std::size_t wanted)
{
    const double step = RoundStep((range.most - range.least) / static_cast<double>(wanted));
    std::vector<AxisTick> ticks;
    for (double at = std::ceil(range.least / step - 1e-9); at * step <= range.most + 1e-9 * step;
         at += 1)
    {
        const double value = at == 0 ? 0 : at * step; // not minus zero
        ticks.push_back({value, Print("%.6g", value)});
    }
    return ticks;
}

/** At powers of @p base, every so many that about @p wanted are left. */
std::vector<AxisTick>
PowerTicks(const AxisRange& range, double base, std::size_t wanted)
{
    const double unit = std::log(base);
    const int first = static_cast<int>(std::ceil(std::log(range.least) / unit - 1e-9));
    const int last = static_cast<int>(std::floor(std::log(range.most) / unit + 1e-9));
    const int stride = std::max(1, (last - first) / static_cast<int>(wanted) + 1);
    std::vector<AxisTick> ticks;
    for (int exponent = first; exponent <= last; exponent += stride)
    {
        const double value = std::pow(base, exponent);
        ticks.push_back({value, base == 2 ? BytesLabel(exponent) : Print("%g", value)});
    }
    return ticks;
}

/** At 1, 2 and 5 times the powers of ten. */
std::vector<AxisTick>
PreferredTicks(const AxisRange& range)
{
    std::vector<AxisTick> ticks;
    for (double power = std::pow(10, std::floor(std::log10(range.least))); power <= range.most;
         power *= 10)
    {
        for (const double digit : {1.0, 2.0, 5.0})
        {
            const double value = digit * power;
            if (value >= range.least * (1 - 1e-9) && value <= range.most * (1 + 1e-9))
            {
                ticks.push_back({value, Print("%g", value)});
            }
        }
    }
    return ticks;
}

/** Of a logarithmic axis: at powers of ten, or closer where the range has few of them. */
std::vector<AxisTick>
DecadeTicks(const AxisRange& range, std::size_t wanted)
{
    constexpr std::size_t MIN_TICKS = 3;
    auto ticks = PowerTicks(range, 10, wanted);
    if (ticks.size() < MIN_TICKS)
    {
        ticks = PreferredTicks(range);
    }
    return ticks.size() < MIN_TICKS ? LinearTicks(range, wanted) : ticks;
}

} // namespace

double
AxisRange::Place(double value) const
{
    return scale == AxisScale::Linear ? (value - least) / (most - least)
                                      : std::log(value / least) / std::log(most / least);
}

AxisRange
RangeOf(const ChartAxis& axis, const std::vector<double>& values)
{
    const bool isLinear = axis.scale == AxisScale::Linear;
    double least = isLinear ? 0 : 1;
    double most = isLinear ? 0 : 1;
    if (!values.empty())
    {
        const auto [low, high] = std::minmax_element(values.begin(), values.end());
        least = isLinear ? std::min(0.0, *low) : *low;
        most = *high;
    }
    if (isLinear)
    {
        constexpr double HEADROOM = 1.05; // so that the highest point is not on the frame
        most = most > 0 ? most * HEADROOM : most;
    }
    least = axis.least.value_or(least);
    most = axis.most.value_or(most);
    if (!(most > least))
    {
        most = isLinear ? least + 1 : least * 2;
    }
    return {axis.scale, least, most};
}

std::vector<AxisTick>
TicksOf(const AxisRange& range, std::size_t wanted)
{
    switch (range.scale)
    {
    case AxisScale::Linear:
        return LinearTicks(range, wanted);
    case AxisScale::Decades:
        return DecadeTicks(range, wanted);
    case AxisScale::BinaryBytes:
        return PowerTicks(range, 2, wanted);
    }
    return {};
}

} // namespace weir
