// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_SWITCH_LAYERS_H
#define WEIR_FABRIC_SWITCH_LAYERS_H

#include "fabric/ids.h"
#include "fabric/topology/link-profile.h"
#include "fabric/topology/topology.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * Building blocks of fabric kinds: the links between switches, layers of switches, and the
 * connection of two layers.
 */
namespace weir
{

struct ClusterSpec;

/**
 * The profile of the links between switches: FabricSpec::link, with the rate of the NIC if it has
 * none.
 */
LinkProfile TrunkProfile(const ClusterSpec& spec);

/**
 * Checks that there are NICs, and the profile of their links.
 * @throws std::invalid_argument
 */
void CheckNics(const ClusterSpec& spec);

/**
 * As CheckNics; also checks the profile of the links between switches.
 * @throws std::invalid_argument
 */
void CheckFabricLinks(const ClusterSpec& spec);

/** Adds switches named @p prefix with consecutive numbers from @p first on. */
std::vector<DeviceId> AddSwitches(
    Topology& topology, DeviceKind kind, const std::string& prefix, uint32_t first, uint32_t count);

/** Connects every switch of @p lower to every switch of @p upper by @p count parallel links. */
void JoinLayers(Topology& topology,
                const std::vector<DeviceId>& lower,
                const std::vector<DeviceId>& upper,
                uint32_t count,
                const LinkProfile& profile);

} // namespace weir

#endif // WEIR_FABRIC_SWITCH_LAYERS_H
