// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/flows/flow-network.h"
#include "scenarios/readers/read-packets.h"
#include "tests/scenarios/flow-files.h"
#include "tests/scenarios/refusal.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

/** Error message for a topology file of this text, without the file's name. */
std::string
TopologyRefusal(const std::string& text)
{
    const TextFile file(text);
    return file.Strip(RefusalOf([&] { ReadHpccTopology(file.Path()); }));
}

/** Two hosts on switch 2; host 3 is unconnected. */
const char* const NETWORK = "4 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n";

/** Error message for a flow file of this text on NETWORK, without the file's name. */
std::string
FlowRefusal(const std::string& text)
{
    const TextFile topology(NETWORK);
    const TextFile flows(text);
    return flows.Strip(RefusalOf([&] {
        HostNetwork network(ReadHpccTopology(topology.Path()));
        FlowFile file(flows.Path());
        ReadFlows(file, network);
    }));
}

TEST(HpccTopology, RefusesAWrongHeader)
{
    EXPECT_EQ(TopologyRefusal(""),
              " found an empty file, expected a topology: nodes switches links");
    EXPECT_EQ(TopologyRefusal("4 1\n"),
              "1: found 2 fields, expected 3 or 4 whole numbers: nodes switches [tors] links");
    EXPECT_EQ(TopologyRefusal("4 x 1\n"),
              "1: switches: found 'x', expected a whole number from 0 to 4");
    EXPECT_EQ(TopologyRefusal("0 0 0\n"),
              "1: nodes: found '0', expected a whole number from 1 to 16777216");
}

TEST(HpccTopology, RefusesWrongSwitches)
{
    EXPECT_EQ(TopologyRefusal("4 2 0\n1 4\n"),
              "2: switch id: found '4', expected a whole number from 0 to 3");
    EXPECT_EQ(TopologyRefusal("4 2 0\n1 1\n"),
              "2: switch id: found '1', expected each switch once");
    EXPECT_EQ(TopologyRefusal("4 2 0\n1\n"),
              "2: found the end of the file after 1 switch ids, expected 2 as line 1 says");
    EXPECT_EQ(TopologyRefusal("4 1 0\n1 2\n"),
              "2: switch id: found '2', expected only 1 switch ids, as line 1 says");
}

TEST(HpccTopology, RefusesWrongLinks)
{
    const auto link = [](const std::string& text) { return TopologyRefusal("4 1 1\n2\n" + text); };
    EXPECT_EQ(link("0 2 100Gbps 1us\n"),
              "3: found 4 fields, expected 5: src dst rate delay error_rate");
    EXPECT_EQ(link("0 4 100Gbps 1us 0\n"),
              "3: dst: found '4', expected a whole number from 0 to 3");
    EXPECT_EQ(link("0 0 100Gbps 1us 0\n"), "3: dst: found '0', expected another node than src");
    EXPECT_EQ(link("0 2 0Gbps 1us 0\n"), "3: rate: found '0Gbps', expected at least 1bps");
    EXPECT_EQ(link("0 2 -5 1us 0\n"), "3: rate: found '-5', expected at least 1bps");
    EXPECT_NE(link("0 2 100Gbs 1us 0\n").find("3: rate: found '100Gbs' with the unit 'Gbs'"),
              std::string::npos);
    EXPECT_EQ(link("0 2 100Gbps -1 0\n"),
              "3: delay: found '-1', expected at least zero and less than 106 days");
    EXPECT_EQ(link("0 2 100 1us 0\n"),
              "3: rate: found '100', expected a unit, such as 100Gbps: without one it is bit/s");
    EXPECT_EQ(link("0 2 100Gbps 5 0\n"),
              "3: delay: found '5', expected a unit, such as 1us: without one it is seconds");
    EXPECT_EQ(link("0 2 100Gbps 1us 0.01\n"),
              "3: error_rate: found '0.01', expected 0: links of a system lose no packets");
}

TEST(HpccTopology, RefusesAnotherNumberOfLinksThanItSays)
{
    EXPECT_EQ(TopologyRefusal("4 1 2\n2\n0 2 100Gbps 1us 0\n"),
              "3: found the end of the file after 1 links, expected 2 as line 1 says");
    EXPECT_EQ(TopologyRefusal("4 1 1\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n"),
              "4: found one more link, expected 1 as line 1 says");
    EXPECT_EQ(TopologyRefusal("4 1 1\n2\n0 2 100Gbps 1us 0\nsrc dst\n1 2 100Gbps 1us 0\n"),
              "5: found one more link, expected 1 as line 1 says");
}

