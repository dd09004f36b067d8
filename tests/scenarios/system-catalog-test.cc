// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/planner.h"
#include "fabric/fabric.h"
#include "scratch-folder.h"
#include "system-text.h"

#include <gtest/gtest.h>

#include <fstream>

namespace weir
{
namespace
{

/** Payload bandwidth of all NVLinks of a GPU in one direction, GB/s. */
double
NvLinkTotal(const NodeSpec& node)
{
    uint32_t links = node.wiring == NvLinkWiring::Switched ? node.nvlinksPerGpu : 0;
    for (const MeshLink& mesh : node.meshLinks)
    {
        links += mesh.a == 0 || mesh.b == 0 ? mesh.links : 0;
    }
    return node.nvlink.PayloadRate().ToGBps() * links;
}

TEST(SystemCatalog, EverySystemIsWired)
{
    const Catalog catalog;
    const auto listed = catalog.List(CatalogKind::Systems);
    EXPECT_FALSE(listed.empty());
    for (const CatalogEntry& entry : listed)
    {
        ClusterSpec spec = SystemOf(entry.name).cluster;
        EXPECT_EQ(spec.name, entry.name);
        spec.nodes = spec.fabric.kind->JoinsNodes() ? 2 : 1;
        EXPECT_NO_THROW(Cluster{spec}) << entry.name;
    }
}

TEST(SystemCatalog, MachinesHaveTheWidthsOfTheirDatasheets)
{
    struct Expected
    {
        const char* system;
        uint32_t gpus;
        uint32_t nvlinks; //!< per GPU
        double nvlinkRaw; //!< GB/s per link and direction
        uint32_t ports;   //!< per node
        double portGbps;
    };

    for (const Expected& e : {Expected{"dgx1-v100", 8, 6, 25.78125, 4, 100},
                              Expected{"dgx2-v100", 16, 6, 25.78125, 8, 100},
                              Expected{"dgx-a100", 8, 12, 25, 8, 200},
                              Expected{"hgx-a800", 8, 8, 25, 8, 200},
                              Expected{"azure-ndv4", 8, 12, 25, 8, 200},
                              Expected{"aws-p4d-24xlarge", 8, 12, 25, 4, 100},
                              Expected{"oci-a100", 8, 12, 25, 16, 100},
                              Expected{"juwels-booster", 4, 12, 25, 4, 200},
                              Expected{"polaris", 4, 12, 25, 2, 200},
                              Expected{"perlmutter", 4, 12, 25, 4, 200},
                              Expected{"azure-ndv5", 8, 18, 25, 8, 400},
                              Expected{"aws-p5-48xlarge", 8, 18, 25, 32, 100},
                              Expected{"alps-gh200", 4, 18, 25, 4, 200},
                              Expected{"hgx-h100", 8, 18, 25, 8, 400},
                              Expected{"hgx-h800", 8, 8, 25, 8, 400},
                              Expected{"hgx-h200", 8, 18, 25, 8, 400},
                              Expected{"hgx-b200", 8, 18, 50, 8, 400},
                              Expected{"hgx-b300", 8, 18, 50, 8, 800},
                              Expected{"gb200-nvl72", 72, 18, 50, 72, 400},
                              Expected{"a100-pcie-pair", 2, 0, 0, 0, 0},
                              Expected{"a100-pcie-hdr", 1, 0, 0, 1, 200},
                              Expected{"a100-pcie-8", 8, 0, 0, 2, 200}})
    {
        const NodeSpec node = SystemOf(e.system).cluster.node;
        EXPECT_EQ(node.gpus, e.gpus) << e.system;
        EXPECT_EQ(node.nics, e.ports) << e.system;
        EXPECT_DOUBLE_EQ(node.nic.rawRate.ToGbps(), e.portGbps) << e.system;
        if (e.nvlinks > 0)
        {
            EXPECT_DOUBLE_EQ(node.nvlink.rawRate.ToGBps(), e.nvlinkRaw) << e.system;
        }
        EXPECT_NEAR(NvLinkTotal(node), e.nvlinks * node.nvlink.PayloadRate().ToGBps(), 1e-9)
            << e.system;
    }
}

TEST(SystemCatalog, EveryGpuOfTheHybridCubeMeshHasSixLinks)
{
    std::vector<uint32_t> links(8, 0);
    for (const MeshLink& mesh : SystemOf("dgx1-v100").cluster.node.meshLinks)
    {
        links[mesh.a] += mesh.links;
        links[mesh.b] += mesh.links;
    }
    EXPECT_EQ(links, std::vector<uint32_t>(8, 6));
}

/**
 * NCCL's search: channels of the graph times their speed, GB/s, over all GPUs of @p nodes nodes.
 */
double
GraphBandwidth(const char* system, uint32_t nodes)
{
    ClusterSpec spec = SystemOf(system).cluster;
    spec.nodes = nodes;
    Fabric fabric(spec);
    Planner planner(fabric.GetCluster(), fabric.GetRouting());
    std::vector<GpuId> gpus;
    for (uint32_t gpu = 0; gpu < nodes * spec.node.gpus; gpu++)
    {
        gpus.emplace_back(gpu);
    }
    return planner.GetCommunicator(planner.AddCommunicator(gpus)).searchBandwidth;
}

TEST(SystemCatalog, NcclFindsWhatTheWiringsCarry)
{
    // NVLinks times NCCL's rate per link, in channels from its list of speeds; NICs times 12, 24 or
    // 48.
    EXPECT_DOUBLE_EQ(GraphBandwidth("dgx1-v100", 1), 120);       // 6 x 20
    EXPECT_DOUBLE_EQ(GraphBandwidth("dgx2-v100", 1), 120);       // 6 x 20
    EXPECT_DOUBLE_EQ(GraphBandwidth("polaris", 1), 240);         // 12 x 20
    EXPECT_DOUBLE_EQ(GraphBandwidth("alps-gh200", 1), 360);      // of 18 x 20.6
    EXPECT_DOUBLE_EQ(GraphBandwidth("gb200-nvl72", 1), 720);     // of 18 x 40.1
    EXPECT_DOUBLE_EQ(GraphBandwidth("dgx1-v100", 2), 48);        // 4 x 12
    EXPECT_DOUBLE_EQ(GraphBandwidth("polaris", 2), 48);          // 2 x 24
    EXPECT_DOUBLE_EQ(GraphBandwidth("alps-gh200", 2), 96);       // 4 x 24
    EXPECT_DOUBLE_EQ(GraphBandwidth("oci-a100", 2), 192);        // 16 x 12
    EXPECT_DOUBLE_EQ(GraphBandwidth("aws-p4d-24xlarge", 2), 48); // 4 x 12
    EXPECT_DOUBLE_EQ(GraphBandwidth("aws-p5-48xlarge", 2), 384); // 8 x 48
    EXPECT_DOUBLE_EQ(GraphBandwidth("juwels-booster", 2), 96);   // 4 x 24
    EXPECT_DOUBLE_EQ(GraphBandwidth("a100-pcie-hdr", 2), 24);
    EXPECT_DOUBLE_EQ(GraphBandwidth("a100-pcie-pair-cross", 1), 15); // of 16 between EPYCs
}

TEST(SystemCatalog, APageFromNothingIsASystem)
{
    const NodeSpec node = SystemOf(R"(
name: mine
node:
  gpu: a100-pcie-40g
  gpus: 3
  nvlink: {wiring: none}
  pcie:
    generation: 4
    lanes: 16
    maxPayload: 256
    latency: 200ns
    switches: [cpu1, pcie0]
    gpusOn: [cpu0, pcie1, {on: pcie0, generation: 4, lanes: 8, maxPayload: 256, latency: 200ns, source: slot}]
    source: test
  sockets: {count: 2, cpu: intel, model: Xeon, rate: 20GB/s, ncclRate: 10GB/s, latency: 100ns, source: test}
  nic:
    count: 2
    ports: 2
    on: [cpu0, pcie1]
    rate: 25Gbps
    transport: tcp
    mtu: 9000
    latency: 5us
    source: test
fabric: {kind: leaf-spine, leafRadix: 32, link: {latency: 1us}, source: test}
)")
                              .cluster.node;
    EXPECT_EQ(node.pcieSwitches, 2u);
    EXPECT_EQ(node.switchAttachments[1].parent, PcieParent::Switch);
    EXPECT_EQ(node.gpuAttachments[2].link->rawRate, PcieRawRate(4, 8));
    EXPECT_FALSE(node.gpuAttachments[1].link);
    EXPECT_EQ(node.nics, 4u);
    EXPECT_EQ(node.NicCards(), 2u);
    EXPECT_EQ(node.transport, NetTransport::Tcp);
    // RFC 791, 9293, 7323 and IEEE 802.3: 52 bytes of headers inside the MTU and 38 bytes around
    // it.
    EXPECT_DOUBLE_EQ(node.nic.framing, 8948.0 / 9038);
    EXPECT_EQ(node.interSocket.ncclRate, Rate::GBps(10));
    EXPECT_EQ(node.cpuModel, "Xeon");
}

TEST(SystemCatalog, AFileIsFoundFromAnotherFolderAndItsBasesBesideIt)
{
    const ScratchFolder folder;
    std::ofstream(folder / "near.yaml") << "base: hgx-h100\nname: near\nnode: {gpus: 4}\n";
    std::ofstream(folder / "far.yaml") << "base: near.yaml\nname: far\nnodes: 3\n";
    const ClusterSpec cluster = SystemOf(folder / "far.yaml").cluster;
    EXPECT_EQ(cluster.name, "far");
    EXPECT_EQ(cluster.nodes, 3u);
    EXPECT_EQ(cluster.node.gpus, 4u);
}

TEST(SystemCatalog, MistakesInANodeAreOneLocatedLine)
{
    EXPECT_EQ(SystemRefusal("{base: hgx-h100, node: {nic: {rate: 0Gbps}}}"),
              "sys.yaml:1:37: node.nic.rate: found '0Gbps', expected a rate above zero");
    EXPECT_EQ(SystemRefusal("{base: a100-pcie-pair, node: {pcie: {gpusOn: [cpu0, pcie3]}}}"),
              "sys.yaml:1:53: node.pcie.gpusOn.1: found 'pcie3', expected one of cpu0 to cpu1");
    EXPECT_EQ(SystemRefusal("{base: hgx-h100, node: {pcie: {gpusOn: [cpu0, cpu1]}}}"),
              "sys.yaml:1:40: node.pcie.gpusOn: found a list of 2, expected 8 attachments");
    EXPECT_EQ(SystemRefusal("{base: hgx-h100, node: {pcie: {switches: [cpu0, pcie1]}}}"),
              "sys.yaml:1:49: node.pcie.switches.1: found 'pcie1', expected one of cpu0 to cpu1 or "
              "pcie0");
    EXPECT_EQ(SystemRefusal("{base: dgx1-v100, node: {nvlink: {links: [[0, 1], [2, 2]]}}}"),
              "sys.yaml:1:55: node.nvlink.links.1.1: found '2' again, expected two GPUs");
    EXPECT_EQ(SystemRefusal("{base: dgx1-v100, node: {nvlink: {links: [[0, 1], [1, 0, 2]]}}}"),
              "sys.yaml:1:51: node.nvlink.links.1: found GPUs 1 and 0 again, expected one bundle a "
              "pair");
    EXPECT_EQ(SystemRefusal("{base: hgx-h100, node: {sockets: {perBoard: 2, count: 3}}}"),
              "sys.yaml:1:45: node.sockets.perBoard: found '2', expected a divisor of 3");
    EXPECT_NE(SystemRefusal("{base: hgx-h100, node: {nic: {transport: rocky}}}").find("roce"),
              std::string::npos);
}

} // namespace
} // namespace weir
