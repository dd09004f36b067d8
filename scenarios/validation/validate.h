// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_VALIDATE_H
#define WEIR_SCENARIOS_VALIDATION_VALIDATE_H

#include "scenarios/simulation/collective-sweep.h"
#include "scenarios/simulation/run-scenario.h"
#include "scenarios/validation/bound-agreement.h"
#include "scenarios/validation/case-outcome.h"
#include "scenarios/validation/collective-table.h"
#include "scenarios/validation/error-statistics.h"
#include "scenarios/validation/read-suite.h"
#include "scenarios/validation/suite-statement.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weir
{

class Hdf5File;

/** A measured run of nccl-tests and its simulation. */
struct CollectiveOutcome
{
    MeasuredCollective run;
    std::vector<CollectivePoint> points; //!< by size, as simulated
};

struct SuiteOutcome : SuiteHeading
{
    Fidelity fidelity{Fidelity::Analytical}; //!< fidelity of collectives
    std::vector<CaseOutcome> cases;
    std::vector<CollectiveOutcome> collectives{}; //!< runs of the cases, for suites of collectives
    BoundAgreement bounds{};                      //!< printed instead of cases and classes
    std::vector<CheckedStatement> statements{};

    void Add(const std::vector<CaseOutcome>& more);

    /**
     * Whether its classes are ratios of different quantities, so that statistics over all cases
     * have no meaning.
     */
    bool IsMixed() const;

    /** Statistics over all cases. */
    ErrorStatistics Errors() const;

    /** Statistics of every class of cases. */
    std::vector<ClassStatistics> ErrorsByClass() const;
};

/**
 * Runs every case of @p suite, which must not be a group, and checks its statements.
 * @param loop creates the loop that drives a run of a given fidelity
 * @param catalog systems and models for suites that compare fidelities
 * @param collectiveFidelity fidelity of single collectives; steps state their own
 * @throws InputError as RunScenario.
 */
SuiteOutcome RunSuite(const ValidationSuite& suite,
                      const Catalog& catalog,
                      const std::function<std::unique_ptr<EngineLoop>(Fidelity)>& loop,
                      const ShowSuite& progress,
                      Fidelity collectiveFidelity = Fidelity::Analytical);

/**
 * Combines the cases of those @p outcomes whose kind @p group stands for, each also in the class of
 * its suite. Cases of steps keep only that class, since their classes are columns of one table.
 */
SuiteOutcome Gather(const ValidationSuite& group, const std::vector<SuiteOutcome>& outcomes);

/** Which cases ToText lists. */
enum class CaseList : uint8_t
{
    All,
    Brief //!< all of a short suite, the worst of a long one; none if IsMixed
};

/**
 * Formats an outcome for the terminal: measured, predicted and error by case; by class the number
 * of cases, mean, median, 90th percentile and largest absolute error, and the mean signed error;
 * and the checked statements.
 */
std::string ToText(const SuiteOutcome& outcome, CaseList list = CaseList::Brief);

/**
 * The content of ToText for all @p outcomes as one JSON object: {suites: [{name, title, url,
 * errors: [{class, cases, mean, median, p90, bias}], expected, guard, known: [{class, case, figure,
 * stated, found, verdict, note, reason}], met: {expected, guard, known}, rows: [{case, classes,
 * measured_s, predicted_s, error}]} ...], met}. Rows are present with CaseList::All; those of
 * dimensionless values have `measured` and `predicted`.
 */
std::string ToJson(const std::vector<SuiteOutcome>& outcomes, CaseList list = CaseList::Brief);

/**
 * Writes the versions to /provenance, and one group per suite below /validation.
 *
 *  - /validation/SUITE: one row per case. Cases of measured collectives have their size and bus
 *    bandwidths; if a table has both times and dimensionless values, a column states the unit.
 *  - /validation/SUITE/statements: one row per statement
 *  - /validation/SUITE/bounds, for error bounds: one row per bound of a fresh case and coverage
 */
void WriteOutcomes(Hdf5File& file, const std::vector<SuiteOutcome>& outcomes);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_VALIDATE_H
