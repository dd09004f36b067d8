// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/step-load.h"

#include "compute-model/kernels/kernel-time.h"
#include "compute-model/layers/kernel-table.h"
#include "compute-model/layers/step-segments.h"

#include <algorithm>

namespace weir
{

double
StepLoad(const Transformer& model, const ParallelPlan& plan, const Gpu& gpu)
{
    KernelRecords records;
    const KernelTimer timer(gpu, ClockRegime::Burst);
    KernelTable kernels(records, timer, plan.host.kernel);
    const StepSegments segments(kernels, model, plan);
    double flops = 0;
    Time busy;
    Time host;
    const uint32_t withExperts = model.ExpertLayersOf(0, model.layers);
    for (const bool hasExperts : {false, true})
    {
        const uint32_t layers = hasExperts ? withExperts : model.layers - withExperts;
        for (const SegmentSequence* sequence : {&segments.Forward(hasExperts),
                                                &segments.Recompute(hasExperts),
                                                &segments.Backward(hasExperts)})
        {
            for (const Segment& segment : *sequence)
            {
                busy += segment.kernels.duration * layers;
                host += segment.kernels.host * layers;
                for (uint32_t i = 0; i < segment.kernels.count; i++)
                {
                    flops += records.kernels[segment.kernels.first + i].flops.ToDouble() * layers;
                }
            }
        }
    }
    const double seconds = std::max(busy, host).ToSeconds();
    const double peak = gpu.Peak(plan.precision).ToFlopsPerSecond();
    return seconds > 0 ? std::min(1.0, flops / (peak * seconds) / gpu.kernels.fullLoadUtilisation)
                       : 0;
}

Gpu
UnderLoad(const Gpu& gpu, double load)
{
    Gpu warm = gpu;
    warm.sustainedClockHz =
        gpu.burstTensorClockHz - (gpu.burstTensorClockHz - gpu.sustainedClockHz) * load;
    return warm;
}

} // namespace weir
