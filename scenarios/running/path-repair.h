// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RUNNING_PATH_REPAIR_H
#define WEIR_SCENARIOS_RUNNING_PATH_REPAIR_H

#include "fabric/routing/path-table.h"
#include "fabric/routing/router.h"

#include <optional>
#include <vector>

namespace weir
{

/**
 * The path that replaces @p path when links are down: every stretch of the network that crosses a
 * dead link, from the NIC where it enters the network to the NIC where it leaves, is routed anew
 * by @p router (which must already avoid the dead links).
 *
 * A path is a multiset of links, so where several stretches meet in one switch it does not tell
 * which goes on where; any pairing carries the same bytes over the same end points, and the one
 * that leaves the network soonest is taken. Links other than network links are not replaced: NCCL
 * keeps its transport.
 *
 * @param down by LinkId: whether it is down
 * @return @p path itself when it crosses no dead link; nothing when there is no way around.
 */
std::optional<PathId> RepairPath(PathTable& paths,
                                 Router& router,
                                 const std::vector<bool>& down,
                                 PathId path);

} // namespace weir

#endif // WEIR_SCENARIOS_RUNNING_PATH_REPAIR_H
