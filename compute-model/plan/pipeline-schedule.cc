// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/pipeline-schedule.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace weir
{

namespace
{

void
CheckPosition(const PipelinePosition& position)
{
    if (position.stages == 0 || position.stage >= position.stages || position.microBatches == 0 ||
        position.chunks == 0)
    {
        throw std::invalid_argument("PipelineSchedule: stage " + std::to_string(position.stage) +
                                    " of " + std::to_string(position.stages) + " with " +
                                    std::to_string(position.microBatches) + " micro-batches and " +
                                    std::to_string(position.chunks) + " chunks");
    }
    if (position.kind == PipelineScheduleKind::Interleaved &&
        position.microBatches % position.stages != 0)
    {
        throw std::invalid_argument("PipelineSchedule: " + std::to_string(position.microBatches) +
                                    " micro-batches are not divisible by " +
                                    std::to_string(position.stages) + " stages");
    }
}

/** Appends passes and exchanges; knows which boundaries of the pipeline exist. */
class ScheduleWriter
{
  public:
    explicit ScheduleWriter(const PipelinePosition& position)
        : m_position(position)
    {
    }

    /** The (micro-batch, chunk) of the k-th forward or backward pass of this stage. */
    PipelineStep Pass(PipelineStepKind kind, uint32_t k) const
    {
        PipelineStep step;
        step.kind = kind;
        const uint32_t p = m_position.stages;
        const uint32_t v = m_position.chunks;
        if (v == 1)
        {
            step.microBatch = k;
            return step;
        }
        const uint32_t inGroup = k % (p * v);
        step.microBatch = k / (p * v) * p + k % p;
        step.chunk = kind == PipelineStepKind::Forward ? inGroup / p : v - 1 - inGroup / p;
        return step;
    }

    void Forward(uint32_t k)
    {
        m_steps.push_back(Pass(PipelineStepKind::Forward, k));
    }

    void Backward(uint32_t k)
    {
        m_steps.push_back(Pass(PipelineStepKind::Backward, k));
    }

    /** The output of the k-th forward pass goes to the next stage, unless it was the model's last.
     */
    PipelineTransfer OutputOf(uint32_t k) const
    {
        return AtEnd(Pass(PipelineStepKind::Forward, k));
    }

    /** The input of the k-th forward pass comes from the previous stage, unless it is the model's
     * first. */
    PipelineTransfer InputOf(uint32_t k) const
    {
        return AtBegin(Pass(PipelineStepKind::Forward, k));
    }

    PipelineTransfer OutputGradientOf(uint32_t k) const
    {
        return AtEnd(Pass(PipelineStepKind::Backward, k));
    }

    PipelineTransfer InputGradientOf(uint32_t k) const
    {
        return AtBegin(Pass(PipelineStepKind::Backward, k));
    }

    void Exchange(PipelineTransfer sendForward,
                  PipelineTransfer receiveForward,
                  PipelineTransfer sendBackward,
                  PipelineTransfer receiveBackward)
    {
        if (sendForward.present || receiveForward.present || sendBackward.present ||
            receiveBackward.present)
        {
            PipelineStep step;
            step.kind = PipelineStepKind::Exchange;
            step.sendForward = sendForward;
            step.receiveForward = receiveForward;
            step.sendBackward = sendBackward;
            step.receiveBackward = receiveBackward;
            m_steps.push_back(step);
        }
    }

    std::vector<PipelineStep> Take()
    {
        return std::move(m_steps);
    }

  private:
    /** The transfer before the model chunk of a pass; none before the model's first. */
    PipelineTransfer AtBegin(const PipelineStep& pass) const
    {
        const bool isFirst = m_position.stage == 0 && pass.chunk == 0;
        return isFirst ? PipelineTransfer{} : PipelineTransfer{true, pass.microBatch, pass.chunk};
    }

    /** The transfer behind it; none behind the model's last. */
    PipelineTransfer AtEnd(const PipelineStep& pass) const
    {
        const bool isLast =
            m_position.stage == m_position.stages - 1 && pass.chunk == m_position.chunks - 1;
        return isLast ? PipelineTransfer{} : PipelineTransfer{true, pass.microBatch, pass.chunk};
    }

    PipelinePosition m_position;
    std::vector<PipelineStep> m_steps;
};

/**
 * Megatron-LM's forward_backward_pipelining_without_interleaving; GPipe if all passes are warm-up.
 */
std::vector<PipelineStep>
OneForwardOneBackward(const PipelinePosition& position)
{
    ScheduleWriter writer(position);
    const PipelineTransfer none;
    const uint32_t warmUp = PipelineWarmUp(position);
    const uint32_t remaining = position.microBatches - warmUp;
    for (uint32_t k = 0; k < warmUp; k++)
    {
        writer.Exchange(none, writer.InputOf(k), none, none);
        writer.Forward(k);
        writer.Exchange(writer.OutputOf(k), none, none, none);
    }
    if (remaining > 0)
    {
        writer.Exchange(none, writer.InputOf(warmUp), none, none);
    }
    for (uint32_t k = 0; k < remaining; k++)
    {
        writer.Forward(k + warmUp);
        writer.Exchange(writer.OutputOf(k + warmUp), none, none, writer.OutputGradientOf(k));
        writer.Backward(k);
        const bool last = k + 1 == remaining;
        writer.Exchange(
            none, last ? none : writer.InputOf(k + warmUp + 1), writer.InputGradientOf(k), none);
    }
    for (uint32_t k = remaining; k < position.microBatches; k++)
    {
        writer.Exchange(none, none, none, writer.OutputGradientOf(k));
        writer.Backward(k);
        writer.Exchange(none, none, writer.InputGradientOf(k), none);
    }
    return writer.Take();
}

/**
 * Megatron-LM's forward_backward_pipelining_with_interleaving. Megatron-LM derives what the first
 * stage receives from the progress of the last stage, which is p - 1 passes ahead. This is always
 * the input of the first stage's own next pass, since the same micro-batch of the next chunk is p
 * passes later.
 */
std::vector<PipelineStep>
Interleaved(const PipelinePosition& position)
{
    ScheduleWriter writer(position);
    const PipelineTransfer none;
    const uint32_t total = position.microBatches * position.chunks;
    const uint32_t warmUp = PipelineWarmUp(position);
    const uint32_t remaining = total - warmUp;
    const auto gradientBefore = [&](uint32_t k) {
        return k < total ? writer.OutputGradientOf(k) : none;
    };
    writer.Exchange(none, writer.InputOf(0), none, none);
    for (uint32_t k = 0; k < warmUp; k++)
    {
        writer.Forward(k);
        const bool joint = k + 1 == warmUp && remaining > 0;
        writer.Exchange(writer.OutputOf(k),
                        k + 1 < total ? writer.InputOf(k + 1) : none,
                        none,
                        joint ? writer.OutputGradientOf(0) : none);
    }
    for (uint32_t k = 0; k < remaining; k++)
    {
        const uint32_t forward = k + warmUp;
        writer.Forward(forward);
        writer.Backward(k);
        const bool last = k + 1 == remaining;
        writer.Exchange(writer.OutputOf(forward),
                        last ? none : writer.InputOf(forward + 1),
                        writer.InputGradientOf(k),
                        gradientBefore(k + 1));
    }
    if (remaining == 0)
    {
        writer.Exchange(none, none, none, writer.OutputGradientOf(0));
    }
    for (uint32_t k = remaining; k < total; k++)
    {
        writer.Backward(k);
        writer.Exchange(none, none, writer.InputGradientOf(k), gradientBefore(k + 1));
    }
    return writer.Take();
}

} // namespace

PipelinePosition
PositionOf(const ParallelPlan& plan, uint32_t stage)
{
    return {plan.schedule, stage, plan.pipeline, plan.MicroBatches(), plan.virtualStages, {}};
}

uint32_t
PipelineWarmUp(const PipelinePosition& position)
{
    CheckPosition(position);
    const uint32_t behind = position.stages - position.stage - 1;
    switch (position.kind)
    {
    case PipelineScheduleKind::OneForwardOneBackward:
        return std::min(behind, position.microBatches);
    case PipelineScheduleKind::GPipe:
        return position.microBatches;
    case PipelineScheduleKind::ZeroBubbleH1:
    case PipelineScheduleKind::ZeroBubble1p:
        return std::min(position.stages - 1, position.microBatches);
    case PipelineScheduleKind::ZeroBubble2p:
        return std::min(2 * position.stages - 1, position.microBatches);
    case PipelineScheduleKind::Interleaved:
        break;
    }
    const uint32_t total = position.microBatches * position.chunks;
    if (position.microBatches == position.stages)
    {
        return total;
    }
    return std::min(2 * behind + (position.chunks - 1) * position.stages, total);
}

uint32_t
MicroBatchesInFlight(const PipelinePosition& position, uint32_t chunk)
{
    const uint32_t warmUp = PipelineWarmUp(position);
    const uint32_t ahead = position.stages - position.stage;
    switch (position.kind)
    {
    case PipelineScheduleKind::GPipe:
        return position.microBatches;
    case PipelineScheduleKind::OneForwardOneBackward:
    case PipelineScheduleKind::ZeroBubbleH1:
        return std::min(ahead, position.microBatches);
    case PipelineScheduleKind::ZeroBubble1p:
        return std::min({position.stages, 2 * ahead - 1, position.microBatches});
    case PipelineScheduleKind::ZeroBubble2p:
        return std::min(2 * ahead - 1, position.microBatches);
    case PipelineScheduleKind::Interleaved:
        break;
    }
    // A round is p micro-batches through all v chunks, one chunk after the other.
    const uint64_t backward = uint64_t{position.chunks - 1 - chunk} * position.stages;
    const uint64_t passes =
        std::min(warmUp + 1 + backward, uint64_t{position.microBatches} * position.chunks);
    const uint64_t round = uint64_t{position.stages} * position.chunks;
    const uint64_t before = uint64_t{chunk} * position.stages;
    const uint64_t rest = passes % round;
    return static_cast<uint32_t>(
        passes / round * position.stages +
        std::min<uint64_t>(rest - std::min(rest, before), position.stages));
}

std::vector<PipelineStep>
PipelineSchedule(const PipelinePosition& position)
{
    CheckPosition(position);
    switch (position.kind)
    {
    case PipelineScheduleKind::OneForwardOneBackward:
    case PipelineScheduleKind::GPipe:
        return OneForwardOneBackward(position);
    case PipelineScheduleKind::Interleaved:
        return Interleaved(position);
    case PipelineScheduleKind::ZeroBubbleH1:
    case PipelineScheduleKind::ZeroBubble1p:
    case PipelineScheduleKind::ZeroBubble2p:
        return ZeroBubbleSchedule(position);
    }
    throw std::logic_error("PipelineSchedule: no such PipelineScheduleKind");
}

} // namespace weir
