// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_BACK_TO_BACK_CHAINS_H
#define WEIR_COLLECTIVES_ALGORITHMS_BACK_TO_BACK_CHAINS_H

#include "fabric/routing/routing.h"
#include "fabric/units.h"

#include <cstdint>
#include <vector>

namespace weir
{

class UncontendedRates;

/** Equal calls that follow each other, each of which sends slices along a chain on every channel.
 */
struct BackToBackChains
{
    struct Hop
    {
        RouteId route;
        Time latency;      //!< from a slice's last byte to its use
        Time release;      //!< from the last slice's end until the sender's kernel may end
        uint32_t slots{8}; //!< slices that the sender may be ahead
    };

    struct Chain
    {
        std::vector<uint32_t> ranks; //!< in order
        std::vector<Hop> hops;       //!< one fewer
        double weight{1};            //!< how many equal channels there are
    };

    std::vector<Chain> chains; //!< the different ones
    Bytes slice;               //!< on the wire
    Bytes bytes;               //!< of a channel over each hop, on the wire
    Rate cap;                  //!< of a channel
    Time start;                //!< from a kernel's end to the next one's first primitive
};

/**
 * The mean time between the ends of @p calls calls of a row, when every rank begins a call as its
 * own part of the one before has ended, on all channels.
 *
 * In call k with B(r) the begin of rank r, place p of a chain having the rank r(p), hop p taking
 * m(p) for a slice, M(p) for all bytes and L(p) until use, the first slice is there at
 *
 *   f(0) = B(r(0)),  f(p + 1) = max(f(p) + m(p) + L(p), B(r(p + 1)))
 *
 * and the last one has left at
 *
 *   l(p) = max(f(p) + M(p), l(p - 1) + L(p - 1) + m(p), f(p + 1) + M(p) - slots x m(p)),
 *
 * the last term where there are more slices than slots. A hop that crosses a link q places before
 * or after another one finds it there for the part max(0, 1 - q / K) of its K slices' time, as
 * chains begin together. Rank r's kernel ends at E(r), the latest of its l(p) + release(p) over all
 * chains, and its next call begins at E(r) + start. Where all chains have the ranks in one order
 * the period is that of the slowest rank alone; where a rank is early in one chain and late in
 * another, those behind it wait for it, and calls hardly overlap.
 *
 * O(calls x places of all chains), less when the period is steady before.
 */
Time PeriodOf(const BackToBackChains& row, const UncontendedRates& rates, uint32_t calls);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_BACK_TO_BACK_CHAINS_H
