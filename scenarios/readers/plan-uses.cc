// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/plan-uses.h"

#include "scenarios/readers/network-use-notes.h"
#include "scenarios/readers/read-plan.h"

#include <algorithm>

namespace weir
{
namespace
{

/** Whether a table is wider than a column shard, of the given width or of the default one. */
bool
HasWideTable(const ParallelPlan& plan, const LayerTable& table)
{
    const uint32_t width = std::min(plan.embeddings.columnWidth, EmbeddingSharding().columnWidth);
    return std::any_of(table.embeddings.begin(),
                       table.embeddings.end(),
                       [width](const EmbeddingTable& each) { return each.dim > width; });
}

/** How the parts of a model and of a step's samples are distributed. */
std::vector<KeyUse>
UsesOfDegrees(const ParallelPlan& plan)
{
    const bool hasTensor = plan.tensor > 1;
    const bool hasPipeline = plan.pipeline > 1;
    return {{{"contextExchange"}, plan.context > 1, "context above 1"},
            {{"sequenceParallel", "overlapTensor"}, hasTensor, "tensor above 1"},
            {{"splitGemms"},
             hasTensor && plan.sequenceParallel && plan.overlapTensor,
             "tensor above 1 with sequenceParallel and overlapTensor"},
            {{"embeddingsAsLayers", "postValidation", "host.syncTransfers"},
             hasPipeline,
             "pipeline above 1"},
            {{"host.syncTransfers"}, // zero-bubble: the CPU never waits for them
             !plan.SplitsBackward(),
             "schedule: 1f1b, interleaved or gpipe"},
            {{"scatterGatherPipeline"},
             hasPipeline && hasTensor && !plan.HasGrid() && !plan.sequenceParallel,
             "pipeline and tensor above 1 without sequenceParallel or a grid"}};
}

/** Conditions that depend on the kernels of the network. */
std::vector<KeyUse>
UsesOfKernels(const ParallelPlan& plan, const Transformer* transformer)
{
    return {{{"schedule", "fusedUpdate", "loss", "host.syncBatches", "host.syncPasses"},
             transformer != nullptr,
             "a transformer, not a table of layers"},
            {{"expertTensor"}, transformer && transformer->HasExperts(), "a mixture of experts"},
            {{"attentionSpeed"},
             transformer && plan.attention == AttentionKind::Fused,
             "a transformer with attention: fused"},
            {{"recomputeEvery", "host.syncLayers"},
             plan.recomputation != Recomputation::None &&
                 plan.recomputation != Recomputation::Selective,
             "a recomputation of layers: full, needed or operators"}};
}

/** Conditions that depend on replicas of gradients, weights and optimizer state. */
std::vector<KeyUse>
UsesOfReplicas(const ParallelPlan& plan, const Transformer* transformer)
{
    const ShardedState sharded = plan.Sharded();
    const bool isInFull = sharded == ShardedState::Full;
    const bool isInPart = sharded == ShardedState::Optimizer || sharded == ShardedState::Gradients;
    // Whether another rank holds the same weights, or the same experts.
    const bool hasReplicas =
        plan.DenseReplicas() > 1 ||
        (transformer && transformer->HasExperts() && plan.ExpertReplicas() > 1);
    const bool reducesInBuckets = hasReplicas && !isInFull; // or all at once, but not unit by unit
    return {
        {{"overlapGradients"}, reducesInBuckets, "several replicas that are not sharded in full"},
        {{"bucket"},
         reducesInBuckets && plan.overlapGradients,
         "overlapGradients among several replicas that are not sharded in full"},
        {{"distributedOptimizer"},
         sharded == ShardedState::Optimizer,
         "dataSharding: none or optimizer"},
        {{"distributedOptimizer"}, hasReplicas, "several replicas"},
        {{"dataSharding"}, isInFull || hasReplicas, "several replicas"},
        {{"dataSharding.ranks"},
         sharded != ShardedState::None,
         "dataSharding: optimizer, gradients or full"},
        {{"dataSharding.reshard", "dataSharding.prefetch", "dataSharding.perParameter"},
         isInFull,
         "dataSharding: full"},
        {{"dataSharding.everyPass"},
         isInFull || sharded == ShardedState::Gradients,
         "dataSharding: full or gradients"},
        {{"dataSharding.scatter", "dataSharding.overlapGather"},
         isInPart,
         "dataSharding: optimizer or gradients"}};
}

/** Conditions that depend on the placement of embedding tables. */
std::vector<KeyUse>
UsesOfTables(const ParallelPlan& plan, const LayerTable* table)
{
    const bool hasTables = table && !table->embeddings.empty();
    const EmbeddingSharding& sharding = plan.embeddings;
    const bool areByColumns = sharding.placement == EmbeddingPlacement::Columns;
    return {{{"embeddings"}, hasTables, "a model with embedding tables"},
            {{"embeddings.placement",
              "embeddings.balance",
              "embeddings.splitAbove",
              "embeddings.splitColumnsAbove",
              "embeddings.columnWidth",
              "embeddings.exchangeIndices"},
             plan.data > 1,
             "data above 1"},
            {{"embeddings.balance", "embeddings.splitAbove"},
             sharding.placement != EmbeddingPlacement::Rows,
             "placement: tables or columns"},
            {{"embeddings.splitColumnsAbove"},
             sharding.placement == EmbeddingPlacement::Tables,
             "placement: tables"},
            {{"embeddings.columnWidth"},
             areByColumns || sharding.splitColumnsAbove != EmbeddingSharding().splitColumnsAbove,
             "placement: columns, or splitColumnsAbove"},
            {{"embeddings.splitColumnsAbove", "embeddings.columnWidth"},
             hasTables && HasWideTable(plan, *table),
             "a table wider than columnWidth"}};
}

} // namespace

std::vector<std::string>
NotesOnPlanUse(const YamlNode& node, const ParallelPlan& plan, const Network& network)
{
    const auto* transformer = std::get_if<Transformer>(&network);
    const ExpertLoad& load = plan.expertLoad;
    if ((!transformer || !transformer->HasExperts()) &&
        (!load.IsBalanced() || load.capacityFactor > 0))
    {
        node.Get("expertLoad").Fail("found it for a model without experts, expected one with them");
    }
    ParallelPlan given = plan;
    ParallelPlan defaults = DefaultPlan();
    const std::vector<KeyUse> uses = PlanUses(plan, network);
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
        if (const KeyUse* unmet = FindUnmetUse(key, uses))
        {
            notes.push_back(NoteOnNoEffect(*found, unmet->needs));
        }
    }
    return notes;
}

std::vector<KeyUse>
PlanUses(const ParallelPlan& plan, const Network& network)
{
    const auto* transformer = std::get_if<Transformer>(&network);
    std::vector<KeyUse> uses;
    for (const auto& some : {UsesOfDegrees(plan),
                             UsesOfKernels(plan, transformer),
                             UsesOfReplicas(plan, transformer),
                             UsesOfTables(plan, std::get_if<LayerTable>(&network))})
    {
        uses.insert(uses.end(), some.begin(), some.end());
    }
    return uses;
}

const KeyUse*
FindUnmetUse(const std::string& key, const std::vector<KeyUse>& uses)
{
    const auto unmet = std::find_if(uses.begin(), uses.end(), [&](const KeyUse& use) {
        return !use.hasEffect &&
               std::any_of(use.keys.begin(), use.keys.end(), [&](const std::string& path) {
                   return path == key || path == MapOfKey(key);
               });
    });
    return unmet == uses.end() ? nullptr : &*unmet;
}

} // namespace weir
