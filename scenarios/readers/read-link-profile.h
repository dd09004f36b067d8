// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_LINK_PROFILE_H
#define WEIR_SCENARIOS_READERS_READ_LINK_PROFILE_H

#include "fabric/topology/link-profile.h"
#include "scenarios/readers/machine-parts.h"
#include "scenarios/yaml/yaml-node.h"

#include <string>

/**
 * @file
 * Readers of link profiles from the maps of a system file. Each reader takes the keys it needs; the
 * caller checks for unknown keys. A map may state `encoding` and `framing` itself; else they are
 * derived from the packet format (headerFlits, generation and maxPayload, transport and mtu).
 * Defaults: `measured` is TypicalEfficiency of a link whose framing is derived, else 1; `name` is
 * generated; `ncclRate`, the link's rate in NCCL's topology search, follows from its kind.
 *
 * All throw an InputError with the location of what is missing, unknown or out of range.
 */
namespace weir
{

/** Reads rate, latency, measured (default: @p typical), source; headerFlits. */
LinkProfile ReadNvLinkProfile(const YamlNode& node, const TypicalEfficiency& typical);

/** Reads rate, or generation and lanes; latency, measured (@p typical), source; maxPayload. */
LinkProfile ReadPcieProfile(const YamlNode& node, const TypicalEfficiency& typical);

/**
 * The link from a PCIe switch to the root complex: the map `uplink` of the PCIe map @p node (as
 * ReadPcieProfile), or @p pcie with `uplinkLanes` lanes, or @p pcie itself.
 */
LinkProfile ReadPcieUplinkProfile(const YamlNode& node,
                                  const LinkProfile& pcie,
                                  const TypicalEfficiency& typical);

/** "pcie5-x16": the name of a slot. */
std::string PcieName(uint32_t generation, uint32_t lanes);

/** Reads rate, latency, measured, source: a link without a packet format. */
LinkProfile ReadPlainProfile(const YamlNode& node, const std::string& name);

/** Reads rate, source, transport; mtu, latency, measured: by default those of @p transport. */
LinkProfile ReadNicProfile(const YamlNode& node, const TransportFigures& transport);

/** The link between two switches: latency; other figures default to @p nic's and to @p source. */
LinkProfile ReadSwitchProfile(const YamlNode& node,
                              const LinkProfile& nic,
                              const std::string& source);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_LINK_PROFILE_H
