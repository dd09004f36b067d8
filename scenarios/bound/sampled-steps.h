// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_SAMPLED_STEPS_H
#define WEIR_SCENARIOS_BOUND_SAMPLED_STEPS_H

#include "scenarios/bound/sampled-fabric.h"
#include "scenarios/bound/sampled-run.h"
#include "scenarios/catalog.h"

#include <cstdint>

namespace weir
{

/**
 * Draws and runs case @p index of the sample of @p seed: a system, nodes, a fabric, a transformer
 * (whole or with fewer layers) and a parallel plan, sometimes concurrent with another job, traffic
 * or events on links, drawn until they can be run within seconds by `flow`. The time is the steady
 * step of the first job, as `weir run` reports it.
 */
SampledRun SampleStep(uint64_t seed, uint64_t index, Population population, const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_SAMPLED_STEPS_H
