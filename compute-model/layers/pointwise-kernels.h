// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_POINTWISE_KERNELS_H
#define WEIR_COMPUTE_MODEL_LAYERS_POINTWISE_KERNELS_H

#include "compute-model/layers/segment-writer.h"
#include "compute-model/models/transformer.h"
#include "compute-model/plan/rank-shape.h"

#include <cstdint>
#include <string>

namespace weir
{

/**
 * The activation between two products, of @p rows of @p columns that it gives: GELU, or SwiGLU as
 * one kernel, in eager PyTorch SiLU and the product with the gate.
 */
void WriteActivation(SegmentWriter& writer,
                     const Transformer& model,
                     const ParallelPlan& plan,
                     const std::string& name,
                     uint64_t rows,
                     uint64_t columns);

/** Its backward pass: in eager PyTorch the gradients of gated and gate, and through SiLU. */
void WriteActivationBackward(SegmentWriter& writer,
                             const Transformer& model,
                             const ParallelPlan& plan,
                             const std::string& name,
                             uint64_t rows,
                             uint64_t columns);

/**
 * What of a layer is neither matrix product nor attention, as the plan's KernelFusion has it.
 *
 * Eager PyTorch has single kernels for LayerNorm, GELU, SiLU, dropout and additions, and adds
 * biases within products. RMSNorm is seven (x.float(), pow, mean, rsqrt, two products, a cast:
 * torchtitan's and Llama's RMSNorm), rotary positions are a product of complex numbers in fp32
 * between two casts, SwiGLU is SiLU and a product, and keys and values of grouped queries are
 * repeated for every query head.
 */
class PointwiseWriter
{
  public:
    /** All must outlive it. */
    PointwiseWriter(SegmentWriter& writer, const Transformer& model, const ParallelPlan& plan);

    void Norm(const std::string& name);

    /** @param addsResidual the gradient that passes by the layer is added to the input's. */
    void NormBackward(const std::string& name, bool addsResidual);

    /** Positions of queries and keys, forward or backward. */
    void Rotary(const std::string& name);

    void Activation();
    void ActivationBackward();

    /** A block's output, its bias and dropout, added to what passes by it. */
    void BiasDropoutAdd(const std::string& name);

  private:
    std::string ActivationName() const;
    bool IsEagerRms() const;
    void EagerRmsNorm(const std::string& name);
    void EagerRmsNormBackward(const std::string& name);
    void SumOverRow(const std::string& name);
    void OverHidden(const std::string& name, MemoryKernel kernel, double bytesPerElement);

    SegmentWriter& m_writer;
    const Transformer& m_model;
    const ParallelPlan& m_plan;
    RankShape m_shape;
    double m_element; //!< bytes of an activation
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_POINTWISE_KERNELS_H
