// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_REPLAY_RECURRENCE_H
#define WEIR_FABRIC_TRANSPORT_REPLAY_RECURRENCE_H

#include "fabric/transport/packet/packet-counters.h"
#include "fabric/transport/replay/episode-memo.h"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace weir
{

/**
 * Detects that the packets of an episode repeat themselves, as those of the steps of a collective
 * do once they have settled.
 *
 * A **period** of flows repeats itself when three consecutive periods had equal starts and
 * notifications, to the picosecond, and rates, windows and queues were equal before and after the
 * third period.
 */
class Recurrence
{
  public:
    /** State of the packets at an instant. */
    struct Standing
    {
        uint32_t flows{0};                  //!< flows that have started
        std::vector<double> levels;         //!< rates (bytes/s) and windows (bytes) of queue pairs,
                                            //!< bytes in queues
        std::vector<PortCounters> counters; //!< by number of the episode's links
    };

    /** Records that the last of @p flows flows has started and led to @p state. O(1). */
    void Note(const EpisodeMemo& memo, uint32_t state, uint32_t flows);

    /**
     * Finds the shortest period, in flows: the least number of flows after which starts and
     * notifications have repeated, up to the last recorded flow. All flows older than two periods
     * must be done, since what is older is not replayed. Amortized O(1) per recorded flow.
     * @param open index of the first flow of the episode that is not done
     * @return 0 if there is none
     */
    uint32_t Find(const EpisodeMemo& memo, uint32_t open);

    /** Whether Find should be called: a period found earlier is over. */
    bool IsDue() const
    {
        return m_period == 0 || m_started >= m_marked.flows + m_period;
    }

    /**
     * Confirms a period of @p flows flows that Find has found.
     * @param standing current state of the packets
     * @return the counters of ports during the period, if the state one period ago was equal
     */
    std::optional<std::vector<PortCounters>> Confirm(uint32_t flows, Standing standing);

  private:
    struct Flow
    {
        uint32_t state{0};
        uint32_t earlier{EpisodeMemo::NONE}; //!< index of the last earlier flow with equal facts
    };

    std::vector<Flow> m_flows;                     //!< recorded flows
    std::unordered_map<uint32_t, uint32_t> m_last; //!< by facts: index into m_flows
    int64_t m_spare{0}; //!< budget of comparisons, which grows with each recorded flow
    uint32_t m_started{0};
    uint32_t m_period{0}; //!< period of m_marked, in flows; 0 if none
    Standing m_marked;
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_REPLAY_RECURRENCE_H
