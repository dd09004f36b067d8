// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/dragonfly.h"
#include "fabric/kinds/no-fabric.h"
#include "fabric/nodes/node-wiring.h"
#include "fabric/topology/cluster.h"
#include "refusal.h"
#include "scenarios/topology/convert-topology.h"
#include "scenarios/topology/nccl-xml.h"
#include "scenarios/topology/show-topology.h"
#include "scenarios/topology/topology-style.h"
#include "scratch-folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <vector>

namespace weir
{
namespace
{

/**
 * "from->to rate latency" of every link of one wired node: with @p payload payload rates and
 * latencies, otherwise raw rates and no latencies.
 */
std::vector<std::string>
LinksOf(const NodeSpec& node, bool payload)
{
    ClusterSpec spec;
    spec.node = node;
    spec.fabric.kind = NoFabric();
    if (!payload)
    {
        spec.node.nicHostBridge.reset(); // unknown to NCCL's format
        const auto bare = [](LinkProfile& link) {
            link.encoding = link.framing = link.measured = 1;
            link.latency = Time();
            link.ncclRate = Rate();
        };
        bare(spec.node.nvlink);
        bare(spec.node.pcie);
        bare(spec.node.pcieUplink);
        bare(spec.node.interSocket);
        spec.node.interSocket.rawRate = Rate::GBps(1); // known from the CPU model only
        for (auto* link : {&spec.node.gpuLink, &spec.node.nicPcie})
        {
            if (*link)
            {
                bare(**link);
            }
        }
        for (auto* attachments :
             {&spec.node.gpuAttachments, &spec.node.nicAttachments, &spec.node.switchAttachments})
        {
            for (PcieAttachment& attachment : *attachments)
            {
                if (attachment.link)
                {
                    bare(*attachment.link);
                }
            }
        }
    }
    const Cluster cluster(spec);
    const Topology& topology = cluster.GetTopology();
    std::vector<std::string> links;
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        const Link& link = topology.GetLink(LinkId(i));
        links.push_back(topology.LinkName(LinkId(i)) + " " + std::to_string(link.rate.ToGBps()) +
                        " " + std::to_string(link.latency.ToMicroseconds()));
    }
    std::sort(links.begin(), links.end());
    return links;
}

/** @p cluster, written to @p path and read back. */
ClusterSpec
Through(const ClusterSpec& cluster, const std::string& path, const std::string& base = "")
{
    std::ofstream(path) << WriteTopology(cluster, FormatOf(path));
    return ReadTopology(path, base, Catalog());
}

const char* const SYSTEMS[] = {"a100-pcie-8",
                               "a100-pcie-hdr",
                               "a100-pcie-pair-cross",
                               "alps-gh200",
                               "dgx1-v100",
                               "dgx2-v100",
                               "gb200-nvl72",
                               "hgx-b300",
                               "hgx-h100",
                               "oci-a100",
                               "polaris"};

TEST(TopologyFiles, NcclXmlKeepsWiringAndRawRates)
{
    const ScratchFolder folder;
    for (const std::string system : SYSTEMS)
    {
        const ClusterSpec there = ReadTopology(system, "", Catalog());
        ClusterSpec back = Through(there, folder / (system + ".xml"));
        if (there.node.socketsPerBoard > 0)
        {
            back.node.socketsPerBoard = there.node.socketsPerBoard; // boards are hosts to NCCL
        }
        EXPECT_EQ(LinksOf(back.node, false), LinksOf(there.node, false)) << system;
        EXPECT_EQ(back.node.gpuModel, there.node.gpuModel) << system;
        EXPECT_EQ(back.node.cpu, there.node.cpu) << system;
        EXPECT_EQ(back.node.nics, there.node.nics) << system;
        if (there.node.nics > 0)
        {
            EXPECT_EQ(back.node.nic.rawRate, there.node.nic.rawRate) << system;
        }
    }
}

TEST(TopologyFiles, NcclXmlNamesTheGenerationNotOnlyTheRate)
{
    // PCIe 5 x8 has the rate of 4 x16, and 5 x16 that of 4 x32.
    ClusterSpec cluster = ReadTopology("hgx-h100", "", Catalog());
    const auto has = [&](const char* words) {
        return WriteTopology(cluster, TopologyFormat::NcclXml).find(words) != std::string::npos;
    };
    EXPECT_TRUE(has("link_speed=\"32.0 GT/s PCIe\" link_width=\"16\""));
    EXPECT_FALSE(has("16.0 GT/s"));
    cluster.node.pcie.rawRate = PcieRawRate(5, 8);
    cluster.node.pcie.name = "pcie5-x8";
    EXPECT_TRUE(has("link_speed=\"32.0 GT/s PCIe\" link_width=\"8\""));
    cluster.node.pcie.rawRate = Rate::GBps(53);
    EXPECT_NE(RefusalOf([&] { has(""); }).find("no PCIe generation"), std::string::npos);
}

TEST(TopologyFiles, WithABaseAllRatesComeBackFromNcclXml)
{
    const ScratchFolder folder;
    for (const std::string system : SYSTEMS)
    {
        const ClusterSpec there = ReadTopology(system, "", Catalog());
        const ClusterSpec back = Through(there, folder / (system + ".xml"), system);
        EXPECT_EQ(LinksOf(back.node, true), LinksOf(there.node, true)) << system;
    }
}

TEST(TopologyFiles, YamlAndGraphMlKeepEverything)
{
    const ScratchFolder folder;
    for (const std::string system : SYSTEMS)
    {
        const ClusterSpec there = ReadTopology(system, "", Catalog());
        for (const std::string ending : {".yaml", ".graphml"})
        {
            const ClusterSpec back = Through(there, folder / (system + ending));
            EXPECT_EQ(LinksOf(back.node, true), LinksOf(there.node, true)) << system << ending;
            EXPECT_EQ(back.node.gpuModel, there.node.gpuModel) << system;
            EXPECT_EQ(back.node.nic.PayloadRate().ToGBps(), there.node.nic.PayloadRate().ToGBps())
                << system;
        }
    }
}

const char* const PAIR = R"(<nvlink target="0000:07:00.0" count="2" tclass="0x030200"/>)";

/**
 * A complete dump of two V100s on a switch, with link speeds in the notation of old and of new
 * kernels.
 */
std::string
Dump(const std::string& links = PAIR, const std::string& speed = R"(speed="100000")")
{
    return R"(<system version="1">
  <cpu numaid="0" affinity="0000ffff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="79">
    <pci busid="0000:05:00.0" class="0x060400" link_speed="8 GT/s" link_width="16">
      <pci busid="0000:06:00.0" class="0x030200" link_speed="8.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="70" rank="0" gdr="1">
          )" +
           links + R"(
        </gpu>
      </pci>
      <pci busid="0000:07:00.0" class="0x030200" link_speed="" link_width="">
        <gpu dev="1" sm="70" rank="1" gdr="1">
          <nvlink target="0000:06:00.0" count="2" tclass="0x030200"/>
        </gpu>
      </pci>
      <pci busid="0000:84:00.0" class="0x020700" link_speed="8.0 GT/s PCIe" link_width="8">
        <nic>
          <net name="mlx5_0" dev="0" )" +
           speed + R"( port="1" guid="0x1" maxconn="131072" gdr="1"/>
        </nic>
      </pci>
    </pci>
  </cpu>
