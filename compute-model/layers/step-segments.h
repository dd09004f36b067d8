// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_STEP_SEGMENTS_H
#define WEIR_COMPUTE_MODEL_LAYERS_STEP_SEGMENTS_H

#include "compute-model/layers/segment-writer.h"
#include "compute-model/models/transformer.h"

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

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_STEP_SEGMENTS_H
