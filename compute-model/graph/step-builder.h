// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_GRAPH_STEP_BUILDER_H
#define WEIR_COMPUTE_MODEL_GRAPH_STEP_BUILDER_H

#include "compute-model/graph/step-program.h"
#include "compute-model/kernels/gpu.h"
#include "compute-model/layers/step-segments.h"
#include "compute-model/models/network.h"
#include "compute-model/models/transformer.h"
#include "compute-model/plan/parallel-plan.h"

namespace weir
{

/**
 * Approximate number of operations of the programs of all stages, before they are written: those of
 * each layer's passes for every micro-batch. This is an upper bound, since short operations are
 * merged.
 */
double EstimateOperations(const StepSegments& segments,
                          const Transformer& model,
                          const ParallelPlan& plan);

/**
 * One optimizer step of @p model under @p plan on GPUs of kind @p gpu, as Megatron-LM runs it. All
 * ranks of a pipeline stage share one program.
 * @throws std::invalid_argument as CheckPlan, or when the programs have more than 2^25 operations.
 */
StepGraph BuildTransformerStep(const Transformer& model, const ParallelPlan& plan, const Gpu& gpu);

/** The step of a job: BuildTransformerStep or BuildTableStep. */
StepGraph BuildStep(const Network& network, const ParallelPlan& plan, const Gpu& gpu);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_GRAPH_STEP_BUILDER_H
