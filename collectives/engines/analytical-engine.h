// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_ANALYTICAL_ENGINE_H
#define WEIR_COLLECTIVES_ENGINES_ANALYTICAL_ENGINE_H

#include "collectives/engines/collective-engine.h"
#include "collectives/engines/plan-lookup.h"
#include "collectives/planner.h"

#include <cstdint>
#include <queue>
#include <unordered_map>
#include <vector>

namespace weir
{

/**
 * A collective is its closed-form duration, or what it is expected to take beside its like: it
 * shares nothing else with any other, and links that are degraded during a run do not slow it.
 * O(log active) per collective.
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
    std::size_t Active() const override;

    bool TakesPlannedTimes() const override
    {
        return true;
    }

    /** Of two expectations of one call the longer holds. */
    void Expect(const CollectiveCall& call, Time duration) override;

    Time NextEventTime() override;
    void AdvanceTo(Time now) override;

  private:
    struct Ending
    {
        Time time;
        uint64_t order; //!< of Start; breaks ties
        CollectiveClient* client;
        uint64_t token;

        bool operator>(const Ending& other) const
        {
            return time != other.time ? time > other.time : order > other.order;
        }
    };

    PlanLookup m_plans;
    std::unordered_map<const CollectivePlan*, Time> m_expected; //!< where not the plan's
    std::priority_queue<Ending, std::vector<Ending>, std::greater<>> m_endings;
    uint64_t m_started{0};
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_ANALYTICAL_ENGINE_H
