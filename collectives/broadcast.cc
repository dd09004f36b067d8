// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithm.h"
#include "collectives/message-split.h"
#include "collectives/protocol.h"
#include "collectives/ring-channels.h"

#include <algorithm>

/**
 * @file
 * Ring broadcast (NCCL's broadcast.h): from the root along the ring to the rank before it, slice
 * after slice, so that all hops work at once when the pipeline is full.
 */
namespace weir
{

namespace
{

bool
Supports(CollectiveOp op)
{
    return op == CollectiveOp::Broadcast;
}

/** The root's place in a channel's order. */
uint32_t
PlaceOf(const RingChannel& ring, uint32_t rank)
{
    const auto it = std::find(ring.order.begin(), ring.order.end(), rank);
    return static_cast<uint32_t>(it - ring.order.begin());
}

/** All links of the n - 1 hops that leave @p root and the ranks behind it. */
PathId
ChainPath(const AlgorithmInputs& in, const RingChannel& ring, uint32_t root)
{
    std::vector<LinkId> links;
    const std::size_t n = ring.order.size();
    for (std::size_t i = 0; i + 1 < n; ++i)
    {
        for (const auto& each : in.paths.Links(ring.hops[(root + i) % n].path))
        {
            links.insert(links.end(), each.multiplicity, each.link);
        }
    }
    return in.paths.Intern(links);
}

/** Latency: base plus the n - 1 hops of the chain, plus the pipeline's fill. */
StreamShape
Streams(const AlgorithmInputs& in)
{
    const uint32_t n = in.communicator.Size();
    const Bytes payload = DivideUp(in.call.bytes, in.channels);
    const Bytes slice = std::min(PipelineChunking(in.protocol).chunk, payload);
    const Rate cap = ChannelCap(in);
    StreamShape shape;
    Time slowest;
    for (uint32_t c = 0; c < in.channels; ++c)
    {
        const auto& ring = in.communicator.channels[c];
        const uint32_t root = PlaceOf(ring, in.call.root);
        const PathId path = ChainPath(in, ring, root);
        const std::size_t legs = shape.legs.size();
        AddLeg(shape.legs, path, WireBytes(in.protocol, payload), cap);
        if (shape.legs.size() == legs)
        {
            continue; // the same hops as an earlier channel
        }
        const auto latencies = HopLatencies(in, ring);
        Fill fill{{}, WireBytes(in.protocol, slice), cap};
        Time way;
        for (uint32_t i = 0; i + 1 < n; ++i)
        {
            way += latencies[(root + i) % n];
            fill.hops.push_back(ring.hops[(root + i) % n].path);
        }
        slowest = std::max(slowest, way);
        shape.fills.push_back(std::move(fill));
    }
    shape.latency = in.constants.BaseLatency(in.protocol) + slowest;
    return shape;
}

Schedule
BuildSchedule(const AlgorithmInputs& in)
{
    const uint32_t n = in.communicator.Size();
    const Chunking chunking = PipelineChunking(in.protocol);
    Schedule schedule = EmptySchedule(in, Algorithm::Ring);
    for (const auto& share : SplitOverChannels(in.call.bytes, in.channels))
    {
        const auto loops = SplitIntoLoops(share.bytes, chunking.chunk, 1, chunking.slices);
        for (uint32_t c = share.firstChannel; c < share.firstChannel + share.channels; ++c)
        {
            const auto& ring = in.communicator.channels[c];
            const uint32_t root = PlaceOf(ring, in.call.root);
            if (AddCopyOf(schedule, ring, loops, root))
            {
                continue;
            }
            ChannelSchedule channel;
            channel.loops = loops;
            channel.programs = {{{{PrimitiveKind::Send, 0}}},
                                {{{PrimitiveKind::RecvCopySend, 0}}},
                                {{{PrimitiveKind::Recv, 0}}}};
            AddRingConnections(channel, in, ring, root, n - 1, chunking);
            for (uint32_t i = 0; i < n; ++i)
            {
                ThreadBlock block{ring.order[(root + i) % n], i, 1, {}, {}};
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

const CollectiveAlgorithm RING_BROADCAST_ALGORITHM{
    Algorithm::Ring,
    Supports,
    RingMaxChannels,
    ChooseRing,
    Streams,
    BuildSchedule,
};

} // namespace weir
