// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_PIPELINE_TIME_H
#define WEIR_COLLECTIVES_ENGINES_PIPELINE_TIME_H

#include "collectives/engines/closed-form.h"
#include "collectives/planner.h"
#include "fabric/routing/routing.h"
#include "fabric/units.h"

#include <vector>

namespace weir
{

/** A channel whose slices follow each other over many hops, some of which share links. */
struct Pipeline
{
    std::vector<RouteId> path;                //!< by stage: the hop of the slowest path
    std::vector<std::vector<RouteId>> stages; //!< by stage: all hops that are crossed in it
    Bytes slice;                              //!< on the wire
    Bytes bytes;                              //!< bytes of the channel over each hop, on the wire
    Rate cap;                                 //!< of the channel
    Rate block{Rate::Infinite()};             //!< of a stage's thread block for back-to-back slices
    double weight{1};                         //!< number of equal channels
    double chunkWeight{1};                    //!< weight of a channel's chunks in max-min sharing
    std::vector<Time> latencies{};            //!< by stage: latency of the path's hop
};

/**
 * Time of the slices of pipelines that start at the same time, without latencies.
 *
 * Slice k of K crosses stage s of S in tick k + s. In tick t the stages t - K + 1 to t are busy, so
 * the load of a link is load(t) = sum over those stages of all pipelines of multiplicity x weight,
 * and a crossing takes d(k, s) = slice x max(1 / cap, load(k + s) / rate over the links of the
 * path's hop). Then
 *
 *   start(k, s) = max(end(k, s - 1), end(k - 1, s), start(k - 1, s) + b)
 *   end(k, s) = start(k, s) + d(k, s)
 *
 * where b = slice / block is how long a slice keeps the thread block of a stage busy; the slice
 * itself is forwarded when it has crossed. The time is end(K - 1, S - 1), the longest of all
 * pipelines. If the load is the same in all ticks, this is the typical (sum of crossings) + (K - 1)
 * x slowest; if it varies, a pipeline that fills or drains has less contention. Slices beyond S add
 * a steady crossing each, or b each where no crossing takes longer than b while all stages are
 * busy; a partial last slice adds its fraction of one. All pipelines have the slice size and the
 * bytes of the first one.
 *
 * @param calls number of concurrent, equal calls in lockstep
 *
 * Consecutive slices with equal crossing times, or with departures in arithmetic progression, are
 * stored as one run: O(stages x stages on the links of one).
 */
Time PipelineTime(const std::vector<Pipeline>& pipelines, Routing& routing, double calls = 1);

/** Times of a call whose pipelines fill. */
struct FillTimes
{
    Time start;     //!< before the first byte moves
    Time latencies; //!< of all hops
    Time crossings; //!< of the first slice over all hops
    Time transfer;  //!< of all bytes of a full pipeline
};

/**
 * Pipelines as flows of parts that begin one after the other. A part is the stages that the first
 * slice reaches within the same fraction 1 / n of the fill time F. It begins half of its own fill
 * time after the slice has reached it, as its flow loads all its stages at once, and ends as long
 * before the slice of the last byte leaves it. So uncontended pipelines take start + F + transfer
 * for every n. n is such that a part fills within an eighth of the transfer, but at most 4, so that
 * large calls have few flows.
 *
 * A part begins when a head has crossed the part before, with as many bytes as move during the
 * crossings of that part. Contention slows the head as it slows the crossings. Where it slows all
 * hops, fill and transfer take 1 + q(S - 1) / K full transfers (ContendedShare), of which the heads
 * are the fraction h; so the weight of parts is ContendedShare x (1 + h), at most 1.
 *
 * @param chunks K, of a channel
 * @return nothing if n is 1, so that one flow over all hops at once is equivalent
 */
std::vector<StreamPipeline> CutPipelines(const std::vector<Pipeline>& pipelines,
                                         const FillTimes& times,
                                         double chunks,
                                         const UncontendedRates& rates,
                                         Routing& routing);

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_PIPELINE_TIME_H
