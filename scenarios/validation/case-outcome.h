// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_CASE_OUTCOME_H
#define WEIR_SCENARIOS_VALIDATION_CASE_OUTCOME_H

#include <string>
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

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_CASE_OUTCOME_H
