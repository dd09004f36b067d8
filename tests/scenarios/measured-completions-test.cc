// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/measured-flows.h"

#include "scenarios/catalog.h"
#include "tests/scenarios/refusal.h"
#include "tests/scenarios/scratch-folder.h"

#include <fstream>
#include <gtest/gtest.h>
#include <string>

namespace weir
{
namespace
{

const std::string HEADER = "run,class,topology,matrix,routing,first_us,last_us,packet.header\n";
const std::string MESSAGES =
    "matrix,src,dst,size_B,start_us\ntwo,0,1,1000000,0\ntwo,2,3,1000000,5\n";

/**
 * `completions` of a suite: four hosts under one leaf at 100 Gb/s and 1 us, with these two files.
 */
MeasuredCompletions
Read(const ScratchFolder& folder, const std::string& runs, const std::string& messages)
{
    std::ofstream(folder / "leaf.topo") << "Nodes 4\nTiers 2\nPodsize 4\n"
                                           "Tier 0\nDownlink_speed_Gbps 100\nRadix_Down 4\n"
                                           "Radix_Up 1\nDownlink_Latency_ns 1000\n"
                                           "Tier 1\nDownlink_speed_Gbps 100\nRadix_Down 1\n"
                                           "Downlink_Latency_ns 1000\n";
    std::ofstream(folder / "runs.csv") << runs;
    std::ofstream(folder / "messages.csv") << messages;
    std::ofstream(folder / "suite.yaml")
        << "runs: runs.csv\nmessages: messages.csv\n"
           "network: {packet: {mtu: 1000B, header: 50}, congestionControl: {kind: none}}\n";
    return ReadMeasuredCompletions(YamlNode::Load(folder / "suite.yaml"),
                                   Catalog().GetFabricKinds());
}

std::string
Refusal(const std::string& runs, const std::string& messages = MESSAGES)
{
    const ScratchFolder folder;
    const std::string text = RefusalOf([&] { Read(folder, runs, messages); });
    const std::string name = folder / "";
    return text.rfind(name, 0) == 0 ? text.substr(name.size()) : text;
}

/**
 * 1000 packets of 1000 bytes plus header h over two links of 100 Gb/s (80 ps per byte) and 1 us
 * take (1000 + 1) (1000 + h) 80 ps + 2 us. The second message starts 5 us after the first. The
 * header of a row overrides that of the suite.
 */
TEST(MeasuredCompletions, AreTheFirstAndLastMessageSinceTheBeginning)
{
    const ScratchFolder folder;
    const MeasuredCompletions measured =
        Read(folder,
             HEADER + "a,pair,leaf.topo,two,ecmp,80,90,\nb,pair,leaf.topo,two,ecmp,80,90,100\n",
             MESSAGES);
    ASSERT_EQ(measured.runs.size(), 2u);
    for (const std::size_t i : {0, 1})
    {
        const auto cases = PlayMeasuredCompletions(measured, measured.runs[i]);
        const double uncontended = 1001 * (1000.0 + (i == 0 ? 50 : 100)) * 80e-12 + 2e-6;
        ASSERT_EQ(cases.size(), 2u);
        EXPECT_NEAR(cases[0].predicted, uncontended, 1e-12);
        EXPECT_NEAR(cases[1].predicted, uncontended + 5e-6, 1e-12);
        EXPECT_DOUBLE_EQ(cases[0].measured, 80e-6);
        EXPECT_DOUBLE_EQ(cases[1].measured, 90e-6);
        EXPECT_EQ(cases[1].classes, (std::vector<std::string>{"last", "pair, last"}));
    }
}

TEST(MeasuredCompletions, RefusesRowsThatCannotBe)
{
    EXPECT_EQ(
        Refusal("run,class\n"),
        "runs.csv:1: found other columns, expected run,class,topology,matrix,routing,first_us,"
        "last_us and keys of the network");
    EXPECT_EQ(Refusal(HEADER + "a,b,leaf.topo,three,ecmp,1,2,\n"),
              "runs.csv:2: matrix: found 'three', expected a matrix of the suite's messages");
    EXPECT_EQ(Refusal(HEADER + "a,b,leaf.topo,two,ecmp,0,2,\n"),
              "runs.csv:2: first_us: found '0', expected a time above zero");
    EXPECT_EQ(Refusal(HEADER + "a,b,leaf.topo,two,ecmp,1,2\n"),
              "runs.csv:2: found 7 fields, expected 8");
    EXPECT_NE(Refusal(HEADER + "a,b,leaf.topo,two,guess,1,2,\n").find("found 'guess'"),
              std::string::npos);
    EXPECT_NE(Refusal(HEADER + "a,b,leaf.topo,two,ecmp,1,2,x\n").find("found 'x'"),
              std::string::npos);
    EXPECT_EQ(Refusal(HEADER, "matrix,src\n"),
              "messages.csv:1: found other columns, expected matrix,src,dst,size_B,start_us");
    EXPECT_EQ(Refusal(HEADER, "matrix,src,dst,size_B,start_us\nm,0,1,0,0\n"),
              "messages.csv:2: size_B: found '0', expected a whole number from 1 to "
              "1125899906842624");
}

} // namespace
} // namespace weir
