// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_PIPELINE_TIME_H
#define WEIR_COLLECTIVES_ENGINES_PIPELINE_TIME_H

#include "fabric/routing/routing.h"
#include "fabric/units.h"

#include <vector>

namespace weir
{

/** A channel whose slices follow each other over many hops, some of which share links. */
struct Pipeline
{
    std::vector<RouteId> path;                //!< by stage: the hop of the slowest slice's path
    std::vector<std::vector<RouteId>> stages; //!< by stage: all hops that are crossed in it
    Bytes slice;                              //!< on the wire
    Bytes bytes;                              //!< of the channel over each hop, on the wire
    Rate cap;                                 //!< of the channel
    Rate block{Rate::Infinite()};             //!< of one slice after the other through a stage
    double weight{1};                         //!< how many equal channels there are
};

/**
 * How long the slices of pipelines that start together take, without latencies.
 *
 * Slice k of K crosses stage s of S in tick k + s. In tick t the stages t - K + 1 to t are busy,
 * so a link bears load(t) = sum over those stages, all pipelines, of multiplicity x weight, and
 * the crossing takes d(k, s) = slice x max(1 / cap, load(k + s) / rate over the path's links). Then
 *
 *   start(k, s) = max(end(k, s - 1), end(k - 1, s), start(k - 1, s) + b)
 *   end(k, s) = start(k, s) + d(k, s)
 *
 * where b = slice / block is what a slice keeps a stage's block busy for; the slice itself is
 * handed on when it has crossed. The time is end(K - 1, S - 1), the longest of all pipelines. With
 * one load in all ticks this is the typical (sum of crossings) + (K - 1) x slowest; with several,
 * it knows that an empty pipeline has the links for itself. More than S slices add steady
 * crossings, or b each where no crossing takes longer while all stages are busy, and a last slice
 * that is not full its part of one. All pipelines have the slices and bytes of the first.
 *
 * @param calls how many of each there are: calls alike that run in step
 *
 * Slices that take the same over a stage, or leave it in arithmetic progression, are one run:
 * O(stages x stages on the links of one).
 */
Time PipelineTime(const std::vector<Pipeline>& pipelines, Routing& routing, double calls = 1);

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_PIPELINE_TIME_H
