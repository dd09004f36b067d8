// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_REPLAY_EPISODE_MEMO_H
#define WEIR_FABRIC_TRANSPORT_REPLAY_EPISODE_MEMO_H

#include "fabric/routing/intern-index.h"
#include "fabric/transport/packet/packet-counters.h"

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace weir
{

/**
 * Memo of episodes: a tree whose edges are starts of flows and whose states hold the notifications
 * between two starts, or until the episode became quiet.
 *
 * Times are picoseconds since an episode's first start. Flows are numbered in the order of their
 * starts, links in the order in which flows need them. Equal episodes on other links and at other
 * times therefore follow the same path through the tree.
 */
class EpisodeMemo
{
  public:
    static constexpr uint32_t NONE = 0xffffffff;
    static constexpr uint32_t ROOT = 0;
    static constexpr int64_t NEVER = std::numeric_limits<int64_t>::max();

    /** Start of a flow: an edge from one state to the next. */
    struct Start
    {
        int64_t time{0};
        uint32_t facts{0}; //!< facts of the flow, by NumberOf

        friend bool operator==(const Start& a, const Start& b)
        {
            return a.time == b.time && a.facts == b.facts;
        }
    };

    /** Notification that a flow's last byte has left its source, or has arrived. */
    struct Told
    {
        int64_t time{0};
        uint32_t flow{0};
        bool isDone{false};
        FlowCounters counters{}; //!< counters of a flow that is done

        /** Notifications of one instant are in the order of flows. */
        friend bool operator<(const Told& a, const Told& b)
        {
            return std::tie(a.time, a.flow, a.isDone) < std::tie(b.time, b.flow, b.isDone);
        }

        friend bool operator==(const Told& a, const Told& b)
        {
            return a.time == b.time && a.flow == b.flow && a.isDone == b.isDone;
        }
    };

    /** A period, which leads from a state to a later equal one. */
    struct Period
    {
        uint32_t flows{0};                  //!< flows that start in the period
        int64_t time{0};                    //!< ps
        uint32_t first{ROOT};               //!< state at its start
        std::vector<PortCounters> counters; //!< by link: counters of ports during the period
    };

    /** State between two starts. */
    struct State
    {
        std::vector<Told> told;             //!< notifications since the last start, as far as known
        int64_t known{0};                   //!< time up to which `told` is complete
        int64_t end{NEVER};                 //!< time when the episode became quiet
        std::vector<PortCounters> counters; //!< by link: counters of the whole episode, at its end
        uint32_t leader{NONE};              //!< a simulated episode in this state
        uint32_t period{NONE};              //!< period that ends here, which then repeats
        uint32_t parent{NONE};
        uint32_t firstChild{NONE};
        uint32_t nextSibling{NONE};
        Start start; //!< start that led here
    };

    EpisodeMemo();

    State& At(uint32_t state)
    {
        return m_states[state];
    }

    const State& At(uint32_t state) const
    {
        return m_states[state];
    }

    /** The state to which @p start leads from @p state; NONE if unknown. */
    uint32_t Find(uint32_t state, const Start& start) const;

    /** As Find, but the nearest start whose time differs by at most @p max ps. O(children). */
    uint32_t FindNear(uint32_t state, const Start& start, int64_t max) const;

    /**
     * Adds the state to which @p start leads, which Find does not find.
     * @return NONE if the memo is full
     */
    uint32_t Extend(uint32_t state, const Start& start);

    /** Records that the activity from @p period.first to @p state repeats itself. */
    void Repeat(uint32_t state, Period period);

    /** The period that ends at a state, which must have one. */
    const Period& PeriodOf(uint32_t state) const
    {
        return m_periods[m_states[state].period];
    }

    /** Number of a list of facts; equal lists have the same number. O(facts). */
    uint32_t NumberOf(const std::vector<int64_t>& facts);

  private:
    /** A state takes about 200 bytes with its notifications. */
    static constexpr std::size_t MAX_STATES = 1u << 24;

    struct FactsHash
    {
        std::size_t operator()(const std::vector<int64_t>& facts) const;
    };

    std::deque<State> m_states;
    std::vector<Period> m_periods;
    InternIndex m_edges; //!< index of m_states by parent and start
    std::unordered_map<std::vector<int64_t>, uint32_t, FactsHash> m_numbers; //!< by facts
};

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
     * Finds the shortest period, in flows: the minimum number of flows after which starts and
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

#endif // WEIR_FABRIC_TRANSPORT_REPLAY_EPISODE_MEMO_H
