// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/pipeline-schedule.h"

#include <algorithm>
#include <limits>
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

    /** The (micro-batch, chunk) of the k-th pass of its kind of this stage. */
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

    void Add(PipelineStepKind kind, uint32_t k)
    {
        m_steps.push_back(Pass(kind, k));
    }

    void Forward(uint32_t k)
    {
        Add(PipelineStepKind::Forward, k);
    }

    void Backward(uint32_t k)
    {
        Add(PipelineStepKind::Backward, k);
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
                  PipelineTransfer receiveBackward,
                  bool detached = false)
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
            step.detached = detached;
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

constexpr double NEVER = std::numeric_limits<double>::infinity();

/** Progress of one stage. */
struct StageProgress
{
    double now{0};
    uint32_t forward{0};              //!< passes done
    uint32_t backward{0};             //!< B done
    uint32_t weights{0};              //!< W done
    uint32_t ahead{0};                //!< limit of forward passes without their B
    std::vector<double> forwardEnds;  //!< by micro-batch
    std::vector<double> backwardEnds; //!< by micro-batch
    std::vector<PipelineStepKind> passes;
};

/** A pass that a stage could begin next. */
struct NextPass
{
    PipelineStepKind kind{PipelineStepKind::Forward};
    double start{NEVER};
    bool needsWeightsFirst{false}; //!< memory is full: a W must run first
};

/** Micro-batches that fit in a stage's memory. */
uint32_t
MaxHeld(const PipelinePosition& position)
{
    return (position.kind == PipelineScheduleKind::ZeroBubble2p ? 2 : 1) * position.stages;
}

/**
 * ZB-H1: p - stage forward passes, then B and F alternate. W runs `stage` micro-batches after its
 * B, so that every stage holds the activations of p micro-batches.
 */
std::vector<PipelineStepKind>
PassesOfH1(const PipelinePosition& position)
{
    const uint32_t total = position.microBatches;
    uint32_t forward = std::min(total, position.stages - position.stage);
    std::vector<PipelineStepKind> passes(forward, PipelineStepKind::Forward);
    uint32_t weights = 0;
    for (uint32_t backward = 0; backward < total; backward++)
    {
        passes.push_back(PipelineStepKind::BackwardInput);
        if (backward >= position.stage)
        {
            passes.push_back(PipelineStepKind::BackwardWeights);
            weights++;
        }
        if (forward < total)
        {
            passes.push_back(PipelineStepKind::Forward);
            forward++;
        }
    }
    passes.insert(passes.end(), total - weights, PipelineStepKind::BackwardWeights);
    return passes;
}

/** Simulates the passes of all stages under ZB-1p or ZB-2p. */
class Player
{
  public:
    explicit Player(const PipelinePosition& position)
        : m_position(position),
          m_maxHeld(MaxHeld(position)),
          m_stages(position.stages)
    {
        for (uint32_t stage = 0; stage < position.stages; stage++)
        {
            m_stages[stage].ahead = std::min(m_maxHeld, 2 * (position.stages - stage) - 1);
        }
    }

    /** @return the passes of the position's stage, in order. */
    std::vector<PipelineStepKind> Play()
    {
        for (uint64_t left = uint64_t{2} * m_position.stages * m_position.microBatches; left > 0;
             left--)
        {
            uint32_t first = 0;
            NextPass pass;
            for (uint32_t stage = 0; stage < m_position.stages; stage++)
            {
                const NextPass next = Next(stage);
                if (next.start < pass.start)
                {
                    pass = next;
                    first = stage;
                }
            }
            if (pass.start == NEVER)
            {
                throw std::logic_error("PipelineSchedule: no stage can proceed");
            }
            Run(m_stages[first], pass);
        }
        for (StageProgress& stage : m_stages)
        {
            while (stage.weights < stage.backward)
            {
                RunWeights(stage);
            }
        }
        return m_stages[m_position.stage].passes;
    }

  private:
    NextPass Next(uint32_t index) const
    {
        const StageProgress& stage = m_stages[index];
        NextPass next;
        const double arrival = GradientArrival(index);
        if (arrival < NEVER)
        {
            next = {PipelineStepKind::BackwardInput, std::max(stage.now, arrival), false};
        }
        const bool mayForward =
            stage.forward < m_position.microBatches && stage.forward - stage.backward < stage.ahead;
        if (!mayForward)
        {
            return next;
        }
        const bool isFull = stage.forward - stage.weights >= m_maxHeld;
        if (isFull && stage.weights == stage.backward)
        {
            return next; // no W is pending: a B must run first
        }
        const double from = stage.now + (isFull ? m_position.times.backwardWeights : 0);
        const double start = std::max(from, InputArrival(index));
        if (start < next.start)
        {
            next = {PipelineStepKind::Forward, start, isFull};
        }
        return next;
    }

