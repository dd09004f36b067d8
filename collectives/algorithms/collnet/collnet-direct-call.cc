// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/collnet/collnet-direct-call.h"

#include "collectives/algorithms/ring/ring-channels.h"

namespace weir
{

Bytes
CollNetDirectChunk(const AlgorithmInputs& in, uint32_t heads)
{
    Bytes chunk = Bytes::KiB(128);
    const auto halveTo = [&](Bytes least, int64_t wanted) {
        while (chunk > least && in.call.bytes < chunk * (wanted * heads * in.channels))
        {
            chunk = chunk / 2;
        }
    };
    halveTo(Bytes::KiB(64), 8);
    halveTo(Bytes::KiB(32), 8);
    return chunk;
}

CollNetDirectCall::CollNetDirectCall(const AlgorithmInputs& inputs)
    : nodes(NvlsNodes(inputs.communicator, inputs.connector)),
      heads(static_cast<uint32_t>(nodes.front().heads.size())),
      chunk(CollNetDirectChunk(inputs, heads)),
      cap(ChannelCap(inputs) / heads)
{
    for (uint32_t head = 0; head < heads; ++head)
    {
        std::vector<CollNetHead> members;
        for (const auto& node : nodes)
        {
            members.push_back({node.ranks[node.heads[head].member], node.heads[head].nic});
        }
        networks.push_back(FindCollNetPath(inputs, Algorithm::CollNetDirect, members, head));
    }
    networkCap = std::min(cap, CollNetDirectRate(inputs, networks.front()));
}

std::vector<Connection>
CollNetDirectPaths(const AlgorithmInputs& inputs, const NvlsNode& node, uint32_t head, bool toHead)
{
    const uint32_t at = node.heads[head].member;
    std::vector<Connection> paths(node.gpus.size());
    for (uint32_t member = 0; member < node.gpus.size(); ++member)
    {
        if (member != at)
        {
            paths[member] = toHead ? inputs.connector.InsideNode(node.gpus[member], node.gpus[at])
                                   : inputs.connector.InsideNode(node.gpus[at], node.gpus[member]);
        }
    }
    return paths;
}

Time
CollNetDirectHop(const AlgorithmInputs& inputs, const Connection& hop)
{
    const double peer = inputs.constants.Version().AtLeast(19) ? 0.4 : 0.5;
    return HopLatency(inputs, Algorithm::CollNetDirect, hop, Bytes()) +
           Time::Microseconds(peer * (inputs.communicator.gpusPerNode - 1));
}

ScheduleConnection
CollNetDirectPipe(const AlgorithmInputs& inputs, const Connection& path, Rate cap)
{
    ScheduleConnection pipe;
    pipe.connection = path;
    pipe.latency = CollNetDirectHop(inputs, path);
    pipe.cap = cap;
    return pipe;
}

Schedule
EmptyCollNetDirectSchedule(const AlgorithmInputs& inputs)
{
    Schedule schedule = EmptySchedule(inputs, Algorithm::CollNetDirect);
    schedule.channelCap = Rate::Infinite(); // only pipes to and from GPUs are bound by a block
    schedule.startLatency = inputs.constants.BaseLatency(Algorithm::CollNetDirect, inputs.protocol);
    return schedule;
}

} // namespace weir
