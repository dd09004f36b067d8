// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCRIPTS_BENCH_FLUID_WORKLOAD_H
#define WEIR_SCRIPTS_BENCH_FLUID_WORKLOAD_H

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

/**
 * @file
 * The inputs of the fluid benchmark, as plain numbers, so that two simulators can be given the
 * same: links, paths between ranks, and flows that start at once or when another one ends.
 */
namespace weir
{

struct WorkloadLink
{
    double bytesPerSecond;
    double latency; //!< seconds
};

struct WorkloadFlow
{
    static constexpr uint32_t NONE = std::numeric_limits<uint32_t>::max();

    uint32_t source;      //!< rank
    uint32_t destination; //!< rank
    double bytes;
    uint32_t next{NONE};     //!< the flow that starts when this one ends
    bool startsAtOnce{true}; //!< false: it is the next of another one
};

struct Workload
{
    uint32_t ranks;
    std::vector<WorkloadLink> links;
    std::vector<WorkloadFlow> flows;
    uint32_t ranksPerLeaf; //!< 0: all ranks on one switch
    uint32_t spines;

    /** The links from one rank to another, in order. */
    std::vector<uint32_t> Route(uint32_t source, uint32_t destination) const;
};

/**
 * A workload by name: links of 400 Gb/s, and the latency on the ranks' links only, so that all
 * paths have one latency (SimGrid's CM02 gives a flow a share in inverse proportion to it).
 *
 * @param fabric `switch` (one non-blocking switch), `clos` (leaves of 16 ranks and 16 spines) or
 *        `fat-tree` (leaves of 16 ranks and 8 spines: 2:1 oversubscribed). The spine is the
 *        destination's number modulo the spines (static, D-mod-k).
 * @param pattern `ring` (a ring all-reduce of 1 GiB: 2(n-1) steps of n dependent flows),
 *        `all-to-all` (1 MiB from each to each), `all-to-all-random` (sizes uniform from 0.5 to
 *        1.5 MiB), `permutation` (64 MiB from each to one other, random), `incast` (all to
 *        rank 0, random sizes).
 * @throws std::invalid_argument on another name.
 */
Workload MakeWorkload(const std::string& fabric,
                      const std::string& pattern,
                      uint32_t ranks,
                      uint64_t seed);

/** Writes the finish time of each flow (seconds, 17 digits), one a line. */
void WriteFinishTimes(const std::string& file, const std::vector<double>& times);

/** CPU seconds of this process until now. */
double CpuSeconds();

/** The most memory this process has had, in bytes. */
double PeakBytes();

} // namespace weir

#endif // WEIR_SCRIPTS_BENCH_FLUID_WORKLOAD_H
