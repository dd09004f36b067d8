// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_DESCRIBE_TOPOLOGY_H
#define WEIR_SCENARIOS_TOPOLOGY_DESCRIBE_TOPOLOGY_H

#include "fabric/topology/cluster-spec.h"

#include <string>

namespace weir
{

/**
 * A cluster for the terminal: the tree of its first node with the payload rate of every slot, its
 * NVLinks, how GPUs and NICs reach each other in nvidia-smi's words (NV#, PIX, PXB, PHB, SYS), and
 * the fabric: switches tier by tier and the links between them.
 * @throws std::invalid_argument when it cannot be wired.
 */
std::string DescribeTopology(const ClusterSpec& cluster);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_DESCRIBE_TOPOLOGY_H
