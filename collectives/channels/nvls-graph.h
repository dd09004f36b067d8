// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_CHANNELS_NVLS_GRAPH_H
#define WEIR_COLLECTIVES_CHANNELS_NVLS_GRAPH_H

#include "collectives/channels/connection.h"
#include "collectives/communicator.h"
#include "collectives/nccl/nccl-constants.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** A GPU that reduces and multicasts a part of every message for its node. */
struct NvlsHead
{
    uint32_t member{0}; //!< index into NvlsNode::ranks
    uint32_t nic{0};    //!< by number in the node; meaningless inside one node
};

/** The ranks of a communicator in one node, and their NVLS heads. */
struct NvlsNode : NodeRanks
{
    std::vector<NvlsHead> heads;
};

/**
 * The nodes of a communicator in the order of RanksByNode. Inside one node
 * every GPU is a head. Between nodes every GPU that has a NIC of its own among its nearest is a
 * head, up to the smallest number of any node (rails connect heads of equal index). There are no
 * more heads than channels of the communicator's nvlsGraph, where that is known.
 */
std::vector<NvlsNode> NvlsNodes(const Communicator& communicator, Connector& connector);

/**
 * The channels that NCCL's search finds for NVLS (search.cc, ncclTopoSearchTryNvls): one per head,
 * as many as GPUs, at most 32 and at most what the slowest speed allows. Each channel takes its
 * speed from every GPU's NVLinks in both directions, and twice that from its head's, so (heads + 1)
 * x speed is at most a GPU's NVLink bandwidth. Between nodes the speed is also at most that of the
 * NIC and its PCIe slot. The intra-node speed is then raised as far as NVLink allows, until it is
 * twice the inter-node speed.
 *
 * No channels where NCCL has no NVLS: before 2.17, on GPUs without multicast (compute capability
 * below 90), without an NVSwitch that joins all NVLinks of a node's GPUs, and on nodes with fewer
 * than 3 GPUs of the group.
 */
GraphSpeed SearchNvls(const Communicator& communicator,
                      Connector& connector,
                      const NcclConstants& constants);

} // namespace weir

#endif // WEIR_COLLECTIVES_CHANNELS_NVLS_GRAPH_H
