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
 * channel, chunk by chunk, over which connections; no sizes but that of a chunk. FlowEngine plays
 * it (ScheduleOf); loads, fill and latency for StreamEngine and the closed form follow from its
 * sub-channels.
 */
struct CallDescription
{
    /** Channels over the same connections. */
    struct Channel
    {
        ChannelSchedule steps; //!< without loops
        std::vector<uint32_t> channels;
    };

    Schedule call; //!< without channels: start latency, caps, block times
    std::vector<Channel> channels;
    Bytes chunk;        //!< payload of a full one
    uint32_t chunks{1}; //!< of a pass
    LastChunks lastChunks{LastChunks::Cut};
    std::vector<uint32_t> together{}; //!< by chunk that primitives name: how many of a pass's move
                                      //!< as one; empty: each moves by itself
    uint32_t subChannels{1}; //!< chunk i goes by sub-channel i mod sub-channels, see SubChannelsOf
    uint32_t slices{0}; //!< of a chunk, if it is large enough; 0: as many as its block makes passes
    bool wholePasses{
        false}; //!< a chunk's slices are what a block's passes move (PassOf), not equal parts

    /** Adds channel number @p channel, or counts it to one over the same connections. */
    void Add(uint32_t channel, ChannelSchedule steps, const Routing& routing);

    /** Adds the first @p count channels, all over the same connections. */
    void AddAll(uint32_t count, ChannelSchedule steps);

    /** Over which the message is split. */
    uint32_t ChannelCount() const;
};

/** A schedule of this call without channels yet. */
Schedule EmptySchedule(const AlgorithmInputs& inputs, Algorithm algorithm);

/**
 * A hop as a schedule's connection, @p latency from a slice's last byte on the wire to its use.
 * Over NVLink and PCIe a sender writes into the receiver's buffer; over the network it has a buffer
 * of its own before the receiver's, so it may be twice as many slices ahead (NCCL's net.cc).
 */
ScheduleConnection MakeConnection(uint32_t fromBlock,
                                  uint32_t toBlock,
                                  const Connection& hop,
                                  const Chunking& chunking,
                                  Time latency);

/** The call for FlowEngine: every channel with the passes over its share of the message. */
Schedule ScheduleOf(const AlgorithmInputs& inputs, const CallDescription& description);

/**
 * The call as pipelines, one of each sub-channel, in which all hops are busy once the first slice
 * has crossed them (PipelineTime): equal shares on all channels.
 */
StreamShape PipelinesOf(const AlgorithmInputs& inputs, const CallDescription& description);

/**
 * The call where chunks go in any order: as long as its blocks take (IdlePlayback). All connections
 * are one leg, a link's multiplicity being the chunks that cross it, so that all are held at rates
 * in proportion to their bytes.
 */
StreamShape StepsOf(const AlgorithmInputs& inputs, const CallDescription& description);

/** The sub-channels of a description's channels, and what passes of some size load. */
class DescribedLoads
{
  public:
    /** Both must outlive it. */
    DescribedLoads(const AlgorithmInputs& inputs, const CallDescription& description);

    /** Which hops to count, by what they are in their sub-channel. */
    using IsMeant = std::function<bool(const ScheduleConnection&, const SubChannel::Hop&)>;

    /**
     * One leg per sub-channel, for channels over the same links once, of those hops that carry
     * alike (by wire factor and uses); @p payload bytes of each chunk on each channel.
     */
    std::vector<StreamLeg> Legs(double payload, const IsMeant& isMeant) const;

    /**
     * How long the links of some hops take for @p payload bytes of each chunk on each channel, of
     * @p calls calls at once: without what bounds other hops.
     */
    Time LinkTime(double payload, const IsMeant& isMeant, uint32_t calls = 1) const;

    /** The longest latency of some hops, of a pass's chunks one after the other. */
    Time SlowestHop(const IsMeant& isMeant) const;

    /** Routes of the slowest path, by stage. */
    std::vector<RouteId> Path() const;

    /** Of the slowest path. */
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
