// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/machine/describe-calibration.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace weir
{

namespace
{

__attribute__((format(printf, 1, 2))) std::string
Print(const char* format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return text;
}

/** "3.1 9.4": median and 90th percentile of |predicted / measured - 1| in percent. */
std::string
ErrorCell(const std::vector<double>& errors)
{
    std::vector<double> sizes;
    for (const double error : errors)
    {
        sizes.push_back(100 * std::abs(std::exp(-error) - 1));
    }
    std::sort(sizes.begin(), sizes.end());
    const auto at = [&](double part) {
        const auto index = static_cast<std::size_t>(part * static_cast<double>(sizes.size()));
        return sizes[std::min(sizes.size() - 1, index)];
    };
    return Print("%7.1f %7.1f", at(0.5), at(0.9));
}

std::string
ParameterLine(const FittedParameter& each)
{
    const MachineParameter& parameter = each.parameter;
    const std::string initial = ToText(parameter.unit, parameter.initial);
    if (each.isDetermined)
    {
        return Print("  %-26s %12s %12s %9.1f %%\n",
                     parameter.Name().c_str(),
                     initial.c_str(),
                     ToText(parameter.unit, each.value).c_str(),
                     100 * each.error);
    }
    return Print("  %-26s %12s %12s  %s%s\n",
                 parameter.Name().c_str(),
                 initial.c_str(),
                 "kept",
                 each.alike.empty() ? "these runs do not determine it" : "not told apart from ",
                 each.alike.c_str());
}

} // namespace

std::string
DescribeRun(const MeasuredCollective& run)
{
    const CollectiveSweepSpec& sweep = run.sweep;
    return Print("%s: %s, %u node%s of %u GPUs, NCCL %s, %s, %zu sizes",
                 run.name.c_str(),
                 ToString(sweep.op),
                 sweep.cluster.nodes,
                 sweep.cluster.nodes == 1 ? "" : "s",
                 sweep.gpusPerNode,
                 sweep.ncclVersion.c_str(),
                 ToString(sweep.launch),
                 sweep.sizes.size());
}

std::string
DescribeCalibration(const MachineCalibration& calibration, const MachineFitSpec& spec)
{
    std::string text;
    for (const MeasuredCollective& run : spec.runs)
    {
        text += DescribeRun(run) + "\n";
    }
    text += Print("\n  %-26s %12s %12s  %s\n", "parameter", "before", "fitted", "standard error");
    for (const FittedParameter& each : calibration.parameters)
    {
        text += ParameterLine(each);
    }
    text += Print("\n%s left out in turn: %zu; fitted points scatter by %.1f %%\n",
                  calibration.heldOut.c_str(),
                  calibration.parts,
                  100 * calibration.scatter);
    text += Print("\n  %-42s %6s %15s %15s %15s\n",
                  "error in %: median, 90th percentile",
                  "cases",
                  "before",
                  "fitted",
                  "held out");
    for (const ClassErrors& errors : calibration.classes)
    {
        text += Print("  %-42s %6zu %s %s %s\n",
                      errors.name.c_str(),
                      errors.after.size(),
                      ErrorCell(errors.before).c_str(),
                      ErrorCell(errors.after).c_str(),
                      ErrorCell(errors.heldOut).c_str());
    }
    text += "\n";
    for (const MeasuredBound& bound : calibration.bounds)
    {
        text += Print("held-out %s: %s, nested %.0f %%\n",
                      bound.name.c_str(),
                      ToText(bound).c_str(),
                      100 * bound.nestedCoverage);
    }
    return text;
}

} // namespace weir
