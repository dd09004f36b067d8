// SPDX-License-Identifier: GPL-2.0-only
#include "collective-bench.h"
#include "fabric/kinds/dragonfly.h"
#include "fabric/routing/routing-policies.h"
#include "reference-machines.h"

#include <gtest/gtest.h>

/**
 * @file
 * Collectives over fabrics whose switches route by load, in all fidelities.
 */
namespace weir
{

namespace
{

/** Two groups of four routers, each router with two nodes of four NICs. */
ClusterSpec
TwoGroups(const Polymorphic<RoutingPolicy>& routing)
{
    ClusterSpec spec = Gh200Nodes(16);
    spec.fabric.kind = Dragonfly();
    auto& dragonfly = spec.fabric.kind.As<Dragonfly>();
    dragonfly.routersPerGroup = 4;
    dragonfly.nicsPerRouter = 8;
    dragonfly.globalLinks = 2;
    spec.fabric.routing = routing;
    return spec;
}

/**
 * Time of a ring all-reduce of 64 MiB over all GPUs of @p spec, relative to the full speed of a
 * node's four NICs.
 */
double
SlowdownOfRing(const ClusterSpec& spec, Fidelity fidelity)
{
    CollectiveBench bench(spec, ManyQueuePairs());
    const uint32_t ranks = spec.nodes * spec.node.gpus;
    auto call = MakeCall(bench.GetPlanner().AddCommunicator(FirstGpus(ranks)),
                         CollectiveOp::AllReduce,
                         Bytes::MiB(64));
    call.overrides.algorithm = Algorithm::Ring;
    call.overrides.protocol = Protocol::Simple;
    const double full = 2.0 * (ranks - 1) / ranks * Bytes::MiB(64).ToDouble() /
                        (spec.node.nic.rawRate * 4).ToBytesPerSecond();
    return bench.Run(fidelity, call).ToSeconds() / full;
}

} // namespace

// Every second hop of the four rings leads from router r to r + 1, with the traffic of four NICs
// over one local link. On shortest paths, by hash or spraying, the rings take four times as long as
// the NICs need.
//
// With routing by load, let A, B and C be the flows from router 0 to 1, 1 to 2 and 2 to 3 of one
// group. Each has its direct link and two detours: A over routers 2 and 3 (a2, a3), B over 0 and 3
// (b0, b3), C over 0 and 1 (c0, c1). Two detours share a link: 0-2 gives a2 + b0 <= 1, 0-3 gives a3
// + c0 <= 1, 1-3 gives b3 + c1 <= 1. So A + B + C <= 3 + 3, and the least of them is at most 2:
// half of four. The bound is reached by a2 = b3 = c0 = t, b0 = c1 = a3 = 1 - t for every t. The
// flow to the other group then finds two more units over the global links of the four routers;
// only shortest paths provide one.
TEST(AdaptiveFabricTest, RingFindsTheLoadsThatADragonflyAllows)
{
    for (const Fidelity fidelity : {Fidelity::Analytical, Fidelity::Stream, Fidelity::Flow})
    {
        EXPECT_GE(SlowdownOfRing(TwoGroups(EcmpRouting()), fidelity), 3.99) << ToString(fidelity);
        EXPECT_NEAR(SlowdownOfRing(TwoGroups(SprayRouting()), fidelity), 4, 0.02)
            << ToString(fidelity);
        const double adaptive = SlowdownOfRing(TwoGroups(AdaptiveRouting()), fidelity);
        EXPECT_GT(adaptive, 2) << ToString(fidelity);
        EXPECT_LT(adaptive, 2 * 1.12) << ToString(fidelity);
    }
}

// Over every fabric and routing policy, the fidelities agree on ring, tree and all-to-all.
TEST(AdaptiveFabricTest, FidelitiesAgree)
{
    for (const Polymorphic<RoutingPolicy>& routing : std::vector<Polymorphic<RoutingPolicy>>{
             ValiantRouting(), AdaptiveRouting(), SprayRouting()})
    {
        CollectiveBench bench(TwoGroups(routing), ManyQueuePairs());
        const auto all = bench.GetPlanner().AddCommunicator(FirstGpus(64));
        auto ring = MakeCall(all, CollectiveOp::AllReduce, Bytes::MiB(16));
        ring.overrides.algorithm = Algorithm::Ring;
        auto tree = WithAlgorithm(ring, Algorithm::Tree);
        for (const auto& call : {ring, tree, MakeCall(all, CollectiveOp::AllToAll, Bytes::MiB(16))})
        {
            const Time stream = bench.Run(Fidelity::Stream, call);
            EXPECT_NEAR(stream / bench.Run(Fidelity::Analytical, call), 1, 1e-4);
            EXPECT_NEAR(bench.Run(Fidelity::Flow, call) / stream, 1, 0.1);
        }
    }
}

// Two equal concurrent rings get half of the uncontended rate each: their traffic is split jointly.
TEST(AdaptiveFabricTest, CallsThatStartTogetherShareTheFabric)
{
    CollectiveBench bench(TwoGroups(AdaptiveRouting()), ManyQueuePairs());
    auto call = MakeCall(
        bench.GetPlanner().AddCommunicator(FirstGpus(64)), CollectiveOp::AllReduce, Bytes::MiB(64));
    call.overrides.algorithm = Algorithm::Ring;
    const Time uncontended = bench.Run(Fidelity::Stream, call);
    const auto both = bench.Run(Fidelity::Stream, {call, call});
    EXPECT_NEAR(both[0] / uncontended, 2, 0.02);
    EXPECT_NEAR(both[1] / uncontended, 2, 0.02);
}

} // namespace weir
