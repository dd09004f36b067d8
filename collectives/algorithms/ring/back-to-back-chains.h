// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_BACK_TO_BACK_CHAINS_H
#define WEIR_COLLECTIVES_ALGORITHMS_BACK_TO_BACK_CHAINS_H

#include "collectives/schedule/schedule.h"
#include "fabric/units.h"

#include <cstdint>
#include <vector>

namespace weir
{

class UncontendedRates;

/** Equal back-to-back calls, each of which sends slices along a chain on every channel. */
struct BackToBackChains
{
    struct Chain
    {
        std::vector<uint32_t> ranks;          //!< in the chain's order
        std::vector<ScheduleConnection> hops; //!< one fewer than ranks
        double weight{1};                     //!< number of equal channels
    };

    std::vector<Chain> chains; //!< distinct chains
    Bytes slice;               //!< on the wire
    Bytes bytes;               //!< bytes of a channel over each hop, on the wire
    Rate cap;                  //!< of a channel
    Time start;                //!< from a kernel's end to the next one's first primitive
};

/**
 * Mean time that each of @p calls back-to-back calls after the first adds to an uncontended call,
 * where every rank begins a call when its own part of the previous one has ended on all channels.
 *
 * In call k let B(r) be the begin of rank r, r(p) the rank at position p of a chain, and m(p), M(p)
 * and L(p) the times of hop p for a slice, for all bytes, and until use. The first slice arrives at
 *
 *   f(0) = B(r(0)),  f(p + 1) = max(f(p) + m(p) + L(p), B(r(p + 1)))
 *
 * and the last one has left at
 *
 *   l(p) = max(f(p) + M(p), l(p - 1) + L(p - 1) + m(p), f(p + 1) + M(p) - slots x m(p)),
 *
 * with the last term only if there are more slices than slots. Rank r's kernel ends at E(r), the
 * latest of its l(p) + release(p) over all chains, and its next call begins at E(r) + start. If all
 * chains have the ranks in the same order, the period is that of the slowest rank. If a rank is
 * early in one chain and late in another, those behind it wait for it, and calls hardly overlap.
 *
 * m and M depend on the hops that use the same links. Those of one call are found first: chains
 * begin at the same time, so hops whose positions differ by q share a link for the fraction max(0,
 * 1 - q / K) of the time of their K slices. Calls that follow each other with a constant period P
 * also share links with each other: hop p uses its links from f(p) to l(p), and again P later, for
 * the fraction M(p) / (l(p) - f(p)) of that time. From these windows follow mean rates, from the
 * rates new windows, for at most 16 rounds. Where periods alternate, only the first estimate is
 * used.
 *
 * O(calls x positions of all chains + pairs of hops on each link), for each round.
 */
Time PeriodOf(const BackToBackChains& backToBack, const UncontendedRates& rates, uint32_t calls);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_BACK_TO_BACK_CHAINS_H
