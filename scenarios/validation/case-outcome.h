// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_CASE_OUTCOME_H
#define WEIR_SCENARIOS_VALIDATION_CASE_OUTCOME_H

#include "fabric/units.h"

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace weir
{

/** A case with its measured and its predicted value. */
struct CaseOutcome
{
    std::string name;
    std::vector<std::string> classes;
    double measured{0};  //!< seconds; in comparisons of fidelities, of the reference
    double predicted{0}; //!< seconds
    bool isRatio{false}; //!< both values are dimensionless instead

    /** Relative error: positive when the prediction is too long. */
    double Error() const
    {
        return predicted / measured - 1;
    }
};

inline CaseOutcome
CaseOf(std::string name, std::vector<std::string> classes, Time measured, Time predicted)
{
    return {std::move(name), std::move(classes), measured.ToSeconds(), predicted.ToSeconds()};
}

/** Progress of a suite or of a part of it. */
struct SuiteProgress
{
    std::size_t done{0}; //!< finished cases
    std::size_t cases{0};
    std::string part{}; //!< name of the part; empty: the whole suite
    Time now{};         //!< simulated time of the current case
};

using ShowSuite = std::function<void(const SuiteProgress&)>;

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_CASE_OUTCOME_H
