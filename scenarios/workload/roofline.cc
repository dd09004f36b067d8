// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/workload/roofline.h"

#include <algorithm>

namespace weir
{

void
UseRoofline(StepGraph& graph, const Gpu& gpu, Precision precision)
{
    const double peak = gpu.DatasheetPeak(precision).ToFlopsPerSecond();
    const double rate = gpu.memoryRate.ToBytesPerSecond();
    for (StepProgram& program : graph.programs)
    {
        for (auto& ops : program.streams)
        {
            for (StepOp& op : ops)
            {
                Time sum;
                for (uint32_t i = 0; i < op.kernelCount; i++)
                {
                    KernelRecord& kernel = graph.kernels[op.firstKernel + i];
                    kernel.duration = Time::Seconds(
                        std::max(kernel.flops.ToDouble() / peak, kernel.bytes.ToDouble() / rate));
                    sum += kernel.duration;
                }
                op.duration = op.kernelCount > 0 ? sum : op.duration;
            }
        }
    }
}

} // namespace weir
