// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/topology/cluster.h"

#include "box-spec.h"
#include "fabric/kinds/clos-fabric.h"

#include <gtest/gtest.h>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>

namespace weir
{

namespace
{

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using Reverse = boost::property<boost::edge_reverse_t, Traits::edge_descriptor>;
using Residual = boost::property<boost::edge_residual_capacity_t, int, Reverse>;
using Capacity = boost::property<boost::edge_capacity_t, int, Residual>;
using FlowGraph =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Capacity>;

void
AddEdge(FlowGraph& graph, std::size_t from, std::size_t to, int capacity)
{
    const auto there = boost::add_edge(from, to, {capacity, {0, {}}}, graph).first;
    const auto back = boost::add_edge(to, from, {0, {0, {}}}, graph).first;
    boost::put(boost::edge_reverse, graph, there, back);
    boost::put(boost::edge_reverse, graph, back, there);
}

/**
 * Number of links that disjoint paths from the NICs of the first half of the nodes to those of the
 * second half can use concurrently: the maximum flow with unit capacity per link.
 */
int
BisectionLinks(const Cluster& cluster)
{
    const Topology& topology = cluster.GetTopology();
    const std::size_t source = topology.DeviceCount();
    const std::size_t sink = source + 1;
    FlowGraph graph(sink + 1);
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        const Link& link = topology.GetLink(LinkId(i));
        if (link.kind == LinkKind::Network)
        {
            AddEdge(graph, link.from.Index(), link.to.Index(), 1);
        }
    }
    const int unbounded = static_cast<int>(topology.LinkCount());
    for (uint32_t node = 0; node < cluster.NodeCount(); node++)
    {
        const std::size_t nic = cluster.NicDevice(node, 0).Index();
        const bool isFirst = node < cluster.NodeCount() / 2;
        AddEdge(graph, isFirst ? source : nic, isFirst ? nic : sink, unbounded);
    }
    return boost::push_relabel_max_flow(graph, source, sink);
}

} // namespace

TEST(ClosBisection, IsHalfTheHostsOverTheOversubscription)
{
    // o = 1: every host of one half has a path of its own to the other half. o = 3, k = 8: leaves
    // have 6 ports down and 2 up, so a third of the hosts have one.
    EXPECT_EQ(BisectionLinks(Cluster(PointSpec(16, FatTree(), 4, 3))), 8);
    EXPECT_EQ(BisectionLinks(Cluster(PointSpec(128, FatTree(), 8, 3))), 64);
    EXPECT_EQ(BisectionLinks(Cluster(PointSpec(32, FatTree(), 8, 2))), 16);
    ClusterSpec spec = PointSpec(48, FatTree(), 8, 2);
    spec.fabric.kind.As<ClosFabric>().oversubscription = 3;
    EXPECT_EQ(BisectionLinks(Cluster(spec)), 24 / 3);
    spec = PointSpec(192, FatTree(), 8, 3); // 8 pods of 4 leaves with 6 hosts each
    spec.fabric.kind.As<ClosFabric>().oversubscription = 3;
    EXPECT_EQ(BisectionLinks(Cluster(spec)), 96 / 3);
}

} // namespace weir
