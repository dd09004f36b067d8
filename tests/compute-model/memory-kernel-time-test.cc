// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/kernel-time.h"

#include "tests/compute-model/measured-kernels.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <utility>

namespace weir
{
namespace
{

TEST(MemoryKernelTime, NoKernelOutrunsMemory)
{
    for (const char* name : {"a100-sxm-40g", "a100-sxm-80g", "h100-sxm", "h800-sxm", "h200-sxm"})
    {
        const Gpu gpu = NamedGpu(name);
        const KernelTimer timer(gpu);
        for (std::size_t i = 0; i < MEMORY_KERNEL_COUNT; i++)
        {
            const auto kernel = static_cast<MemoryKernel>(i);
            Time previous;
            for (int64_t bytes = 1 << 10; bytes <= int64_t{1} << 32; bytes *= 4)
            {
                const Time time = timer.Memory(kernel, Bytes(bytes), Bytes(8192)).time;
                EXPECT_GT(time, Bytes(bytes) / gpu.memoryRate) << ToString(kernel);
                EXPECT_GE(time, previous) << ToString(kernel);
                previous = time;
            }
        }
    }
}

// Elementwise kernels are memory-bound: on GPUs that reach the same fraction of the memory rate,
// large ones scale with the datasheet rates.
TEST(MemoryKernelTime, CarriesByMemoryRate)
{
    const Gpu h200 = NamedGpu("h200-sxm");
    const Gpu h100 = NamedGpu("h100-sxm");
    const Bytes large = Bytes::GiB(4);
    const double ratio = KernelTimer(h100).Memory(MemoryKernel::Elementwise, large).time /
                         KernelTimer(h200).Memory(MemoryKernel::Elementwise, large).time;
    EXPECT_NEAR(ratio, h200.memoryRate / h100.memoryRate, 1e-3);
}

// Random number generation makes dropout instruction-bound: with equal SMs and clocks a faster
// memory does not help.
TEST(MemoryKernelTime, CarriesInstructionsBySmsAndClock)
{
    const Gpu h200 = NamedGpu("h200-sxm");
    Gpu faster = h200;
    faster.memoryRate = h200.memoryRate * 2;
    const Bytes large = Bytes::GiB(4);
    EXPECT_EQ(KernelTimer(faster).Memory(MemoryKernel::Dropout, large).time,
              KernelTimer(h200).Memory(MemoryKernel::Dropout, large).time);
    Gpu wider = h200;
    wider.sms = 2 * h200.sms;
    EXPECT_LT(KernelTimer(wider).Memory(MemoryKernel::Dropout, large).time,
              KernelTimer(h200).Memory(MemoryKernel::Dropout, large).time);
}

// At a measured row length the rate is that of the description; between two row lengths it lies
// between their rates.
TEST(MemoryKernelTime, InterpolatesRowLengths)
{
    const Gpu gpu = NamedGpu("h200-sxm");
    const KernelTimer timer(gpu);
    const auto seconds = [&](int64_t row) {
        return timer.Memory(MemoryKernel::SoftmaxForward, Bytes::GiB(16), Bytes(row))
            .time.ToSeconds();
    };
    const std::vector<RowRate>& rates =
        gpu.kernels.memory[static_cast<std::size_t>(MemoryKernel::SoftmaxForward)].rates;
    ASSERT_GE(rates.size(), 2U);
    const double expected =
        Bytes::GiB(16).ToDouble() / (rates[0].bytesPerSmPerClock * gpu.sms * gpu.boostClockHz);
    EXPECT_NEAR(seconds(static_cast<int64_t>(rates[0].rowBytes)) / expected, 1, 2e-4);
    const double middle = seconds(6000);
    EXPECT_GT(middle, std::min(seconds(4096), seconds(8192)));
    EXPECT_LT(middle, std::max(seconds(4096), seconds(8192)));
}

TEST(MemoryKernelTime, TheClockRegimeDoesNotMatter)
{
    const Gpu gpu = NamedGpu("h200-sxm");
    const Bytes bytes = Bytes::MiB(100);
    EXPECT_EQ(
        KernelTimer(gpu, ClockRegime::Burst).Memory(MemoryKernel::Elementwise, bytes).time,
        KernelTimer(gpu, ClockRegime::Sustained).Memory(MemoryKernel::Elementwise, bytes).time);
}

TEST(MemoryKernelTime, SaysWhereItComesFrom)
{
    const Gpu h200 = NamedGpu("h200-sxm");
    const Gpu a100 = NamedGpu("a100-sxm-80g");
    const auto of = [](const Gpu& gpu, int64_t row) {
        return KernelTimer(gpu)
            .Memory(MemoryKernel::LayerNormForward, Bytes::MiB(64), Bytes(row))
            .provenance;
    };
    EXPECT_EQ(of(h200, 8192), EstimateProvenance::Measured);
    EXPECT_EQ(of(h200, 1 << 20), EstimateProvenance::Extrapolated);
    EXPECT_EQ(of(a100, 8192), EstimateProvenance::Carried);
}

// Copies of large tensors measured by Lin et al. (2024, github.com/owensgroup/ml_perf_model,
// HW_PARAMS): 1391 GB/s on an A100 of 40 GB and 817 GB/s on a V100. PyTorch's other elementwise
// kernels, whose fraction of the memory rate the files of both GPUs contain, are a tenth slower.
TEST(MemoryKernelTime, CarriesCopiesToOlderGpus)
{
    for (const auto& [name, measured] :
         {std::pair("a100-sxm-40g", 1391.0), {"v100-sxm-32g", 817.0}})
    {
        const Gpu gpu = NamedGpu(name);
        const Bytes bytes = Bytes::GiB(1);
        const Time time = KernelTimer(gpu).Memory(MemoryKernel::Elementwise, bytes).time;
        EXPECT_NEAR(bytes.ToDouble() / time.ToSeconds() * 1e-9 / measured, 1, 0.15) << name;
    }
}

TEST(MemoryKernelTime, RefusesNegativeBytes)
{
    const Gpu gpu = NamedGpu("h200-sxm");
    EXPECT_THROW(KernelTimer(gpu).Memory(MemoryKernel::Fill, Bytes(-1)), std::invalid_argument);
}

TEST(KernelTimer, RefusesAGpuWithoutClocks)
{
    const Gpu nothing;
    EXPECT_THROW(KernelTimer{nothing}, std::invalid_argument);
}

} // namespace
} // namespace weir
