// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/plan-uses.h"

#include "scenarios/readers/network-use-notes.h"
#include "scenarios/readers/read-plan.h"

#include <algorithm>

namespace weir
{
namespace
{

using Setting = PlanSetting;

bool
IsTransformer(const Setting& in)
{
    return in.transformer != nullptr;
}

bool
HasExperts(const Setting& in)
{
    return IsTransformer(in) && in.transformer->moe.experts > 0;
}

bool
HasTables(const Setting& in)
{
    return in.table != nullptr && !in.table->embeddings.empty();
}

/** Whether there is somebody to share weights, or experts, with. */
bool
HasReplicas(const Setting& in)
{
    return in.plan.DenseReplicas() > 1 || (HasExperts(in) && in.plan.ExpertReplicas() > 1);
}

/** Whether gradients are reduced by bucket or all at once, not unit by unit. */
bool
ReducesInBuckets(const Setting& in)
{
    return HasReplicas(in) && in.plan.Sharded() != ShardedState::Full;
}

bool
SharesOptimizerOrGradients(const Setting& in)
{
    return in.plan.Sharded() == ShardedState::Optimizer ||
           in.plan.Sharded() == ShardedState::Gradients;
}

bool
IsShardedInFull(const Setting& in)
{
    return in.plan.Sharded() == ShardedState::Full;
}

/** Whether a table has more columns than a part, be it as given or by default. */
bool
HasWideTable(const Setting& in)
{
    const uint32_t width =
        std::min(in.plan.embeddings.columnWidth, EmbeddingSharding().columnWidth);
    const auto& tables = in.table->embeddings;
    return std::any_of(tables.begin(), tables.end(), [width](const EmbeddingTable& table) {
        return table.dim > width;
    });
}

/** How the parts of a model and of a step's samples are distributed. */
std::vector<PlanUse>
UsesOfDegrees()
{
    return {{{"contextExchange"},
             [](const Setting& in) { return in.plan.context > 1; },
             "context above 1"},
            {{"sequenceParallel", "overlapTensor"},
             [](const Setting& in) { return in.plan.tensor > 1; },
             "tensor above 1"},
            {{"splitProducts"},
             [](const Setting& in) {
                 return in.plan.tensor > 1 && in.plan.sequenceParallel && in.plan.overlapTensor;
             },
             "tensor above 1 with sequenceParallel and overlapTensor"},
            {{"embeddingsAsLayers", "postValidation", "host.syncTransfers"},
             [](const Setting& in) { return in.plan.pipeline > 1; },
             "pipeline above 1"},
            {{"host.syncTransfers"}, // transfers of zero-bubble schedules go by themselves
             [](const Setting& in) { return !in.plan.SplitsBackward(); },
             "schedule: 1f1b, interleaved or gpipe"},
            {{"scatterGatherPipeline"},
             [](const Setting& in) {
                 return in.plan.pipeline > 1 && in.plan.tensor > 1 && !in.plan.HasGrid() &&
                        !in.plan.sequenceParallel;
             },
             "pipeline and tensor above 1 without sequenceParallel or a grid"}};
}

/** What the kernels of a network leave open. */
std::vector<PlanUse>
UsesOfKernels()
{
    return {{{"schedule", "fusedUpdate", "loss", "host.syncBatches", "host.syncPasses"},
             IsTransformer,
             "a transformer, not a table of layers"},
            {{"expertTensor"}, HasExperts, "a mixture of experts"},
            {{"attentionSpeed"},
             [](const Setting& in) {
                 return IsTransformer(in) && in.plan.attention == AttentionKind::Fused;
             },
             "a transformer with attention: fused"},
            {{"recomputeEvery", "host.syncLayers"},
             [](const Setting& in) {
                 return in.plan.recomputation != Recomputation::None &&
                        in.plan.recomputation != Recomputation::Selective;
             },
             "a recomputation of layers: full, needed or operators"}};
}

/** How gradients, weights and optimizer state go among replicas. */
std::vector<PlanUse>
UsesOfReplicas()
{
    return {
        {{"overlapGradients"}, ReducesInBuckets, "several replicas that are not sharded in full"},
        {{"bucket"},
         [](const Setting& in) { return ReducesInBuckets(in) && in.plan.overlapGradients; },
         "overlapGradients among several replicas that are not sharded in full"},
        {{"distributedOptimizer"},
         [](const Setting& in) { return in.plan.Sharded() == ShardedState::Optimizer; },
         "dataSharding: none or optimizer"},
        {{"distributedOptimizer"}, HasReplicas, "several replicas"},
        {{"dataSharding"},
         [](const Setting& in) { return IsShardedInFull(in) || HasReplicas(in); },
         "several replicas"},
        {{"dataSharding.ranks"},
         [](const Setting& in) { return in.plan.Sharded() != ShardedState::None; },
         "dataSharding: optimizer, gradients or full"},
        {{"dataSharding.reshard", "dataSharding.prefetch", "dataSharding.perParameter"},
         IsShardedInFull,
         "dataSharding: full"},
        {{"dataSharding.everyPass"},
         [](const Setting& in) {
             return IsShardedInFull(in) || in.plan.Sharded() == ShardedState::Gradients;
         },
         "dataSharding: full or gradients"},
        {{"dataSharding.scatter", "dataSharding.overlapGather"},
         SharesOptimizerOrGradients,
         "dataSharding: optimizer or gradients"}};
}

/** How embedding tables lie. */
std::vector<PlanUse>
UsesOfTables()
{
    return {
        {{"embeddings"}, HasTables, "a model with embedding tables"},
        {{"embeddings.placement",
          "embeddings.balance",
          "embeddings.splitAbove",
          "embeddings.splitColumnsAbove",
          "embeddings.columnWidth",
          "embeddings.exchangeIndices"},
         [](const Setting& in) { return in.plan.data > 1; },
         "data above 1"},
        {{"embeddings.balance", "embeddings.splitAbove"},
         [](const Setting& in) { return in.plan.embeddings.placement != EmbeddingPlacement::Rows; },
         "placement: tables or columns"},
        {{"embeddings.splitColumnsAbove"},
         [](const Setting& in) {
             return in.plan.embeddings.placement == EmbeddingPlacement::Tables;
         },
         "placement: tables"},
        {{"embeddings.columnWidth"},
         [](const Setting& in) {
             return in.plan.embeddings.placement == EmbeddingPlacement::Columns ||
                    in.plan.embeddings.splitColumnsAbove != EmbeddingSharding().splitColumnsAbove;
         },
         "placement: columns, or splitColumnsAbove"},
        {{"embeddings.splitColumnsAbove", "embeddings.columnWidth"},
         HasWideTable,
         "a table wider than columnWidth"}};
}

} // namespace

std::vector<std::string>
NotesOnPlanUse(const YamlNode& node, const ParallelPlan& plan, const Network& network)
{
    const auto* table = std::get_if<LayerTable>(&network);
    const auto* transformer = std::get_if<Transformer>(&network);
    const ExpertLoad& load = plan.expertLoad;
    if ((!transformer || !transformer->HasExperts()) &&
        (!load.IsBalanced() || load.capacityFactor > 0))
    {
        node.Get("expertLoad").Fail("found it for a model without experts, expected one with them");
    }
    ParallelPlan given = plan;
    ParallelPlan defaults = DefaultPlan();
    const PlanSetting setting{plan, transformer, table};
    const std::vector<PlanUse> uses = PlanUses();
    std::vector<std::string> notes;
    PlanKeys keys(given);
    PlanKeys plain(defaults);
    for (const std::string& key : ChangedKeys(keys, plain))
    {
        const auto found = FindPlanKey(node, key);
        if (!found || found->IsInherited())
        {
            continue;
        }
        if (const PlanUse* lack = LackOf(key, setting, uses))
        {
            notes.push_back(NoteOnNoEffect(*found, lack->needs));
        }
    }
    return notes;
}

std::vector<PlanUse>
PlanUses()
{
    std::vector<PlanUse> uses;
    for (const auto& some : {UsesOfDegrees(), UsesOfKernels(), UsesOfReplicas(), UsesOfTables()})
    {
        uses.insert(uses.end(), some.begin(), some.end());
    }
    return uses;
}

const PlanUse*
LackOf(const std::string& key, const PlanSetting& setting, const std::vector<PlanUse>& uses)
{
    const auto lack = std::find_if(uses.begin(), uses.end(), [&](const PlanUse& use) {
        const bool isMeant =
            std::any_of(use.paths.begin(), use.paths.end(), [&](const std::string& path) {
                return path == key || path == MapOfKey(key);
            });
        return isMeant && !use.hasEffect(setting);
    });
    return lack == uses.end() ? nullptr : &*lack;
}

} // namespace weir
