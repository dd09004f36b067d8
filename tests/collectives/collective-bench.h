// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_COLLECTIVES_COLLECTIVE_BENCH_H
#define WEIR_TESTS_COLLECTIVES_COLLECTIVE_BENCH_H

#include "collectives/fidelity.h"
#include "collectives/planner.h"
#include "fabric/fabric.h"
#include "fabric/transport/packet/packet-spec.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace weir
{

/**
 * Tolerance, us, between a plan and its closed form: each of some tens of steps and pieces of a
 * schedule is rounded to a picosecond.
 */
inline constexpr double ROUNDING = 5e-5;

/** A cluster on which single collectives are timed. */
class CollectiveBench : private CollectiveClient
{
  public:
    explicit CollectiveBench(ClusterSpec spec,
                             NcclSettings settings = {},
                             std::optional<PacketSpec> packets = {})
        : m_fabric(std::move(spec), {std::move(packets)}),
          m_planner(m_fabric.GetCluster(), m_fabric.GetRouting(), std::move(settings))
    {
    }

    Planner& GetPlanner()
    {
        return m_planner;
    }

    Fabric& GetFabric()
    {
        return m_fabric;
    }

    /** Times of @p calls that start concurrently, one per call. */
    std::vector<Time> Run(Fidelity fidelity, const std::vector<CollectiveCall>& calls)
    {
        auto engine = MakeCollectiveEngine(fidelity, m_planner, m_fabric.GetTransport());
        EngineSet set;
        set.Add(m_fabric.GetTransport());
        set.Add(*engine);
        set.RunUntil(m_now);
        m_ends.assign(calls.size(), Time::Infinite());
        for (std::size_t i = 0; i < calls.size(); ++i)
        {
            engine->Start(calls[i], this, i, m_now);
        }
        const Time start = m_now;
        m_now = set.RunToEnd();
        for (auto& end : m_ends)
        {
            end = end - start;
        }
        return m_ends;
    }

    Time Run(Fidelity fidelity, const CollectiveCall& call)
    {
        return Run(fidelity, std::vector<CollectiveCall>{call}).front();
    }

  private:
    void OnCollectiveDone(uint64_t token, Time now) override
    {
        m_ends[token] = now;
    }

    Fabric m_fabric;
    Planner m_planner;
    Time m_now;
    std::vector<Time> m_ends;
};

/** A call with the properties that a test sets. */
inline CollectiveCall
MakeCall(CommunicatorId communicator, CollectiveOp op, Bytes bytes)
{
    CollectiveCall call;
    call.communicator = communicator;
    call.op = op;
    call.bytes = bytes;
    return call;
}

inline CollectiveCall
WithProtocol(CollectiveCall call, Protocol protocol)
{
    call.overrides.protocol = protocol;
    return call;
}

inline CollectiveCall
WithChannels(CollectiveCall call, uint32_t channels)
{
    call.overrides.channels = channels;
    return call;
}

inline CollectiveCall
WithAlgorithm(CollectiveCall call, Algorithm algorithm)
{
    call.overrides.algorithm = algorithm;
    return call;
}

/** Enough queue pairs to fill any port. */
inline NcclSettings
ManyQueuePairs()
{
    NcclSettings settings;
    settings.queuePairs = 4;
    return settings;
}

constexpr CollectiveOp ALL_OPS[] = {
    CollectiveOp::AllReduce,
    CollectiveOp::AllGather,
    CollectiveOp::ReduceScatter,
    CollectiveOp::Broadcast,
    CollectiveOp::Send,
    CollectiveOp::Reduce,
};
constexpr Protocol ALL_PROTOCOLS[] = {Protocol::Ll, Protocol::Ll128, Protocol::Simple};

/** The largest chunk of the first channel of a call's schedule. */
inline Bytes
LargestChunk(CollectiveBench& bench, const CollectiveCall& call)
{
    Bytes largest;
    for (const auto& loop : bench.GetPlanner().GetSchedule(call).channels.front().schedule.loops)
    {
        largest = std::max(largest, *std::max_element(loop.chunks.begin(), loop.chunks.end()));
    }
    return largest;
}

/** Bytes that leave each port of a group, summed over all legs of a plan. */
inline std::vector<double>
BytesOutOfPorts(CollectiveBench& bench, const CollectivePlan& plan)
{
    const auto& topology = bench.GetFabric().GetCluster().GetTopology();
    std::vector<double> bytes(topology.LinkCount(), 0);
    for (const auto& leg : plan.legs)
    {
        const Routing& routing = bench.GetPlanner().GetRouting();
        const std::size_t stripes = routing.StripeCount(leg.route);
        for (std::size_t i = 0; i < stripes; ++i)
        {
            for (const auto& each : routing.Links(routing.Stripe(leg.route, i)))
            {
                bytes[each.link.Index()] +=
                    leg.bytes.ToDouble() / static_cast<double>(stripes) * each.multiplicity;
            }
        }
    }
    std::vector<double> out;
    for (std::size_t i = 0; i < bytes.size(); ++i)
    {
        const Link& link = topology.GetLink(LinkId(i));
        if (link.kind == LinkKind::Network && topology.GetDevice(link.from).kind == DeviceKind::Nic)
        {
            out.push_back(bytes[i]);
        }
    }
    return out;
}

} // namespace weir

#endif // WEIR_TESTS_COLLECTIVES_COLLECTIVE_BENCH_H
