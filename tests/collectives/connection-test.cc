// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/channels/connection.h"

#include "fabric/fabric.h"
#include "fabric/kinds/clos-fabric.h"
#include "reference-machines.h"

#include <gtest/gtest.h>

#include <set>

namespace weir
{
namespace
{

class ConnectionTest : public testing::Test
{
  protected:
    explicit ConnectionTest(ClusterSpec spec = H100Boxes(2))
        : m_fabric(std::move(spec))
    {
    }

    uint32_t Count(RouteId route, LinkKind kind)
    {
        uint32_t count = 0;
        for (const auto& each : m_fabric.GetRouting().Links(route))
        {
            count += m_fabric.GetCluster().GetTopology().GetLink(each.link).kind == kind;
        }
        return count;
    }

    /** As Connector::PortsForSendRecv, of a group of the cluster's GPUs but @p absent. */
    NetworkPorts Ports(uint32_t from,
                       uint32_t to,
                       const std::set<uint32_t>& absent = {},
                       const NicRules& rules = {})
    {
        Communicator group;
        for (uint32_t gpu = 0; gpu < m_fabric.GetCluster().GpuCount(); ++gpu)
        {
            group.members.push_back(absent.count(gpu) == 0);
        }
        Connector connector(
            m_fabric.GetCluster(), m_fabric.GetRouting(), P2pLevel::System, {}, rules);
        return connector.PortsForSendRecv(group, GpuId(from), GpuId(to), 0);
    }

