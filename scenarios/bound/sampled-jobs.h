// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_SAMPLED_JOBS_H
#define WEIR_SCENARIOS_BOUND_SAMPLED_JOBS_H

#include "scenarios/bound/sampled-run.h"
#include "scenarios/catalog.h"

#include <cstdint>

namespace weir
{

/**
 * Case @p index of the sample of @p seed: a job that repeats a call, of a system, group, operation
 * and size as SampleCall draws them, mostly beside another such job whose GPUs are of other nodes
 * or of the same; the mean time of the first job's calls as `weir run` gives it.
 */
SampledRun SampleJobs(uint64_t seed, uint64_t index, Fidelity reference, const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_SAMPLED_JOBS_H
