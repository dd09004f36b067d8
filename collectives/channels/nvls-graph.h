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

/** A GPU that reduces and multicasts one part of every message for its node. */
struct NvlsHead
{
    uint32_t member{0}; //!< index into NvlsNode::ranks
    uint32_t nic{0};    //!< by number in the node; meaningless inside one node
};

/** The part of a communicator in one node, as NVLS uses it. */
struct NvlsNode
{
    std::vector<uint32_t> ranks; //!< group ranks, by local GPU
    std::vector<GpuId> gpus;     //!< as above
    std::vector<NvlsHead> heads;
};

/**
 * The nodes of a communicator in the order in which its ranks name them. Inside one node every GPU
 * is a head; between nodes every GPU that has a NIC of its own among its nearest is, as many as
 * the node with the fewest has (rails join heads of one number). No more than the communicator's
 * nvlsGraph has channels, where that is known.
 */
std::vector<NvlsNode> NvlsNodes(const Communicator& communicator, Connector& connector);

/**
 * What NCCL's search finds for NVLS (search.cc, ncclTopoSearchTryNvls): one channel per head, as
 * many as there are GPUs, up to 32 or what the slowest speed allows; each
 * taking its speed from every GPU's NVLinks in both directions and twice that from its head's, so
 * (heads + 1) x speed is at most a GPU's NVLink bandwidth; between nodes also at most what NIC and
 * PCIe carry. The intra-node speed is then raised as far as NVLink allows, until it is twice that
 * between nodes.
 *
 * No channels where NCCL has no NVLS: before 2.17, GPUs without multicast (compute capability
 * below 90), no NVSwitch, NVLink of a node's GPUs not all on it, or fewer than 3 GPUs in a node.
 */
GraphSpeed SearchNvls(const Communicator& communicator,
                      Connector& connector,
                      const NcclConstants& constants);

} // namespace weir

#endif // WEIR_COLLECTIVES_CHANNELS_NVLS_GRAPH_H
