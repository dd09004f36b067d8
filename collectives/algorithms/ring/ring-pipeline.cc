// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/protocol.h"
#include "collectives/algorithms/ring/back-to-back-chains.h"
#include "collectives/algorithms/ring/ring-channels.h"
#include "collectives/channels/message-cost.h"
#include "collectives/schedule/message-split.h"
#include "fabric/routing/routing.h"

#include <algorithm>
#include <utility>

/**
 * @file
 * Ring broadcast and reduce (NCCL's broadcast.h and reduce.h): from the root along the ring to the
 * rank before it, or from the rank behind the root along the ring to it, slice after slice, so that
 * all hops work at once when the pipeline is full. Inside nodes a slice is what a thread block
 * moves in one pass; over the network the sender's process waits for a whole chunk.
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

/** How a channel's share goes along the chain. */
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

/** What of a chunk is handed on at once, on the wire: the rest follows, so that times only grow. */
Bytes
SliceOf(const AlgorithmInputs& in, Bytes chunk)
{
    return WireBytes(in.protocol, PassOf(in.protocol, chunk));
}

/**
 * From a slice's last byte on the wire to its use. Over the network the whole chunk is there before
 * its message leaves: the rest of it at the rate of a thread block.
 */
Time
ChainLatency(const AlgorithmInputs& in, const Connection& hop, Bytes chunk)
{
    const Bytes slice = SliceOf(in, chunk);
    if (hop.kind != ConnectionKind::Network)
    {
        return HopLatency(in, Algorithm::Ring, hop, slice);
    }
    const Bytes message = WireBytes(in.protocol, chunk);
    return HopLatency(in, Algorithm::Ring, hop, message) + (message - slice) / ChannelCap(in);
}

/** The place in a channel's order where the chain begins. */
uint32_t
FirstPlace(const AlgorithmInputs& in, const RingChannel& ring)
{
    const auto it = std::find(ring.order.begin(), ring.order.end(), in.call.root);
    const auto root = static_cast<std::size_t>(it - ring.order.begin());
    const std::size_t behind = in.call.op == CollectiveOp::Reduce ? 1 : 0;
    return static_cast<uint32_t>((root + behind) % ring.order.size());
}

/** All links of the n - 1 hops that leave @p first and the places behind it. */
RouteId
ChainRoute(const AlgorithmInputs& in, const RingChannel& ring, uint32_t first)
{
    RouteSum sum;
    const std::size_t n = ring.order.size();
    for (std::size_t i = 0; i + 1 < n; ++i)
    {
        sum.Add(ring.hops[(first + i) % n].route);
    }
    return in.routing.AddSum(sum);
}

/**
 * What a rank's call takes longer than its kernel's start and end, besides its bytes: its process
 * hands over the messages of its channels one after the other, and under Simple a block that stores
 * over PCIe itself ends a slice with a fence, for which it waits.
 */
class HandingOver
{
  public:
    explicit HandingOver(const AlgorithmInputs& in)
        : m_in(in),
          m_message(WireBytes(in.protocol, LargestChunk(in))),
          m_cost(in.times.Costs()),
          m_served(RingConnections(in.communicator, in.channels)),
          m_fits(DivideUp(in.call.bytes, in.channels) <= m_message * NCCL_STEPS)
    {
    }

    /** Of the rank at @p place of @p ring. */
    Time Of(const RingChannel& ring, std::size_t place) const
    {
        const ConnectionKind kind = ring.hops[place].kind;
        if (kind == ConnectionKind::Network)
        {
            const ServedConnections& here = m_served[ring.order[place]];
            return m_cost.Busy(m_in.protocol, {m_message, here.out, here.in, m_fits});
        }
        const bool fences = kind == ConnectionKind::Pcie && m_in.protocol == Protocol::Simple;
        return fences ? m_in.times.Of(Algorithm::Ring, m_in.protocol, kind).fixed : Time();
    }

  private:
    const AlgorithmInputs& m_in;
    Bytes m_message; //!< on the wire
    MessageCost m_cost;
    std::vector<ServedConnections> m_served; //!< by rank
    bool m_fits;
};

/** The chain of a channel as back-to-back calls see it, a rank not waiting for those behind it. */
BackToBackChains::Chain
ChainOf(const AlgorithmInputs& in,
        const RingChannel& ring,
        uint32_t first,
        const HandingOver& handing)
{
    const auto n = static_cast<uint32_t>(ring.order.size());
    BackToBackChains::Chain chain;
    for (uint32_t i = 0; i < n; ++i)
    {
        const uint32_t place = (first + i) % n;
        chain.ranks.push_back(ring.order[place]);
        if (i + 1 < n)
        {
            const Connection& hop = ring.hops[place];
            chain.hops.push_back({hop.route,
                                  ChainLatency(in, hop, LargestChunk(in)),
                                  handing.Of(ring, place),
                                  ConnectionSlots(hop, ChainChunking(in))});
        }
    }
    return chain;
}

