// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_FLOW_HASH_H
#define WEIR_FABRIC_FLOW_HASH_H

#include <cstdint>

namespace weir
{

struct FlowTuple;

constexpr uint64_t SPLIT_MIX_64_STEP = 0x9e3779b97f4a7c15; //!< from one state to the next

/**
 * The finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014, with Stafford's constants): a bijection of 64 bits in which every input
 * bit flips every output bit with probability close to one half.
 */
constexpr uint64_t
SplitMix64(uint64_t x)
{
    x += SPLIT_MIX_64_STEP;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

/**
 * What the switch number @p device hashes @p tuple to. Switches have independent salts, so flows
 * that one of them sends the same way part again at the next (no polarisation).
 */
uint64_t HashFlow(const FlowTuple& tuple, uint32_t device, uint64_t seed);

} // namespace weir

#endif // WEIR_FABRIC_FLOW_HASH_H
