// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_GRAPH_STAGE_PROGRAM_H
#define WEIR_COMPUTE_MODEL_GRAPH_STAGE_PROGRAM_H

#include "compute-model/graph/step-program.h"
#include "compute-model/layers/kernel-table.h"
#include "compute-model/layers/step-segments.h"

#include <cstdint>

namespace weir
{

/** Inputs of one stage's program. */
struct StageSource
{
    const Transformer& model;
    const ParallelPlan& plan;
    const StepSegments& segments;
    uint32_t stage{0};
};

/**
 * The program of all ranks of one pipeline stage: the passes and exchanges of its schedule, the
 * gradient reduction, and the optimizer.
 */
StepProgram BuildStageProgram(const StageSource& source, KernelTable& kernels);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_GRAPH_STAGE_PROGRAM_H
