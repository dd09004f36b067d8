// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_COLLECTIVE_LOOP_H
#define WEIR_COLLECTIVES_ENGINES_COLLECTIVE_LOOP_H

#include "collectives/collective.h"
#include "collectives/engines/collective-engine.h"
#include "fabric/transport/passive-engine.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace weir
{

/** Collectives of one communicator, called in order in every round. */
struct CallSequence
{
    std::vector<CollectiveCall> calls; //!< of a round, at least one
    uint32_t rounds{1};                //!< number of rounds
    Time start;                        //!< of the first call
    Time period; //!< minimum time from the start of a round to the start of the next
};

/**
 * Plays a sequence of collectives. Each call begins when the previous one has ended, and the first
 * call of a round no earlier than a period after the start of the previous round.
 */
class CollectiveLoop : public PassiveEngine, private CollectiveClient
{
  public:
    /** Called for each call that has ended, after the next one has begun. */
    using CallEnded = std::function<void(uint32_t call, Time started, Time now)>;

    /**
     * @param engine must outlive it and be advanced after it
     * @param ended may be empty
     */
    CollectiveLoop(CollectiveEngine& engine, CallSequence sequence, CallEnded ended);

    /** Also calls @p ended for each call that ends from now on. */
    void Watch(CallEnded ended)
    {
        m_watchers.push_back(std::move(ended));
    }

    /** Its name in results. */
    void SetName(std::string name)
    {
        m_name = std::move(name);
    }

    const std::string& GetName() const
    {
        return m_name;
    }

    Time NextEventTime() override
    {
        return m_next;
    }

    void AdvanceTo(Time now) override;

    /** Start of the first call. */
    Time GetStart() const
    {
        return m_sequence.start;
    }

    /** The calls of a round. */
    const std::vector<CollectiveCall>& Calls() const
    {
        return m_sequence.calls;
    }

    /** Call @p index of the run. */
    const CollectiveCall& GetCall(uint64_t index = 0) const
    {
        return m_sequence.calls[index % m_sequence.calls.size()];
    }

    /** Number of calls of the whole run, if it is not stopped. */
    uint64_t CallCount() const
    {
        return m_calls;
    }

    /** Whether @p client, as an engine knows it, is this loop. */
    bool Is(const CollectiveClient* client) const
    {
        return client == static_cast<const CollectiveClient*>(this);
    }

    /** Makes no further calls after the one in progress. */
    void Stop()
    {
        m_calls = m_durations.size() + (m_isCalling ? 1 : 0);
        m_next = Time::Infinite();
    }

    /** Durations of the calls that have ended, in order. */
    const std::vector<Time>& Durations() const
    {
        return m_durations;
    }

    /** The fraction of all calls that have ended. */
    double DoneFraction() const
    {
        return static_cast<double>(m_durations.size()) / static_cast<double>(m_calls);
    }

    bool IsFinished() const
    {
        return m_durations.size() == m_calls;
    }

  private:
    void Begin(Time now);
    void BeginWhenDue(Time now);
    void OnCollectiveDone(uint64_t token, Time now) override;

    std::string m_name{"collective"};
    CollectiveEngine& m_engine;
    CallSequence m_sequence;
    uint64_t m_calls;  //!< of the whole run
    Time m_next;       //!< start of the pending call that waits for its period; infinite: none
    Time m_roundBegan; //!< start of the last round
    std::vector<CallEnded> m_watchers;
    Time m_began; //!< start of the call in progress
    bool m_isCalling{false};
    std::vector<Time> m_durations;
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_COLLECTIVE_LOOP_H
