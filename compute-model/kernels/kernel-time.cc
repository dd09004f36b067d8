// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/kernel-time.h"

#include "compute-model/kernels/attention-time.h"
#include "compute-model/kernels/gemm-time.h"
#include "compute-model/kernels/memory-kernel-time.h"

#include <stdexcept>

namespace weir
{

const char*
ToString(MemoryKernel kernel)
{
    switch (kernel)
    {
    case MemoryKernel::LayerNormForward:
        return "layerNormForward";
    case MemoryKernel::LayerNormBackward:
        return "layerNormBackward";
    case MemoryKernel::RmsNormForward:
        return "rmsNormForward";
    case MemoryKernel::RmsNormBackward:
        return "rmsNormBackward";
    case MemoryKernel::SoftmaxForward:
        return "softmaxForward";
    case MemoryKernel::SoftmaxBackward:
        return "softmaxBackward";
    case MemoryKernel::Dropout:
        return "dropout";
    case MemoryKernel::BiasGelu:
        return "biasGelu";
    case MemoryKernel::SwiGlu:
        return "swiGlu";
    case MemoryKernel::BiasDropoutAdd:
        return "biasDropoutAdd";
    case MemoryKernel::Elementwise:
        return "elementwise";
    case MemoryKernel::Rotary:
        return "rotary";
    case MemoryKernel::EmbeddingForward:
        return "embeddingForward";
    case MemoryKernel::EmbeddingBackward:
        return "embeddingBackward";
    case MemoryKernel::CrossEntropyForward:
        return "crossEntropyForward";
    case MemoryKernel::CrossEntropyBackward:
        return "crossEntropyBackward";
    case MemoryKernel::AdamFused:
        return "adamFused";
    case MemoryKernel::GradientNorm:
        return "gradientNorm";
    case MemoryKernel::Fill:
        return "fill";
    case MemoryKernel::Reduction:
        return "reduction";
    case MemoryKernel::CastToFp32:
        return "castToFp32";
    }
    throw std::invalid_argument("ToString: not a MemoryKernel");
}

KernelTimer::KernelTimer(const Gpu& gpu, ClockRegime regime)
    : m_gpu(&gpu),
      m_regime(regime)
{
    if (gpu.sms == 0 || !(gpu.boostClockHz > 0) || !(gpu.sustainedClockHz > 0))
    {
        throw std::invalid_argument("KernelTimer: GPU '" + gpu.name +
                                    "' needs multiprocessors and clocks above zero");
    }
}

KernelEstimate
KernelTimer::Gemm(const GemmShape& shape) const
{
    return GemmTime(*m_gpu, m_regime, shape);
}

KernelEstimate
KernelTimer::AttentionForward(const AttentionShape& shape) const
{
    return AttentionForwardTime(*m_gpu, m_regime, shape);
}

KernelEstimate
KernelTimer::AttentionBackward(const AttentionShape& shape) const
{
    return AttentionBackwardTime(*m_gpu, m_regime, shape);
}

KernelEstimate
KernelTimer::Memory(MemoryKernel kernel, Bytes bytes, Bytes rowBytes) const
{
    return MemoryKernelTime(*m_gpu, kernel, bytes, rowBytes);
}

Time
KernelTimer::KernelGap() const
{
    return m_gpu->kernels.gap;
}

} // namespace weir
