// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_WORKLOAD_WORKLOAD_FILE_H
#define WEIR_SCENARIOS_WORKLOAD_WORKLOAD_FILE_H

#include "compute-model/graph/step-program.h"

#include <string>
#include <vector>

namespace weir
{

/** Of a workload: groups hold group ranks in 16 bits. */
constexpr std::size_t MAX_WORKLOAD_RANKS = std::size_t{1} << 16;

/** What every workload file begins with, and nothing else. */
constexpr const char* WORKLOAD_BEGINNING = "{\"format\":\"weir-workload\"";

/** A step as an import has made it, and what it is made of. */
struct Workload
{
    StepGraph graph;
    std::vector<std::string> sources; //!< files with their dialects
    std::vector<std::string> remarks; //!< defaults taken and what is dropped
};

/**
 * The text of a workload file: one JSON object. Its keys, with all times in picoseconds and sizes
 * in bytes:
 *
 *   format, version    "weir-workload", 1
 *   sources, remarks   lines
 *   labels             names of operations
 *   groups             lists of ranks; a send/recv pair is [sender, receiver]
 *   slots              names of the groups that a rank can be in, by which operations call them
 *   splits             of uneven all-to-alls: who gives how much to whom, by group rank
 *   ranks              by rank: {program, groups: by slot the index of a group, or null; the last
 *                      slots may be absent}
 *   programs           {stage, ops: [...]}, and of an operation, in the order of its stream:
 *     do       compute, collective, send or recv
 *     stream   a name of ToString(StreamKind)
 *     label    index
 *     after    indices of operations of this program that must have ended
 *     launch_ps    when the CPU has launched it, from its last synchronization; absent: well ahead
 *     epoch, synchronizes     how many of these there were before, and whether one stands before it
 *     time_ps, flops, memory_bytes     of compute; all but time_ps may be absent
 *     op, group (a slot), bytes (nccl-tests' size), category, root, splits     of communication
 */
std::string ToText(const Workload& workload);

/**
 * Reads what ToText has written, as it is or compressed by gzip.
 * @throws InputError with the file and the operation of what is wrong. The graph is consistent
 * (CheckStepGraph).
 */
Workload ReadWorkload(const std::string& path);

} // namespace weir

#endif // WEIR_SCENARIOS_WORKLOAD_WORKLOAD_FILE_H
