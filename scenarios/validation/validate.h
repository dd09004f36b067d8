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

/** What a measured run of nccl-tests took, and what the simulation says to it. */
struct CollectiveOutcome
{
    MeasuredCollective run;
    std::vector<CollectivePoint> points; //!< by size, as simulated
};

struct SuiteOutcome
{
    SuiteKind kind{SuiteKind::Steps};
    std::string name;
    std::string title;
    std::string citation;
    std::string url;
    Fidelity fidelity{Fidelity::Analytical}; //!< of collectives
    std::vector<CaseOutcome> cases;
    std::vector<CollectiveOutcome> collectives{}; //!< what the cases of such a suite are of
    BoundAgreement bounds{};                      //!< for the terminal instead of cases and classes
    std::vector<CheckedStatement> statements{};

    void Add(const std::vector<CaseOutcome>& more);

    /** Whether its classes are ratios of different things, which have no error in common. */
    bool IsMixed() const;

    /** Of all cases. */
    ErrorStatistics Errors() const;

    /** Of every class of cases. */
    std::vector<ClassStatistics> ErrorsByClass() const;
};

/**
 * Runs every case of @p suite, which is no group, and checks its statements.
 * @param loop makes what drives a run of the fidelity given
 * @param catalog of systems and models, of suites that compare fidelities
 * @param collectiveFidelity of runs of single collectives; steps say their own
 * @throws InputError as RunScenario.
 */
SuiteOutcome RunSuite(const ValidationSuite& suite,
                      const Catalog& catalog,
                      const std::function<std::unique_ptr<EngineLoop>(Fidelity)>& loop,
                      const ShowSuite& progress,
                      Fidelity collectiveFidelity = Fidelity::Analytical);

/**
 * What the suites of @p outcomes that @p group stands for say: all their cases, each also in the
 * class of its suite. Cases of steps are in no other, for their classes are columns of one table.
 */
SuiteOutcome Gather(const ValidationSuite& group, const std::vector<SuiteOutcome>& outcomes);

/** Which cases ToText lists. */
enum class CaseList : uint8_t
{
    All,
    Brief //!< all of a short suite, the worst of a long one, none of classes that have no error in
          //!< common
};

/**
 * For the terminal: measured, predicted and error by case, by class the number of cases, mean,
 * median, 90th percentile and largest absolute error, and the mean signed error, and what the suite
 * states of them.
 */
std::string ToText(const SuiteOutcome& outcome, CaseList list = CaseList::Brief);

/**
 * What ToText says of @p outcomes as one JSON object: {suites: [{name, title, url, errors: [{class,
 * cases, mean, median, p90, bias}], expected, guard, known: [{class, case, figure, stated, found,
 * verdict, note, reason}], met: {expected, guard, known}, rows: [{case, classes, measured_s,
 * predicted_s, error}]} ...], met}. Rows are there with CaseList::All; those of plain numbers have
 * `measured` and `predicted`.
 */
std::string ToJson(const std::vector<SuiteOutcome>& outcomes, CaseList list = CaseList::Brief);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_VALIDATE_H
