// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_CALL_TIMES_H
#define WEIR_SCENARIOS_VALIDATION_CALL_TIMES_H

#include "collectives/collective.h"
#include "collectives/fidelity.h"
#include "fabric/ids.h"
#include "fabric/topology/cluster.h"
#include "fabric/units.h"
#include "scenarios/simulation/simulation.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * Times of collective calls in isolation: simulated, and a lower bound.
 */
namespace weir
{

/** Time until the last of the concurrent @p calls ends on the idle fabric of @p simulation. */
Time ConcurrentTime(Simulation& simulation,
                    Fidelity fidelity,
                    const std::vector<CollectiveCall>& calls);

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

#endif // WEIR_SCENARIOS_VALIDATION_CALL_TIMES_H