/** Adds a channel's chain, or counts one more of the same ranks and hops. */
void
AddChain(BackToBackChains& row, BackToBackChains::Chain chain, const Routing& routing)
{
    for (BackToBackChains::Chain& other : row.chains)
    {
        const auto samePath = [&routing](const BackToBackChains::Hop& a,
                                         const BackToBackChains::Hop& b) {
            return routing.HaveSameLinks(a.route, b.route);
        };
        if (other.ranks == chain.ranks &&
            std::equal(other.hops.begin(), other.hops.end(), chain.hops.begin(), samePath))
        {
            other.weight += 1;
            return;
        }
    }
    row.chains.push_back(std::move(chain));
}

/** Latency: base plus the n - 1 hops of the chain, plus the pipeline's fill. */
StreamShape
RingPipelineStreams(const AlgorithmInputs& in)
{
    const uint32_t n = in.communicator.Size();
    const Bytes payload = DivideUp(in.call.bytes, in.channels);
    const Bytes chunk = LargestChunk(in);
    const Rate cap = ChannelCap(in);
    const HandingOver handing(in);
    StreamShape shape;
    shape.row = BackToBackChains{{}, SliceOf(in, chunk), WireBytes(in.protocol, payload), cap, {}};
    Time slowest;
    for (uint32_t c = 0; c < in.channels; ++c)
    {
        const auto& ring = in.communicator.channels[c];
        const uint32_t first = FirstPlace(in, ring);
        const RouteId route = ChainRoute(in, ring, first);
        AddChain(*shape.row, ChainOf(in, ring, first, handing), in.routing);
        const std::size_t legs = shape.legs.size();
        AddLeg(in, shape.legs, route, WireBytes(in.protocol, payload), cap);
        if (shape.legs.size() == legs)
        {
            continue; // the same hops as an earlier channel
        }
        Pipeline pipeline;
        pipeline.slice = SliceOf(in, chunk);
        pipeline.bytes = WireBytes(in.protocol, payload);
        pipeline.cap = cap;
        Time path;
        for (uint32_t i = 0; i + 1 < n; ++i)
        {
            const Connection& hop = ring.hops[(first + i) % n];
            path += ChainLatency(in, hop, chunk);
            pipeline.path.push_back(hop.route);
            pipeline.stages.push_back({pipeline.path.back()});
        }
        slowest = std::max(slowest, path);
        shape.pipelines.push_back(std::move(pipeline));
    }
    CountEqualChannels(shape);
    shape.latency = CallLatency(in, Algorithm::Ring) + slowest;
    shape.row->start = CallLatency(in, Algorithm::Ring);
    return shape;
}

/** Of the first place of the chain, those between, and the last. */
std::vector<Program>
Programs(CollectiveOp op)
{
    const bool reduce = op == CollectiveOp::Reduce;
    const auto between = reduce ? PrimitiveKind::RecvReduceSend : PrimitiveKind::RecvCopySend;
    const auto last = reduce ? PrimitiveKind::RecvReduceCopy : PrimitiveKind::Recv;
    return {{{{PrimitiveKind::Send, 0}}}, {{{between, 0}}}, {{{last, 0}}}};
}

Schedule
BuildRingPipelineSchedule(const AlgorithmInputs& in)
{
    const uint32_t n = in.communicator.Size();
    const Chunking chunking = ChainChunking(in);
    Schedule schedule = EmptySchedule(in, Algorithm::Ring);
    const HandingOver handing(in);
    for (const auto& share : SplitOverChannels(in.call.bytes, in.channels))
    {
        auto loops = SplitIntoLoops(share.bytes, chunking.chunk, 1, 1);
        for (Loop& loop : loops)
        {
            loop.slices = PassesOf(in.protocol, loop.chunks.front());
            loop.slice = PassOf(in.protocol, loop.chunks.front());
        }
        for (uint32_t c = share.firstChannel; c < share.firstChannel + share.channels; ++c)
        {
            const auto& ring = in.communicator.channels[c];
            const uint32_t first = FirstPlace(in, ring);
            if (AddCopyOf(in, schedule, ring, loops, first))
            {
                continue;
            }
            ChannelSchedule channel;
            channel.loops = loops;
            channel.programs = Programs(in.call.op);
            for (uint32_t i = 0; i + 1 < n; ++i)
            {
                const uint32_t place = (first + i) % n;
                const Connection& hop = ring.hops[place];
                const Time latency = ChainLatency(in, hop, loops.front().chunks.front());
                channel.connections.push_back(MakeConnection(i, i + 1, hop, chunking, latency));
                channel.connections.back().release = handing.Of(ring, place);
            }
            for (uint32_t i = 0; i < n; ++i)
            {
                ThreadBlock block{ring.order[(first + i) % n], i, 1, {}, {}};
                block.program = i == 0 ? 0 : i + 1 == n ? 2 : 1;
                if (i > 0)
                {
                    block.recv.push_back(i - 1);
                }
                if (i + 1 < n)
                {
                    block.send.push_back(i);
                }
                channel.blocks.push_back(std::move(block));
            }
            schedule.channels.push_back({std::move(channel), 1});
        }
    }
    return schedule;
}

} // namespace

const CollectiveAlgorithm RING_PIPELINE_ALGORITHM{
    Algorithm::Ring,
    SupportsRingPipeline,
    RingMaxChannels,
    nullptr,
    RingPipelineStreams,
    BuildRingPipelineSchedule,
    ChannelGraph::Rings,
    RingSenders,
    nullptr,
    true,
};

} // namespace weir
