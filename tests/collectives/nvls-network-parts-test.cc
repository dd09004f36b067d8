// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/nccl-tuning.h"

#include "collective-bench.h"
#include "reducing-network.h"
#include "reference-machines.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

/**
 * @file
 * NVLS all-gather and reduce-scatter over several nodes, whose network reduces and multicasts.
 */
namespace weir
{
namespace
{

CollectiveCall
NvlsCall(CommunicatorId id, CollectiveOp op, Bytes bytes)
{
    return WithAlgorithm(MakeCall(id, op, bytes), Algorithm::Nvls);
}

/** Bytes of all legs of a plan that enter and leave the NICs of a cluster on the network side. */
struct PortBytes
{
    double in{0};
    double out{0};
};

PortBytes
BytesOfPorts(CollectiveBench& bench, const CollectivePlan& plan)
{
    const auto& topology = bench.GetFabric().GetCluster().GetTopology();
    PortBytes sum;
    for (const auto& leg : plan.legs)
    {
        for (const auto& each : bench.GetPlanner().GetRouting().Links(leg.route))
        {
            const Link& link = topology.GetLink(each.link);
            const double bytes = leg.bytes.ToDouble() * each.multiplicity;
            if (link.kind == LinkKind::Network)
            {
                sum.in += topology.GetDevice(link.to).kind == DeviceKind::Nic ? bytes : 0;
                sum.out += topology.GetDevice(link.from).kind == DeviceKind::Nic ? bytes : 0;
            }
        }
    }
    return sum;
}

TEST(NvlsNetworkParts, NeedASwitchedNetworkThatReduces)
{
    CollectiveBench bench(H100Boxes(2));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(16));
    for (CollectiveOp op : HALVES)
    {
        EXPECT_THROW(bench.GetPlanner().Plan(NvlsCall(id, op, Bytes::MiB(1))),
                     std::invalid_argument);
    }
}

// Every GPU is a head. In an all-gather of S bytes over n ranks each GPU sends S / n to its port
// and receives the multicast parts of the GPUs of its index in all nodes, S / 8; a reduce-scatter
// does the opposite. A ring moves S (n - 1) / n per node in each direction.
TEST(NvlsNetworkParts, PortsCarryEachPartOnce)
{
    const double size = 1 << 30;
    for (uint32_t nodes : {2U, 5U})
    {
        CollectiveBench bench(WithSharp(H100Boxes(nodes)));
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8 * nodes));
        for (CollectiveOp op : HALVES)
        {
            const auto& plan = bench.GetPlanner().Plan(NvlsCall(id, op, Bytes::GiB(1)));
            const PortBytes ports = BytesOfPorts(bench, plan);
            const bool gathers = op == CollectiveOp::AllGather;
            EXPECT_NEAR(ports.out, gathers ? size : size * nodes, 1e-6 * size);
            EXPECT_NEAR(ports.in, gathers ? size * nodes : size, 1e-6 * size);
        }
    }
}

TEST(NvlsNetworkParts, EveryRankMeetsTheOperationsPostcondition)
{
    ExpectHalvesMeetTheirPostcondition(Algorithm::Nvls, {3, 4, 8});
}

TEST(NvlsNetworkParts, FlowIsNearTheClosedForm)
{
    ExpectHalvesAgree(Algorithm::Nvls);
}

// NCCL's model includes them from 2.27 on, where the network reduces.
TEST(NvlsNetworkParts, AreAmongNcclsChoicesFrom227On)
{
    for (const char* version : {"2.26.2", "2.27.7"})
    {
        NcclSettings settings;
        settings.version = version;
        CollectiveBench bench(WithSharp(H100Boxes(4)), settings);
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(32));
        Communicator group = bench.GetPlanner().GetCommunicator(id);
        const NcclConstants constants(NcclVersion::Parse(version), 90, HostCpu::Intel);
        for (CollectiveOp op : HALVES)
        {
            const auto bandwidth = [&] {
                return NcclAlgorithmBandwidth(
                    {constants, group, Algorithm::Nvls, op, Protocol::Simple});
            };
            EXPECT_EQ(bandwidth() > 0, std::string(version) == "2.27.7") << version;
            const GraphSpeed reducing = std::exchange(group.collNetGraph, {});
            EXPECT_EQ(bandwidth(), 0);
            group.collNetGraph = reducing;
        }
    }
}

} // namespace
} // namespace weir
