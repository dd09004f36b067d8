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
 * Where nothing is lost and no receiver has several senders, packets take what fluid flows take,
 * and besides what a packet more on each hop takes: two per cent of a large call.
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
 * In fidelity hybrid the flows over some links are packets: where these are all of the network, a
 * ring takes a packet more on each hop than as a fluid, as in fidelity packet; where no flow takes
 * them, nothing.
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

/** Of calls back to back that overlap all are played, as in fidelity packet where all are packets.
 */
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
 * Slices of a ring's channels are paced alike, so that their bursts come to a port at once and the
 * last one waits for the others: a sixteenth of what the port takes for the slices.
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

/** The same input gives the same bits. */
TEST(PacketCollectives, AreTheSameTwice)
{
    const auto run = [] {
        return TimeOf(Fidelity::Packet, CollectiveOp::AllReduce, Algorithm::Tree, Bytes::MiB(4));
    };
    EXPECT_EQ(run(), run());
}

} // namespace
} // namespace weir
