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

/** One channel's ring in the closed form. */
struct RingRounds
{
    struct Hop
    {
        RouteId route;
        Time latency;  //!< from a slice's last byte to its use
        Time pause;    //!< between two slices on the wire: BlockTimes::Pause where a block stores
        Time interval; //!< minimum time from one slice's start to the next one's
    };

    struct Round
    {
        uint32_t repeat{1};
        Bytes slice; //!< on the wire
        uint32_t slices{1};
    };

    std::vector<Hop> hops;     //!< in ring order
    std::vector<Round> rounds; //!< NCCL's outer loop
    uint32_t steps{0};         //!< number of chunks that each rank sends in one round
    Rate cap;                  //!< of a slice on the wire
    double weight{1};          //!< number of equal channels
    BlockTimes block;
    PrimitiveKind last{PrimitiveKind::Recv}; //!< last primitive of a round
};

/**
 * Time of the slowest ring from its first send to its last arrival, with the link loads of @p
 * rates.
 *
 * Every rank sends its chunks of a round in a fixed order, each in several slices, and each chunk
 * but the first when the chunk of the previous rank has arrived. With m(h) = slice / share on hop
 * h, w(h) = max(m(h) + pause(h), interval(h), block time) and latency L(h), a round takes the
 * longer of
 *
 *   the slowest wire or block:  steps x slices x max w + the pause between rounds
 *   the path of a chunk:        sum over steps consecutive hops of (m(h) + L(h))
 *                                 + (slices - 1) max w
 *
 * The pause is L + the block's time r of the last receive, minus the lead that the hop before the
 * slowest one gains. Where blocks store, the pause is at least slices x r, since they run the last
 * receive only when everything that they stored has left. r of all slices, minus L where they begin
 * when the last slice departs, also follows the last round. In rounds that others follow, latencies
 * are averaged over the hops, since consecutive rounds begin at different ranks. In the last round
 * chunks may also wait on a part of their path for those ahead: a send starts when the previous
 * send on its hop and the send of its chunk on the previous hop are done. So the round takes the
 * longest sequence that alternates between both:
 *
 *   max over J and the first hop:  sum over J consecutive hops of (m + L)
 *                                    + ((steps - J) slices + slices - 1) max w
 *
 * A rank that waits for its chunk leaves its links to others. Hop h is busy for the fraction b(h) =
 * slices x m(h) / (time of a round / steps) of the time, and finds on a link the load of
 *
 *   all hops in lockstep with it  +  sum over the others of max(b, 1 - D / (slices x m))
 *
 * as a customer of a closed queueing network finds the other customers (mean value analysis; Reiser
 * and Lavenberg, JACM 27, 1980). Hops of equally fast rings are in lockstep if they are equally far
 * behind their ring's slowest hop, since they have waited for the same time. The other hops of such
 * rings are offset by at most D, the difference in time between crossing the ring's slowest and its
 * fastest hop; with D = 0 all are in lockstep. Where chunks wait for their arrival, the k-th chunk
 * of a hop that is d hops behind the slowest one has waited ceil((k - d) / n) times, with n hops
 * from a slowest hop to the next. So two hops have waited equally often for 1 - |d - d'| / n of the
 * first n chunks of a call, in which they count as in lockstep; later they count as apart. Hops of
 * rings of another speed count with b. m and b depend on each other and are iterated, starting from
 * full load.
 *
 * @param rings all channels of the call
 * @param calls number of concurrent calls in @p rates; those besides the call itself are averages
 *
 * O(hops x rounds), times about 10 x hops per link where links have several hops that are not in
 * lockstep.
 */
Time RingsTime(const std::vector<RingRounds>& rings, const UncontendedRates& rates, double calls);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_RING_TIME_H
