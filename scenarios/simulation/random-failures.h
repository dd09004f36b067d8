// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SIMULATION_RANDOM_FAILURES_H
#define WEIR_SCENARIOS_SIMULATION_RANDOM_FAILURES_H

#include "fabric/transport/transport.h"

#include <cstdint>
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

  private:
    struct State
    {
        Wire wire;
        bool isUp{true};
        uint64_t changes{0}; //!< so far
        Time next;
    };

    /** How long @p state stays as it is: the draw of its number. */
    Time Span(std::size_t index, const State& state) const;

    std::vector<State> m_states;
    Time m_up;
    Time m_down;
    uint64_t m_seed;
};

} // namespace weir

#endif // WEIR_SCENARIOS_SIMULATION_RANDOM_FAILURES_H
