// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_ATTACHMENT_H
#define WEIR_SCENARIOS_READERS_READ_ATTACHMENT_H

#include "fabric/topology/cluster-spec.h"
#include "scenarios/readers/machine-parts.h"
#include "scenarios/yaml/yaml-node.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * PCIe attachment points of GPUs, NIC cards and PCIe switches: lists of "cpu0", "pcie3", or {on:
 * pcie3, ...} with the profile of that slot; @p typical gives its `measured` where it has none. All
 * throw an InputError with the location of what is missing or unknown.
 */
namespace weir
{

/** Reads one attachment point for each of @p items, on any socket or switch. */
std::vector<PcieAttachment> ReadAttachments(const YamlNode& list,
                                            uint32_t items,
                                            uint32_t sockets,
                                            uint32_t switches,
                                            const TypicalEfficiency& typical);

/** Reads one attachment point for each PCIe switch, on a socket or on a preceding switch. */
std::vector<PcieAttachment> ReadSwitchAttachments(const YamlNode& list,
                                                  uint32_t sockets,
                                                  const TypicalEfficiency& typical);

/** "cpu0" or "pcie3". */
std::string AttachmentName(const PcieAttachment& attachment);

/** Reads the profile of a PCIe slot from a map with no other keys. */
LinkProfile ReadSlotProfile(const YamlNode& map, const TypicalEfficiency& typical);

/** Throws unless @p map has only the keys of ReadPlainProfile. */
void CheckPlainKeys(const YamlNode& map);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_ATTACHMENT_H
