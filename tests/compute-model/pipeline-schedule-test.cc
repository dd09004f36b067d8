// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/pipeline-schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace weir
{
namespace
{

PipelinePosition
Position(uint32_t stage, uint32_t stages, uint32_t microBatches, uint32_t chunks = 1)
{
    PipelinePosition position;
    position.kind = chunks == 1 ? PipelineScheduleKind::OneForwardOneBackward
                                : PipelineScheduleKind::Interleaved;
    position.stage = stage;
    position.stages = stages;
    position.microBatches = microBatches;
    position.chunks = chunks;
    return position;
}

/** Passes as text: "F0.1" is the forward pass of micro-batch 0, chunk 1. */
std::string
Passes(const PipelinePosition& position)
{
    std::string text;
    for (const PipelineStep& step : PipelineSchedule(position))
    {
        if (step.kind != PipelineStepKind::Exchange)
        {
            text += (step.kind == PipelineStepKind::Forward ? " F" : " B") +
                    std::to_string(step.microBatch) + "." + std::to_string(step.chunk);
        }
    }
    return text;
}

/** Compares MicroBatchesInFlight of every chunk with a count along the schedule. */
void
ExpectMaxInFlight(const PipelinePosition& position)
{
    std::vector<uint32_t> inFlight(position.chunks);
    std::vector<uint32_t> max(position.chunks);
    for (const PipelineStep& step : PipelineSchedule(position))
    {
        if (step.kind == PipelineStepKind::Forward)
        {
            max[step.chunk] = std::max(max[step.chunk], ++inFlight[step.chunk]);
        }
        else if (step.kind == PipelineStepKind::Backward ||
                 step.kind == PipelineStepKind::BackwardInput)
        {
            inFlight[step.chunk]--;
        }
    }
    for (uint32_t chunk = 0; chunk < position.chunks; chunk++)
    {
        EXPECT_EQ(MicroBatchesInFlight(position, chunk), max[chunk])
            << "stage " << position.stage << " of " << position.stages << ", "
            << position.microBatches << " micro-batches, chunk " << chunk << " of "
            << position.chunks;
    }
}

// Megatron-LM's min(p - stage - 1, m): the last stage starts without warm-up, alternating forward
// and backward passes.
TEST(PipelineSchedule, OneForwardOneBackwardWarmsUpByItsDistanceToTheEnd)
{
    EXPECT_EQ(PipelineWarmUp(Position(0, 4, 8)), 3U);
    EXPECT_EQ(PipelineWarmUp(Position(3, 4, 8)), 0U);
    EXPECT_EQ(PipelineWarmUp(Position(0, 4, 2)), 2U);
    EXPECT_EQ(Passes(Position(2, 4, 4)), " F0.0 F1.0 B0.0 F2.0 B1.0 F3.0 B2.0 B3.0");
    EXPECT_EQ(Passes(Position(3, 4, 2)), " F0.0 B0.0 F1.0 B1.0");
}

// Warm-up of 2 (p - stage - 1) + (v - 1) p forward passes, and all m v when m = p.
TEST(PipelineSchedule, InterleavedWarmsUpAsMegatronDoes)
{
    EXPECT_EQ(PipelineWarmUp(Position(0, 4, 8, 2)), 10U);
    EXPECT_EQ(PipelineWarmUp(Position(3, 4, 8, 2)), 4U);
    EXPECT_EQ(PipelineWarmUp(Position(1, 4, 4, 2)), 8U);
    // Narayanan et al. 2021, figure 4 (bottom), last device of p = 2, v = 2, m = 4: micro-batches
    // pass through a chunk in groups of p.
    EXPECT_EQ(Passes(Position(1, 2, 4, 2)),
              " F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 F2.0 B0.0 F3.0 B1.0 F2.1 B2.1 F3.1 B3.1 B2.0 B3.0");
}

// Compared with a count along the schedule, pass by pass.
TEST(PipelineSchedule, KnowsHowManyMicroBatchesWaitForTheirBackwardPass)
{
    for (uint32_t stages = 1; stages <= 5; stages++)
    {
        for (uint32_t stage = 0; stage < stages; stage++)
        {
            for (uint32_t microBatches = stages; microBatches <= 4 * stages; microBatches += stages)
            {
                for (uint32_t chunks = 1; chunks <= (stages == 1 ? 1 : 3); chunks++)
                {
                    PipelinePosition position = Position(stage, stages, microBatches, chunks);
                    ExpectMaxInFlight(position);
                    for (const PipelineScheduleKind kind : {PipelineScheduleKind::GPipe,
                                                            PipelineScheduleKind::ZeroBubbleH1,
                                                            PipelineScheduleKind::ZeroBubble1p})
                    {
                        position.kind = chunks == 1 ? kind : position.kind;
                        ExpectMaxInFlight(position);
                    }
                }
            }
        }
    }
}

class EverySchedule : public ::testing::TestWithParam<std::tuple<uint32_t, uint32_t, uint32_t>>
{
  protected:
    PipelinePosition At(uint32_t stage) const
    {
        const auto [stages, microBatches, chunks] = GetParam();
        return Position(stage, stages, microBatches, chunks);
    }

    uint32_t Stages() const
    {
        return std::get<0>(GetParam());
    }
};

// Each (micro-batch, chunk) has one forward and one later backward pass.
TEST_P(EverySchedule, RunsEveryPassOnce)
{
    const auto [stages, microBatches, chunks] = GetParam();
    for (uint32_t stage = 0; stage < stages; stage++)
    {
        std::set<std::pair<uint32_t, uint32_t>> forward;
        std::set<std::pair<uint32_t, uint32_t>> backward;
        for (const PipelineStep& step : PipelineSchedule(At(stage)))
        {
            const auto pass = std::make_pair(step.microBatch, step.chunk);
            if (step.kind == PipelineStepKind::Forward)
            {
                EXPECT_TRUE(forward.insert(pass).second);
            }
            else if (step.kind == PipelineStepKind::Backward)
            {
                EXPECT_TRUE(forward.count(pass) == 1 && backward.insert(pass).second);
            }
        }
        EXPECT_EQ(forward.size(), microBatches * chunks);
        EXPECT_EQ(backward.size(), microBatches * chunks);
    }
}

// The sends of a stage match the receives of its neighbor, in the same order: transfers match by
// position, as on one NCCL connection.
TEST_P(EverySchedule, SendsMatchReceivesInOrder)
{
    const auto [stages, microBatches, chunks] = GetParam();
    using Pass = std::pair<uint32_t, uint32_t>;
    std::vector<std::vector<Pass>> sentForward(stages), gotForward(stages);
    std::vector<std::vector<Pass>> sentBackward(stages), gotBackward(stages);
    for (uint32_t stage = 0; stage < stages; stage++)
    {
        for (const PipelineStep& step : PipelineSchedule(At(stage)))
        {
            const auto note = [](std::vector<Pass>& list, const PipelineTransfer& transfer) {
                if (transfer.present)
                {
                    list.emplace_back(transfer.microBatch, transfer.chunk);
                }
            };
            note(sentForward[stage], step.sendForward);
            note(gotForward[stage], step.receiveForward);
            note(sentBackward[stage], step.sendBackward);
            note(gotBackward[stage], step.receiveBackward);
        }
    }
    for (uint32_t stage = 0; stage < stages; stage++)
    {
        // The last stage's chunk c feeds the first stage's chunk c + 1.
        const uint32_t next = (stage + 1) % stages;
        const uint32_t step = next == 0 ? 1 : 0;
        ASSERT_EQ(sentForward[stage].size(), gotForward[next].size());
        ASSERT_EQ(sentBackward[next].size(), gotBackward[stage].size());
        for (std::size_t i = 0; i < sentForward[stage].size(); i++)
        {
            EXPECT_EQ(sentForward[stage][i].first, gotForward[next][i].first);
            EXPECT_EQ(sentForward[stage][i].second + step, gotForward[next][i].second);
        }
        for (std::size_t i = 0; i < sentBackward[next].size(); i++)
        {
            EXPECT_EQ(sentBackward[next][i].first, gotBackward[stage][i].first);
            EXPECT_EQ(sentBackward[next][i].second, gotBackward[stage][i].second + step);
        }
    }
}

TEST_P(EverySchedule, ReceivesWhatAPassNeedsBeforeIt)
{
    for (uint32_t stage = 0; stage < Stages(); stage++)
    {
        std::set<std::pair<uint32_t, uint32_t>> inputs;
        std::set<std::pair<uint32_t, uint32_t>> gradients;
        for (const PipelineStep& step : PipelineSchedule(At(stage)))
        {
            const bool isFirst = stage == 0 && step.chunk == 0;
            const bool isLast = stage == Stages() - 1 && step.chunk == std::get<2>(GetParam()) - 1;
            if (step.kind == PipelineStepKind::Forward && !isFirst)
            {
                EXPECT_TRUE(inputs.count({step.microBatch, step.chunk}));
            }
            if (step.kind == PipelineStepKind::Backward && !isLast)
            {
                EXPECT_TRUE(gradients.count({step.microBatch, step.chunk}));
            }
            if (step.receiveForward.present)
            {
                inputs.insert({step.receiveForward.microBatch, step.receiveForward.chunk});
            }
            if (step.receiveBackward.present)
            {
                gradients.insert({step.receiveBackward.microBatch, step.receiveBackward.chunk});
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes,
                         EverySchedule,
                         ::testing::Values(std::make_tuple(1U, 3U, 1U),
                                           std::make_tuple(2U, 1U, 1U),
                                           std::make_tuple(4U, 8U, 1U),
                                           std::make_tuple(8U, 3U, 1U),
                                           std::make_tuple(2U, 4U, 2U),
                                           std::make_tuple(4U, 4U, 3U),
                                           std::make_tuple(4U, 12U, 2U),
                                           std::make_tuple(8U, 64U, 3U)));

TEST(PipelineSchedule, RefusesWhatMegatronRefuses)
{
    EXPECT_THROW(PipelineSchedule(Position(4, 4, 8)), std::invalid_argument);
    EXPECT_THROW(PipelineSchedule(Position(0, 4, 0)), std::invalid_argument);
    EXPECT_THROW(PipelineSchedule(Position(0, 4, 6, 2)), std::invalid_argument);
}

} // namespace
} // namespace weir
