// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTING_FLOW_HASH_H
#define WEIR_FABRIC_ROUTING_FLOW_HASH_H

#include <cstdint>

namespace weir
{

/** The fields that a switch hashes: the RoCEv2 five-tuple of a flow without its constant parts. */
struct FlowTuple
{
    uint32_t source{0};      //!< address of the sending end point
    uint32_t destination{0}; //!< address of the receiving end point
    uint16_t sourcePort{0};  //!< UDP source port: differs per queue pair
    uint16_t queuePair{0};
};

constexpr uint64_t SPLIT_MIX_64_STEP = 0x9e3779b97f4a7c15; //!< increment of the state

/**
 * The finalizer of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
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
 * The hash of @p tuple at the switch with id @p device. Switches have independent salts, so that
 * flows which one switch sends to the same next hop are spread again there (no hash polarization).
 */
constexpr uint64_t
HashFlow(const FlowTuple& tuple, uint32_t device, uint64_t seed)
{
    const uint64_t salt = SplitMix64(SplitMix64(seed) ^ device);
    const uint64_t addresses = uint64_t{tuple.source} << 32 | tuple.destination;
    const uint64_t ports = uint64_t{tuple.sourcePort} << 16 | tuple.queuePair;
    return SplitMix64(SplitMix64(salt ^ addresses) ^ ports);
}

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_FLOW_HASH_H
