// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_NVLS_NODES_CALL_H
#define WEIR_COLLECTIVES_ALGORITHMS_NVLS_NODES_CALL_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/nvls/nvls-multicast.h"
#include "collectives/channels/collnet-network.h"
#include "collectives/channels/nvls-graph.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** What a call over several nodes does inside them: NVLS in each, head by head. */
struct NvlsNodesCall
{
    explicit NvlsNodesCall(const AlgorithmInputs& inputs);

    uint32_t Heads() const
    {
        return static_cast<uint32_t>(nodes.front().heads.size());
    }

    /** The GPUs of all nodes at head @p head, and their ports. */
    std::vector<CollNetHead> HeadsAt(uint32_t head) const;

    /**
     * One leg per head with @p payload bytes on each channel: its reductions, its stores or both,
     * in all nodes.
     */
    std::vector<StreamLeg> Legs(const AlgorithmInputs& inputs,
                                double payload,
                                bool reduction,
                                bool store) const;

    std::vector<NvlsNode> nodes;
    std::vector<MulticastGroup> groups; //!< by node
    double wireFactor;                  //!< of what is on NVLink
    double weight; //!< as above: all heads of a channel load a link as one ring does
    Rate headCap;  //!< of payload, of one head's chunks on one channel, copied in or out
    Time sync;     //!< per chunk of a head's reducing group, and of its storing group
};

/**
 * The legs on NVLink of a whole call of @p passes. NVLink is busy with a pass for b when reductions
 * and stores share it, and for s when only stores load it; a group that synchronises for t leaves
 * it to the other, so its own next pass begins b + t - (b / s - 1) t after this one. The legs are
 * longer by that.
 */
std::vector<StreamLeg> NvlsLegsOf(const NvlsNodesCall& inside,
                                  const AlgorithmInputs& inputs,
                                  double payload,
                                  double passes);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_NVLS_NODES_CALL_H
