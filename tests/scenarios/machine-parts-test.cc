// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/machine-parts.h"

#include "collectives/nccl/node-costs.h"
#include "refusal.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/writers/write-system.h"
#include "scenarios/yaml/yaml-writer.h"
#include "scratch-folder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace weir
{
namespace
{

YamlNode
Name(const std::string& name)
{
    return YamlNode::ParseArgument(name, "NAME");
}

/** Expects each of @p figures to equal DefaultCosts, with its source. */
void
ExpectDefaults(const std::vector<CostFigure>& figures, double clockGhz, const NodeSpec& node)
{
    const auto defaults = DefaultCosts(node);
    for (const NodeCost& cost : CostsAt(figures, clockGhz, node.nic.rawRate))
    {
        const NodeCost& known = defaults[static_cast<std::size_t>(NodeCostKindOf(cost.name))];
        EXPECT_NEAR(cost.value, known.value, 1e-12 * known.value) << known.source;
        EXPECT_EQ(cost.source, known.source);
    }
}

// The build generates the table for programs without readers from the catalog's files. Both agree
// for all architectures, hosts, transports and port rates.
TEST(MachineParts, DefaultsAreTheCatalogs)
{
    const Catalog catalog;
    for (const uint32_t capability : {60U, 70U, 75U, 80U, 90U, 100U, 103U, 120U})
    {
        NodeSpec node;
        node.computeCapability = capability;
        const ArchitectureFigures architecture = ArchitectureOf(capability, catalog);
        ExpectDefaults(architecture.costs, architecture.clockGhz, node);
        for (const auto& [name, cpu] : HostCpuNames())
        {
            node.cpu = cpu;
            EXPECT_EQ(ReadHost(Name(name), catalog).vendor, cpu);
            ExpectDefaults(ReadHost(Name(name), catalog).costs, 1, node);
        }
        for (const auto& [name, kind] : TransportNames())
        {
            for (const double rate : {25.0, 50.0, 100.0})
            {
                node.transport = kind;
                node.nic.rawRate = Rate::GBps(rate);
                EXPECT_EQ(ReadTransport(Name(name), catalog).kind, kind);
                ExpectDefaults(ReadTransport(Name(name), catalog).costs, 1, node);
                EXPECT_TRUE(OwnCosts(node, catalog).empty());
            }
        }
    }
}

// A file unknown to the build would be readable but missing in programs without readers.
TEST(MachineParts, EveryFileIsShipped)
{
    const auto& shipped = ShippedCosts();
    std::size_t files = 0;
    for (const CatalogKind kind :
         {CatalogKind::Architectures, CatalogKind::Hosts, CatalogKind::Transports})
    {
        for (const CatalogEntry& entry : Catalog().List(kind))
        {
            EXPECT_NE(entry.title, "") << entry.path;
            const auto found = std::find_if(shipped.begin(), shipped.end(), [&](const auto& one) {
                return one.folder == ToString(kind) && one.name == entry.name;
            });
            ASSERT_NE(found, shipped.end()) << entry.path;
            const auto costs = YamlNode::Load(entry.path).Find("costs");
            EXPECT_EQ(found->figures.size(), costs ? costs->Keys().size() : 0) << entry.path;
            files++;
        }
    }
    EXPECT_EQ(files, shipped.size());
}

/** A catalog of Weir's files and those of docs/developer/extending.md. */
class MachinePartsWalk : public testing::Test
{
  protected:
    Catalog CatalogWith(const std::vector<std::pair<std::string, std::string>>& files)
    {
        for (const auto& [name, text] : files)
        {
            const std::filesystem::path path = m_folder / name;
            std::filesystem::create_directories(path.parent_path());
            std::ofstream(path) << text;
        }
        return Catalog({m_folder / "", std::string(WEIR_SOURCE_DIR) + "/scenarios"});
    }

    ScratchFolder m_folder;
};

// The walk of docs/developer/extending.md: an architecture, a host and a transport take a file
// each.
TEST_F(MachinePartsWalk, NewPartsAreOneFileEach)
{
    const Catalog catalog = CatalogWith({{"architectures/rubin.yaml", R"(
title: NVIDIA Rubin (made up)
base: blackwell
computeCapability: 107
nvlink: {rate: 100GB/s, headerFlits: 2, ncclRate: 80GB/s, measured: 0.9, source: made up}
costs:
  llStep: {value: 0.5us, clock: 1.98GHz, source: made up}
)"},
                                         {"gpus/r200.yaml", R"(
base: b200-sxm
name: r200
computeCapability: 107
)"},
                                         {"hosts/vera.yaml", R"(
title: NVIDIA Vera (made up)
base: arm
costs:
  proxyPost: {value: 0.8us, source: made up}
)"},
                                         {"transports/ultra-ethernet.yaml", R"(
title: Ultra Ethernet (made up)
base: roce
latency: {value: 500ns, source: made up}
measured: {value: 0.97, source: made up}
costs:
  messageFetch: {value: 1.5us, source: made up}
)"}});
    const SystemDescription system = ReadSystem(YamlNode::Parse(R"(
base: hgx-b200
node:
  gpu: r200
  sockets: {cpu: vera}
  nic: {transport: ultra-ethernet}
)",
                                                                "system.yaml"),
                                                catalog);
    const NodeSpec& node = system.cluster.node;
    const NodeCosts costs(node);
    EXPECT_EQ(costs.TimeOf(NodeCostKind::LlStep), Time::Microseconds(0.5));
    EXPECT_EQ(costs.TimeOf(NodeCostKind::NvlsSync), Time::Microseconds(10.1)); // of Blackwell
    EXPECT_EQ(costs.TimeOf(NodeCostKind::ProxyPost), Time::Microseconds(0.8));
    EXPECT_EQ(costs.TimeOf(NodeCostKind::ProxyPoll), Time::Microseconds(0.004)); // of Arm
    EXPECT_EQ(costs.TimeOf(NodeCostKind::MessageFetch), Time::Microseconds(1.5));
    EXPECT_EQ(node.cpu, HostCpu::Arm);
    EXPECT_EQ(node.transport, NetTransport::Roce);
    EXPECT_EQ(node.nic.latency, Time::Nanoseconds(500));
    // A written system contains the figures themselves and does not refer to the catalog.
    YamlWriter out;
    WriteSystem(out, system.cluster);
    EXPECT_NE(out.GetText().find("proxyPost"), std::string::npos);
    EXPECT_EQ(out.GetText().find("vera"), std::string::npos);
}

// A port that names its transport and no more has the transport's packets and latency.
TEST_F(MachinePartsWalk, PortsHaveTheirTransportsMtuAndLatency)
{
    const auto nicOf = [](const std::string& nic) {
        return ReadSystem(
                   YamlNode::Parse("base: a100-pcie-8\nnode: {nic: {" + nic + "}}", "s.yaml"),
                   Catalog())
            .cluster.node.nic;
    };
    for (const auto& [name, kind] : TransportNames())
    {
        const TransportFigures transport = ReadTransport(Name(name), Catalog());
        const LinkProfile nic = nicOf("transport: " + std::string(name));
        EXPECT_EQ(nic.latency, transport.latency) << name;
        EXPECT_EQ(nic.framing, TraitsOf(kind).framing(transport.mtu)) << name;
        EXPECT_NE(nic.source.find("; latency, not given: " + transport.latencySource),
                  std::string::npos);
        const LinkProfile given =
            nicOf("transport: " + std::string(name) + ", mtu: 1024, latency: 1us");
        EXPECT_EQ(given.latency, Time::Microseconds(1)) << name;
        EXPECT_EQ(given.framing, TraitsOf(kind).framing(1024)) << name;
        EXPECT_EQ(given.source.find("latency, not given"), std::string::npos);
    }
}

TEST_F(MachinePartsWalk, RefusesWithTheLocation)
{
    const auto refusal = [](const std::string& node) {
        return RefusalOf([&] {
            ReadSystem(YamlNode::Parse("base: hgx-h100\nnode: " + node, "s.yaml"), Catalog());
        });
    };
    EXPECT_EQ(refusal("{sockets: {cpu: intl}}"),
              "s.yaml:2:23: node.sockets.cpu: found the unknown host 'intl', expected a file or "
              "one of: amd, arm, intel, power (did you mean 'intel'?)");
    EXPECT_EQ(refusal("{nic: {transport: rocee}}"),
              "s.yaml:2:25: node.nic.transport: found the unknown transport 'rocee', expected a "
              "file or one of: efa, infiniband, roce, slingshot, tcp (did you mean 'roce'?)");
    EXPECT_EQ(RefusalOf([] {
                  ReadHost(
                      YamlNode::Parse(
                          "{vendor: amd, costs: {proxyPost: {value: 1us}}, sockets: {latency: "
                          "200ns, rates: [{family: 23, model: 49, rate: 16GB/s}], source: a test}, "
                          "pcie: {maxPayload: 256, measured: 0.9, latency: 150ns, source: a test}}",
                          "h.yaml"),
                      Catalog());
              }),
              "h.yaml:1:34: costs.proxyPost.source: found nothing, expected a value for 'source'");
}

} // namespace
} // namespace weir
