// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_ANALYTICAL_ENGINE_H
#define WEIR_COLLECTIVES_ENGINES_ANALYTICAL_ENGINE_H

#include "collectives/engines/call-classes.h"
#include "collectives/engines/collective-engine.h"
#include "collectives/engines/plan-lookup.h"
#include "collectives/planner.h"
#include "fabric/indexed-heap.h"
#include "fabric/slot-pool.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace weir
{

/**
 * A collective is its closed-form duration: a latency, then the time of its bytes. Calls in classes
 * (ExpectConcurrent) take the time of their class, and are retimed whenever another class that
 * contends for the same links begins or ends; a class is active while any of its calls moves
 * bytes. Other calls are uncontended. Links that are degraded during a run slow no call.
 *
 * O(log active) per collective. A call whose class contends with others also takes O(log active)
 * for every call of the connected classes when it begins and ends.
 */
class AnalyticalEngine : public CollectiveEngine
{
  public:
    /** @p planner must outlive it. */
    explicit AnalyticalEngine(Planner& planner);

    void Start(const CollectiveCall& call,
               CollectiveClient* client,
               uint64_t token,
               Time now) override;

    bool TimesByClass() const override
    {
        return true;
    }

    void ExpectConcurrent(const CallClass& callClass) override;

    Time NextEventTime() override;
    void AdvanceTo(Time now) override;

  private:
    struct Call
    {
        CollectiveClient* client{nullptr};
        uint64_t token{0};
        uint32_t callClass{CallClasses::NONE}; //!< NONE: uncontended, its end is known
        bool isMoving{false};                  //!< its pipeline is full
        Time drain;                            //!< from the end of its transfer to its own end
        uint32_t index{0};                     //!< index in its class's list while it moves
        Time left;                             //!< remaining time at speed 1, at `since`
        Time since;
        double speed{1};
    };

    /** When the next event of a call is due; ties by the order of Push. */
    using Due = std::pair<Time, uint64_t>;

    void Push(uint32_t slot, Time when);
    void BeginToMove(uint32_t slot, Time now);
    void EndMoving(uint32_t slot, Time now);
    void Finish(uint32_t slot, Time now);
    void Retime();
    void RetimeAround(uint32_t callClass);

    PlanLookup m_plans;
    CallClasses m_classes;
    SlotPool<std::vector<Call>> m_calls;
    IndexedHeap<Due> m_events; //!< by slot: the next event of each call
    uint64_t m_pushed{0};
    std::vector<std::vector<uint32_t>> m_moving; //!< by class: calls that move bytes
    std::vector<uint32_t> m_changed;             //!< classes that began or ended at m_now
    std::vector<uint64_t> m_timed;               //!< by class: the last retiming that included it
    uint64_t m_retimings{0};
    Time m_now;
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_ANALYTICAL_ENGINE_H
