// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_PASSIVE_ENGINE_H
#define WEIR_FABRIC_PASSIVE_ENGINE_H

#include "fabric/units.h"

#include <vector>

namespace weir
{

/**
 * Something that happens in simulated time and never calls a scheduler: it says when it next has
 * something to do, and is told to go there.
 *
 * Rules that keep a set of engines exact:
 *  - time passed to any call never goes back;
 *  - AdvanceTo(now) is called with now <= NextEventTime() (an event may not be skipped);
 *  - what an engine tells its client happens inside AdvanceTo, at exactly that time, after the
 *    engine's own state is consistent; the client may start new work on any engine there;
 *  - NextEventTime() may do deferred work (one fluid solve for everything that changed at an
 *    instant), so it is asked once per instant, not after every change.
 */
class PassiveEngine
{
  public:
    virtual ~PassiveEngine() = default;

    /** When the state next changes by itself; Time::Infinite() when nothing is under way. */
    virtual Time NextEventTime() = 0;

    /** Goes to @p now and does what is due there. */
    virtual void AdvanceTo(Time now) = 0;

    /**
     * Nobody else has anything to do before @p limit: does what is due before it, until somebody
     * has been told of something. For engines with many events that concern nobody else, which are
     * not worth an instant of the whole set. @return where it stands; null time: it did nothing.
     */
    virtual Time AdvanceAlone(Time limit)
    {
        return Time();
    }
};

/**
 * A set of passive engines that live in one time: the plain event loop, and what an ns-3 adapter
 * holds its one pending event for. Does not own the engines; they are asked in the order of Add.
 */
class EngineSet
{
  public:
    void Add(PassiveEngine& engine);

    /** As Add, but asked before all others: for what uses engines that are in the set already. */
    void AddFirst(PassiveEngine& engine);

    /** As Add, but asked right before @p other, which is in the set. */
    void AddBefore(PassiveEngine& engine, const PassiveEngine& other);

    /** Lets all engines go; where they stood and how many instants they visited stays known. */
    void Clear();

    /** The earliest next event of all engines. */
    Time NextEventTime();

    /** Whether nothing is under way but in @p engine. */
    bool IsIdleBeside(const PassiveEngine& engine);

    /** Runs every event up to and including @p now, in order, then leaves all engines at @p now. */
    void RunUntil(Time now);

    /** Runs until no engine has anything left to do. @return the time of the last event. */
    Time RunToEnd();

    /**
     * Visits the next instant at which anything happens, all of it up to the next one at which
     * more than one engine may be concerned. @return false when nothing is left to do.
     */
    bool Step();

    /** Where all engines stand; inside AdvanceTo the instant being visited. */
    Time Now() const
    {
        return m_now;
    }

    /** How many distinct instants have been visited (the cost of a run under any scheduler). */
    uint64_t Instants() const
    {
        return m_instants;
    }

  private:
    void Visit(Time instant);

    std::vector<PassiveEngine*> m_engines; //!< in the order of Add
    Time m_now;                            //!< where all engines stand
    uint64_t m_instants{0};                //!< instants visited
};

} // namespace weir

#endif // WEIR_FABRIC_PASSIVE_ENGINE_H
