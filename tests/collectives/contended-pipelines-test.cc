// SPDX-License-Identifier: GPL-2.0-only
#include "collective-bench.h"
#include "reference-machines.h"

#include <gtest/gtest.h>

#include <string>

/**
 * @file
 * Chains that share one of their links with flows of others for some time.
 */
namespace weir
{

namespace
{

constexpr uint32_t NODES = 8;

/** A broadcast of 64 KiB along all 8 nodes, which mostly waits for latencies of hops. */
CollectiveCall
SmallBroadcast(Planner& planner)
{
    return MakeCall(
        planner.AddCommunicator(FirstGpus(8 * NODES)), CollectiveOp::Broadcast, Bytes::KiB(64));
}

/** The port through which the chain leaves a node. */
LinkId
PortOf(CollectiveBench& bench, uint32_t node)
{
    const auto bytes =
        BytesOutOfPorts(bench, bench.GetPlanner().Plan(SmallBroadcast(bench.GetPlanner())));
    const Topology& topology = bench.GetFabric().GetCluster().GetTopology();
    const std::string prefix = "node" + std::to_string(node) + "/";
    for (uint32_t i = 0, port = 0; i < topology.LinkCount(); ++i)
    {
        const Link& link = topology.GetLink(LinkId(i));
        const bool isPort =
            link.kind == LinkKind::Network && topology.GetDevice(link.from).kind == DeviceKind::Nic;
        if (isPort && bytes[port++] > 0 && topology.GetDevice(link.from).name.rfind(prefix, 0) == 0)
        {
            return LinkId(i);
        }
    }
    ADD_FAILURE() << "no port of node " << node;
    return LinkId(0);
}

/** Time of the broadcast alone. */
Time
TimeAlone(Fidelity fidelity)
{
    CollectiveBench bench(H100Boxes(NODES), ManyQueuePairs());
    return bench.Run(fidelity, SmallBroadcast(bench.GetPlanner()));
}

/** Time of the broadcast if @p flows flows fill the port of a node for a time from the start. */
Time
TimeBeside(Fidelity fidelity, uint32_t node, uint32_t flows, Time filled)
{
    CollectiveBench bench(H100Boxes(NODES), ManyQueuePairs());
    Fabric& fabric = bench.GetFabric();
    const LinkId port = PortOf(bench, node);
    const Rate rate = fabric.GetCluster().GetTopology().GetLink(port).rate;
    FlowRequest request;
    request.route = fabric.GetRouting().AddFixed({port});
    request.bytes =
        Bytes(static_cast<int64_t>(rate.ToBytesPerSecond() * filled.ToSeconds() / flows));
    for (uint32_t i = 0; i < flows; ++i)
    {
        fabric.GetTransport().Start(request, Time());
    }
    return bench.Run(fidelity, SmallBroadcast(bench.GetPlanner()));
}

} // namespace

// Parts take a pipeline's time together: start + fill + transfer, whatever their number.
TEST(ContendedPipelines, PartsOfAnUncontendedChainTakeItsDuration)
{
    CollectiveBench bench(H100Boxes(NODES), ManyQueuePairs());
    const CollectiveCall call = SmallBroadcast(bench.GetPlanner());
    const CollectivePlan& plan = bench.GetPlanner().Plan(call);
    ASSERT_FALSE(plan.pipelines.empty());
    EXPECT_GT(plan.pipelines.front().parts.size(), 1U);
    const double alone = bench.Run(Fidelity::Stream, call).ToMicroseconds();
    EXPECT_NEAR(alone, plan.duration.ToMicroseconds(), 0.01); // some bytes are rounded up
}

// The chain's first slices cross the last port after most of the fill, when flows that fill it for
// a quarter of the call have ended: the call takes as long as alone.
TEST(ContendedPipelines, FlowsThatEndBeforeTheFirstSliceArrivesDelayNothing)
{
    for (const Fidelity fidelity : {Fidelity::Stream, Fidelity::Flow})
    {
        const Time alone = TimeAlone(fidelity);
        const Time beside = TimeBeside(fidelity, NODES - 2, 63, alone * 0.25);
        EXPECT_NEAR(beside.ToMicroseconds(), alone.ToMicroseconds(), 0.01) << ToString(fidelity);
    }
}

// At the first port the same flows leave the chain 1 of 64 shares until they end, so that it moves
// few bytes before; all hops behind wait. The call takes at most that much longer.
TEST(ContendedPipelines, FlowsAtTheFirstPortDelayAllHops)
{
    for (const Fidelity fidelity : {Fidelity::Stream, Fidelity::Flow})
    {
        const Time alone = TimeAlone(fidelity);
        const Time filled = alone * 0.25;
        const Time added = TimeBeside(fidelity, 0, 63, filled) - alone;
        EXPECT_GT(added, filled * 0.2) << ToString(fidelity);
        EXPECT_LT(added, filled) << ToString(fidelity);
    }
}

} // namespace weir
