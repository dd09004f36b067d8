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
 * Time of back-to-back calls on one stream of every rank, uncontended on the fabric, from the
 * current time of @p simulation: the time until the last of @p calls equal calls has ended on all
 * ranks, divided by @p calls. Benchmarks that start many calls and wait for the last one measure
 * this time. Calls overlap where a rank need not wait for others, such as the root of a broadcast.
 *
 * Fidelities `flow`, `packet` and `hybrid` simulate calls until all ranks end one equally long
 * after the one before, to 0.1 %, and extrapolate the rest with that period. The other fidelities
 * compute it from the time of one call and the period of the plan. Calls that do not overlap are
 * timed in isolation.
 * @throws std::runtime_error when a call never ends.
 */
Time BackToBackTime(Simulation& simulation,
                    Fidelity fidelity,
                    const CollectiveCall& call,
                    uint32_t calls);

} // namespace weir

#endif // WEIR_SCENARIOS_SIMULATION_BACK_TO_BACK_TIME_H
