// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_SAMPLED_RUN_H
#define WEIR_SCENARIOS_BOUND_SAMPLED_RUN_H

#include "scenarios/bound/calibration.h"
#include "scenarios/scenario.h"
#include "scenarios/simulation/simulation.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace weir
{

/** A shortcut's time of what a scenario is about. */
struct SampledEstimate
{
    RegimePosition position;
    Time time;
};

/** One scenario, with the times of fidelities and of the reference that they are compared with. */
struct SampledRun
{
    std::string text;                       //!< as YAML, but for its fidelity
    std::vector<SampledEstimate> estimates; //!< by EstimatesOf, but for what cannot run it
    Time reference;
};

/**
 * Runs a scenario of a sample to its end. Its work is counted as instants visited, of fluids each
 * with the flows under way, whose rates may change there: the same on every machine.
 * @throws std::invalid_argument when that is more than @p maxWork, as where a neighbor calls back
 * to back for as long as the first job takes, and when the run never ends.
 */
std::unique_ptr<Simulation> RunWithin(uint64_t maxWork, const Scenario& scenario);

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_SAMPLED_RUN_H
