// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_TOLERANCE_H
#define WEIR_SCENARIOS_BOUND_TOLERANCE_H

#include "scenarios/bound/calibration.h"

namespace weir
{

/** Whether an estimate's error, over the reference's time, keeps within @p tolerance, relative,
 * with the bound's coverage: inside the calibrated region. */
inline bool
MeetsTolerance(const ErrorBound& bound, double tolerance)
{
    return bound.IsInside() && 1 / bound.lower - 1 <= tolerance && 1 - 1 / bound.upper <= tolerance;
}

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_TOLERANCE_H
