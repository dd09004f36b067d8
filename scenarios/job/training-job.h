// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_JOB_TRAINING_JOB_H
#define WEIR_JOB_TRAINING_JOB_H

#include "collective-runtime.h"

#include "collectives/fidelity.h"
#include "compute-model/execution/rank-jitter.h"
#include "compute-model/execution/step-executor.h"
#include "compute-model/kernels/gpu.h"
#include "compute-model/models/layer-table.h"
#include "compute-model/training-run.h"
#include "ns3/fluid-fabric.h"
#include "ns3/object.h"
#include "ns3/parameter-attributes.h"
#include "ns3/traced-callback.h"

#include <string>
#include <vector>

namespace ns3
{

/**
 * Trains a network on some GPUs of a cluster, step after step. It is to a set of nodes, as many as
 * the parallel plan needs, what an Application is to a node.
 *
 * The attributes are those of the plan, one for each key of PlanKeys; the network and the GPU are
 * plain values. A job that is disposed of begins no further step; one in progress ends.
 */
class TrainingJob : public ParameterizedObject,
                    private weir::Parameterized,
                    private weir::StepObserver
{
  public:
    /** Get the type ID. */
    static TypeId GetTypeId();

    TrainingJob();
    ~TrainingJob() override;

    /**
     * Installs the job on GPUs; it starts at its StartTime. A job that cannot run, or does not fit
     * the GPUs' memory, ends the program with the reason. Must not be called from a callback of the
     * engines, such as StepFinished: schedule it instead (Simulator::ScheduleNow).
     * @param fabric the fabric that connects the GPUs
     * @param gpus by rank (tensor innermost, then context, data, pipeline), as GPU numbers of the
     *        cluster
     * @param network the network to train: a weir::Transformer or a weir::LayerTable
     * @param gpu the GPU model
     */
    void Install(Ptr<FluidFabric> fabric,
                 const std::vector<uint32_t>& gpus,
                 const weir::Network& network,
                 const weir::Gpu& gpu);

    /**
     * Sets factors on compute times, for slow (or fast) GPUs. Must be called before Install.
     * @param factors by rank
     */
    void SetComputeScale(const std::vector<double>& factors);

    /** Number of GPUs that the plan needs. */
    uint32_t GetNRanks() const;

    /** Whether all steps are done. */
    bool IsFinished() const;

    /** Durations of the finished steps, in order. */
    const std::vector<weir::Time>& GetStepTimes() const;

    /**
     * Duration of a step: the last one, or with Jitter or SteadyTolerance the mean of all (without
     * the first where steps overlap, ParallelPlan::OverlapsSteps). Ends the program, saying which
     * ranks wait for what, when the job has not finished, or was disposed of before its first step.
     * @return the duration
     */
    weir::Time GetStepTime() const;

    /**
     * Duration of a step concurrent with all other jobs, as `weir run` reports it: considers the
     * steps that ended before another job or collective of the fabric did, and takes the last, or
     * the mean as GetStepTime. All finished steps count if there is no other job, or if the other
     * one ended before all steps.
     * @return the duration
     */
    weir::Time GetSteadyStepTime() const;

    /** Breakdown by category of the time of GetSteadyStepTime. @return by rank */
    const std::vector<weir::RankBreakdown>& GetBreakdown() const;

    /** Which ranks are blocked on what. @return one line; empty when finished */
    std::string DescribeWaiting() const;

    /** The plain job: its graph, memory estimate and executor. */
    weir::TrainingRun& GetRun() const;

    /**
     * TracedCallback signature of OpFinished.
     * @param step number of the step
     * @param rank the rank
     * @param stream its stream
     * @param op the operation
     * @param posted when the rank reached it
     * @param started when its execution began
     * @param finished when it ended
     */
    typedef void (*OpFinishedTracedCallback)(uint32_t step,
                                             weir::Rank rank,
                                             weir::StreamKind stream,
                                             const weir::StepOp& op,
                                             weir::Time posted,
                                             weir::Time started,
                                             weir::Time finished);

    /**
     * TracedCallback signature of CollectiveFinished.
     * @param step number of the step
     * @param group number of the group in the job's graph
     * @param op the operation
     * @param firstArrival when its first rank was ready
     * @param started when its last rank was ready
     * @param finished when it ended on all ranks
     */
    typedef void (*CollectiveFinishedTracedCallback)(uint32_t step,
                                                     uint32_t group,
                                                     const weir::StepOp& op,
                                                     weir::Time firstArrival,
                                                     weir::Time started,
                                                     weir::Time finished);

    /**
     * TracedCallback signature of StepFinished.
     * @param step number of the step
     * @param started exact time of its start
     * @param finished exact time of its end
     */
    typedef void (*StepFinishedTracedCallback)(uint32_t step,
                                               weir::Time started,
                                               weir::Time finished);

    std::vector<ParameterComponent> GetComponents() override;

  protected:
    void DoDispose() override;

  private:
    void OnOpFinished(uint32_t step,
                      weir::Rank rank,
                      weir::StreamKind stream,
                      const weir::StepOp& op,
                      weir::Time posted,
                      weir::Time started,
                      weir::Time finished) override;
    void OnCollectiveFinished(uint32_t step,
                              uint32_t group,
                              const weir::StepOp& op,
                              uint64_t number,
                              weir::Time firstArrival,
                              weir::Time started,
                              weir::Time finished) override;
    void OnStepFinished(uint32_t step, weir::Time started, weir::Time finished) override;

    void VisitParameters(weir::ParameterVisitor& visitor) override;

    /** The plan given by the attributes. */
    weir::ParallelPlan GetPlan() const;

    /**
     * Sets the plan's attributes that are still at their previous defaults to the values of a
     * framework.
     * @param name of a framework, as in a scenario; empty: the attributes' defaults
     */
    void SetFramework(std::string name);

    /** Gets the framework. */
    std::string GetFramework() const;

    std::string m_name{"job"};                         //!< name in messages
    weir::ParallelPlan m_plan;                         //!< without tensorShape and expertLoad
    std::string m_framework;                           //!< name
    weir::ParallelPlan m_frameworkPlan;                //!< the framework's defaults
    std::string m_tensorShape;                         //!< as a scenario has it
    std::string m_expertLoad;                          //!< as a scenario has it
    uint32_t m_steps{2};                               //!< how many
    double m_steadyTolerance{0};                       //!< relative, of the mean step
    weir::JitterSpec m_jitter;                         //!< of compute times
    std::string m_overlap{"modeled"};                  //!< name, or a factor
    weir::Fidelity m_fidelity{weir::Fidelity::Stream}; //!< of communication
    std::vector<double> m_computeScale;                //!< by rank; empty: all 1
    weir::Time m_startTime;                            //!< of the first step

    Ptr<CollectiveRuntime> m_runtime;  //!< the fabric's
    weir::TrainingRun* m_run{nullptr}; //!< of the runtime's simulation

    TracedCallback<uint32_t,
                   weir::Rank,
                   weir::StreamKind,
                   const weir::StepOp&,
                   weir::Time,
                   weir::Time,
                   weir::Time>
        m_opFinished; //!< OpFinished trace source
    TracedCallback<uint32_t, uint32_t, const weir::StepOp&, weir::Time, weir::Time, weir::Time>
        m_collectiveFinished; //!< CollectiveFinished trace source
    TracedCallback<uint32_t, weir::Time, weir::Time> m_stepFinished; //!< StepFinished trace source
};

} // namespace ns3

#endif // WEIR_JOB_TRAINING_JOB_H
