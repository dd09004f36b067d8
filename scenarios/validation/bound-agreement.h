// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_BOUND_AGREEMENT_H
#define WEIR_SCENARIOS_VALIDATION_BOUND_AGREEMENT_H

#include "scenarios/bound/calibrate-shortcut.h"
#include "scenarios/bound/conformal.h"
#include "scenarios/catalog.h"
#include "scenarios/validation/case-outcome.h"

#include <cstddef>
#include <string>
#include <vector>

namespace weir
{

/** How the bounds of one regime, or of all regimes in a shifted population, do on fresh cases. */
struct BoundCheck
{
    CalibratedThing thing{CalibratedThing::Collectives};
    Population population{Population::Calibrated};
    std::string regime;     //!< empty: of a population
    std::size_t fresh{0};   //!< cases that were drawn
    std::size_t refused{0}; //!< of them outside the calibrated region
    std::size_t covered{0}; //!< of the others, whose reference time is within the bound
    CoverageRange expected; //!< central 99.9 % of the number covered
    double medianWidth{0};  //!< of the bounds, upper over lower end, relative to the estimate
};

/** The median width of bounds without contention, of more than sends and receives. */
struct BoundWidth
{
    CalibratedThing thing{CalibratedThing::Collectives};
    double median{0};
};

/** One fresh case of the calibrated population, inside the calibrated region. */
struct BoundPoint
{
    CalibratedThing thing{CalibratedThing::Collectives};
    double bytes{0};                //!< of a collective
    double ratio{1};                //!< reference's time over the estimate
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
 * Draws fresh samples of what the shipped calibrations are of, with other seeds, and of populations
 * that are shifted: larger groups, more oversubscription, links of other speeds. Counts by regime
 * how often the reference's time lies within the bound, and how often a bound is refused.
 * @param progress is called now and then
 */
BoundAgreement CheckBounds(const Catalog& catalog, const ShowSuite& progress);

/** A table of regimes and one of shifted populations. */
std::string ToText(const BoundAgreement& agreement);

/**
 * In the class "covered" regimes and shifted populations, the number covered beside the least that
 * the beta-binomial interval allows; in "width of collectives" and others one plus the median width
 * without contention; in "refused" shifted populations, the share refused beside a
 * half.
 */
std::vector<CaseOutcome> CasesOf(const BoundAgreement& agreement);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_BOUND_AGREEMENT_H
