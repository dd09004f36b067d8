// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SIMULATION_FABRIC_EVENTS_H
#define WEIR_SCENARIOS_SIMULATION_FABRIC_EVENTS_H

#include "collectives/fidelity.h"
#include "collectives/planner.h"
#include "fabric/routing/routing.h"
#include "fabric/transport/transport.h"
#include "scenarios/scenario.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace weir
{

/**
 * Links that fail and are repaired at random: each alternates between exponentially distributed up
 * and down times, independently of the others.
 */
class RandomFailures
{
  public:
    /** Both directions of a link. */
    using Wire = std::vector<LinkId>;

    /**
     * @param start time at which all links are up and the first up times begin
     * @param up mean time to failure, above zero
     * @param down mean time to repair, above zero
     */
    RandomFailures(std::vector<Wire> wires, Time start, Time up, Time down, uint64_t seed);

    /** Time of the next failure or repair. O(wires). */
    Time NextEventTime() const;

    /** Applies the failures and repairs due at @p now. */
    void AdvanceTo(Time now, Transport& transport);

    /** Starts the counters of HaveAllLinksCycled. */
    void BeginRound();

    /**
     * Whether, since BeginRound, each wire has failed and all are up again, or each has changed
     * 2000 times, often enough that the wires of any path have all been up at once. O(wires).
     */
    bool HaveAllLinksCycled() const;

    /** Whether no wire is down at present. O(wires). */
    bool AreAllUp() const;

  private:
    struct State
    {
        Wire wire;
        bool isUp{true};
        uint64_t changes{0}; //!< failures and repairs so far
        uint64_t before{0};  //!< value of changes at BeginRound
        Time next;
    };

    /** Duration of the current state of wire @p index: a random draw indexed by state.changes. */
    Time Span(std::size_t index, const State& state) const;

    std::vector<State> m_states;
    Time m_up;
    Time m_down;
    uint64_t m_seed;
};

/**
 * The factor on compute durations from `slow-gpu` events, by GPU of @p cluster; empty when there
 * are none.
 * @throws std::invalid_argument or InputError when an event names no GPU.
 */
std::vector<double> ComputeScales(const std::vector<EventSpec>& events, const Cluster& cluster);

/**
 * Checks that @p fidelity simulates what the events act on.
 * @param isSettled whether `network.settle` is on
 * @param where location, for the messages of events that are not from a file
 * @throws InputError when an event acts on something that @p fidelity does not simulate.
 */
void ExpectSimulated(const std::vector<EventSpec>& events,
                     Fidelity fidelity,
                     bool isSettled,
                     const std::string& where);

/**
 * Timed events of the fabric: degraded or lossy links, links that go down or up (once, repeatedly
 * or at random), background flows. A background flow between GPUs takes the route of NCCL's first
 * channel between them, without NCCL's rate caps; between other devices it takes the routed path
 * or, if the event names a parallel link, that link.
 */
class FabricEvents : public PassiveEngine
{
  public:
    /**
     * Resolves the names in the events.
     * @param isOver whether all work has ended; later events are dropped
     * @param isIdle whether nothing but these events is pending
     * @throws std::invalid_argument or InputError with the event and the name that does not exist.
     */
    FabricEvents(
        const std::vector<EventSpec>& events,
        Transport& transport,
        Planner& planner,
        std::function<bool()> isOver,
        std::function<bool(const FabricEvents&)> isIdle = [](const auto&) { return false; });

    Time NextEventTime() override;

    /**
     * Also drops random failures if nothing else made progress while each link failed and was
     * repaired: further failures would change nothing, and the run would never end.
     */
    void AdvanceTo(Time now) override;

    /**
     * Whether no event can restore a link or raise its rate beyond the present state: no timed
     * events are left, and all links that fail at random are up. O(links that fail at random).
     */
    bool RestoresNothing() const;

  private:
    /** An event with resolved names; of link and route, only those that its kind needs are set. */
    struct Due
    {
        EventKind kind;
        Time at;
        LinkId link;
        RouteId route;
        Rate rate;
        double loss;
        Bytes bytes;
        FlowForm form;
    };

    void DropIneffectiveFailures();
    void Do(const Due& due, Time now);
    Time NextDue() const;
    Time NextFailure() const;
    void AddFlap(const EventSpec& event, LinkId link);

    Transport& m_transport;
    const Topology& m_topology;
    std::function<bool()> m_isOver;
    std::function<bool(const FabricEvents&)> m_isIdle;
    std::vector<Due> m_due; //!< by time, then in the order of the scenario
    std::size_t m_next{0};  //!< index into m_due
    std::vector<RandomFailures> m_failures;
    bool m_isInRound{false}; //!< nothing else was pending at any failure since BeginRound
};

} // namespace weir

#endif // WEIR_SCENARIOS_SIMULATION_FABRIC_EVENTS_H