</system>
)";
}

/** Refusal of @p text as dump.xml without the folder, or "". */
std::string
XmlRefusal(const std::string& text)
{
    const ScratchFolder folder;
    const std::string path = folder / "dump.xml";
    std::ofstream(path) << text;
    const std::string message = RefusalOf([&] { ReadNcclXml(path); });
    const std::size_t name = message.find("dump.xml");
    return name == std::string::npos ? message : message.substr(name);
}

TEST(TopologyFiles, AFullDumpIsRead)
{
    const ScratchFolder folder;
    const std::string path = folder / "dump.xml";
    std::ofstream(path) << Dump();
    const NodeSpec node = ReadNcclXml(path);
    EXPECT_EQ(node.gpus, 2u);
    EXPECT_EQ(node.computeCapability, 70u);
    EXPECT_EQ(node.wiring, NvLinkWiring::Mesh);
    ASSERT_EQ(node.meshLinks.size(), 1u);
    EXPECT_EQ(node.meshLinks[0].links, 2u);
    EXPECT_NEAR(node.nvlink.PayloadRate().ToGBps(), 20, 1e-9); // NCCL's rate of an NVLink 2
    EXPECT_EQ(node.pcie.rawRate, PcieRawRate(3, 16));
    ASSERT_TRUE(node.nicPcie);
    EXPECT_EQ(node.nicPcie->rawRate, PcieRawRate(3, 8));
    EXPECT_EQ(node.nic.rawRate, Rate::Gbps(100));
    EXPECT_EQ(node.sockets, 1u);
    EXPECT_DOUBLE_EQ(node.interSocket.rawRate.ToGBps(), 6); // Broadwell
    EXPECT_EQ(node.pcieSwitches, 1u);
}

