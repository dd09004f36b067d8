// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRACES_IMPORT_TRACES_H
#define WEIR_SCENARIOS_TRACES_IMPORT_TRACES_H

#include "scenarios/traces/trace-bytes.h"
#include "scenarios/traces/trace.h"
#include "scenarios/workload/workload-file.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * The import of traces in its order: ReadTraces, MatchCalls, MakeWorkload.
 */
namespace weir
{

/**
 * Reads one file of any supported format, detected by content.
 * @throws InputError also for unknown formats.
 */
TraceFile ReadTrace(const TraceBytes& file, const TraceOptions& options);

/**
 * Reads all of @p paths, including archives, in which files of unknown formats are skipped. If @p
 * paths have both the host trace (PyTorch ExecutionTrace) and the kernel trace (Kineto) of a rank,
 * the two are joined (TraceFile::isJoined). Groups of @p options replace those of the files.
 * @throws InputError
 */
std::vector<TraceFile> ReadTraces(const std::vector<std::string>& paths,
                                  const TraceOptions& options);

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
 * other members; the k-th send of (source, destination, tag) with the k-th receive, counted in an
 * order in which the rank can run them (its dependencies, then the order of RankTrace). If @p
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

/**
 * Converts the result of ReadTraces and MatchCalls to a workload.
 *
 * A StepGraph has in-order streams, whereas traces are dependency graphs. Operations are assigned
 * to streams in one topological order over all ranks, by earliest recorded time. In-order streams
 * filled in such an order cannot deadlock. Events of one recorded stream stay on one stream. Other
 * events go to a stream whose last operation they depend on, otherwise to an empty stream,
 * otherwise to the stream that becomes free first; there they may wait for an operation that they
 * do not depend on, and Workload::remarks counts them. Dependencies that the stream order implies
 * are dropped. Ranks with equal programs share one. Complexity O((events + dependencies) x (log
 * events + streams)).
 *
 * @throws InputError when events wait for each other, with the first ranks and what each waits for.
 */
Workload MakeWorkload(const MatchedTraces& traces);

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_IMPORT_TRACES_H
