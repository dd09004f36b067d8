// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_SUMMA_BUFFERS_H
#define WEIR_COMPUTE_MODEL_PLAN_SUMMA_BUFFERS_H

#include "compute-model/models/transformer.h"
#include "compute-model/plan/parallel-plan.h"
#include "fabric/units.h"

#include <cstdint>

namespace weir
{

/**
 * Bytes of the blocks on their way in a rank's largest product: two for each operand or result that
 * moves.
 * @param stage of the pipeline that the rank is in.
 */
Bytes SummaBuffers(const Transformer& model, const ParallelPlan& plan, uint32_t stage);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_SUMMA_BUFFERS_H
