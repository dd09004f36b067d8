// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/machine/machine-system.h"

#include "scenarios/versions.h"
#include "scenarios/yaml/mapped.h"
#include "scenarios/yaml/names.h"
#include "scenarios/yaml/yaml-writer.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace weir
{

namespace
{

std::string
PercentText(double part)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.1f %%", 100 * part);
    return text;
}

/** The value of each `source` key: what was fitted there, and the source of the other figures. */
std::vector<SystemSetting>
SourcesOf(const MachineCalibration& calibration, const MachineOrigin& origin)
{
    std::map<std::string, std::string> fitted;
    std::map<std::string, std::string> others;
    for (const FittedParameter& each : calibration.parameters)
    {
        const std::string key = each.parameter.SourceKey();
        if (each.isDetermined)
        {
            fitted[key] += (fitted[key].empty() ? "" : ", ") + each.parameter.Name() + " " +
                           ToText(each.parameter.unit, each.value) + " with a standard error of " +
                           PercentText(each.error) + ", before " +
                           ToText(each.parameter.unit, each.parameter.initial);
        }
        others[key] = each.parameter.source;
    }
    std::vector<SystemSetting> sources;
    for (const auto& [key, text] : fitted)
    {
        sources.emplace_back("node." + key,
                             "weir calibrate, " + std::to_string(origin.runs.size()) +
                                 " measured runs: " + text + "; " + origin.base + ": " +
                                 others[key]);
    }
    return sources;
}

/** The key `bounds` of a system; empty without bounds. */
std::string
BoundsText(const MachineCalibration& calibration)
{
    std::map<std::string, std::vector<MeasuredBound>> byClass;
    for (const MeasuredBound& bound : calibration.bounds)
    {
        byClass[bound.name].push_back(bound);
    }
    if (byClass.empty())
    {
        return "";
    }
    YamlWriter out;
    out.List("bounds", byClass, [&](const auto& each) {
        const auto& [name, bounds] = each;
        const auto errors =
            std::find_if(calibration.classes.begin(),
                         calibration.classes.end(),
                         [&, &named = name](const auto& each) { return each.name == named; });
        const YamlMap map(out);
        out.Text("name", name);
        out.Integer("sources", bounds.front().sources);
        out.Integer("cases", errors->heldOut.size());
        const auto operations = Mapped<std::string>(bounds.front().scope.operations,
                                                    [&](CollectiveOp op) { return ToString(op); });
        out.List("operations", operations);
        out.List("nodes", bounds.front().scope.nodes);
        out.List("intervals", bounds, [&out](const MeasuredBound& bound) {
            const auto rounded = [](double value) { return std::round(value * 1e4) / 1e4; };
            out.Numbers({bound.coverage,
                         rounded(std::log(bound.lower)),
                         rounded(std::log(bound.upper)),
                         rounded(bound.nestedCoverage)});
        });
    });
    return out.GetText();
}

} // namespace

YamlNode
SystemWith(const std::string& base, const std::vector<SystemSetting>& settings)
{
    YamlWriter out;
    out.Text("base", base);
    YamlNode system = YamlNode::ParseArgument(out.GetText(), "--system");
    for (const auto& [path, text] : settings)
    {
        system.Set(path, text);
    }
    return system;
}

std::string
ToSystemYaml(const MachineCalibration& calibration, const MachineOrigin& origin)
{
    YamlNode system = YamlNode::Parse("{}", "system");
    system.SetText("base", origin.base);
    system.SetText("name", origin.name);
    system.SetText("title",
                   origin.base + ", calibrated with " + std::to_string(calibration.points) +
                       " measured times");
    system.SetText("source",
                   origin.command + " (Weir " + WeirVersion() + "): " + JoinNames(origin.runs));
    for (const FittedParameter& each : calibration.parameters)
    {
        if (each.isDetermined)
        {
            system.SetText("node." + each.parameter.key, ToYaml(each.parameter.unit, each.value));
        }
    }
    for (const auto& [path, text] : SourcesOf(calibration, origin))
    {
        system.SetText(path, text);
    }
    return system.Dump() + BoundsText(calibration);
}

} // namespace weir
