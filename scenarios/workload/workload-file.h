// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_WORKLOAD_WORKLOAD_FILE_H
#define WEIR_SCENARIOS_WORKLOAD_WORKLOAD_FILE_H

#include "compute-model/graph/step-program.h"
#include "fabric/units.h"

#include <string>
#include <vector>

namespace weir
{

/** Limit of ranks in a workload: groups hold group ranks in 16 bits. */
constexpr std::size_t MAX_WORKLOAD_RANKS = std::size_t{1} << 16;

/** Limit of a time in a workload, 3.3 days, so that 32 of them can be added. */
constexpr Time MAX_WORKLOAD_TIME = Time::Picoseconds(int64_t{1} << 58);

/** The first bytes of every workload file, and of no other. */
constexpr const char* WORKLOAD_BEGINNING = "{\"format\":\"weir-workload\"";

/** An imported training step and its origin. */
struct Workload
{
    StepGraph graph;
    std::vector<std::string> sources; //!< files with their formats
    std::vector<std::string> remarks; //!< defaults assumed and data dropped
};

/**
 * Writes a workload file: one JSON object with these keys; times are in picoseconds and sizes in
 * bytes:
 *
 *   format, version    "weir-workload", 1
 *   sources, remarks   lines of text
 *   labels             names of operations
 *   groups             lists of ranks; a send/recv pair is [sender, receiver]
 *   slots              names of the groups that a rank can be in, by which operations refer to them
 *   splits             of uneven all-to-alls: matrix of bytes from rank to rank, by group rank
 *   ranks              by rank: {program, groups: by slot the index of a group, or null; trailing
 *                      slots may be omitted}
 *   programs           {stage, ops: [...]}, with the operations in the order of their streams:
 *     do       compute, collective, send or recv
 *     stream   a name of ToString(StreamKind)
 *     label    index
 *     after    indices of operations of this program that must have ended
 *     launch_ps    when the CPU has launched it, from its last synchronization; absent: well ahead
 *     epoch        number of such synchronizations before it in its program
 *     synchronizes whether the CPU waits for the GPU before it
 *     time_ps, flops, memory_bytes     of compute; all but time_ps may be omitted
 *     op, group (a slot), bytes (nccl-tests' size), category, root, splits     of communication
 */
std::string ToText(const Workload& workload);

/**
 * Reads a file written by ToText, plain or by gzip; the graph is consistent (CheckStepGraph).
 * @throws InputError with the file and the operation of the error.
 */
Workload ReadWorkload(const std::string& path);

} // namespace weir

#endif // WEIR_SCENARIOS_WORKLOAD_WORKLOAD_FILE_H
