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

/** Sees every operation end; used by trace sources, timeline and result file. */
class StepObserver
{
  public:
    virtual ~StepObserver() = default;

    /** Whether OnOpFinished is wanted for operations of @p rank; asked once, by AddObserver. */
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
     * A collective or send/recv of group @p group ended on all its ranks; @p number counts those of
     * the run in the order of their starts.
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

/** A collective or send/recv that is under way. */
struct RunningCollective
{
    uint32_t step{0};
    uint32_t group{0}; //!< of the graph; where groups are alike and executed once, the first
    const StepOp* op{nullptr};
    uint64_t number{0}; //!< as in StepObserver::OnCollectiveFinished
};

/** Which steps SteadyStep is of. */
enum class SteadyKind : uint8_t
{
    Last,     //!< the last step
    Mean,     //!< the mean of the steps
    LastHeld, //!< the last step that ended before HoldSteady, while other jobs were running
    MeanHeld  //!< the mean of these
};

const char* ToString(SteadyKind kind);

/** How one rank spent a step; the categories sum to the step's time. */
struct RankBreakdown
{
    std::array<Time, TIME_CATEGORY_COUNT> spent{}; //!< by TimeCategory
};

/** What is to be executed, and with what. */
struct StepExecutorSpec
{
    const StepGraph* graph{nullptr};           //!< must outlive the executor
    CollectiveEngine* engine{nullptr};         //!< must outlive the executor
    std::vector<CommunicatorId> communicators; //!< by group of the graph
    std::vector<TrafficId> traffics;           //!< by index into StepGraph::traffics
    uint32_t steps{1};                         //!< how many steps to run, one after another
    bool startsApart{false}; //!< a rank begins its next step when its own has ended, whatever the
                             //!< others do; false: when all have ended theirs (a barrier)
    SteadyRule steady;       //!< no more steps once it is met
    Time start;              //!< when the first begins
    std::vector<double>
        computeScale; //!< by rank: factor on compute durations (slow GPUs); empty: all 1
    std::vector<uint32_t>
        groupKinds; //!< by group of the graph: in groups of one kind a call takes the same time,
                    //!< whatever else is under way; then what is alike is executed once (RankFold).
                    //!< Empty: every rank is executed for itself
    uint32_t sms{0}; //!< multiprocessors of a GPU, of which communication (StepOp::sms) takes some
                     //!< from the kernels beside it; 0: kernels run as if alone
    OverlapPolicy overlap;       //!< how much longer kernels beside communication take
    SmPace pace;                 //!< when multiprocessors cannot keep up with the links
    bool launchesInOrder{false}; //!< one hardware queue (CUDA_DEVICE_MAX_CONNECTIONS=1): kernels do
                                 //!< not overtake communication launched before them
    JitterSpec jitter; //!< how compute durations differ from rank to rank; then every rank is
                       //!< executed for itself

    /** Whether steps differ by chance, or are run until their mean is known: then that counts. */
    bool CountsMean() const
    {
        return jitter.IsOn() || steady.IsOn();
    }

    /** The first step that counts for a mean: steps that overlap have to fill the pipeline once. */
    uint32_t FirstCounted() const
    {
        return startsApart && steps > 1 ? 1 : 0;
    }
};

/**
 * Runs a StepGraph as CUDA would: per rank in-order streams, dependencies between them, collectives
 * that start at their last arrival and end together, sends that wait for their receives. A step
 * ends when all ranks have ended it; then the next begins, for all (a barrier). Where ranks start
 * apart, each has begun its own before; a step then lasts from the end of the one before to its
 * own, which is the period once steps follow each other alike, and that time of a rank is booked to
 * whatever step the rank was at.
 *
 * Kernels slow down beside communication as OverlapSlowdown has it, by the multiprocessors and the
 * memory traffic that it takes; an operation without kernel records as one that fills all SMs.
 * Communication begins when its kernels find multiprocessors: behind a running persistent kernel;
 * where they need more of them than the kernels beside it leave, it lasts longer.
 *
 * A passive engine beside the CollectiveEngine it uses: add both to one EngineSet, this one first.
 */
class StepExecutor : public PassiveEngine, private CollectiveClient
{
  public:
    /** @throws std::invalid_argument when the graph is inconsistent (the message names rank and
     * op). */
    explicit StepExecutor(StepExecutorSpec spec);
    ~StepExecutor() override;

    /** Tells @p observer of everything from now on; it must outlive the run. */
    void AddObserver(StepObserver& observer);

    Time NextEventTime() override;
    void AdvanceTo(Time now) override;

    /** Whether all steps are done. */
    bool IsFinished() const;

    /** Durations of the finished steps, in order: from the end of the one before (the start). */
    const std::vector<Time>& StepTimes() const;

    /**
     * The last step, or with jitter or a steady rule the mean of the finished ones (from
     * FirstCounted on); infinite before the first.
     */
    Time SteadyStep() const;

    /** Which steps that is of. */
    SteadyKind GetSteadyKind() const;

    /**
     * SteadyStep and Breakdown stay what they are, whatever later steps take: another job has
     * ended, and from now on this one has the fabric more to itself. Nothing happens before the
     * first step has ended, or the second time.
     */
    void HoldSteady();

    /** Goes on after all steps of the specification, until StopAfterStep. */
    void ContinueUntilStopped();

    /** Begins no step after the one under way, but has all steps of the specification. */
    void StopAfterStep();

    /** What @p client, if that is this executor, runs as @p token; nothing where it has ended. */
    std::optional<RunningCollective> FindCollective(const CollectiveClient* client,
                                                    uint64_t token) const;

    /** Where that time went, by rank; a mean is rounded down to a picosecond. */
    const std::vector<RankBreakdown>& Breakdown() const;

    /**
     * When nothing more will happen but steps are unfinished: in which operation each waiting rank
     * (the first @p limit) waits and for whom, in one line; empty when finished.
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
