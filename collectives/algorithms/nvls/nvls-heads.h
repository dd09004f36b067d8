// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_NVLS_HEADS_H
#define WEIR_COLLECTIVES_ALGORITHMS_NVLS_HEADS_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/call-description.h"
#include "collectives/algorithms/collnet/collnet-network.h"
#include "collectives/channels/connection.h"
#include "collectives/channels/nvls-graph.h"
#include "collectives/nccl/node-costs.h"
#include "collectives/schedule/schedule-wiring.h"
#include "fabric/routing/routing.h"
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
 * What the reducing and multicasting accesses of NVLS load on the NVLinks of one node.
 *
 * A head GPU works on 128-byte lines: multimem.ld_reduce asks the NVSwitch, which reads the line
 * from every GPU of the group (the head too), sums, and answers the head once; multimem.st goes to
 * the NVSwitch once and from there to every GPU. NVLink packets are of 16-byte flits (see
 * NvLinkFraming): a read request is 1, a response 1 + 8 of data, a write 2 + 8 (header and address
 * extension). So per line of a head
 *  - each GPU sends 9 and receives 1 for a reduction, the head 1 and 9 more;
 *  - each GPU receives 10 for a store, and the head sends 10.
 * The flits are the multiplicities of the paths given here; bytes on them are payload times
 * MulticastWireFactor. With n heads that share a message a GPU receives 11n + 9 flits per 8n of
 * data: of the 450 GB/s of 18 NVLinks 4, n = 8, 297 GB/s of all-reduced data. (An H100 box was
 * measured to need 3.5 us per MiB, 297 GB/s; the figures are at NvlsSyncLatency. That a request
 * takes one flit and a line goes as one packet is assumed here, as no public document says it;
 * this measurement bears it out, on 8 GPUs.)
 */
class MulticastGroup
{
  public:
    /** @param gpus of one node, joined by NVSwitches. Both references must outlive it. */
    MulticastGroup(Connector& connector, Routing& routing, std::vector<GpuId> gpus);

    /** One line reduced to GPU number @p head of the group. */
    std::vector<LinkId> Reduction(uint32_t head) const;

    /** One line stored to all by GPU number @p head. */
    std::vector<LinkId> Store(uint32_t head) const;

    /** From one GPU over an NVSwitch to another. */
    Time CrossingLatency() const
    {
        return m_crossing;
    }

  private:
    void Add(std::vector<LinkId>& links, uint32_t gpu, bool up, uint32_t flits) const;

    std::vector<std::vector<LinkId>> m_up;   //!< by GPU: its NVLinks to the switches
    std::vector<std::vector<LinkId>> m_down; //!< by GPU: the other directions
    Time m_crossing;
};

/**
 * Bytes on the links of a MulticastGroup per byte of payload and flit of a line: flit over line,
 * over what framing and measured leave of the raw rate (the flits hold all headers already), over
 * the NVLinks of a GPU that share the load, over NodeCostKind::NvlsEfficiency. Hopper: 1, the flits
 * explain it.
 */
double MulticastWireFactor(const Cluster& cluster, const NodeCosts& costs);

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
