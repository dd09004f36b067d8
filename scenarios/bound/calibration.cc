// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/calibration.h"

#include "scenarios/catalog.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/results/text-table.h"
#include "scenarios/yaml/mapped.h"
#include "scenarios/yaml/yaml-writer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

constexpr double STORED_DIGITS = 1e6; //!< interval ends are widened to multiples of 1e-6

/** The name of a regime: the first @p depth classes of a path. */
std::string
NameOf(const std::vector<std::string>& path, std::size_t depth)
{
    std::string name;
    for (std::size_t i = 0; i < depth; i++)
    {
        name += (i == 0 ? "" : "/") + path[i];
    }
    return name;
}

using Members = std::vector<const CalibrationCase*>;

/** The smallest regime below the class @p name; end() when there is none. */
std::map<std::string, Members>::iterator
SmallestBelow(const std::string& name, std::map<std::string, Members>& regimes)
{
    auto smallest = regimes.end();
    for (auto each = regimes.begin(); each != regimes.end(); ++each)
    {
        const bool isBelow = each->first.find(name + "/") == 0;
        if (isBelow && (smallest == regimes.end() || each->second.size() < smallest->second.size()))
        {
            smallest = each;
        }
    }
    return smallest;
}

/**
 * Assigns cases to regimes. Classes with too few cases pass them to the class above; the widest
 * admissible class absorbs the smallest regime below it instead.
 */
std::map<std::string, Members>
Divide(const std::vector<CalibrationCase>& cases)
{
    std::size_t deepest = 0;
    for (const CalibrationCase& each : cases)
    {
        deepest = std::max(deepest, each.position.path.size());
    }
    std::map<std::string, Members> regimes;
    std::vector<std::map<std::string, Members>> byDepth(deepest + 1);
    for (const CalibrationCase& each : cases)
    {
        if (each.position.unsampled.empty())
        {
            const std::size_t depth = each.position.path.size();
            byDepth[depth][NameOf(each.position.path, depth)].push_back(&each);
        }
    }
    for (std::size_t depth = deepest; depth > 0; depth--)
    {
        for (auto& [name, members] : byDepth[depth])
        {
            const bool isLast = members.front()->position.minDepth == depth;
            if (const auto taken = SmallestBelow(name, regimes);
                isLast && members.size() < Calibration::MIN_CASES && taken != regimes.end())
            {
                members.insert(members.end(), taken->second.begin(), taken->second.end());
                regimes.erase(taken);
            }
            if (members.size() >= Calibration::MIN_CASES)
            {
                regimes[name] = members;
            }
            else if (depth > 1)
            {
                const std::string above = NameOf(members.front()->position.path, depth - 1);
                auto& rest = byDepth[depth - 1][above];
                rest.insert(rest.end(), members.begin(), members.end());
            }
        }
    }
    for (auto& [name, members] : regimes)
    {
        std::sort(members.begin(), members.end()); // in the order in which they were drawn
    }
    return regimes;
}

/** Rounds down to the digits that a file keeps. */
double
RoundedDown(double value)
{
    return std::floor(value * STORED_DIGITS) / STORED_DIGITS;
}

double
RoundedUp(double value)
{
    return std::ceil(value * STORED_DIGITS) / STORED_DIGITS;
}

RegimeCalibration
Calibrate(const Members& members, std::size_t features)
{
    RegimeCalibration regime;
    regime.cases = members.size();
    auto scores = Mapped<double>(members, &CalibrationCase::score);
    std::sort(scores.begin(), scores.end());
    for (const double coverage : CalibratedCoverages())
    {
        ConformalInterval interval = IntervalOf(scores, coverage);
        interval.lower = RoundedDown(interval.lower);
        interval.upper = RoundedUp(interval.upper);
        regime.intervals.push_back(interval);
    }
    constexpr double INFINITE = std::numeric_limits<double>::infinity();
    regime.ranges.assign(features, {INFINITE, -INFINITE});
    for (const CalibrationCase* each : members)
    {
        for (std::size_t j = 0; j < features; j++)
        {
            const double value = each->position.features[j];
            regime.ranges[j].min = std::min(regime.ranges[j].min, RoundedDown(value));
            regime.ranges[j].max = std::max(regime.ranges[j].max, RoundedUp(value));
        }
    }
    return regime;
}

/** "256", "0.03". */
std::string
Plain(double value)
{
    return FormatText("%.4g", value);
}

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
    const YamlMap map(out);
    out.Text("name", name);
    out.Integer("cases", regime.cases);
    out.List("ranges", regime.ranges, [&out](const FeatureRange& range) {
        out.Numbers({range.min, range.max});
    });
    out.BeginList("intervals");
    for (std::size_t i = 0; i < CalibratedCoverages().size(); i++)
    {
        WriteInterval(out, CalibratedCoverages()[i], regime.intervals[i]);
    }
    out.EndList();
}

