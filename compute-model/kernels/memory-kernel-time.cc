// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/memory-kernel-time.h"

#include "compute-model/kernels/estimate-provenance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace weir
{

namespace
{

/** Bytes per SM and clock at a row length; infinite where instructions are no limit. */
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

} // namespace

KernelEstimate
MemoryKernelTime(const Gpu& gpu, MemoryKernel kernel, Bytes bytes, Bytes rowBytes)
{
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

} // namespace weir
