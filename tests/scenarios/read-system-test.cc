// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-system.h"

#include "collectives/nccl/node-costs.h"
#include "fabric/kinds/clos-fabric.h"
#include "scenarios/describe/describe-system.h"
#include "system-text.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

TEST(ReadSystem, NvLinkPayloadIsNcclsFigureOrTheMeasuredOne)
{
    // GB/s of one link in one direction. NCCL 2.30.7, topo.h: 20.6 for SM90 and 20 for SM80, where
    // measured all-reduces approach 236.3 over 12 links: 19.7.
    struct Expected
    {
        const char* system;
        uint32_t links;
        double perLink;
    };

    for (const Expected& e : {Expected{"dgx-a100", 12, 25.0 * 256 / 288 * 0.887},
                              Expected{"hgx-a100", 12, 25.0 * 256 / 288 * 0.887},
                              Expected{"hgx-h100", 18, 20.6},
                              Expected{"hgx-h200", 18, 20.6},
                              Expected{"hgx-h800", 8, 20.6}})
    {
        const NodeSpec node = SystemOf(e.system).cluster.node;
        EXPECT_EQ(node.wiring, NvLinkWiring::Switched);
        EXPECT_EQ(node.nvlinksPerGpu, e.links) << e.system;
        EXPECT_EQ(node.nvlink.rawRate, Rate::GBps(25)) << e.system;
        EXPECT_NEAR(node.nvlink.PayloadRate().ToGBps(), e.perLink, 1e-9) << e.system;
    }
}

TEST(ReadSystem, NicsAreFasterThanNothingInTheirPath)
{
    // A NIC's payload rate is below that of its PCIe link, otherwise the file contradicts measured
    // bus bandwidths (8 x 48.9 GB/s on 8 x 400 Gb/s).
    for (const char* system : {"dgx-a100", "hgx-a100", "hgx-h100", "hgx-h200", "hgx-h800"})
    {
        const NodeSpec node = SystemOf(system).cluster.node;
        EXPECT_LT(node.nic.PayloadRate(), node.pcie.PayloadRate()) << system;
        EXPECT_EQ(node.nics, node.gpus) << system;
    }
    const NodeSpec h100 = SystemOf("hgx-h100").cluster.node;
    EXPECT_EQ(h100.nic.rawRate, Rate::Gbps(400));
    EXPECT_DOUBLE_EQ(h100.nic.framing, 4096.0 / (4096 + 8 + 12 + 6)); // LRH, BTH, CRCs
    EXPECT_EQ(h100.pcie.rawRate, Rate::GBps(64));                     // 32 GT/s x 16 / 8
    EXPECT_DOUBLE_EQ(h100.pcie.encoding, 128.0 / 130);
}

TEST(ReadSystem, GpuToGpuOverOneLeafTakesUnderTwoMicroseconds)
{
    for (const char* system : {"dgx-a100", "hgx-h100"})
    {
        const NodeSpec node = SystemOf(system).cluster.node;
        // GPU - PCIe switch - NIC - leaf - NIC - PCIe switch - GPU
        const Time latency = node.pcie.latency * 4 + node.nic.latency * 2;
        EXPECT_EQ(latency, Time::Nanoseconds(1800)) << system;
    }
}

TEST(ReadSystem, SwitchLinksDefaultToTheNics)
{
    const ClusterSpec cluster = SystemOf("hgx-h800").cluster;
    EXPECT_EQ(cluster.fabric.link.rawRate, Rate::Gbps(400));
    EXPECT_EQ(cluster.fabric.link.framing, cluster.node.nic.framing);
    EXPECT_EQ(cluster.fabric.link.latency, Time::Nanoseconds(300));
    const ClusterSpec slower =
        SystemOf("{base: hgx-h800, node: {nic: {rate: 100Gbps}}, fabric: {link: {latency: 1us}}}")
            .cluster;
    EXPECT_EQ(slower.fabric.link.rawRate, Rate::Gbps(100));
    EXPECT_EQ(slower.fabric.link.latency, Time::Microseconds(1));
    const ClusterSpec thin = SystemOf("{base: hgx-h800, fabric: {link: {rate: 50Gbps}}}").cluster;
    EXPECT_EQ(thin.fabric.link.rawRate, Rate::Gbps(50));
    EXPECT_EQ(thin.node.nic.rawRate, Rate::Gbps(400));
}

