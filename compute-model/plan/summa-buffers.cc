// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/summa-buffers.h"

#include "compute-model/plan/rank-shape.h"

#include <algorithm>
#include <vector>

namespace weir
{

Bytes
SummaBuffers(const Transformer& model, const ParallelPlan& plan, uint32_t stage)
{
    if (plan.grid.side < 2)
    {
        return {};
    }
    const RankShape shape(model, plan);

    struct Blocks
    {
        uint64_t moved; //!< columns of activations
        uint64_t weight;
    };

    std::vector<Blocks> linears{{shape.hidden, shape.hidden * shape.qkv},
                                {shape.query, shape.hidden * shape.query},
                                {shape.hidden, shape.hidden * shape.inner},
                                {shape.ffn, shape.hidden * shape.ffn}};
    const uint64_t words = shape.hidden * shape.vocabulary;
    if (stage == 0)
    {
        linears.push_back({0, words});
    }
    if (stage == plan.pipeline - 1)
    {
        linears.push_back({model.tiedEmbeddings ? shape.vocabulary : shape.hidden, words});
    }
    uint64_t most = 0;
    for (const Blocks& linear : linears)
    {
        most = std::max(most, shape.tokens * linear.moved + linear.weight);
    }
    return Bytes(static_cast<int64_t>(most * 2 * ActivationBytes(plan.precision)));
}

} // namespace weir
