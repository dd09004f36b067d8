// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/training-run.h"

#include "compute-model/execution/step-calls.h"
#include "compute-model/graph/step-builder.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

void
CheckGpuCount(const TrainingJobSpec& spec)
{
    if (spec.gpus.size() != spec.plan.Ranks())
    {
        throw std::invalid_argument(
            "job " + spec.name + ": found " + std::to_string(spec.gpus.size()) +
            " GPUs, expected tensor * pipeline * data" +
            (spec.plan.context > 1 ? " * context = " : " = ") + std::to_string(spec.plan.Ranks()));
    }
}

void
CheckFits(const TrainingJobSpec& spec, const MemoryEstimate& memory, const Gpu& gpu)
{
    if (memory.Total() > gpu.memory)
    {
        throw std::invalid_argument("job " + spec.name + ": a GPU of pipeline stage " +
                                    std::to_string(memory.stage) + " needs " + ToText(memory) +
                                    ", expected at most the " + InGiB(gpu.memory) + " of " +
                                    gpu.name);
    }
}

std::vector<CommunicatorId>
AddCommunicators(const StepGraph& graph, const std::vector<GpuId>& gpus, Planner& planner)
{
    std::vector<CommunicatorId> communicators;
    communicators.reserve(graph.groups.size());
    for (const auto& group : graph.groups)
    {
        std::vector<GpuId> members;
        members.reserve(group.size());
        for (Rank rank : group)
        {
            members.push_back(gpus[rank.Index()]);
        }
        communicators.push_back(planner.AddCommunicator(members));
    }
    return communicators;
}

/**
 * Whether the framework makes CUDA keep the launch order. Megatron-LM does: it requires
 * CUDA_DEVICE_MAX_CONNECTIONS=1 with tensor parallelism.
 */
bool
LaunchesInOrder(const ParallelPlan& plan)
{
    return plan.tensor > 1 && plan.overlapTensor;
}

/** Checks the plan, the number of GPUs and the GPU's memory. Returns the memory estimate. */
MemoryEstimate
CheckedMemory(const TrainingJobSpec& spec, const Gpu& gpu)
{
    if (spec.recorded)
    {
        CheckGpuCount(spec);
        return {}; // a trace does not state memory use
    }
    const auto* table = std::get_if<LayerTable>(&spec.network);
    const auto* model = std::get_if<Transformer>(&spec.network);
    table != nullptr ? CheckTablePlan(*table, spec.plan) : CheckPlan(*model, spec.plan);
    CheckGpuCount(spec);
    const MemoryEstimate memory = table != nullptr ? EstimateTableMemory(*table, spec.plan)
                                                   : EstimateMemory(*model, spec.plan);
    CheckFits(spec, memory, gpu);
    return memory;
}

/**
 * Replaces the stream numbers of actors in @p calls by those of the GPU of the actor's first rank,
 * so that the numbers of different jobs differ.
 */
void
NameStreamsByGpu(CallClass& calls, const RankFold& fold, const std::vector<GpuId>& gpus)
{
    for (uint32_t& stream : calls.streams)
    {
        const auto actor = static_cast<uint32_t>(stream / STREAM_COUNT);
        stream = StreamOfGpu(gpus[*fold.ranks.begin(actor)], stream % STREAM_COUNT);
    }
    std::sort(calls.streams.begin(), calls.streams.end());
}

} // namespace

TrainingRun::TrainingRun(TrainingJobSpec spec,
                         const Gpu& gpu,
                         Planner& planner,
                         CollectiveEngine& engine)
    : m_spec(std::move(spec)),
      m_memory(CheckedMemory(m_spec, gpu)),
      m_graph(m_spec.recorded ? std::move(*m_spec.recorded)
                              : BuildStep(m_spec.network, m_spec.plan, gpu)),
      m_traffics(AddTraffics(m_graph, planner)),
      m_communicators(AddCommunicators(m_graph, m_spec.gpus, planner))
{
    StepExecutorSpec execution;
    execution.graph = &m_graph;
    execution.engine = &engine;
    execution.communicators = m_communicators;
    execution.traffics = m_traffics;
    execution.steps = m_spec.steps;
    execution.overlapsSteps = m_spec.plan.OverlapsSteps();
    execution.start = m_spec.start;
    execution.computeScale = m_spec.computeScale;
    execution.sms = gpu.sms;
    execution.overlap = m_spec.overlap;
    execution.pace = {gpu.memoryRate,
                      gpu.boostClockHz,
                      gpu.sustainedClockHz,
                      gpu.kernels.operators.copyBytesPerBlockPerClock,
                      gpu.kernels.operators.reduceBytesPerBlockPerClock};
    execution.launchesInOrder = !m_spec.recorded && LaunchesInOrder(m_spec.plan);
    execution.jitter = m_spec.jitter;
    execution.steady = m_spec.steady;
    auto kinds = PlanCommunication(
        m_graph, m_communicators, m_spec.gpus, planner, gpu.memoryRate, m_traffics);
    if (engine.WantsClasses())
    {
        const RankFold fold(m_graph, m_spec.computeScale, kinds);
        for (CallClass& calls : ConcurrentCalls(m_graph, fold, m_communicators, m_traffics))
        {
            NameStreamsByGpu(calls, fold, m_spec.gpus);
            engine.ExpectConcurrent(calls);
        }
        if (engine.TimesByClass() && !m_spec.jitter.IsOn())
        {
            execution.groupKinds = std::move(kinds);
        }
    }
    m_executor = std::make_unique<StepExecutor>(std::move(execution));
}

CollectiveCall
TrainingRun::CallOf(uint32_t group, const StepOp& op) const
{
    return weir::CallOf(op, m_communicators[group], m_traffics);
}

} // namespace weir
