// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_SAMPLED_STEPS_H
#define WEIR_SCENARIOS_BOUND_SAMPLED_STEPS_H

#include "scenarios/bound/population.h"
#include "scenarios/bound/regime-position.h"
#include "scenarios/catalog.h"

#include <cstdint>
#include <string>

namespace weir
{

/** One training step, with the shortcut's times and the reference's. */
struct SampledStep
{
    std::string text; //!< the scenario as YAML
    RegimePosition analyticalPosition;
    RegimePosition streamPosition;
    Time analytical;
    Time stream;
    Time flow;
};

/**
 * Case @p index of the sample of @p seed: a system, nodes, a fabric, a transformer of few layers
 * and a parallel plan, sometimes beside a second job, drawn until they can be run; the steady step
 * of the first job as `weir run` gives it.
 */
SampledStep SampleStep(uint64_t seed,
                       uint64_t index,
                       Population population,
                       const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_SAMPLED_STEPS_H
