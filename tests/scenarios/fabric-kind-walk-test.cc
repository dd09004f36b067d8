// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/fabric.h"
#include "fabric/kinds/fabric-kind.h"
#include "fabric/kinds/switch-layers.h"
#include "fabric/refuse.h"
#include "fabric/topology/cluster-spec.h"
#include "refusal.h"
#include "scenarios/readers/check-wiring.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/simulation/collective-sweep.h"
#include "scenarios/topology/convert-topology.h"
#include "scenarios/topology/show-topology.h"
#include "scratch-folder.h"

#include <gtest/gtest.h>

/**
 * @file
 * The walk of docs/developer/fabric-kind.md: a fabric kind that is defined and registered only in
 * this file is read, refused, written back, described, drawn, converted and simulated like Weir's
 * own. The page shows this code verbatim.
 */
namespace weir
{

/** Routers at the corners of a cube of some dimensions, each joined to those one edge away. */
class Hypercube : public FabricKind
{
  public:
    Hypercube()
        : FabricKind("hypercube", "Routers at the corners of a cube, joined along its edges.")
    {
    }

    uint32_t exponent{3};
    uint32_t nicsPerRouter{1};

    void VisitParameters(ParameterVisitor& visitor) override
    {
        visitor.Count(
            Required("exponent", "Number of dimensions; the network has 2^exponent routers."),
            exponent,
            {1, 16});
        visitor.Count({"nicsPerRouter", "Number of NICs attached to a router."},
                      nicsPerRouter,
                      {1, MAX_PORTS});
    }

    void Wire(Topology& topology,
              const ClusterSpec& spec,
              const std::vector<DeviceId>& nics) const override
    {
        CheckFabricLinks(spec);
        const uint32_t count = 1U << exponent;
        WEIR_REFUSE_IF(nics.size() > uint64_t{count} * nicsPerRouter,
                       "fabric.exponent: " << exponent << ", or " << count
                                           << " routers, expected room for nodes x node.nics = "
                                           << nics.size());
        const auto routers = AddSwitches(topology, DeviceKind::LeafSwitch, "router", 0, count);
        for (std::size_t nic = 0; nic < nics.size(); nic++)
        {
            topology.AddDuplexLink(
                nics[nic], routers[nic / nicsPerRouter], LinkKind::Network, spec.node.nic);
        }
        for (uint32_t from = 0; from < count; from++)
        {
            for (uint32_t edge = 1; edge < count; edge *= 2)
            {
                if ((from & edge) == 0)
                {
                    JoinLayers(
                        topology, {routers[from]}, {routers[from | edge]}, 1, TrunkProfile(spec));
                }
            }
        }
    }

    std::optional<uint32_t> NodesThatFill(const NodeSpec& node) const override
    {
        return node.nics == 0 ? 0 : (1U << exponent) * nicsPerRouter / node.nics;
    }
};

namespace
{

constexpr const char* SYSTEM = R"(
base: hgx-h100
name: cube
fabric:
  kind: hypercube
  exponent: 4
  nicsPerRouter: 2
)";

Catalog
CatalogWithCube()
{
    Catalog catalog;
    catalog.AddFabricKind(Hypercube());
    return catalog;
}

ClusterSpec
ReadCube(const std::string& text = SYSTEM)
{
    return ReadSystem(YamlNode::Parse(text, "cube.yaml"), CatalogWithCube()).cluster;
}

std::string
RefusalOfCube(const std::string& part, const std::string& by)
{
    std::string text = SYSTEM;
    text.replace(text.find(part), part.size(), by);
    return RefusalOf([&] { ReadCube(text); });
}

} // namespace

// 16 routers with two NICs each are four nodes of eight NICs.
TEST(FabricKindWalk, IsReadFromYaml)
{
    const ClusterSpec cluster = ReadCube();
    const auto& cube = cluster.fabric.kind.As<Hypercube>();
    EXPECT_EQ(cube.exponent, 4U);
    EXPECT_EQ(cube.nicsPerRouter, 2U);
    EXPECT_EQ(cluster.nodes, 4U);
    YamlNode node = YamlNode::Parse(SYSTEM, "cube.yaml");
    node.Set("fabric.exponent", "5"); // like --set
    EXPECT_EQ(ReadSystem(node, CatalogWithCube()).cluster.nodes, 8U);
    EXPECT_NE(RefusalOf([&] { ReadSystem(node, Catalog()); }).find("found 'hypercube'"),
              std::string::npos); // the kind is registered in this catalog only
}

TEST(FabricKindWalk, IsRefusedWithItsLocation)
{
    EXPECT_EQ(RefusalOfCube("exponent: 4", "exponent: 17"),
              "cube.yaml:6:13: fabric.exponent: found '17', expected a whole number from 1 to 16");
    const std::string missing = RefusalOfCube("  exponent: 4\n", "");
    EXPECT_NE(missing.find("fabric.exponent: found nothing, expected a value for 'exponent'"),
              std::string::npos)
        << missing;
    const std::string unknown = RefusalOfCube("exponent: 4", "exponant: 4");
    EXPECT_EQ(unknown.find("cube.yaml:6:3: fabric.exponant: found the unknown key"), 0U) << unknown;
    EXPECT_NE(unknown.find("(did you mean 'exponent'?)"), std::string::npos) << unknown;
    const std::string routing = RefusalOfCube("exponent: 4", "exponent: 4\n  routing: valiant");
    EXPECT_NE(routing.find("in a fabric of kind 'hypercube'"), std::string::npos) << routing;

    ClusterSpec cluster = ReadCube();
    cluster.nodes = 5;
    EXPECT_EQ(RefusalOf([&] {
                  CheckWiring(YamlNode::Parse(SYSTEM, "cube.yaml"), CatalogWithCube(), cluster);
              }),
              "cube.yaml:6:13: fabric.exponent: found 4, or 16 routers, expected room for nodes x "
              "node.nics = 40");
    cluster.fabric.kind.As<Hypercube>().exponent = 0; // set in C++, bypassing the reader
    EXPECT_THROW(Cluster{cluster}, std::invalid_argument);
}