// HPCC's own files end with a description of the format; the headers of ns3-datacenter also count
// ToRs. A number without a unit is in bit/s and seconds, as in ns-3.
TEST(HpccTopology, ReadsRemarksFourHeaderFieldsAndBareUnits)
{
    const TextFile file(
        "4 1 1 2\r\n2\r\n0 2 25000000000.0 1e-6 0\n0 2 200Gbps 0.001ms 0.0\n\n"
        "First line: total node #, switch node #, link #\n");
    const Topology topology = ReadHpccTopology(file.Path());
    ASSERT_EQ(topology.LinkCount(), 4U);
    EXPECT_EQ(topology.GetLink(LinkId(0)).rate, Rate::Gbps(25));
    EXPECT_EQ(topology.GetLink(LinkId(0)).latency, Time::Microseconds(1));
    EXPECT_EQ(topology.GetLink(LinkId(2)).rate, Rate::Gbps(200));
    EXPECT_EQ(topology.GetLink(LinkId(2)).latency, Time::Microseconds(1));
    EXPECT_EQ(topology.GetDevice(DeviceId(2)).kind, DeviceKind::LeafSwitch);
    EXPECT_EQ(topology.GetDevice(DeviceId(3)).kind, DeviceKind::Host);
}

TEST(FlowFile, RefusesEndPointsThatCannotSendOrReceive)
{
    EXPECT_EQ(FlowRefusal("1\n0 9 3 100 5 0\n"),
              "2: dst: found '9', expected a node of the topology, 0 to 3");
    EXPECT_EQ(FlowRefusal("1\n2 1 3 100 5 0\n"),
              "2: src: found '2', expected a host; node 2 is a switch of the topology");
    EXPECT_EQ(FlowRefusal("1\n1 1 3 100 5 0\n"),
              "2: dst: found '1', expected another host than src");
}

TEST(FlowFile, RefusesAFlowWithoutAPath)
{
    EXPECT_EQ(FlowRefusal("2\n0 1 3 100 5 0\n0 3 3 100 5 0\n"),
              "3: flow: found no path from host0 to host3 over network links, expected end points "
              "that links connect");
}

TEST(FlowFile, RefusesWrongNumbers)
{
    EXPECT_EQ(FlowRefusal("1\n0 1 3 100 -5 0\n"),
              "2: size: found '-5', expected a whole number from 0 to 9223372036854775807");
    EXPECT_EQ(FlowRefusal("src,dst,bytes,start_s\n0,1,-1,0\n"),
              "2: bytes: found '-1', expected a whole number from 0 to 9223372036854775807");
    EXPECT_EQ(FlowRefusal("1\n-1 1 3 100 5 0\n"),
              "2: src: found '-1', expected a whole number from 0 to 9223372036854775807");
    EXPECT_EQ(FlowRefusal("1\n0 1 3 100 9223372036854775808 0\n"),
              "2: size: found '9223372036854775808', expected a whole number from 0 to "
              "9223372036854775807");
    EXPECT_EQ(FlowRefusal("src,dst,bytes,start_s\n0,1,many,0\n"),
              "2: bytes: found 'many', expected a whole number from 0 to 9223372036854775807");
    EXPECT_EQ(FlowRefusal("1\n0 1 3 100 5 now\n"), "2: start_s: found 'now', expected a number");
    EXPECT_EQ(FlowRefusal("1\n0 1 3 100 5 nan\n"), "2: start_s: found 'nan', expected a number");
    EXPECT_EQ(FlowRefusal("1\n0 1 3 100 5 -0.5\n"),
              "2: start_s: found '-0.5', expected from 0 to 1e6 seconds");
    EXPECT_EQ(FlowRefusal("1\n0 1 3 70000 5 0\n"),
              "2: dport: found '70000', expected a whole number from 0 to 65535");
}

// 9.18e17 bytes at 100 Gb/s take 850 days; the limit of Time is 9.2e6 s.
TEST(FlowFile, RefusesFlowsThatOutlastTime)
{
    EXPECT_EQ(FlowRefusal("src,dst,bytes,start_s\n0,1,9000000000000000000,0\n"),
              "2: bytes: found '9000000000000000000', expected fewer: at 100Gbps they take longer "
              "than the maximum simulated time of 106 days");
}

