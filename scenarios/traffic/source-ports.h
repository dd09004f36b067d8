// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRAFFIC_SOURCE_PORTS_H
#define WEIR_SCENARIOS_TRAFFIC_SOURCE_PORTS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir
{

/**
 * Assigns consecutive source ports to the flows between two end points, from 10000 on as the HPCC
 * simulator does (scratch/third.cc: portNumder), wrapping around after 65535. Uses eight bytes per
 * pair, in a hash table with open addressing: most pairs of a large network have one flow.
 */
class SourcePorts
{
  public:
    SourcePorts();

    /**
     * The source port of the next flow between two different end points, both below 2^24.
     * @throws std::invalid_argument for other end points.
     */
    uint16_t Next(uint32_t source, uint32_t destination);

  private:
    std::size_t FindSlot(uint64_t pair) const;
    void Grow();

    std::vector<uint64_t> m_slots; //!< 48-bit pair, then 16-bit number of flows
    std::size_t m_pairs{0};
};

} // namespace weir

#endif // WEIR_SCENARIOS_TRAFFIC_SOURCE_PORTS_H
