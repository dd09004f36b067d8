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

/** Collectives of one communicator, called in order, again and again. */
struct CallSequence
{
    std::vector<CollectiveCall> calls; //!< of a round, at least one
    uint32_t rounds{1};                //!< how often all of them are called
    Time start;                        //!< of the first call
    Time period;                       //!< from the start of a round to that of the next, at least
};

/**
 * Plays a sequence of collectives: each call begins when the one before has ended, and the first of
 * a round no earlier than a period after that of the round before.
 */
class CollectiveLoop : public PassiveEngine, private CollectiveClient
{
  public:
    /** Told of each call that has ended, after the next one has begun. */
    using CallEnded = std::function<void(uint32_t call, Time started, Time now)>;

    /**
     * @param engine must outlive it and be advanced after it
     * @param ended may be empty
     */
    CollectiveLoop(CollectiveEngine& engine, CallSequence sequence, CallEnded ended);

    /** Tells @p ended, too, of each call that ends from now on. */
    void Watch(CallEnded ended)
    {
        m_watchers.push_back(std::move(ended));
    }

    /** What results call it. */
    void SetName(std::string name)
    {
        m_name = std::move(name);
    }

    const std::string& GetName() const
    {
        return m_name;
    }

    Time NextEventTime() override;
    void AdvanceTo(Time now) override;

    /** The calls of a round. */
    const std::vector<CollectiveCall>& Calls() const
    {
        return m_sequence.calls;
    }

    /** What call @p index of the run is. */
    const CollectiveCall& GetCall(uint64_t index = 0) const
    {
        return m_sequence.calls[index % m_sequence.calls.size()];
    }

    /** Calls of the whole run, as far as it goes on to its end. */
    uint64_t CallCount() const
    {
        return m_calls;
    }

    /** Whether @p client, to which an engine reports, is this loop. */
    bool Is(const CollectiveClient* client) const
    {
        return client == static_cast<const CollectiveClient*>(this);
    }

    /** Makes no more calls after the one under way. */
    void Stop()
    {
        m_calls = m_durations.size() + (m_isCalling ? 1 : 0);
        m_next = Time::Infinite();
    }

    /** How long the calls that have ended took, in order. */
    const std::vector<Time>& Durations() const
    {
        return m_durations;
    }

    /** The part of all calls that have ended. */
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
    Time m_next;       //!< when a call begins that waits for its time; infinite: none does
    Time m_roundBegan; //!< the last round
    std::vector<CallEnded> m_watchers;
    Time m_began; //!< the call under way
    bool m_isCalling{false};
    std::vector<Time> m_durations;
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_COLLECTIVE_LOOP_H
