// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/call-times.h"

#include "scenarios/catalog.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/simulation/back-to-back-time.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir
{
namespace
{

constexpr Fidelity FIDELITIES[] = {Fidelity::Analytical, Fidelity::Stream, Fidelity::Flow};
constexpr Protocol PROTOCOLS[] = {Protocol::Ll, Protocol::Ll128, Protocol::Simple};

ClusterSpec
SystemOf(const std::string& text)
{
    const Catalog catalog({std::string(WEIR_SOURCE_DIR) + "/scenarios"});
    return ReadSystem(YamlNode::Parse(text, "test"), catalog).cluster;
}

std::vector<GpuId>
AllGpus(const Cluster& cluster)
{
    std::vector<GpuId> gpus;
    for (uint32_t gpu = 0; gpu < cluster.GpuCount(); ++gpu)
    {
        gpus.emplace_back(gpu);
    }
    return gpus;
}

std::vector<CollectiveOp>
AllOperations()
{
    std::vector<CollectiveOp> ops;
    for (int op = 0; op <= static_cast<int>(LAST_COLLECTIVE_OP); ++op)
    {
        ops.push_back(static_cast<CollectiveOp>(op));
    }
    return ops;
}

// 16 H100 on two nodes with 8 ports of 50 GB/s each. A broadcast crosses the ports of a node once;
// an all-to-all sends half of eight buffers through them. A send to a GPU of the same node is
// bounded by the rate of the GPU's links, 18 NVLinks and PCIe.
TEST(MinTime, IsThatOfThePortsOrTheGpus)
{
    const Cluster cluster(SystemOf("{base: hgx-h100, nodes: 2}"));
    const auto gpus = AllGpus(cluster);
    const Topology& topology = cluster.GetTopology();
    Rate port;
    for (const LinkId id : topology.LinksFrom(cluster.NicDevice(0, 0)))
    {
        const Link& link = topology.GetLink(id);
        port = link.kind == LinkKind::Network ? link.rate : port;
    }
    CollectiveCall call;
    call.bytes = Bytes(800'000'000);
    call.op = CollectiveOp::Broadcast;
    EXPECT_NEAR(MinTime(cluster, gpus, call) / (call.bytes / (port * 8)), 1, 1e-9);
    call.op = CollectiveOp::AllToAll;
    EXPECT_NEAR(MinTime(cluster, gpus, call) / (call.bytes * 8 / 2 / (port * 8)), 1, 1e-9);
    call.op = CollectiveOp::Send;
    EXPECT_LT(MinTime(cluster, gpus, call), call.bytes / (port * 8));
    EXPECT_GT(MinTime(cluster, gpus, call), call.bytes / Rate::GBps(600));
}

/**
 * Runs every operation under every protocol, in isolation and 20 times back to back, in all
 * fidelities.
 */
void
ExpectNoneFaster(const std::string& system, const std::vector<Bytes>& sizes)
{
    Simulation simulation(SystemOf(system));
    const auto gpus = AllGpus(simulation.GetCluster());
    CollectiveCall call;
    call.communicator = simulation.GetPlanner().AddCommunicator(gpus);
    for (const CollectiveOp op : AllOperations())
    {
        call.op = op;
        for (const Protocol protocol : PROTOCOLS)
        {
            call.overrides.protocol = protocol;
            for (const Bytes bytes : sizes)
            {
                call.bytes = bytes;
                const Time min = MinTime(simulation.GetCluster(), gpus, call);
                EXPECT_GT(min, Time());
                for (const Fidelity fidelity : FIDELITIES)
                {
                    const std::string what = system + " " + ToString(op) + " " +
                                             ToString(protocol) + " " + ToString(fidelity) + " " +
                                             std::to_string(bytes.Count());
                    EXPECT_GE(ConcurrentTime(simulation, fidelity, {call}) / min, 1 - 1e-9) << what;
                    EXPECT_GE(BackToBackTime(simulation, fidelity, call, 20) / min, 1 - 1e-9)
                        << what << " back to back";
                }
            }
        }
    }
}

// Broadcasts and reduces back to back overlap, but each of them crosses the ports of a node.
TEST(MinTime, NoFidelityUndercutsIt)
{
    const std::vector<Bytes> sizes{Bytes(64 << 10), Bytes(1'000'000), Bytes(4'000'000)};
    ExpectNoneFaster("{base: dgx1-v100, nodes: 4}", sizes);
    ExpectNoneFaster("{base: a100-pcie-8, nodes: 2}", sizes);
    ExpectNoneFaster("{base: hgx-h100, nodes: 1}", sizes);
}

} // namespace
} // namespace weir
