// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/step-load.h"

#include "compute-model/kernels/kernel-time.h"
#include "compute-model/kernels/tensor-clock.h"
#include "compute-model/layers/kernel-table.h"
#include "compute-model/layers/step-segments.h"

#include <algorithm>
#include <cmath>

namespace weir
{

double
LoadOfPasses(const std::vector<PassCount>& passes, const KernelRecords& records, const Gpu& gpu)
{
    double limited = 0; // seconds, weighted by TensorPower
    Time busy;
    Time host;
    for (const auto& [pass, times] : passes)
    {
        for (const Segment& segment : *pass)
        {
            busy += segment.kernels.duration * times;
            host += segment.kernels.host * times;
            for (uint32_t i = 0; i < segment.kernels.count; i++)
            {
                const KernelRecord& kernel = records.kernels[segment.kernels.first + i];
                limited +=
                    TensorPower(gpu, kernel.tensorBusy) * kernel.duration.ToSeconds() * times;
            }
        }
    }
    const Time total = std::max(busy, host);
    return total > Time() ? std::min(1.0, limited / total.ToSeconds()) : 0;
}

double
StepLoad(const Transformer& model, const ParallelPlan& plan, const Gpu& gpu)
{
    KernelRecords records;
    KernelTable kernels(records, KernelTimer(gpu), plan.host.kernel);
    const StepSegments segments(kernels, model, plan);
    const uint32_t withExperts = model.ExpertLayersOf(0, model.layers);
    std::vector<PassCount> passes;
    for (const bool hasExperts : {false, true})
    {
        const uint32_t layers = hasExperts ? withExperts : model.layers - withExperts;
        const LayerSegments& layer = segments.Layer(hasExperts);
        for (const SegmentSequence* pass : {&layer.forward, &layer.recompute, &layer.backward})
        {
            passes.emplace_back(pass, layers);
        }
    }
    return LoadOfPasses(passes, records, gpu);
}

Gpu
UnderLoad(const Gpu& gpu, double load)
{
    Gpu warm = gpu;
    warm.sustainedClockHz =
        load > 0 ? std::min(gpu.burstTensorClockHz, gpu.sustainedClockHz / std::cbrt(load))
                 : gpu.burstTensorClockHz;
    return warm;
}

} // namespace weir
