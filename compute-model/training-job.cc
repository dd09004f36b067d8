// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/training-job.h"

#include "compute-model/graph/step-builder.h"

#include <cstdio>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace weir
{

namespace
{

std::string
InGiB(Bytes bytes)
{
    char text[32];
    std::snprintf(text, sizeof(text), "%.1f GiB", bytes.ToDouble() / Bytes::GiB(1).ToDouble());
    return text;
}

void
CheckGpuCount(const TrainingJobSpec& spec)
{
    if (spec.gpus.size() != spec.plan.Ranks())
    {
        throw std::invalid_argument(
            "job " + spec.name + ": found " + std::to_string(spec.gpus.size()) +
            " GPUs, expected tensor * pipeline * data = " + std::to_string(spec.plan.Ranks()));
    }
}

void
CheckFits(const TrainingJobSpec& spec, const MemoryEstimate& memory, const Gpu& gpu)
{
    if (memory.Total() > gpu.memory)
    {
        throw std::invalid_argument(
            "job " + spec.name + ": a GPU of pipeline stage " + std::to_string(memory.stage) +
            " needs " + InGiB(memory.Total()) + " (weights " + InGiB(memory.weights) +
            ", gradients " + InGiB(memory.gradients) + ", optimizer " + InGiB(memory.optimizer) +
            ", activations " + InGiB(memory.activations) + ", buffers " + InGiB(memory.buffers) +
            "), expected at most the " + InGiB(gpu.memory) + " of a " + gpu.name);
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

/** Enters how many channels, each a multiprocessor, NCCL gives every communication of @p graph. */
void
EnterChannels(StepGraph& graph, const std::vector<CommunicatorId>& communicators, Planner& planner)
{
    using Key = std::tuple<uint32_t, CollectiveOp, int64_t>;
    std::map<Key, uint16_t> known;
    for (uint32_t rank = 0; rank < graph.RankCount(); rank++)
    {
        const uint32_t program = graph.rankProgram[rank];
        if (rank > 0 && program == graph.rankProgram[rank - 1])
        {
            continue; // alike on all ranks of a role
        }
        for (auto& ops : graph.programs[program].streams)
        {
            for (StepOp& op : ops)
            {
                if (op.kind == StepOpKind::Compute)
                {
                    continue;
                }
                const uint32_t group = graph.rankGroups[rank][op.group];
                const CollectiveOp what =
                    op.kind == StepOpKind::Collective ? op.collective : CollectiveOp::Send;
                const auto [entry, isNew] = known.try_emplace({group, what, op.bytes.Count()});
                if (isNew)
                {
                    CollectiveCall call;
                    call.communicator = communicators[group];
                    call.op = what;
                    call.bytes = op.bytes;
                    entry->second = static_cast<uint16_t>(planner.Plan(call).channels);
                }
                op.sms = entry->second;
            }
        }
    }
}

/** The estimate, once everything that it stands on has been checked. */
MemoryEstimate
CheckedMemory(const TrainingJobSpec& spec, const Gpu& gpu)
{
    CheckPlan(spec.model, spec.plan);
    CheckGpuCount(spec);
    const MemoryEstimate memory = EstimateMemory(spec.model, spec.plan);
    CheckFits(spec, memory, gpu);
    return memory;
}

} // namespace

TrainingJob::TrainingJob(TrainingJobSpec spec,
                         const Gpu& gpu,
                         Planner& planner,
                         CollectiveEngine& engine)
    : m_spec(std::move(spec)),
      m_memory(CheckedMemory(m_spec, gpu)),
      m_graph(BuildTransformerStep(m_spec.model, m_spec.plan, gpu))
{
    StepExecutorSpec execution;
    execution.graph = &m_graph;
    execution.engine = &engine;
    execution.communicators = AddCommunicators(m_graph, m_spec.gpus, planner);
    execution.steps = m_spec.steps;
    execution.start = m_spec.start;
    execution.computeScale = m_spec.computeScale;
    execution.sms = gpu.sms;
    EnterChannels(m_graph, execution.communicators, planner);
    m_executor = std::make_unique<StepExecutor>(std::move(execution));
}

} // namespace weir
