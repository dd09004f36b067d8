// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/step-executor-state.h"

#include <algorithm>

namespace weir
{

namespace
{

constexpr auto COMPUTE = static_cast<std::size_t>(StreamKind::Compute);

} // namespace

OverlapTraits
TraitsOf(const StepGraph& graph, const StepOp& op)
{
    OverlapTraits sum;
    double time = 0;
    for (uint32_t i = 0; i < op.kernelCount; i++)
    {
        const KernelRecord& kernel = graph.kernels[op.firstKernel + i];
        const double seconds = kernel.duration.ToSeconds();
        time += seconds;
        sum.smShare += static_cast<float>(kernel.overlap.smShare * seconds);
        sum.displaced += static_cast<float>(kernel.overlap.displaced * seconds);
        sum.memoryShare += static_cast<float>(kernel.overlap.memoryShare * seconds);
    }
    if (!(time > 0))
    {
        return {1, 0, 0};
    }
    const auto mean = [&](float part) { return static_cast<float>(part / time); };
    return {mean(sum.smShare), mean(sum.displaced), mean(sum.memoryShare)};
}

/** How much longer the kernels at the head of the compute stream take beside what is held. */
double
StepExecutor::State::Slowdown(uint32_t actor) const
{
    const ActorState& state = actors[actor];
    if (state.heldSms == 0 || spec.overlap.kind == OverlapKind::Off)
    {
        return 1;
    }
    if (spec.overlap.kind == OverlapKind::Constant)
    {
        return spec.overlap.factor;
    }
    constexpr double PER_MILLE = 1e-3;
    const uint32_t at = OpsOf(actor, COMPUTE).firstBrief + state.streams[COMPUTE].position;
    return OverlapSlowdown(traits[at], {state.heldSms, state.heldPerMille * PER_MILLE}, spec.sms);
}

/** What @p communication takes of the GPU while it runs is taken, or given back. */
void
StepExecutor::State::Hold(uint32_t actor, const StepOp& communication, bool isStart, Time now)
{
    if (spec.sms == 0 || communication.sms == 0)
    {
        return;
    }
    ActorState& state = actors[actor];
    const double before = state.isComputing ? Slowdown(actor) : 1;
    const int32_t sign = isStart ? 1 : -1;
    state.heldSms = static_cast<uint16_t>(state.heldSms + sign * communication.sms);
    state.heldPerMille =
        static_cast<uint16_t>(state.heldPerMille + sign * communication.memoryPerMille);
    if (!state.isComputing)
    {
        return;
    }
    if (state.kernelEnd > now)
    {
        state.kernelEnd = now + (state.kernelEnd - now) * (Slowdown(actor) / before);
    }
    completions.Move(std::max(state.kernelEnd, std::max(state.launchEnd, now)),
                     static_cast<uint32_t>(actor * STREAM_COUNT + COMPUTE));
}

} // namespace weir
