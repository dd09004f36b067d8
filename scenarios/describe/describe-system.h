// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_DESCRIBE_DESCRIBE_SYSTEM_H
#define WEIR_SCENARIOS_DESCRIBE_DESCRIBE_SYSTEM_H

#include "scenarios/readers/read-system.h"

#include <string>

namespace weir
{

/** @p cluster with enough nodes to show the fabric: the number that fills it, or at least two. */
ClusterSpec WithJoinedNodes(ClusterSpec cluster);

/**
 * Describes a system: its GPU, its kinds of links with payload rates and latencies, the channels
 * that NCCL finds, the names of devices for events, and per-message overheads with their sources.
 * @throws std::invalid_argument when it cannot be wired.
 */
std::string DescribeSystem(const SystemDescription& system);

} // namespace weir

#endif // WEIR_SCENARIOS_DESCRIBE_DESCRIBE_SYSTEM_H
