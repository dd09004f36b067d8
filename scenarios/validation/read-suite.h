// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_READ_SUITE_H
#define WEIR_SCENARIOS_VALIDATION_READ_SUITE_H

#include "scenarios/catalog.h"
#include "scenarios/scenario.h"
#include "scenarios/validation/collective-table.h"
#include "scenarios/validation/measured-flows.h"
#include "scenarios/validation/measured-kernels.h"
#include "scenarios/validation/suite-statement.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/** A published step time, and the scenario that reproduces it. */
struct ValidationCase
{
    std::string name;
    std::vector<std::string> classes; //!< errors are also summarized by class
    Scenario scenario;                //!< without outputs
    double measuredStep{0};           //!< seconds
};

/** What a suite compares. */
enum class SuiteKind : uint8_t
{
    Steps,
    Collectives,
    LeftOut, //!< all collectives, each cluster predicted from others
    Kernels,
    Flows,
    Fidelities, //!< fidelities of collectives with each other, without measurements
    Plans,      //!< steps in closed form with steps in fluid flows
    Hybrid,     //!< hybrid simulation with packets only, and replayed with simulated packets
    Bounds,     //!< error bounds of the shortcuts with fresh scenarios
    Group       //!< the combined cases of all suites of one kind
};

const char* ToString(SuiteKind kind);

/** What a suite is about. */
struct SuiteHeading
{
    SuiteKind kind{SuiteKind::Steps};
    std::string name; //!< name of its folder
    std::string title;
    std::string citation;
    std::string url;
};

/**
 * The published figures of one source, or a comparison of fidelities, and statements about the
 * errors.
 */
struct ValidationSuite : SuiteHeading
{
    std::vector<ValidationCase> cases;
    std::vector<MeasuredCollective> collectives{}; //!< instead of cases
    MeasuredKernels kernels{};                     //!< instead of cases
    MeasuredFlows flows{};                         //!< instead of cases
    MeasuredCompletions completions{};             //!< if only first and last ends are known
    SuiteKind members{SuiteKind::Steps};           //!< kind of the suites in a group
    std::vector<SuiteStatement> statements{};
};

/**
 * Reads the cases of a suite that is a table of measured steps: {table, measured, run, columns,
 * classes}.
 *
 * `table` is a CSV file next to the suite with column names in the first line. The column `case`
 * names the row; the column that `measured` names holds seconds. `run` is the scenario (or the name
 * of a run) on which every row is based. `columns` maps columns to key paths of the scenario
 * ("tensor: jobs.0.parallel.tensor"); an empty cell keeps the value of `run`. Errors are also
 * averaged over rows with equal values in one of the columns `classes`.
 *
 * @throws InputError with the location of what is missing, unknown or out of range; errors in a row
 *         are located by the table's file and line.
 */
std::vector<ValidationCase> ReadStepTable(const YamlNode& suite, const Catalog& catalog);

/**
 * Loads the suite @p nameOrPath of the catalog: {title, citation, url, cases} and statements about
 * the errors, see ReadStatements. A case is {name, class, run, measured: {step_time_s}}, where
 * `run` is a scenario map or the name of a run. Instead of `cases`, a suite may have
 *  - `table`: one case per row, see ReadStepTable;
 *  - `collectives`: runs of nccl-tests, see ReadCollectiveTable;
 *  - `kernels`: single kernels, see ReadMeasuredKernels;
 *  - `flows` or `completions`: runs of packets, see ReadMeasuredFlows and ReadMeasuredCompletions;
 *  - `leftOut`: the runs of all suites of collectives on other systems, see ReadLeftOutClusters;
 *  - `agreement: fidelities`, `plans`, `hybrid` or `bounds`: a comparison of Weir with itself;
 *  - `suites: steps`, `collectives`, `kernels` or `flows`: all suites of that kind.
 *
 * The last three kinds have no citation.
 * @throws InputError with the location of what is missing, unknown or out of range.
 */
ValidationSuite LoadSuite(const std::string& nameOrPath, const Catalog& catalog);

/** The kind of the suite @p nameOrPath of the catalog; does not read its cases. */
SuiteKind KindOfSuite(const std::string& nameOrPath, const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_READ_SUITE_H
