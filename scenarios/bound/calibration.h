// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_CALIBRATION_H
#define WEIR_SCENARIOS_BOUND_CALIBRATION_H

#include "collectives/fidelity.h"
#include "scenarios/bound/conformal.h"
#include "scenarios/bound/regime-position.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weir
{

/** One scenario that was run by a shortcut and by the reference. */
struct CalibrationCase
{
    RegimePosition position;
    double score{0}; //!< ln(reference time / shortcut's time)
};

/** What is compared with @p reference: `analytical`, `stream`, and `flow` with `packet`. */
std::vector<Fidelity> EstimatesOf(Fidelity reference);

bool IsComparedWith(Fidelity reference, Fidelity estimate);

/** The coverages that a calibration has intervals for. */
const std::vector<double>& CalibratedCoverages();

/** "90 %". */
std::string CoverageText(double coverage);

/** The values that a feature had in a regime's calibration. */
struct FeatureRange
{
    double least{0};
    double most{0};
};

/** What is known of the cases of one regime. */
struct RegimeCalibration
{
    std::size_t cases{0};
    std::vector<ConformalInterval> intervals; //!< by coverage
    std::vector<FeatureRange> ranges;         //!< by feature
};

/** How far an estimate may be off. */
struct ErrorBound
{
    double lower{0};       //!< the reference takes at least so many times the estimate
    double upper{0};       //!< and at most so many times; infinity: not known
    double coverage{0.9};  //!< with this probability, for a scenario drawn like the calibration's
    std::string regime;    //!< whose cases say so
    std::string region;    //!< "inside" of what was calibrated, or what is outside and how far
    std::string reference; //!< fidelity

    bool IsInside() const
    {
        return region == "inside";
    }

    /** Upper over lower end, minus one. */
    double Width() const
    {
        return upper - lower;
    }
};

/** Provenance of a calibration. */
struct CalibrationOrigin
{
    std::string title;
    std::string command;                //!< that remakes it
    std::string version;                //!< of Weir
    Fidelity reference{Fidelity::Flow}; //!< whose times estimates are compared with
    uint64_t seed{0};
    std::size_t scenarios{0};
};

/**
 * Distribution-free error bounds of shortcuts, by regime: split-conformal intervals of the
 * logarithm of reference time over estimate, one a regime (Mondrian), with finite-sample
 * correction.
 *
 * A regime is the narrowest class of a position's path that has enough cases of its own; cases of
 * narrower classes that have too few belong to the class above them, up to the shortcut, which
 * every path begins with. Too few in the last class that may stand for them, of
 * RegimePosition::minDepth names, take in the smallest regime below it. Cases with what no sample
 * should have belong to none. Which classes are merged follows from the numbers of cases alone,
 * never from scores.
 *
 * The region of a regime is the box of its cases' features. Of scenarios that are drawn like its n
 * cases at most 2 / (n + 1) are refused for each feature, none for those whose ends several cases
 * have, as the numbers of ranks and the links' rates do.
 */
class Calibration
{
  public:
    static constexpr std::size_t MIN_CASES = 100; //!< of a regime of its own

    Calibration(CalibrationOrigin origin,
                std::vector<std::string> features,
                std::map<std::string, RegimeCalibration> regimes);

    /** From @p cases, in the order in which they were drawn. O(n log n). */
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

    /** By name: classes of the path with slashes between. */
    const std::map<std::string, RegimeCalibration>& Regimes() const
    {
        return m_regimes;
    }

    /** The regime that @p position belongs to; nothing when too few cases, or no sample, are like
     * it. */
    const std::pair<const std::string, RegimeCalibration>* RegimeOf(
        const RegimePosition& position) const;

    /**
     * The bound of an estimate at @p position. Outside the calibrated region the
     * interval is unbounded, and @c region says what is outside.
     * @throws std::invalid_argument when the coverage has not been calibrated.
     */
    ErrorBound BoundOf(const RegimePosition& position, double coverage) const;

  private:
    std::string RegionOf(const RegimeCalibration& regime, const RegimePosition& position) const;

    CalibrationOrigin m_origin;
    std::vector<std::string> m_features;
    std::map<std::string, RegimeCalibration> m_regimes;
};

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_CALIBRATION_H
