// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/tensor-grid.h"

#include "compute-model/plan/parallel-plan.h"
#include "compute-model/plan/plan-refusal.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace weir
{

namespace
{

/** "[2, 2, 4]". */
std::string
ToText(const TensorGrid& grid)
{
    const std::string side = std::to_string(grid.side);
    return "[" + side + ", " + side + ", " + std::to_string(grid.depth) + "]";
}

[[noreturn]] void
RefuseGrid(const TensorGrid& grid, const std::string& expected)
{
    RefusePlan("tensorShape", ToText(grid), expected);
}

/** What only goes with tensor ranks in one row. */
void
CheckCompany(const Transformer& model, const ParallelPlan& plan)
{
    for (const auto& [found, what] : {std::pair(plan.sequenceParallel, "sequenceParallel"),
                                      std::pair(plan.context > 1, "context > 1"),
                                      std::pair(model.HasExperts() || plan.expert > 1, "experts"),
                                      std::pair(plan.precision == Precision::Fp8, "precision fp8")})
    {
        if (found)
        {
            RefuseGrid(plan.grid, std::string("no tensorShape with ") + what);
        }
    }
}

} // namespace

void
CheckTensorGrid(const Transformer& model, const ParallelPlan& plan)
{
    const TensorGrid& grid = plan.grid;
    if (grid.depth == 0 || grid.Ranks() != plan.tensor)
    {
        RefuseGrid(grid, "[q, q, d] with q * q * d = tensor = " + std::to_string(plan.tensor));
    }
    for (const auto& [field, value] : {std::pair("hidden", model.hidden),
                                       std::pair("heads", model.heads),
                                       std::pair("kvHeads", model.kvHeads),
                                       std::pair("ffn", model.ffn)})
    {
        if (value % grid.side != 0)
        {
            RefuseGrid(grid,
                       std::string("a side that divides ") + field + " = " + std::to_string(value));
        }
    }
    if (plan.microBatch % plan.SampleParts() != 0)
    {
        throw std::invalid_argument(
            "microBatch: found " + std::to_string(plan.microBatch) +
            ", expected a multiple of q * d = " + std::to_string(plan.SampleParts()) +
            " with tensorShape " + ToText(grid));
    }
    CheckCompany(model, plan);
}

} // namespace weir