// A POWER host has an architecture and no vendor; NCCL assumes 32 GB/s between two POWER9 (topo.h).
TEST(TopologyFiles, APowerHostIsReadAndWritten)
{
    const ScratchFolder folder;
    const std::string path = folder / "dump.xml";
    std::string text = Dump();
    const std::string x86 = R"(arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="79")";
    text.replace(text.find(x86), x86.size(), R"(arch="ppc64")");
    std::ofstream(path) << text;
    const NodeSpec node = ReadNcclXml(path);
    EXPECT_EQ(node.cpu, HostCpu::Power);
    EXPECT_DOUBLE_EQ(node.interSocket.rawRate.ToGBps(), 32);
    ClusterSpec cluster;
    cluster.node = node;
    const std::string written = WriteNcclXml(cluster);
    EXPECT_NE(written.find("arch=\"ppc64\""), std::string::npos);
    EXPECT_EQ(written.find("vendor=\"GenuineIntel\""), std::string::npos);
}

// A POWER9 with two V100s: three NVLinks of 25.78 GB/s between them, and from each to the CPU. NCCL
// takes them as 20 GB/s each (topo.h) and sends over them, not over PCIe, to the CPU.
TEST(TopologyFiles, NvLinksToTheCpuReplaceAGpusSlot)
{
    const auto gpu = [](int dev, const char* own, const char* other) {
        return "<pci busid='" + std::string(own) +
               "' class='0x030200' link_speed='8.0 GT/s PCIe' link_width='2'><gpu dev='" +
               std::to_string(dev) + "' sm='70'><nvlink target='" + other +
               "' count='3' tclass='0x030200'/>"
               "<nvlink target='0006:00:00.0' count='2' tclass='0x068001'/>"
               "<nvlink target='0006:00:00.1' count='1' tclass='0x068001'/></gpu></pci>";
    };
    const std::string nic =
        "<pci busid='0030:01:00.0' class='0x020700' link_speed='16 GT/s' "
        "link_width='8'><nic><net name='mlx5_0' dev='0' speed='100000'/></nic>"
        "</pci>";
    const auto dump = [&](const std::string& onSwitch, const std::string& onCpu) {
        return "<system version='1'><cpu numaid='0' arch='ppc64'>"
               "<pci busid='0004:02:00.0' class='0x060400' link_speed='8 GT/s' link_width='8'>" +
               gpu(0, "0004:04:00.0", "0004:05:00.0") + gpu(1, "0004:05:00.0", "0004:04:00.0") +
               onSwitch + "</pci>" + onCpu + "</cpu></system>";
    };
    const ScratchFolder folder;
    std::ofstream(folder / "dump.xml") << dump("", nic);
    ClusterSpec cluster;
    cluster.node = ReadNcclXml(folder / "dump.xml");
    std::ofstream(folder / "written.xml") << WriteNcclXml(cluster);
    for (const NodeSpec& node : {cluster.node, ReadNcclXml(folder / "written.xml")})
    {
        EXPECT_EQ(node.wiring, NvLinkWiring::Mesh);
        ASSERT_EQ(node.meshLinks.size(), 1U);
        EXPECT_EQ(node.meshLinks[0].links, 3U);
        ASSERT_TRUE(node.gpuLink);
        EXPECT_EQ(node.gpuLink->rawRate, Rate::GBps(3 * 25.78125));
        EXPECT_EQ(node.gpuLink->ncclRate, Rate::GBps(3 * 20));
        for (const PcieAttachment& gpu : AttachmentsOf(node).gpus)
        {
            EXPECT_EQ(gpu.parent, PcieParent::Socket);
            EXPECT_EQ(gpu.index, 0U);
            EXPECT_EQ(gpu.link->rawRate, Rate::GBps(3 * 25.78125));
        }
    }
    EXPECT_NE(ScratchFolder::Read(folder / "written.xml").find("count=\"3\" tclass=\"0x068001\""),
              std::string::npos);
    // NCCL would reach this NIC over the switch.
    const std::string refusal = XmlRefusal(dump(nic, ""));
    EXPECT_NE(refusal.find("pci: found a NIC on the PCIe switch of a GPU with NVLinks to its CPU, "
                           "expected it on the CPU"),
              std::string::npos)
        << refusal;
}

