// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/step-builder.h"

#include "compute-model/graph/stage-program.h"
#include "compute-model/kernels/kernel-time.h"
#include "compute-model/kernels/tensor-clock.h"
#include "compute-model/layers/kernel-table.h"
#include "compute-model/layers/step-segments.h"
#include "compute-model/plan/rank-groups.h"
#include "compute-model/plan/rank-shape.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace weir
{
namespace
{

constexpr double MAX_OPERATIONS = 1 << 25;
constexpr double BYTES_OF_OPERATION = 200; //!< with its dependencies and its execution state

/**
 * Operations of a pass. Segments that continue others join their operation, except at full buckets.
 */
std::size_t
OperationsOf(const SegmentSequence& pass)
{
    return static_cast<std::size_t>(std::count_if(
        pass.begin(), pass.end(), [](const Segment& segment) { return !segment.continues; }));
}

double
OperationsOfLayer(const LayerSegments& layer, const ParallelPlan& plan)
{
    const std::size_t backward = plan.SplitsBackward() ? OperationsOf(layer.backwardInput) +
                                                             OperationsOf(layer.backwardWeights)
                                                       : OperationsOf(layer.backward);
    const double recompute =
        plan.recomputation == Recomputation::None
            ? 0
            : static_cast<double>(layer.recompute.size()) / plan.recomputeEvery;
    return static_cast<double>(layer.forward.size() + backward) + recompute;
}

/**
 * Checks that the programs of a step can be held in memory.
 * @throws std::invalid_argument naming globalBatch, with the estimate, above 2^25 operations.
 */
void
CheckStepSize(const StepSegments& segments, const Transformer& model, const ParallelPlan& plan)
{
    const double operations = EstimateOperations(segments, model, plan);
    if (operations > MAX_OPERATIONS)
    {
        char estimate[64];
        std::snprintf(estimate,
                      sizeof(estimate),
                      "about %.3g operations, %.3g GB",
                      operations,
                      operations * BYTES_OF_OPERATION / 1e9);
        throw std::invalid_argument("globalBatch: found " + std::to_string(plan.MicroBatches()) +
                                    " micro-batches per replica, whose programs have " + estimate +
                                    "; expected at most " +
                                    std::to_string(static_cast<uint64_t>(std::floor(
                                        plan.MicroBatches() * MAX_OPERATIONS / operations))) +
                                    " micro-batches (or fewer layers)");
    }
}

/** Writes the traffic of expert ranks with unequal parts, at TO_EXPERTS and FROM_EXPERTS. */
void
WriteExpertTraffic(const Transformer& model, const ParallelPlan& plan, StepGraph& graph)
{
    if (!model.HasExperts() || plan.expertLoad.IsBalanced())
    {
        return;
    }
    TrafficParts there = ExpertTraffic(model, plan);
    TrafficParts back(there.size(), std::vector<Bytes>(there.size()));
    for (std::size_t from = 0; from < there.size(); from++)
    {
        for (std::size_t to = 0; to < there.size(); to++)
        {
            back[to][from] = there[from][to];
        }
    }
    graph.traffics = {std::move(there), std::move(back)};
}

} // namespace

double
EstimateOperations(const StepSegments& segments, const Transformer& model, const ParallelPlan& plan)
{
    const double withExperts = model.ExpertLayersOf(0, model.layers);
    return plan.MicroBatches() *
           (withExperts * OperationsOfLayer(segments.Layer(true), plan) +
            (model.layers - withExperts) * OperationsOfLayer(segments.Layer(false), plan));
}

StepGraph
BuildTransformerStep(const Transformer& model, const ParallelPlan& plan, const Gpu& gpu)
{
    CheckPlan(model, plan);
    StepGraph graph;
    WriteRankGroups(model, plan, graph);
    WriteExpertTraffic(model, plan, graph);
    const Gpu warm = UnderLoad(SlowestOf(gpu, plan.Ranks()), StepLoad(model, plan, gpu));
    const KernelTimer timer(warm, ClockRegime::Sustained);
    KernelTable kernels(graph, timer, plan.host.kernel);
    const StepSegments segments(kernels, model, plan);
    CheckStepSize(segments, model, plan);
    for (uint32_t stage = 0; stage < plan.pipeline; stage++)
    {
        const StageSource source{model, plan, segments, stage};
        graph.programs.push_back(BuildStageProgram(source, kernels));
        graph.programStage.push_back(stage);
    }
    for (uint32_t rank = 0; rank < plan.Ranks(); rank++)
    {
        graph.rankProgram.push_back(StageOf(plan, rank));
    }
    return graph;
}

StepGraph
BuildStep(const Network& network, const ParallelPlan& plan, const Gpu& gpu)
{
    const auto* table = std::get_if<LayerTable>(&network);
    return table != nullptr ? BuildTableStep(*table, plan, gpu)
                            : BuildTransformerStep(std::get<Transformer>(network), plan, gpu);
}

} // namespace weir
