// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_DESCRIBE_DESCRIBE_SYSTEM_H
#define WEIR_SCENARIOS_DESCRIBE_DESCRIBE_SYSTEM_H

#include "scenarios/readers/read-system.h"

#include <string>

namespace weir
{

/** @p cluster with nodes that show how they are joined: those that fill it, or else two. */
ClusterSpec WithJoinedNodes(ClusterSpec cluster);

/**
 * A system for the terminal: its GPU, its links with raw and payload rates, the channels that NCCL
 * finds in it, the names of the devices of its first node, as events name them, and what handing
 * messages over costs (NodeCosts), each figure with its source.
 * @throws std::invalid_argument when it cannot be wired.
 */
std::string DescribeSystem(const SystemDescription& system);

} // namespace weir

#endif // WEIR_SCENARIOS_DESCRIBE_DESCRIBE_SYSTEM_H
