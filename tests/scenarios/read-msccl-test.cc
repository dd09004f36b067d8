// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/msccl/read-msccl.h"

#include "scenarios/readers/read-system.h"
#include "scenarios/simulation/collective-sweep.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/size-list.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace weir
{
namespace
{

const std::string FOLDER = std::string(WEIR_SOURCE_DIR) + "/scenarios/msccl/";

std::string
TextOf(const std::string& name)
{
    std::ifstream in(FOLDER + name);
    std::ostringstream text;
    text << in.rdbuf();
    EXPECT_FALSE(text.str().empty()) << name;
    return text.str();
}

/** The text of the ring all-gather with the first @p from replaced by @p to. */
std::string
Changed(const std::string& from, const std::string& to)
{
    std::string text = TextOf("ring-all-gather-4.xml");
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

void
ExpectRefusal(const std::string& text, const std::string& message)
{
    try
    {
        ParseMscclText(text, "a.xml");
        FAIL() << "not refused: " << message;
    }
    catch (const InputError& error)
    {
        const std::string found = error.what();
        EXPECT_NE(found.find(message), std::string::npos) << "found: " << found;
        EXPECT_EQ(found.rfind("a.xml:", 0), 0U) << found;
        EXPECT_EQ(found.find('\n'), std::string::npos) << found;
    }
}

TEST(ReadMscclFile, TheExamplesMeetTheirPostconditions)
{
    const auto ring = ReadMscclFile(FOLDER + "ring-all-gather-4.xml");
    EXPECT_EQ(ring.op, CollectiveOp::AllGather);
    EXPECT_EQ(ring.protocol, Protocol::Simple);
    EXPECT_EQ(ring.ranks.size(), 4U);
    EXPECT_EQ(ring.ranks[0].blocks[0].steps.size(), 4U);
    EXPECT_EQ(ring.ranks[0].blocks[0].steps[0].line, 7U);
    const auto pairs = ReadMscclFile(FOLDER + "all-pairs-all-reduce-8.xml");
    EXPECT_EQ(pairs.op, CollectiveOp::AllReduce);
    EXPECT_TRUE(pairs.inPlace);
    EXPECT_FALSE(pairs.outOfPlace);
    EXPECT_EQ(pairs.ranks[7].blocks.size(), 7U);
}

TEST(ReadMscclFile, WhatIsNotThereIsRefused)
{
    EXPECT_THROW(ReadMscclFile(FOLDER + "nothing.xml"), InputError);
    EXPECT_THROW(ReadMscclFile(FOLDER), InputError);
}

TEST(ParseMscclText, WrongFilesAreRefusedWithTheirLocation)
{
    ExpectRefusal("<algo", "a.xml:1:5: found 'Error parsing start element tag', expected XML");
    ExpectRefusal("<graph/>", "a.xml:1:1: found the element 'graph', expected 'algo'");
    ExpectRefusal(Changed(" proto=\"Simple\"", ""),
                  "a.xml:4:1: algo proto: found no such attribute, expected one");
    ExpectRefusal(Changed("\"Simple\"", "\"LL129\""), "found 'LL129', expected one of: Simple, LL");
    ExpectRefusal(Changed("proto=", "proto=\"LL\" proto="), "a.xml:4:1: algo proto: found the");
    ExpectRefusal(Changed("allgather", "custom"), "a.xml:4:1: algo coll: found 'custom'");
    ExpectRefusal(Changed("<tb id=\"0\"", "<tb id=\"5\""),
                  "a.xml:6:5: tb id: found '5', expected 0");
    ExpectRefusal(Changed("<gpu id=\"0\"", "<gpu id=\"1\""), "gpu id: found '1' again");
    ExpectRefusal(Changed("ngpus=\"4\"", "ngpus=\"5\""), "found 5, expected also gpu 4");
    ExpectRefusal(Changed("type=\"s\"", "type=\"send\""), "a.xml:7:7: step type: found 'send'");
    ExpectRefusal(Changed("cnt=\"1\"", "cnt=\"one\""), "a.xml:7:7: step cnt: found 'one'");
    ExpectRefusal(Changed("minBytes=\"0\" maxBytes=\"0\"", "minBytes=\"2\" maxBytes=\"1\""),
                  "a.xml:4:1: algo maxBytes: found '1', expected at least minBytes, 2");
}

TEST(ParseMscclText, WrongSchedulesAreRefusedWithTheirLocation)
{
    ExpectRefusal(Changed("srcoff=\"0\"", "srcoff=\"1\""),
                  "a.xml:7: rank 0, block 0, step 0: chunk 1 of the input buffer, which has 1");
    ExpectRefusal(Changed("send=\"1\"", "send=\"7\""), "a.xml:6: rank 0, block 0: its peer is");
    // Every rank forwards before it has sent data of its own.
    std::string text = TextOf("ring-all-gather-4.xml");
    for (auto at = text.find("s=\"0\" type=\"s\""); at != std::string::npos;
         at = text.find("s=\"0\" type=\"s\"", at))
    {
        text.replace(at, 14, "s=\"0\" type=\"rcs\"");
        const auto receive = text.find("type=\"r\"", at);
        text.replace(receive, 8, "type=\"nop\"");
    }
    ExpectRefusal(text, "a.xml:7: rank 0, block 0, step 0 waits forever for rank 3");
    // The copy of the rank's own chunk is missing.
    ExpectRefusal(
        Changed("type=\"cpy\"", "type=\"nop\""),
        "rank 0 ends: found nothing in chunk 0 of its output, expected chunk 0 of rank 0");
}

/** Machine of a program: some GPUs of some nodes. */
struct TestedSystem
{
    std::string system;
    uint32_t nodes;
    uint32_t gpusPerNode;
};

// NVSwitch, NVLink meshes, PCIe, InfiniBand and Slingshot, from latency-bound to bandwidth-bound.
TEST(MscclSweep, ShortcutsAgreeWithFlow)
{
    const std::map<std::string, std::vector<TestedSystem>> testedSystems{
        {"ring-all-gather-4.xml",
         {{"hgx-h100", 1, 4}, {"dgx-a100", 2, 2}, {"hgx-h100", 4, 1}, {"alps-gh200", 1, 4}}},
        {"all-pairs-all-reduce-8.xml",
         {{"hgx-h100", 1, 8},
          {"dgx1-v100", 1, 8},
          {"a100-pcie-8", 1, 8},
          {"dgx-a100", 2, 4},
          {"polaris", 2, 4}}}};
    for (const auto& [file, systems] : testedSystems)
    {
        for (const TestedSystem& tested : systems)
        {
            CollectiveSweepSpec spec;
            spec.cluster = ReadSystem(YamlNode::Parse(tested.system, "test"), Catalog()).cluster;
            spec.cluster.nodes = tested.nodes;
            spec.gpusPerNode = tested.gpusPerNode;
            spec.program = ReadMscclFile(FOLDER + file);
            spec.op = spec.program->op;
            spec.sizes = ParseSizeList("1KiB,64KiB,4MiB,64MiB");
            spec.fidelity = Fidelity::Flow;
            const auto flow = RunCollectiveSweep(spec);
            for (const Fidelity shortcut : {Fidelity::Stream, Fidelity::Analytical})
            {
                spec.fidelity = shortcut;
                const auto points = RunCollectiveSweep(spec);
                ASSERT_EQ(points.size(), 4U);
                ASSERT_EQ(flow.size(), 4U);
                for (std::size_t i = 0; i < points.size(); i++)
                {
                    EXPECT_NEAR(points[i].time / flow[i].time, 1, 0.005)
                        << file << " on " << tested.nodes << " " << tested.system << ", "
                        << points[i].size.Count() << " B, " << ToString(shortcut);
                }
            }
        }
    }
}

/** The example on one node, as run by `weir collective --msccl`. */
TEST(MscclSweep, RunsInFlow)
{
    CollectiveSweepSpec spec;
    spec.cluster = ReadSystem(YamlNode::Parse("hgx-h100", "test"), Catalog()).cluster;
    spec.cluster.nodes = 1;
    spec.program = ReadMscclFile(FOLDER + "all-pairs-all-reduce-8.xml");
    spec.op = spec.program->op;
    spec.fidelity = Fidelity::Flow;
    spec.sizes = ParseSizeList("1KiB:1MiB:x32");
    const auto points = RunCollectiveSweep(spec);
    ASSERT_EQ(points.size(), 3U);
    for (const auto& point : points)
    {
        EXPECT_EQ(point.algorithm, Algorithm::Imported);
        EXPECT_EQ(point.protocol, Protocol::Ll);
    }
    CollectiveSweepSpec ring = spec;
    ring.program.reset();
    ring.overrides.algorithm = Algorithm::Ring;
    ring.overrides.protocol = Protocol::Ll;
    // Two exchanges of one hop take less time than the fourteen hops of a ring, but more than a
    // seventh of it.
    const Time fourteen = RunCollectiveSweep(ring).front().time;
    EXPECT_LT(points.front().time, fourteen * 0.6);
    EXPECT_GT(points.front().time, fourteen * (2.0 / 14));
    spec.gpusPerNode = 4;
    EXPECT_THROW(RunCollectiveSweep(spec), InputError);
}

// The root is the program's, also in the table. Behind NVSwitches a broadcast from rank 1 to rank 0
// takes the time of one from rank 0 to rank 1.
TEST(MscclSweep, ARootOtherThanZeroBroadcasts)
{
    const auto broadcast = [](const std::string& root, const std::string& other) {
        return R"(<algo proto="Simple" nchannels="1" nchunksperloop="1" ngpus="2" coll="broadcast"
                        inplace="1" root=")" +
               root + R"(">
  <gpu id=")" + root +
               R"(" i_chunks="1" o_chunks="1" s_chunks="0"><tb id="0" send=")" + other +
               R"(" recv="-1" chan="0"><step s="0" type="s" srcbuf="i" srcoff="0" cnt="1"/></tb></gpu>
  <gpu id=")" + other +
               R"(" i_chunks="1" o_chunks="1" s_chunks="0"><tb id="0" send="-1" recv=")" + root +
               R"(" chan="0"><step s="0" type="r" dstbuf="o" dstoff="0" cnt="1"/></tb></gpu>
</algo>)";
    };
    CollectiveSweepSpec spec;
    spec.cluster = ReadSystem(YamlNode::Parse("hgx-h100", "test"), Catalog()).cluster;
    spec.cluster.nodes = 1;
    spec.gpusPerNode = 2;
    spec.op = CollectiveOp::Broadcast;
    spec.sizes = {Bytes::MiB(1)};
    for (const Fidelity fidelity : {Fidelity::Flow, Fidelity::Stream, Fidelity::Analytical})
    {
        spec.fidelity = fidelity;
        spec.program = ParseMscclText(broadcast("0", "1"), "a.xml");
        const auto zero = RunCollectiveSweep(spec);
        EXPECT_NE(ToNcclTestsTable(spec, zero).find(" none      0 "), std::string::npos);
        spec.program = ParseMscclText(broadcast("1", "0"), "a.xml");
        const auto one = RunCollectiveSweep(spec);
        EXPECT_EQ(zero.front().time, one.front().time) << ToString(fidelity);
        EXPECT_NE(ToNcclTestsTable(spec, one).find(" none      1 "), std::string::npos);
    }
}

} // namespace
} // namespace weir
