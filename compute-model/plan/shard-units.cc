// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/shard-units.h"

#include "compute-model/plan/rank-shape.h"
#include "compute-model/plan/stage-layers.h"

#include <algorithm>

namespace weir
{

namespace
{

/** Collects uses of units and tracks which weights the rank holds between them. */
class UseWriter
{
  public:
    UseWriter(const Transformer& model, const ParallelPlan& plan, uint32_t stage)
        : m_plan(plan),
          m_stage(stage),
          m_passesLeft(plan.virtualStages, plan.MicroBatches())
    {
        for (uint32_t chunk = 0; chunk < plan.virtualStages; chunk++)
        {
            m_firstUnit.push_back(m_root);
            m_root += LayersOfChunk(model, plan, stage, chunk);
        }
        m_firstUnit.push_back(m_root);
    }

    void Forward(uint32_t chunk)
    {
        AddRoot(chunk, false, false);
        for (uint32_t unit = m_firstUnit[chunk]; unit < m_firstUnit[chunk + 1]; unit++)
        {
            Add(unit, false, false);
        }
    }

    void Backward(uint32_t chunk)
    {
        const bool isLast = --m_passesLeft[chunk] == 0;
        const bool reduces = isLast || m_plan.sharding.everyPass;
        AddRoot(chunk, true, reduces);
        for (uint32_t unit = m_firstUnit[chunk + 1]; unit-- > m_firstUnit[chunk];)
        {
            Add(unit, true, reduces);
        }
    }

    std::vector<UnitUse> Take()
    {
        std::vector<bool> held(m_root + 1, false);
        for (std::size_t i = 0; i < m_uses.size(); i++)
        {
            UnitUse& use = m_uses[i];
            use.gathers = !held[use.unit];
            held[use.unit] = !FreesWeights(i);
        }
        return std::move(m_uses);
    }

  private:
    void AddRoot(uint32_t chunk, bool isBackward, bool reduces)
    {
        if (UsesRootUnit(m_plan, m_stage, chunk))
        {
            Add(m_root, isBackward, reduces);
        }
    }

    void Add(uint32_t unit, bool isBackward, bool reduces)
    {
        m_uses.push_back({unit, isBackward, false});
        m_reduces.push_back(reduces);
    }

    bool FreesWeights(std::size_t i) const
    {
        const UnitUse& use = m_uses[i];
        if (m_plan.Sharded() != ShardedState::Full)
        {
            return false;
        }
        if (use.isBackward)
        {
            return m_plan.sharding.reshard || m_reduces[i];
        }
        return m_plan.sharding.reshard && use.unit != m_root && !IsNext(use.unit, i);
    }

    /** Whether @p unit is the next layer that is used after use @p i. */
    bool IsNext(uint32_t unit, std::size_t i) const
    {
        const auto next = std::find_if(m_uses.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                       m_uses.end(),
                                       [this](const UnitUse& use) { return use.unit != m_root; });
        return next != m_uses.end() && next->unit == unit;
    }

    const ParallelPlan& m_plan;
    uint32_t m_stage;
    std::vector<uint32_t> m_passesLeft; //!< by chunk
    std::vector<uint32_t> m_firstUnit;  //!< by chunk, then the end of the last chunk
    uint32_t m_root{0};
    std::vector<UnitUse> m_uses;
    std::vector<bool> m_reduces; //!< by use: gradients are reduced after it
};

/** Whether each layer of a stage has experts, in the order of the model chunks. */
std::vector<bool>
HaveExperts(const Transformer& model, const ParallelPlan& plan, uint32_t stage)
{
    std::vector<bool> have;
    for (uint32_t chunk = 0; chunk < plan.virtualStages; chunk++)
    {
        const uint32_t first = FirstLayerOfChunk(model, plan, stage, chunk);
        for (uint32_t i = 0; i < LayersOfChunk(model, plan, stage, chunk); i++)
        {
            have.push_back(model.IsExpertLayer(first + i));
        }
    }
    return have;
}

} // namespace

std::array<RankWeights, 2>
WeightsOf(const Transformer& model, const ParallelPlan& plan, uint32_t stage)
{
    const bool isOneCopy = plan.ShardCopies() == 1;
    RankWeights dense{false,
                      RankStageParameters(model, plan, stage),
                      plan.DenseReplicas(),
                      plan.ShardRanks(),
                      GroupSlot::Data,
                      isOneCopy ? GroupSlot::Data : GroupSlot::Shard,
                      GroupSlot::Replicas,
                      {}};
    RankWeights experts{true,
                        RankExpertParameters(model, plan, stage),
                        plan.ExpertReplicas(),
                        plan.ExpertShardRanks(),
                        GroupSlot::ExpertData,
                        isOneCopy ? GroupSlot::ExpertData : GroupSlot::ExpertShard,
                        GroupSlot::ExpertCopies,
                        {}};
    const double ofLayer = model.HasExperts() ? ExpertShape(model, plan).parameters : 0;
    double root = dense.parameters;
    for (const bool hasExperts : HaveExperts(model, plan, stage))
    {
        dense.units.push_back(RankLayerParameters(model, plan, hasExperts));
        experts.units.push_back(hasExperts ? ofLayer : 0);
        root -= dense.units.back();
    }
    constexpr double ROUNDING = 0.5; // parameters
    dense.units.push_back(root < ROUNDING ? 0 : root);
    experts.units.push_back(0);
    return {std::move(dense), std::move(experts)};
}

bool
UsesRootUnit(const ParallelPlan& plan, uint32_t stage, uint32_t chunk)
{
    const bool hasEmbedding = stage == 0 && chunk == 0;
    const bool hasOutput = stage == plan.pipeline - 1 && chunk == plan.virtualStages - 1;
    return hasEmbedding || hasOutput;
}

std::vector<UnitUse>
UnitUses(const Transformer& model,
         const ParallelPlan& plan,
         uint32_t stage,
         const std::vector<PipelineStep>& schedule)
{
    UseWriter writer(model, plan, stage);
    for (const PipelineStep& step : schedule)
    {
        if (step.kind == PipelineStepKind::Forward)
        {
            writer.Forward(step.chunk);
        }
        else if (step.kind == PipelineStepKind::Backward ||
                 step.kind == PipelineStepKind::BackwardInput)
        {
            writer.Backward(step.chunk);
        }
    }
    return writer.Take();
}

} // namespace weir
