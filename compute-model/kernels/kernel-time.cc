// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/kernel-time.h"

#include "fabric/enum-names.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace weir
{

namespace
{

/** Bytes per SM and clock at a row length; infinite where instructions are not the limit. */
double
InstructionRate(const std::vector<RowRate>& rates, double rowBytes)
{
    if (rates.empty())
    {
        return std::numeric_limits<double>::infinity();
    }
    const auto above = std::find_if(
        rates.begin(), rates.end(), [&](const RowRate& rate) { return rate.rowBytes >= rowBytes; });
    if (above == rates.begin())
    {
        return rates.front().bytesPerSmPerClock;
    }
    if (above == rates.end())
    {
        return rates.back().bytesPerSmPerClock;
    }
    const RowRate& low = *(above - 1);
    const double share =
        std::log(rowBytes / low.rowBytes) / std::log(above->rowBytes / low.rowBytes);
    return low.bytesPerSmPerClock *
           std::pow(above->bytesPerSmPerClock / low.bytesPerSmPerClock, share);
}

/** Whether bytes and row length lie within the measured range of the kernel. */
bool
IsMeasured(const MeasuredShapes& measured, MemoryKernel kernel, Bytes bytes, Bytes rowBytes)
{
    const auto index = static_cast<std::size_t>(kernel);
    if (index >= measured.memory.size() || !measured.memory[index])
    {
        return false;
    }
    const MeasuredMemory& box = *measured.memory[index];
    return box.bytes.Contains(bytes.ToDouble()) &&
           (!box.row || box.row->Contains(rowBytes.ToDouble()));
}

} // namespace

const char*
ToString(MemoryKernel kernel)
{
    static constexpr EnumName<MemoryKernel> NAMES[]{
        {MemoryKernel::LayerNormForward, "layerNormForward"},
        {MemoryKernel::LayerNormBackward, "layerNormBackward"},
        {MemoryKernel::RmsNormForward, "rmsNormForward"},
        {MemoryKernel::RmsNormBackward, "rmsNormBackward"},
        {MemoryKernel::SoftmaxForward, "softmaxForward"},
        {MemoryKernel::SoftmaxBackward, "softmaxBackward"},
        {MemoryKernel::Dropout, "dropout"},
        {MemoryKernel::BiasGelu, "biasGelu"},
        {MemoryKernel::SwiGlu, "swiGlu"},
        {MemoryKernel::BiasDropoutAdd, "biasDropoutAdd"},
        {MemoryKernel::Elementwise, "elementwise"},
        {MemoryKernel::Rotary, "rotary"},
        {MemoryKernel::EmbeddingForward, "embeddingForward"},
        {MemoryKernel::EmbeddingBackward, "embeddingBackward"},
        {MemoryKernel::CrossEntropyForward, "crossEntropyForward"},
        {MemoryKernel::CrossEntropyBackward, "crossEntropyBackward"},
        {MemoryKernel::AdamFused, "adamFused"},
        {MemoryKernel::GradientNorm, "gradientNorm"},
        {MemoryKernel::Fill, "fill"},
        {MemoryKernel::Reduction, "reduction"},
        {MemoryKernel::CastToFp32, "castToFp32"},
    };
    return NameIn(NAMES, kernel);
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
KernelTimer::Memory(MemoryKernel kernel, Bytes bytes, Bytes rowBytes) const
{
    const Gpu& gpu = *m_gpu;
    if (bytes < Bytes() || rowBytes < Bytes())
    {
        throw std::invalid_argument("MemoryKernelTime: bytes must not be negative");
    }
    constexpr double KIB = 1024;
    const MemoryKernelCalibration& figures =
        gpu.kernels.memory.at(static_cast<std::size_t>(kernel));
    const double row = rowBytes.ToDouble();
    const double rate = std::min(gpu.memoryRate.ToBytesPerSecond() * figures.efficiency,
                                 InstructionRate(figures.rates, row) * gpu.sms * gpu.boostClockHz);
    const double latency =
        figures.latency.ToSeconds() + figures.rowLatencyPerKiB.ToSeconds() * row / KIB;
    const double seconds = figures.floor.ToSeconds() + std::hypot(bytes.ToDouble() / rate, latency);
    return {Time::Seconds(seconds),
            Flops(),
            bytes,
            ProvenanceOf(gpu, IsMeasured(gpu.kernels.measured, kernel, bytes, rowBytes)),
            {0, 0, 1}};
}

double
OverlapSlowdown(const OverlapTraits& kernel, const CommunicationLoad& load, uint32_t gpuSms)
{
    if (gpuSms == 0)
    {
        throw std::invalid_argument("OverlapSlowdown: a GPU without SMs");
    }
    const uint32_t held = std::min(load.sms, gpuSms / 2);
    const double crowding = static_cast<double>(held) / (gpuSms - held);
    return 1 + kernel.smShare * crowding + (held == 0 ? 0 : kernel.displaced) +
           kernel.memoryShare * load.memoryTraffic;
}

} // namespace weir
