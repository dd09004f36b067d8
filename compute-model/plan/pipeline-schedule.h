// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_PIPELINE_SCHEDULE_H
#define WEIR_COMPUTE_MODEL_PLAN_PIPELINE_SCHEDULE_H

#include "compute-model/plan/parallel-plan.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** Kind of an entry of a pipeline schedule. */
enum class PipelineStepKind : uint8_t
{
    Forward,
    Backward,
    BackwardInput,   //!< gradients of the activations only (Qi et al. 2023, B)
    BackwardWeights, //!< gradients of the weights, after the corresponding BackwardInput (W)
    Exchange //!< one batch of sends and receives; the stage continues when all of them have ended
};

/** Transfer of one micro-batch of one model chunk across a stage boundary. */
struct PipelineTransfer
{
    bool present{false};
    uint32_t microBatch{0};
    uint32_t chunk{0}; //!< chunk of the stage that this schedule belongs to
};

/** One entry of a stage's schedule. */
struct PipelineStep
{
    PipelineStepKind kind{PipelineStepKind::Forward};
    uint32_t microBatch{0};           //!< of a pass
    uint32_t chunk{0};                //!< of a pass
    PipelineTransfer sendForward;     //!< activations to the next stage
    PipelineTransfer receiveForward;  //!< activations from the previous stage
    PipelineTransfer sendBackward;    //!< gradients to the previous stage
    PipelineTransfer receiveBackward; //!< gradients from the next stage
    bool detached{false}; //!< of Exchange: the stage waits only for what it receives, and receives
                          //!< are posted ahead of time
};

/** Durations of the passes of one stage, in any unit, for schedules that are ordered by them. */
struct PassTimes
{
    double forward{1};
    double backwardInput{1};
    double backwardWeights{1};
    double transfer{0}; //!< between neighboring stages
};

/** Stage and pipeline for which a schedule is requested. */
struct PipelinePosition
{
    PipelineScheduleKind kind{PipelineScheduleKind::OneForwardOneBackward};
    uint32_t stage{0};
    uint32_t stages{1};       //!< p
    uint32_t microBatches{1}; //!< m
    uint32_t chunks{1};       //!< v, model chunks per stage
    PassTimes times;          //!< for zero-bubble schedules
};

/** The position of @p stage under @p plan, with equal times. */
PipelinePosition PositionOf(const ParallelPlan& plan, uint32_t stage);

/**
 * Forward passes that a stage runs before its first backward pass (Narayanan et al. 2021, 2.2).
 * 1F1B: min(p - stage - 1, m). Interleaved: min(2 (p - stage - 1) + (v - 1) p, v m), and all v m
 * when m = p, as in Megatron-LM. GPipe: m. Zero-bubble schedules: at most one fewer than the p
 * (ZB-2p: 2 p) micro-batches whose activations fit.
 * @throws std::invalid_argument as PipelineSchedule.
 */
uint32_t PipelineWarmUp(const PipelinePosition& position);

/**
 * Peak number of micro-batches of which a stage holds what the forward pass of model chunk @p chunk
 * leaves for the gradients of activations: the chunk's forward passes before its first backward
 * pass. 1F1B and ZB-H1: min(p - stage, m). GPipe: m. ZB-1p: min(p, 2 (p - stage) - 1, m). ZB-2p:
 * min(2 (p - stage) - 1, m). Interleaved: the chunk's passes among the warm-up passes, the pass
 * after them, and the passes that alternate with the (v - 1 - chunk) p backward passes of later
 * chunks.
 */
uint32_t MicroBatchesInFlight(const PipelinePosition& position, uint32_t chunk);

/**
 * Passes and exchanges of a stage in one step, in Megatron-LM's order
 * (megatron/core/pipeline_parallel/schedules.py: without and with interleaving): forward and
 * backward passes by micro-batch and model chunk, and the exchanges with neighboring stages between
 * them. GPipe runs all forward passes first (Huang et al. 2019). For zero-bubble schedules see
 * ZeroBubble in pipeline-schedule.cc. An exchange holds the transfers that Megatron-LM issues as
 * one batch and waits for. Complexity O(m v).
 * @throws std::invalid_argument when the stage is out of range, a count is zero, or the number of
 *         stages does not divide the micro-batches of an interleaved schedule.
 */
std::vector<PipelineStep> PipelineSchedule(const PipelinePosition& position);

/**
 * Peak number of micro-batches of a stage between their B and their W: min(stage + 1, m) under
 * ZB-H1; otherwise the upper bound MicroBatchesHeld, since the order depends on the times.
 */
uint32_t MicroBatchesBeforeWeights(const PipelinePosition& position);

/**
 * Peak number of micro-batches that a stage has begun without finishing their W: min(p, m), under
 * ZB-2p min(2 p, m).
 */
uint32_t MicroBatchesHeld(const PipelinePosition& position);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_PIPELINE_SCHEDULE_H
