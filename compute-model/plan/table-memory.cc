// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/table-memory.h"

#include "compute-model/models/precision.h"
#include "compute-model/plan/table-placement.h"

namespace weir
{

namespace
{

// CUDA context and libraries of an idle PyTorch process, cuDNN workspace (see memory-estimate.cc).
constexpr int64_t CONTEXT_MIB = 1024;

/** Bytes of the rows and optimizer state of @p tables, divided by @p parts. */
double
HeldBytes(const LayerTable& table,
          const std::vector<uint32_t>& tables,
          EmbeddingOptimizer optimizer,
          double parts)
{
    double bytes = 0;
    for (const uint32_t i : tables)
    {
        const EmbeddingTable& one = table.embeddings[i];
        bytes += (TableBytes(one).ToDouble() +
                  static_cast<double>(one.rows) * RowStateBytes(one, optimizer)) /
                 parts;
    }
    return bytes;
}

/** Adds the tables and exchange buffers of the fullest rank to @p estimate. */
void
AddEmbeddings(const LayerTable& whole, const ParallelPlan& plan, MemoryEstimate& estimate)
{
    const LayerTable table = SplitByColumns(whole, plan);
    const TablePlacement placement = AssignTables(table, plan);
    const EmbeddingOptimizer optimizer = plan.embeddings.optimizer;
    const double parts = HeldBytes(table, placement.split, optimizer, plan.data);
    const double samples = static_cast<double>(plan.microBatch) * plan.data;
    const double element = ActivationBytes(plan.precision);
    double most = 0;
    for (const auto& tables : placement.whole)
    {
        const double held = HeldBytes(table, tables, optimizer, 1) + parts;
        const double pooled = static_cast<double>(PooledElements(table, tables) +
                                                  PooledElements(table, placement.split)) *
                              samples * element;
        constexpr double BUFFERS = 2; // pooled rows and their gradients
        if (held + BUFFERS * pooled > most)
        {
            most = held + BUFFERS * pooled;
            estimate.embeddings = Bytes::Nearest(held);
            estimate.gathered = plan.data > 1 ? Bytes::Nearest(BUFFERS * pooled) : Bytes();
        }
    }
}

} // namespace

DenseOptimizer
DenseOptimizerOf(const LayerTable& table, const ParallelPlan& plan)
{
    // PyTorch's default (foreach): one kernel per operation over lists of tensors. Adam: lerp 3,
    // mul 2, addcmul 3, sqrt 2, div 2, add 2, addcdiv 4. Adagrad: addcmul 3, sqrt 2, add 2, addcdiv
    // 4.
    constexpr DenseOptimizer ADAM{"Adam", 18, 2};
    constexpr DenseOptimizer ADAGRAD{"Adagrad", 11, 1};
    constexpr DenseOptimizer SGD{"gradient descent", 3, 0};
    if (table.embeddings.empty())
    {
        return ADAM;
    }
    return plan.embeddings.optimizer == EmbeddingOptimizer::Sgd ? SGD : ADAGRAD;
}

MemoryEstimate
EstimateTableMemory(const LayerTable& table, const ParallelPlan& plan)
{
    const double parameters = table.Parameters();
    double activations = 0;
    for (const TableLayer& layer : table.layers)
    {
        // torchvision's ReLUs and additions are computed in place.
        const bool isInPlace = layer.op == TableOp::Relu || layer.op == TableOp::Add;
        activations += isInPlace ? 0 : static_cast<double>(layer.out.Elements());
    }
    const double element = ActivationBytes(plan.precision);
    const double gradient = plan.fp32Gradients ? FP32_BYTES : element;
    const double masters = element < FP32_BYTES ? 1 : 0; // 32-bit copies of the weights
    MemoryEstimate estimate;
    estimate.weights = Bytes::Nearest(parameters * element);
    estimate.gradients = Bytes::Nearest(parameters * gradient * (plan.data > 1 ? 2 : 1));
    estimate.optimizer =
        Bytes::Nearest(parameters * FP32_BYTES * (DenseOptimizerOf(table, plan).kept + masters));
    estimate.activations = Bytes::Nearest(activations * element * plan.microBatch);
    estimate.buffers = Bytes::MiB(CONTEXT_MIB);
    if (!table.embeddings.empty())
    {
        AddEmbeddings(table, plan, estimate);
    }
    return estimate;
}

} // namespace weir
