// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_DESCRIBE_EXPLAIN_COLLECTIVE_H
#define WEIR_SCENARIOS_DESCRIBE_EXPLAIN_COLLECTIVE_H

#include "scenarios/simulation/collective-sweep.h"

#include <string>

namespace weir
{

/**
 * Explains the times of a sweep: the channels found; then for every size the choice, NCCL's
 * estimate of each alternative next to Weir's closed form, chunks and slices, the bottleneck link,
 * the shares of latency and of bytes on the wire or in the thread blocks, and launch times.
 * @throws InputError as RunCollectiveSweep does.
 */
std::string ExplainCollective(const CollectiveSweepSpec& spec);

} // namespace weir

#endif // WEIR_SCENARIOS_DESCRIBE_EXPLAIN_COLLECTIVE_H