TEST(TopologyFiles, ATemplateTakesItsGpusAndPortsFromTheBase)
{
    const ScratchFolder folder;
    const std::string path = folder / "template.xml";
    std::ofstream out(path);
    out << "<system version=\"1\">\n";
    for (int i = 0; i < 4; i++)
    {
        const std::string n = std::to_string(i);
        out << "<cpu numaid=\"" << n
            << "\" arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"23\" modelid=\"49\">"
            << "<pci busid=\"ffff:ff:0" << n
            << ".0\" class=\"0x060400\" link_speed=\"16 GT/s\" link_width=\"16\">";
        for (const char* part : {"1", "2"})
        {
            out << "<pci busid=\"000" << n << ":0" << part
                << ":00.0\" class=\"0x030200\" link_speed=\"16 GT/s\" link_width=\"16\"/>"
                << "<pci busid=\"010" << n << ":0" << part
                << ":00.0\" class=\"0x020700\" link_speed=\"16 GT/s\" link_width=\"16\"/>";
        }
        out << "</pci></cpu>\n";
    }
    out << "</system>\n";
    out.close();
    const ClusterSpec cluster = ReadTopology(path, "hgx-a100", Catalog());
    EXPECT_EQ(cluster.node.gpus, 8u);
    EXPECT_EQ(cluster.node.nics, 8u);
    EXPECT_EQ(cluster.node.sockets, 4u);
    EXPECT_EQ(cluster.node.nvlinksPerGpu, 12u);
    EXPECT_EQ(cluster.node.nic.rawRate, Rate::Gbps(200));
    EXPECT_TRUE(cluster.fabric.kind.Is<RailOptimized>());
    const std::string refusal = RefusalOf([&] { ReadTopology(path, "", Catalog()); });
    EXPECT_NE(refusal.find("template.xml:2:"), std::string::npos) << refusal;
    EXPECT_NE(refusal.find("found a GPU by its class only"), std::string::npos) << refusal;
}

TEST(TopologyFiles, NcclXmlIsCompletedFromTheGivenCatalog)
{
    const ScratchFolder folder;
    const std::string path = folder / "dump.xml";
    std::ofstream(path) << WriteTopology(ReadTopology("hgx-h100", "", Catalog()),
                                         TopologyFormat::NcclXml);
    const Catalog empty({folder / "data"});
    const std::string refusal = RefusalOf([&] { ReadTopology(path, "", empty); });
    EXPECT_NE(refusal.find("found the unknown host 'intel'"), std::string::npos) << refusal;
}

TEST(TopologyFiles, MistakesInNcclXmlAreOneLocatedLine)
{
    EXPECT_EQ(XmlRefusal(Dump()), "");
    EXPECT_EQ(XmlRefusal(Dump(R"(<nvlink target="0000:99:00.0" count="2" tclass="0x030200"/>)")),
              "dump.xml:6:11: nvlink target: found '0000:99:00.0', which no GPU of the file has, "
              "expected the busid of a GPU, or tclass 0x068000 for an NVSwitch");
    EXPECT_EQ(XmlRefusal(Dump(R"(<nvlink target="0000:07:00.0" count="1" tclass="0x030200"/>)")),
              "dump.xml:5:9: gpu: found 1 NVLinks to GPU 1, which has 2 in return, expected the "
              "same number");
    EXPECT_EQ(XmlRefusal(Dump(R"(<nvlink count="2"/>)")),
              "dump.xml:6:11: nvlink target: found no such attribute, expected one");
    const auto start = [](const std::string& text) { return text.substr(0, text.find(", ")); };
    EXPECT_EQ(start(XmlRefusal(Dump(PAIR, R"(speed="0")"))),
              "dump.xml:16:11: net speed: found '0'");
    EXPECT_EQ(start(XmlRefusal(Dump(PAIR, ""))),
              "dump.xml:16:11: net speed: found no such attribute");
    EXPECT_EQ(XmlRefusal("<topology/>"),
              "dump.xml:1:1: found the element 'topology', expected 'system'");
    EXPECT_EQ(XmlRefusal("<system><cpu"),
              "dump.xml:1:12: found 'Error parsing start element tag', "
              "expected XML");
    EXPECT_EQ(XmlRefusal("<system version=\"1\"/>"),
              "dump.xml:1:1: system: found no cpu elements, expected at least one");
}

TEST(TopologyFiles, AnXmlFileIsASystem)
{
    const ScratchFolder folder;
    std::ofstream(folder / "dump.xml") << Dump();
    const ClusterSpec fromXml = ReadTopology(folder / "dump.xml", "", Catalog());
    EXPECT_EQ(fromXml.node.gpuModel, "v100-sxm-32g");
    // The file may also give the wiring of a system that YAML describes further.
    std::ofstream(folder / "mine.yaml")
        << "base: dgx1-v100\nname: mine\ntopology: dump.xml\nnodes: 2\n";
    const ClusterSpec cluster = ReadTopology(folder / "mine.yaml", "", Catalog());
    EXPECT_EQ(cluster.node.gpus, 2u);
    EXPECT_EQ(cluster.node.nics, 1u);
    EXPECT_EQ(cluster.node.nic.latency, Time::Nanoseconds(600)); // of the base
    EXPECT_NO_THROW(Cluster{cluster});
}