TEST(ReadSystem, BasesAreOverlaidKeyByKey)
{
    const SystemDescription h800 = SystemOf("hgx-h800"); // based on hgx-h100
    const SystemDescription h100 = SystemOf("hgx-h100");
    EXPECT_EQ(h800.cluster.name, "hgx-h800");
    EXPECT_EQ(h800.cluster.node.gpuModel, "h800-sxm");
    EXPECT_EQ(h800.gpu.name, "h800-sxm");
    EXPECT_EQ(h800.cluster.node.computeCapability, 90u);
    EXPECT_EQ(h800.cluster.node.nic.source, h100.cluster.node.nic.source);
    EXPECT_NE(h800.cluster.node.nvlink.source, h100.cluster.node.nvlink.source);

    const ClusterSpec cluster =
        SystemOf("{base: hgx-h800, nodes: 12, fabric: {kind: leaf-spine, oversubscription: 2}}")
            .cluster;
    EXPECT_EQ(cluster.nodes, 12u);
    const auto& leafSpine = cluster.fabric.kind.As<LeafSpine>();
    EXPECT_EQ(leafSpine.oversubscription, 2);
    EXPECT_EQ(leafSpine.leafRadix, h800.cluster.fabric.kind.As<ClosFabric>().leafRadix);
}

TEST(ReadSystem, MeshesListTheirBundles)
{
    const NodeSpec node = SystemOf(
                              "base: hgx-h100\n"
                              "node:\n"
                              "  gpus: 4\n"
                              "  nvlink: {wiring: mesh, links: [[0, 1], [1, 2, 3]]}\n")
                              .cluster.node;
    ASSERT_EQ(node.meshLinks.size(), 2u);
    EXPECT_EQ(node.meshLinks[0].links, 1u);
    EXPECT_EQ(node.meshLinks[1].a, 1u);
    EXPECT_EQ(node.meshLinks[1].b, 2u);
    EXPECT_EQ(node.meshLinks[1].links, 3u);
    const auto mesh = [](const std::string& links) {
        return SystemRefusal("{base: hgx-h100, node: {nvlink: {wiring: mesh, links: " + links +
                             "}}}");
    };
    EXPECT_EQ(mesh("[[0, 8]]"),
              "sys.yaml:1:60: node.nvlink.links.0.1: found '8', expected a whole number from 0 to "
              "7");
    EXPECT_EQ(mesh("[[1, 1]]"),
              "sys.yaml:1:60: node.nvlink.links.0.1: found '1' again, expected two GPUs");
    EXPECT_EQ(mesh("[[1]]"),
              "sys.yaml:1:56: node.nvlink.links.0: found a list of 1, expected [GPU, GPU] or [GPU, "
              "GPU, links]");
}

TEST(ReadSystem, NodesWithoutFabricOrNvLink)
{
    const ClusterSpec cluster =
        SystemOf(
            "name: pcie-box\n"
            "node:\n"
            "  gpu: a100-sxm-40g\n"
            "  gpus: 2\n"
            "  nvlink: {wiring: none}\n"
            "  pcie: {generation: 4, lanes: 16, maxPayload: 128, latency: 150ns, switches: 0, "
            "source: made up}\n"
            "  sockets: {count: 1, cpu: amd}\n"
            "  nic: {count: 0}\n")
            .cluster;
    EXPECT_EQ(cluster.node.wiring, NvLinkWiring::None);
    EXPECT_EQ(cluster.node.computeCapability, 80u);
    EXPECT_EQ(cluster.node.cpu, HostCpu::Amd);
    EXPECT_EQ(cluster.node.pcieUplink.rawRate, cluster.node.pcie.rawRate);
    EXPECT_FALSE(cluster.fabric.kind->JoinsNodes());
    EXPECT_EQ(cluster.nodes, 1u);
}

