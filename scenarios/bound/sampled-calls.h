// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_SAMPLED_CALLS_H
#define WEIR_SCENARIOS_BOUND_SAMPLED_CALLS_H

#include "scenarios/bound/random-draws.h"
#include "scenarios/bound/sampled-fabric.h"
#include "scenarios/bound/sampled-run.h"
#include "scenarios/catalog.h"
#include "scenarios/simulation/collective-sweep.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/** Every SCENARIOS_PER_JOBS-th scenario of collectives is of jobs: those whose index it divides. */
constexpr uint64_t SCENARIOS_PER_JOBS = 3;

/**
 * Draws and runs case @p index of the sample of @p seed: a job that repeats a call, with system,
 * group, operation and size drawn as by SampleCall, mostly concurrent with another such job on
 * other nodes or on other GPUs of the same nodes. The time is the mean of the first job's calls, as
 * `weir run` reports it. In two of five cases the other job slows the first one, and calls have at
 * least 32 KiB.
 */
SampledRun SampleJobs(uint64_t seed, uint64_t index, Fidelity reference, const Catalog& catalog);

/** The most work of a sampled mixture of jobs, as RunWithin counts: some 0.1 s. */
constexpr uint64_t MAX_WORK_OF_JOBS = 2000000;

/**
 * The mean time of the first job's calls in such a scenario.
 * @param text SampledRun::text, possibly with more keys
 * @throws std::invalid_argument as RunWithin
 */
Time TimeOfJobs(const std::string& text,
                Fidelity fidelity,
                const Catalog& catalog,
                uint64_t maxWork = MAX_WORK_OF_JOBS);

/** One collective on an idle fabric. */
struct SampledCall
{
    CollectiveSweepSpec spec;               //!< of one size
    std::string system;                     //!< as YAML
    std::vector<SampledEstimate> estimates; //!< in the order of EstimatesOf
    Time reference; //!< an estimate where the estimates are unsampled, which have no bound
};

/**
 * Draws and runs case @p index of the sample of @p seed: a system, nodes, a fabric with routing and
 * oversubscription, a group, an operation with NCCL's choice or another, an NCCL version and a
 * size, drawn until they can be wired and run. Times are those of `weir collective`. Every third
 * case of the calibrated population, half of those that are not jobs, has more than 64 ranks; for
 * these the reference moves few slices.
 */
SampledCall SampleCall(uint64_t seed,
                       uint64_t index,
                       Population population,
                       Fidelity reference,
                       const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_SAMPLED_CALLS_H
