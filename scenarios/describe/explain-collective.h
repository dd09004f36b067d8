// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_DESCRIBE_EXPLAIN_COLLECTIVE_H
#define WEIR_SCENARIOS_DESCRIBE_EXPLAIN_COLLECTIVE_H

#include "scenarios/simulation/collective-sweep.h"

#include <string>

namespace weir
{

/**
 * Why a sweep takes the time that it takes: the channels that are found; then for every size the
 * choice, NCCL's estimate of each alternative beside Weir's own closed form, chunks and slices, the
 * bottleneck link, and the shares of time that are latency and that are bytes on the wire or in the
 * thread blocks.
 * @throws InputError as RunCollectiveSweep does.
 */
std::string ExplainCollective(const CollectiveSweepSpec& spec);

} // namespace weir

#endif // WEIR_SCENARIOS_DESCRIBE_EXPLAIN_COLLECTIVE_H