// Transfers do not reach the payload rate of the packet format exactly. A description of the
// packets only gets the measured share of others of its kind (19.7 of 22.2 GB/s per link of an
// A100); one that gives a payload rate keeps it.
TEST(ReadSystem, LinksWithoutMeasuredReachWhatOthersDo)
{
    const auto boxOf = [](const std::string& pcie, const std::string& sockets) {
        return SystemOf(
                   "name: mine\n"
                   "node:\n"
                   "  gpu: a100-sxm-40g\n"
                   "  gpus: 2\n"
                   "  nvlink: {wiring: mesh, linksPerPair: 12, rate: 25GB/s, headerFlits: 2, "
                   "latency: 200ns, source: made up}\n"
                   "  pcie: {" +
                   pcie +
                   ", latency: 150ns, switches: 0, source: made up}\n"
                   "  sockets: {" +
                   sockets +
                   ", count: 1}\n"
                   "  nic: {count: 2, rate: 200Gbps, transport: infiniband, mtu: 4096, "
                   "latency: 600ns, source: made up}\n")
            .cluster.node;
    };
    const NodeSpec box = boxOf("generation: 4, lanes: 16, maxPayload: 256", "cpu: amd");
    EXPECT_NEAR(box.nvlink.PayloadRate().ToGBps(), 19.7, 0.02);
    EXPECT_DOUBLE_EQ(box.pcie.measured, 0.94);
    EXPECT_DOUBLE_EQ(box.nic.measured, 0.98);
    EXPECT_NE(box.nic.source.find("made up; measured, not given: "), std::string::npos);
    // Ports and GPUs share an EPYC's host bridge, a known bottleneck.
    ASSERT_TRUE(box.nicHostBridge);
    EXPECT_DOUBLE_EQ(box.nicHostBridge->PayloadRate().ToGBps(), 32.5);
    const NodeSpec plain = boxOf("rate: 25GB/s", "cpu: intel");
    EXPECT_DOUBLE_EQ(plain.pcie.PayloadRate().ToGBps(), 25);
    EXPECT_FALSE(plain.nicHostBridge);
}

// Costs of a description override the defaults, in the unit of their kind. Others are the defaults
// of the transport: Slingshot uses rendezvous above 4 KiB, InfiniBand never.
TEST(ReadSystem, CostsReplaceDefaults)
{
    const auto costs = [](const std::string& given) {
        return NodeCosts(SystemOf("base: hgx-h100\nnode: {costs: {" + given + "}}\n").cluster.node);
    };
    const NodeCosts own = costs(
        "llCall: {value: 6.5us, source: t}, "
        "queuePairRate: {value: 160Gbps, source: t}, "
        "messageEager: {value: 8KiB, source: t}, "
        "blockTime: {value: 1.25, source: t}");
    EXPECT_EQ(own.TimeOf(NodeCostKind::LlCall), Time::Microseconds(6.5));
    EXPECT_EQ(own.RateOf(NodeCostKind::QueuePairRate), Rate::GBps(20));
    EXPECT_EQ(own.BytesOf(NodeCostKind::MessageEager), Bytes::KiB(8));
    EXPECT_EQ(own.FactorOf(NodeCostKind::BlockTime), 1.25);
    EXPECT_EQ(own.Get(NodeCostKind::LlCall).source, "t");
    EXPECT_THROW(own.TimeOf(NodeCostKind::BlockTime), std::logic_error);
    const NodeCosts none = costs("");
    EXPECT_EQ(none.TimeOf(NodeCostKind::LlStep), own.TimeOf(NodeCostKind::LlStep));
    EXPECT_GT(none.BytesOf(NodeCostKind::MessageEager), Bytes::GiB(1));
    NodeSpec slingshot;
    slingshot.transport = NetTransport::Slingshot;
    EXPECT_EQ(NodeCosts(slingshot).BytesOf(NodeCostKind::MessageEager), Bytes::KiB(4));
    for (const NodeCostFigure& figure : NodeCostFigures())
    {
        EXPECT_EQ(figure.kind, NodeCostFigures()[static_cast<std::size_t>(figure.kind)].kind);
        EXPECT_FALSE(none.Get(figure.kind).source.empty()) << figure.key;
        EXPECT_GE(none.Get(figure.kind).value, figure.min) << figure.key;
    }
}

// A description lists every cost with its source, given or default.
TEST(DescribeSystem, ShowsEveryCostWithItsSource)
{
    const SystemDescription system =
        SystemOf("base: hgx-h100\nnode: {costs: {llCall: {value: 6.5us, source: our own runs}}}\n");
    const std::string shown = DescribeSystem(system);
    const NodeCosts costs(system.cluster.node);
    for (const NodeCostFigure& figure : NodeCostFigures())
    {
        const auto line = shown.find(std::string("\n  ") + figure.key + " ");
        ASSERT_NE(line, std::string::npos) << figure.key;
        const std::string text = shown.substr(line + 1, shown.find('\n', line + 1) - line - 1);
        EXPECT_NE(text.find(costs.Get(figure.kind).source), std::string::npos) << text;
    }
    EXPECT_NE(shown.find("6.5 us       our own runs\n"), std::string::npos) << shown;
}

