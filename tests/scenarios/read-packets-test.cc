// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-packets.h"

#include "fabric/transport/packet/congestion/congestion-control.h"
#include "fabric/transport/packet/congestion/dcqcn.h"
#include "refusal.h"
#include "scenarios/writers/parameter-writer.h"
#include "scratch-folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace weir
{
namespace
{

std::string
TextOf(const PacketSpec& spec)
{
    YamlWriter out;
    WritePackets(out, spec);
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

/** A written specification reads back unchanged, with every part and every congestion control. */
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
        spec.switches.capacity = Rate::Gbps(12800);
        spec.arbitration.lowTable = "1:64,3:32,2:64,1:64";
        spec.nodeLinks.pcieCompletionData = 2047;
        spec.nodeLinks.burst = Bytes::KiB(16);
        spec.trafficClasses = 3;
        spec.settle.replay = true;
        spec.settle.tolerance = 0.01;
        spec.clock = Time::Nanoseconds(1);
        EXPECT_EQ(TextOf(Read(TextOf(spec))), TextOf(spec)) << control->Name();
        // The output of weir show is a valid file: its remarks are comments.
        EXPECT_EQ(TextOf(Read(DescribePackets(spec))), TextOf(spec)) << control->Name();
    }
}

/** A preset gives initial values that keys beside it override. */
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

/** Every switch model of the catalog has the capacity that its title states, "12.8 Tb/s". */
TEST(ReadPackets, ReadsTheModelsOfTheCatalog)
{
    const Catalog catalog;
    const auto entries = catalog.List(CatalogKind::Switches);
    EXPECT_GE(entries.size(), 8u);
    for (const CatalogEntry& entry : entries)
    {
        SCOPED_TRACE(entry.title);
        const SwitchSpec spec = ReadSwitch(YamlNode::ParseArgument(entry.name, "NAME"), catalog);
        const std::size_t unit = entry.title.find(" Tb/s");
        ASSERT_NE(unit, std::string::npos);
        const std::size_t number = entry.title.rfind(' ', unit - 1) + 1;
        EXPECT_NEAR(spec.capacity.ToGbps(), 1e3 * std::stod(entry.title.substr(number)), 1e-6);
        EXPECT_GT(spec.ports, 0u);
    }
}

/** A switch is a model, or overrides values of a base model. */
TEST(ReadPackets, SwitchesAreModelsOrHaveOneAsBase)
{
    const SwitchSpec model = Read("switch: spectrum4").switches;
    EXPECT_EQ(model.buffer, Bytes(160000000));
    EXPECT_EQ(model.capacity, Rate::Gbps(51200));
    EXPECT_TRUE(model.cutThrough);
    EXPECT_EQ(model.alpha, SwitchSpec().alpha); // chosen by the operator
    EXPECT_EQ(TextOf(Read("switch: {base: spectrum4}")), TextOf(Read("switch: spectrum4")));
    const SwitchSpec changed =
        Read("switch: {base: spectrum4, buffer: 1MiB, alpha: {value: 1, source: here}}").switches;
    EXPECT_EQ(changed.buffer, Bytes::MiB(1));
    EXPECT_EQ(changed.alpha, 1);
    EXPECT_EQ(changed.cell, model.cell);
    EXPECT_EQ(Read("switch: quantum2").switches.flowControl, FlowControl::Credits);

    const ScratchFolder folder;
    const std::string own = folder / "own.yaml";
    std::ofstream(own) << "base: tomahawk3\nbuffer: {value: 32MB, source: half of it}\n";
    const SwitchSpec half = Read("switch: " + own).switches;
    EXPECT_EQ(half.buffer, Bytes(32000000));
    EXPECT_EQ(half.capacity, Rate::Gbps(12800));
    std::ofstream(own) << "base: tomahawk3\nbuffer: 32MB\n";
    EXPECT_NE(RefusalOf([&] { Read("switch: " + own); }).find("own.yaml:2:9: buffer: "),
              std::string::npos);
    std::ofstream(own) << "base: " + own + "\n";
    EXPECT_NE(RefusalOf([&] { Read("switch: " + own); }).find("expected bases without a cycle"),
              std::string::npos);
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
                  .find("found a key that congestion controls of kind 'hpcc' do not have"),
              std::string::npos);
    EXPECT_NE(refusal("congestionControl: {preset: paper}").find("kind"), std::string::npos);
    EXPECT_NE(refusal("switch: tomahawk33").find("did you mean 'tomahawk3'?"), std::string::npos);
    EXPECT_NE(refusal("switch: {base: tomahawk3, cels: 1B}").find("switch.cels: found the unknown"),
              std::string::npos);
    EXPECT_NE(refusal("switch: {buffer: {value: 1MiB}}").find("switch.buffer.source"),
              std::string::npos);
    EXPECT_EQ(refusal("switch: {markFrom: 1MiB}"),
              "net.yaml:1:20: switch.markFrom: found '1MiB', expected at most markAll, 400KiB");
    EXPECT_EQ(refusal("switch: {markAll: 1KiB}"),
              "net.yaml:1:19: switch.markAll: found '1KiB', expected at least markFrom, 100KiB");
    EXPECT_EQ(refusal("switch: {markFrom: 1KiB, markAll: 1KiB}"), "");
    EXPECT_NE(refusal("arbitration: {lowTable: '2:4'}")
                  .find("net.yaml:1:14: arbitration: arbitration.lowTable: found '2:4', expected"),
              std::string::npos);
}

} // namespace
} // namespace weir
