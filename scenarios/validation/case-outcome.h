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

/** A case and what the simulation says to it. */
struct CaseOutcome
{
    std::string name;
    std::vector<std::string> classes;
    double measured{0};  //!< seconds; where fidelities are compared, of the one compared with
    double predicted{0}; //!< seconds
    bool isRatio{false}; //!< both are plain numbers instead

    /** Relative: positive when the prediction is too long. */
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

/** How far along a suite, or a part of it, is. */
struct SuiteProgress
{
    std::size_t done{0}; //!< cases
    std::size_t cases{0};
    std::string part{}; //!< which part; empty: the suite
    Time now{};         //!< simulated time of the case under way
};

using ShowSuite = std::function<void(const SuiteProgress&)>;

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_CASE_OUTCOME_H