TEST(ReadSystem, RefusesCostsOutOfRange)
{
    const auto refusal = [](const std::string& costs) {
        return SystemRefusal("base: hgx-h100\nnode:\n  costs: {" + costs + "}\n");
    };
    EXPECT_EQ(refusal("llCall: {value: 9ms, source: t}"),
              "sys.yaml:3:27: node.costs.llCall.value: found '9ms', expected 0.5 to 50 us");
    EXPECT_EQ(refusal("llCall: {value: 5us, source: ''}"),
              "sys.yaml:3:40: node.costs.llCall.source: found an empty text, expected the source "
              "of the value");
    EXPECT_NE(refusal("llCal: {value: 5us, source: t}").find("unknown key 'llCal'"),
              std::string::npos);
    EXPECT_NE(refusal("llCall: {value: 5, source: t}").find("found '5'"), std::string::npos);
}

TEST(ReadSystem, RefusesWithLocationFoundAndExpected)
{
    EXPECT_EQ(SystemRefusal("base: hgx-h100\nnodez: 4\n"),
              "sys.yaml:2:1: nodez: found the unknown key 'nodez', expected one of: base, name, "
              "title, source, nodes, node, topology, fabric, bounds (did you mean 'nodes'?)");
    EXPECT_EQ(SystemRefusal("base: hgx-h100\nnodes: 0\n"),
              "sys.yaml:2:8: nodes: found '0', expected a whole number from 1 to 1048576");
    EXPECT_EQ(SystemRefusal("base: hgx-h100\nnode: {nic: {rate: 400}}\n"),
              "sys.yaml:2:20: node.nic.rate: found '400' without a unit, expected a rate with a "
              "unit, such as 400Gbps");
    EXPECT_EQ(SystemRefusal("base: hgx-h100\nnode: {nic: {rate: 0Gbps}}\n"),
              "sys.yaml:2:20: node.nic.rate: found '0Gbps', expected a rate above zero");
    EXPECT_EQ(SystemRefusal("base: hgx-h100\nnode: {nvlink: {source: ''}}\n"),
              "sys.yaml:2:25: node.nvlink.source: found an empty text, expected the source of the "
              "values");
    EXPECT_EQ(
        SystemRefusal("base: hgx-h100\nnode: {nvlink: {measured: 1.2}}\n"),
        "sys.yaml:2:27: node.nvlink.measured: found '1.2', expected a number from 1e-06 to 1");
    EXPECT_EQ(SystemRefusal("base: hgx-h100\nnode: {nic: {mtu: 9000}}\n"),
              "sys.yaml:2:19: node.nic.mtu: found '9000', expected one of: 256, 512, 1024, 2048, "
              "4096");
    EXPECT_EQ(
        SystemRefusal("base: hgx-h100\nfabric: {kind: rail}\n"),
        "sys.yaml:2:16: fabric.kind: found 'rail', expected one of: none, rail-optimized, "
        "rail-only, leaf-spine, fat-tree, dragonfly, dragonfly-plus, torus, dimensions, graph "
        "(did you mean 'rail-only'?)");
    EXPECT_EQ(SystemRefusal("base: hgx-h100\nfabric: {oversubscription: 0.5}\n"),
              "sys.yaml:2:28: fabric.oversubscription: found '0.5', expected a number from 1 to "
              "32768");
    EXPECT_EQ(SystemRefusal("base: hgx-h100\nnode: {nic: {count: 0}}\nfabric: {kind: fat-tree}\n"),
              "sys.yaml:3:16: fabric.kind: found 'fat-tree' on nodes without NICs, expected none");
    // A missing parameter of a kind is reported where the kind is written, not in the base.
    EXPECT_EQ(SystemRefusal("base: hgx-h100\nfabric: {kind: dragonfly, routersPerGroup: 2}\n"),
              "sys.yaml:2:9: fabric.nicsPerRouter: found nothing, expected a value for "
              "'nicsPerRouter'");
    EXPECT_EQ(SystemRefusal("name: x\n"),
              "sys.yaml:1:1: node: found nothing, expected a value for 'node'");
    EXPECT_EQ(SystemRefusal("base: [hgx-h100]\n"),
              "sys.yaml:1:7: base: found a list, expected a text");
    EXPECT_EQ(SystemRefusal("[1, 2]"), "sys.yaml:1:1: found a list, expected a map");
}

} // namespace
} // namespace weir
