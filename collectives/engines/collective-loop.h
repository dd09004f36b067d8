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

/** One collective that is called several times, each call when the one before has ended. */
class CollectiveLoop : public PassiveEngine, private CollectiveClient
{
  public:
    /** Told of each call that has ended, after the next one has begun. */
    using CallEnded = std::function<void(uint32_t call, Time started, Time now)>;

    /**
     * @param engine must outlive it and be advanced after it
     * @param call what is called, at least once
     * @param calls how many times
     * @param start when the first call begins
     * @param ended may be empty
     */
    CollectiveLoop(CollectiveEngine& engine,
                   const CollectiveCall& call,
                   uint32_t calls,
                   Time start,
                   CallEnded ended);

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

    const CollectiveCall& GetCall() const
    {
        return m_call;
    }

    /** Whether @p client, to which an engine reports, is this loop. */
    bool Is(const CollectiveClient* client) const
    {
        return client == static_cast<const CollectiveClient*>(this);
    }

    /** Makes no more calls after the one under way. */
    void Stop()
    {
        m_calls = static_cast<uint32_t>(m_durations.size()) + (m_isCalling ? 1 : 0);
        m_start = Time::Infinite();
    }

    /** How long the calls that have ended took, in order. */
    const std::vector<Time>& Durations() const
    {
        return m_durations;
    }

    bool IsFinished() const
    {
        return m_durations.size() == m_calls;
    }

  private:
    void Begin(Time now);
    void OnCollectiveDone(uint64_t token, Time now) override;

    std::string m_name{"collective"};
    CollectiveEngine& m_engine;
    CollectiveCall m_call;
    uint32_t m_calls;
    Time m_start; //!< of the first call; infinite once it has begun
    CallEnded m_ended;
    Time m_began; //!< the call under way
    bool m_isCalling{false};
    std::vector<Time> m_durations;
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_COLLECTIVE_LOOP_H
