// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/call-position.h"

#include "collectives/schedule/folded-schedule.h"
#include "scenarios/bound/sampled-fabric.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

const char*
OperationClass(CollectiveOp op)
{
    switch (op)
    {
    case CollectiveOp::AllReduce:
        return "all-reduce";
    case CollectiveOp::AllGather:
    case CollectiveOp::ReduceScatter:
        return "sharded";
    case CollectiveOp::Broadcast:
    case CollectiveOp::Reduce:
        return "rooted";
    default:
        return "exchange";
    }
}

/** Which part of the time bytes make up; latency makes up the rest. */
const char*
SizeClass(double wireShare)
{
    constexpr double LATENCY_BOUND = 0.2;
    constexpr double BANDWIDTH_BOUND = 0.8;
    return wireShare < LATENCY_BOUND     ? "latency"
           : wireShare < BANDWIDTH_BOUND ? "mixed"
                                         : "bandwidth";
}

/** What decides the time of a call. */
const char*
ContentionOf(const CollectivePlan& plan, const Communicator& group, const Cluster& cluster)
{
    if (group.nodes == 1)
    {
        return UNCONTENDED;
    }
    const Topology& topology = cluster.GetTopology();
    const bool isLinkBound = plan.bottleneck.IsValid();
    return cluster.GetSpec().fabric.routing->IsLoadAware() ||
                   (isLinkBound && JoinsSwitches(topology, plan.bottleneck))
               ? CONTENDED
           : isLinkBound && topology.GetLink(plan.bottleneck).kind != LinkKind::Network
               ? INSIDE_NODES
               : UNCONTENDED;
}

/** Of NCCL's settings and @p call's overrides what no sample has; empty: nothing. */
std::string
UnsampledSetting(const NcclSettings& settings, const CollectiveCall& call)
{
    constexpr uint32_t MAX_QUEUE_PAIRS = 4;
    if (call.overrides.channels)
    {
        return "channels";
    }
    if (call.traffic.IsValid())
    {
        return "unequal parts";
    }
    const std::string version = UnsampledNcclVersion(settings.version);
    if (!version.empty())
    {
        return version;
    }
    for (const std::string& key : settings.Changed())
    {
        // What NCCL is left to choose among are algorithms and protocols that samples have.
        const bool isSampled = key == "algorithms" || key == "protocols" ||
                               key == "dimensionWise" ||
                               (key == "queuePairs" && settings.queuePairs <= MAX_QUEUE_PAIRS);
        if (!isSampled)
        {
            return key;
        }
    }
    return "";
}

/** Of groups of @p ranks what no sample has; empty: nothing. */
std::string
UnsampledGroup(CollectiveOp op, std::size_t ranks)
{
    const uint32_t most = op == CollectiveOp::AllToAll ? MAX_ALL_TO_ALL_RANKS : MAX_RANKS;
    return ranks <= most ? ""
                         : (op == CollectiveOp::AllToAll ? "all-to-all ranks " : "ranks ") +
                               std::to_string(ranks) + " above " + std::to_string(most);
}

} // namespace

CallPositions::CallPositions(Planner& planner)
    : m_planner(planner),
      m_features(FeaturesOf(planner.GetCluster()))
{
}

std::vector<std::string>
CallPositions::FeatureNames()
{
    return {"ranks",
            "ranks per node",
            "bytes",
            "bytes of all ranks",
            "slices",
            "us of wire time",
            "us of latency",
            "oversubscription",
            "GB/s of a GPU inside its node",
            "GB/s of a GPU's network"};
}

RegimePosition
CallPositions::Of(const CollectivePlan& plan, Fidelity shortcut) const
{
    const Cluster& cluster = m_planner.GetCluster();
    const Communicator& group = m_planner.GetCommunicator(plan.call.communicator);
    std::string unsampled = IsOfNccl(plan.algorithm)
                                ? UnsampledFabric(cluster.GetSpec())
                                : std::string("algorithm ") + ToString(plan.algorithm);
    if (unsampled.empty())
    {
        unsampled = UnsampledSetting(m_planner.GetSettings(), plan.call);
    }
    if (unsampled.empty())
    {
        unsampled = UnsampledGroup(plan.call.op, group.Size());
    }
    if (unsampled.empty() && plan.isInStep)
    {
        unsampled = "channels in step";
    }
    return {{ToString(shortcut),
             GroupClass(group.Size()),
             ContentionOf(plan, group, cluster),
             ToString(plan.algorithm),
             SizeClass(plan.wire / std::max(plan.duration, Time::Picoseconds(1))),
             OperationClass(plan.call.op)},
            {FeatureOf(group.Size()),
             FeatureOf(group.gpusPerNode),
             FeatureOf(plan.call.bytes.ToDouble()),
             FeatureOf(plan.call.bytes.ToDouble() * static_cast<double>(group.Size())),
             unsampled.empty() ? FeatureOf(SlicesOf(plan)) : 0,
             FeatureOf(plan.wire.ToMicroseconds()),
             FeatureOf((plan.duration - plan.wire).ToMicroseconds()),
             group.nodes > 1 ? FeatureOf(m_features.oversubscription) : 0,
             FeatureOf(m_features.nodeRate),
             group.nodes > 1 ? FeatureOf(m_features.networkRate) : 0},
            CONTENTION + 1,
            std::move(unsampled)};
}

/** Channels alike count once, calls that overlap as often as they are timed. Of more than many,
 * which flow may fold to few, as many count as it plays. Infinite where slices cannot be listed. */
double
CallPositions::SlicesOf(const CollectivePlan& plan) const
{
    const uint32_t calls = plan.Overlaps() ? BENCHMARK_CALLS : 1;
    Routing& routing = m_planner.GetRouting();
    try
    {
        Schedule schedule = m_planner.MakeSchedule(plan.call);
        const double slices = SliceCount(schedule) * calls;
        if (slices <= MANY_SLICES || !routing.Policy().IsFixed() || !routing.AreAllUsable())
        {
            return slices;
        }
        const uint32_t ranks = m_planner.GetCommunicator(plan.call.communicator).Size();
        const Schedule folded = FoldAlike(std::move(schedule), ranks, routing).schedule;
        return std::max(MANY_SLICES, SliceCount(folded) * calls);
    }
    catch (const std::length_error&)
    {
        return std::numeric_limits<double>::infinity();
    }
}

} // namespace weir
