// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_TRANSFORMER_WRITER_H
#define WEIR_COMPUTE_MODEL_LAYERS_TRANSFORMER_WRITER_H

#include "compute-model/layers/linear-kernels.h"
#include "compute-model/layers/segment-writer.h"
#include "compute-model/models/transformer.h"
#include "compute-model/plan/rank-shape.h"

#include <cstdint>
#include <string>

namespace weir
{

/** One rank's part of an MLP. */
struct MlpShape
{
    LinearShape fc1;
    LinearShape fc2;
    std::string activation; //!< name of the activation between them
    bool isShared{false};   //!< of experts: its biases have no gradient kernels of their own
};

/**
 * Writes segments of one rank of a transformer, with the operations of a layer other than GEMMs and
 * attention by the plan's KernelFusion.
 *
 * Eager PyTorch has single kernels for LayerNorm, GELU, SiLU, dropout and additions, and adds
 * biases within GEMMs. RMSNorm takes eight (x.float(), pow, mean, addition of eps, rsqrt,
 * multiplication, cast, multiplication by the weight: torchtitan's and Llama's RMSNorm), of which
 * the addition of eps and rsqrt are left out, since they have one element per token. Rotary
 * embedding is a complex multiplication in fp32 between two casts, SwiGLU is SiLU and a
 * multiplication, and keys and values of grouped-query attention are repeated for every query head.
 */
class TransformerWriter : public SegmentWriter
{
  public:
    /** All arguments must outlive it. */
    TransformerWriter(KernelTable& kernels, const Transformer& model, const ParallelPlan& plan);

    const Transformer& Model() const
    {
        return m_model;
    }

    const RankShape& Shape() const
    {
        return m_shape;
    }

    /** Size of the rank's activations in norms, dropouts and residuals. */
    MatrixSize Hidden() const
    {
        return {m_shape.normTokens, m_shape.hidden};
    }

    /** Size of the rank's activations between these. */
    MatrixSize TokensByHidden() const
    {
        return {m_shape.tokens, m_shape.hidden};
    }

    /** A linear layer over the rank's tokens, with a bias if the model has biases. */
    LinearShape Linear(const char* name, uint64_t in, uint64_t out, GatheredOperand gathered) const;

    void Norm(const std::string& name);

    /**
     * The norm's gradients are ready when it ends.
     * @param addsResidual adds the residual's gradient to the input's
     */
    void NormBackward(const std::string& name, bool addsResidual);

    /** Rotary embedding of queries and keys, forward or backward. */
    void Rotary(const std::string& name);

    /**
     * The activation between two GEMMs, with an output of @p size: GELU, or SwiGLU as one kernel,
     * in eager PyTorch as SiLU and the multiplication with the gate. Backward, eager PyTorch has
     * the gradients of gated value and gate, and that of SiLU.
     */
    void Activation(const std::string& name, const MatrixSize& size, bool isBackward);

    /** Name of a layer's activation. */
    std::string ActivationName() const;

    /** Adds a block's output, with its bias and dropout, to the residual. */
    void BiasDropoutAdd(const std::string& name);

    /** The gradient of a bias as a separate kernel. */
    void SumBias(const std::string& name, const MatrixSize& size);

    void MlpForward(const MlpShape& mlp);

    /** @param defersWeightGradients leaves them to MlpWeights */
    void MlpBackward(const MlpShape& mlp, bool defersWeightGradients);
    void MlpWeights(const MlpShape& mlp);

  private:
    bool IsEagerRms() const;
    void EagerRmsNorm(const std::string& name);
    void EagerRmsNormBackward(const std::string& name);
    void NormSums(const std::string& name, uint32_t reads);
    void SumOverRow(const std::string& name);

    const Transformer& m_model;
    const RankShape m_shape;
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_TRANSFORMER_WRITER_H
