// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATE_H
#define WEIR_SCENARIOS_VALIDATE_H

#include "scenarios/hdf5-file.h"
#include "scenarios/read-suite.h"
#include "scenarios/run-scenario.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weir
{

/** A case and what the simulation says to it. */
struct CaseOutcome
{
    std::string name;
    std::string group;
    double measured{0};  //!< seconds
    double predicted{0}; //!< seconds
    double tolerance{0}; //!< relative

    /** Relative: positive when the prediction is too long. */
    double Error() const
    {
        return predicted / measured - 1;
    }

    bool IsWithinTolerance() const;
};

struct SuiteOutcome
{
    std::string name;
    std::string title;
    std::string citation;
    std::string url;
    std::vector<CaseOutcome> cases;

    bool IsWithinTolerance() const;
};

/**
 * Runs every case of @p suite.
 * @param loop makes what drives a run of the fidelity given
 * @throws InputError as RunScenario.
 */
SuiteOutcome RunSuite(const ValidationSuite& suite,
                      const std::function<std::unique_ptr<EngineLoop>(Fidelity)>& loop,
                      const std::function<void(Time)>& progress);

/** For the terminal: measured, predicted, error by case, and the mean absolute error by class. */
std::string ToText(const SuiteOutcome& outcome);

/** One group a suite below /validation, one row a case. */
void WriteOutcomes(Hdf5File& file, const std::vector<SuiteOutcome>& outcomes);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATE_H
