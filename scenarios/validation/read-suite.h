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

/** A figure somebody measured, and the run that must reach it. */
struct ValidationCase
{
    std::string name;
    std::vector<std::string> classes; //!< errors are also summarised over cases of one class
    Scenario scenario;                //!< without outputs
    double measuredStep{0};           //!< seconds
};

/** What a suite compares. */
enum class SuiteKind : uint8_t
{
    Steps,
    Collectives,
    LeftOut, //!< runs of all suites of collectives, each cluster from the figures of others
    Kernels,
    Flows,
    Fidelities, //!< of collectives with each other, which needs no measurement
    Plans,      //!< steps of closed forms with steps of fluid flows, similarly
    Hybrid,     //!< some flows as packets beside a fluid with all as packets, similarly
    Bounds,     //!< error bounds of the shortcuts with what fresh scenarios give, similarly
    Group       //!< what all suites of one kind say
};

const char* ToString(SuiteKind kind);

/** The figures of one source, or a comparison of fidelities, and what is stated of the errors. */
struct ValidationSuite
{
    SuiteKind kind{SuiteKind::Steps};
    std::string name; //!< its folder
    std::string title;
    std::string citation;
    std::string url;
    std::vector<ValidationCase> cases;
    std::vector<MeasuredCollective> collectives{}; //!< instead of cases
    MeasuredKernels kernels{};                     //!< instead of cases
    MeasuredFlows flows{};                         //!< instead of cases
    MeasuredCompletions completions{};             //!< of flows of which no more is known
    SuiteKind members{SuiteKind::Steps};           //!< of a group
    std::vector<SuiteStatement> statements{};
};

/**
 * The suite of the catalogue called @p nameOrPath: {title, citation, url, cases} and what it states
 * of its errors: see ReadStatements. A case is {name, class, run, measured: {step_time_s}}, and
 * `run` a scenario map or the name of a run. A suite with `table` instead of `cases` has one case a
 * row: see ReadStepTable. A suite with `collectives` holds runs of nccl-tests: see
 * ReadCollectiveTable; one with `kernels` single kernels: see ReadMeasuredKernels; one with `flows`
 * or `completions` runs of packets: see ReadMeasuredFlows and ReadMeasuredCompletions. `leftOut`
 * holds the runs of all suites of collectives on other systems: see ReadLeftOutClusters.
 * `agreement: fidelities`, `plans`, `hybrid` or `bounds` compares Weir with itself, and `suites:
 * steps`, `collectives`, `kernels` or `flows` stands for all suites of that kind; these have no
 * citation.
 * @throws InputError with the place of what is missing, unknown or out of range.
 */
ValidationSuite LoadSuite(const std::string& nameOrPath, const Catalog& catalog);

/** What the suite of the catalogue called @p nameOrPath compares, without reading its cases. */
SuiteKind KindOfSuite(const std::string& nameOrPath, const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_READ_SUITE_H
