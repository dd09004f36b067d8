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

LoadMeter::LoadMeter(const Gpu& gpu)
    : m_gpu(&gpu)
{
}

void
LoadMeter::Add(const KernelRecord& kernel, uint32_t times)
{
    m_limited += TensorPower(*m_gpu, kernel.tensorBusy) * kernel.duration.ToSeconds() * times;
}

double
LoadMeter::Load(Time total) const
{
    return total > Time() ? std::min(1.0, m_limited / total.ToSeconds()) : 0;
}

double
StepLoad(const Transformer& model, const ParallelPlan& plan, const Gpu& gpu)
{
    KernelRecords records;
    const KernelTimer timer(gpu);
    KernelTable kernels(records, timer, plan.host.kernel);
    const StepSegments segments(kernels, model, plan);
    LoadMeter meter(gpu);
    Time busy;
    Time host;
    const uint32_t withExperts = model.ExpertLayersOf(0, model.layers);
    for (const bool hasExperts : {false, true})
    {
        const uint32_t layers = hasExperts ? withExperts : model.layers - withExperts;
        const LayerSegments& layer = segments.Layer(hasExperts);
        for (const SegmentSequence* sequence : {&layer.forward, &layer.recompute, &layer.backward})
        {
            for (const Segment& segment : *sequence)
            {
                busy += segment.kernels.duration * layers;
                host += segment.kernels.host * layers;
                for (uint32_t i = 0; i < segment.kernels.count; i++)
                {
                    meter.Add(records.kernels[segment.kernels.first + i], layers);
                }
            }
        }
    }
    return meter.Load(std::max(busy, host));
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
