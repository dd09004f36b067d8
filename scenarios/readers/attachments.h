// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_ATTACHMENTS_H
#define WEIR_SCENARIOS_READERS_ATTACHMENTS_H

#include "fabric/nodes/node-wiring.h"
#include "fabric/topology/cluster-spec.h"
#include "scenarios/readers/machine-parts.h"
#include "scenarios/yaml/yaml-node.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * PCIe attachment points of GPUs, NIC cards and PCIe switches, read from lists of "cpu0", "pcie3",
 * or {on: pcie3, ...} with the profile of that slot; @p typical gives its `measured` where it has
 * none. The readers throw an InputError with the location of what is missing or unknown.
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

/** The indices of those of @p attachments that are on socket or switch number @p index. */
std::vector<uint32_t> IndicesOn(PcieParent parent,
                                uint32_t index,
                                const std::vector<PcieAttachment>& attachments);

/** "cpu0" or "pcie3". */
std::string AttachmentName(const PcieAttachment& attachment);

/** Reads the profile of a PCIe slot from a map with no other keys. */
LinkProfile ReadSlotProfile(const YamlNode& map, const TypicalEfficiency& typical);

/**
 * Stores @p attachments, each slot with a link, in the shortest form of a NodeSpec: the links of
 * the first GPU (as `gpuLink` if @p gpusOnChip), NIC and switch are the defaults of their kind, and
 * slots of even spreading are omitted. AttachmentsOf(@p spec) then equals @p attachments.
 */
void SetAttachments(NodeSpec& spec, const NodeAttachments& attachments, bool gpusOnChip);

/** Whether two profiles are equal except for their source. */
bool IsSameLink(const LinkProfile& a, const LinkProfile& b);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_ATTACHMENTS_H
