// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_SAMPLES_H
#define WEIR_SCENARIOS_BOUND_SAMPLES_H

#include "scenarios/bound/calibration.h"
#include "scenarios/bound/sampled-fabric.h"
#include "scenarios/catalog.h"
#include "scenarios/scenario.h"
#include "scenarios/simulation/collective-sweep.h"
#include "scenarios/simulation/simulation.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/**
 * @file
 * The samples that error bounds are calibrated with and checked on: scenarios drawn at random and
 * run by the reference and by the fidelities compared with it.
 */
namespace weir
{

/** A shortcut's estimate of the time in question, and its position. */
struct SampledEstimate
{
    RegimePosition position;
    Time time;
};

/** Estimates of a scenario's time and the reference's time. */
struct SampledTimes
{
    std::vector<SampledEstimate> estimates; //!< by EstimatesOf, without those that cannot run it
    Time reference; //!< an estimate if the estimates of a call are unsampled and have no bound
};

/** One scenario with its times. */
struct SampledRun : SampledTimes
{
    std::string text; //!< as YAML, without its fidelity
};

/** Reads the scenario @p text, in YAML without its fidelity. @throws InputError. */
Scenario ReadSample(const std::string& text, Fidelity fidelity, const Catalog& catalog);

/**
 * Runs a scenario of a sample to its end. Work is counted in instants visited, plus, for fluids,
 * the active flows at each instant, whose rates may change there; the count is the same on every
 * machine.
 * @throws std::invalid_argument when the work exceeds @p maxWork, such as with a neighbor that
 *         makes back-to-back calls for as long as the first job runs, and when the run never ends.
 */
std::unique_ptr<Simulation> RunWithin(uint64_t maxWork, const Scenario& scenario);

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
struct SampledCall : SampledTimes
{
    CollectiveSweepSpec spec; //!< of one size
    std::string system;       //!< as YAML
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

/**
 * Draws and runs case @p index of the sample of @p seed: a system, nodes, a fabric, a transformer
 * (whole or with fewer layers) and a parallel plan, sometimes concurrent with another job, traffic
 * or events on links, drawn until they can be run within seconds by `flow`. The time is the steady
 * step of the first job, as `weir run` reports it.
 */
SampledRun SampleStep(uint64_t seed, uint64_t index, Population population, const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_SAMPLES_H
