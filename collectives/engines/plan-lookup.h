// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_PLAN_LOOKUP_H
#define WEIR_COLLECTIVES_ENGINES_PLAN_LOOKUP_H

#include "collectives/planner.h"

#include <vector>

namespace weir
{

/**
 * A cache of the plans that an engine has asked for, by communicator. A training step makes a few
 * different calls on each, millions of times, so a short list is faster than the planner's hash
 * table.
 */
class PlanLookup
{
  public:
    /** @p planner must outlive it. */
    explicit PlanLookup(Planner& planner)
        : m_planner(planner)
    {
    }

    /** As Planner::Plan. O(distinct calls on the communicator so far, up to MAX_PLANS). */
    const CollectivePlan& Plan(const CollectiveCall& call)
    {
        if (call.communicator.IsValid() && call.communicator.Index() < m_known.size())
        {
            for (const Known& known : m_known[call.communicator.Index()])
            {
                if (known.bytes == call.bytes && known.plan->call == call)
                {
                    return *known.plan;
                }
            }
        }
        return Ask(call);
    }

  private:
    struct Known
    {
        Bytes bytes; //!< of the call
        const CollectivePlan* plan;
    };

    static constexpr std::size_t MAX_PLANS = 16; //!< kept for one communicator

    const CollectivePlan& Ask(const CollectiveCall& call)
    {
        const CollectivePlan& plan = m_planner.Plan(call);
        const std::size_t index = call.communicator.Index();
        if (m_known.size() <= index)
        {
            m_known.resize(index + 1);
        }
        if (m_known[index].size() < MAX_PLANS)
        {
            m_known[index].push_back({call.bytes, &plan});
        }
        return plan;
    }

    Planner& m_planner;
    std::vector<std::vector<Known>> m_known; //!< by communicator
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_PLAN_LOOKUP_H
