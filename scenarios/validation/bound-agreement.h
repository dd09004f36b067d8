// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_BOUND_AGREEMENT_H
#define WEIR_SCENARIOS_VALIDATION_BOUND_AGREEMENT_H

#include "scenarios/bound/calibrate-shortcut.h"
#include "scenarios/bound/conformal.h"
#include "scenarios/validation/case-outcome.h"

#include <cstddef>
#include <string>
#include <vector>

namespace weir
{

class Catalog;

/**
 * Coverage of the bounds of one regime, or of all regimes in a shifted population, on fresh cases.
 */
struct BoundCheck
{
    CalibratedThing thing{CalibratedThing::Collectives};
    Population population{Population::Calibrated};
    std::string regime;     //!< empty: all regimes of the population
    std::size_t fresh{0};   //!< number of drawn cases
    std::size_t refused{0}; //!< cases outside the calibrated region
    std::size_t covered{0}; //!< accepted cases whose reference time is within the bound
    CoverageRange expected; //!< central 99.9 % interval of the number covered
    double medianWidth{0};  //!< median of (upper - lower end) / estimate
};

/** Median width of bounds without contention, except for sends and receives only. */
struct BoundWidth
{
    CalibratedThing thing{CalibratedThing::Collectives};
    double median{0};
};

/** One fresh case of the calibrated population, inside the calibrated region. */
struct BoundPoint
{
    CalibratedThing thing{CalibratedThing::Collectives};
    double bytes{0};                //!< size, for a collective
    double ratio{1};                //!< reference time / estimate
    std::vector<ErrorBound> bounds; //!< by coverage
};

struct BoundAgreement
{
    double coverage{0.9};
    std::vector<BoundCheck> checks;
    std::vector<BoundWidth> widths;
    std::vector<BoundPoint> points;
};

/**
 * Checks the shipped calibrations on fresh samples: of the calibrated populations with other seeds,
 * and of shifted populations with larger groups, more oversubscription or other link speeds. Counts
 * by regime how often the reference time is within the bound, and how often a bound is refused.
 * @param progress called periodically
 */
BoundAgreement CheckBounds(const Catalog& catalog, const ShowSuite& progress);

/** Formats a table of regimes and one of shifted populations. */
std::string ToText(const BoundAgreement& agreement);

/**
 * Cases for the suite's statements. Class "covered", for regimes and shifted populations: the
 * number covered, compared with the lower end of the beta-binomial interval. "width of collectives"
 * and similar classes: one plus the median width without contention. "refused", for shifted
 * populations: the fraction refused, compared with one half.
 */
std::vector<CaseOutcome> CasesOf(const BoundAgreement& agreement);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_BOUND_AGREEMENT_H
