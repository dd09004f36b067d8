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
 * Finds out that the packets of an episode do the same again and again, as those of the steps of a
 * collective do once they have settled.
 *
 * They do so for a **period** of flows when three periods back to back had the same starts and told
 * the same, to the picosecond, and rates, windows and queues stood alike before and after the
 * third.
 */
class Recurrence
{
  public:
    /** What packets are like at an instant. */
    struct Standing
    {
        uint32_t flows{0};                  //!< that have started
        std::vector<double> levels;         //!< rates and windows of queue pairs, bytes in queues
        std::vector<PortCounters> counters; //!< of an episode's links, by their numbers
    };

    /** The last of @p flows has started and led to @p state. O(1). */
    void Note(const EpisodeMemo& memo, uint32_t state, uint32_t flows);

    /**
     * The least number of flows after which starts and what was told came again, up to the flow
     * that was noted last, and before twice as many of which all are done: what is older does not
     * come again. O(1) a flow that was noted, on average.
     * @param open the first flow of the episode that is not done
     * @return 0: there is none
     */
    uint32_t Find(const EpisodeMemo& memo, uint32_t open);

    /** Whether it is worth looking: a period that was found once is over. */
    bool IsDue() const
    {
        return m_period == 0 || m_started >= m_marked.flows + m_period;
    }

    /**
     * A period of @p flows is there, that Find has found.
     * @param standing what packets are like
     * @return what ports have done since the standing a period ago, if that was alike
     */
    std::optional<std::vector<PortCounters>> Confirm(uint32_t flows, Standing standing);

  private:
    struct Flow
    {
        uint32_t state{0};
        uint32_t earlier{EpisodeMemo::NONE}; //!< the last one before it with the same facts
    };

    std::vector<Flow> m_flows;                     //!< that were noted
    std::unordered_map<uint32_t, uint32_t> m_last; //!< of m_flows, by facts
    int64_t m_spare{0}; //!< flows that may be compared: some more with each that is noted
    uint32_t m_started{0};
    uint32_t m_period{0}; //!< that m_marked is of; 0: none
    Standing m_marked;
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_REPLAY_RECURRENCE_H
