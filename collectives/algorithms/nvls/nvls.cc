// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/nvls/nvls-blocks.h"
#include "collectives/algorithms/nvls/nvls-chunking.h"
#include "collectives/algorithms/nvls/nvls-multicast.h"
#include "collectives/channels/nvls-graph.h"
#include "collectives/engines/closed-form.h"
#include "collectives/schedule/message-split.h"

#include <algorithm>
#include <numeric>

/**
 * @file
 * NVLS on one node (NCCL's all_reduce.h, all_gather.h and reduce_scatter.h, RunWorkColl of
 * NCCL_ALGO_NVLS; transport/nvls.cc). Every GPU (of many, the first 32) is
 * the head of one part of each chunk. A rank's
 * thread groups copy its data to where the NVSwitch reads it; each head reduces its part over the
 * NVSwitch and stores the sum to all; other groups copy what came to the user's buffer. All-gather
 * has the second half of this, reduce-scatter the first.
 */
namespace weir
{

namespace
{

bool
SupportsNvls(CollectiveOp op, const Communicator& communicator)
{
    const uint32_t heads = communicator.nvlsGraph.channels;
    const bool half = op == CollectiveOp::AllGather || op == CollectiveOp::ReduceScatter;
    return heads > 1 && communicator.nodes == 1 &&
           (op == CollectiveOp::AllReduce || (half && heads == communicator.Size()));
}

/** What every part of this file needs to know of a call. */
struct NvlsCall
{
    explicit NvlsCall(const AlgorithmInputs& in)
        : ranks(in.communicator.Size()),
          heads(in.communicator.nvlsGraph.channels),
          group(in.connector, in.routing, in.communicator.gpus),
          copies(in.call.op != CollectiveOp::AllGather),
          gathers(in.call.op != CollectiveOp::ReduceScatter),
          chunk(NvlsChunk(in.call.bytes, in.channels, heads)),
          wireFactor(MulticastWireFactor(in.connector.GetCluster(), in.times.Costs())),
          weight(wireFactor / heads),
          headCap(NvlsCopyRate(in.constants) / heads),
          sync(NvlsSyncLatency(in.times.Costs(), group.CrossingLatency()) *
               (copies && gathers ? 1 : 0.5))
    {
        for (uint32_t head = 0; head < heads; ++head)
        {
            auto links = copies ? group.Reduction(head) : std::vector<LinkId>();
            const auto stores = gathers ? group.Store(head) : std::vector<LinkId>();
            links.insert(links.end(), stores.begin(), stores.end());
            routes.push_back(in.routing.AddFixed(links));
        }
    }

    uint32_t ranks;
    uint32_t heads; //!< the first ranks
    MulticastGroup group;
    bool copies;                 //!< to the NVSwitch's buffers, and reduces
    bool gathers;                //!< stores to all, and copies from the NVSwitch's buffers
    Bytes chunk;                 //!< of one head
    double wireFactor;           //!< of routes
    double weight;               //!< of routes: all heads of a channel load a link as one ring does
    Rate headCap;                //!< of payload, of one head's chunks on one channel
    Time sync;                   //!< per chunk
    std::vector<RouteId> routes; //!< by head: all that its accesses load
};

/**
 * From the end of the last pass's accesses to that of all copies from the NVSwitch: the last pass's
 * copy, or what is left of the copy of the pass before, which may be larger.
 */
Time
CopiesLeft(const AlgorithmInputs& in,
           const NvlsCall& nvls,
           const std::vector<Loop>& loops,
           const std::vector<StreamLeg>& legs)
{
    const std::vector<Bytes>& last = loops.back().chunks;
    const Bytes bytes = std::accumulate(last.begin(), last.end(), Bytes());
    const double share = bytes.ToDouble() * in.channels / in.call.bytes.ToDouble();
    const Time pass = AloneTime(legs, in.routing) * std::min(1.0, share) + nvls.sync;
    return std::max(last.front() / nvls.headCap,
                    loops.front().chunks.front() / nvls.headCap - pass);
}

/**
 * start + (copy of the first pass) + passes x sync + CopiesLeft, and each head's part over what its
 * accesses load.
 */
StreamShape
NvlsStreams(const AlgorithmInputs& in)
{
    const NvlsCall nvls(in);
    const Bytes share = SplitOverChannels(in.call.bytes, in.channels).front().bytes;
    const auto loops = SplitIntoLoops(share, nvls.chunk, nvls.heads, 1);
    StreamShape shape;
    shape.latency = NvlsStartLatency(in.constants, Algorithm::Nvls) + nvls.sync * NvlsPasses(loops);
    if (nvls.copies)
    {
        shape.latency += loops.front().chunks.front() / nvls.headCap;
    }
    const double payload = in.call.bytes.ToDouble() / nvls.heads;
    const Bytes bytes = RoundedUp(payload * nvls.wireFactor);
    const Rate cap = nvls.headCap * nvls.wireFactor * in.channels;
    for (const RouteId route : nvls.routes)
    {
        shape.legs.push_back({route, bytes, cap, in.channels * nvls.weight});
    }
    if (nvls.gathers)
    {
        shape.latency += CopiesLeft(in, nvls, loops, shape.legs);
    }
    return shape;
}

/** Blocks and pipes of one channel, without loops. */
ChannelSchedule
WireNvlsChannel(const AlgorithmInputs& in, const NvlsCall& nvls)
{
    const uint32_t n = nvls.ranks;
    ScheduleConnection copy;
    copy.connection.route = in.routing.Nowhere();
    copy.cap = nvls.headCap;
    ChannelSchedule channel;
    ScheduleWiring wiring(channel);
    std::vector<uint32_t> froms; // by head: where its accesses start
    std::vector<uint32_t> tos;   // and end
    for (uint32_t head = 0; head < nvls.heads; ++head)
    {
        froms.push_back(nvls.copies
                            ? wiring.AddBlock(n, head, OneStep(PrimitiveKind::RecvReduceSend, n, 1))
                            : wiring.AddBlock(head, head, OneStep(PrimitiveKind::Send, 1, 1)));
        tos.push_back(nvls.gathers
                          ? wiring.AddBlock(n, head, OneStep(PrimitiveKind::RecvCopySend, 1, n))
                          : wiring.AddBlock(head, head, OneStep(PrimitiveKind::Recv, 1, 1)));
        ScheduleConnection accesses;
        accesses.connection.route = nvls.routes[head];
        accesses.slots = 1; // the next chunk is begun when this one is posted
        accesses.latency = nvls.sync;
        accesses.wireFactor = nvls.wireFactor;
        accesses.weight = nvls.weight;
        wiring.Join(froms.back(), tos.back(), accesses);
    }
    for (uint32_t rank = 0; rank < n; ++rank)
    {
        if (nvls.copies)
        {
            AddCopyIn(wiring, rank, rank % nvls.heads, froms, copy);
        }
        if (nvls.gathers)
        {
            AddCopyOut(wiring, rank, rank % nvls.heads, tos, copy);
        }
    }
    return channel;
}

Schedule
BuildNvlsSchedule(const AlgorithmInputs& in)
{
    const NvlsCall nvls(in);
    Schedule schedule = EmptyNvlsSchedule(in, Algorithm::Nvls);
    AddChannels(
        schedule, WireNvlsChannel(in, nvls), in.call.bytes, in.channels, nvls.chunk, nvls.heads);
    return schedule;
}

} // namespace

const CollectiveAlgorithm NVLS_ALGORITHM{
    Algorithm::Nvls,
    SupportsNvls,
    NvlsChannels,
    nullptr,
    NvlsStreams,
    BuildNvlsSchedule,
};

} // namespace weir
