// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RUNNING_ROW_TIME_H
#define WEIR_SCENARIOS_RUNNING_ROW_TIME_H

#include "collectives/collective.h"
#include "collectives/engines/flow-engine.h"
#include "collectives/fidelity.h"
#include "collectives/planner.h"
#include "fabric/transport/fluid/fluid-transport.h"
#include "fabric/transport/passive-engine.h"
#include "fabric/units.h"

#include <cstdint>
#include <memory>

namespace weir
{

/**
 * Times calls that follow each other on one stream of every rank, alone on the fabric: what
 * benchmarks measure that start many and wait for the last. Where a rank need not wait for others,
 * as the root of a broadcast, the calls overlap.
 */
class RowTimer
{
  public:
    /** From @p now on, where the transport stands. All references must outlive it. */
    RowTimer(Fidelity fidelity, Planner& planner, FluidTransport& transport, Time now = Time());

    /**
     * When the last of @p calls equal calls has ended on all ranks, over their number. Fidelity
     * `flow` plays them until two in a row have ended as long after the one before, within a
     * thousandth, and takes the rest to follow so; the others know one call's time and the period
     * of the plan. Calls that do not overlap by that are timed alone.
     * @throws std::runtime_error when one never ends.
     */
    Time PerCall(const CollectiveCall& call, uint32_t calls);

    /** When all that has been timed is over. */
    Time Now() const
    {
        return m_now;
    }

  private:
    bool Overlaps(const CollectiveCall& call);
    Time Play(const CollectiveCall& call, uint32_t calls);
    Time PlayOne(const CollectiveCall& call);

    Planner& m_planner;
    std::unique_ptr<CollectiveEngine> m_engine;
    FlowEngine* m_flow{nullptr}; //!< the engine, if it is one
    EngineSet m_engines;
    Time m_now; //!< where the calls before ended
};

} // namespace weir

#endif // WEIR_SCENARIOS_RUNNING_ROW_TIME_H
