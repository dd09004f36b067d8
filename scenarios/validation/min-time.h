// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_MIN_TIME_H
#define WEIR_SCENARIOS_VALIDATION_MIN_TIME_H

#include "collectives/collective.h"
#include "fabric/ids.h"
#include "fabric/topology/cluster.h"
#include "fabric/units.h"

#include <vector>

namespace weir
{

/**
 * What no way of running a call can undercut, whatever algorithm: the bytes that its result needs
 * to have left or entered a GPU over all links of that GPU, or a node over all ports of that node,
 * whichever takes longest. Reducing and copying switches are granted: an all-reduce has only its
 * buffer leave each GPU and come back. Of back-to-back calls it holds for each of them on the
 * average.
 *
 * @param gpus of the group, by rank
 * @param call of any operation, with equal parts
 */
Time MinTime(const Cluster& cluster, const std::vector<GpuId>& gpus, const CollectiveCall& call);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_MIN_TIME_H
