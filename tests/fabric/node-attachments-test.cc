// SPDX-License-Identifier: GPL-2.0-only
#include "box-spec.h"
#include "fabric/kinds/no-fabric.h"
#include "fabric/nodes/node-wiring.h"
#include "fabric/routing/router.h"
#include "fabric/topology/cluster.h"

#include "fabric/routing/routing-policies.h"
#include "network-figures.h"
#include "plain-routing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace weir
{
namespace
{

using Names = std::vector<std::string>;

constexpr uint8_t PCIE = 1 << static_cast<int>(LinkKind::Pcie);
constexpr uint8_t INSIDE = PCIE | 1 << static_cast<int>(LinkKind::InterSocket);

/** Names of the devices between the two ends of a path inside node 0. */
Names
Path(const Cluster& cluster, const std::string& from, const std::string& to)
{
    const Topology& topology = cluster.GetTopology();
    PlainRouter plain(topology, StaticRouting(), 0);
    Router& router = plain;
    Names names;
    for (const LinkId id : router.RouteOver(
             topology.FindDevice("node0/" + from), topology.FindDevice("node0/" + to), {}, INSIDE))
    {
        const std::string name = topology.GetDevice(topology.GetLink(id).to).name;
        names.push_back(name.substr(name.find('/') + 1));
    }
    names.pop_back();
    return names;
}

ClusterSpec
OneNode()
{
    return BoxSpec(1, NoFabric());
}

std::string
Refusal(const std::function<void(NodeSpec&)>& change)
{
    ClusterSpec spec = OneNode();
    change(spec.node);
    return RefusalOf(spec);
}

TEST(NodePlacesTest, DevicesHangWhereTheirPlacesSay)
{
    ClusterSpec spec = OneNode();
    spec.node.gpus = 3;
    spec.node.nics = 1;
    spec.node.pcieSwitches = 2;
    spec.node.switchAttachments = {{PcieParent::Socket, 1, {}}, {PcieParent::Switch, 0, {}}};
    spec.node.gpuAttachments = {
        {PcieParent::Switch, 1, {}}, {PcieParent::Socket, 0, {}}, {PcieParent::Switch, 0, {}}};
    spec.node.nicAttachments = {{PcieParent::Switch, 1, {}}};
    const Cluster cluster(spec);
    EXPECT_EQ(Path(cluster, "gpu0", "nic0"), Names{"pcie1"});
    EXPECT_EQ(Path(cluster, "gpu2", "nic0"), (Names{"pcie0", "pcie1"}));
    EXPECT_EQ(Path(cluster, "gpu1", "nic0"), (Names{"cpu0", "cpu1", "pcie0", "pcie1"}));
}

TEST(NodePlacesTest, ASlotOfItsOwnIsAsWideAsItSays)
{
    ClusterSpec spec = OneNode();
    LinkProfile narrow = spec.node.pcie;
    narrow.rawRate = spec.node.pcie.rawRate / 2;
    spec.node.gpuAttachments = AttachmentsOf(spec.node).gpus;
    spec.node.gpuAttachments[5].link = narrow;
    const Cluster cluster(spec);
    const auto slotRate = [&](uint32_t gpu) {
        for (const LinkId id : cluster.GetTopology().LinksFrom(cluster.GpuDevice(GpuId(gpu))))
        {
            const Link& link = cluster.GetTopology().GetLink(id);
            if (link.kind == LinkKind::Pcie)
            {
                return link.rate;
            }
        }
        return Rate();
    };
    EXPECT_DOUBLE_EQ(slotRate(4) / slotRate(5), 2);
}

TEST(NodePlacesTest, PortsOfACardShareItsSlot)
{
    // 4 cards with 2 ports: ports 2c and 2c + 1 reach their switch through card c.
    ClusterSpec spec = OneNode();
    spec.node.nics = 8;
    spec.node.portsPerNic = 2;
    const Cluster cluster(spec);
    EXPECT_EQ(Path(cluster, "gpu2", "nic2"), (Names{"pcie1", "card1"}));
    EXPECT_EQ(Path(cluster, "gpu2", "nic3"), (Names{"pcie1", "card1"}));
    EXPECT_FALSE(cluster.GetTopology().FindDevice("node0/card4").IsValid());
    // Each switch has two GPUs and one card of two ports: the preferred ports of the GPUs differ.
    EXPECT_EQ(cluster.NearestNics(2).front(), 2u);
    EXPECT_EQ(cluster.NearestNics(3).front(), 3u);
}

TEST(NodePlacesTest, GpusWithSeveralPortsStartAsFarApartAsTheyCan)
{
    // 8 cards of 2 ports on 4 switches: 4 ports for 2 GPUs, so the second GPU starts two ports
    // further.
    ClusterSpec spec = OneNode();
    spec.node.nics = 16;
    spec.node.portsPerNic = 2;
    const Cluster cluster(spec);
    EXPECT_EQ(cluster.NearestNics(0).front(), 0u);
    EXPECT_EQ(cluster.NearestNics(1).front(), 2u);
    EXPECT_EQ(cluster.NearestNics(7).front(), 14u);
}

TEST(NodePlacesTest, BothDirectionsThroughAHostBridgeShareOneLink)
{
    ClusterSpec spec = OneNode();
    spec.node.gpus = 1;
    spec.node.nics = 1;
    spec.node.pcieSwitches = 0;
    spec.node.nicHostBridge = PlainProfile("bridge", Rate::GBps(29), Time());
    const Cluster cluster(spec);
    const Topology& topology = cluster.GetTopology();
    PlainRouter plain(topology, StaticRouting(), 0);
    Router& router = plain;
    const DeviceId gpu = cluster.GpuDevice(GpuId(0));
    const DeviceId nic = cluster.NicDevice(0, 0);
    const auto out = router.RouteOver(gpu, nic, {}, PCIE);
    const auto in = router.RouteOver(nic, gpu, {}, PCIE);
    std::vector<LinkId> shared;
    for (const LinkId id : out)
    {
        if (std::find(in.begin(), in.end(), id) != in.end())
        {
            shared.push_back(id);
        }
    }
    ASSERT_EQ(shared.size(), 1u);
    EXPECT_DOUBLE_EQ(topology.GetLink(shared.front()).rate.ToGBps(), 29);
    Time latency;
    for (const LinkId id : out)
    {
        latency += topology.GetLink(id).latency;
    }
    EXPECT_EQ(latency, spec.node.pcie.latency * 2); // the bridge adds no latency
}

TEST(NodePlacesTest, SocketsOfDifferentBoardsAreNotJoined)
{
    ClusterSpec spec = OneNode();
    spec.node.sockets = 4;
    spec.node.socketsPerBoard = 2;
    const Cluster cluster(spec);
    const Topology& topology = cluster.GetTopology();
    PlainRouter plain(topology, StaticRouting(), 0);
    Router& router = plain;
    const auto reaches = [&](const char* a, const char* b) {
        return router.IsReachable(topology.FindDevice(std::string("node0/") + a),
                                  topology.FindDevice(std::string("node0/") + b),
                                  INSIDE);
    };
    EXPECT_TRUE(reaches("cpu0", "cpu1"));
    EXPECT_TRUE(reaches("gpu0", "gpu3"));
    EXPECT_FALSE(reaches("gpu0", "gpu4"));
    // NICs of other boards come last, in order.
    EXPECT_EQ(cluster.NearestNics(6), (std::vector<uint32_t>{6, 7, 4, 5, 0, 1, 2, 3}));
}

TEST(NodePlacesTest, PlacesThatDoNotExistAreRefusedByField)
{
    EXPECT_EQ(Refusal([](NodeSpec&) {}), "");
    EXPECT_EQ(Refusal([](NodeSpec& n) {
                  n.gpuAttachments = {{PcieParent::Socket, 0, {}}};
              }),
              "node.gpuAttachments: 1 attachments, expected 8");
    EXPECT_EQ(Refusal([](NodeSpec& n) {
                  n.nicAttachments = AttachmentsOf(n).cards;
                  n.nicAttachments[3].index = 4;
              }),
              "node.nicAttachments[3]: attachment to PCIe switch 4, expected an index below 4");
    EXPECT_EQ(Refusal([](NodeSpec& n) {
                  n.switchAttachments.assign(4, {PcieParent::Socket, 0, {}});
                  n.switchAttachments[1] = {PcieParent::Switch, 1, {}};
              }),
              "node.switchAttachments[1]: attachment to PCIe switch 1, expected an index below 1 "
              "(switches before it)");
    EXPECT_EQ(Refusal([](NodeSpec& n) { n.portsPerNic = 3; }),
              "node.portsPerNic: 3, expected a divisor of node.nics, 8");
    EXPECT_EQ(Refusal([](NodeSpec& n) { n.socketsPerBoard = 3; }),
              "node.socketsPerBoard: 3, expected a divisor of node.sockets, 2");
}

} // namespace
} // namespace weir