// 2^n routers, n 2^(n - 1) wires.
TEST(FabricKindWalk, IsWired)
{
    const Cluster cluster(ReadCube());
    const Topology& topology = cluster.GetTopology();
    std::size_t routers = 0;
    std::size_t wires = 0;
    for (std::size_t i = 0; i < topology.DeviceCount(); i++)
    {
        routers += topology.GetDevice(DeviceId(i)).kind == DeviceKind::LeafSwitch;
    }
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        const Link& link = topology.GetLink(LinkId(i));
        wires += topology.GetDevice(link.from).kind == DeviceKind::LeafSwitch &&
                 topology.GetDevice(link.to).kind == DeviceKind::LeafSwitch;
    }
    EXPECT_EQ(routers, 16U);
    EXPECT_EQ(wires, 2 * 4 * 8U); // each wire is two links
}

TEST(FabricKindWalk, IsWrittenBackEqual)
{
    const std::string once = WriteTopology(ReadCube(), TopologyFormat::Yaml);
    EXPECT_NE(once.find("  kind: hypercube\n  exponent: 4\n  nicsPerRouter: 2\n"),
              std::string::npos)
        << once;
    EXPECT_EQ(WriteTopology(ReadCube(once), TopologyFormat::Yaml), once);
}

TEST(FabricKindWalk, IsDescribedDrawnAndConverted)
{
    const ClusterSpec cluster = ReadCube();
    const std::string text = DescribeTopology(cluster);
    EXPECT_NE(text.find("fabric of 4 nodes: hypercube, ecmp routing\n  16 x leaf"),
              std::string::npos)
        << text;
    const std::string svg = DrawTopology(cluster);
    EXPECT_NE(svg.find(">router0</text>"), std::string::npos);
    EXPECT_NE(svg.find(">router15</text>"), std::string::npos);

    const ScratchFolder folder;
    std::ofstream(folder / "cube.graphml") << WriteTopology(cluster, TopologyFormat::GraphMl);
    const Cluster again(ReadTopology(folder / "cube.graphml", "", Catalog()));
    EXPECT_EQ(again.GetTopology().LinkCount(), Cluster(cluster).GetTopology().LinkCount());
}

// Along a diagonal of the cube a path has the latency of both NIC links and of four cables.
TEST(FabricKindWalk, IsRouted)
{
    const ClusterSpec spec = ReadCube();
    Fabric fabric(spec);
    const Cluster& cluster = fabric.GetCluster();
    RouteRequest request;
    request.source = request.outNic = cluster.NicDevice(0, 0);     // on router 0
    request.destination = request.inNic = cluster.NicDevice(3, 6); // NIC 30, on router 15
    Time latency;
    for (const LinkId hop : fabric.GetRouting().FindHops(request))
    {
        latency += cluster.GetTopology().GetLink(hop).latency;
    }
    EXPECT_EQ(latency, spec.node.nic.latency * 2 + spec.fabric.link.latency * 4);
}

// No ring or tree is faster than the bytes that each node must send: 2 (n - 1) / n of the size,
// through its eight NICs.
TEST(FabricKindWalk, IsSimulated)
{
    CollectiveSweepSpec sweep;
    sweep.cluster = ReadCube();
    sweep.sizes = {Bytes::MiB(256)};
    const LinkProfile& nic = sweep.cluster.node.nic;
    const Time min =
        Bytes::Nearest(Bytes::MiB(256).ToDouble() * 2 * 3 / 4) / (nic.PayloadRate() * 8);
    for (const Fidelity fidelity : {Fidelity::Analytical, Fidelity::Stream, Fidelity::Flow})
    {
        sweep.fidelity = fidelity;
        EXPECT_GT(RunCollectiveSweep(sweep).front().time, min);
    }
}

// The page shows the kind above verbatim.
TEST(FabricKindWalk, IsWhatTheDeveloperGuideShows)
{
    const std::string folder = WEIR_SOURCE_DIR;
    const std::string page = ScratchFolder::Read(folder + "/docs/developer/fabric-kind.md");
    const std::string code =
        ScratchFolder::Read(folder + "/tests/scenarios/fabric-kind-walk-test.cc");
    const std::string open = "```cpp\n";
    std::size_t blocks = 0;
    for (std::size_t at = page.find(open); at != std::string::npos; at = page.find(open, at))
    {
        at += open.size();
        const std::string block = page.substr(at, page.find("```", at) - at);
        EXPECT_NE(code.find(block), std::string::npos) << block;
        blocks++;
    }
    EXPECT_GE(blocks, 1U);
}

} // namespace weir
