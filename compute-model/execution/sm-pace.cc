// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/sm-pace.h"

#include <algorithm>

namespace weir
{

namespace
{

constexpr double ACCESSES = 3; //!< memory accesses per received byte, as in CallLoad
constexpr double PER_MILLE = 1e-3;

bool
IsReduction(const StepOp& op)
{
    return op.kind == StepOpKind::Collective &&
           (op.collective == CollectiveOp::AllReduce || op.collective == CollectiveOp::Reduce ||
            op.collective == CollectiveOp::ReduceScatter);
}

} // namespace

double
SmPace::Uncontended(const StepOp& communication) const
{
    return (IsReduction(communication) ? reduceBytesPerClock : copyBytesPerClock) * boostClockHz;
}

double
SmPace::Needed(const CallLoad& load) const
{
    if (load.sms == 0)
    {
        return 0;
    }
    return load.memoryPerMille * PER_MILLE * memoryRate.ToBytesPerSecond() / ACCESSES / load.sms;
}

double
SmPace::Left(const StepGraph& graph, const StepOp& compute) const
{
    double seconds = 0;
    double left = 0;
    for (uint32_t i = 0; i < compute.kernelCount; i++)
    {
        const KernelRecord& kernel = graph.kernels[compute.firstKernel + i];
        const double time = kernel.duration.ToSeconds();
        const double share =
            time > 0
                ? std::min(1.0, kernel.bytes.ToDouble() / (time * memoryRate.ToBytesPerSecond()))
                : 0;
        const bool isGemm = kernel.flops.ToDouble() > 0 && kernel.overlap.smShare > 0;
        const double clock = isGemm ? std::min(1.0, tensorClockHz / boostClockHz) : 1;
        left += time * clock * (1 - share * share / 2);
        seconds += time;
    }
    return seconds > 0 ? left / seconds : 1;
}

} // namespace weir
