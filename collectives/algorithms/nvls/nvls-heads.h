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
#include <functional>
#include <vector>

/**
 * @file
 * The common parts of NVLS and NVLSTree: how they cut a message, what their heads do inside a node,
 * and how fast their thread blocks are (NCCL's nvls.cc, enqueue.cc and all_reduce.h).
 */
namespace weir
{

/**
 * The load of NVLS's reducing and multicasting accesses on the NVLinks of one node.
 *
 * A head GPU works on cache lines of 128 bytes. multimem.ld_reduce sends a request to the NVSwitch,
 * which reads the line from every GPU of the group (the head too), sums, and answers the head once.
 * multimem.st sends the line to the NVSwitch once, and from there to every GPU. NVLink packets
 * consist of 16-byte flits (see NvLinkFraming): a read request has 1, a response 1 + 8 of data, a
 * write 2 + 8 (header and address extension). So per line of a head
 *  - each GPU sends 9 and receives 1 for a reduction, the head 1 and 9 more;
 *  - each GPU receives 10 for a store, and the head sends 10.
 * The numbers of flits are the multiplicities of links in these paths; bytes on them are payload
 * times MulticastWireFactor. With n heads that share a message a GPU receives 11n + 9 flits per 8n
 * flits of data: of the 450 GB/s of 18 NVLinks 4, n = 8, 297 GB/s of all-reduced data. (An H100
 * node was measured to take 3.5 us per MiB, 297 GB/s; the measurement is at SyncOf in
 * nvls-heads.cc. No public document says that a request takes one flit and a line one packet; this
 * is an assumption that the measurement on 8 GPUs supports.)
 */
class MulticastGroup
{
  public:
    /** @param gpus of one node, connected by NVSwitches. Both references must outlive it. */
    MulticastGroup(Connector& connector, Routing& routing, std::vector<GpuId> gpus);

    /**
     * The links, with multiplicity, of one line that GPU number @p head of the group reduces to
     * itself, or stores to all GPUs, or both.
     */
    std::vector<LinkId> Accesses(uint32_t head, bool reduces, bool stores) const;

    /** Latency from one GPU over an NVSwitch to another. */
    Time CrossingLatency() const
    {
        return m_crossing;
    }

  private:
    void Add(std::vector<LinkId>& links, uint32_t gpu, bool up, uint32_t flits) const;

    std::vector<std::vector<LinkId>> m_up;   //!< by GPU: its NVLinks to the switches
    std::vector<std::vector<LinkId>> m_down; //!< by GPU: the opposite links
    Time m_crossing;
};

/**
 * Bytes on the links of a MulticastGroup per byte of payload and flit of a line: flit size / line
 * size, divided by the fraction of the raw rate that remains after framing and by measurement (as
 * flits include all headers), by the number of NVLinks of a GPU that share the load, and by
 * NodeCostKind::NvlsEfficiency. The latter is 1 on Hopper, which the flits explain.
 */
double MulticastWireFactor(const Cluster& cluster, const NodeCosts& costs);

/**
 * Adds the heads of ranks 0 to @p ranks - 1 of one node, of which the first @p heads are heads, and
 * the groups of all ranks that give them data to reduce or take what they store.
 * @param accesses of a head
 * @param copies connection of a rank's group to a head's accesses
 */
void AddHeads(ScheduleWiring& wiring,
              uint32_t ranks,
              uint32_t heads,
              bool reduces,
              bool stores,
              const std::function<ScheduleConnection(uint32_t head)>& accesses,
              const ScheduleConnection& copies);

/**
 * Number of channels of NVLS: 16 on Hopper, 24 or 32 on Blackwell, within the communicator's
 * ChannelLimits (nvls.cc, init.cc: NCCL_MIN_CTAS, NCCL_MAX_CTAS).
 */
uint32_t NvlsChannels(const AlgorithmInputs& inputs);

/**
 * The same of NVLSTree. On three nodes or more of Blackwell 2.30 has 24 with NICs of 400 Gb/s and
 * more, except with 800 Gb/s and more than 8 GPUs a node.
 */
uint32_t NvlsTreeChannels(const AlgorithmInputs& inputs);

/**
 * The largest chunk of a head: 128 KiB, over several nodes 32 KiB where NCCL's model has less than
 * 150 GB/s of an all-reduce (enqueue.cc of 2.28.9); for NVLSTree on 4 nodes or more 64 KiB, and 256
 * KiB where 2.30 tunes it for NICs of 800 Gb/s (nodes of up to 8 Blackwells, three or more).
 */
Bytes MaxNvlsChunk(const AlgorithmInputs& inputs, Algorithm algorithm);

/**
 * The chunk of one of @p heads heads (enqueue.cc): @p max, and smaller while a message has less
 * than certain multiples of what all channels and heads hold.
 */
Bytes NvlsChunk(Algorithm algorithm, Bytes bytes, uint32_t channels, uint32_t heads, Bytes max);

/** Select hops of DescribedLoads: all hops, or those inside nodes. */
bool AnyHop(const ScheduleConnection& connection, const SubChannel::Hop& hop);
bool InsideHop(const ScheduleConnection& connection, const SubChannel::Hop& hop);

/**
 * The heads of a call inside its nodes. Thread groups of a rank copy its data to where the NVSwitch
 * reads it, each head reduces its part over the NVSwitch and stores the sum to all GPUs of its
 * node, and other groups of these GPUs copy it to the users' buffers.
 */
class NvlsHeads
{
  public:
    explicit NvlsHeads(const AlgorithmInputs& inputs);

    /**
     * In the order of their first ranks; within a node, in the order of local GPUs (of ranks if
     * there is one node).
     */
    const std::vector<NvlsNode>& Nodes() const
    {
        return m_nodes;
    }

    /** Number of heads of each node. */
    uint32_t Count() const
    {
        return static_cast<uint32_t>(m_nodes.front().heads.size());
    }

    /**
     * Payload rate of copying one head's chunks in or out on one channel: all heads in total have
     * the rate of a ring's block in each direction.
     */
    Rate CopyCap() const
    {
        return m_copyCap;
    }

    /** Synchronization time per chunk of a head's reducing group, and of its storing group. */
    Time Sync() const
    {
        return m_sync;
    }

    /**
     * A call without channels, with a chunk for each head. It starts with NCCL's base and hardware
     * latency (tuning.cc), 25 us from 2.22.
     */
    CallDescription Describe(Algorithm algorithm) const;

    /** The accesses of a head, chunk by chunk: reductions, stores or both. */
    ScheduleConnection Accesses(uint32_t node, uint32_t head, bool reduces, bool stores) const;

    /** The copies of a GPU in or out for one head. */
    ScheduleConnection Copies() const;

    /**
     * Adds the heads of a node, each of which reduces to the block @p outside .up of its own and
     * stores what .down sends, and the groups of the node's GPUs that copy in and out.
     */
    void AddNode(ScheduleWiring& wiring,
                 uint32_t node,
                 const std::vector<BlockPair>& outside) const;

  private:
    const AlgorithmInputs& m_in;
    std::vector<NvlsNode> m_nodes;
    std::vector<MulticastGroup> m_groups; //!< by node
    double m_wireFactor;                  //!< of bytes on NVLink
    Rate m_copyCap;
    Time m_sync;
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_NVLS_HEADS_H
