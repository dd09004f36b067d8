// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRACES_TRACE_CALLS_H
#define WEIR_SCENARIOS_TRACES_TRACE_CALLS_H

#include "compute-model/graph/step-program.h"
#include "scenarios/traces/trace.h"

#include <string>
#include <vector>

namespace weir
{

/** An event of a rank, by the index of its RankTrace and its own. */
struct EventId
{
    uint32_t rank{0};
    uint32_t event{0};
};

/** A collective, or a send with its receive, over all its ranks. */
struct MatchedCall
{
    std::vector<EventId> events;            //!< by group rank; of a pair sender, receiver
    std::vector<uint32_t> members;          //!< ranks, in order
    Bytes bytes;                            //!< as nccl-tests counts them
    std::vector<std::vector<Bytes>> splits; //!< of an uneven all-to-all; empty: even
    TraceGroup group; //!< where one rank stands for all: members of every rank, by MembersOf
};

/** Ranks of which each has the calls of the others that it takes part in. */
struct MatchedTraces
{
    std::vector<RankTrace> ranks; //!< by rank; where one stands for all, that one
    bool isReplicated{false};
    uint32_t rankCount{0};
    std::vector<MatchedCall> calls; //!< where one stands for all, of its own rank
    std::vector<std::string> remarks;
};

/**
 * Matches what ranks do together: the k-th collective of a rank on a group with the k-th of its
 * other members; the k-th send of (source, destination, tag) with the k-th receive. One rank stands
 * for @p options.ranks where asked to, or where its file says that it does: then its groups are
 * repeated around every rank, uneven all-to-alls are made even, and sends and receives left out.
 * @throws InputError at the first call of which ranks have different operations, sizes, roots or
 * splits, at one without a partner, and where ranks are missing.
 */
MatchedTraces MatchCalls(const std::vector<TraceFile>& files, const TraceOptions& options);

/** The ranks of @p group around @p rank, of @p ranks. @throws InputError where they do not fit. */
std::vector<uint32_t> MembersOf(const TraceGroup& group,
                                uint32_t rank,
                                uint32_t ranks,
                                const std::string& place);

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_TRACE_CALLS_H
