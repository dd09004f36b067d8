// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/call-times.h"

#include "collectives/engines/collective-engine.h"

#include <algorithm>
#include <map>

namespace weir
{

namespace
{

/** Ranks behind the same links: of one GPU, or of one node. */
using Ranks = std::vector<uint32_t>;

/**
 * Minimum number of bytes that must cross the links around the ranks @p inside in one direction.
 */
double
BytesAcross(const CollectiveCall& call, double ranks, const Ranks& inside)
{
    const double bytes = call.bytes.ToDouble();
    const auto in = static_cast<double>(inside.size());
    const auto isInside = [&](uint32_t rank) {
        return std::find(inside.begin(), inside.end(), rank) != inside.end();
    };
    const double others = (ranks - in) / ranks;
    switch (call.op)
    {
    case CollectiveOp::AllReduce:
    case CollectiveOp::Broadcast:
    case CollectiveOp::Reduce:
        return others > 0 ? bytes : 0;
    case CollectiveOp::AllGather:
    case CollectiveOp::ReduceScatter:
        return bytes * std::max(others, others > 0 ? in / ranks : 0.0);
    case CollectiveOp::AllToAll:
        return bytes * in * others;
    case CollectiveOp::Gather:
    case CollectiveOp::Scatter:
        return bytes * (isInside(call.root) ? others : in / ranks);
    case CollectiveOp::SendRecv:
        return bytes *
               static_cast<double>(std::count_if(inside.begin(), inside.end(), [&](uint32_t rank) {
                   return !isInside((rank + 1) % static_cast<uint32_t>(ranks));
               }));
    case CollectiveOp::Send:
        break;
    }
    return isInside(0) != isInside(1) ? bytes : 0;
}

/** Total rate of a device's links in the direction with the higher total. */
Rate
RateAround(const Topology& topology, DeviceId device, bool onlyNetwork)
{
    Rate out;
    Rate in;
    for (const LinkId id : topology.LinksFrom(device))
    {
        const Link& link = topology.GetLink(id);
        if (!onlyNetwork || link.kind == LinkKind::Network)
        {
            out = out + link.rate;
            in = in + (link.opposite.IsValid() ? topology.GetLink(link.opposite).rate : Rate());
        }
    }
    return std::max(out, in);
}

Time
TimeAcross(double bytes, Rate rate)
{
    return bytes > 0 && rate > Rate() ? Time::Seconds(bytes / rate.ToBytesPerSecond()) : Time();
}

} // namespace

Time
ConcurrentTime(Simulation& simulation, Fidelity fidelity, const std::vector<CollectiveCall>& calls)
{
    EngineSet& engines = simulation.Engines();
    const Time start = engines.Now();
    EndTime last;
    for (const auto& call : calls)
    {
        simulation.GetEngine(fidelity).Start(call, &last, 0, start);
    }
    engines.RunToEnd();
    return last.Get() - start;
}

Time
MinTime(const Cluster& cluster, const std::vector<GpuId>& gpus, const CollectiveCall& call)
{
    const Topology& topology = cluster.GetTopology();
    const auto ranks = static_cast<double>(gpus.size());
    std::map<uint32_t, Ranks> nodes;
    Time min;
    for (uint32_t rank = 0; rank < gpus.size(); ++rank)
    {
        nodes[cluster.NodeOf(gpus[rank])].push_back(rank);
        const Rate rate = RateAround(topology, cluster.GpuDevice(gpus[rank]), false);
        min = std::max(min, TimeAcross(BytesAcross(call, ranks, {rank}), rate));
    }
    for (const auto& [node, inside] : nodes)
    {
        Rate ports;
        for (uint32_t nic = 0; nic < cluster.NicsPerNode(); ++nic)
        {
            ports = ports + RateAround(topology, cluster.NicDevice(node, nic), true);
        }
        min = std::max(min, TimeAcross(BytesAcross(call, ranks, inside), ports));
    }
    return min;
}

} // namespace weir
