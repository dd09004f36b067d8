// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/parallel-plan.h"

#include <cstdio>
#include <initializer_list>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace weir
{
namespace
{

/** Formats @p value with up to six significant digits. */
std::string
ShortText(double value)
{
    char text[32];
    std::snprintf(text, sizeof(text), "%.6g", value);
    return text;
}

/**
 * @throws std::invalid_argument unless @p divisor, named @p field, divides @p value, named @p what.
 */
void
RequireDivides(const char* field, uint64_t divisor, const std::string& what, uint64_t value)
{
    RequirePlan(divisor != 0 && value % divisor == 0,
                field,
                divisor,
                "a divisor of " + what + " = " + std::to_string(value));
}

void
CheckExpertModel(const Transformer& model)
{
    const ExpertLayers& moe = model.moe;
    RequirePlan(moe.topK > 0 && moe.topK <= moe.experts,
                "topK",
                moe.topK,
                "1 to " + std::to_string(moe.experts));
    RequirePlan(
        moe.ffn > 0 && moe.every > 0, "experts", moe.experts, "ffn and every of at least 1");
    const bool isLate = moe.firstLayer >= model.layers;
    RequirePlan(model.ExpertLayersOf(0, model.layers) > 0,
                isLate ? "firstLayer" : "every",
                isLate ? moe.firstLayer : moe.every,
                "a value that leaves at least one of the " + std::to_string(model.layers) +
                    " layers with experts");
}

void
CheckExpertLoad(const Transformer& model, const ExpertLoad& load)
{
    const std::vector<double>& shares = load.shares;
    RequirePlan(shares.empty() || shares.size() == model.moe.experts,
                "expertLoad",
                std::to_string(shares.size()) + " shares",
                "one for each of " + std::to_string(model.moe.experts) + " experts");
    const bool isPositive =
        std::all_of(shares.begin(), shares.end(), [](double share) { return share >= 0; });
    const bool hasWork =
        std::any_of(shares.begin(), shares.end(), [](double share) { return share > 0; });
    RequirePlan(shares.empty() || (isPositive && hasWork),
                "expertLoad",
                "shares that are negative or all zero",
                "shares of at least 0, of which one is positive");
    RequirePlan(!(load.capacityFactor < 0),
                "expertLoad",
                "capacityFactor " + ShortText(load.capacityFactor),
                "at least 0 (dropless)");
    // A token goes to topK different experts.
    const double max = static_cast<double>(model.moe.experts) / model.moe.topK;
    constexpr double ROUNDING = 1e-9;
    RequirePlan(!(load.imbalance < 1 || load.imbalance > max * (1 + ROUNDING)),
                "expertLoad",
                "imbalance " + ShortText(load.imbalance),
                "1 (balanced load) to experts / topK = " + ShortText(max) +
                    " (every token goes to the same expert)");
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    for (const double share : shares)
    {
        RequirePlan(!(share * model.moe.topK > sum * (1 + ROUNDING)),
                    "expertLoad",
                    "a share of " + ShortText(share) + " of " + ShortText(sum),
                    "at most 1 / topK of the sum (every token goes to that expert)");
    }
}

/**
 * Checks the distribution of the experts of @p model under @p plan.
 * @throws std::invalid_argument as CheckPlan, unless: expert divides the number of experts; the
 *         product of expert and expertTensor divides the ranks of a stage; expertTensor divides the
 *         experts' ffn; tensor divides sharedFfn; a model without experts has expert = 1 and
 *         expertTensor <= 1; a plan with experts and tensor > 1 has sequence parallelism.
 */
void
CheckExperts(const Transformer& model, const ParallelPlan& plan)
{
    if (!model.HasExperts())
    {
        const bool isExpert = plan.expert != 1;
        RequirePlan(!isExpert && plan.expertTensor <= 1,
                    isExpert ? "expert" : "expertTensor",
                    isExpert ? plan.expert : plan.expertTensor,
                    "1 for a model without experts");
        return;
    }
    CheckExpertModel(model);
    CheckExpertLoad(model, plan.expertLoad);
    RequireDivides("expert", plan.expert, "experts", model.moe.experts);
    const uint32_t tensor = plan.ExpertTensor();
    RequireDivides("expertTensor", tensor, "the experts' ffn", model.moe.ffn);
    RequireDivides("expert * expertTensor",
                   static_cast<uint64_t>(plan.expert) * tensor,
                   "tensor * context * data",
                   static_cast<uint64_t>(plan.tensor) * plan.DenseReplicas());
    if (model.moe.sharedFfn > 0)
    {
        RequireDivides("tensor", plan.tensor, "sharedFfn", model.moe.sharedFfn);
    }
    RequirePlan(plan.tensor == 1 || plan.sequenceParallel,
                "sequenceParallel",
                "false",
                "true with experts and tensor above 1");
}

/**
 * Checks the requirements of context parallelism.
 * @throws std::invalid_argument as CheckPlan, unless 2 * context (times tensor with sequence
 *         parallelism) divides the sequence, of which each rank takes two pieces under a causal
 *         mask, and attention is fused.
 */
void
CheckContext(const Transformer& model, const ParallelPlan& plan)
{
    if (plan.context == 1)
    {
        return;
    }
    const uint64_t pieces = 2ULL * plan.context * (plan.sequenceParallel ? plan.tensor : 1);
    RequireDivides(plan.sequenceParallel ? "context * 2 * tensor" : "context * 2",
                   pieces,
                   "sequence",
                   model.sequence);
    RequirePlan(plan.attention == AttentionKind::Fused,
                "attention",
                "unfused",
                "fused with context above 1");
}

/** Formats @p grid as "[2, 2, 4]". */
std::string
ToText(const TensorGrid& grid)
{
    const std::string side = std::to_string(grid.side);
    return "[" + side + ", " + side + ", " + std::to_string(grid.depth) + "]";
}

/**
 * Checks the sharding of the state of @p model: sharding groups divide the replicas, and the
 * options are compatible with each other.
 * @throws std::invalid_argument as CheckPlan.
 */
void
CheckSharding(const Transformer& model, const ParallelPlan& plan)
{
    const auto require = [](bool holds, const std::string& found, const std::string& expected) {
        RequirePlan(holds, "dataSharding", found, expected);
    };
    const ShardedState state = plan.Sharded();
    const uint32_t ranks = plan.sharding.ranks;
    const std::string ofRanks = "ranks = " + std::to_string(ranks);
    RequirePlan(plan.recomputeEvery > 0, "recomputeEvery", 0, "at least 1");
    RequirePlan(!plan.SplitsBackward() || state != ShardedState::Full,
                "schedule",
                "a zero-bubble schedule with dataSharding full",
                "1f1b, interleaved or gpipe");
    if (state == ShardedState::None)
    {
        require(ranks == 0, ofRanks + " with state none", "a state other than none");
        return;
    }
    const uint32_t replicas = plan.DenseReplicas();
    require(ranks == 0 ||
                (ranks <= replicas && replicas % ranks == 0 && (ranks > 1 || replicas == 1)),
            ofRanks,
            "0 (all replicas) or a divisor of the " + std::to_string(replicas) +
                " replicas, at least 2");
    const uint32_t expertRanks = plan.expert * plan.ExpertTensor();
    const uint32_t shardGpus = plan.tensor * plan.ShardRanks();
    require(!model.HasExperts() || shardGpus % expertRanks == 0,
            ofRanks,
            "groups whose " + std::to_string(shardGpus) +
                " GPUs (tensor * ranks) are a multiple of the " + std::to_string(expertRanks) +
                " that hold a layer's experts");
    const bool sharesGradients = state == ShardedState::Gradients;
    require(!sharesGradients || replicas == 1 || plan.overlapGradients,
            "state gradients without overlapGradients",
            "overlapGradients: true");
    require(!sharesGradients || plan.sharding.scatter,
            "state gradients with scatter: false",
            "scatter: true");
}

void
RequirePositive(std::initializer_list<std::pair<const char*, uint64_t>> fields)
{
    for (const auto& [field, value] : fields)
    {
        RequirePlan(value > 0, field, value, "at least 1");
    }
}

void
CheckPipeline(const Transformer& model, const ParallelPlan& plan)
{
    const uint32_t chunks = plan.virtualStages;
    if (plan.schedule == PipelineScheduleKind::Interleaved)
    {
        const char* const expected = "at least 2 with the interleaved schedule";
        RequirePlan(chunks >= 2, "virtualStages", chunks, expected);
        RequirePlan(plan.pipeline >= 2, "pipeline", plan.pipeline, expected);
        RequirePlan(plan.MicroBatches() % plan.pipeline == 0,
                    "globalBatch",
                    plan.globalBatch,
                    "micro-batches per pipeline (here " + std::to_string(plan.MicroBatches()) +
                        ") divisible by pipeline = " + std::to_string(plan.pipeline) +
                        " with the interleaved schedule");
    }
    else
    {
        RequirePlan(chunks == 1, "virtualStages", chunks, "1 unless the schedule is interleaved");
    }
    const uint64_t parts = static_cast<uint64_t>(plan.pipeline) * chunks;
    const uint64_t assigned = model.layers + (plan.embeddingsAsLayers ? 2 : 0);
    RequireDivides(chunks == 1 ? "pipeline" : "pipeline * virtualStages",
                   parts,
                   plan.embeddingsAsLayers ? "layers + 2" : "layers",
                   assigned);
}

/**
 * Checks that @p plan supports its tensor grid: q * q * d = tensor; q divides hidden, heads,
 * kvHeads and ffn; q * d divides microBatch, since attention needs whole samples; none of the
 * features that need one-dimensional tensor parallelism: sequence parallelism, context parallelism,
 * experts and FP8.
 * @throws std::invalid_argument as CheckPlan.
 */
void
CheckTensorGrid(const Transformer& model, const ParallelPlan& plan)
{
    const TensorGrid& grid = plan.grid;
    const auto require = [&grid](bool holds, const std::string& expected) {
        RequirePlan(holds, "tensorShape", ToText(grid), expected);
    };
    require(grid.depth > 0 && grid.Ranks() == plan.tensor,
            "[q, q, d] with q * q * d = tensor = " + std::to_string(plan.tensor));
    for (const auto& [field, value] : {std::pair("hidden", model.hidden),
                                       std::pair("heads", model.heads),
                                       std::pair("kvHeads", model.kvHeads),
                                       std::pair("ffn", model.ffn)})
    {
        require(value % grid.side == 0,
                std::string("a side that divides ") + field + " = " + std::to_string(value));
    }
    RequirePlan(plan.microBatch % plan.SampleParts() == 0,
                "microBatch",
                plan.microBatch,
                "a multiple of q * d = " + std::to_string(plan.SampleParts()) +
                    " with tensorShape " + ToText(grid));
    for (const auto& [found, what] : {std::pair(plan.sequenceParallel, "sequenceParallel"),
                                      std::pair(plan.context > 1, "context > 1"),
                                      std::pair(model.HasExperts() || plan.expert > 1, "experts"),
                                      std::pair(plan.precision == Precision::Fp8, "precision fp8")})
    {
        require(!found, std::string("no tensorShape with ") + what);
    }
}

} // namespace

void
RequirePlan(bool holds,
            const std::string& field,
            const std::string& found,
            const std::string& expected)
{
    if (!holds)
    {
        throw std::invalid_argument(field + ": found " + found + ", expected " + expected);
    }
}

void
RequirePlan(bool holds, const std::string& field, uint64_t found, const std::string& expected)
{
    RequirePlan(holds, field, std::to_string(found), expected);
}

uint32_t
GradientBytes(const ParallelPlan& plan)
{
    return plan.fp32Gradients ? BytesOf(Precision::Fp32) : ActivationBytes(plan.precision);
}

bool
KeepsGradientParts(const ParallelPlan& plan)
{
    return plan.Sharded() == ShardedState::Gradients && plan.DenseReplicas() > 1 &&
           (plan.sharding.everyPass || plan.MicroBatches() == 1);
}

bool
OverlapsGradients(const ParallelPlan& plan)
{
    return plan.overlapGradients && std::max(plan.DenseReplicas(), plan.ExpertReplicas()) > 1 &&
           plan.Sharded() != ShardedState::Full;
}

void
CheckPlan(const Transformer& model, const ParallelPlan& plan)
{
    RequirePositive({{"layers", model.layers},
                     {"hidden", model.hidden},
                     {"heads", model.heads},
                     {"kvHeads", model.kvHeads},
                     {"headDim", model.headDim},
                     {"ffn", model.ffn},
                     {"sequence", model.sequence},
                     {"vocabulary", model.vocabulary}});
    RequireDivides("kvHeads", model.kvHeads, "heads", model.heads);
    RequirePositive({{"tensor", plan.tensor},
                     {"pipeline", plan.pipeline},
                     {"data", plan.data},
                     {"context", plan.context},
                     {"expert", plan.expert},
                     {"virtualStages", plan.virtualStages},
                     {"microBatch", plan.microBatch},
                     {"globalBatch", plan.globalBatch}});
    if (plan.HasGrid())
    {
        CheckTensorGrid(model, plan);
    }
    else
    {
        RequireDivides("tensor", plan.tensor, "heads", model.heads);
        RequireDivides("tensor", plan.tensor, "kvHeads", model.kvHeads);
        RequireDivides("tensor", plan.tensor, "ffn", model.ffn);
    }
    if (plan.sequenceParallel)
    {
        RequireDivides("tensor", plan.tensor, "sequence", model.sequence);
    }
    RequireDivides("microBatch * data",
                   static_cast<uint64_t>(plan.microBatch) * plan.data,
                   "globalBatch",
                   plan.globalBatch);
    CheckContext(model, plan);
    CheckExperts(model, plan);
    CheckSharding(model, plan);
    CheckPipeline(model, plan);
    RequirePlan(!plan.overlapGradients || plan.DenseReplicas() == 1 || plan.bucket > Bytes(),
                "bucket",
                std::to_string(plan.bucket.Count()) + " bytes",
                "more than 0 when gradients overlap");
}

} // namespace weir
