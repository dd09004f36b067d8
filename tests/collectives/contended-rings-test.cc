// SPDX-License-Identifier: GPL-2.0-only
#include "collective-bench.h"
#include "reference-machines.h"

#include <gtest/gtest.h>

/**
 * @file
 * Rings that share one link with flows of others.
 */
namespace weir
{

namespace
{

constexpr uint32_t RANKS = 64;

/** A ring all-reduce of 64 KiB over all 8 nodes. */
CollectiveCall
SmallRing(Planner& planner)
{
    return WithAlgorithm(MakeCall(planner.AddCommunicator(FirstGpus(RANKS)),
                                  CollectiveOp::AllReduce,
                                  Bytes::KiB(64)),
                         Algorithm::Ring);
}

/** The link from the first NIC to its leaf, which one hop of some rings crosses. */
LinkId
FirstPort(const Topology& topology)
{
    for (uint32_t i = 0;; ++i)
    {
        const Link& link = topology.GetLink(LinkId(i));
        if (topology.GetDevice(link.from).kind == DeviceKind::Nic && link.kind == LinkKind::Network)
        {
            return LinkId(i);
        }
    }
}

/** Time of the ring's bytes on the port beside @p flows flows. */
Time
TimeOnPort(uint32_t flows)
{
    CollectiveBench bench(H100Boxes(8), ManyQueuePairs());
    const CollectivePlan& plan = bench.GetPlanner().Plan(SmallRing(bench.GetPlanner()));
    EXPECT_EQ(plan.channels, 1U);
    const Topology& topology = bench.GetFabric().GetCluster().GetTopology();
    return plan.legs.front().bytes / topology.GetLink(FirstPort(topology)).rate * (flows + 1.0);
}

/** Time of the ring beside @p flows longer flows on FirstPort. */
Time
TimeBeside(uint32_t flows, Fidelity fidelity)
{
    CollectiveBench bench(H100Boxes(8), ManyQueuePairs());
    Fabric& fabric = bench.GetFabric();
    FlowRequest request;
    request.route = fabric.GetRouting().AddFixed({FirstPort(fabric.GetCluster().GetTopology())});
    request.bytes = Bytes::GiB(1);
    for (uint32_t i = 0; i < flows; ++i)
    {
        fabric.GetTransport().Start(request, Time());
    }
    return bench.Run(fidelity, SmallRing(bench.GetPlanner()));
}

} // namespace

// A step of a ring waits for the step before on its own hop and on the previous hop, so the steps
// take the longer of the slowest hop's time on the wire, here W = bytes (flows + 1) / rate, and the
// mean over all hops. With 31 flows the mean decides: it contains W once in 64 hops (and the hop's
// chunks may wait as often again), so that the call takes a small part of W longer, not W.
TEST(ContendedRings, WaitingOnOtherHopsHidesASlowOne)
{
    for (const Fidelity fidelity : {Fidelity::Stream, Fidelity::Flow})
    {
        const Time uncontended = TimeBeside(0, fidelity);
        const Time wire = TimeOnPort(31);
        ASSERT_LT(wire, uncontended);
        const Time added = TimeBeside(31, fidelity) - uncontended;
        EXPECT_GE(added, Time()) << ToString(fidelity);
        EXPECT_LT(added, wire * (2.0 / RANKS)) << ToString(fidelity);
    }
}

// With 799 flows W decides, and only the first and the last chunks wait for other hops.
TEST(ContendedRings, AHopSlowerThanTheMeanDecides)
{
    for (const Fidelity fidelity : {Fidelity::Stream, Fidelity::Flow})
    {
        const Time wire = TimeOnPort(799);
        ASSERT_GT(wire, TimeBeside(0, fidelity) * 10);
        EXPECT_GT(TimeBeside(799, fidelity), wire) << ToString(fidelity);
        EXPECT_LT(TimeBeside(799, fidelity), wire * 1.01) << ToString(fidelity);
    }
}

} // namespace weir
