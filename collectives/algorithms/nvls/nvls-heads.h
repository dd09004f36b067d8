// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_NVLS_HEADS_H
#define WEIR_COLLECTIVES_ALGORITHMS_NVLS_HEADS_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/call-description.h"
#include "collectives/algorithms/collnet/collnet-network.h"
#include "collectives/algorithms/nvls/nvls-multicast.h"
#include "collectives/channels/nvls-graph.h"
#include "collectives/schedule/schedule-wiring.h"
#include "fabric/units.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * What NVLS and NVLSTree have in common: how they cut a message, what their heads do inside a node
 * and how fast their thread blocks are (NCCL's nvls.cc, enqueue.cc and all_reduce.h).
 */
namespace weir
{

/**
 * Channels of NVLS and NVLSTree: 16 for Hopper, 24 or 32 for Blackwell, within the communicator's
 * ChannelLimits (nvls.cc, init.cc: NCCL_MIN_CTAS, NCCL_MAX_CTAS).
 */
uint32_t NvlsChannels(const AlgorithmInputs& inputs);

/**
 * What one of @p heads works on at a time (enqueue.cc): NVLS 128 KiB, NVLSTree on 4 nodes or more
 * 64 KiB; less while a message is below so many times what all channels and heads hold.
 */
Bytes NvlsChunk(
    Algorithm algorithm, Bytes bytes, uint32_t channels, uint32_t heads, uint32_t nodes);

/** Passes of the outer loop. */
uint32_t NvlsPasses(const std::vector<Loop>& loops);

/** Which hops of DescribedLoads: all, or those in nodes. */
bool AnyHop(const ScheduleConnection& connection, const SubChannel::Hop& hop);
bool InsideHop(const ScheduleConnection& connection, const SubChannel::Hop& hop);

/**
 * What the heads of a call do inside its nodes: a rank's thread groups copy its data to where the
 * NVSwitch reads, each head reduces its part over the NVSwitch and stores what has been summed to
 * all GPUs of its node, and other groups of these copy it to the user's buffers.
 */
class NvlsHeads
{
  public:
    explicit NvlsHeads(const AlgorithmInputs& inputs);

    /** In the order of the first ranks; of one node, its ranks in order. */
    const std::vector<NvlsNode>& Nodes() const
    {
        return m_nodes;
    }

    /** Of each node. */
    uint32_t Count() const
    {
        return static_cast<uint32_t>(m_nodes.front().heads.size());
    }

    /** The GPUs of all nodes at head @p head, and their ports. */
    std::vector<CollNetHead> At(uint32_t head) const;

    /** Of payload, of one head's chunks on one channel, copied in or out: what a ring's block
     * moves, GB/s for all heads in each direction. */
    Rate CopyCap() const
    {
        return m_copyCap;
    }

    /** Per chunk of a head's reducing group, and of its storing group. */
    Time Sync() const
    {
        return m_sync;
    }

    /**
     * A call without channels, a chunk for each head. Before its first byte come NCCL's base and
     * hardware latency (tuning.cc), 25 us from 2.22.
     */
    CallDescription Describe(Algorithm algorithm) const;

    /** What a head reduces, stores or both, chunk by chunk. */
    ScheduleConnection Accesses(uint32_t node, uint32_t head, bool reduces, bool stores) const;

    /** What a GPU copies in or out for one head. */
    ScheduleConnection Copies() const;

    /**
     * Adds the groups of a node's GPUs that copy to the blocks @p sums and from @p multicasts, by
     * head: chunk place + i is that of head place + i, and a GPU's place is its number. Either may
     * be empty.
     */
    void AddCopies(ScheduleWiring& wiring,
                   uint32_t node,
                   const std::vector<uint32_t>& sums,
                   const std::vector<uint32_t>& multicasts) const;

  private:
    const AlgorithmInputs& m_in;
    std::vector<NvlsNode> m_nodes;
    std::vector<MulticastGroup> m_groups; //!< by node
    double m_wireFactor;                  //!< of what is on NVLink
    Rate m_copyCap;
    Time m_sync;
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_NVLS_HEADS_H
