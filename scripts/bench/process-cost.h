// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCRIPTS_BENCH_PROCESS_COST_H
#define WEIR_SCRIPTS_BENCH_PROCESS_COST_H

#include <string>
#include <vector>

/**
 * @file
 * What a benchmark's process has taken so far, and what it found.
 */
namespace weir
{

/** CPU seconds of this process until now. */
double CpuSeconds();

/** The most memory this program has had, in bytes (Linux). */
double PeakBytes();

/** Writes the finish time of each flow (seconds, 17 digits), one a line. */
void WriteFinishTimes(const std::string& file, const std::vector<double>& times);

} // namespace weir

#endif // WEIR_SCRIPTS_BENCH_PROCESS_COST_H
