// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCRIPTS_BENCH_PROCESS_COST_H
#define WEIR_SCRIPTS_BENCH_PROCESS_COST_H

#include <string>
#include <vector>

/** |@file CPU time and memory of a benchmark's process, and output of its results. */
namespace weir
{

/** User and system CPU time of this process so far, in seconds. */
double CpuSeconds();

/**
 * The peak resident memory of this process in bytes (Linux only).
 * @throws std::runtime_error if it cannot be read.
 */
double PeakBytes();

/**
 * Writes the finish time of each flow (seconds, 17 digits), one per line.
 * @throws std::runtime_error if the file cannot be written.
 */
void WriteFinishTimes(const std::string& file, const std::vector<double>& times);

} // namespace weir

#endif // WEIR_SCRIPTS_BENCH_PROCESS_COST_H