std::vector<double>
ReadNumbers(const YamlNode& node, std::size_t count)
{
    const auto numbers = Mapped<double>(
        node.Items(), [&](const YamlNode& item) { return item.AsNumber(-ANY, ANY); });
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
    ConformalInterval unknown;
    unknown.lower = -std::numeric_limits<double>::infinity();
    unknown.upper = -unknown.lower;
    std::vector<ConformalInterval> intervals(CalibratedCoverages().size(), unknown);
    for (const YamlNode& item : node.Items())
    {
        const auto numbers = ReadNumbers(item, 5);
        const auto level = FindCoverage(numbers[0]);
        if (!level || numbers[1] > numbers[2] || numbers[3] < 1)
        {
            item.Fail(
                "expected a coverage of 0.8, 0.9, 0.95 or 0.99, a lower and an upper end, "
                "and numbers of cases");
        }
        intervals[*level] = {numbers[1],
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

std::vector<Fidelity>
EstimatesOf(Fidelity reference)
{
    std::vector<Fidelity> estimates{Fidelity::Analytical, Fidelity::Stream};
    if (reference == Fidelity::Packet)
    {
        estimates.push_back(Fidelity::Flow);
    }
    return estimates;
}

bool
IsComparedWith(Fidelity reference, Fidelity estimate)
{
    const std::vector<Fidelity> estimates = EstimatesOf(reference);
    return std::find(estimates.begin(), estimates.end(), estimate) != estimates.end();
}

const std::vector<double>&
CalibratedCoverages()
{
    static const std::vector<double> COVERAGES{0.80, 0.90, 0.95, 0.99};
    return COVERAGES;
}

std::optional<std::size_t>
FindCoverage(double coverage)
{
    const auto& all = CalibratedCoverages();
    const auto found = std::find(all.begin(), all.end(), coverage);
    return found == all.end() ? std::nullopt : std::optional<std::size_t>(found - all.begin());
}

std::string
CoverageText(double coverage)
{
    return Plain(coverage * 100) + " %";
}

Calibration::Calibration(CalibrationOrigin origin,
                         std::vector<std::string> features,
                         std::map<std::string, RegimeCalibration> regimes)
    : m_origin(std::move(origin)),
      m_features(std::move(features)),
      m_regimes(std::move(regimes))
{
}

Calibration
Calibration::Of(CalibrationOrigin origin,
                std::vector<std::string> features,
                const std::vector<CalibrationCase>& cases)
{
    std::map<std::string, RegimeCalibration> regimes;
    for (const auto& [name, members] : Divide(cases))
    {
        regimes[name] = Calibrate(members, features.size());
    }
    return {std::move(origin), std::move(features), std::move(regimes)};
}

const std::pair<const std::string, RegimeCalibration>*
Calibration::RegimeOf(const RegimePosition& position) const
{
    for (std::size_t depth = position.unsampled.empty() ? position.path.size() : 0;
         depth >= position.minDepth;
         depth--)
    {
        const auto found = m_regimes.find(NameOf(position.path, depth));
        if (found != m_regimes.end())
        {
            return &*found;
        }
    }
    return nullptr;
}

ErrorBound
Calibration::BoundOf(const RegimePosition& position, double coverage) const
{
    const auto level = FindCoverage(coverage);
    if (!level)
    {
        throw std::invalid_argument("no calibration with coverage " + CoverageText(coverage));
    }
    ErrorBound bound;
    bound.coverage = coverage;
    bound.reference = ToString(m_origin.reference);
    bound.upper = std::numeric_limits<double>::infinity();
    const auto* found = RegimeOf(position);
    if (found == nullptr)
    {
        bound.regime = NameOf(position.path, position.path.size());
        bound.region =
            "outside: " +
            (position.unsampled.empty() ? "too few similar calibration cases" : position.unsampled);
        return bound;
    }
    bound.regime = found->first;
    bound.region = RegionOf(found->second, position);
    if (!bound.IsInside())
    {
        return bound;
    }
    const ConformalInterval& interval = found->second.intervals[*level];
    if (std::isinf(interval.lower) || std::isinf(interval.upper))
    {
        bound.region = "outside: " + std::to_string(found->second.cases) +
                       " cases are too few for " + CoverageText(coverage);
        return bound;
    }
    bound.lower = std::exp(interval.lower);
    bound.upper = std::exp(interval.upper);
    return bound;
}

std::string
Calibration::RegionOf(const RegimeCalibration& regime, const RegimePosition& position) const
{
    double distance = 0; // of the feature farthest outside its range
    std::string region = "inside";
    for (std::size_t i = 0; i < regime.ranges.size(); i++)
    {
        const FeatureRange& range = regime.ranges[i];
        const double value = position.features[i];
        const bool isAbove = value > range.max;
        const double beyond = isAbove ? value - range.max : range.min - value;
        if (beyond > distance)
        {
            distance = beyond;
            region = "outside: " + m_features[i] + " " + Plain(std::exp2(value)) +
                     (isAbove ? " above " : " below ") +
                     Plain(std::exp2(isAbove ? range.max : range.min));
        }
    }
    return region;
}

std::string
ToYaml(const Calibration& calibration)
{
    const CalibrationOrigin& origin = calibration.GetOrigin();
    YamlWriter out;
    out.Text("title", origin.title);
    out.Text("command", origin.command);
    out.Text("version", origin.version);
    out.Text("reference", ToString(origin.reference));
    out.Integer("seed", origin.seed);
    out.Integer("scenarios", origin.scenarios);
    out.List("features", calibration.Features());
    out.List("regimes", calibration.Regimes(), [&out](const auto& regime) {
        WriteRegime(out, regime.first, regime.second);
    });
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
