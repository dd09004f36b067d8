// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_CLASS_ARBITER_H
#define WEIR_FABRIC_TRANSPORT_PACKET_CLASS_ARBITER_H

#include "fabric/transport/packet/packet-spec.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir
{

/** An entry of an arbitration table. */
struct ArbitrationEntry
{
    uint8_t trafficClass;
    int64_t weight; //!< units of 64 bytes
};

/**
 * Selects the data class that a port serves next, by virtual lane arbitration (InfiniBand
 * Architecture, volume 1, 7.6.9). In each of two tables the entries are served in weighted round
 * robin: an entry sends until its weight is used up (its last packet whole) or its class has
 * nothing to send. The high-priority table is served first; after it has sent its limit, the
 * low-priority table may send a packet.
 *
 * Without tables, every class is an entry of one unit in the low-priority table: round robin by
 * packet. O(entries) a packet.
 */
class ClassArbiter
{
  public:
    /** Arbitration state of a port. */
    struct State
    {
        int64_t highSent{0}; //!< units sent since the low table was served
        int32_t lowLeft{0};  //!< units left for the current entry
        int32_t highLeft{0};
        uint8_t low{0}; //!< current entry
        uint8_t high{0};
    };

    static constexpr int64_t UNIT = 64; //!< bytes

    /** @throws std::invalid_argument if a table is malformed or a class has no entry. */
    ClassArbiter(const ArbitrationSpec& spec, unsigned classes);

    State Begin() const
    {
        State state;
        state.lowLeft = WeightOf(m_low, 0);
        state.highLeft = WeightOf(m_high, 0);
        return state;
    }

    /**
     * Sends a packet of the class to be served next.
     * @param transmit sends a packet of a class and returns its bytes; 0 if none may be sent
     * @return whether a packet was sent
     */
    template <typename F>
    bool Serve(State& state, const F& transmit) const
    {
        const bool isHeldBack = state.highSent > 0 && state.highSent >= m_limit;
        if (!m_high.empty() && !isHeldBack)
        {
            const int64_t units = ServeTable(m_high, state.high, state.highLeft, transmit);
            state.highSent += units;
            if (units > 0)
            {
                return true;
            }
        }
        state.highSent = 0;
        if (ServeTable(m_low, state.low, state.lowLeft, transmit) > 0)
        {
            return true;
        }
        if (isHeldBack)
        {
            state.highSent = ServeTable(m_high, state.high, state.highLeft, transmit);
        }
        return state.highSent > 0;
    }

  private:
    static int32_t WeightOf(const std::vector<ArbitrationEntry>& table, std::size_t entry)
    {
        return entry < table.size() ? static_cast<int32_t>(table[entry].weight) : 0;
    }

    /** @return units sent */
    template <typename F>
    static int64_t ServeTable(const std::vector<ArbitrationEntry>& table,
                              uint8_t& turn,
                              int32_t& left,
                              const F& transmit)
    {
        const std::size_t size = table.size();
        for (std::size_t i = 0; i < size; i++)
        {
            const std::size_t entry = turn + i < size ? turn + i : turn + i - size;
            const int64_t bytes = transmit(table[entry].trafficClass);
            if (bytes == 0)
            {
                continue;
            }
            const int64_t units = (bytes + UNIT - 1) / UNIT;
            const int64_t rest = (i == 0 ? left : table[entry].weight) - units;
            const std::size_t next = rest > 0 ? entry : entry + 1 == size ? 0 : entry + 1;
            left = rest > 0 ? static_cast<int32_t>(rest) : WeightOf(table, next);
            turn = static_cast<uint8_t>(next);
            return units;
        }
        return 0;
    }

    std::vector<ArbitrationEntry> m_high;
    std::vector<ArbitrationEntry> m_low;
    int64_t m_limit; //!< units
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_CLASS_ARBITER_H
