// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/regime-position.h"

namespace weir
{

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

} // namespace weir
