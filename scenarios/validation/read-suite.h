// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_READ_SUITE_H
#define WEIR_SCENARIOS_VALIDATION_READ_SUITE_H

#include "scenarios/catalog.h"
#include "scenarios/scenario.h"
#include "scenarios/validation/collective-table.h"
#include "scenarios/validation/measured-kernels.h"

#include <optional>
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
    double tolerance{0};              //!< largest relative error, 0.1 for 10 %; infinite: any
};

/** The figures of one source. */
struct ValidationSuite
{
    std::string name; //!< its folder
    std::string title;
    std::string citation;
    std::string url;
    std::vector<ValidationCase> cases;
    std::vector<MeasuredCollective> collectives{}; //!< instead of cases
    MeasuredKernels kernels{};                     //!< instead of cases
    std::optional<double> meanError{}; //!< what the mean absolute error may reach, 0.1 for 10 %
};

/**
 * The suite of the catalogue called @p nameOrPath: {title, citation, url, cases}; a case is {name,
 * class, run, measured: {step_time_s}, tolerance: "10%"}, and `run` a scenario map or the name of
 * a run. A suite with `table` instead of `cases` has one case a row: see ReadStepTable. `meanError:
 * "10%"` limits the mean absolute error of all cases. A suite with `collectives` holds runs of
 * nccl-tests: see ReadCollectiveTable; one with `kernels` single kernels: see ReadMeasuredKernels.
 * @throws InputError with the place of what is missing, unknown or out of range.
 */
ValidationSuite LoadSuite(const std::string& nameOrPath, const Catalog& catalog);

/** Whether the suite of the catalogue called @p name holds runs of single collectives. */
bool HoldsCollectives(const std::string& name, const Catalog& catalog);

/** Whether the suite of the catalogue called @p name holds single kernels. */
bool HoldsKernels(const std::string& name, const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_READ_SUITE_H