TEST(TopologyFiles, ADrawingHasEveryDeviceOfTheNodeAndEveryRate)
{
    ClusterSpec cluster = ReadTopology("dgx1-v100", "", Catalog());
    cluster.nodes = 2;
    const std::string svg = DrawTopology(cluster);
    for (const char* word : {">gpu7</text>",
                             ">nic3</text>",
                             ">pcie3</text>",
                             ">cpu1</text>",
                             ">leaf3</text>",
                             "8 x nvlink, nvlink: 46.1 GB/s",
                             "8 x nvlink, nvlink: 23.1 GB/s",
                             ">gpu0 (6)</text>"})
    {
        EXPECT_NE(svg.find(word), std::string::npos) << word;
    }
}

// Twelve groups, one of which has both nodes: the first few are drawn, the others counted.
TEST(TopologyFiles, GroupsWithoutNodesAreCountedNotDrawn)
{
    ClusterSpec cluster = ReadTopology("perlmutter", "", Catalog());
    cluster.nodes = 2;
    cluster.fabric.kind.As<Dragonfly>().groups = 12;
    const std::string svg = DrawTopology(cluster);
    EXPECT_NE(svg.find(">group2</text>"), std::string::npos);
    EXPECT_EQ(svg.find(">group3</text>"), std::string::npos);
    EXPECT_NE(svg.find(">9 more groups, without nodes</text>"), std::string::npos);
    EXPECT_NE(svg.find("links of node0 and of the whole network"), std::string::npos);
}

// Two nodes of eight NICs, whose hosts are joined by a switch: 16 links of NICs and two of hosts.
TEST(TopologyFiles, HostsThatAreNodesAreDrawnWithTheirLinks)
{
    const ScratchFolder folder;
    std::ofstream(folder / "net.yaml")
        << "{title: t, source: s, hosts: 2, switches: [hub], rate: 400Gbps, latency: 1us, links: "
           "[[host0, hub], [host1, hub]]}";
    const std::string path = folder / "mine.yaml";
    std::ofstream(path) << "{base: hgx-h100, nodes: 2, fabric: {kind: graph, hosts: nodes, file: "
                        << folder / "net.yaml"
                        << "}}";
    const std::string svg = DrawTopology(ReadTopology(path, "", Catalog()));
    for (const char* word : {">hub</text>", ">host0</text>", ">host1</text>"})
    {
        EXPECT_NE(svg.find(word), std::string::npos) << word;
    }
    const std::string line = std::string("stroke=\"") + ColorOf(LinkKind::Network);
    std::size_t lines = 0;
    for (std::size_t at = svg.find(line); at != std::string::npos; at = svg.find(line, at + 1))
    {
        lines++;
    }
    EXPECT_EQ(lines, 2U * 8 + 2 + 2); // two in the legend
}

TEST(TopologyFiles, ASlowSlotIsLabelledInTheDrawing)
{
    ClusterSpec cluster = ReadTopology("hgx-h100", "", Catalog());
    EXPECT_EQ(DrawTopology(cluster).find("#b00020"), std::string::npos);
    cluster.node.gpuAttachments = ReadTopology("hgx-h100", "", Catalog()).node.gpuAttachments;
    for (uint32_t gpu = 0; gpu < 8; gpu++)
    {
        cluster.node.gpuAttachments.push_back({PcieParent::Switch, gpu / 2, std::nullopt});
    }
    LinkProfile slow = cluster.node.pcie;
    slow.rawRate = PcieRawRate(5, 4);
    cluster.node.gpuAttachments[3].link = slow;
    EXPECT_NE(DrawTopology(cluster).find("#b00020"), std::string::npos);
}

TEST(TopologyFiles, TheDescriptionHasThePathsOfNvidiaSmi)
{
    const std::string text = DescribeTopology(ReadTopology("dgx1-v100", "", Catalog()));
    EXPECT_NE(text.find("gpu0 (6):  gpu1 x1  gpu2 x1  gpu3 x2  gpu4 x2"), std::string::npos)
        << text;
    // GPU0 and GPU5 have no NVLink and are on different sockets (SYS); the NIC of GPU0 is on its
    // switch (PIX).
    EXPECT_NE(text.find("SYS"), std::string::npos);
    EXPECT_NE(text.find("PIX"), std::string::npos);
}

} // namespace
} // namespace weir
