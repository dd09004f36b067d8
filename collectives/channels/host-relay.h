// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_CHANNELS_HOST_RELAY_H
#define WEIR_COLLECTIVES_CHANNELS_HOST_RELAY_H

#include "collectives/nccl/nccl-settings.h"
#include "fabric/routing/router.h"
#include "fabric/topology/cluster.h"

namespace weir
{

/**
 * The root complex at @p from through which bytes go that may not go directly over PCIe to the GPU
 * @p to of the same node: their path is of a farther kind than @p level (NCCL's paths.cc, which
 * then leads them through the CPU of the sending GPU). Invalid where they go directly, or pass it
 * anyway.
 */
DeviceId HostRelay(
    const Cluster& cluster, Router& router, P2pLevel level, DeviceId from, DeviceId to);

} // namespace weir

#endif // WEIR_COLLECTIVES_CHANNELS_HOST_RELAY_H
