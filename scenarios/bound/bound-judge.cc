// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/bound-judge.h"

#include <algorithm>
#include <stdexcept>

namespace weir
{

BoundJudge::BoundJudge(Planner& planner, const AutoSpec& spec)
    : m_spec(spec),
      m_positions(planner)
{
    const auto& coverages = CalibratedCoverages();
    if (!spec.calibration ||
        std::find(coverages.begin(), coverages.end(), spec.coverage) == coverages.end())
    {
        throw std::invalid_argument("BoundJudge: expected a calibration and one of its coverages");
    }
}

bool
BoundJudge::IsGoodEnough(const CollectivePlan& plan, Fidelity shortcut) const
{
    const RegimePosition position = m_positions.Of(plan, shortcut);
    return MeetsTolerance(m_spec.calibration->BoundOf(position, m_spec.coverage), m_spec.tolerance);
}

} // namespace weir
