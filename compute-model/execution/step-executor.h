// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_EXECUTION_STEP_EXECUTOR_H
#define WEIR_COMPUTE_MODEL_EXECUTION_STEP_EXECUTOR_H

#include "collectives/engines/collective-engine.h"
#include "compute-model/execution/rank-jitter.h"
#include "compute-model/execution/sm-pace.h"
#include "compute-model/execution/steady-rule.h"
#include "compute-model/graph/step-program.h"
#include "fabric/transport/passive-engine.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/** Observes the end of every operation; used by trace sources, timeline and result file. */
class StepObserver
{
  public:
    virtual ~StepObserver() = default;

    /** Whether OnOpFinished is wanted for operations of @p rank; AddObserver asks once. */
    virtual bool Watches(Rank rank) const
    {
        return true;
    }

    /** @param posted when the rank reached it, @param started when it began to make progress. */
    virtual void OnOpFinished(uint32_t step,
                              Rank rank,
                              StreamKind stream,
                              const StepOp& op,
                              Time posted,
                              Time started,
                              Time finished)
    {
    }

    /**
     * A collective or send/recv of group @p group has ended on all its ranks. @p number is its
     * index in the run, in the order of starts.
     */
    virtual void OnCollectiveFinished(uint32_t step,
                                      uint32_t group,
                                      const StepOp& op,
                                      uint64_t number,
                                      Time firstArrival,
                                      Time started,
                                      Time finished)
    {
    }

    virtual void OnStepFinished(uint32_t step, Time started, Time finished)
    {
    }
};

/** A collective or send/recv in progress. */
struct RunningCollective
{
    uint32_t step{0};
    uint32_t group{
        0}; //!< index in the graph; of equivalent groups that are executed once, the first
    const StepOp* op{nullptr};
    uint64_t number{0}; //!< as in StepObserver::OnCollectiveFinished
};

/** Steps that SteadyStep refers to. */
enum class SteadyKind : uint8_t
{
    Last,     //!< the last step
    Mean,     //!< the mean of the steps
    LastHeld, //!< the last step that ended before HoldSteady, while other jobs were running
    MeanHeld  //!< the mean of the steps that ended before HoldSteady
};

const char* ToString(SteadyKind kind);

/** Time of one rank in a step, by category; the categories sum to the step's time. */
struct RankBreakdown
{
    std::array<Time, TIME_CATEGORY_COUNT> spent{}; //!< by TimeCategory
};

/** A step graph to execute, and its settings. */
struct StepExecutorSpec
{
    const StepGraph* graph{nullptr};           //!< must outlive the executor
    CollectiveEngine* engine{nullptr};         //!< must outlive the executor
    std::vector<CommunicatorId> communicators; //!< by group of the graph
    std::vector<TrafficId> traffics;           //!< by index into StepGraph::traffics
    uint32_t steps{1};                         //!< number of steps to run, one after another
    bool overlapsSteps{false}; //!< a rank begins its next step when its own has ended; false: when
                               //!< all ranks have ended theirs (a barrier)
    SteadyRule steady;         //!< no more steps begin once it is met
    Time start;                //!< start of the first step
    std::vector<double>
        computeScale; //!< by rank: factor on compute durations (slow GPUs); empty: all 1
    std::vector<uint32_t>
        groupKinds;  //!< by group of the graph: a call takes the same time in groups of one kind,
                     //!< whatever else is running, and has the same load there; equivalent ranks
                     //!< are executed once (RankFold). Empty: every rank is executed separately
    uint32_t sms{0}; //!< SMs of a GPU, of which communication (StepGraph::loads) takes some
                     //!< from concurrent kernels; 0: no slowdown
    OverlapPolicy overlap;       //!< slowdown of kernels that overlap communication
    SmPace pace;                 //!< rates of SMs, where they cannot keep up with the links
    bool launchesInOrder{false}; //!< one hardware queue (CUDA_DEVICE_MAX_CONNECTIONS=1): kernels do
                                 //!< not overtake communication launched before them
    JitterSpec jitter; //!< variation of compute durations between ranks; every rank is then
                       //!< executed separately

