// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_STEP_SEGMENTS_H
#define WEIR_COMPUTE_MODEL_LAYERS_STEP_SEGMENTS_H

#include "compute-model/layers/segment-writer.h"
#include "compute-model/models/transformer.h"

namespace weir
{

/** The sequences that a step is made of; every stage, layer and micro-batch refers to the same
 * ones. */
struct StepSegments
{
    StepSegments(KernelTable& kernels, const Transformer& model, const ParallelPlan& plan);

    SegmentSequence embeddingForward;
    SegmentSequence embeddingBackward;
    SegmentSequence layerForward;
    SegmentSequence layerRecompute;
    SegmentSequence layerBackward;
    SegmentSequence layerBackwardInput;   //!< with zero-bubble schedules, else empty
    SegmentSequence layerBackwardWeights; //!< similarly
    SegmentSequence expertForward;        //!< of layers with experts, where the model has any
    SegmentSequence expertRecompute;
    SegmentSequence expertBackward;
    SegmentSequence expertBackwardInput;   //!< with zero-bubble schedules, else empty
    SegmentSequence expertBackwardWeights; //!< similarly
    SegmentSequence outputForward;
    SegmentSequence outputBackward;

    const SegmentSequence& Forward(bool hasExperts) const
    {
        return hasExperts ? expertForward : layerForward;
    }

    const SegmentSequence& Recompute(bool hasExperts) const
    {
        return hasExperts ? expertRecompute : layerRecompute;
    }

    const SegmentSequence& Backward(bool hasExperts) const
    {
        return hasExperts ? expertBackward : layerBackward;
    }

    const SegmentSequence& BackwardInput(bool hasExperts) const
    {
        return hasExperts ? expertBackwardInput : layerBackwardInput;
    }

    const SegmentSequence& BackwardWeights(bool hasExperts) const
    {
        return hasExperts ? expertBackwardWeights : layerBackwardWeights;
    }
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_STEP_SEGMENTS_H
