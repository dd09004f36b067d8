// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_REPLAY_EPISODE_MEMO_H
#define WEIR_FABRIC_TRANSPORT_REPLAY_EPISODE_MEMO_H

#include "fabric/routing/intern-index.h"
#include "fabric/transport/packet/packet-counters.h"

#include <cstdint>
#include <deque>
#include <limits>
#include <tuple>
#include <vector>

namespace weir
{

/**
 * What episodes have been like: a tree whose edges are starts of flows and whose states hold what
 * was told between two starts, or until all was quiet.
 *
 * Times are picoseconds since an episode's first start. Flows are numbered in the order of their
 * starts, links in the order in which flows need them, so that episodes on other links and at
 * other times that are alike take the same way through the tree.
 */
class EpisodeMemo
{
  public:
    static constexpr uint32_t NONE = 0xffffffff;
    static constexpr uint32_t ROOT = 0;
    static constexpr int64_t NEVER = std::numeric_limits<int64_t>::max();

    /** The start of a flow: it leads from one state to the next. */
    struct Start
    {
        int64_t time{0};
        uint32_t facts{0}; //!< of the flow, by NumberOf

        friend bool operator==(const Start& a, const Start& b)
        {
            return a.time == b.time && a.facts == b.facts;
        }
    };

    /** A flow's last byte has left its source, or has arrived. */
    struct Told
    {
        int64_t time{0};
        uint32_t flow{0};
        bool isDone{false};
        FlowCounters counters{}; //!< of one that is done

        /** What is told at one instant is told in the order of flows. */
        friend bool operator<(const Told& a, const Told& b)
        {
            return std::tie(a.time, a.flow, a.isDone) < std::tie(b.time, b.flow, b.isDone);
        }

        friend bool operator==(const Told& a, const Told& b)
        {
            return a.time == b.time && a.flow == b.flow && a.isDone == b.isDone;
        }
    };

    /** From a state to a later one that is as that one was. */
    struct Period
    {
        uint32_t flows{0};                  //!< that start in it
        int64_t time{0};                    //!< ps
        uint32_t first{ROOT};               //!< the state that it leads from
        std::vector<PortCounters> counters; //!< what ports do in it, by link
    };

    /** Between two starts. */
    struct State
    {
        std::vector<Told> told;             //!< since the last start, as far as it is known
        int64_t known{0};                   //!< from here on more may be told
        int64_t end{NEVER};                 //!< when all was quiet
        std::vector<PortCounters> counters; //!< of all of the episode by link, at its end
        uint32_t leader{NONE};              //!< an episode that is simulated and stands here
        uint32_t period{NONE};              //!< that ends here: it goes on as it did before it
        uint32_t parent{NONE};
        uint32_t firstChild{NONE};
        uint32_t nextSibling{NONE};
        Start start; //!< that led here
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

    /** Where @p start leads from @p state; NONE when it never came. */
    uint32_t Find(uint32_t state, const Start& start) const;

    /** As Find, of starts whose times are @p most apart at most the nearest one. O(children). */
    uint32_t FindNear(uint32_t state, const Start& start, int64_t most) const;

    /** As Find, but adds the state when there is none. @return NONE when the memo is full. */
    uint32_t Extend(uint32_t state, const Start& start);

    /** What happens from @p period.first to @p state happens again and again. */
    void Repeat(uint32_t state, Period period);

    /** The period that ends at a state, which has one. */
    const Period& PeriodOf(uint32_t state) const
    {
        return m_periods[m_states[state].period];
    }

    /** The number of some facts; equal ones have the same. O(facts). */
    uint32_t NumberOf(const std::vector<int64_t>& facts);

    std::size_t Size() const
    {
        return m_states.size();
    }

  private:
    /** States take about 200 bytes each with what was told there. */
    static constexpr std::size_t MAX_STATES = 1u << 24;

    std::deque<State> m_states;
    std::vector<Period> m_periods;
    InternIndex m_edges;             //!< of m_states by parent and start
    std::vector<int64_t> m_facts;    //!< all, one after another
    std::vector<std::size_t> m_ends; //!< in m_facts, by number
    InternIndex m_factIndex;         //!< of m_ends
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_REPLAY_EPISODE_MEMO_H