    /** Whether the mean step counts: steps vary at random, or run until their mean is known. */
    bool CountsMean() const
    {
        return jitter.IsOn() || steady.IsOn();
    }

    /** The first step that counts for a mean; steps that overlap must fill the pipeline once. */
    uint32_t FirstCounted() const
    {
        return overlapsSteps && steps > 1 ? 1 : 0;
    }
};

/**
 * Executes a StepGraph as CUDA would: per rank in-order streams, dependencies between them,
 * collectives that start at their last arrival and end on all ranks at the same time, sends that
 * wait for their receives. A step ends when all ranks have ended it; then the next begins on all
 * ranks (a barrier). With overlapsSteps, each rank may already have begun its next step. A step
 * then lasts from the end of the step before to its own end, which is the period in steady state,
 * and the breakdown of a rank covers this time, whichever step the rank was executing.
 *
 * Kernels that overlap communication are slowed by OverlapSlowdown, according to the SMs and memory
 * traffic that communication takes. An operation without kernel records counts as one that fills
 * all SMs. Communication begins when its kernels find free SMs, i.e. after a running persistent
 * kernel. It takes longer where it needs more of its SMs' rate than concurrent kernels leave.
 *
 * A passive engine in addition to the CollectiveEngine that it uses: add both to one EngineSet,
 * this one first.
 */
class StepExecutor : public PassiveEngine, private CollectiveClient
{
  public:
    /**
     * @throws std::invalid_argument when the graph is inconsistent (the message names rank and
     *         operation), a list of @p spec has the wrong size, a compute scale is not positive, or
     *         overlapsSteps is combined with a steady rule.
     */
    explicit StepExecutor(StepExecutorSpec spec);
    ~StepExecutor() override;

    /** Reports all events from now on to @p observer, which must outlive the run. */
    void AddObserver(StepObserver& observer);

    Time NextEventTime() override;
    void AdvanceTo(Time now) override;

    /** Whether all steps are done. */
    bool IsFinished() const;

    /**
     * Durations of the finished steps, in order, each from the end of the one before (or the
     * start).
     */
    const std::vector<Time>& StepTimes() const;

    /**
     * Duration of the last step; with jitter or a steady rule, the mean of the finished steps from
     * FirstCounted on. Infinite before the first step has ended.
     */
    Time SteadyStep() const;

    /** Steps that SteadyStep refers to. */
    SteadyKind GetSteadyKind() const;

    /**
     * Freezes SteadyStep and Breakdown, whatever later steps take: another job has ended, and from
     * now on this job has less contention on the fabric. Has no effect before the first step has
     * ended, or when called again.
     */
    void HoldSteady();

    /** Continues after all steps of the specification, until StopAfterStep. */
    void ContinueUntilStopped();

    /** Begins no step after the current one, except to complete the steps of the specification. */
    void StopAfterStep();

    /**
     * The communication that @p client, if it is this executor, runs as @p token; none if it has
     * ended.
     */
    std::optional<RunningCollective> FindCollective(const CollectiveClient* client,
                                                    uint64_t token) const;

    /** Breakdown of SteadyStep by rank; a mean is rounded down to a picosecond. */
    const std::vector<RankBreakdown>& Breakdown() const;

    /**
     * If no more events will occur but steps are unfinished: one line that says in which operation
     * each waiting rank (the first @p limit) waits, and for which ranks. Empty when finished.
     */
    std::string DescribeWaiting(std::size_t limit = 8) const;

    /** Operations executed so far. */
    uint64_t OpCount() const;

  private:
    void OnCollectiveDone(uint64_t token, Time now) override;

    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_EXECUTION_STEP_EXECUTOR_H
