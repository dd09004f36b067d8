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

/** Whoever has equal calls made one after the other. */
class BackToBackClient
{
  public:
    virtual ~BackToBackClient() = default;

    /** The next call has ended on all ranks, at @p end. @return whether further ones shall begin.
     */
    virtual bool OnCallDone(Time end) = 0;
};

/**
 * Where every rank stands in equal back-to-back calls, which it makes on a stream of its own: its
 * next kernel begins when its own one has ended, whatever the others do.
 *
 * A rank's kernel ends when all its blocks have run their last primitive and everything that they
 * send has left, over the network too: on a pair of A100 with one NIC each a broadcast of 1 MiB
 * every 58 to 70 us is a call's 12 us and the wire's 40 us one after the other, not the longer of
 * both (thomaslie210/NCCL_Test_Results). A switch that reduces has no kernel, and goes on at once.
 */
class BackToBackCalls
{
  public:
    /** Ranks from @p ranks on are switches. O(blocks). */
    BackToBackCalls(const ScheduleRun& run, uint32_t ranks, BackToBackClient& client);

    /** Those that have something to do, switches too. */
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

    /** A rank that makes no call begins one. @return false: no more are wanted. */
    bool Begin(uint32_t rank);

    /** What a rank's kernel runs. */
    const std::vector<uint32_t>& BlocksOf(uint32_t rank) const
    {
        return m_stands[rank].blocks;
    }

    /** Something more that a rank's kernel cannot end before. */
    void Hold(uint32_t rank)
    {
        ++m_stands[rank].holds;
    }

    /** It is over, at @p at. @return when the rank's kernel has ended, if that was the last. */
    std::optional<Time> Release(uint32_t rank, Time at);

    /** Whether all calls that have begun have ended, and no more shall. */
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
        Time until; //!< when what held it last was over
    };

    void EndCalls();

    BackToBackClient& m_client;
    uint32_t m_switches;
    std::vector<Stand> m_stands; //!< by rank
    std::vector<uint32_t> m_busy;
    std::vector<uint32_t> m_senders; //!< by connection
    std::vector<uint32_t> m_left;    //!< by call: ranks that have not ended it
    std::vector<Time> m_ends;        //!< by call: when the last of them so far has
    uint32_t m_ended{0};             //!< calls that have ended on all ranks
    uint32_t m_wanted{0};            //!< calls in all, once nothing goes on
    bool m_goesOn{true};
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_BACK_TO_BACK_CALLS_H
