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
 * The clockmaker of passive engines: it keeps a weir::EngineSet at the simulator's time with
 * exactly one pending event.
 *
 * Engines count picoseconds; the simulator may count coarser (ns-3's default is 1 ns). The wake-up
 * is then rounded up, and the set catches up to it: the engines still visit every instant at its
 * own exact picosecond and in order, only the ns-3 code they call sees Simulator::Now() up to one
 * time step late. Exact times are in the records that the engines hand out (weir::Time).
 *
 * A call from outside on any engine is framed by Synchronize (what is due before comes first) and
 * Update (the next event may have moved). Many calls of one instant cost one recomputation.
 */
class EngineDriver : public Object
{
  public:
    /**
     * Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    EngineDriver();
    ~EngineDriver() override;

    /**
     * Drives @p engine from now on, before the engines added earlier: what uses an engine is added
     * after it and comes first in every instant, as weir::EngineSet wants it.
     * @param engine the engine
     * @param owner what keeps it alive; held until the simulator is destroyed
     */
    void Add(weir::PassiveEngine& engine, Ptr<Object> owner);

    /**
     * What is driven: calls on it are framed by Synchronize and Update.
     * @return the engines
     */
    weir::EngineSet& GetEngines();

    /**
     * Keeps something alive until the simulator is destroyed, because the engines call it. What the
     * engines call, such as the callback of a flow's end, cannot: it schedules a call that does
     * (Simulator::ScheduleNow).
     * @param owner what is kept
     */
    void Hold(Ptr<Object> owner);

    /**
     * Asks to be told when the simulator is destroyed, while the engines are still there.
     * @param tell called once
     */
    void AtEnd(Callback<void> tell);

    /**
     * Brings the engines to the present, so that they may be called from outside.
     * @return the time to pass to them
     */
    weir::Time Synchronize();

    /**
     * As Synchronize, unless nothing is under way: the engines then stay at the last instant at
     * which anything happened.
     */
    void CatchUp();

    /** Asks the engines again what comes next, still within the present instant. */
    void Update();

    /**
     * Whether the engines are gone, or going.
     * @return true once the simulator has been destroyed
     */
    bool IsOver() const;

    /**
     * How many instants the engines have visited.
     * @return the count
     */
    uint64_t GetInstants() const;

  protected:
    void DoDispose() override;

  private:
    /** The one event: runs what is due and schedules itself for what comes next. */
    void Wake();

    /**
     * Runs the engines up to @p now; what they call may start new work on them.
     * @param now the time
     */
    void RunUntil(weir::Time now);

    /** Puts the pending event at the engines' next event. */
    void ScheduleNext();

    /** Ends the program when the simulator, and with it the engines, has been destroyed. */
    void CheckAlive() const;

    weir::EngineSet m_engines;           //!< what is driven
    std::vector<Ptr<Object>> m_owners;   //!< keep the engines alive
    std::vector<Callback<void>> m_atEnd; //!< what is told of the end
    EventId m_wake;                      //!< the pending event
    Time m_wakeTime;                     //!< when it fires, if it is pending
    bool m_running{false};               //!< inside RunUntil
    bool m_isOver{false};                //!< the simulator has been destroyed
};

} // namespace ns3

#endif // WEIR_MODEL_ENGINE_DRIVER_H
