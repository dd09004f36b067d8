// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_BOUND_JUDGE_H
#define WEIR_SCENARIOS_BOUND_BOUND_JUDGE_H

#include "collectives/engines/auto-engine.h"
#include "scenarios/bound/calibration.h"
#include "scenarios/bound/call-position.h"

#include <optional>

namespace weir
{

/** Whether an estimate's error, over the reference's time, keeps within @p tolerance, relative,
 * with the bound's coverage: inside the calibrated region. */
inline bool
MeetsTolerance(const ErrorBound& bound, double tolerance)
{
    return bound.IsInside() && 1 / bound.lower - 1 <= tolerance && 1 - 1 / bound.upper <= tolerance;
}

/** What Fidelity::Auto chooses by. */
struct AutoSpec
{
    double tolerance{0.03};                 //!< of a call's time against that of `flow`, relative
    double coverage{0.9};                   //!< of the bound that must meet it
    std::optional<Calibration> calibration; //!< of collectives; there is one where it is used
};

/**
 * Judges shortcuts by their calibrated bounds: good enough is one whose error, estimate over time
 * of `flow` less 1, keeps within the tolerance with the coverage, inside the calibrated region.
 */
class BoundJudge : public ShortcutJudge
{
  public:
    /**
     * @p planner must outlive it.
     * @throws std::invalid_argument when @p spec has no calibration or another coverage than those
     *         that are calibrated.
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
