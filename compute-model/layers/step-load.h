// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_STEP_LOAD_H
#define WEIR_COMPUTE_MODEL_LAYERS_STEP_LOAD_H

#include "compute-model/kernels/gpu.h"
#include "compute-model/layers/kernel-records.h"
#include "compute-model/models/transformer.h"
#include "compute-model/plan/parallel-plan.h"

namespace weir
{

/**
 * What a step spends of the power that the limit leaves to tensor work, [0, 1]: TensorPower's mean
 * over its time.
 *
 * Power is limited over tens of milliseconds, many layers long (an H200 takes 50 to 80 ms to
 * settle). What kernels without tensor work, and time between kernels, leave of it raises the
 * clocks of the others by one factor g (in a layer of Llama 3 8B on an H200 matrix products and
 * attention run 8 and 7 % faster than each alone). As power goes as the cube of the clock,
 *     g = load^(-1/3).
 */
class LoadMeter
{
  public:
    /** @p gpu must outlive it. */
    explicit LoadMeter(const Gpu& gpu);

    /** A kernel that runs @p times, timed in the sustained regime. */
    void Add(const KernelRecord& kernel, uint32_t times);

    /** The load, of kernels that take @p total with all that is between them. */
    double Load(Time total) const;

  private:
    const Gpu* m_gpu;
    double m_limited{0}; //!< seconds, by their TensorPower
};

/**
 * The load of @p model's layers under @p plan; a layer takes its kernels' time, or the CPU's time
 * to launch them where that is longer.
 */
double StepLoad(const Transformer& model, const ParallelPlan& plan, const Gpu& gpu);

/** @p gpu with the sustained clock that it settles at under @p load, at most that of bursts. */
Gpu UnderLoad(const Gpu& gpu, double load);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_STEP_LOAD_H
