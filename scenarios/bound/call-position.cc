// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/call-position.h"

#include "scenarios/bound/sampled-fabric.h"

#include <algorithm>

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

/** Whether the slowest leg waits for a link between switches. */
bool
IsFabricBound(const CollectivePlan& plan, const Topology& topology)
{
    if (!plan.bottleneck.IsValid())
    {
        return false;
    }
    const Link& link = topology.GetLink(plan.bottleneck);
    return IsSwitchOfFabric(topology.GetDevice(link.from)) &&
           IsSwitchOfFabric(topology.GetDevice(link.to));
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
    const bool isContended = group.nodes > 1 && (IsFabricBound(plan, cluster.GetTopology()) ||
                                                 cluster.GetSpec().fabric.routing->IsLoadAware());
    const std::string unsampled = IsOfNccl(plan.algorithm)
                                      ? UnsampledFabric(cluster.GetSpec())
                                      : std::string(" by ") + ToString(plan.algorithm);
    return {{ToString(shortcut) + unsampled,
             ToString(plan.algorithm),
             isContended ? "contended" : "uncontended",
             SizeClass(plan.wire / std::max(plan.duration, Time::Picoseconds(1))),
             OperationClass(plan.call.op)},
            {FeatureOf(group.Size()),
             FeatureOf(group.gpusPerNode),
             FeatureOf(plan.call.bytes.ToDouble()),
             FeatureOf(plan.wire.ToMicroseconds()),
             FeatureOf((plan.duration - plan.wire).ToMicroseconds()),
             group.nodes > 1 ? FeatureOf(m_features.oversubscription) : 0,
             FeatureOf(m_features.nodeRate),
             group.nodes > 1 ? FeatureOf(m_features.networkRate) : 0}};
}

} // namespace weir
