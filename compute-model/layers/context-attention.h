// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_CONTEXT_ATTENTION_H
#define WEIR_COMPUTE_MODEL_LAYERS_CONTEXT_ATTENTION_H

#include "compute-model/layers/segment-writer.h"
#include "compute-model/models/transformer.h"

namespace weir
{

/**
 * The attention core over a sequence that C ranks share, forward.
 *
 * Under a causal mask rank r holds pieces r and 2C - 1 - r of 2C, so that all have as much to do
 * (Transformer Engine, attention with context parallelism; Brandon et al. 2023, Striped Attention,
 * has the problem).
 * - Ring (Liu et al. 2023, arXiv 2310.01889): C steps; in each the keys and values at hand go to
 *   the next rank beside the attention to them. The first step is causal over the rank's own
 *   tokens; in every other half of the pairs are needed: all queries to half of the keys, or half
 *   of the queries to all keys. Results of the steps are merged by their softmax sums.
 * - All-gather (Llama Team 2024, 3.3.2): keys and values of all ranks first, then both pieces.
 */
void WriteContextForward(SegmentWriter& writer, const Transformer& model, const ParallelPlan& plan);

/**
 * Its backward pass. Ring: keys and values go round again, their gradients one step behind them
 * and one step further, home. All-gather: gathered again, gradients reduce-scattered.
 */
void WriteContextBackward(SegmentWriter& writer,
                          const Transformer& model,
                          const ParallelPlan& plan);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_CONTEXT_ATTENTION_H
