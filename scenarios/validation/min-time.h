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
 * Lower bound on the time of a call, independent of the algorithm: the bytes that must leave or
 * enter a GPU over the combined rate of its links, or a node over the combined rate of its ports;
 * the maximum over all GPUs and nodes. It allows for in-network reduction and multicast: in an
 * all-reduce, only the buffer itself leaves and enters each GPU. For back-to-back calls it bounds
 * the mean time of a call.
 *
 * @param gpus GPUs of the group, by rank
 * @param call any operation with equal parts
 */
Time MinTime(const Cluster& cluster, const std::vector<GpuId>& gpus, const CollectiveCall& call);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_MIN_TIME_H