    Fabric m_fabric;
    Connector m_connector{m_fabric.GetCluster(), m_fabric.GetRouting()};
};

/** The same over the machine of a function. */
template <ClusterSpec (*MACHINE)()>
class ConnectionTestOf : public ConnectionTest
{
  protected:
    ConnectionTestOf()
        : ConnectionTest(MACHINE())
    {
    }
};

TEST_F(ConnectionTest, NvLinkInsideANodeIsTwoHopsOverTheSwitch)
{
    const auto connection = m_connector.InsideNode(GpuId(0), GpuId(5));
    EXPECT_EQ(connection.kind, ConnectionKind::NvLink);
    EXPECT_EQ(Count(connection.route, LinkKind::NvLink), 2U);
    EXPECT_EQ(m_connector.InsideNode(GpuId(0), GpuId(5)).route, connection.route);
    EXPECT_NE(m_connector.InsideNode(GpuId(5), GpuId(0)).route, connection.route);
}

// PXN: the receiver's rail decides. GPU 0 sends to GPU 5 of its own node, which owns port 5.
TEST_F(ConnectionTest, SendRecvLeavesByTheReceiversRailOverNvLink)
{
    const auto ports = Ports(0, 13);
    EXPECT_EQ(ports.inNic, 5U);
    EXPECT_EQ(ports.outNic, 5U);
    EXPECT_EQ(ports.proxy, GpuId(5));
    const auto connection = m_connector.BetweenNodes(GpuId(0), GpuId(13), ports, 0);
    EXPECT_EQ(connection.kind, ConnectionKind::Network);
    EXPECT_EQ(Count(connection.route, LinkKind::NvLink), 2U);
    EXPECT_EQ(Count(connection.route, LinkKind::Pcie), 4U);
    EXPECT_EQ(Count(connection.route, LinkKind::Network), 2U);
}

TEST_F(ConnectionTest, OnTheSameRailNoProxyIsNeeded)
{
    const auto ports = Ports(5, 13);
    EXPECT_EQ(ports.proxy, GpuId(5));
    const auto connection = m_connector.BetweenNodes(GpuId(5), GpuId(13), ports, 0);
    EXPECT_EQ(Count(connection.route, LinkKind::NvLink), 0U);
}

// NCCL's topology has the communicator's GPUs only: without GPU 5, or without PXN, GPU 0 sends
// through its own NIC, and the data changes rails in the network; with NCCL_CROSS_NIC=0 it stays on
// the rail.
TEST_F(ConnectionTest, OnlyGpusOfTheGroupRelay)
{
    NicRules none;
    none.pxn.reset();
    for (const auto& ports : {Ports(0, 13, {5}), Ports(0, 13, {}, none)})
    {
        EXPECT_EQ(ports.outNic, 0U);
        EXPECT_EQ(ports.inNic, 5U);
        EXPECT_EQ(ports.proxy, GpuId(0));
    }
    EXPECT_EQ(Ports(0, 13, {4, 6, 7}).proxy, GpuId(5));
    none.crossNic = CrossNic::Never;
    EXPECT_EQ(Ports(0, 13, {}, none).outNic, 5U);
    EXPECT_EQ(Ports(0, 13, {}, none).proxy, GpuId(0));
}

/** As above; two GPUs and a NIC under each PCIe switch. */
ClusterSpec
SharedNicBoxes()
{
    ClusterSpec spec = H100Boxes(2);
    spec.node.nics = 4;
    return spec;
}

using SharedNicConnectionTest = ConnectionTestOf<SharedNicBoxes>;

// The first GPU of the group that owns the port relays (ncclTopoGetLocalGpu), also for one that is
// as near.
TEST_F(SharedNicConnectionTest, TheFirstGpuOfANicRelays)
{
    EXPECT_EQ(Ports(3, 9).proxy, GpuId(0));
    EXPECT_EQ(Ports(1, 9).proxy, GpuId(0));
    EXPECT_EQ(Ports(3, 9, {0}).proxy, GpuId(1));
}

// Two GPUs share two NICs; one of them alone in the group uses both in turn (ncclTopoGetLocalNet).
TEST_F(ConnectionTest, ANicOfAnAbsentGpuIsUsed)
{
    Communicator group;
    group.members.assign(16, true);
    const auto nics = [&] {
        const Connector::Ports ports = m_connector.PortsOf(group, GpuId(3));
        return std::vector<uint32_t>{ports.OfChannel(0), ports.OfChannel(1)};
    };
    EXPECT_EQ(nics(), (std::vector<uint32_t>{3, 3}));
    group.members[2] = false;
    EXPECT_EQ(nics(), (std::vector<uint32_t>{3, 2}));
}

/** As above, on two boards: hosts that share NVLink. */
ClusterSpec
BoardsBoxes()
{
    ClusterSpec spec = H100Boxes(2);
    spec.node.socketsPerBoard = 1;
    return spec;
}

using BoardsConnectionTest = ConnectionTestOf<BoardsBoxes>;

// ncclTopoDevToRank considers GPUs of the own host: GPU 5 sends to GPU 0 of the other node, number
// 0 on its board, through number 0 on its own board, GPU 4.
TEST_F(BoardsConnectionTest, RelaysAreOnTheSendersBoard)
{
    const auto ports = Ports(5, 8);
    EXPECT_EQ(ports.proxy, GpuId(4));
    EXPECT_EQ(ports.outNic, 4U);
    EXPECT_EQ(ports.inNic, 0U);
}

/** Three GPUs on one board and two on the other, or one GPU on one of two boards. */
TEST(BoardsOfUnequalGpus, SendThroughTheirOwnPorts)
{
    for (const uint32_t gpus : {1U, 5U})
    {
        ClusterSpec spec = H100Boxes(2);
        spec.node.gpus = gpus;
        spec.node.nics = gpus;
        spec.node.pcieSwitches = 0;
        spec.node.socketsPerBoard = 1;
        Fabric fabric(spec);
        Connector connector(fabric.GetCluster(), fabric.GetRouting());
        Communicator group;
        group.members.assign(std::size_t{2} * gpus, true);
        for (uint32_t from = 0; from < gpus; ++from)
        {
            for (uint32_t to = 0; to < gpus; ++to)
            {
                const auto ports =
                    connector.PortsForSendRecv(group, GpuId(gpus + from), GpuId(to), 0);
                EXPECT_EQ(ports.proxy, GpuId(gpus + from));
                const auto& own = connector.NicsOf(GpuId(from));
                EXPECT_NE(std::find(own.begin(), own.end(), ports.outNic), own.end());
            }
        }
    }
}

/** NICs behind the root complexes, without PCIe switches. */
ClusterSpec
HostNicBoxes()
{
    ClusterSpec spec = H100Boxes(2);
    spec.node.pcieSwitches = 0;
    return spec;
}

using HostNicConnectionTest = ConnectionTestOf<HostNicBoxes>;

// PXN needs a path without the CPU (PXB) or over a chip-to-chip link (P2C).
TEST_F(HostNicConnectionTest, NoGpuRelaysThroughTheHost)
{
    NicRules rules;
    EXPECT_EQ(Ports(0, 13, {}, rules).proxy, GpuId(0));
    rules.pxn = NicReach::Host;
    EXPECT_NE(Ports(0, 13, {}, rules).proxy, GpuId(0));
}

/** Two boards of four GPUs, which share NVLink but not PCIe; the only NIC is on the first. */
ClusterSpec
OneNicBoxes()
{
    ClusterSpec spec = H100Boxes(2);
    spec.node.nics = 1;
    spec.node.pcieSwitches = 0;
    spec.node.sockets = 2;
    spec.node.socketsPerBoard = 1;
    return spec;
}

using OneNicConnectionTest = ConnectionTestOf<OneNicBoxes>;

// GPU 7 sends through a GPU of the first board, also where PXN is off; it cannot receive.
TEST_F(OneNicConnectionTest, AGpuThatReachesNoNicSendsThroughAnother)
{
    const auto ports = Ports(7, 8);
    EXPECT_EQ(ports.outNic, 0U);
    EXPECT_LT(ports.proxy.Index(), 4U);
    NicRules none;
    none.pxn.reset();
    EXPECT_EQ(Ports(7, 8, {0, 1}, none).proxy, GpuId(2));
    try
    {
        Ports(0, 15);
        FAIL();
    }
    catch (const std::runtime_error& error)
    {
        EXPECT_STREQ(error.what(), "GPU 7 of node 1 reaches no NIC of its node over PCIe");
    }
}

/** Without NVLink, another GPU's port is reachable only through the CPU. */
ClusterSpec
PcieBoxes()
{
    ClusterSpec spec = H100Boxes(2);
    spec.node.wiring = NvLinkWiring::None;
    return spec;
}

using PcieConnectionTest = ConnectionTestOf<PcieBoxes>;

TEST_F(PcieConnectionTest, SendRecvLeavesByTheSendersOwnPort)
{
    EXPECT_EQ(m_connector.InsideNode(GpuId(0), GpuId(5)).kind, ConnectionKind::Pcie);
    const auto ports = Ports(0, 13);
    EXPECT_EQ(ports.outNic, 0U);
    EXPECT_EQ(ports.inNic, 5U);
    EXPECT_EQ(ports.proxy, GpuId(0));
}

/** Two leaves and eight spines. */
ClusterSpec
EcmpBoxes()
{
    ClusterSpec spec = H100Boxes(2);
    spec.fabric.kind = LeafSpine();
    spec.fabric.kind.As<ClosFabric>().leafRadix = 16;
    return spec;
}

using EcmpConnectionTest = ConnectionTestOf<EcmpBoxes>;

TEST_F(EcmpConnectionTest, QueuePairsSpreadOverTheSpines)
{
    const auto ports = Ports(0, 8);
    std::set<uint32_t> paths;
    for (uint32_t queuePair = 0; queuePair < 64; ++queuePair)
    {
        const RouteId route = m_connector.BetweenNodes(GpuId(0), GpuId(8), ports, queuePair).route;
        paths.insert(m_fabric.GetRouting().PlannedPath(route).Index());
    }
    EXPECT_GT(paths.size(), 4U); // of 8
    EXPECT_EQ(m_connector.BetweenNodes(GpuId(0), GpuId(8), ports, 7).route,
              m_connector.BetweenNodes(GpuId(0), GpuId(8), ports, 7).route);
}

} // namespace
} // namespace weir
