// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_TENSOR_GRID_H
#define WEIR_COMPUTE_MODEL_PLAN_TENSOR_GRID_H

#include "compute-model/models/transformer.h"

#include <cstdint>

namespace weir
{

struct ParallelPlan;

/**
 * Tensor ranks as d layers of q x q, instead of in one row: every matrix is cut into q x q blocks.
 *
 * Weights are cut by both of their sides, and every layer of ranks holds all of them. Activations
 * [tokens, width] are cut into d q parts by their samples and into q by their width. One layer is
 * 2-D (SUMMA: van de Geijn and Watts 1997; Optimus), several are 2.5-D (Tesseract, arXiv
 * 2105.14500). Tensor rank = column + q * (row + q * layer): a row's ranks are neighbors.
 */
struct TensorGrid
{
    uint32_t side{0};  //!< q; 0: no grid, ranks in one row share a layer out as Megatron-LM has it
    uint32_t depth{1}; //!< d

    uint64_t Ranks() const
    {
        return uint64_t{side} * side * depth;
    }
};

/**
 * What a plan with a grid asks: q * q * d = tensor; q divides hidden, heads, kvHeads and ffn; q * d
 * divides microBatch, as attention needs whole samples; nothing that is not written for grids.
 * @throws std::invalid_argument as CheckPlan.
 */
void CheckTensorGrid(const Transformer& model, const ParallelPlan& plan);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_TENSOR_GRID_H
