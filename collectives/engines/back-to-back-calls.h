// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_BACK_TO_BACK_CALLS_H
#define WEIR_COLLECTIVES_ENGINES_BACK_TO_BACK_CALLS_H

#include "collectives/schedule/schedule-run.h"
#include "fabric/units.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace weir
{

/** Decides how many back-to-back calls are made. */
class BackToBackClient
{
  public:
    virtual ~BackToBackClient() = default;

    /**
     * The next call has ended on all ranks.
     * @param end on the last rank
     * @param steady whether all ranks have ended it equally long after the previous call, to a
     *               relative 1e-3, so that further calls have the same period
     * @return whether further calls shall begin
     */
    virtual bool OnCallDone(Time end, bool steady) = 0;
};

/**
 * The progress of every rank in equal back-to-back calls. A rank makes them on one CUDA stream: its
 * next kernel begins when its own previous one has ended, whatever the other ranks do.
 *
 * A rank's kernel ends when all its blocks have run their last primitive and everything that they
 * send has left, over the network too: on a pair of A100 with one NIC each a broadcast of 1 MiB
 * every 58 to 70 us is the sum of a call's 12 us and the wire's 40 us, not the larger of both
 * (thomaslie210/NCCL_Test_Results). A switch that reduces has no kernel and continues at once.
 */
class BackToBackCalls
{
  public:
    /** Ranks from @p ranks on are switches. O(blocks and connections). */
    BackToBackCalls(const ScheduleRun& run, uint32_t ranks, BackToBackClient& client);

    /** Ranks and switches that have primitives to run. */
    const std::vector<uint32_t>& Ranks() const
    {
        return m_busy;
    }

    bool IsSwitch(uint32_t rank) const
    {
        return rank >= m_switches;
    }

    /** The rank whose kernel sends on a connection. */
    uint32_t SenderOf(uint32_t connection) const
    {
        return m_senders[connection];
    }

    /**
     * Begins the next call of a rank, which makes none now. @return false if no more are wanted.
     */
    bool Begin(uint32_t rank);

    /** The blocks of a rank's kernel. */
    const std::vector<uint32_t>& BlocksOf(uint32_t rank) const
    {
        return m_stands[rank].blocks;
    }

    /** Adds one more condition for the end of a rank's kernel. */
    void Hold(uint32_t rank)
    {
        ++m_stands[rank].holds;
    }

    /**
     * A condition is met at @p at. @return the end of the rank's kernel if it was the last
     * condition.
     */
    std::optional<Time> Release(uint32_t rank, Time at);

    /** Whether all calls that have begun have ended, and no more are wanted. */
    bool IsOver() const
    {
        return !m_goesOn && m_ended == m_wanted;
    }

  private:
    struct Stand
    {
        std::vector<uint32_t> blocks;
        uint32_t begun{0};
        uint32_t ended{0};
        uint32_t holds{0};
        Time until;  //!< when its last condition was met
        Time before; //!< end of its previous call
    };

    struct Call
    {
        uint32_t left{0};                //!< number of ranks that have not ended it
        Time end{};                      //!< the latest on a rank so far
        Time shortest{Time::Infinite()}; //!< since the end of a rank's previous call
        Time longest{};
    };

    void EndCalls();

    BackToBackClient& m_client;
    uint32_t m_switches;
    std::vector<Stand> m_stands; //!< by rank
    std::vector<uint32_t> m_busy;
    std::vector<uint32_t> m_senders; //!< by connection
    std::vector<Call> m_calls;
    uint32_t m_ended{0};  //!< number of calls that have ended on all ranks
    uint32_t m_wanted{0}; //!< total number of calls, once no more are wanted
    bool m_goesOn{true};
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_BACK_TO_BACK_CALLS_H
