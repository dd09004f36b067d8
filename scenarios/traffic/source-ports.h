// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRAFFIC_SOURCE_PORTS_H
#define WEIR_SCENARIOS_TRAFFIC_SOURCE_PORTS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir
{

/**
 * Gives the flows between two end points one source port after another, from 10000 on as the HPCC
 * simulator does (scratch/third.cc: portNumder), and around as ports do after 65535.
 *
 * Eight bytes a pair of end points in a hash table of open addressing that is at most three
 * quarters full: most pairs of a large network have one flow.
 */
class SourcePorts
{
  public:
    SourcePorts();

    /** The port of the next flow between two different end points, both below 2^24. */
    uint16_t Next(uint32_t source, uint32_t destination);

  private:
    std::size_t FindSlot(uint64_t pair) const;
    void Grow();

    std::vector<uint64_t> m_slots; //!< the pair's 48 bits above its count of flows modulo 2^16
    std::size_t m_pairs{0};
};

} // namespace weir

#endif // WEIR_SCENARIOS_TRAFFIC_SOURCE_PORTS_H
