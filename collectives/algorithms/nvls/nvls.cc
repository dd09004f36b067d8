// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/nvls/nvls-heads.h"
#include "collectives/engines/closed-form.h"

#include <algorithm>
#include <array>
#include <numeric>

/**
 * @file
 * NVLS on one node (NCCL's all_reduce.h, all_gather.h and reduce_scatter.h, RunWorkColl of
 * NCCL_ALGO_NVLS; transport/nvls.cc). Every GPU (the first 32 if there are more) is the head of one
 * part of each chunk. A rank's thread groups copy its data to where the NVSwitch reads it; each
 * head reduces its part over the NVSwitch and stores the sum to all GPUs; other groups copy the
 * received data to the user's buffer. All-gather has the second half of this, reduce-scatter the
 * first.
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

bool
Reduces(const AlgorithmInputs& in)
{
    return in.call.op != CollectiveOp::AllGather;
}

bool
Stores(const AlgorithmInputs& in)
{
    return in.call.op != CollectiveOp::ReduceScatter;
}

ChannelSchedule
WireNvls(const AlgorithmInputs& in, const NvlsHeads& heads)
{
    ChannelSchedule channel;
    ScheduleWiring wiring(channel);
    const auto accesses = [&](uint32_t head) {
        return heads.Accesses(0, head, Reduces(in), Stores(in));
    };
    AddHeads(wiring,
             in.communicator.Size(),
             heads.Count(),
             Reduces(in),
             Stores(in),
             accesses,
             heads.Copies());
    return channel;
}

CallDescription
DescribeNvls(const AlgorithmInputs& in, const NvlsHeads& heads)
{
    CallDescription description = heads.Describe(Algorithm::Nvls);
    description.AddAll(in.channels, WireNvls(in, heads));
    return description;
}

/**
 * Time from the first copy in to the last copy out. A pass is copied in, accessed and copied out as
 * a pipeline of three stages. A head's next accesses begin when it has synchronized, so the period
 * of passes is the longest of copy in, accesses + sync, and copy out. The last pass may be smaller.
 * @p links is the time of all accesses on the links.
 */
Time
MovingTime(const AlgorithmInputs& in,
           const NvlsHeads& heads,
           const std::vector<Loop>& loops,
           Time links)
{
    std::array<Time, 3> ends; // by stage
    for (const Loop& loop : loops)
    {
        const Time copy = loop.chunks.front() / heads.CopyCap();
        const Bytes bytes = std::accumulate(loop.chunks.begin(), loop.chunks.end(), Bytes());
        const double share = bytes.ToDouble() * in.channels / in.call.bytes.ToDouble();
        const std::array<Time, 3> takes{Reduces(in) ? copy : Time(),
                                        links * std::min(1.0, share) + heads.Sync(),
                                        Stores(in) ? copy : Time()};
        const auto first = std::min<uint32_t>(loop.repeat, takes.size());
        for (uint32_t pass = 0; pass < first; ++pass)
        {
            Time before;
            for (std::size_t stage = 0; stage < takes.size(); ++stage)
            {
                before = std::max(before, ends[stage]) + takes[stage];
                ends[stage] = before;
            }
        }
        const Time period = *std::max_element(takes.begin(), takes.end());
        for (Time& end : ends)
        {
            end += period * (loop.repeat - first);
        }
    }
    return ends.back();
}

StreamShape
NvlsStreams(const AlgorithmInputs& in)
{
    const NvlsHeads heads(in);
    const CallDescription call = DescribeNvls(in, heads);
    const DescribedLoads loads(in, call);
    const auto loops = LoopsOf(in, call);
    const double payload = in.call.bytes.ToDouble() / call.chunks / in.channels;
    StreamShape shape;
    shape.legs = loads.Legs(payload, AnyHop);
    shape.latency = call.call.startLatency +
                    MovingTime(in, heads, loops, loads.LinkTime(payload, AnyHop)) -
                    UncontendedTime(shape.legs, in.routing);
    return shape;
}

} // namespace

const CollectiveAlgorithm NVLS_ALGORITHM{
    Algorithm::Nvls,
    SupportsNvls,
    NvlsChannels,
    [](const AlgorithmInputs& in) { return DescribeNvls(in, NvlsHeads(in)); },
    NvlsStreams,
};

} // namespace weir
