// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/call-description.h"
#include "collectives/algorithms/protocol.h"
#include "collectives/algorithms/ring/back-to-back-chains.h"
#include "collectives/channels/message-cost.h"
#include "collectives/schedule/message-split.h"
#include "collectives/schedule/schedule-wiring.h"

#include <algorithm>
#include <utility>

/**
 * @file
 * Ring broadcast and reduce (NCCL's broadcast.h and reduce.h). A chain leads from the root along
 * the ring to the rank before it, or from the rank behind the root along the ring to the root.
 * Slices follow each other, so that all hops are busy when the pipeline is full. Inside nodes a
 * slice is what a thread block moves in one pass; over the network the sender's process waits for a
 * whole chunk.
 */
namespace weir
{

namespace
{

bool
SupportsRingPipeline(CollectiveOp op, const Communicator& communicator)
{
    return op == CollectiveOp::Broadcast || op == CollectiveOp::Reduce;
}

/** The cutting of a channel's share along the chain. */
Chunking
ChainChunking(const AlgorithmInputs& in)
{
    Chunking chunking = PipelineChunking(in.protocol, in.settings.simpleBuffer);
    chunking.slices = PassesOf(in.protocol, chunking.chunk);
    chunking.slots *= chunking.slices;
    return chunking;
}

/** The largest chunk of a channel's share. */
Bytes
LargestChunk(const AlgorithmInputs& in)
{
    return std::min(PipelineChunking(in.protocol, in.settings.simpleBuffer).chunk,
                    DivideUp(in.call.bytes, in.channels));
}

/** The position in a channel's order where the chain begins. */
uint32_t
FirstPosition(const AlgorithmInputs& in, const RingChannel& ring)
{
    const auto it = std::find(ring.order.begin(), ring.order.end(), in.call.root);
    const auto root = static_cast<std::size_t>(it - ring.order.begin());
    const std::size_t behind = in.call.op == CollectiveOp::Reduce ? 1 : 0;
    return static_cast<uint32_t>((root + behind) % ring.order.size());
}

/** The messages of a call over the network, and what they cost beside their bytes. */
class ChainMessages
{
  public:
    explicit ChainMessages(const AlgorithmInputs& in)
        : m_in(in),
          m_slice(WireBytes(in.protocol, PassOf(in.protocol, LargestChunk(in)))),
          m_message(WireBytes(in.protocol, LargestChunk(in))),
          m_cost(in.times.Costs()),
          m_served(RingConnections(in.communicator, in.channels)),
          m_senders(MaxOut(m_served)),
          m_fits(DivideUp(in.call.bytes, in.channels) <= m_message * NCCL_STEPS)
    {
    }

    /**
     * From a slice's last byte on the wire to its use. Over the network the whole chunk must be
     * there before its message leaves, so the latency includes the rest of the chunk at the rate of
     * a thread block.
     */
    Time Latency(const Connection& hop) const
    {
        return hop.kind != ConnectionKind::Network
                   ? HopLatency(m_in, Algorithm::Ring, hop, m_slice)
                   : HopLatency(m_in, Algorithm::Ring, hop, m_message, m_senders) +
                         (m_message - m_slice) / ChannelCap(m_in);
    }

    /**
     * Time from the last slice's end until the kernel of the sender at @p position of @p ring may
     * end. Its process posts the messages of its channels one after the other, and under Simple a
     * block that itself stores over PCIe ends a slice with a fence, which it waits for.
     */
    Time Release(const RingChannel& ring, std::size_t position) const
    {
        const ConnectionKind kind = ring.hops[position].kind;
        if (kind == ConnectionKind::Network)
        {
            const ServedConnections& here = m_served[ring.order[position]];
            return m_cost.Busy(m_in.protocol, {m_message, here.out, here.in, m_fits});
        }
        const bool fences = kind == ConnectionKind::Pcie && m_in.protocol == Protocol::Simple;
        return fences ? m_in.times.Of(Algorithm::Ring, m_in.protocol, kind).fixed : Time();
    }

  private:
    const AlgorithmInputs& m_in;
    Bytes m_slice;   //!< on the wire: a chunk's first one. It is the largest, so times are upper
                     //!< bounds
    Bytes m_message; //!< on the wire
    MessageCost m_cost;
    std::vector<ServedConnections> m_served; //!< by rank
    uint32_t m_senders;                      //!< most connections on which one process sends
    bool m_fits;
};

ChannelSchedule
WireChain(const AlgorithmInputs& in,
          const RingChannel& ring,
          const Chunking& chunking,
          const ChainMessages& messages)
{
    const bool reduces = in.call.op == CollectiveOp::Reduce;
    const auto n = static_cast<uint32_t>(ring.order.size());
    const uint32_t first = FirstPosition(in, ring);
    ChannelSchedule channel;
    ScheduleWiring wiring(channel);
    for (uint32_t i = 0; i < n; ++i)
    {
        const auto last = reduces ? PrimitiveKind::RecvReduceCopy : PrimitiveKind::Recv;
        const auto between = reduces ? PrimitiveKind::RecvReduceSend : PrimitiveKind::RecvCopySend;
        const auto kind = i == 0 ? PrimitiveKind::Send : i + 1 == n ? last : between;
        wiring.AddBlock(ring.order[(first + i) % n], i, kind, 1, 1);
    }
    for (uint32_t i = 0; i + 1 < n; ++i)
    {
        const uint32_t position = (first + i) % n;
        const Connection& hop = ring.hops[position];
        ScheduleConnection pipe = MakeConnection(hop, chunking, messages.Latency(hop));
        pipe.release = messages.Release(ring, position);
        wiring.Join(i, i + 1, pipe);
    }
    return channel;
}

CallDescription
DescribeChains(const AlgorithmInputs& in)
{
    const Chunking chunking = ChainChunking(in);
    const ChainMessages messages(in);
    CallDescription description;
    description.call = EmptySchedule(in, Algorithm::Ring);
    description.chunk = chunking.chunk;
    description.wholePasses = true;
    for (uint32_t channel = 0; channel < in.channels; ++channel)
    {
        const RingChannel& ring = in.communicator.channels[channel];
        description.Add(channel, WireChain(in, ring, chunking, messages), in.routing);
    }
    return description;
}

/**
 * The call as pipelines, and its chains for back-to-back calls, where a rank does not wait for
 * those behind it.
 */
StreamShape
RingPipelineStreams(const AlgorithmInputs& in)
{
    const CallDescription call = DescribeChains(in);
    StreamShape shape = PipelinesOf(in, call);
    const Pipeline& pipeline = shape.pipelines.front();
    shape.backToBack =
        BackToBackChains{{}, pipeline.slice, pipeline.bytes, pipeline.cap, call.call.startLatency};
    for (const auto& [steps, channels] : call.channels)
    {
        BackToBackChains::Chain chain;
        chain.weight = static_cast<double>(channels.size());
        for (const ThreadBlock& block : steps.blocks)
        {
            chain.ranks.push_back(block.rank);
        }
        chain.hops = steps.connections;
        shape.backToBack->chains.push_back(std::move(chain));
    }
    return shape;
}

} // namespace

const CollectiveAlgorithm RING_PIPELINE_ALGORITHM{
    Algorithm::Ring,
    SupportsRingPipeline,
    RingMaxChannels,
    DescribeChains,
    RingPipelineStreams,
    ChannelGraph::Rings,
    true,
};

} // namespace weir
