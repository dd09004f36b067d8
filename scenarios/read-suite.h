// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READ_SUITE_H
#define WEIR_SCENARIOS_READ_SUITE_H

#include "scenarios/catalog.h"
#include "scenarios/scenario.h"

#include <string>
#include <vector>

namespace weir
{

/** A figure somebody measured, and the run that must reach it. */
struct ValidationCase
{
    std::string name;
    std::string group;      //!< errors are also averaged over cases of one class
    Scenario scenario;      //!< without outputs
    double measuredStep{0}; //!< seconds
    double tolerance{0};    //!< largest relative error, 0.1 for 10 %
};

/** The figures of one source. */
struct ValidationSuite
{
    std::string name; //!< its folder
    std::string title;
    std::string citation;
    std::string url;
    std::vector<ValidationCase> cases;
};

/**
 * The suite of the catalogue called @p nameOrPath: {title, citation, url, cases}; a case is {name,
 * class, run, measured: {step_time_s}, tolerance: "10%"}, and `run` a scenario map or the name of
 * a run.
 * @throws InputError with the place of what is missing, unknown or out of range.
 */
ValidationSuite LoadSuite(const std::string& nameOrPath, const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_READ_SUITE_H
