// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_DESCRIBE_EXPLAIN_CHANNELS_H
#define WEIR_SCENARIOS_DESCRIBE_EXPLAIN_CHANNELS_H

#include "collectives/communicator.h"
#include "fabric/routing/routing.h"
#include "fabric/topology/cluster.h"

#include <string>

namespace weir
{

/**
 * A communicator's channels as text: NCCL's graphs and their speeds, then each distinct ring (GPUs
 * as node:gpu, in order, with the NICs of hops between nodes) and each distinct tree (rank <
 * parent).
 */
std::string ExplainChannels(const Communicator& communicator,
                            const Cluster& cluster,
                            const Routing& routing);

} // namespace weir

#endif // WEIR_SCENARIOS_DESCRIBE_EXPLAIN_CHANNELS_H
