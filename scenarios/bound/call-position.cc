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

/** The class of the share of the time that bytes take; the rest is latency. */
const char*
SizeClass(double wireShare)
{
    constexpr double LATENCY_BOUND = 0.2;
    constexpr double BANDWIDTH_BOUND = 0.8;
    return wireShare < LATENCY_BOUND     ? "latency"
           : wireShare < BANDWIDTH_BOUND ? "mixed"
                                         : "bandwidth";
}

/** What limits the time of a call. */
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

/** The first setting or override of @p call that no sample contains; empty: none. */
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
        // Restricting NCCL's choice leaves algorithms and protocols that samples contain. Symmetric
        // memory only changes the calls of an algorithm that none contains.
        const bool isSampled = key == "algorithms" || key == "protocols" ||
                               key == "dimensionWise" || key == "symmetricMemory" ||
                               (key == "queuePairs" && settings.queuePairs <= MAX_QUEUE_PAIRS);
        if (!isSampled)
        {
            return key;
        }
    }
    return "";
}

/** Why no sample contains groups of @p ranks; empty: some do. */
std::string
UnsampledGroup(CollectiveOp op, std::size_t ranks)
{
    const uint32_t max = op == CollectiveOp::AllToAll ? MAX_ALL_TO_ALL_RANKS : MAX_RANKS;
    return ranks <= max ? ""
                        : (op == CollectiveOp::AllToAll ? "all-to-all ranks " : "ranks ") +
                              std::to_string(ranks) + " above " + std::to_string(max);
}

} // namespace

ClusterFeatures
FeaturesOf(const Cluster& cluster)
{
    const Topology& topology = cluster.GetTopology();
    std::vector<double> down(topology.DeviceCount());
    std::vector<double> up(topology.DeviceCount());
    ClusterFeatures features;
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        const Link& link = topology.GetLink(LinkId(i));
        const Device& from = topology.GetDevice(link.from);
        const Device& to = topology.GetDevice(link.to);
        if (from.kind == DeviceKind::Gpu)
        {
            features.nodeRate = std::max(features.nodeRate, link.rate.ToGBps());
        }
        if (IsNetworkSwitch(to) && from.kind == DeviceKind::Nic)
        {
            down[link.to.Index()] += link.rate.ToGBps();
            features.networkRate += link.rate.ToGBps();
        }
        if (JoinsSwitches(topology, LinkId(i)))
        {
            up[link.from.Index()] += link.rate.ToGBps();
        }
    }
    features.networkRate /= cluster.GpuCount();
    for (std::size_t i = 0; i < down.size(); i++)
    {
        if (down[i] > 0 && up[i] > 0)
        {
            features.oversubscription = std::max(features.oversubscription, down[i] / up[i]);
        }
    }
    return features;
}

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
            "serialization time (us)",
            "latency (us)",
            "oversubscription",
            "intra-node bandwidth per GPU (GB/s)",
            "network bandwidth per GPU (GB/s)"};
}

RegimePosition
CallPositions::Of(const CollectivePlan& plan, Fidelity shortcut) const
{
    const Cluster& cluster = m_planner.GetCluster();
    const Communicator& group = m_planner.GetGroup(plan.call.communicator);
    std::string unsampled = RunsByDefault(plan.algorithm)
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
    if (unsampled.empty() && plan.isInLockstep)
    {
        unsampled = "channels in lockstep";
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

/**
 * The number of slices that `flow` moves for a call. Identical channels count once, overlapping
 * calls as often as they are timed. Above MANY_SLICES, where `flow` may fold identical slices, the
 * folded number counts, but no less than MANY_SLICES. Infinite where slices cannot be listed.
 */
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
        const uint32_t ranks = m_planner.GetGroup(plan.call.communicator).Size();
        const Schedule folded = FoldSchedule(std::move(schedule), ranks, routing).schedule;
        return std::max(MANY_SLICES, SliceCount(folded) * calls);
    }
    catch (const std::length_error&)
    {
        return std::numeric_limits<double>::infinity();
    }
}

BoundJudge::BoundJudge(Planner& planner, const AutoSpec& spec)
    : m_spec(spec),
      m_positions(planner)
{
    if (!spec.calibration || !FindCoverage(spec.coverage))
    {
        throw std::invalid_argument("BoundJudge: expected a calibration and one of its coverages");
    }
}

bool
BoundJudge::IsGoodEnough(const CollectivePlan& plan, Fidelity shortcut) const
{
    const RegimePosition position = m_positions.Of(plan, shortcut);
    return MeetsTolerance(m_spec.calibration->BoundOf(position, m_spec.coverage), m_spec.tolerance);
}

} // namespace weir
