// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_STEP_SEGMENTS_H
#define WEIR_COMPUTE_MODEL_LAYERS_STEP_SEGMENTS_H

#include "compute-model/kernels/gpu.h"
#include "compute-model/layers/segment-writer.h"
#include "compute-model/models/transformer.h"
#include "compute-model/plan/parallel-plan.h"

namespace weir
{

/** The passes of one layer. */
struct LayerSegments
{
    SegmentSequence forward;
    SegmentSequence recompute;
    SegmentSequence backward;
    SegmentSequence backwardInput;   //!< with zero-bubble schedules, else empty
    SegmentSequence backwardWeights; //!< with zero-bubble schedules, else empty
};

/** Sequences that a step consists of; all stages, layers and micro-batches share them. */
struct StepSegments
{
    StepSegments(KernelTable& kernels, const Transformer& model, const ParallelPlan& plan);

    SegmentSequence embeddingForward;
    SegmentSequence embeddingBackward;
    LayerSegments layer;
    LayerSegments expertLayer; //!< of a layer with experts, if the model has any
    SegmentSequence outputForward;
    SegmentSequence outputBackward;

    const LayerSegments& Layer(bool hasExperts) const
    {
        return hasExperts ? expertLayer : layer;
    }
};

/** The number of times that a pass runs in a step. */
using PassCount = std::pair<const SegmentSequence*, uint32_t>;

/**
 * Share of the power that the limit leaves to tensor work which @p passes use, [0, 1]: the mean of
 * TensorPower over their time, which is that of the kernels, or the CPU time of their launches if
 * that is longer.
 *
 * Power is limited over tens of milliseconds, which is many layers (an H200 takes 50 to 80 ms to
 * settle). Kernels without tensor work, and the time between kernels, leave power that raises the
 * clocks of the other kernels by one factor g (in a layer of Llama 3 8B on an H200, GEMMs and
 * attention run 8 and 7 % faster than in isolation). As power is proportional to the cube of the
 * clock,
 *     g = load^(-1/3).
 *
 * @param records of the kernels of @p passes, timed in the sustained regime
 */
double LoadOfPasses(const std::vector<PassCount>& passes,
                    const KernelRecords& records,
                    const Gpu& gpu);

/** Load of @p model's layers under @p plan. */
double StepLoad(const Transformer& model, const ParallelPlan& plan, const Gpu& gpu);

/** @p gpu with the sustained clock at which it settles under @p load, at most the burst clock. */
Gpu UnderLoad(const Gpu& gpu, double load);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_STEP_SEGMENTS_H
