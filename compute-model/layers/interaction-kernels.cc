// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/interaction-kernels.h"

#include "compute-model/layers/linear-kernels.h"

namespace weir
{

namespace
{

/** One interaction of one micro-batch. */
class InteractionWriter
{
  public:
    InteractionWriter(SegmentWriter& writer,
                      const InteractionShape& shape,
                      const ParallelPlan& plan)
        : m_writer(writer),
          m_figures(writer.GetGpu().kernels.operators),
          m_shape(shape),
          m_plan(plan),
          m_element(ActivationBytes(plan.precision)),
          m_pairs(shape.vectors * (shape.vectors - 1) / 2)
    {
    }

    void DotForward()
    {
        const std::string& name = m_shape.name;
        if (m_plan.fusion != KernelFusion::Eager)
        {
            Pass(name, In() + Out(), 1);
            return;
        }
        Product(name, m_shape.vectors, m_shape.vectors, m_shape.width, GemmLayout::Tn);
        Pass(name + " triangle", Square() + m_pairs, m_figures.trianglePick);
        Pass(name + " concatenation", Out(), 2);
    }

    void DotBackward()
    {
        const std::string name = m_shape.name + " backward";
        if (m_plan.fusion != KernelFusion::Eager)
        {
            Pass(name, 2 * In() + Out(), 1);
            return;
        }
        Pass(name + " slices", Out(), 2);
        Pass(name + " zero", Square(), 1);
        Pass(name + " triangle", m_pairs, m_figures.trianglePutBytes / m_element);
        Product(name + " left", m_shape.vectors, m_shape.width, m_shape.vectors, GemmLayout::Nn);
        Product(name + " right", m_shape.width, m_shape.vectors, m_shape.vectors, GemmLayout::Nt);
        Pass(name + " sum", In(), 3 * m_figures.transposedSum);
        Pass(name + " first vector", m_shape.width, 3);
    }

    void CrossForward()
    {
        WriteLinearForward(m_writer, Down(), m_plan);
        WriteLinearForward(m_writer, Up(), m_plan);
        if (m_plan.fusion == KernelFusion::Eager)
        {
            Pass(m_shape.name + " product", In(), 3);
            Pass(m_shape.name + " sum", In(), 3);
            return;
        }
        Pass(m_shape.name + " product and sum", In(), 4);
    }

    void CrossBackward()
    {
        const std::string name = m_shape.name + " backward";
        if (m_plan.fusion == KernelFusion::Eager)
        {
            Pass(name + " product", In(), 3);
            Pass(name + " first input product", In(), 3);
            Pass(name + " first input sum", In(), 3);
        }
        else
        {
            Pass(name + " product", In(), 6); // of g, x0, W V x + b and the sum for x0 so far
        }
        m_writer.Memory(
            name + " bias gradient", MemoryKernel::Reduction, m_shape.samples, In(), m_element);
        WriteInputGradient(m_writer, Up(), m_plan);
        WriteWeightGradient(m_writer, Up(), m_plan);
        WriteInputGradient(m_writer, Down(), m_plan);
        WriteWeightGradient(m_writer, Down(), m_plan);
        Pass(name + " sum", In(), 3);
    }

  private:
    /** Elements of a sample. */
    uint64_t In() const
    {
        return m_shape.width * m_shape.vectors;
    }

    uint64_t Out() const
    {
        return m_shape.width + m_pairs;
    }

    uint64_t Square() const
    {
        return m_shape.vectors * m_shape.vectors;
    }

    LinearShape Down() const
    {
        return {m_shape.name + " down",
                m_shape.samples,
                In(),
                m_shape.rank,
                static_cast<double>(In()) * static_cast<double>(m_shape.rank)};
    }

    /** With the bias. */
    LinearShape Up() const
    {
        return {m_shape.name + " up",
                m_shape.samples,
                m_shape.rank,
                In(),
                static_cast<double>(In()) * static_cast<double>(m_shape.rank + 1)};
    }

    void Product(const std::string& name, uint64_t m, uint64_t n, uint64_t k, GemmLayout layout)
    {
        GemmShape gemm;
        gemm.m = m;
        gemm.n = n;
        gemm.k = k;
        gemm.batch = m_shape.samples;
        gemm.layout = layout;
        gemm.precision = m_plan.precision;
        m_writer.Gemm(name, gemm);
    }

    void Pass(const std::string& name, uint64_t elements, double operands)
    {
        m_writer.Memory(
            name, MemoryKernel::Elementwise, m_shape.samples, elements, operands * m_element);
    }

    SegmentWriter& m_writer;
    const OperatorCalibration& m_figures;
    const InteractionShape& m_shape;
    const ParallelPlan& m_plan;
    double m_element; //!< bytes of an activation
    uint64_t m_pairs; //!< of vectors
};

} // namespace

void
WriteDotForward(SegmentWriter& writer, const InteractionShape& shape, const ParallelPlan& plan)
{
    InteractionWriter(writer, shape, plan).DotForward();
}

void
WriteDotBackward(SegmentWriter& writer, const InteractionShape& shape, const ParallelPlan& plan)
{
    InteractionWriter(writer, shape, plan).DotBackward();
}

void
WriteCrossForward(SegmentWriter& writer, const InteractionShape& shape, const ParallelPlan& plan)
{
    InteractionWriter(writer, shape, plan).CrossForward();
}

void
WriteCrossBackward(SegmentWriter& writer, const InteractionShape& shape, const ParallelPlan& plan)
{
    InteractionWriter(writer, shape, plan).CrossBackward();
}

} // namespace weir
