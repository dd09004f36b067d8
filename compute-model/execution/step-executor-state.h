// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_EXECUTION_STEP_EXECUTOR_STATE_H
#define WEIR_COMPUTE_MODEL_EXECUTION_STEP_EXECUTOR_STATE_H

#include "compute-model/execution/completion-queue.h"
#include "compute-model/execution/group-meetings.h"
#include "compute-model/execution/rank-booking.h"
#include "compute-model/execution/step-executor.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/** How far the head of a stream is. */
enum class StreamPhase : uint8_t
{
    Blocked, //!< waits for an operation of another stream
    Issuing, //!< a communication that the CPU has yet to issue
    Posted,  //!< has come to a meeting whose other ranks have not
    Running,
    Done //!< the stream has no more operations in this step
};

/** One stream of one rank. Operations before `position` have ended, the one at it is the head. */
struct StreamState
{
    uint32_t position{0};
    uint32_t meeting{0}; //!< of the head, when it is a communication
    StreamPhase phase{StreamPhase::Done};
    uint8_t waitsFor{0};                         //!< stream that a blocked head waits for
    TimeCategory category{TimeCategory::Bubble}; //!< of the running head
};

/** All streams of one rank: what the executor touches at every event. */
struct RankState
{
    std::array<StreamState, STREAM_COUNT> streams{};
    std::array<uint8_t, STREAM_COUNT> waiters{}; //!< by stream: bits of the streams blocked on it
    uint8_t open{0};                             //!< streams not Done
    uint16_t heldSms{0};                         //!< multiprocessors that communication holds
    bool isComputing{false};                     //!< the compute stream runs kernels
    uint32_t epoch{0};                           //!< synchronizations of CPU and GPU so far
    Time hostBase;                               //!< when the CPU began to issue this epoch
    Time kernelEnd; //!< of the running head of the compute stream, but for late launches
    Time launchEnd; //!< of the same, as late launches have it
};

static_assert(STREAM_COUNT <= 8, "RankState::waiters has one bit per stream");

/** What of an operation execution needs at every turn; the rest is looked up where it is used. */
struct OpBrief
{
    Time duration; //!< of a computation
    uint32_t firstDependency{0};
    uint16_t dependencyCount{0};
    StepOpKind kind{StepOpKind::Compute};
    TimeCategory category{TimeCategory::Compute};
};

static_assert(sizeof(OpBrief) == 16, "a few operations fit a cache line");

/** When the CPU issues an operation; see StepOp. */
struct OpIssue
{
    Time launch;
    Time launchBound;
    uint32_t epoch{0};
    bool synchronizes{false};
};

/** The operations of one stream of one program. */
struct StreamOps
{
    const StepOp* ops{nullptr};
    const StepDependency* dependencies{nullptr}; //!< of the whole program
    uint32_t firstBrief{0};                      //!< into State::briefs
    uint32_t count{0};
};

/** Everything a StepExecutor holds. A key names a stream of a rank: rank * STREAM_COUNT + stream.
 */
struct StepExecutor::State
{
    State(StepExecutorSpec spec, CollectiveClient* client);

    void BeginStep(Time now);
    void RunUntil(Time now);
    void EndMeeting(uint32_t meeting, Time now);
    std::string DescribeWaiting(std::size_t limit) const;

    const StreamOps& OpsOf(uint32_t rank, std::size_t stream) const
    {
        return programOps[spec.graph->rankProgram[rank] * STREAM_COUNT + stream];
    }

    const StepOp& HeadOf(uint32_t rank, std::size_t stream) const
    {
        return OpsOf(rank, stream).ops[ranks[rank].streams[stream].position];
    }

    StepExecutorSpec spec;
    CollectiveClient* client; //!< the executor, to be told of ended collectives
    StepObserver* observer{nullptr};
    std::vector<OpBrief> briefs;       //!< of all programs' streams
    std::vector<OpIssue> issues;       //!< of the same operations
    std::vector<StreamOps> programOps; //!< by program, then stream
    std::vector<RankState> ranks;
    std::vector<RankBooking> bookings; //!< by rank
    std::vector<Time> posted;          //!< by key: when the head was reached; only with an observer
    std::vector<Time> started;         //!< by key: when the head began; only with an observer
    GroupMeetings meetings;
    CompletionQueue completions;   //!< running computations, by key
    std::vector<uint32_t> leaving; //!< keys whose communication is just ending
    uint32_t finishedRanks{0};
    uint64_t opCount{0};
    bool begun{false};
    Time stepStart;
    std::vector<Time> stepTimes;
    std::vector<RankBreakdown> breakdown; //!< of the last finished step

  private:
    void Launch(uint32_t rank, std::size_t stream, Time now);
    bool IsBlocked(RankState& state, const StreamOps& ops, const OpBrief& op, std::size_t stream);
    void Compute(uint32_t rank, std::size_t stream, const OpIssue& issue, Time duration, Time now);
    void Arrive(uint32_t rank, std::size_t stream, Time now);
    void AddProgram(const StepProgram& program);
    void StartMeeting(uint32_t meeting, Time now);
    void HoldSms(uint32_t rank, int32_t more, Time now);
    double Slowdown(uint32_t heldSms) const;
    void Complete(uint32_t rank, std::size_t stream, Time now);
    void Rebook(uint32_t rank, Time now);
    TimeCategory CategoryNow(const RankState& state) const;
    void SettleSteps(Time now);
    void EndStep(Time now);
    std::string DescribeRank(uint32_t rank) const;
    std::string DescribeMeeting(uint32_t meeting) const;
    std::string DescribeOthers(uint32_t meeting, uint32_t rank) const;
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_EXECUTION_STEP_EXECUTOR_STATE_H
