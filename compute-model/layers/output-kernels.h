// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_OUTPUT_KERNELS_H
#define WEIR_COMPUTE_MODEL_LAYERS_OUTPUT_KERNELS_H

#include "compute-model/layers/segment-writer.h"
#include "compute-model/models/transformer.h"

namespace weir
{

/**
 * What follows the last layer: final norm, logits of the rank's words, and the vocabulary-parallel
 * cross entropy with its three small all-reduces (maximum, predicted logit, sum of exponentials;
 * megatron/core/tensor_parallel/cross_entropy.py), in fp32.
 */
SegmentSequence OutputForward(KernelTable& kernels,
                              const Transformer& model,
                              const ParallelPlan& plan);

/** Its backward pass: gradient of the logits, of the output weights and of the last layer. */
SegmentSequence OutputBackward(KernelTable& kernels,
                               const Transformer& model,
                               const ParallelPlan& plan);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_OUTPUT_KERNELS_H
