// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_RING_TIME_H
#define WEIR_COLLECTIVES_ALGORITHMS_RING_TIME_H

#include "collectives/schedule/block-times.h"
#include "collectives/schedule/schedule.h"
#include "fabric/routing/routing.h"
#include "fabric/units.h"

#include <cstdint>
#include <vector>

namespace weir
{

class UncontendedRates;

/** One channel's ring as its closed form sees it. */
struct RingRounds
{
    struct Hop
    {
        RouteId route;
        Time latency;  //!< from a slice's last byte to its use
        Time pause;    //!< of the wire between two slices: BlockTimes::Pause where a block stores
        Time interval; //!< at least, from one slice's start to the next one's
    };

    struct Round
    {
        uint32_t repeat{1};
        Bytes slice; //!< on the wire
        uint32_t slices{1};
    };

    std::vector<Hop> hops;     //!< in ring order
    std::vector<Round> rounds; //!< NCCL's outer loop
    uint32_t steps{0};         //!< chunks that each rank sends in one round
    Rate cap;                  //!< of a slice on the wire
    double weight{1};          //!< how many equal channels there are
    BlockTimes block;
    PrimitiveKind last{PrimitiveKind::Recv}; //!< what ends a round
};

/**
 * How long the slowest ring takes from its first send to its last arrival, when links carry what
 * @p rates says.
 *
 * Every rank sends its chunks of a round in a fixed order, each as some slices, and each chunk but
 * the first when that of the rank before has arrived. So with m(h) = slice / share on hop h, w(h) =
 * max(m(h) + pause(h), interval(h), block time) and latency L(h), a round is bound
 *
 *   by the slowest wire or block:  steps x slices x max w + the pause between rounds, or
 *   by a chunk's path:              sum over steps consecutive hops (m(h) + L(h)) + (slices - 1)
 * max
 * w
 *
 * The pause is L + the block's time r of the last receive, less what the hop before the slowest one
 * is ahead of it per step; where blocks store, at least slices x r: they receive nothing before all
 * that they store has left. r of all slices, less L where they begin as the last one sets out, also
 * follows the last round. Latencies count on the average in rounds that others follow (round by
 * round they begin at other ranks). In the last one chunks may also wait on part of the way for
 * those ahead of them: a send begins when the one before it on its hop and the one of its chunk on
 * the hop before are over, so that the round takes the longest of all that alternate between both,
 *
 *   max over J, first hop:  sum over J consecutive hops (m + L) + ((steps - J) slices + slices - 1)
 * max w
 *
 * A rank that waits for its chunk leaves its links to others. Hop h is busy for b(h) = slices x
 * m(h) / (time of a round / steps) of the time, and what it finds on a link is
 *
 *   all hops in step with it  +  sum over the others of max(b, 1 - D / (slices x m))
 *
 * as a customer of a closed network finds the others there (Reiser and Lavenberg, JACM 27, 1980,
 * mean value analysis). In step are hops of rings that are equally fast, as many hops behind their
 * ring's slowest one: they have waited for the same. The others of such rings are apart by up to D,
 * by which crossing the ring's slowest hop takes longer than its fastest; with D = 0 all are in
 * step. m and b follow from each other: iterated from full load on.
 *
 * @param rings all channels of the call
 * @param calls how many calls alike are in @p rates: those beside the call itself are averages
 *
 * O(hops x rounds), times some 10 where links have several hops that are not in step.
 */
Time RingsTime(const std::vector<RingRounds>& rings, const UncontendedRates& rates, double calls);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_RING_TIME_H
