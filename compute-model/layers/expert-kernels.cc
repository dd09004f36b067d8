// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/layer-kernels.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace weir
{
namespace
{

constexpr uint64_t TILE_ROWS = 128; // tile rows of a grouped GEMM: no tile spans two experts

/** Rows per expert of equal GEMMs that have as many tiles in total as GEMMs of @p rows rows. */
uint64_t
EqualRows(const std::vector<uint64_t>& rows)
{
    if (std::adjacent_find(rows.begin(), rows.end(), std::not_equal_to<>()) == rows.end())
    {
        return rows.front();
    }
    uint64_t tiles = 0;
    for (const uint64_t count : rows)
    {
        tiles += (count + TILE_ROWS - 1) / TILE_ROWS;
    }
    return (tiles * TILE_ROWS + rows.size() - 1) / rows.size();
}

constexpr double COUNT = 8; // bytes of a token count (int64)

/** Writes the kernels of one mixture of experts; each method writes one part. */
class ExpertWriter
{
  public:
    explicit ExpertWriter(TransformerWriter& writer)
        : m_model(writer.Model()),
          m_plan(writer.Plan()),
          m_shape(m_model, m_plan),
          m_writer(writer)
    {
        const uint64_t hidden = m_model.hidden;
        const uint64_t ffn = m_model.moe.sharedFfn / m_plan.tensor;
        const uint64_t inner = m_model.MlpInputs() * ffn;
        m_shared = {writer.Linear("shared FC1", hidden, inner, GatheredOperand::Input),
                    writer.Linear("shared FC2", ffn, hidden, GatheredOperand::OutputGradient),
                    "shared activation",
                    true};
        m_shared.fc1.splits = false;
        m_shared.fc2.splits = false;
    }

    /**
     * The forward pass up to the returned rows: everything whose results the backward pass reads.
     */
    void RowsOfExperts()
    {
        if (HasShared())
        {
            m_writer.MlpForward(m_shared);
        }
        RouterForward();
        Permute("permute");
        m_writer.WaitFor(Dispatch("dispatch all-to-all"));
        GatherRows("dispatch all-gather");
        SortByExpert("sort by expert");
        Grouped("experts FC1", m_shape.inner, m_model.hidden, GemmLayout::Tn);
        m_writer.Activation("experts activation", {m_shape.received, m_shape.ffn}, false);
        Grouped("experts FC2", m_model.hidden, m_shape.ffn, GemmLayout::Tn);
        SortByExpert("sort by rank");
        ReduceRows("combine reduce-scatter");
        m_writer.WaitFor(Return("combine all-to-all"));
    }

    void Forward()
    {
        RowsOfExperts();
        Rows("probabilities", m_shape.sent, 2);
        Unpermute("unpermute");
        if (HasShared())
        {
            Rows("shared add", m_shape.tokens, 3);
        }
    }

    /** @param defersWeightGradients leaves the gradients of experts' weights to Weights */
    void Backward(bool defersWeightGradients)
    {
        Permute("unpermute backward");
        Rows("probabilities backward", m_shape.sent, 3);
        m_writer.WaitFor(Dispatch("combine backward all-to-all"));
        GatherRows("combine backward all-gather");
        SortByExpert("sort by rank backward");
        Grouped("experts FC2 input gradient", m_shape.ffn, m_model.hidden, GemmLayout::Nn);
        if (!defersWeightGradients)
        {
            SecondWeights();
        }
        m_writer.Activation("experts activation", {m_shape.received, m_shape.ffn}, true);
        Grouped("experts FC1 input gradient", m_model.hidden, m_shape.inner, GemmLayout::Nn);
        if (!defersWeightGradients)
        {
            FirstWeights();
        }
        SortByExpert("sort by expert backward");
        ReduceRows("dispatch backward reduce-scatter");
        m_writer.WaitFor(Return("dispatch backward all-to-all"));
        Unpermute("permute backward");
        RouterBackward();
        if (HasShared())
        {
            m_writer.MlpBackward(m_shared, defersWeightGradients);
            Rows("shared gradient add", m_shape.tokens, 3);
        }
    }

    void Weights()
    {
        SecondWeights();
        FirstWeights();
        if (HasShared())
        {
            m_writer.MlpWeights(m_shared);
        }
    }

  private:
    void SecondWeights()
    {
        GroupedWeights("experts FC2 weight gradient", m_model.hidden, m_shape.ffn);
    }

    /** Gradients of the first GEMM's weights, after which the experts' gradients are final. */
    void FirstWeights()
    {
        GroupedWeights("experts FC1 weight gradient", m_shape.inner, m_model.hidden);
        m_writer.ExpertGradientsReady(m_shape.parameters);
    }

    bool HasShared() const
    {
        return m_model.moe.sharedFfn > 0;
    }

    uint64_t Experts() const
    {
        return m_model.moe.experts;
    }

    /** An elementwise pass over rows of the model's width. */
    void Rows(const std::string& name, uint64_t rows, double operands)
    {
        m_writer.Elementwise(name, {rows, m_model.hidden}, operands);
    }

    void OverRouting(const std::string& name, MemoryKernel kernel, double bytes)
    {
        m_writer.Memory(name, kernel, {m_shape.tokens, Experts()}, bytes);
    }

    GemmShape RouterGemm(uint64_t m, uint64_t n, uint64_t k, GemmLayout layout) const
    {
        return {m, n, k, 1, ActivationPrecision(m_plan.precision), layout};
    }

    void RouterForward()
    {
        m_writer.Gemm("router",
                      RouterGemm(m_shape.tokens, Experts(), m_model.hidden, GemmLayout::Tn));
        OverRouting("router softmax", MemoryKernel::SoftmaxForward, 2 * FP32_BYTES);
        OverRouting("router top-k", MemoryKernel::Reduction, FP32_BYTES);
        OverRouting("routing map", MemoryKernel::Elementwise, FP32_BYTES + 1);
        if (m_plan.expertLoad.capacityFactor > 0)
        {
            OverRouting("capacity", MemoryKernel::Elementwise, FP32_BYTES + 1);
            return;
        }
        OverRouting("tokens per expert", MemoryKernel::Reduction, 1);
        const uint32_t ranks = m_plan.expert * m_plan.ExpertTensor();
        const Bytes counts(static_cast<int64_t>(COUNT) * static_cast<int64_t>(Experts() * ranks));
        m_writer.WaitFor(m_writer.CommunicateIn(
            ExpertGroup(), "token counts all-gather", CollectiveOp::AllGather, counts));
        m_writer.SynchronizeHost();
    }

    void RouterBackward()
    {
        OverRouting("routing map backward", MemoryKernel::Elementwise, FP32_BYTES + 1);
        OverRouting("router softmax backward", MemoryKernel::SoftmaxBackward, 3 * FP32_BYTES);
        m_writer.Gemm("router input gradient",
                      RouterGemm(m_shape.tokens, m_model.hidden, Experts(), GemmLayout::Nn));
        GemmShape weights = RouterGemm(Experts(), m_model.hidden, m_shape.tokens, GemmLayout::Nt);
        WriteGradientGemm(m_writer, "router weight gradient", weights);
        m_writer.GradientsReady(static_cast<double>(Experts()) * m_model.hidden);
        Rows("router gradient add", m_shape.tokens, 3);
    }

    /** Copies each token's row to the slots of its experts. */
    void Permute(const std::string& name)
    {
        CopyRows(name, m_shape.sent);
    }

    void CopyRows(const std::string& name, uint64_t rows)
    {
        m_writer.Memory(name,
                        MemoryKernel::EmbeddingForward,
                        {rows, m_model.hidden},
                        2 * m_writer.ElementBytes());
    }

    /** Sums the rows of each token. */
    void Unpermute(const std::string& name)
    {
        const double perRow = 1 + static_cast<double>(m_shape.tokens) /
                                      static_cast<double>(std::max<uint64_t>(1, m_shape.sent));
        Rows(name, m_shape.sent, perRow);
    }

    SegmentGroup ExpertGroup() const
    {
        return {GroupSlot::Expert, m_plan.expert, TimeCategory::Expert};
    }

    SegmentGroup ExpertTensorGroup() const
    {
        return {GroupSlot::ExpertTensor, m_plan.ExpertTensor(), TimeCategory::Expert};
    }

    /** Sends rows to the ranks of their experts. */
    int32_t Dispatch(const std::string& name)
    {
        return m_writer.ExchangeIn(
            ExpertGroup(), name, m_shape.exchanged, IsBalanced() ? EVEN_PARTS : TO_EXPERTS);
    }

    /** Returns rows to the ranks of their tokens. */
    int32_t Return(const std::string& name)
    {
        return m_writer.ExchangeIn(
            ExpertGroup(), name, m_shape.returned, IsBalanced() ? EVEN_PARTS : FROM_EXPERTS);
    }

    bool IsBalanced() const
    {
        return m_plan.expertLoad.IsBalanced();
    }

    void GatherRows(const std::string& name)
    {
        m_writer.WaitFor(m_writer.CommunicateIn(
            ExpertTensorGroup(), name, CollectiveOp::AllGather, m_shape.gathered));
    }

    void ReduceRows(const std::string& name)
    {
        m_writer.WaitFor(m_writer.CommunicateIn(
            ExpertTensorGroup(), name, CollectiveOp::ReduceScatter, m_shape.gathered));
    }

    /** Sorts rows from rank order into expert order; not needed with one expert or one rank. */
    void SortByExpert(const std::string& name)
    {
        const bool isSorted =
            m_shape.expertRows.size() == 1 || m_plan.expert * m_plan.ExpertTensor() == 1;
        if (!isSorted)
        {
            CopyRows(name, m_shape.received);
        }
    }

    /**
     * Writes [rows of an expert, inner] times [inner, columns] for all experts of a rank in one
     * kernel. In fp8 the rows are cast first (WriteFp8Cast), for this GEMM and the weight gradient.
     * Casts of weights are omitted (Transformer Engine's GroupedLinear does them in a step's first
     * micro-batch).
     */
    void Grouped(const std::string& name, uint64_t columns, uint64_t inner, GemmLayout layout)
    {
        const bool isForward = layout == GemmLayout::Tn;
        const Fp8Use use = isForward ? Fp8Use::NowAndBackward : Fp8Use::Twice;
        WriteFp8Cast(m_writer, name + " rows", {m_shape.received, inner}, use);
        const uint64_t rows = std::max<uint64_t>(1, EqualRows(m_shape.expertRows));
        m_writer.Gemm(name,
                      {rows, columns, inner, m_shape.expertRows.size(), m_plan.precision, layout});
    }

    /** The gradients of all matrices, each summed over the rows of its expert. */
    void GroupedWeights(const std::string& name, uint64_t rows, uint64_t columns)
    {
        const uint64_t experts = m_shape.expertRows.size();
        const uint64_t inner = std::max<uint64_t>(1, m_shape.received / experts);
        WriteFp8Recast(m_writer, name + " rows", {m_shape.received, columns});
        WriteGradientGemm(
            m_writer, name, {rows, columns, inner, experts, m_plan.precision, GemmLayout::Nt});
    }

    const Transformer& m_model;
    const ParallelPlan& m_plan;
    ExpertShape m_shape;
    TransformerWriter& m_writer;
    MlpShape m_shared;
};

} // namespace

void
WriteExperts(TransformerWriter& writer, LayerPass pass)
{
    ExpertWriter experts(writer);
    switch (pass)
    {
    case LayerPass::Forward:
        return experts.Forward();
    case LayerPass::Recompute:
        return experts.RowsOfExperts();
    case LayerPass::Backward:
    case LayerPass::BackwardInput:
        return experts.Backward(pass == LayerPass::BackwardInput);
    case LayerPass::BackwardWeights:
        return experts.Weights();
    }
}

} // namespace weir