    double InputArrival(uint32_t index) const
    {
        const uint32_t microBatch = m_stages[index].forward;
        if (index == 0)
        {
            return 0;
        }
        const auto& ends = m_stages[index - 1].forwardEnds;
        return microBatch < ends.size() ? ends[microBatch] + m_position.times.transfer : NEVER;
    }

    double GradientArrival(uint32_t index) const
    {
        const StageProgress& stage = m_stages[index];
        const uint32_t microBatch = stage.backward;
        if (microBatch >= stage.forwardEnds.size())
        {
            return NEVER;
        }
        if (index == m_position.stages - 1)
        {
            return stage.forwardEnds[microBatch];
        }
        const auto& ends = m_stages[index + 1].backwardEnds;
        return microBatch < ends.size() ? ends[microBatch] + m_position.times.transfer : NEVER;
    }

    void Run(StageProgress& stage, const NextPass& pass)
    {
        if (pass.needsWeightsFirst)
        {
            RunWeights(stage);
        }
        while (stage.weights < stage.backward &&
               stage.now + m_position.times.backwardWeights <= pass.start)
        {
            RunWeights(stage);
        }
        const bool isForward = pass.kind == PipelineStepKind::Forward;
        stage.passes.push_back(pass.kind);
        stage.now = std::max(stage.now, pass.start) +
                    (isForward ? m_position.times.forward : m_position.times.backwardInput);
        (isForward ? stage.forwardEnds : stage.backwardEnds).push_back(stage.now);
        (isForward ? stage.forward : stage.backward)++;
    }

    void RunWeights(StageProgress& stage) const
    {
        stage.passes.push_back(PipelineStepKind::BackwardWeights);
        stage.now += m_position.times.backwardWeights;
        stage.weights++;
    }

    PipelinePosition m_position;
    uint32_t m_maxHeld; //!< limit of micro-batches whose activations a stage holds
    std::vector<StageProgress> m_stages;
};

/**
 * Schedule of a stage whose backward pass is split into gradients of activations (B) and of weights
 * (W), with W deferred to where the stage would idle (Qi et al. 2023, Zero Bubble Pipeline
 * Parallelism, arXiv 2401.10241).
 *
 * ZB-H1 (section 2.2) keeps 1F1B's order with p - stage forward passes ahead, and runs W `stage`
 * micro-batches after its B. With equal times F, B, W its bubble is (p - 1)(F + B - W), against
 * 1F1B's (p - 1)(F + B + W).
 *
 * ZB-1p (section 3.1) is built from position.times by a simulation of the passes of all stages. The
 * earliest pass runs first, and B before F. At most min(p, 2 (p - stage) - 1) forward passes
 * precede the first backward pass. W runs where it fits into the gap before the next pass, and
 * where memory is full. The greedy order of ZB-1p may be up to one percent slower than ZB-H1.
 *
 * ZB-H1 and ZB-1p hold at most p micro-batches, as the first stage of 1F1B does (for B or for W;
 * LayerHeldForWeights may be the larger). ZB-2p holds up to 2 p, so that 2 (p - stage) - 1 forward
 * passes come first, as in ZB-H2. With equal times no stage then idles once it has begun: stages
 * begin F apart and end F apart, which ParallelPlan::postValidation exploits.
 *
 * Exchanges are detached. Complexity O(m) for ZB-H1, O(m p^2) for ZB-1p and ZB-2p.
 */
std::vector<PipelineStep>
ZeroBubble(const PipelinePosition& position)
{
    ScheduleWriter writer(position);
    const PipelineTransfer none;
    uint32_t forward = 0;
    uint32_t backward = 0;
    uint32_t weights = 0;
    for (const PipelineStepKind kind : position.kind == PipelineScheduleKind::ZeroBubbleH1
                                           ? PassesOfH1(position)
                                           : Player(position).Play())
    {
        switch (kind)
        {
        case PipelineStepKind::Forward:
            writer.Exchange(none, writer.InputOf(forward), none, none, true);
            writer.Forward(forward);
            writer.Exchange(writer.OutputOf(forward), none, none, none, true);
            forward++;
            break;
        case PipelineStepKind::BackwardInput:
            writer.Exchange(none, none, none, writer.OutputGradientOf(backward), true);
            writer.Add(kind, backward);
            writer.Exchange(none, none, writer.InputGradientOf(backward), none, true);
            backward++;
            break;
        default:
            writer.Add(kind, weights++);
        }
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
        return ZeroBubble(position);
    }
    throw std::logic_error("PipelineSchedule: no such PipelineScheduleKind");
}

uint32_t
MicroBatchesBeforeWeights(const PipelinePosition& position)
{
    const bool isH1 = position.kind == PipelineScheduleKind::ZeroBubbleH1;
    return isH1 ? std::min(position.stage + 1, position.microBatches) : MicroBatchesHeld(position);
}

uint32_t
MicroBatchesHeld(const PipelinePosition& position)
{
    return std::min(MaxHeld(position), position.microBatches);
}

} // namespace weir
