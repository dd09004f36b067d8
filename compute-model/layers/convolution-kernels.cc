// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/convolution-kernels.h"

#include "compute-model/kernels/kernel-time.h"
#include "compute-model/layers/linear-kernels.h"
#include "compute-model/models/precision.h"

#include <numeric>
#include <string>

namespace weir
{

namespace
{

/** One layer's convolution over a micro-batch. */
class Convolution
{
  public:
    Convolution(SegmentWriter& writer, const TableLayer& layer, Precision precision)
        : m_writer(writer),
          m_layer(layer),
          m_samples(writer.Plan().microBatch),
          m_precision(precision),
          m_element(BytesOf(precision)),
          m_window(uint64_t{layer.window.size} * layer.window.size),
          m_in(layer.in.channels / layer.groups),
          m_out(layer.out.channels / layer.groups)
    {
    }

    void Forward() const
    {
        const std::string& name = m_layer.name;
        if (IsOverPlanes())
        {
            m_writer.Gemm(name, OverPlanes(m_out, m_in));
            return;
        }
        ToChannelsLast(name + " input layout", m_layer.in);
        const uint64_t pixels = m_samples * m_layer.out.Pixels();
        m_writer.Gemm(name, OverImages(pixels, m_out, m_in * m_window, ReadInputs()));
        ToChannelsLast(name + " output layout", m_layer.out);
    }

    void InputGradient() const
    {
        const std::string name = m_layer.name + " input gradient";
        if (IsOverPlanes())
        {
            m_writer.Gemm(name, OverPlanes(m_in, m_out));
            return;
        }
        ToChannelsLast(name + " output layout", m_layer.out);
        if (m_window == 1)
        {
            if (m_layer.window.stride > 1)
            {
                m_writer.Memory(name + " zeros",
                                MemoryKernel::Fill,
                                {m_samples, m_layer.in.Elements()},
                                m_element);
            }
            const uint64_t pixels = m_samples * m_layer.out.Pixels();
            m_writer.Gemm(name, OverImages(pixels, m_in, m_out, ReadInputs()));
        }
        else
        {
            const uint64_t pixels = m_samples * m_layer.in.Pixels();
            GemmShape gemm = OverImages(pixels, m_in, m_out * m_window, Inputs());
            gemm.images.useful = static_cast<double>(m_layer.out.Pixels()) /
                                 static_cast<double>(m_layer.in.Pixels());
            m_writer.Gemm(name, gemm);
        }
        ToChannelsLast(name + " input layout", m_layer.in);
    }

    void WeightGradient() const
    {
        const std::string name = m_layer.name + " weight gradient";
        const bool isOverPlanes = IsOverPlanes();
        if (!isOverPlanes)
        {
            ToChannelsLast(name + " input layout", m_layer.in);
            ToChannelsLast(name + " output layout", m_layer.out);
        }
        GemmShape gemm = OverImages(m_out,
                                    m_in * m_window,
                                    m_samples * m_layer.out.Pixels(),
                                    isOverPlanes ? Inputs() : ReadInputs());
        gemm.images.kind = GemmOperands::Gradients;
        gemm.layout = GemmLayout::Nt;
        if (isOverPlanes)
        {
            gemm.images.contiguous = m_layer.out.Pixels();
        }
        WriteGradientGemm(m_writer, name, gemm);
    }

  private:
    /** Whether each sample is a GEMM over its planes without layout conversion. */
    bool IsOverPlanes() const
    {
        return m_window == 1 && m_layer.window.stride == 1 && m_layer.window.padding == 0 &&
               m_layer.groups == 1 && m_layer.in.Pixels() * m_element % WORD_BYTES == 0;
    }

    double Inputs() const
    {
        return static_cast<double>(m_samples) * static_cast<double>(m_layer.in.Elements());
    }

    double Outputs() const
    {
        return static_cast<double>(m_samples) * static_cast<double>(m_layer.out.Elements());
    }

    /** Elements of the input that windows read; strided 1 x 1 windows skip some. */
    double ReadInputs() const
    {
        return m_window == 1 ? Outputs() / m_layer.out.channels * m_layer.in.channels : Inputs();
    }

    double Weights() const
    {
        return static_cast<double>(m_layer.out.channels) * static_cast<double>(m_in * m_window);
    }

    /** One GEMM per group of channels, which reads @p inputs elements of the image. */
    GemmShape OverImages(uint64_t m, uint64_t n, uint64_t k, double inputs) const
    {
        GemmShape gemm{m, n, k, m_layer.groups, m_precision, GemmLayout::Nn};
        gemm.images.kind = GemmOperands::Images;
        gemm.images.elements = inputs + Outputs() + Weights();
        gemm.images.contiguous = std::gcd(m_in, m_out);
        return gemm;
    }

    /** One GEMM per sample. */
    GemmShape OverPlanes(uint64_t m, uint64_t k) const
    {
        GemmShape gemm = OverImages(m, m_layer.in.Pixels(), k, Inputs());
        gemm.batch = m_samples;
        gemm.images.contiguous = m_layer.in.Pixels();
        return gemm;
    }

    /** Converts an image from one layout into the other; fp32 needs no conversion. */
    void ToChannelsLast(const std::string& name, const SampleShape& image) const
    {
        if (m_precision != Precision::Fp32)
        {
            m_writer.Memory(
                name, MemoryKernel::Elementwise, {m_samples, image.Elements()}, 2.0 * m_element);
        }
    }

    SegmentWriter& m_writer;
    const TableLayer& m_layer;
    uint64_t m_samples;
    Precision m_precision;
    uint64_t m_element; //!< bytes
    uint64_t m_window;  //!< pixels
    uint64_t m_in;      //!< channels of a group
    uint64_t m_out;
};

} // namespace

void
WriteConvolutionForward(SegmentWriter& writer, const TableLayer& layer, Precision precision)
{
    Convolution(writer, layer, precision).Forward();
}

void
WriteConvolutionBackward(SegmentWriter& writer,
                         const TableLayer& layer,
                         Precision precision,
                         bool isFirst)
{
    const Convolution convolution(writer, layer, precision);
    if (!isFirst)
    {
        convolution.InputGradient();
    }
    convolution.WeightGradient();
}

} // namespace weir
