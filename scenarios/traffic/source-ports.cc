// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traffic/source-ports.h"

#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

constexpr uint16_t FIRST_PORT = 10000;
constexpr unsigned NODE_BITS = 24;
constexpr unsigned COUNT_BITS = 16;
constexpr uint64_t COUNT_MASK = (uint64_t{1} << COUNT_BITS) - 1;
constexpr uint64_t FREE = ~uint64_t{0}; //!< the invalid pair of an end point and itself
constexpr std::size_t FIRST_SLOTS = 64;

} // namespace

SourcePorts::SourcePorts()
    : m_slots(FIRST_SLOTS, FREE)
{
}

uint16_t
SourcePorts::Next(uint32_t source, uint32_t destination)
{
    if (source >> NODE_BITS != 0 || destination >> NODE_BITS != 0 || source == destination)
    {
        throw std::invalid_argument("SourcePorts: expected two end points below 2^24");
    }
    const uint64_t pair = uint64_t{source} << NODE_BITS | destination;
    uint64_t& slot = m_slots[FindSlot(pair)];
    if (slot != FREE)
    {
        const uint64_t count = slot & COUNT_MASK;
        slot = pair << COUNT_BITS | ((count + 1) & COUNT_MASK);
        return static_cast<uint16_t>(FIRST_PORT + count);
    }
    slot = pair << COUNT_BITS | 1;
    m_pairs++;
    if (4 * m_pairs > 3 * m_slots.size())
    {
        Grow();
    }
    return FIRST_PORT;
}

/** Index of the pair's slot, or of the free slot for it. */
std::size_t
SourcePorts::FindSlot(uint64_t pair) const
{
    const std::size_t mask = m_slots.size() - 1;
    // Knuth, The Art of Computer Programming 3, section 6.4: 2^64 over the golden ratio.
    std::size_t at = (pair * 0x9e3779b97f4a7c15 >> 32) & mask;
    while (m_slots[at] != FREE && m_slots[at] >> COUNT_BITS != pair)
    {
        at = (at + 1) & mask;
    }
    return at;
}

void
SourcePorts::Grow()
{
    const auto before = std::exchange(m_slots, std::vector<uint64_t>(2 * m_slots.size(), FREE));
    for (const uint64_t slot : before)
    {
        if (slot != FREE)
        {
            m_slots[FindSlot(slot >> COUNT_BITS)] = slot;
        }
    }
}

} // namespace weir
