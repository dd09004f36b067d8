// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/machine/describe-calibration.h"

#include "scenarios/results/text-table.h"

#include <algorithm>
#include <cmath>

namespace weir
{

namespace
{

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
    return FormatText("%7.1f %7.1f", at(0.5), at(0.9));
}

std::string
ParameterLine(const FittedParameter& each)
{
    const MachineParameter& parameter = each.parameter;
    const std::string initial = ToText(parameter.unit, parameter.initial);
    if (each.isDetermined)
    {
        return FormatText("  %-26s %12s %12s %9.1f %%\n",
                          parameter.Name().c_str(),
                          initial.c_str(),
                          ToText(parameter.unit, each.value).c_str(),
                          100 * each.error);
    }
    return FormatText("  %-26s %12s %12s  %s%s\n",
                      parameter.Name().c_str(),
                      initial.c_str(),
                      "kept",
                      each.alike.empty() ? "these runs do not determine it"
                                         : "not told apart from ",
                      each.alike.c_str());
}

} // namespace

std::string
DescribeRun(const MeasuredCollective& run)
{
    const CollectiveSweepSpec& sweep = run.sweep;
    return FormatText("%s: %s, %u node%s of %u GPUs, NCCL %s, %s, %zu sizes",
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
    text +=
        FormatText("\n  %-26s %12s %12s  %s\n", "parameter", "before", "fitted", "standard error");
    for (const FittedParameter& each : calibration.parameters)
    {
        text += ParameterLine(each);
    }
    text += FormatText("\n%s left out in turn: %zu; fitted points scatter by %.1f %%\n",
                       calibration.heldOut.c_str(),
                       calibration.parts,
                       100 * calibration.scatter);
    text += FormatText("\n  %-42s %6s %15s %15s %15s\n",
                       "error in %: median, 90th percentile",
                       "cases",
                       "before",
                       "fitted",
                       "held out");
    for (const ClassErrors& errors : calibration.classes)
    {
        text += FormatText("  %-42s %6zu %s %s %s\n",
                           errors.name.c_str(),
                           errors.after.size(),
                           ErrorCell(errors.before).c_str(),
                           ErrorCell(errors.after).c_str(),
                           ErrorCell(errors.heldOut).c_str());
    }
    text += "\n";
    for (const MeasuredBound& bound : calibration.bounds)
    {
        text += FormatText("held-out %s: %s, nested %.0f %%\n",
                           bound.name.c_str(),
                           ToText(bound).c_str(),
                           100 * bound.nestedCoverage);
    }
    return text;
}

} // namespace weir
