// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SIMULATION_FABRIC_EVENTS_H
#define WEIR_SCENARIOS_SIMULATION_FABRIC_EVENTS_H

#include "collectives/planner.h"
#include "fabric/routing/routing.h"
#include "fabric/transport/transport.h"
#include "scenarios/scenario.h"
#include "scenarios/simulation/random-failures.h"

#include <functional>
#include <vector>

namespace weir
{

/**
 * By GPU of @p cluster: the factor on compute durations that the `slow-gpu` events ask for; empty
 * when there is none. @throws std::invalid_argument when one names no GPU.
 */
std::vector<double> ComputeScales(const std::vector<EventSpec>& events, const Cluster& cluster);

/**
 * What happens to the fabric at a time: degraded links, links that go down or up, once or
 * at random, background flows.
 * A background flow between GPUs takes the route of NCCL's first channel between them, without
 * NCCL's caps; between other devices the routed one.
 */
class FabricEvents : public PassiveEngine
{
  public:
    /**
     * Resolves what the events name.
     * @param isOver whether nobody is left whom an event could concern; later events are dropped
     * @throws std::invalid_argument with the event's number and what it names that does not exist.
     */
    FabricEvents(const std::vector<EventSpec>& events,
                 Transport& transport,
                 Planner& planner,
                 std::function<bool()> isOver);

    Time NextEventTime() override;
    void AdvanceTo(Time now) override;

  private:
    /** An event with names resolved; of route and link only what its kind needs is set. */
    struct Due
    {
        EventKind kind;
        Time at;
        LinkId link;
        RouteId route;
        Rate rate;
        Bytes bytes;
        FlowForm form;
    };

    void Do(const Due& due, Time now);
    Time NextDue() const;
    void AddFlap(const EventSpec& event, LinkId link);

    Transport& m_transport;
    const Topology& m_topology;
    std::function<bool()> m_isOver;
    std::vector<Due> m_due; //!< by time, then in the order of the scenario
    std::size_t m_next{0};  //!< into m_due
    std::vector<RandomFailures> m_failures;
};

} // namespace weir

#endif // WEIR_SCENARIOS_SIMULATION_FABRIC_EVENTS_H
