// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_EXECUTION_STEP_EXECUTOR_STATE_H
#define WEIR_COMPUTE_MODEL_EXECUTION_STEP_EXECUTOR_STATE_H

#include "compute-model/execution/group-rendezvous.h"
#include "compute-model/execution/rank-fold.h"
#include "compute-model/execution/step-executor.h"
#include "compute-model/graph/step-program.h"
#include "fabric/instant-queue.h"
#include "fabric/units.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/** Books the time of one rank to categories; the booked times sum to the elapsed time. */
class RankBooking
{
  public:
    /** Begins a step at @p now with nothing booked. */
    void Begin(Time now)
    {
        m_spent = {};
        m_since = now;
        m_category = TimeCategory::Bubble;
    }

    /** Clears the settled times; the current category continues. */
    void Next()
    {
        m_spent = {};
    }

    /** From @p now on the rank's time belongs to @p category. */
    void Switch(TimeCategory category, Time now)
    {
        if (category != m_category)
        {
            Settle(now);
            m_category = category;
        }
    }

    /** Books everything up to @p now. */
    void Settle(Time now)
    {
        m_spent[static_cast<std::size_t>(m_category)] += now - m_since;
        m_since = now;
    }

    /** Moves @p time, which is booked or being booked to @p from, to @p to. */
    void Move(Time time, TimeCategory from, TimeCategory to)
    {
        m_spent[static_cast<std::size_t>(from)] -= time;
        m_spent[static_cast<std::size_t>(to)] += time;
    }

    const std::array<Time, TIME_CATEGORY_COUNT>& Spent() const
    {
        return m_spent;
    }

  private:
    std::array<Time, TIME_CATEGORY_COUNT> m_spent{}; //!< by TimeCategory
    Time m_since;                                    //!< time is booked up to here
    TimeCategory m_category{TimeCategory::Bubble};   //!< of the time since then
};

/** The compute stream among the streams of a rank. */
constexpr auto COMPUTE_STREAM = static_cast<std::size_t>(StreamKind::Compute);

/** Phase of the operation at the head of a stream. */
enum class StreamPhase : uint8_t
{
    Blocked, //!< waits for an operation of another stream
    Issuing, //!< not issued by the CPU yet: a communication, or kernels of another stream than the
             //!< compute stream
    Queued,  //!< a communication whose kernels wait for SMs
    Posted,  //!< has arrived at a rendezvous that is not complete
    Running,
    Done //!< the stream has no more operations in this step
};

/**
 * One stream of one rank. Operations before `position` have ended; the one at `position` is the
 * head.
 */
struct StreamState
{
    uint32_t position{0};
    uint32_t rendezvous{0}; //!< of the head, when it is a communication
    StreamPhase phase{StreamPhase::Done};
    uint8_t waitsFor{0};                         //!< stream that a blocked head waits for
    TimeCategory category{TimeCategory::Bubble}; //!< of the running head
};

/** All streams of one actor: the state that the executor accesses at every event. */
struct ActorState
{
    std::array<StreamState, STREAM_COUNT> streams{};
    std::array<uint16_t, STREAM_COUNT> waiters{}; //!< by stream: bits of the streams blocked on it
    uint8_t open{0};                              //!< streams not Done
    uint32_t step{0};         //!< current step of the actor, or the one it has just ended
    bool isWatched{false};    //!< an observer watches its operations
    uint16_t heldSms{0};      //!< SMs that communication occupies
    uint16_t heldPerMille{0}; //!< share of the HBM rate that communication takes, in 1/1000
    bool isComputing{false};  //!< the compute stream runs kernels
    uint16_t tight{0}; //!< bits of the streams whose communication concurrent kernels can slow down
    uint16_t queued{0}; //!< bits of the streams whose heads are Queued
    uint32_t epoch{0};  //!< synchronizations of CPU and GPU so far
    Time hostBase;      //!< when the CPU began to issue this epoch
    Time computeStart;  //!< of the running head of the compute stream
    Time kernelEnd;     //!< end of the running head of the compute stream without late launches
    Time launchEnd;     //!< end of the same head as late launches bound it
    RankBooking booking;
};

static_assert(STREAM_COUNT <= 16, "ActorState::waiters has one bit per stream");

/**
 * The fields of an operation that execution needs at every event; others are looked up where used.
 */
struct OpBrief
{
    Time duration; //!< of a computation
    uint32_t firstDependency{0};
    uint16_t dependencyCount{0};
    StepOpKind kind{StepOpKind::Compute};
    TimeCategory category{TimeCategory::Compute};
};

static_assert(sizeof(OpBrief) == 16, "a few operations fit a cache line");

/**
 * Time-weighted mean over an operation's kernels; without kernels, that of one that fills all SMs.
 */
OverlapTraits TraitsOf(const StepGraph& graph, const StepOp& op);

/** Launch times of an operation; see StepOp. */
struct OpIssue
{
    Time launch;
    Time launchBound;
    uint32_t epoch{0};
    bool synchronizes{false};
};

/** A rank whose operations are observed. */
struct Watched
{
    Rank rank;
    StepObserver* observer;
};

/** The operations of one stream of one program. */
struct StreamOps
{
    const StepOp* ops{nullptr};
    const StepDependency* dependencies{nullptr}; //!< of the whole program
    uint32_t firstBrief{0};                      //!< index into State::briefs
    uint32_t count{0};
};

