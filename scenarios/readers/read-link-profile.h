// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_LINK_PROFILE_H
#define WEIR_SCENARIOS_READERS_READ_LINK_PROFILE_H

#include "fabric/topology/link-profile.h"
#include "scenarios/readers/machine-parts.h"
#include "scenarios/yaml/yaml-node.h"

#include <string>

/**
 * @file
 * Link profiles from the maps of a system file. Each reader takes what it needs of its map; the
 * caller checks the keys. A map may state `encoding` and `framing` itself; else they are derived
 * from the packet format that the map gives (headerFlits, generation and maxPayload, transport and
 * mtu). `measured` that is not given is TypicalEfficiency of a link whose framing is derived, else
 * 1; `name` is made up unless it is given; `ncclRate` is what NCCL's own topology takes the link
 * for, where that is not what follows from its kind.
 *
 * All throw an InputError with the place of what is missing, unknown or out of range.
 */
namespace weir
{

/** rate, latency, measured, source; headerFlits. @p typical where `measured` is missing. */
LinkProfile ReadNvLinkProfile(const YamlNode& node, const TypicalEfficiency& typical);

/** rate, or generation and lanes; latency, measured, source; maxPayload. @p typical as above. */
LinkProfile ReadPcieProfile(const YamlNode& node, const TypicalEfficiency& typical);

/**
 * PCIe switch to root complex: the map `uplink` of the PCIe map @p node (as ReadPcieProfile), or
 * @p pcie with `uplinkLanes` lanes, or @p pcie itself.
 */
LinkProfile ReadPcieUplinkProfile(const YamlNode& node,
                                  const LinkProfile& pcie,
                                  const TypicalEfficiency& typical);

/** rate, latency, measured, source: a link whose packets are not described. */
LinkProfile ReadPlainProfile(const YamlNode& node, const std::string& name);

/** rate, latency, measured, source; transport and mtu. */
LinkProfile ReadNicProfile(const YamlNode& node, const TransportFigures& transport);

/** Switch to switch: latency, and @p nic's figures and @p source where @p node gives no others. */
LinkProfile ReadSwitchProfile(const YamlNode& node,
                              const LinkProfile& nic,
                              const std::string& source);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_LINK_PROFILE_H
