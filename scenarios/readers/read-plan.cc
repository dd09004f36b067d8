// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-plan.h"

#include "scenarios/readers/read-embeddings.h"
#include "scenarios/readers/read-experts.h"
#include "scenarios/readers/read-sharding.h"
#include "scenarios/readers/scenario-names.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace weir
{
namespace
{

// Products of two of these stay within 32 bits.
constexpr int64_t MOST_WAYS = 65535;
constexpr int64_t MOST_SAMPLES = 1 << 24; // of a step

void
ReadCount(const YamlNode& node, const char* key, uint32_t& value, int64_t most = MOST_WAYS)
{
    if (const auto found = node.Find(key))
    {
        value = static_cast<uint32_t>(found->AsInteger(1, most));
    }
}

void
ReadFlag(const YamlNode& node, const char* key, bool& value)
{
    if (const auto found = node.Find(key))
    {
        value = found->AsBool();
    }
}

template <typename E>
void
ReadChoice(const YamlNode& node, const char* key, const NamedChoices<E>& choices, E& value)
{
    if (const auto found = node.Find(key))
    {
        value = found->AsEnum(choices);
    }
}

void
ReadHost(const YamlNode& node, HostCosts& host)
{
    node.CheckKeys({"kernel", "communication", "syncBatches", "syncTransfers", "syncPasses"});
    if (const auto kernel = node.Find("kernel"))
    {
        host.kernel = kernel->AsTime();
    }
    if (const auto communication = node.Find("communication"))
    {
        host.communication = communication->AsTime();
    }
    ReadFlag(node, "syncBatches", host.syncBatches);
    ReadFlag(node, "syncTransfers", host.syncTransfers);
    ReadFlag(node, "syncPasses", host.syncPasses);
}

/** [T] (one dimension), [q, q] or [q, q, d]. @param tensor what the plan's tensor is. */
TensorGrid
ReadTensorShape(const YamlNode& node, uint32_t tensor)
{
    std::vector<uint32_t> extents;
    for (const YamlNode& extent : node.Items())
    {
        extents.push_back(static_cast<uint32_t>(extent.AsInteger(1, MOST_WAYS)));
    }
    if (extents.empty() || extents.size() > 3)
    {
        node.Fail("found " + std::to_string(extents.size()) +
                  " extents, expected [tensor], [q, q] or [q, q, d]");
    }
    if (extents.size() == 1)
    {
        if (extents[0] != tensor)
        {
            node.Fail("found [" + std::to_string(extents[0]) + "], expected [" +
                      std::to_string(tensor) + "], as tensor has it");
        }
        return {};
    }
    if (extents[0] != extents[1])
    {
        node.Fail("found " + std::to_string(extents[0]) + " x " + std::to_string(extents[1]) +
                  ", expected a square: [q, q] or [q, q, d]");
    }
    return {extents[0], extents.size() == 3 ? extents[2] : 1};
}

} // namespace

ParallelPlan
ReadPlan(const YamlNode& node)
{
    node.CheckKeys({"tensor",
                    "tensorShape",
                    "pipeline",
                    "data",
                    "context",
                    "contextExchange",
                    "expert",
                    "expertTensor",
                    "expertLoad",
                    "sequenceParallel",
                    "schedule",
                    "virtualStages",
                    "microBatch",
                    "globalBatch",
                    "recomputation",
                    "attention",
                    "attentionSpeed",
                    "overlapTensor",
                    "overlapGradients",
                    "bucket",
                    "distributedOptimizer",
                    "dataSharding",
                    "fusion",
                    "recomputeEvery",
                    "fp32Gradients",
                    "scatterGatherPipeline",
                    "embeddingsAsLayers",
                    "embeddings",
                    "host"});
    ParallelPlan plan;
    plan.host = EagerHost();
    ReadCount(node, "tensor", plan.tensor);
    if (const auto shape = node.Find("tensorShape"))
    {
        plan.grid = ReadTensorShape(*shape, plan.tensor);
    }
    ReadCount(node, "pipeline", plan.pipeline);
    ReadCount(node, "data", plan.data);
    ReadTokenSpread(node, plan);
    ReadFlag(node, "sequenceParallel", plan.sequenceParallel);
    ReadChoice(node, "schedule", ScheduleNames(), plan.schedule);
    ReadCount(node, "virtualStages", plan.virtualStages);
    ReadCount(node, "microBatch", plan.microBatch, MOST_WAYS + 1);
    ReadCount(node, "globalBatch", plan.globalBatch, MOST_SAMPLES);
    ReadChoice(node, "recomputation", RecomputationNames(), plan.recomputation);
    ReadChoice(node, "attention", AttentionNames(), plan.attention);
    if (const auto speed = node.Find("attentionSpeed"))
    {
        plan.attentionSpeed = speed->AsNumber(0.01, 100);
    }
    ReadFlag(node, "overlapTensor", plan.overlapTensor);
    ReadFlag(node, "overlapGradients", plan.overlapGradients);
    if (const auto bucket = node.Find("bucket"))
    {
        plan.bucket = bucket->AsBytes();
    }
    ReadFlag(node, "distributedOptimizer", plan.distributedOptimizer);
    if (const auto sharding = node.Find("dataSharding"))
    {
        plan.sharding = ReadSharding(*sharding);
    }
    if (const auto embeddings = node.Find("embeddings"))
    {
        plan.embeddings = ReadEmbeddingSharding(*embeddings);
    }
    ReadChoice(node, "fusion", KernelFusionNames(), plan.fusion);
    ReadCount(node, "recomputeEvery", plan.recomputeEvery);
    ReadFlag(node, "fp32Gradients", plan.fp32Gradients);
    ReadFlag(node, "scatterGatherPipeline", plan.scatterGatherPipeline);
    ReadFlag(node, "embeddingsAsLayers", plan.embeddingsAsLayers);
    if (const auto host = node.Find("host"))
    {
        ReadHost(*host, plan.host);
    }
    return plan;
}

Precision
ReadPrecision(const YamlNode& node)
{
    return node.AsEnum(PrecisionNames());
}

void
CheckPlanAt(const Transformer& model,
            const ParallelPlan& plan,
            const YamlNode& planNode,
            const YamlNode& modelNode)
{
    std::string message;
    try
    {
        CheckPlan(model, plan);
        return;
    }
    catch (const std::invalid_argument& error)
    {
        message = error.what();
    }
    // "field: found 7, expected ...", or "field * field: ..." for a product
    const std::string field = message.substr(0, message.find(':'));
    const std::string first = field.substr(0, field.find(' '));
    std::string refusal = message.substr(std::min(message.size(), field.size() + 2));
    if (first != field && refusal.rfind("found ", 0) == 0)
    {
        refusal = "found " + field + " = " + refusal.substr(std::string("found ").size());
    }
    for (const YamlNode& node : {planNode, modelNode})
    {
        if (const auto found = node.IsMap() ? node.Find(first) : std::nullopt)
        {
            found->Fail(refusal);
        }
    }
    planNode.Fail(message);
}

} // namespace weir
