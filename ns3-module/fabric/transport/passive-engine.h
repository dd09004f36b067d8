// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PASSIVE_ENGINE_H
#define WEIR_FABRIC_TRANSPORT_PASSIVE_ENGINE_H

#include "fabric/units.h"

#include <vector>

namespace weir
{

/**
 * A simulation engine that never calls a scheduler: it reports the time of its next event, and its
 * caller advances it to that time.
 *
 * Rules that keep a set of engines exact:
 * - time passed to any call never decreases;
 * - AdvanceTo(now) is called with now <= NextEventTime() (an event may not be skipped);
 * - an engine calls its client inside AdvanceTo, at exactly that time, after the engine's own state
 *   is consistent; the client may start new work on any engine there;
 * - NextEventTime() may do deferred work (one fluid solve for everything that changed at an
 *   instant), so it is asked once per instant, not after every change.
 */
class PassiveEngine
{
  public:
    virtual ~PassiveEngine() = default;

    /** Time of the next event; Time::Infinite() if nothing is active. */
    virtual Time NextEventTime() = 0;

    /** Advances to @p now and handles the events due there. */
    virtual void AdvanceTo(Time now) = 0;

    /**
     * Handles events before @p limit, up to the first one that calls a client or observer. The
     * caller guarantees that no other engine has an event before @p limit. This is for engines with
     * many internal events, which would be costly to interleave with the whole set one instant at a
     * time.
     * @return the time reached; zero if nothing was handled.
     */
    virtual Time AdvanceExclusively(Time limit)
    {
        return Time();
    }
};

/**
 * A set of passive engines that share one simulated time. It is the plain event loop; an ns-3
 * adapter holds its one pending event for it. It does not own the engines and asks them in the
 * order of Add.
 */
class EngineSet
{
  public:
    void Add(PassiveEngine& engine)
    {
        m_engines.push_back(&engine);
    }

    /** As Add, but asked before all others. For an engine that uses engines already in the set. */
    void AddFirst(PassiveEngine& engine)
    {
        m_engines.insert(m_engines.begin(), &engine);
    }

    /** As Add, but asked right before @p other, which is in the set. */
    void AddBefore(PassiveEngine& engine, const PassiveEngine& other);

    /** Removes all engines. The current time and the number of visited instants are kept. */
    void Clear()
    {
        m_engines.clear();
    }

    /** The earliest next event of all engines. */
    Time NextEventTime();

    /** Whether no engine other than @p engine has a pending event. */
    bool IsIdleBeside(const PassiveEngine& engine);

    /**
     * Handles every event up to and including @p now in order, then leaves all engines at @p now.
     */
    void RunUntil(Time now);

    /** Runs until no engine has a pending event. @return the time of the last event. */
    Time RunToEnd();

    /**
     * Visits the next instant with an event. If only one engine is concerned, it may advance up to
     * the next instant at which several engines may be. @return false if nothing is left to do.
     */
    bool Step();

    /** Current time of all engines; inside AdvanceTo, the instant being visited. */
    Time Now() const
    {
        return m_now;
    }

    /** Number of distinct instants visited, the cost of a run under any scheduler. */
    uint64_t Instants() const
    {
        return m_instants;
    }

  private:
    void Visit(Time instant);

    std::vector<PassiveEngine*> m_engines; //!< in the order of Add
    Time m_now;                            //!< current time of all engines
    uint64_t m_instants{0};                //!< instants visited
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PASSIVE_ENGINE_H
