// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_CALIBRATION_H
#define WEIR_SCENARIOS_BOUND_CALIBRATION_H

#include "collectives/fidelity.h"
#include "scenarios/bound/conformal.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir
{

class Catalog;

/**
 * The position of an estimate: the regime that its error belongs to, and its features within it.
 */
struct RegimePosition
{
    std::vector<std::string> path; //!< from the widest class to the narrowest
    std::vector<double> features; //!< logarithms to base 2, in the order of the calibration's names
    std::size_t minDepth{1};      //!< minimum number of classes that its regime must name
    std::string unsampled{};      //!< why no sample, and so no regime, covers it; empty: some do
};

/** One scenario run by a shortcut and by the reference. */
struct CalibrationCase
{
    RegimePosition position;
    double score{0}; //!< ln(reference time / shortcut's time)
};

/**
 * The fidelities that are compared with @p reference: `analytical` and `stream`, and also `flow`
 * with `packet`.
 */
std::vector<Fidelity> EstimatesOf(Fidelity reference);

bool IsComparedWith(Fidelity reference, Fidelity estimate);

/** The coverages for which a calibration has intervals. */
const std::vector<double>& CalibratedCoverages();

/** The index of @p coverage among them; nothing for another one. */
std::optional<std::size_t> FindCoverage(double coverage);

/** "90 %". */
std::string CoverageText(double coverage);

/** The range of a feature in a regime's calibration set. */
struct FeatureRange
{
    double min{0};
    double max{0};
};

/** The calibration of one regime. */
struct RegimeCalibration
{
    std::size_t cases{0};
    std::vector<ConformalInterval> intervals; //!< by coverage
    std::vector<FeatureRange> ranges;         //!< by feature
};

/** The error bound of an estimate: an interval for reference time / estimate. */
struct ErrorBound
{
    double lower{0};       //!< minimum ratio of the reference's time to the estimate
    double upper{0};       //!< largest ratio; infinity: unknown
    double coverage{0.9};  //!< probability, for a scenario drawn like the calibration set
    std::string regime;    //!< whose cases give the bound
    std::string region;    //!< "inside" the calibrated region, or what is outside and how far
    std::string reference; //!< fidelity

    bool IsInside() const
    {
        return region == "inside";
    }

    /** Difference of the upper and the lower ratio. */
    double Width() const
    {
        return upper - lower;
    }
};

/**
 * Whether the relative error of an estimate (over the reference's time) stays within @p tolerance
 * with the bound's coverage, inside the calibrated region.
 */
inline bool
MeetsTolerance(const ErrorBound& bound, double tolerance)
{
    return bound.IsInside() && 1 / bound.lower - 1 <= tolerance && 1 - 1 / bound.upper <= tolerance;
}

/** Provenance of a calibration. */
struct CalibrationOrigin
{
    std::string title;
    std::string command;                //!< that reproduces it
    std::string version;                //!< of Weir
    Fidelity reference{Fidelity::Flow}; //!< whose times estimates are compared with
    uint64_t seed{0};
    std::size_t scenarios{0};
};

/**
 * Distribution-free error bounds of shortcuts, by regime: split-conformal intervals of ln(reference
 * time / estimate), one per regime (Mondrian), with finite-sample correction.
 *
 * A regime is the narrowest class on a position's path with at least MIN_CASES cases. Cases of
 * narrower classes with fewer cases count toward the class above, up to the shortcut, the first
 * class of every path. When even the widest admissible class (RegimePosition::minDepth names) has
 * too few cases, it absorbs the smallest regime below it. Unsampled cases belong to no regime.
 * Which classes are merged depends on the numbers of cases only, never on scores.
 *
 * The region of a regime is the bounding box of its cases' features. Of scenarios drawn like its n
 * cases, at most a share 2 / (n + 1) per feature falls outside; none for features whose extremes
 * occur in several cases, such as numbers of ranks and link rates.
 */
class Calibration
{
  public:
    static constexpr std::size_t MIN_CASES = 100; //!< minimum number of cases of a regime

    Calibration(CalibrationOrigin origin,
                std::vector<std::string> features,
                std::map<std::string, RegimeCalibration> regimes);

    /** Calibrates with @p cases, in the order in which they were drawn. O(n log n). */
    static Calibration Of(CalibrationOrigin origin,
                          std::vector<std::string> features,
                          const std::vector<CalibrationCase>& cases);

    const CalibrationOrigin& GetOrigin() const
    {
        return m_origin;
    }

    const std::vector<std::string>& Features() const
    {
        return m_features;
    }

    /** By name: the classes of the path, joined by slashes. */
    const std::map<std::string, RegimeCalibration>& Regimes() const
    {
        return m_regimes;
    }

    /**
     * The regime that @p position belongs to; null when too few calibration cases are similar, or
     * it is unsampled.
     */
    const std::pair<const std::string, RegimeCalibration>* RegimeOf(
        const RegimePosition& position) const;

    /**
     * The bound of an estimate at @p position. Outside the calibrated region the interval is
     * unbounded, and `region` says which feature is outside.
     * @throws std::invalid_argument when @p coverage has not been calibrated.
     */
    ErrorBound BoundOf(const RegimePosition& position, double coverage) const;

  private:
    std::string RegionOf(const RegimeCalibration& regime, const RegimePosition& position) const;

    CalibrationOrigin m_origin;
    std::vector<std::string> m_features;
    std::map<std::string, RegimeCalibration> m_regimes;
};

/**
 * Writes the calibration as YAML: {title, command, version, reference, seed, scenarios, features,
 * regimes: [{name, cases, ranges: [[min, max], ...], intervals: [[coverage, lower, upper, ranks,
 * inside], ...]}]}. Ranges are by feature, as logarithms to base 2; intervals are of ln(reference /
 * estimate). Infinite intervals are omitted.
 */
std::string ToYaml(const Calibration& calibration);

/**
 * Reads the calibration @p nameOrPath of the catalog.
 * @throws InputError with the location of what is missing, unknown or out of range.
 */
Calibration ReadCalibration(const std::string& nameOrPath, const Catalog& catalog);

/** The criteria by which Fidelity::Auto chooses. */
struct AutoSpec
{
    double tolerance{0.03};                 //!< relative, of a call's time compared with `flow`
    double coverage{0.9};                   //!< of the bound that must meet the tolerance
    std::optional<Calibration> calibration; //!< of collectives; required by BoundJudge
};

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_CALIBRATION_H
