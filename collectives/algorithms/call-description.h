// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_CALL_DESCRIPTION_H
#define WEIR_COLLECTIVES_ALGORITHMS_CALL_DESCRIPTION_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/protocol.h"
#include "collectives/schedule/message-split.h"
#include "collectives/schedule/schedule.h"
#include "collectives/schedule/sub-channels.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace weir
{

/**
 * A call as its algorithm describes it, once: what each block sends, receives and reduces on every
 * channel, chunk by chunk, and over which connections. The only size in it is that of a chunk,
 * except where channels have loops of their own. FlowEngine plays it (ScheduleOf); loads, pipeline
 * fill and latency for StreamEngine and the closed form follow from its sub-channels.
 */
struct CallDescription
{
    /** Channels with the same connections. */
    struct Channel
    {
        ChannelSchedule steps; //!< without loops, or with those of one of the channels
        std::vector<uint32_t> channels;
    };

    Schedule call; //!< without channels: start latency, caps, block times
    std::vector<Channel> channels;
    Bytes chunk;        //!< payload of a full chunk
    uint32_t chunks{1}; //!< chunks per pass
    LastChunks lastChunks{LastChunks::Cut};
    std::vector<uint32_t> mergedChunks{}; //!< by the chunk number that primitives use: how many
                                          //!< chunks of a pass move as one; empty: one each
    uint32_t subChannels{1}; //!< chunk i uses sub-channel i mod sub-channels, see SubChannelsOf
    uint32_t slices{0}; //!< slices of a chunk, if it is large enough; 0: one per pass of its block
    bool wholePasses{
        false}; //!< slices have the size of a block's passes (PassOf) instead of equal sizes

    /** Adds channel number @p channel, or merges it with a channel with the same connections. */
    void Add(uint32_t channel, ChannelSchedule steps, const Routing& routing);

    /** Adds the first @p count channels, all with the same connections. */
    void AddAll(uint32_t count, ChannelSchedule steps);

    /** Number of channels over which the message is split. */
    uint32_t ChannelCount() const;
};

/** A schedule of this call, still without channels. */
Schedule EmptySchedule(const AlgorithmInputs& inputs, Algorithm algorithm);

/**
 * A hop as a schedule's connection, still without its ends. @p latency is from a slice's last byte
 * on the wire to its use. Over NVLink and PCIe a sender writes into the receiver's buffer; over the
 * network it has a buffer of its own besides the receiver's, so it may be twice as many slices
 * ahead (NCCL's net.cc).
 */
ScheduleConnection MakeConnection(const Connection& hop, const Chunking& chunking, Time latency);

/**
 * A connection without links inside a device, such as between a head and AddCollNet's blocks, whose
 * connection has all the links.
 */
ScheduleConnection WithinDevice(const AlgorithmInputs& inputs);

/** NCCL's outer loop over the first channel's share of the message, which is the largest. */
std::vector<Loop> LoopsOf(const AlgorithmInputs& inputs, const CallDescription& description);

/**
 * The call for FlowEngine: every channel with its own loops, or with the passes over its share of
 * the message.
 */
Schedule ScheduleOf(const AlgorithmInputs& inputs, CallDescription description);

/**
 * The call as pipelines, one for each sub-channel, whose hops are all busy once the first slice has
 * crossed them (PipelineTime): equal shares on all channels.
 */
StreamShape PipelinesOf(const AlgorithmInputs& inputs, const CallDescription& description);

/**
 * The legs of channels on which each block sends one chunk after the other, one for each distinct
 * channel, over all its connections: a link's multiplicity is the number of chunks that cross it,
 * so that all connections have rates in proportion to their bytes. Connections with fewer chunks
 * than the busiest block sends have a flow for a part of the time, so a leg has the weight, and the
 * part of @p cap, of one flow of that block.
 *
 * @param cap of a channel
 */
std::vector<StreamLeg> LegsOf(const AlgorithmInputs& inputs,
                              const CallDescription& description,
                              Rate cap);

/**
 * The call for chunks in any order: as long as its blocks take (IdlePlayback). All connections are
 * one leg; a link's multiplicity is the number of chunks that cross it, so that all connections
 * have rates in proportion to their bytes.
 */
StreamShape StepsOf(const AlgorithmInputs& inputs, const CallDescription& description);

/** The sub-channels of a description's channels, and the loads of given payloads on them. */
class DescribedLoads
{
  public:
    /** Both must outlive it. */
    DescribedLoads(const AlgorithmInputs& inputs, const CallDescription& description);

    /** Selects hops by their connection and their role in the sub-channel. */
    using IsMeant = std::function<bool(const ScheduleConnection&, const SubChannel::Hop&)>;

    /**
     * The legs of the selected hops for @p payload bytes of each chunk on each channel: one per
     * sub-channel and set of hops with equal wire factor and uses. Channels over the same links
     * share a leg.
     */
    std::vector<StreamLeg> Legs(double payload, const IsMeant& isMeant) const;

    /**
     * Time of the links of the selected hops for @p payload bytes of each chunk on each channel,
     * for @p calls concurrent calls, without any caps.
     */
    Time LinkTime(double payload, const IsMeant& isMeant, uint32_t calls = 1) const;

    /**
     * The longest latency of the selected hops, summed over the chunks of a pass that cross the
     * hop.
     */
    Time SlowestHop(const IsMeant& isMeant) const;

    /** Routes of the slowest path, by stage. */
    std::vector<RouteId> Path() const;

    /** Number of stages of the slowest path. */
    uint32_t Stages() const
    {
        return static_cast<uint32_t>(m_subChannels.front().front().path.size());
    }

  private:
    const AlgorithmInputs& m_in;
    const CallDescription& m_description;
    std::vector<std::vector<SubChannel>> m_subChannels; //!< by channel of the description
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_CALL_DESCRIPTION_H
