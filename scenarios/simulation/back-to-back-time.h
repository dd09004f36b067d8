// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SIMULATION_BACK_TO_BACK_TIME_H
#define WEIR_SCENARIOS_SIMULATION_BACK_TO_BACK_TIME_H

#include "collectives/collective.h"
#include "collectives/fidelity.h"
#include "fabric/units.h"
#include "scenarios/simulation/simulation.h"

#include <cstdint>

namespace weir
{

/**
 * Times calls that follow each other on one stream of every rank, alone on the fabric: what
 * benchmarks measure that start many and wait for the last. Where a rank need not wait for others,
 * as the root of a broadcast, the calls overlap.
 */
class BackToBackTimer
{
  public:
    /** From where @p simulation stands, which must outlive it. */
    BackToBackTimer(Simulation& simulation, Fidelity fidelity);

    /**
     * When the last of @p calls equal calls has ended on all ranks, over their number. Fidelities
     * `flow`, `packet` and `hybrid` play them until two back to back have ended as long after the
     * one before, within a thousandth, and take the rest to follow so; the others know one call's
     * time and the period of the plan. Calls that do not overlap by that are timed alone.
     * @throws std::runtime_error when one never ends.
     */
    Time PerCall(const CollectiveCall& call, uint32_t calls);

  private:
    Time Play(const CollectiveCall& call, uint32_t calls);
    Time PlayOne(const CollectiveCall& call);

    Simulation& m_simulation;
    Fidelity m_fidelity;
};

} // namespace weir

#endif // WEIR_SCENARIOS_SIMULATION_BACK_TO_BACK_TIME_H
