// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_SAMPLED_STEPS_H
#define WEIR_SCENARIOS_BOUND_SAMPLED_STEPS_H

#include "scenarios/bound/population.h"
#include "scenarios/bound/regime-position.h"
#include "scenarios/catalog.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/** A shortcut's time of a step. */
struct SampledEstimate
{
    RegimePosition position;
    Time time;
};

/** One training step, with the shortcuts' times and the reference's. */
struct SampledStep
{
    std::string text;                       //!< the scenario as YAML
    std::vector<SampledEstimate> estimates; //!< of `analytical`, where it can run it, and `stream`
    Time flow;
};

/**
 * Case @p index of the sample of @p seed: a system, nodes, a fabric, a transformer cut to some
 * layers or whole and a parallel plan, sometimes beside another job, traffic or events on links,
 * drawn until they can be run and `flow` takes seconds; the steady step of the first job as
 * `weir run` gives it.
 */
SampledStep SampleStep(uint64_t seed,
                       uint64_t index,
                       Population population,
                       const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_SAMPLED_STEPS_H