TEST(FlowFile, RefusesAnotherNumberOfFlowsThanItSays)
{
    EXPECT_EQ(FlowRefusal("2\n0 1 3 100 5 0\n"),
              "2: found the end of the file after 1 flows, expected 2 as line 1 says");
    EXPECT_EQ(FlowRefusal("9223372036854775807\n0 1 3 100 5 0\n"), // no memory is allocated
              "2: found the end of the file after 1 flows, expected 9223372036854775807 as line 1 "
              "says");
    EXPECT_EQ(FlowRefusal("1\n0 1 3 100 5 0\n1 0 3 100 5 0\n"),
              "3: found one more flow, expected 1 as line 1 says");
    EXPECT_EQ(FlowRefusal("1\n0 1 3 100 5 0\n\nFirst line: flow #\n1 0 3 100 5 0\n"),
              "5: found one more flow, expected 1 as line 1 says");
    EXPECT_EQ(FlowRefusal("1\n0 1 3 100 5 0\n\nFirst line: flow #\nsrc dst pg\n"), "");
    EXPECT_EQ(FlowRefusal("2\n0 1 3 100 5 0\n1 0 3 100 5\n"),
              "3: found 5 fields, expected 6 as in the lines before");
}

TEST(FlowFile, RefusesAFileOfNoKnownForm)
{
    EXPECT_EQ(FlowRefusal(""),
              " found an empty file, expected the number of flows, or the header "
              "src,dst,bytes,start_s");
    EXPECT_EQ(FlowRefusal("0 1 3 100 5 0\n"),
              "1: found 6 fields, expected only the number of flows on its line, or the header "
              "src,dst,bytes,start_s");
    EXPECT_EQ(FlowRefusal("src;dst;bytes;start_s\n0;1;5;0\n"),
              "1: flows: found 'src;dst;bytes;start_s', expected the number of flows, or a CSV "
              "header with commas: src,dst,bytes,start_s");
    EXPECT_EQ(FlowRefusal("1\n0 1 5\n"),
              "2: found 3 fields, expected 6: src dst pg dport size start_s, or 5: src dst pg size "
              "start_s");
    EXPECT_EQ(FlowRefusal("src,dst,size,start_s\n"),
              "1: header: found 'size', expected the columns src,dst,bytes,start_s, optionally pg "
              "and dport");
    EXPECT_EQ(FlowRefusal("src,dst,start_s\n"),
              "1: header: found no column 'bytes', expected src,dst,bytes,start_s");
    EXPECT_EQ(FlowRefusal("src,dst,bytes,start_s,src\n"),
              "1: header: found 'src', expected each column once");
    EXPECT_EQ(FlowRefusal("src,dst,bytes,start_s\n0,1,5\n"),
              "2: found 3 fields, expected 4 as in the lines before");
}

// A cable of 10 s holds more bytes than the buffer at its end, which lossless links need as
// headroom.
TEST(OpenNetwork, RefusesCablesWhoseBytesNoBufferHolds)
{
    const Catalog catalog;
    const TextFile file("3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 10s 0\n");
    NetworkOverrides overrides;
    overrides.transport.packets.emplace();
    try
    {
        OpenNetwork(file.Path(), overrides, catalog);
        FAIL();
    }
    catch (const std::invalid_argument& error)
    {
        const std::string refusal = error.what();
        EXPECT_TRUE(IsOfPackets(refusal)) << refusal;
        EXPECT_NE(refusal.find("expected more than the "), std::string::npos) << refusal;
    }
}

TEST(OpenNetwork, RefusesWhatIsNeitherFileNorSystem)
{
    const Catalog catalog;
    EXPECT_NE(RefusalOf([&] { OpenNetwork("no-such-system", {}, catalog); }).find("no-such-system"),
              std::string::npos);
    EXPECT_EQ(RefusalOf([&] { OpenNetwork("no/such-file", {}, catalog); }),
              "--topology: found no readable file 'no/such-file' (No such file or directory), "
              "expected one");
    EXPECT_NE(RefusalOf([&] { OpenNetwork("/", {}, catalog); }).find("found the folder"),
              std::string::npos);
    const TextFile file(NETWORK);
    EXPECT_NE(RefusalOf([&] {
                  OpenNetwork(file.Path(), {2, {}, {}}, catalog);
              }).find("--nodes"),
              std::string::npos);
}

} // namespace
} // namespace weir
