// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_COMPUTE_MODEL_SAMPLE_MACHINE_H
#define WEIR_TESTS_COMPUTE_MODEL_SAMPLE_MACHINE_H

#include "collectives/planner.h"
#include "fabric/routing/routing.h"
#include "fabric/topology/cluster.h"

namespace weir
{

inline LinkProfile
SampleProfile(double gigabytes)
{
    LinkProfile profile;
    profile.rawRate = Rate::GBps(gigabytes);
    profile.latency = Time::Microseconds(1);
    return profile;
}

/**
 * Rail-optimized nodes of eight GPUs; link rates are round numbers. @param leafRadix ports per leaf
 */
inline ClusterSpec
SampleMachineSpec(uint32_t nodes, uint32_t leafRadix)
{
    ClusterSpec spec;
    spec.name = "machine";
    spec.nodes = nodes;
    spec.fabric.kind = RailOptimized();
    spec.fabric.kind.As<ClosFabric>().leafRadix = leafRadix;
    spec.node.nvlinksPerGpu = 12;
    spec.node.nvlink = SampleProfile(25);
    spec.node.pcie = SampleProfile(25);
    spec.node.pcieUplink = SampleProfile(25);
    spec.node.interSocket = SampleProfile(25);
    spec.node.nic = SampleProfile(20);
    return spec;
}

/** A wired cluster and the planner of its collectives. */
struct SampleMachine
{
    explicit SampleMachine(const ClusterSpec& spec,
                           const Polymorphic<RoutingPolicy>& routing = EcmpRouting())
        : cluster(RoutedBy(spec, routing)),
          routes(cluster.GetTopology(), cluster.GetSpec().fabric),
          planner(cluster, routes)
    {
    }

    static ClusterSpec RoutedBy(ClusterSpec spec, const Polymorphic<RoutingPolicy>& routing)
    {
        spec.fabric.routing = routing;
        return spec;
    }

    Cluster cluster;
    Routing routes;
    Planner planner;
};

} // namespace weir

#endif // WEIR_TESTS_COMPUTE_MODEL_SAMPLE_MACHINE_H
