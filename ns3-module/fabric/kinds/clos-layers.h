// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_CLOS_LAYERS_H
#define WEIR_FABRIC_CLOS_LAYERS_H

#include "fabric/ids.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/topology/topology.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * What the Clos fabrics (rail-optimised, leaf-spine, fat tree) have in common: how a leaf's ports
 * divide into down and up, how many switches of the next layer take the uplinks, and how two layers
 * are joined.
 */
namespace weir
{

/** The profile of the links between switches: FabricSpec::link, with the NIC's rate if it has none.
 */
LinkProfile TrunkProfile(const ClusterSpec& spec);

/**
 * The uplinks of a leaf with @p down NICs: the least u for which
 * down * NIC rate <= oversubscription * u * trunk rate.
 */
uint32_t UplinksFor(const ClusterSpec& spec, uint32_t down);

/**
 * How many NICs one leaf takes, a multiple of @p together: of d with d + UplinksFor(d) <= leafRadix
 * the most whose ratio of down to up capacity is, but for 1 %, as near to the oversubscription
 * asked for as any. Ports may stay free: of 8 a ratio of 2 takes 4 and 2. Without oversubscription
 * simply the most. 0 where there is no room.
 */
uint32_t DownPorts(const ClusterSpec& spec, uint32_t together);

/**
 * The switches that take @p uplinks links of each of @p lower switches, the same number from each:
 * the fewest of at most @p ports ports each. @return 0 when @p lower is more than @p ports (one
 * switch must reach all of them).
 */
uint32_t UpperSwitches(uint32_t uplinks, uint32_t lower, uint32_t ports);

/** Adds switches named @p prefix with consecutive numbers from @p first on. */
std::vector<DeviceId> AddSwitches(
    Topology& topology, DeviceKind kind, const std::string& prefix, uint32_t first, uint32_t count);

/** Joins every switch of @p lower to every one of @p upper by @p lanes parallel links. */
void JoinLayers(Topology& topology,
                const std::vector<DeviceId>& lower,
                const std::vector<DeviceId>& upper,
                uint32_t lanes,
                const LinkProfile& profile);

/**
 * Joins all @p leaves, of @p down NICs each at most, by spines: the fewest of leafRadix ports, or
 * of one port per leaf when there are more leaves than that. One leaf needs none.
 */
void JoinBySpines(Topology& topology,
                  const ClusterSpec& spec,
                  const std::vector<DeviceId>& leaves,
                  uint32_t down);

/** Throws unless what every fabric needs is right: NICs, and profiles to make links of. */
void CheckFabricLinks(const ClusterSpec& spec);

/** As CheckFabricLinks, and what every Clos fabric needs: radix and oversubscription. */
void CheckFabricSpec(const ClusterSpec& spec);

} // namespace weir

#endif // WEIR_FABRIC_CLOS_LAYERS_H
