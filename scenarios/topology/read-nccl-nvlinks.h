// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_READ_NCCL_NVLINKS_H
#define WEIR_SCENARIOS_TOPOLOGY_READ_NCCL_NVLINKS_H

#include "fabric/topology/cluster-spec.h"
#include "scenarios/topology/nccl-xml-tree.h"

namespace weir
{

/**
 * Reads how the `nvlink` elements of a topology wire its GPUs into @p spec: wiring, links of a GPU
 * into NVSwitches, direct links.
 * @throws InputError with the place of a target that does not exist, or links that do not match.
 */
void ReadNcclNvLinks(const NcclXmlTree& tree, NodeSpec& spec);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_READ_NCCL_NVLINKS_H
