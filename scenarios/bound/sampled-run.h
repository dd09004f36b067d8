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

/** A shortcut's estimate of the time in question, and its position. */
struct SampledEstimate
{
    RegimePosition position;
    Time time;
};

/** One scenario with its estimates and the reference's time. */
struct SampledRun
{
    std::string text;                       //!< as YAML, without its fidelity
    std::vector<SampledEstimate> estimates; //!< by EstimatesOf, without those that cannot run it
    Time reference;
};

/**
 * Runs a scenario of a sample to its end. Work is counted in instants visited, plus, for fluids,
 * the active flows at each instant, whose rates may change there; the count is the same on every
 * machine.
 * @throws std::invalid_argument when the work exceeds @p maxWork, such as with a neighbor that
 *         makes back-to-back calls for as long as the first job runs, and when the run never ends.
 */
std::unique_ptr<Simulation> RunWithin(uint64_t maxWork, const Scenario& scenario);

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_SAMPLED_RUN_H
