// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-packets.h"

#include "fabric/transport/packet/congestion/congestion-controls.h"
#include "fabric/transport/packet/congestion/dcqcn.h"
#include "refusal.h"
#include "scenarios/describe/describe-packets.h"
#include "scenarios/writers/write-packets.h"

#include <gtest/gtest.h>

#include <string>

namespace weir
{
namespace
{

std::string
TextOf(const PacketSpec& spec)
{
    YamlWriter out;
    out.BeginMap();
    WritePackets(out, spec);
    out.EndMap();
    return out.GetText();
}

PacketSpec
Read(const std::string& text)
{
    const YamlNode node = YamlNode::Parse(text, "net.yaml");
    const PacketSpec spec = ReadPackets(node);
    node.CheckAllRead({});
    return spec;
}

/** What is written is read back as it was: every part, and every congestion control. */
TEST(ReadPackets, ReadsBackWhatIsWritten)
{
    for (const Polymorphic<CongestionControl>& control : CongestionControls())
    {
        PacketSpec spec;
        spec.congestionControl = control;
        spec.format.mtu = Bytes(1000);
        spec.format.header = 48;
        spec.queuePair.recovery = LossRecovery::Selective;
        spec.queuePair.retransmissionTimeout = Time::Infinite();
        spec.switches.flowControl = FlowControl::Credits;
        spec.switches.markProbability = 0.01;
        spec.nodeLinks.burst = Bytes::KiB(16);
        spec.trafficClasses = 3;
        spec.settle.replay = true;
        spec.settle.tolerance = 0.01;
        spec.clock = Time::Nanoseconds(1);
        EXPECT_EQ(TextOf(Read(TextOf(spec))), TextOf(spec)) << control->Name();
        // What weir show prints is a file, too: its remarks are comments.
        EXPECT_EQ(TextOf(Read(DescribePackets(spec))), TextOf(spec)) << control->Name();
    }
}

/** A preset gives all values that follow it, and keys beside it replace some of them. */
TEST(ReadPackets, PresetsAreStartingPoints)
{
    const PacketSpec spec =
        Read("congestionControl: {kind: dcqcn, preset: paper, increaseTimer: 60us}");
    const auto& dcqcn = spec.congestionControl.As<Dcqcn>();
    EXPECT_EQ(dcqcn.notificationInterval, Time::Microseconds(50)); // SIGCOMM 2015
    EXPECT_EQ(dcqcn.fastRecovery, 5u);
    EXPECT_EQ(dcqcn.cutCheck, Time());
    EXPECT_EQ(dcqcn.increaseTimer, Time::Microseconds(60));
}

TEST(ReadPackets, RefusesWhatIsWrong)
{
    const auto refusal = [](const std::string& text) { return RefusalOf([&] { Read(text); }); };
    EXPECT_NE(refusal("switch: {bufer: 1MiB}")
                  .find("net.yaml:1:10: switch.bufer: found the unknown "
                        "key 'bufer'"),
              std::string::npos);
    EXPECT_NE(refusal("switch: {alpha: 0}").find("switch.alpha: found '0', expected a number from"),
              std::string::npos);
    EXPECT_NE(refusal("packet: {mtu: 4096}").find("found '4096' without a unit"),
              std::string::npos);
    EXPECT_NE(refusal("congestionControl: {kind: dcqn}").find("did you mean 'dcqcn'?"),
              std::string::npos);
    EXPECT_NE(refusal("congestionControl: {kind: hpcc, preset: paper}")
                  .find("found a key that congestion controls of kind 'hpcc' have not"),
              std::string::npos);
    EXPECT_NE(refusal("congestionControl: {preset: paper}").find("kind"), std::string::npos);
}

} // namespace
} // namespace weir
