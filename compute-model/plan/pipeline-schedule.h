// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_PIPELINE_SCHEDULE_H
#define WEIR_COMPUTE_MODEL_PLAN_PIPELINE_SCHEDULE_H

#include "compute-model/plan/parallel-plan.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** What a pipeline stage does next. */
enum class PipelineStepKind : uint8_t
{
    Forward,
    Backward,
    BackwardInput,   //!< gradients of the activations only (Qi et al. 2023, B)
    BackwardWeights, //!< gradients of the weights, behind that (W)
    Exchange //!< one batch of sends and receives; the stage goes on when all of them have ended
};

/** One micro-batch of one model chunk at a stage boundary. */
struct PipelineTransfer
{
    bool present{false};
    uint32_t microBatch{0};
    uint32_t chunk{0}; //!< of the stage that this schedule belongs to
};

/** One entry of a stage's schedule. */
struct PipelineStep
{
    PipelineStepKind kind{PipelineStepKind::Forward};
    uint32_t microBatch{0};           //!< of Forward and Backward
    uint32_t chunk{0};                //!< of Forward and Backward
    PipelineTransfer sendForward;     //!< activations to the next stage
    PipelineTransfer receiveForward;  //!< activations from the previous stage
    PipelineTransfer sendBackward;    //!< gradients to the previous stage
    PipelineTransfer receiveBackward; //!< gradients from the next stage
    bool detached{false}; //!< of Exchange: the stage waits for what it receives only, and receives
                          //!< are posted ahead of their time
};

/** How long the passes of one stage take, in any unit; what schedules are made by that look at it.
 */
struct PassTimes
{
    double forward{1};
    double backwardInput{1};
    double backwardWeights{1};
    double transfer{0}; //!< between stages
};

/** Where a schedule is asked for. */
struct PipelinePlace
{
    PipelineScheduleKind kind{PipelineScheduleKind::OneForwardOneBackward};
    uint32_t stage{0};
    uint32_t stages{1};       //!< p
    uint32_t microBatches{1}; //!< m
    uint32_t chunks{1};       //!< v, model chunks per stage
    PassTimes times;          //!< for zero-bubble schedules
};

/**
 * Forward passes a stage runs before its first backward pass (Narayanan et al. 2021, 2.2):
 * min(p - stage - 1, m) for 1F1B; for the interleaved schedule
 * min(2 (p - stage - 1) + (v - 1) p, v m), and all v m of them when m = p, as Megatron-LM has it.
 * GPipe runs all m; a zero-bubble schedule holds the activations of MicroBatchesHeld, one of them
 * at work.
 */
uint32_t PipelineWarmUp(const PipelinePlace& place);

/**
 * Micro-batches of which a stage holds what the forward pass of one of its model chunks leaves for
 * gradients of the activations, at the worst moment: the forward passes of the chunk that come
 * before its first backward pass. 1F1B and ZB-H1: min(p - stage, m); GPipe: m; ZB-1p:
 * min(p, 2 (p - stage) - 1, m); ZB-2p: min(2 (p - stage) - 1, m); interleaved: those of the chunk
 * among the passes of the warm-up, the one at work, and those that go with the (v - 1 - chunk) p
 * backward passes of later chunks.
 */
uint32_t MicroBatchesInFlight(const PipelinePlace& place, uint32_t chunk);

/**
 * Everything a stage does in one step, in Megatron-LM's order
 * (megatron/core/pipeline_parallel/schedules.py: without and with interleaving): forward and
 * backward passes by micro-batch and model chunk, and the exchanges with its neighbors between
 * them (GPipe: all forward passes first, Huang et al. 2019; see ZeroBubbleSchedule for zero-bubble
 * schedules). An exchange holds the transfers that Megatron issues as one batch and waits for.
 * Complexity O(m v).
 * @throws std::invalid_argument when the stage is not one of the stages, a count is zero, or an
 *         interleaved schedule has micro-batches that the stages do not divide.
 */
std::vector<PipelineStep> PipelineSchedule(const PipelinePlace& place);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_PIPELINE_SCHEDULE_H
