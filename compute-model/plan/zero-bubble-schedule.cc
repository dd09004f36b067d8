// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/pipeline-schedule.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace weir
{

namespace
{

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

    void Play()
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
                throw std::logic_error("ZeroBubbleSchedule: no stage can proceed");
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
    }

    const std::vector<PipelineStepKind>& Passes(uint32_t stage) const
    {
        return m_stages[stage].passes;
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

PipelineStep
Pass(PipelineStepKind kind, uint32_t microBatch)
{
    PipelineStep step;
    step.kind = kind;
    step.microBatch = microBatch;
    return step;
}

PipelineStep
Exchange()
{
    PipelineStep step;
    step.kind = PipelineStepKind::Exchange;
    step.detached = true;
    return step;
}

} // namespace

std::vector<PipelineStep>
ZeroBubbleSchedule(const PipelinePosition& position)
{
    std::vector<PipelineStepKind> passes;
    if (position.kind == PipelineScheduleKind::ZeroBubbleH1)
    {
        passes = PassesOfH1(position);
    }
    else
    {
        Player player(position);
        player.Play();
        passes = player.Passes(position.stage);
    }
    const bool isFirst = position.stage == 0;
    const bool isLast = position.stage == position.stages - 1;
    std::vector<PipelineStep> steps;
    uint32_t forward = 0;
    uint32_t backward = 0;
    uint32_t weights = 0;
    for (const PipelineStepKind kind : passes)
    {
        if (kind == PipelineStepKind::BackwardWeights)
        {
            steps.push_back(Pass(kind, weights++));
            continue;
        }
        const bool isForward = kind == PipelineStepKind::Forward;
        const uint32_t microBatch = isForward ? forward++ : backward++;
        const PipelineTransfer transfer{true, microBatch, 0};
        if (isForward ? !isFirst : !isLast)
        {
            PipelineStep receive = Exchange();
            (isForward ? receive.receiveForward : receive.receiveBackward) = transfer;
            steps.push_back(receive);
        }
        steps.push_back(Pass(kind, microBatch));
        if (isForward ? !isLast : !isFirst)
        {
            PipelineStep send = Exchange();
            (isForward ? send.sendForward : send.sendBackward) = transfer;
            steps.push_back(send);
        }
    }
    return steps;
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
