// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/catalog.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/simulation/collective-sweep.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

Time
TimeOf(Fidelity fidelity,
       CollectiveOp op,
       std::optional<Algorithm> algorithm,
       Bytes bytes,
       uint32_t nodes = 2,
       std::optional<Protocol> protocol = {},
       std::vector<std::string> packetLinks = {})
{
    CollectiveSweepSpec spec;
    spec.cluster = ReadSystem(YamlNode::ParseArgument("hgx-h100", "system"), Catalog()).cluster;
    spec.cluster.nodes = nodes;
    spec.gpusPerNode = spec.cluster.node.gpus;
    spec.op = op;
    spec.overrides.algorithm = algorithm;
    spec.overrides.protocol = protocol;
    spec.sizes = {bytes};
    spec.fidelity = fidelity;
    spec.coupling.links = std::move(packetLinks);
    return RunCollectiveSweep(spec).front().time;
}

/**
 * Without losses and incast, packets take as long as fluid flows plus one packet per hop, less than
 * 2 % of a large call.
 */
TEST(PacketCollectives, TakeWhatFlowsTake)
{
    struct Case
    {
        CollectiveOp op;
        std::optional<Algorithm> algorithm;
    };

    for (const auto& [op, algorithm] : {Case{CollectiveOp::AllReduce, Algorithm::Ring},
                                        Case{CollectiveOp::AllReduce, Algorithm::NvlsTree},
                                        Case{CollectiveOp::AllGather, Algorithm::Ring},
                                        Case{CollectiveOp::ReduceScatter, Algorithm::Ring}})
    {
        const double flow = TimeOf(Fidelity::Flow, op, algorithm, Bytes::MiB(64)).ToSeconds();
        const double packet = TimeOf(Fidelity::Packet, op, algorithm, Bytes::MiB(64)).ToSeconds();
        EXPECT_NEAR(packet, flow, 0.02 * flow)
            << ToString(op) << " " << (algorithm ? ToString(*algorithm) : "auto");
    }
}

/**
 * In fidelity hybrid, flows over the given links are packets. If these are all links of the
 * network, a ring takes as long as in fidelity packet, one packet per hop more than as fluid. If no
 * flow crosses them, it takes as long as in flow.
 */
TEST(PacketCollectives, ArePacketsOnSomeLinks)
{
    const auto run = [](Fidelity fidelity, const std::string& links) {
        return TimeOf(fidelity,
                      CollectiveOp::AllReduce,
                      Algorithm::Ring,
                      Bytes::MiB(16),
                      2,
                      Protocol::Simple,
                      {links});
    };
    const Time flow = run(Fidelity::Flow, "");
    const Time packet = run(Fidelity::Packet, "");
    const Time all = run(Fidelity::Hybrid, "leaf*->*");
    EXPECT_GT(all, flow);
    EXPECT_NEAR(all / flow, packet / flow, 0.01);
    EXPECT_EQ(run(Fidelity::Hybrid, "spine0->*"), flow);
}

/** Overlapping calls back to back equal fidelity packet if all flows are packets. */
TEST(PacketCollectives, OverlapAsPacketsOnAllLinks)
{
    for (const CollectiveOp op : {CollectiveOp::Broadcast, CollectiveOp::AllReduce})
    {
        const auto run = [op](Fidelity fidelity) {
            return TimeOf(fidelity, op, {}, Bytes::MiB(1), 4, {}, {"*->*"});
        };
        EXPECT_EQ(run(Fidelity::Hybrid), run(Fidelity::Packet)) << ToString(op);
    }
}

/**
 * Slices of the channels of a ring are paced equally, so that their bursts arrive at a port
 * concurrently and the last one waits for the others, for at most 1/16 of the transmission time of
 * the slices.
 */
TEST(PacketCollectives, BurstsInsideANodeWaitForASixteenthOfTheirSlices)
{
    for (const Protocol protocol : {Protocol::Ll, Protocol::Ll128, Protocol::Simple})
    {
        for (const Bytes bytes : {Bytes::MiB(1), Bytes::MiB(4), Bytes::MiB(32)})
        {
            const auto run = [&](Fidelity fidelity) {
                return TimeOf(
                    fidelity, CollectiveOp::AllReduce, Algorithm::Ring, bytes, 1, protocol);
            };
            const double ratio = run(Fidelity::Packet) / run(Fidelity::Flow);
            EXPECT_GT(ratio, 0.999) << ToString(protocol) << " " << bytes.Count();
            EXPECT_LT(ratio, 1 + 1 / 16.0) << ToString(protocol) << " " << bytes.Count();
        }
    }
}

/** Equal inputs give bit-identical times. */
TEST(PacketCollectives, AreTheSameTwice)
{
    const auto run = [] {
        return TimeOf(Fidelity::Packet, CollectiveOp::AllReduce, Algorithm::Tree, Bytes::MiB(4));
    };
    EXPECT_EQ(run(), run());
}

} // namespace
} // namespace weir