/**
 * Everything a StepExecutor holds. Actors execute, each on behalf of all of its ranks (RankFold). A
 * key identifies a stream of an actor: actor * STREAM_COUNT + stream.
 */
struct StepExecutor::State
{
    State(StepExecutorSpec spec, CollectiveClient* client);

    void AddObserver(StepObserver& watcher);
    void Begin(Time now);
    void RunUntil(Time now);
    void EndRendezvous(uint32_t rendezvous, Time now);
    std::string DescribeWaiting(std::size_t limit) const;
    bool HasAllSteps() const;

    const StreamOps& OpsOf(uint32_t actor, std::size_t stream) const
    {
        return programOps[fold.program[actor] * STREAM_COUNT + stream];
    }

    const StepOp& HeadOf(uint32_t actor, std::size_t stream) const
    {
        return OpsOf(actor, stream).ops[actors[actor].streams[stream].position];
    }

    /** What the communication at the head of @p stream occupies. */
    CallLoad LoadOf(uint32_t actor, std::size_t stream) const
    {
        const StepOp& op = HeadOf(actor, stream);
        return spec.graph->LoadOf(*fold.groups.begin(fold.slots[actor][op.group]), op);
    }

    CallLoad LoadOf(const Rendezvous& rendezvous) const
    {
        return spec.graph->LoadOf(*fold.groups.begin(rendezvous.groupClass), *rendezvous.op);
    }

    StepExecutorSpec spec;
    RankFold fold;
    CollectiveClient* client; //!< the executor, which is notified of ended collectives
    std::vector<StepObserver*> observers;
    std::vector<OpBrief> briefs;       //!< of all programs' streams
    std::vector<OpIssue> issues;       //!< of the same operations
    std::vector<OverlapTraits> traits; //!< of the same operations
    std::vector<StreamOps> programOps; //!< by program, then stream
    std::vector<ActorState> actors;
    std::vector<std::vector<Watched>> watched; //!< by actor
    std::vector<double> scales; //!< by actor: factor on compute durations; empty: all 1
    RankJitter jitter;
    std::vector<double>
        scalesNow; //!< by actor: factor of its current step, jitter included; empty: all 1
    std::vector<Time> posted;  //!< by key, if watched: when the head was reached
    std::vector<Time> started; //!< by key, if watched: when the head began
    std::vector<Time> room;    //!< by key: when a Queued head finds free SMs
    std::vector<float> left;   //!< of the same operations: SmPace::Left
    double minLeft{1};
    std::vector<Time> lost;      //!< by key, if tight: time that its communication has lost
    std::vector<Time> lostSince; //!< by key, if tight: losses are booked up to here
    GroupRendezvous pending;
    InstantQueue completions;             //!< running computations, by key
    std::vector<uint32_t> leaving;        //!< keys whose communication is ending
    std::vector<uint32_t> ended;          //!< actors that have just ended a step
    std::vector<uint32_t> finishedActors; //!< by step: number of actors that have ended it
    uint64_t opCount{0};
    bool begun{false};
    Time stepStart;
    std::vector<Time> stepTimes;
    uint32_t minSteps{0}; //!< minimum number of steps of a run that continues until it is stopped
    uint64_t collectives{0}; //!< number of communications started so far
    std::optional<std::size_t>
        heldSteps;                    //!< SteadyStep covers this number of steps; none: all of them
    std::vector<RankBreakdown> spent; //!< by rank: sum over the counted steps
    std::vector<RankBreakdown> breakdown; //!< by rank, of StepExecutor::SteadyStep

  private:
    void Launch(uint32_t actor, std::size_t stream, Time now);
    void BeginIssued(uint32_t actor, std::size_t stream, Time now);
    bool IsBlocked(ActorState& state, const StreamOps& ops, const OpBrief& op, std::size_t stream);
    void Compute(uint32_t actor, std::size_t stream, const OpIssue& issue, Time duration, Time now);
    void Enter(uint32_t actor, std::size_t stream, Time now);
    Time RoomAt(uint32_t actor, Time now) const;
    void Arrive(uint32_t actor, std::size_t stream, Time now);
    void WatchPace(uint32_t actor, std::size_t stream, Time now);
    void BookLosses(uint32_t actor, Time now);
    bool DelayEnd(uint32_t rendezvous, Time now);
    void AddProgram(const StepProgram& program);
    void DrawScale(uint32_t actor);
    void BeginStep(uint32_t actor, Time now);
    Time OwnTime(uint32_t actor, std::size_t stream, Time duration) const;
    void StartRendezvous(uint32_t rendezvous, Time now);
    void Hold(uint32_t actor, const CallLoad& load, bool isStart, Time now);
    double Slowdown(uint32_t actor) const;
    void Complete(uint32_t actor, std::size_t stream, Time now);
    void NotifyOp(uint32_t actor, std::size_t stream, Time now);
    void NotifyRendezvous(const Rendezvous& rendezvous, Time now);
    void BookLaunch(ActorState& state, Time now) const;
    void Rebook(uint32_t actor, Time now);
    TimeCategory CategoryNow(const ActorState& state) const;
    void SettleSteps(Time now);
    void CountEnded(uint32_t actor);
    void EndStep(Time now);
    std::string DescribeRank(uint32_t rank) const;
    std::string DescribeRendezvous(uint32_t rendezvous, uint32_t group) const;
    std::string DescribeOthers(uint32_t group, uint32_t rank) const;
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_EXECUTION_STEP_EXECUTOR_STATE_H
