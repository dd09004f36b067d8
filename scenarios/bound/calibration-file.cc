// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/calibration-file.h"

#include "scenarios/readers/yaml-keys.h"
#include "scenarios/yaml/yaml-writer.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weir
{

namespace
{

constexpr double ANY = std::numeric_limits<double>::max();
constexpr int64_t MAX_CASES = 1'000'000'000;

void
WriteInterval(YamlWriter& out, double coverage, const ConformalInterval& interval)
{
    if (std::isfinite(interval.lower) && std::isfinite(interval.upper))
    {
        out.Numbers({coverage,
                     interval.lower,
                     interval.upper,
                     static_cast<double>(interval.ranks),
                     static_cast<double>(interval.inside)});
    }
}

void
WriteRegime(YamlWriter& out, const std::string& name, const RegimeCalibration& regime)
{
    out.BeginMap();
    out.Text("name", name);
    out.Integer("cases", regime.cases);
    out.BeginList("ranges");
    for (const FeatureRange& range : regime.ranges)
    {
        out.Pair(range.least, range.most);
    }
    out.EndList();
    out.BeginList("intervals");
    for (std::size_t i = 0; i < CalibratedCoverages().size(); i++)
    {
        WriteInterval(out, CalibratedCoverages()[i], regime.intervals[i]);
    }
    out.EndList();
    out.EndMap();
}

std::vector<double>
ReadNumbers(const YamlNode& node, std::size_t count)
{
    std::vector<double> numbers;
    for (const YamlNode& item : node.Items())
    {
        numbers.push_back(item.AsNumber(-ANY, ANY));
    }
    if (numbers.size() != count)
    {
        node.Fail("found " + std::to_string(numbers.size()) + " numbers, expected " +
                  std::to_string(count));
    }
    return numbers;
}

/** Reads intervals by coverage; infinite where the file has none. */
std::vector<ConformalInterval>
ReadIntervals(const YamlNode& node)
{
    const auto& coverages = CalibratedCoverages();
    ConformalInterval unknown;
    unknown.lower = -std::numeric_limits<double>::infinity();
    unknown.upper = -unknown.lower;
    std::vector<ConformalInterval> intervals(coverages.size(), unknown);
    for (const YamlNode& item : node.Items())
    {
        const auto numbers = ReadNumbers(item, 5);
        const auto level = std::find(coverages.begin(), coverages.end(), numbers[0]);
        if (level == coverages.end() || numbers[1] > numbers[2] || numbers[3] < 1)
        {
            item.Fail(
                "expected a coverage of 0.8, 0.9, 0.95 or 0.99, a lower and an upper end, "
                "and numbers of cases");
        }
        intervals[static_cast<std::size_t>(level - coverages.begin())] = {
            numbers[1],
            numbers[2],
            static_cast<std::size_t>(numbers[3]),
            static_cast<std::size_t>(numbers[4])};
    }
    return intervals;
}

RegimeCalibration
ReadRegime(const YamlNode& node, const std::vector<std::string>& features)
{
    node.CheckKeys(YamlKeysOf("calibration.regimes"));
    RegimeCalibration regime;
    regime.cases = static_cast<std::size_t>(node.Get("cases").AsInteger(1, MAX_CASES));
    for (const YamlNode& item : node.Get("ranges").Items())
    {
        const auto numbers = ReadNumbers(item, 2);
        regime.ranges.push_back({numbers[0], numbers[1]});
    }
    if (regime.ranges.size() != features.size())
    {
        node.Get("ranges").Fail("found " + std::to_string(regime.ranges.size()) +
                                " ranges, expected one for each of the " +
                                std::to_string(features.size()) + " features");
    }
    regime.intervals = ReadIntervals(node.Get("intervals"));
    return regime;
}

} // namespace

std::string
ToYaml(const Calibration& calibration)
{
    const CalibrationOrigin& origin = calibration.GetOrigin();
    YamlWriter out;
    out.BeginMap();
    out.Text("title", origin.title);
    out.Text("command", origin.command);
    out.Text("version", origin.version);
    out.Text("reference", ToString(origin.reference));
    out.Integer("seed", origin.seed);
    out.Integer("scenarios", origin.scenarios);
    out.BeginList("features");
    for (const std::string& feature : calibration.Features())
    {
        out.Item(feature);
    }
    out.EndList();
    out.BeginList("regimes");
    for (const auto& [name, regime] : calibration.Regimes())
    {
        WriteRegime(out, name, regime);
    }
    out.EndList();
    out.EndMap();
    return "# SPDX-License-Identifier: GPL-2.0-only\n" + out.GetText();
}

Calibration
ReadCalibration(const std::string& nameOrPath, const Catalog& catalog)
{
    const YamlNode node = YamlNode::Load(catalog.Find(CatalogKind::Calibrations, nameOrPath));
    node.CheckKeys(YamlKeysOf("calibration"));
    CalibrationOrigin origin;
    origin.title = node.Get("title").AsString();
    origin.command = node.Get("command").AsString();
    origin.version = node.Get("version").AsString();
    origin.reference = node.Get("reference")
                           .AsEnum<Fidelity>({{ToString(Fidelity::Flow), Fidelity::Flow},
                                              {ToString(Fidelity::Packet), Fidelity::Packet}});
    origin.seed = node.Get("seed").AsSeed();
    origin.scenarios = static_cast<std::size_t>(node.Get("scenarios").AsInteger(1, MAX_CASES));
    const auto features = node.Get("features").AsStrings();
    std::map<std::string, RegimeCalibration> regimes;
    for (const YamlNode& item : node.Get("regimes").Items())
    {
        const std::string name = item.Get("name").AsString();
        if (!regimes.emplace(name, ReadRegime(item, features)).second)
        {
            item.Fail("found the regime '" + name + "' twice, expected it once");
        }
    }
    return {std::move(origin), features, std::move(regimes)};
}

} // namespace weir
