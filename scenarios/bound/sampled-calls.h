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

/** Of so many scenarios of collectives one is of jobs: those with numbers that it divides. */
constexpr uint64_t SCENARIOS_PER_JOBS = 3;

/**
 * Case @p index of the sample of @p seed: a job that repeats a call, of a system, group, operation
 * and size as SampleCall draws them, mostly beside another such job whose GPUs are of other nodes
 * or of the same; the mean time of the first job's calls as `weir run` gives it. In two of five the
 * other job slows these, and calls have 32 KiB and more.
 */
SampledRun SampleJobs(uint64_t seed, uint64_t index, Fidelity reference, const Catalog& catalog);

/**
 * The mean time of the first job's calls in such a scenario.
 * @param text SampledRun::text, or that with more keys
 * @throws std::invalid_argument as RunWithin
 */
Time TimeOfJobs(const std::string& text, Fidelity fidelity, const Catalog& catalog);

/** One collective on an idle fabric. */
struct SampledCall
{
    CollectiveSweepSpec spec;               //!< of one size
    std::string system;                     //!< as YAML
    std::vector<SampledEstimate> estimates; //!< by EstimatesOf
    Time reference; //!< an estimate where these are unsampled, and so have no bound to judge
};

/**
 * Case @p index of the sample of @p seed: a system, nodes, a fabric with its routing and
 * oversubscription, a group, an operation with NCCL's choice or another, a version of NCCL and a
 * size, drawn until they can be wired and run; its times as `weir collective` gives them. Every
 * second calibrated one is of more than 64 ranks, and for these the reference moves few slices.
 */
SampledCall SampleCall(uint64_t seed,
                       uint64_t index,
                       Population population,
                       Fidelity reference,
                       const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_SAMPLED_CALLS_H
