// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_CUT_PIPELINES_H
#define WEIR_COLLECTIVES_ENGINES_CUT_PIPELINES_H

#include "collectives/engines/closed-form.h"
#include "collectives/engines/pipeline-time.h"
#include "collectives/planner.h"
#include "fabric/routing/routing.h"
#include "fabric/units.h"

#include <vector>

namespace weir
{

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

#endif // WEIR_COLLECTIVES_ENGINES_CUT_PIPELINES_H
