// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_LOST_KEYS_H
#define WEIR_SCENARIOS_TOPOLOGY_LOST_KEYS_H

#include "fabric/topology/cluster-spec.h"

#include <string>

namespace weir
{

/**
 * What of @p there is otherwise in @p back, which was written in some format and read again: key
 * paths of a system file, those of one map together, as "fabric; node.nvlink (latency, source)";
 * empty when nothing is. Names do not count, nor whether slots are listed or even.
 */
std::string LostKeys(const ClusterSpec& there, const ClusterSpec& back);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_LOST_KEYS_H
