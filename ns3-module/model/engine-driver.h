// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_MODEL_ENGINE_DRIVER_H
#define WEIR_MODEL_ENGINE_DRIVER_H

#include "fabric/transport/passive-engine.h"
#include "fabric/units.h"
#include "ns3/callback.h"
#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/object.h"

#include <vector>

namespace ns3
{

/**
 * Drives passive engines: keeps a weir::EngineSet at the simulator's time with exactly one pending
 * event.
 *
 * Engines count picoseconds, while the simulator may have a coarser resolution (ns-3's default is 1
 * ns). The wake-up is then rounded up, and the engines catch up to it. They still process every
 * instant at its exact picosecond and in order; only the ns-3 code that they call sees a
 * Simulator::Now() that is up to one time step late. The records of the engines have exact times
 * (weir::Time).
 *
 * An external call on any engine must be framed by Synchronize (events that are due come first) and
 * Update (the next event may have moved). Many calls at one instant cost one recomputation.
 */
class EngineDriver : public Object
{
  public:
    /** Get the type ID. */
    static TypeId GetTypeId();

    /**
     * Drives @p engine from now on, before the engines added earlier. An engine must be added after
     * the engines that it uses, and comes before them at every instant, as weir::EngineSet
     * requires.
     * @param owner keeps the engine alive; held until the simulator is destroyed
     */
    void Add(weir::PassiveEngine& engine, Ptr<Object> owner);

    /** The engines. Calls on them must be framed by Synchronize and Update. */
    weir::EngineSet& GetEngines()
    {
        return m_engines;
    }

    /**
     * Keeps an object alive until the simulator is destroyed, because the engines call it.
     * Callbacks of the engines, such as that of a flow's end, must not call this; they schedule a
     * call that does (Simulator::ScheduleNow).
     */
    void Hold(Ptr<Object> owner);

    /**
     * Registers a callback for the destruction of the simulator, while the engines still exist.
     * @param tell called once
     */
    void AtEnd(Callback<void> tell);

    /**
     * Registers a callback that is called whenever the engines are about to advance, before they
     * handle any event of that instant.
     * @param tell called each time; it must not start work on the engines
     */
    void BeforeRun(Callback<void> tell);

    /**
     * Whether the engines are handling events, that is, whether the caller is one of their
     * callbacks.
     * @return true inside such a callback
     */
    bool IsRunning() const
    {
        return m_running;
    }

    /**
     * Brings the engines to the present, so that they may be called externally.
     * @return the time to pass to them
     */
    weir::Time Synchronize();

    /**
     * As Synchronize, unless the engines have no events. They then stay at the instant of their
     * last event.
     */
    void CatchUp();

    /** Recomputes the next event of the engines, still at the present instant. */
    void Update();

    /**
     * Whether the engines have been or are being destroyed.
     * @return true once the simulator has been destroyed
     */
    bool IsOver() const
    {
        return m_isOver;
    }

  protected:
    void DoDispose() override;

  private:
    /** The pending event: runs the events that are due and schedules itself for the next one. */
    void Wake();

    /** Runs the engines up to @p now; the code that they call may start new work on them. */
    void RunUntil(weir::Time now);

    /** Schedules the pending event at the engines' next event. */
    void ScheduleNext();

    /** Aborts if the simulator, and with it the engines, has been destroyed. */
    void CheckAlive() const;

    weir::EngineSet m_engines;               //!< the driven engines
    std::vector<Ptr<Object>> m_owners;       //!< objects kept alive
    std::vector<Callback<void>> m_atEnd;     //!< called at the destruction of the simulator
    std::vector<Callback<void>> m_beforeRun; //!< called before the engines advance
    EventId m_wake;                          //!< pending event
    Time m_wakeTime;                         //!< its time, if it is pending
    bool m_running{false};                   //!< inside RunUntil
    bool m_isOver{false};                    //!< the simulator has been destroyed
};

} // namespace ns3

#endif // WEIR_MODEL_ENGINE_DRIVER_H
