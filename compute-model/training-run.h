// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_TRAINING_RUN_H
#define WEIR_COMPUTE_MODEL_TRAINING_RUN_H

#include "collectives/planner.h"
#include "compute-model/execution/step-executor.h"
#include "compute-model/graph/step-program.h"
#include "compute-model/kernels/gpu.h"
#include "compute-model/models/network.h"
#include "compute-model/plan/memory-estimate.h"
#include "compute-model/plan/parallel-plan.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/**
 * One training job: what is trained, how it is spread, for how many steps; or a recorded step, of
 * plan.data ranks.
 */
struct TrainingJobSpec
{
    std::string name{"job"};
    Network network; //!< what is trained
    ParallelPlan plan;
    uint32_t steps{2};
    Time start;                       //!< when its first step begins
    std::vector<GpuId> gpus;          //!< by Rank; as many as the plan has ranks
    std::vector<double> computeScale; //!< by Rank: factor on compute durations; empty: all 1
    OverlapPolicy overlap;            //!< how much longer kernels beside communication take
    JitterSpec jitter;                //!< how compute durations differ from rank to rank
    SteadyRule steady;                //!< no more steps once it is met
    bool foldRanks{true}; //!< whether ranks that provably do the same are executed once for all
    std::optional<StepGraph> recorded{}; //!< the step of an imported workload; then nothing is
                                         //!< built of network and plan. Empty once the job runs
};

/** The number of a stream of a GPU in CallClass::streams: no other has it. */
inline uint32_t
StreamOfGpu(GpuId gpu, std::size_t stream)
{
    return static_cast<uint32_t>(gpu.Index() * STREAM_COUNT + stream);
}

/** A job joined to a cluster: its step graph, its communicators, its executor. */
class TrainingRun
{
  public:
    /**
     * @throws std::invalid_argument when the plan cannot run (CheckPlan), needs another number of
     *         GPUs than given, or does not fit the GPU's memory (the message gives the estimate by
     *         part, the capacity and the fullest stage).
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

    /** By index into StepGraph::traffics. */
    const std::vector<TrafficId>& GetTraffics() const
    {
        return m_traffics;
    }

    StepExecutor& GetExecutor()
    {
        return *m_executor;
    }

  private:
    TrainingJobSpec m_spec;
    MemoryEstimate m_memory;
    StepGraph m_graph;
    std::vector<TrafficId> m_traffics;
    std::unique_ptr<StepExecutor> m_executor;
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_TRAINING_RUN_H
