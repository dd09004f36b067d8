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
 * Links that fail and are repaired at random: each is up for an exponential time, then down for
 * another, independently of the others.
 */
class RandomFailures
{
  public:
    /** Both directions of a wire. */
    using Wire = std::vector<LinkId>;

    /**
     * @param start when all are up, and the first times begin
     * @param up mean time to failure @param down mean time to repair, both above zero
     */
    RandomFailures(std::vector<Wire> wires, Time start, Time up, Time down, uint64_t seed);

    /** When the next wire fails or comes up. O(wires). */
    Time NextEventTime() const;

    /** Does what is due at @p now. */
    void AdvanceTo(Time now, Transport& transport);

    /** From now on HasComeRound counts. */
    void BeginRound();

    /**
     * Whether all wires are up, and each has failed since BeginRound; or each has so often that
     * those which a path needs have been up together. O(wires).
     */
    bool HasComeRound() const;

  private:
    struct State
    {
        Wire wire;
        bool isUp{true};
        uint64_t changes{0}; //!< so far
        uint64_t before{0};  //!< changes at BeginRound
        Time next;
    };

    /** How long @p state stays as it is: the draw of its number. */
    Time Span(std::size_t index, const State& state) const;

    std::vector<State> m_states;
    Time m_up;
    Time m_down;
    uint64_t m_seed;
};

/**
 * By GPU of @p cluster: the factor on compute durations that the `slow-gpu` events ask for; empty
 * when there is none. @throws std::invalid_argument when one names no GPU.
 */
std::vector<double> ComputeScales(const std::vector<EventSpec>& events, const Cluster& cluster);

/**
 * @param isSettled whether `network.settle` is on
 * @param where stands for events that are not from a file
 * @throws InputError when an event acts on what @p fidelity does not simulate.
 */
void ExpectSimulated(const std::vector<EventSpec>& events,
                     Fidelity fidelity,
                     bool isSettled,
                     const std::string& where);

/**
 * What happens to the fabric at a time: degraded or lossy links, links that go down or up, once or
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
     * @param isIdle whether nothing is under way but these events
     * @throws std::invalid_argument with the event's number and what it names that does not exist.
     */
    FabricEvents(
        const std::vector<EventSpec>& events,
        Transport& transport,
        Planner& planner,
        std::function<bool()> isOver,
        std::function<bool(const FabricEvents&)> isIdle = [](const auto&) { return false; });

    Time NextEventTime() override;

    /**
     * Also drops random failures where nothing else had anything to do while each of them came and
     * went: those to come change nothing, and the run would never end.
     */
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
        double loss;
        Bytes bytes;
        FlowForm form;
    };

    void DropUselessFailures();
    void Do(const Due& due, Time now);
    Time NextDue() const;
    Time NextFailure() const;
    void AddFlap(const EventSpec& event, LinkId link);

    Transport& m_transport;
    const Topology& m_topology;
    std::function<bool()> m_isOver;
    std::function<bool(const FabricEvents&)> m_isIdle;
    std::vector<Due> m_due; //!< by time, then in the order of the scenario
    std::size_t m_next{0};  //!< into m_due
    std::vector<RandomFailures> m_failures;
    bool m_isInRound{false}; //!< nothing else was under way at any failure since BeginRound
};

} // namespace weir

#endif // WEIR_SCENARIOS_SIMULATION_FABRIC_EVENTS_H
