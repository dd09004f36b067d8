// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_GRAPH_STEP_BUILDER_H
#define WEIR_COMPUTE_MODEL_GRAPH_STEP_BUILDER_H

#include "compute-model/graph/step-program.h"
#include "compute-model/kernels/gpu.h"
#include "compute-model/models/layer-table.h"
#include "compute-model/models/transformer.h"
#include "compute-model/plan/parallel-plan.h"

namespace weir
{

/**
 * One optimizer step of @p model under @p plan on GPUs of kind @p gpu, as Megatron-LM runs it.
 * Programs are shared: one per pipeline stage.
 * @throws std::invalid_argument as CheckPlan.
 */
StepGraph BuildTransformerStep(const Transformer& model, const ParallelPlan& plan, const Gpu& gpu);

/** The step of a job: of @p table where it has layers (BuildTableStep), else of @p model. */
StepGraph BuildStep(const Transformer& model,
                    const LayerTable& table,
                    const ParallelPlan& plan,
                    const Gpu& gpu);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_GRAPH_STEP_BUILDER_H
