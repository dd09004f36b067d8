// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_SLOT_LIST_H
#define WEIR_SCENARIOS_TOPOLOGY_SLOT_LIST_H

#include "fabric/nodes/node-wiring.h"

namespace weir
{

/**
 * Stores @p attachments, in which every slot has a link, in the shortest form of a NodeSpec. The
 * links of the first GPU, NIC and switch become the default of their kind (the first GPU's is
 * `gpuLink` if @p gpusOnChip); only slots with another link keep a profile; slots of even spreading
 * are omitted. Afterwards AttachmentsOf(@p spec) equals @p attachments.
 */
void SetAttachments(NodeSpec& spec, NodeAttachments attachments, bool gpusOnChip);

/** Whether two profiles are equal except for their source. */
bool IsSameLink(const LinkProfile& a, const LinkProfile& b);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_SLOT_LIST_H
