// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/graph-fabric.h"
#include "fabric/routing/router.h"
#include "fabric/topology/cluster.h"

#include "box-spec.h"
#include "network-figures.h"

#include "plain-routing.h"

#include <gtest/gtest.h>

/**
 * @file
 * Graphs as fabrics: where NICs and nodes are attached, and which graphs are refused.
 */
namespace weir
{

namespace
{

/** Two switches joined by three wires of 10 GB/s, with two hosts each at 100 GB/s. */
ClusterSpec
DumbbellSpec(uint32_t nodes)
{
    ClusterSpec spec = PointSpec(nodes, GraphFabric());
    auto& fabric = spec.fabric.kind.As<GraphFabric>();
    NetworkGraph& graph = fabric.graph;
    graph.file = "dumbbell";
    graph.vertices = {
        {"left", false}, {"a", true}, {"b", true}, {"right", false}, {"c", true}, {"d", true}};
    fabric.order = {1, 2, 4, 5};
    const Time latency = Time::Microseconds(1);
    for (const auto& [host, at] :
         {std::pair{1U, 0U}, std::pair{2U, 0U}, std::pair{4U, 3U}, std::pair{5U, 3U}})
    {
        graph.wires.push_back({host, at, Rate::GBps(100), latency});
    }
    graph.wires.insert(graph.wires.end(), 3, {0, 3, Rate::GBps(10), latency});
    return spec;
}

} // namespace

// A NIC replaces a host; its link has the lower rate of the NIC and the wire.
TEST(GraphFabricTest, PutsNicsInTheHostsPlaces)
{
    const Cluster cluster(DumbbellSpec(4));
    const Topology& topology = cluster.GetTopology();
    EXPECT_EQ(CountKind(topology, DeviceKind::LeafSwitch), 2U);
    EXPECT_EQ(CountTrunks(topology), 3U);
    const auto distances = NetworkDistances(topology, cluster.NicDevice(0, 0));
    EXPECT_EQ(distances[cluster.NicDevice(1, 0).Index()], 2U);
    EXPECT_EQ(distances[cluster.NicDevice(2, 0).Index()], 3U);
    uint32_t nics = 0;
    for (const LinkId id : topology.LinksFrom(topology.FindDevice("left")))
    {
        const Link& link = topology.GetLink(id);
        const bool isNic = topology.GetDevice(link.to).kind == DeviceKind::Nic;
        EXPECT_NEAR(link.rate.ToGBps(), isNic ? 50 : 10, 1e-9);
        nics += isNic ? 1 : 0;
    }
    EXPECT_EQ(nics, 2U);
}

// With GraphHosts::Nodes all NICs of node i are attached to host i and share its wires.
TEST(GraphFabricTest, PutsNodesOnTheHosts)
{
    ClusterSpec spec = DumbbellSpec(4);
    const NodeSpec box = BoxSpec(4, GraphFabric()).node;
    spec.node = box;
    EXPECT_NE(RefusalOf(spec).find("with 4 hosts, expected nodes x node.nics = 4 x 8 = 32"),
              std::string::npos)
        << RefusalOf(spec);
    spec.fabric.kind.As<GraphFabric>().hosts = GraphHosts::Nodes;
    const Cluster cluster(spec);
    const auto distances = NetworkDistances(cluster.GetTopology(), cluster.NicDevice(0, 5));
    EXPECT_EQ(distances[cluster.NicDevice(0, 6).Index()], 2U);
    EXPECT_EQ(distances[cluster.NicDevice(3, 6).Index()], 5U);
}

// A node on two switches does not relay traffic of other nodes: the path between nodes on different
// switches is the long one over the network (NIC, host, left, a, b, right, host, NIC), not the
// shorter one through the node.
TEST(GraphFabricTest, PassesNothingThroughANodeOnTwoSwitches)
{
    ClusterSpec spec = DumbbellSpec(3);
    spec.node = BoxSpec(3, GraphFabric()).node;
    auto& fabric = spec.fabric.kind.As<GraphFabric>();
    NetworkGraph& graph = fabric.graph;
    fabric.hosts = GraphHosts::Nodes;
    graph.vertices = {{"one", true},
                      {"two", true},
                      {"both", true},
                      {"left", false},
                      {"a", false},
                      {"b", false},
                      {"right", false}};
    fabric.order = {0, 1, 2};
    graph.wires.clear();
    for (const auto& [a, b] : {std::pair{0U, 3U},
                               std::pair{1U, 6U},
                               std::pair{2U, 3U},
                               std::pair{2U, 6U},
                               std::pair{3U, 4U},
                               std::pair{4U, 5U},
                               std::pair{5U, 6U}})
    {
        graph.wires.push_back({a, b, Rate::GBps(100), Time::Microseconds(1)});
    }
    const Cluster cluster(spec);
    PlainRouter plain(cluster.GetTopology(), EcmpRouting(), 1);
    Router& router = plain;
    const auto hops = [&](DeviceId to) {
        constexpr uint8_t NETWORK = KindBit(LinkKind::Network);
        return router.RouteOver(cluster.NicDevice(0, 0), to, FlowTuple{}, NETWORK).size();
    };
    EXPECT_EQ(hops(cluster.NicDevice(1, 0)), 7U);
    EXPECT_EQ(hops(cluster.NicDevice(2, 0)), 4U);
    EXPECT_EQ(hops(cluster.NicDevice(0, 1)), 2U);
}

TEST(GraphFabricTest, RefusesAGraphInPieces)
{
    ClusterSpec spec = DumbbellSpec(4);
    spec.fabric.kind.As<GraphFabric>().graph.wires.resize(4); // without wires between switches
    EXPECT_NE(RefusalOf(spec).find("no path from host 'a' to host 'c'"), std::string::npos)
        << RefusalOf(spec);
    spec.nodes = 2; // both on one switch
    EXPECT_EQ(RefusalOf(spec), "");
}

} // namespace weir
