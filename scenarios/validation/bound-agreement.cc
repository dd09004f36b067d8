// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/bound-agreement.h"

#include "collectives/collective.h"
#include "scenarios/results/text-table.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace weir
{

namespace
{

constexpr double COVERAGE = 0.9;
constexpr uint64_t FRESH_SEED = 1001; //!< differs from the seed of the shipped calibrations

/**
 * Number of scenarios to draw: few of larger groups, which are slow even in shortcuts; none for
 * shifted populations of packets, whose refusals are those of collectives.
 */
std::size_t
ScenariosOf(CalibratedThing thing, Population population)
{
    const bool isStep = thing == CalibratedThing::Steps;
    if (thing == CalibratedThing::Packets)
    {
        return population == Population::Calibrated ? 120 : 0;
    }
    switch (population)
    {
    case Population::Calibrated:
        return isStep ? 16 : 300;
    case Population::LargerGroups:
        return isStep ? 1 : 6;
    default:
        return isStep ? 2 : 16;
    }
}

/**
 * Whether an estimate counts for the median width: it has no contention and is not point-to-point
 * only, whose bounds are within a hundredth of a percent.
 */
bool
CountsInWidth(const RegimePosition& position)
{
    const auto has = [&](const char* name) {
        return std::find(position.path.begin(), position.path.end(), name) != position.path.end();
    };
    return has("uncontended") && !has(ToString(Algorithm::PointToPoint));
}

double
MedianOf(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values.empty() ? 0 : values[values.size() / 2];
}

struct Count
{
    BoundCheck check;
    std::vector<double> widths;
};

void
Add(const CalibrationCase& each, const ErrorBound& bound, Count& count)
{
    count.check.fresh++;
    if (!bound.IsInside())
    {
        count.check.refused++;
        return;
    }
    const double ratio = std::exp(each.score);
    count.check.covered += ratio >= bound.lower && ratio <= bound.upper;
    count.widths.push_back(bound.Width());
}

BoundCheck
Finish(Count count, const Calibration& calibration)
{
    BoundCheck check = std::move(count.check);
    check.medianWidth = MedianOf(std::move(count.widths));
    const auto regime = calibration.Regimes().find(check.regime);
    if (regime != calibration.Regimes().end())
    {
        check.expected = ExpectedCount(regime->second.intervals[*FindCoverage(COVERAGE)],
                                       regime->second.cases,
                                       check.fresh - check.refused);
    }
    else
    {
        // In a shifted population, accepted cases should be covered equally well: a binomial count.
        constexpr std::size_t MANY = 1000000;
        const auto ranks = static_cast<std::size_t>(COVERAGE * MANY);
        check.expected = ExpectedCount({0, 0, ranks, MANY}, MANY, check.fresh - check.refused);
    }
    return check;
}

BoundPoint
PointOf(CalibratedThing thing, const CalibrationCase& each, const Calibration& calibration)
{
    BoundPoint point;
    point.thing = thing;
    const auto& features = calibration.Features();
    const auto bytes = std::find(features.begin(), features.end(), "bytes");
    if (bytes != features.end())
    {
        const auto index = static_cast<std::size_t>(bytes - features.begin());
        point.bytes = std::exp2(each.position.features[index]);
    }
    point.ratio = std::exp(each.score);
    for (const double coverage : CalibratedCoverages())
    {
        point.bounds.push_back(calibration.BoundOf(each.position, coverage));
    }
    return point;
}

/** Checks a fresh sample of a population, by regime or, for a shifted population, in total. */
void
CheckPopulation(SampleSpec spec,
                const Catalog& catalog,
                const ShowSuite& progress,
                BoundAgreement& agreement)
{
    spec.scenarios = ScenariosOf(spec.thing, spec.population);
    if (spec.scenarios == 0)
    {
        return;
    }
    const Calibration calibration = ShippedCalibration(spec.thing, catalog);
    const bool isShifted = spec.population != Population::Calibrated;
    std::map<std::string, Count> counts;
    std::vector<double> uncontended;
    const std::string part = std::string(ToString(spec.thing)) + ", " + ToString(spec.population);
    const auto show = [&](std::size_t done) { progress({done, spec.scenarios, part}); };
    for (const CalibrationCase& each : RunSample(spec, catalog, show))
    {
        const ErrorBound bound = calibration.BoundOf(each.position, COVERAGE);
        const std::string name = isShifted ? "" : bound.regime;
        Count& count = counts[name];
        count.check.thing = spec.thing;
        count.check.population = spec.population;
        count.check.regime = name;
        Add(each, bound, count);
        if (bound.IsInside() && !isShifted)
        {
            agreement.points.push_back(PointOf(spec.thing, each, calibration));
        }
        if (bound.IsInside() && CountsInWidth(each.position))
        {
            uncontended.push_back(bound.Width());
        }
    }
    for (auto& [name, count] : counts)
    {
        agreement.checks.push_back(Finish(std::move(count), calibration));
    }
    if (!isShifted)
    {
        agreement.widths.push_back({spec.thing, MedianOf(std::move(uncontended))});
    }
}

double
Share(std::size_t part, std::size_t whole)
{
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string
Row(const BoundCheck& check)
{
    const std::size_t judged = check.fresh - check.refused;
    const bool isRegime = check.population == Population::Calibrated;
    const std::string range =
        std::to_string(check.expected.min) + " to " + std::to_string(check.expected.max);
    return FormatText("%-11s %-64s %5zu %7.1f %% %7zu  %-11s %7.1f %% %8.2f %%\n",
                      ToString(check.thing),
                      isRegime ? check.regime.c_str() : ToString(check.population),
                      check.fresh,
                      100 * Share(check.refused, check.fresh),
                      check.covered,
                      range.c_str(),
                      100 * Share(check.covered, judged),
                      100 * check.medianWidth);
}

} // namespace

BoundAgreement
CheckBounds(const Catalog& catalog, const ShowSuite& progress)
{
    BoundAgreement agreement;
    agreement.coverage = COVERAGE;
    SampleSpec spec;
    spec.seed = FRESH_SEED;
    spec.threads = 2; // affects the run time only
    for (int thing = 0; thing <= static_cast<int>(LAST_CALIBRATED_THING); thing++)
    {
        spec.thing = static_cast<CalibratedThing>(thing);
        for (int i = 0; i <= static_cast<int>(LAST_POPULATION); i++)
        {
            spec.population = static_cast<Population>(i);
            CheckPopulation(spec, catalog, progress, agreement);
        }
    }
    return agreement;
}

std::string
ToText(const BoundAgreement& agreement)
{
    std::string text = "Bounds of " + CoverageText(agreement.coverage) +
                       " against flow, of packets against packet, on fresh scenarios; expected: "
                       "central 99.9 % of the beta-binomial count\n";
    text +=
        "of          regime or shifted population                                     "
        "cases   refused covered  expected    coverage    width\n";
    for (const BoundCheck& check : agreement.checks)
    {
        text += Row(check);
    }
    for (const BoundWidth& width : agreement.widths)
    {
        text += FormatText(
            "median width of %s without contention, other than sends and receives: %.2f %%\n",
            ToString(width.thing),
            100 * width.median);
    }
    return text;
}

std::vector<CaseOutcome>
CasesOf(const BoundAgreement& agreement)
{
    std::vector<CaseOutcome> cases;
    for (const BoundCheck& check : agreement.checks)
    {
        const std::string of = std::string(ToString(check.thing)) + ": ";
        if (check.population != Population::Calibrated)
        {
            constexpr double HALF = 0.5;
            cases.push_back({of + ToString(check.population),
                             {"refused"},
                             HALF,
                             Share(check.refused, check.fresh),
                             true});
        }
        if (check.fresh > check.refused)
        {
            const double min = static_cast<double>(check.expected.min);
            cases.push_back(
                {of + (check.regime.empty() ? ToString(check.population) : check.regime),
                 {"covered"},
                 std::max(1.0, min),
                 std::max(min == 0 ? 1.0 : 0.0, static_cast<double>(check.covered)),
                 true});
        }
    }
    for (const BoundWidth& width : agreement.widths)
    {
        const std::string of = std::string("width of ") + ToString(width.thing);
        cases.push_back({of, {of}, 1, 1 + width.median, true});
    }
    return cases;
}

} // namespace weir
