// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRACES_TRACE_CALLS_H
#define WEIR_SCENARIOS_TRACES_TRACE_CALLS_H

#include "compute-model/graph/step-program.h"
#include "scenarios/traces/trace.h"

#include <string>
#include <vector>

namespace weir
{

/** An event, identified by the indices of its RankTrace and within it. */
struct EventId
{
    uint32_t rank{0};
    uint32_t event{0};
};

/** A collective over all its ranks, or a send with its receive. */
struct MatchedCall
{
    std::vector<EventId> events;            //!< by group rank; for a pair sender, receiver
    std::vector<uint32_t> members;          //!< global ranks, in group order
    Bytes bytes;                            //!< size as nccl-tests defines it
    std::vector<std::vector<Bytes>> splits; //!< of an uneven all-to-all, by sender and receiver;
                                            //!< empty: even
    TraceGroup group; //!< if replicated: the group of every rank, by MembersOf
};

/** Traces whose communication calls are matched across ranks. */
struct MatchedTraces
{
    std::vector<RankTrace> ranks; //!< by rank; if replicated, only the recorded one
    bool isReplicated{false};
    uint32_t rankCount{0};
    std::vector<MatchedCall> calls; //!< if replicated, those of the recorded rank
    std::vector<std::string> remarks;
};

/**
 * Matches communication across ranks: the k-th collective of a rank on a group with the k-th of the
 * other members; the k-th send of (source, destination, tag) with the k-th receive. If @p
 * options.ranks is set or the file says so, one rank represents all: its groups are replicated for
 * every rank, uneven all-to-alls become even, and sends and receives are omitted.
 * @throws InputError at the first call whose ranks have different operations, sizes, roots or
 *         splits, at a call without a partner, and when ranks are missing.
 */
MatchedTraces MatchCalls(const std::vector<TraceFile>& files, const TraceOptions& options);

/**
 * The members of @p group for @p rank among @p ranks ranks.
 * @throws InputError when the group does not fit.
 */
std::vector<uint32_t> MembersOf(const TraceGroup& group,
                                uint32_t rank,
                                uint32_t ranks,
                                const std::string& location);

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_TRACE_CALLS_H
