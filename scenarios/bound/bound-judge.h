// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_BOUND_JUDGE_H
#define WEIR_SCENARIOS_BOUND_BOUND_JUDGE_H

#include "collectives/engines/auto-engine.h"
#include "scenarios/bound/calibration.h"
#include "scenarios/bound/call-position.h"

#include <optional>

namespace weir
{

/**
 * Whether the relative error of an estimate (over the reference's time) stays within @p tolerance
 * with the bound's coverage, inside the calibrated region.
 */
inline bool
MeetsTolerance(const ErrorBound& bound, double tolerance)
{
    return bound.IsInside() && 1 / bound.lower - 1 <= tolerance && 1 - 1 / bound.upper <= tolerance;
}

/** The criteria by which Fidelity::Auto chooses. */
struct AutoSpec
{
    double tolerance{0.03};                 //!< relative, of a call's time compared with `flow`
    double coverage{0.9};                   //!< of the bound that must meet the tolerance
    std::optional<Calibration> calibration; //!< of collectives; required by BoundJudge
};

/**
 * Judges shortcuts by their calibrated bounds. A shortcut is good enough when its error, (estimate
 * / time of `flow`) - 1, stays within the tolerance with the given coverage, inside the calibrated
 * region.
 */
class BoundJudge : public ShortcutJudge
{
  public:
    /**
     * @p planner must outlive the judge.
     * @throws std::invalid_argument when @p spec has no calibration, or a coverage that is not
     *         calibrated.
     */
    BoundJudge(Planner& planner, const AutoSpec& spec);

    bool IsGoodEnough(const CollectivePlan& plan, Fidelity shortcut) const override;

    double GetTolerance() const override
    {
        return m_spec.tolerance;
    }

  private:
    AutoSpec m_spec;
    CallPositions m_positions;
};

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_BOUND_JUDGE_H
