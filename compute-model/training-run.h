// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_TRAINING_RUN_H
#define WEIR_COMPUTE_MODEL_TRAINING_RUN_H

#include "collectives/planner.h"
#include "compute-model/execution/step-executor.h"
#include "compute-model/graph/step-program.h"
#include "compute-model/kernels/gpu.h"
#include "compute-model/models/layer-table.h"
#include "compute-model/plan/memory-estimate.h"
#include "compute-model/plan/parallel-plan.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/**
 * One training job: its network, its parallel plan, its GPUs and its number of steps. With
 * `recorded`, the job executes a recorded step on plan.data ranks instead.
 */
struct TrainingJobSpec
{
    std::string name{"job"};
    Network network; //!< model to train
    ParallelPlan plan;
    uint32_t steps{2};
    Time start;                       //!< start of the first step
    std::vector<GpuId> gpus;          //!< by Rank; as many as the plan has ranks
    std::vector<double> computeScale; //!< by Rank: factor on compute durations; empty: all 1
    OverlapPolicy overlap;            //!< slowdown of kernels that overlap communication
    JitterSpec jitter;                //!< variation of compute durations between ranks
    SteadyRule steady;                //!< the job starts no more steps once this rule is met
    std::optional<StepGraph>
        recorded{}; //!< step of an imported workload, executed instead of a step built from network
                    //!< and plan; TrainingRun moves from it
};

/** Identifier of a stream of a GPU in CallClass::streams, unique over all jobs. */
inline uint32_t
StreamOfGpu(GpuId gpu, std::size_t stream)
{
    return static_cast<uint32_t>(gpu.Index() * STREAM_COUNT + stream);
}

/** A training job on a cluster: its step graph, its communicators and its executor. */
class TrainingRun
{
  public:
    /**
     * @throws std::invalid_argument when the plan is invalid (CheckPlan, CheckTablePlan), when the
     *         number of GPUs differs from the number of ranks, or when the plan does not fit the
     *         GPU's memory (the message gives the estimate by component, the capacity and the
     *         fullest stage).
     */
    TrainingRun(TrainingJobSpec spec, const Gpu& gpu, Planner& planner, CollectiveEngine& engine);
    TrainingRun(const TrainingRun&) = delete;
    TrainingRun& operator=(const TrainingRun&) = delete;

    const TrainingJobSpec& GetSpec() const
    {
        return m_spec;
    }

    const StepGraph& GetGraph() const
    {
        return m_graph;
    }

    const MemoryEstimate& GetMemory() const
    {
        return m_memory;
    }

    /** The call to the engine for operation @p op of group @p group of the graph. */
    CollectiveCall CallOf(uint32_t group, const StepOp& op) const;

    StepExecutor& GetExecutor()
    {
        return *m_executor;
    }

  private:
    TrainingJobSpec m_spec;
    MemoryEstimate m_memory;
    StepGraph m_graph;
    std::vector<TrafficId> m_traffics;           //!< by index into StepGraph::traffics
    std::vector<CommunicatorId> m_communicators; //!< by group of the graph
    std::unique_ptr<StepExecutor> m_executor;
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_TRAINING_RUN_H
