// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/step-builder.h"

#include "compute-model/graph/stage-program.h"
#include "compute-model/graph/step-size.h"
#include "compute-model/graph/table-step.h"
#include "compute-model/kernels/clock-spread.h"
#include "compute-model/kernels/kernel-time.h"
#include "compute-model/layers/kernel-table.h"
#include "compute-model/layers/step-load.h"
#include "compute-model/layers/step-segments.h"
#include "compute-model/plan/rank-groups.h"

namespace weir
{

StepGraph
BuildTransformerStep(const Transformer& model, const ParallelPlan& plan, const Gpu& gpu)
{
    CheckPlan(model, plan);
    StepGraph graph;
    WriteRankGroups(model, plan, graph);
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
