// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-fabric.h"

#include "fabric/kinds/dimensions.h"
#include "fabric/kinds/graph-fabric.h"
#include "fabric/topology/cluster.h"
#include "refusal.h"
#include "scenarios/readers/check-wiring.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/topology/convert-topology.h"
#include "scratch-folder.h"

#include <gtest/gtest.h>

#include <fstream>

/**
 * @file
 * Fabrics in system files: they are read, written back unchanged, and refused at their location.
 */
namespace weir
{
namespace
{

ClusterSpec
Read(const std::string& fabric, const std::string& more = "")
{
    return ReadSystem(YamlNode::Parse("base: hgx-h100\n" + more + "fabric: " + fabric, "sys.yaml"),
                      Catalog())
        .cluster;
}

std::string
Refusal(const std::string& fabric, const std::string& more = "")
{
    return RefusalOf([&] { Read(fabric, more); });
}

bool
Says(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

void
Write(const std::string& path, const std::string& text)
{
    std::ofstream(path) << text;
}

std::string
AsYaml(const ClusterSpec& cluster)
{
    return WriteTopology(cluster, TopologyFormat::Yaml);
}

constexpr const char* DUMBBELL = R"(
source: a test
hosts: [a, b, c, d]
switches: 2
rate: 100Gbps
latency: 1us
links:
  - [a, switch0]
  - [b, switch0]
  - [c, switch1]
  - [d, switch1]
  - {between: [switch0, switch1], count: 3, rate: 400Gbps, latency: 2us}
)";

} // namespace

TEST(ReadFabric, TakesAstraSimsNotation)
{
    const auto cluster =
        Read("{kind: dimensions, dimensions: \"Ring(4) x FullyConnected(8) x Switch(2)\"}");
    const auto& dimensions = cluster.fabric.kind.As<Dimensions>().dimensions;
    ASSERT_EQ(dimensions.size(), 3U);
    EXPECT_EQ(dimensions[0].kind, DimensionKind::Ring);
    EXPECT_EQ(dimensions[1].kind, DimensionKind::FullyConnected);
    EXPECT_EQ(dimensions[1].size, 8U);
    EXPECT_EQ(dimensions[2].kind, DimensionKind::Switch);
    EXPECT_EQ(cluster.nodes, 4U * 8 * 2 / 8); // eight NICs per node fill it
    EXPECT_EQ(Read("{kind: dimensions, dimensions: R(4)_FC(8)_SW(2)}")
                  .fabric.kind.As<Dimensions>()
                  .dimensions.size(),
              3U);
    EXPECT_EQ(Read("{kind: torus, sizes: 4x4x2}").fabric.kind.As<Torus>().sizes[2], 2U);
    EXPECT_EQ(Read("{kind: torus, sizes: [4, 6]}").nodes, 3U);
}

TEST(ReadFabric, RefusesDimensionsWithTheirLocation)
{
    const std::string wrong = Refusal("{kind: dimensions, dimensions: Rign(4) x Switch(2)}");
    EXPECT_TRUE(Says(wrong, "sys.yaml:2:")) << wrong;
    EXPECT_TRUE(Says(wrong, "did you mean 'Ring'?")) << wrong;
    for (const char* text : {"Ring(4", "Ring4", "Ring(0)", "Ring(4) Switch(2)", "x", "Ring(-2)"})
    {
        const std::string refusal =
            Refusal("{kind: dimensions, dimensions: \"" + std::string(text) + "\"}");
        EXPECT_TRUE(Says(refusal, "sys.yaml:2:")) << text << ": " << refusal;
    }
    EXPECT_TRUE(Says(Refusal("{kind: dimensions, dimensions: [Ring(8), {shape: Switch(2), "
                             "inside: true}]}"),
                     "a later dimension inside"));
    EXPECT_TRUE(Says(Refusal("{kind: dimensions, dimensions: [{shape: Ring(8), rate: 100Gbps}]}"),
                     "latency"));
}

TEST(ReadFabric, NamesTheNearestRoutingAndKind)
{
    EXPECT_TRUE(Says(Refusal("{routing: adaptiv}"), "did you mean 'adaptive'?"));
    EXPECT_TRUE(Says(Refusal("{kind: dragon-fly}"), "did you mean 'dragonfly'?"));
    EXPECT_TRUE(Says(Refusal("{routing: valiant}"), "in a fabric of kind 'rail-optimized'"));
    EXPECT_TRUE(Says(Refusal("{routing: dimension-order}"), "expected a torus or dimensions"));
    for (const char* routing : {"static", "ecmp", "adaptive", "flowlet", "spray"})
    {
        EXPECT_EQ(Refusal("{routing: " + std::string(routing) + "}"), "") << routing;
    }
}

// Keys of another kind are refused beside `kind`, and ignored if inherited from a base.
TEST(ReadFabric, RefusesKeysOfAnotherKind)
{
    const std::string dragonfly =
        "kind: dragonfly, routersPerGroup: 4, nicsPerRouter: 2, globalLinks: 2";
    EXPECT_EQ(Refusal("{" + dragonfly + "}"), "");
    const std::string wrong = Refusal("{" + dragonfly + ", sizes: [2, 2]}");
    EXPECT_TRUE(Says(wrong, "fabrics of kind 'dragonfly' do not have")) << wrong;
    EXPECT_TRUE(Says(Refusal("{" + dragonfly + ", routersPergroup: 2}"),
                     "did you mean 'routersPerGroup'?"));
    EXPECT_TRUE(
        Says(Refusal("{kind: dragonfly, nicsPerRouter: 2, globalLinks: 2}"), "routersPerGroup"));
}

TEST(ReadFabric, WhatIsWrittenReadsBackEqual)
{
    ScratchFolder folder;
    Write(folder / "graph.yaml", DUMBBELL);
    for (const std::string& fabric :
         {std::string("{kind: dragonfly, routersPerGroup: 16, nicsPerRouter: 4, globalLinks: 2, "
                      "nicPlacement: rails, routing: flowlet, flowletGap: 80us, "
                      "globalLink: {rate: 200Gbps, latency: 1us}}"),
          std::string("{kind: dragonfly-plus, groups: 3, routersPerGroup: 4, spinesPerGroup: 4, "
                      "nicsPerRouter: 8, globalLinks: 2, localLinks: 2}"),
          std::string("{kind: torus, sizes: [4, 4], nicsPerRouter: 2, routing: dimension-order}"),
          std::string("{kind: dimensions, dimensions: [{shape: Switch(8), inside: true}, "
                      "{shape: Ring(4), rate: 100Gbps, latency: 1us, links: 2}]}"),
          "{kind: graph, hosts: nodes, order: [b, a, d, c], file: " + folder / "graph.yaml" + "}"})
    {
        const ClusterSpec cluster = Read(fabric, "nodes: 4\n");
        const std::string once = AsYaml(cluster);
        Write(folder / "system.yaml", once);
        const ClusterSpec again =
            ReadSystem(YamlNode::Parse(folder / "system.yaml", "-"), Catalog()).cluster;
        EXPECT_EQ(AsYaml(again), once) << fabric;
        EXPECT_EQ(WriteTopology(again, TopologyFormat::GraphMl),
                  WriteTopology(cluster, TopologyFormat::GraphMl))
            << fabric;
    }
}

// A fabric converted to GraphML and read as a graph is the same network.
TEST(ReadFabric, AGraphMlFileIsTheNetworkItWasWrittenFrom)
{
    ScratchFolder folder;
    ClusterSpec cluster = Read("{kind: torus, sizes: [4, 2]}");
    ASSERT_EQ(cluster.nodes, 1U);
    cluster = Read("{kind: torus, sizes: [4, 4]}");
    Write(folder / "net.graphml", WriteTopology(cluster, TopologyFormat::GraphMl));
    ClusterSpec graph = Read("{kind: graph, file: " + folder / "net.graphml" + "}");
    ASSERT_EQ(graph.nodes, 2U);
    const Cluster wired(cluster);
    const Cluster again(graph);
    const auto trunks = [](const Cluster& each) {
        std::size_t count = 0;
        double rate = 0;
        for (std::size_t i = 0; i < each.GetTopology().LinkCount(); i++)
        {
            const Link& link = each.GetTopology().GetLink(LinkId(i));
            if (link.kind == LinkKind::Network)
            {
                count++;
                rate += link.rate.ToGBps();
            }
        }
        return std::pair{count, rate};
    };
    EXPECT_EQ(trunks(again).first, trunks(wired).first);
    EXPECT_NEAR(trunks(again).second, trunks(wired).second, 1e-6);
}

// A link has one rate and one latency for both of its directed edges.
TEST(ReadFabric, AGraphMlFileWithALinkOfOneDirectionOrAnUnknownDeviceIsRefused)
{
    const auto edge = [](const std::string& from, const std::string& to, const std::string& rate) {
        return "<edge source=\"" + from + "\" target=\"" + to +
               "\"><data key=\"link\">network</data><data key=\"rateGBps\">" + rate +
               "</data><data key=\"latencyNs\">600</data></edge>\n";
    };
    const auto read = [](const std::string& edges,
                         const std::string& direction,
                         const std::string& device = "leaf") {
        ScratchFolder folder;
        std::string nodes;
        for (int nic = 0; nic < 8; nic++)
        {
            nodes +=
                "<node id=\"n" + std::to_string(nic) + "\"><data key=\"device\">nic</data></node>";
        }
        Write(folder / "net.graphml",
              "<graphml><graph edgedefault=\"" + direction + "\">" + nodes +
                  "<node id=\"s\"><data key=\"device\">" + device + "</data></node>\n" + edges +
                  "</graph></graphml>");
        return Read("{kind: graph, file: " + folder / "net.graphml" + "}");
    };
    std::string up;
    std::string down;
    for (int nic = 0; nic < 8; nic++)
    {
        up += edge("n" + std::to_string(nic), "s", "40");
        down += nic < 7 ? edge("s", "n" + std::to_string(nic), "40") : "";
    }
    EXPECT_NO_THROW(read(up, "undirected"));
    EXPECT_NO_THROW(read(up + down + edge("s", "n7", "40"), "directed"));
    for (const std::string& last : {std::string(), edge("s", "n7", "4"), edge("n7", "s", "40")})
    {
        EXPECT_PRED2(Says,
                     RefusalOf([&] { read(up + down + last, "directed"); }),
                     "net.graphml:9:1: edge: found no edge of the same rateGBps and latencyNs from "
                     "'s' to 'n7', expected one for each edge of a directed graph");
    }
    EXPECT_PRED2(Says,
                 RefusalOf([&] { read(up + edge("s", "s", "40"), "undirected"); }),
                 "edge target: found 's' at both ends, expected two");
    EXPECT_PRED2(Says,
                 RefusalOf([&] { read(up, "both"); }),
                 "graph edgedefault: found 'both', expected directed or undirected");
    EXPECT_PRED2(Says,
                 RefusalOf([&] { read(up, "undirected", "switch"); }),
                 "node: data 'device': found 'switch', expected one of: gpu, nvswitch");
}

// Rates of an HPCC topology are raw: the payload rate excludes headers, as on NICs.
TEST(ReadFabric, AnHpccTopologyIsAFabric)
{
    ScratchFolder folder;
    Write(folder / "net.txt",
          "5 1 4\n4\n0 4 400Gbps 1us 0\n1 4 400Gbps 1us 0\n2 4 200Gbps 1us 0\n3 4 200Gbps 1us 0\n");
    const ClusterSpec cluster =
        Read("{kind: graph, hosts: nodes, file: " + folder / "net.txt" + "}");
    EXPECT_EQ(cluster.nodes, 4U);
    const NetworkGraph& graph = cluster.fabric.kind.As<GraphFabric>().graph;
    EXPECT_NEAR(graph.wires[0].rate.ToGBps(), cluster.node.nic.PayloadRate().ToGBps(), 1e-6);
    EXPECT_NEAR(graph.wires[2].rate.ToGBps(), cluster.node.nic.PayloadRate().ToGBps() / 2, 1e-6);
}

TEST(ReadFabric, RefusesWrongGraphsWithTheirLocation)
{
    ScratchFolder folder;
    const std::string path = folder / "graph.yaml";
    const auto refusal = [&](std::string text, const std::string& part, const std::string& by) {
        text.replace(text.find(part), part.size(), by);
        Write(path, text);
        return Refusal("{kind: graph, hosts: nodes, file: " + path + "}");
    };
    EXPECT_TRUE(Says(refusal(DUMBBELL, "[b, switch0]", "[b, swich0]"), "graph.yaml:9:9"));
    EXPECT_TRUE(Says(refusal(DUMBBELL, "[b, switch0]", "[b, swich0]"), "did you mean 'switch0'?"));
    EXPECT_TRUE(Says(refusal(DUMBBELL, "[b, switch0]", "[b, b]"), "at both ends"));
    EXPECT_TRUE(Says(refusal(DUMBBELL, "[b, switch0]", "[b, switch0, 0Gbps, 1us]"), "above zero"));
    EXPECT_TRUE(Says(refusal(DUMBBELL, "[a, b, c, d]", "[a, b, c, a]"), "'a' again"));
    EXPECT_TRUE(Says(refusal(DUMBBELL, "rate: 100Gbps", "rat: 100Gbps"), "did you mean 'rate'?"));
    EXPECT_TRUE(Says(Refusal("{kind: graph, file: nowhere.yaml}"), "sys.yaml:2:"));
    Write(path, DUMBBELL);
    EXPECT_TRUE(Says(Refusal("{kind: graph, hosts: nodes, order: [a, e], file: " + path + "}"),
                     "expected a host of"));
}

// A fabric without room for its nodes is refused at the key that is too small, in the file where it
// was written, or at the parent of the key if the key is not written.
TEST(WiringTest, RefusalsSayWhere)
{
    const Catalog catalog;
    const auto refusal = [&](const std::string& fabric, uint32_t nodes) {
        const YamlNode node =
            YamlNode::Parse("base: hgx-h100\nname: mine\nfabric:\n" + fabric, "sys.yaml");
        ClusterSpec cluster = ReadSystem(node, catalog).cluster;
        cluster.nodes = nodes;
        return RefusalOf([&] { CheckWiring(node, catalog, cluster); });
    };
    const std::string fatTree = "  kind: fat-tree\n  levels: 2\n  leafRadix: 8\n";
    EXPECT_EQ(refusal(fatTree, 4), ""); // 8^2 / 2 NICs, eight per node
    EXPECT_EQ(refusal(fatTree, 5),
              "sys.yaml:6:14: fabric.leafRadix: found 8 ports, which in 2 levels (fabric.levels) "
              "connect at most 32 NICs, expected enough for nodes x node.nics = 40");
    const std::string torus = "  kind: torus\n  sizes: [2, 4]\n  nicsPerRouter: 1\n";
    EXPECT_EQ(refusal(torus, 1), "");
    EXPECT_EQ(refusal(torus, 2).rfind("sys.yaml:5:10: fabric.sizes: found 2 x 4 routers", 0), 0U)
        << refusal(torus, 2);
    const std::string dragonfly =
        "  kind: dragonfly\n  routersPerGroup: 6\n  nicsPerRouter: 8\n"
        "  globalLinks: 1\n  nicPlacement: rails\n";
    EXPECT_EQ(refusal(dragonfly, 2).rfind("sys.yaml:5:20: fabric.routersPerGroup: found 6, ", 0),
              0U)
        << refusal(dragonfly, 2);
}

} // namespace weir
