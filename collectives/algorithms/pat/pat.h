// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_PAT_H
#define WEIR_COLLECTIVES_ALGORITHMS_PAT_H

#include <cstdint>
#include <vector>

namespace weir
{

/**
 * The messages of PAT over one distance. In an all-gather, rank r holds the data of rank r - o "at
 * offset o" (mod n, its own at 0). With b the lowest set bit of o, data move from offset o - b to
 * offset o by a message from rank r - b to r. So every rank's data go down a binomial tree of all n
 * offsets, over the longest distance first with one message, over the shortest last with n / 2. A
 * reduce-scatter uses the same paths in reverse, the shortest first.
 */
struct PatDistance
{
    uint32_t distance{1};          //!< to the peer, a power of two
    std::vector<uint32_t> offsets; //!< o of the messages, ascending: the odd multiples below n
};

/** The distances of an all-gather over @p ranks ranks, in order, with n - 1 messages in total. */
std::vector<PatDistance> PatDistances(uint32_t ranks);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_PAT_H
