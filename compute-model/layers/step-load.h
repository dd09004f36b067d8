// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_STEP_LOAD_H
#define WEIR_COMPUTE_MODEL_LAYERS_STEP_LOAD_H

#include "compute-model/kernels/gpu.h"
#include "compute-model/layers/kernel-table.h"
#include "compute-model/models/transformer.h"
#include "compute-model/plan/parallel-plan.h"

namespace weir
{

/**
 * Share of the power that the limit leaves to tensor work which a step uses, [0, 1]: the mean of
 * TensorPower over its time.
 *
 * Power is limited over tens of milliseconds, which is many layers (an H200 takes 50 to 80 ms to
 * settle). Kernels without tensor work, and the time between kernels, leave power that raises the
 * clocks of the other kernels by one factor g (in a layer of Llama 3 8B on an H200, GEMMs and
 * attention run 8 and 7 % faster than in isolation). As power is proportional to the cube of the
 * clock,
 *     g = load^(-1/3).
 */
class LoadMeter
{
  public:
    /** @p gpu must outlive it. */
    explicit LoadMeter(const Gpu& gpu);

    /** Adds a kernel that runs @p times, timed in the sustained regime. */
    void Add(const KernelRecord& kernel, uint32_t times);

    /**
     * Load of the kernels added, whose total time, including everything between them, is @p total.
     */
    double Load(Time total) const;

  private:
    const Gpu* m_gpu;
    double m_limited{0}; //!< seconds, weighted by TensorPower
};

/**
 * Load of @p model's layers under @p plan. The time is that of the kernels, or the CPU time of
 * their launches if that is longer.
 */
double StepLoad(const Transformer& model, const ParallelPlan& plan, const Gpu& gpu);

/** @p gpu with the sustained clock at which it settles under @p load, at most the burst clock. */
Gpu UnderLoad(const Gpu& gpu, double load);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_STEP_LOAD_H
