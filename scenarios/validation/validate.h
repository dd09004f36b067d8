// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_VALIDATE_H
#define WEIR_SCENARIOS_VALIDATION_VALIDATE_H

#include "scenarios/results/hdf5-file.h"
#include "scenarios/running/run-scenario.h"
#include "scenarios/validation/collective-outcome.h"
#include "scenarios/validation/error-statistics.h"
#include "scenarios/validation/read-suite.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/** A case and what the simulation says to it. */
struct CaseOutcome
{
    std::string name;
    std::vector<std::string> classes;
    double measured{0};  //!< seconds
    double predicted{0}; //!< seconds
    double tolerance{0}; //!< relative; infinite: any error will do

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
    std::vector<CollectiveOutcome> collectives{}; //!< what the cases of such a suite are of
    std::optional<double> meanError{};            //!< limit of the mean absolute error

    /** Of all cases. */
    ErrorStatistics Errors() const;

    /** Whether every case keeps to its tolerance, and the mean absolute error to its limit. */
    bool IsWithinTolerance() const;
};

/** How far along a suite is. */
struct SuiteProgress
{
    std::size_t done{0}; //!< cases
    std::size_t cases{0};
    Time now; //!< simulated time of the case under way
};

/**
 * Runs every case of @p suite.
 * @param loop makes what drives a run of the fidelity given
 * @param collectiveFidelity of runs of single collectives; steps say their own
 * @throws InputError as RunScenario.
 */
SuiteOutcome RunSuite(const ValidationSuite& suite,
                      const std::function<std::unique_ptr<EngineLoop>(Fidelity)>& loop,
                      const std::function<void(const SuiteProgress&)>& progress,
                      Fidelity collectiveFidelity = Fidelity::Analytical);

/** All cases of several suites as those of one called @p name, for statistics over all of them. */
SuiteOutcome Together(const std::string& name, const std::vector<SuiteOutcome>& outcomes);

/** Which cases ToText lists. */
enum class CaseList : uint8_t
{
    All,
    Brief //!< all of a short suite, the worst of a long one
};

/**
 * For the terminal: measured, predicted and error by case, and by class the number of cases, mean,
 * median and 90th percentile of the absolute error, and the mean signed error.
 */
std::string ToText(const SuiteOutcome& outcome, CaseList list = CaseList::Brief);

/** One group a suite below /validation, one row a case. */
void WriteOutcomes(Hdf5File& file, const std::vector<SuiteOutcome>& outcomes);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_VALIDATE_H
