// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_SLOT_LIST_H
#define WEIR_SCENARIOS_TOPOLOGY_SLOT_LIST_H

#include "fabric/nodes/node-wiring.h"

namespace weir
{

/**
 * Says what @p places say, every slot with its link, in the fewest words of a NodeSpec: the first
 * GPU's slot, the first NIC's and the first switch's become those of their kind (the first GPU's
 * `gpuLink` when @p gpusOnChip), only slots unlike them keep a profile, and places that even
 * spreading gives are left out. PlacesOf(@p spec) then is @p places again.
 */
void SetPlaces(NodeSpec& spec, NodePlaces places, bool gpusOnChip);

/** Whether two profiles are the same in everything but their source. */
bool IsSameLink(const LinkProfile& a, const LinkProfile& b);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_SLOT_LIST_H
