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
 * Writes the activation between two GEMMs, with an output of @p rows by @p columns: GELU, or SwiGLU
 * as one kernel, in eager PyTorch as SiLU and the multiplication with the gate.
 */
void WriteActivation(SegmentWriter& writer,
                     const Transformer& model,
                     const std::string& name,
                     uint64_t rows,
                     uint64_t columns);

/**
 * Writes its backward pass: in eager PyTorch the gradients of gated value and gate, and that of
 * SiLU.
 */
void WriteActivationBackward(SegmentWriter& writer,
                             const Transformer& model,
                             const std::string& name,
                             uint64_t rows,
                             uint64_t columns);

/**
 * Writes the operations of a layer other than GEMMs and attention, by the plan's KernelFusion.
 *
 * Eager PyTorch has single kernels for LayerNorm, GELU, SiLU, dropout and additions, and adds
 * biases within GEMMs. RMSNorm takes eight (x.float(), pow, mean, addition of eps, rsqrt,
 * multiplication, cast, multiplication by the weight: torchtitan's and Llama's RMSNorm), of which
 * the addition of eps and rsqrt are left out, since they have one element per token. Rotary
 * embedding is a complex multiplication in fp32 between two casts, SwiGLU is SiLU and a
 * multiplication, and keys and values of grouped-query attention are repeated for every query head.
 */
class PointwiseWriter
{
  public:
    /** All arguments must outlive it. */
    PointwiseWriter(SegmentWriter& writer, const Transformer& model);

    void Norm(const std::string& name);

    /**
     * The norm's gradients are ready when it ends.
     * @param addsResidual adds the residual's gradient to the input's
     */
    void NormBackward(const std::string& name, bool addsResidual);

    /** Rotary embedding of queries and keys, forward or backward. */
    void Rotary(const std::string& name);

    void Activation();
    void ActivationBackward();

    /** Adds a block's output, with its bias and dropout, to the residual. */
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
