// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/flows/hpcc-config.h"

#include "fabric/transport/packet/congestion/dcqcn.h"
#include "fabric/transport/packet/congestion/dctcp.h"
#include "fabric/transport/packet/congestion/hpcc.h"
#include "fabric/transport/packet/congestion/timely.h"
#include "scenarios/flows/hpcc-topology.h"
#include "scenarios/readers/read-packets.h"
#include "tests/scenarios/flow-files.h"
#include "tests/scenarios/refusal.h"

#include <gtest/gtest.h>
#include <string>

namespace weir
{
namespace
{

/** Two hosts at 25 Gb/s and one at 100 Gb/s on a switch, each at 1 us. */
const char* const STAR = "4 1 3\n3\n0 3 25Gbps 1us 0\n1 3 25Gbps 1us 0\n2 3 100Gbps 0.001ms 0\n";

/** Packet specification on STAR for a configuration of this text. */
PacketSpec
SpecOf(const std::string& text)
{
    const TextFile topology(STAR);
    const TextFile config(text);
    return ReadPackets(HpccConfig(config.Path()).Network(ReadHpccTopology(topology.Path())));
}

template <typename Control>
const Control&
ControlOf(const PacketSpec& spec)
{
    return dynamic_cast<const Control&>(*spec.congestionControl);
}

std::string
Refusal(const std::string& text)
{
    const TextFile config(text);
    return config.Strip(RefusalOf([&] {
        const TextFile topology(STAR);
        const Topology read = ReadHpccTopology(topology.Path());
        HpccConfig(config.Path()).Network(read);
        HpccConfig(config.Path()).Events(read, {});
    }));
}

/** LINK_DOWN is in microseconds after 2 s, when flows start; links keep their own error rates. */
TEST(HpccConfig, SaysWhatHappensToLinks)
{
    const TextFile topology("4 1 3\n3\n0 3 25Gbps 1us 0\n1 3 25Gbps 1us 0.5\n2 3 100Gbps 1us 0\n");
    std::vector<EventSpec> lossy;
    const Topology read = ReadHpccTopology(topology.Path(), &lossy);
    const auto eventsOf = [&](const std::string& text) {
        const TextFile config(text);
        return HpccConfig(config.Path()).Events(read, lossy);
    };
    const auto events = eventsOf("CC_MODE 1\nERROR_RATE_PER_LINK 0.25\nLINK_DOWN 100 2 3\n");
    std::vector<std::string> links;
    for (const EventSpec& event : events)
    {
        links.push_back(event.from + "->" + event.to);
    }
    EXPECT_EQ(links,
              (std::vector<std::string>{"host0->switch3",
                                        "switch3->host0",
                                        "host2->switch3",
                                        "switch3->host2",
                                        "host2->switch3"}));
    EXPECT_EQ(events.front().kind, EventKind::LossyLink);
    EXPECT_EQ(events.front().loss, 0.25);
    EXPECT_EQ(events.back().kind, EventKind::LinkDown);
    EXPECT_EQ(events.back().at, Time::Seconds(2) + Time::Microseconds(100));
    EXPECT_TRUE(eventsOf("CC_MODE 1\nERROR_RATE_PER_LINK 0.0\nLINK_DOWN 0 0 0\n").empty());
    EXPECT_TRUE(eventsOf("CC_MODE 1\n").empty());
}

/** The simulator keeps one interface per neighbor: that of the last link listed between the two. */
TEST(HpccConfig, TheLastOfParallelLinksGoesDown)
{
    const TextFile topology("3 1 3\n2\n0 2 25Gbps 1us 0\n1 2 25Gbps 1us 0\n1 2 50Gbps 1us 0\n");
    const TextFile config("CC_MODE 1\nLINK_DOWN 5 2 1\n");
    const auto events = HpccConfig(config.Path()).Events(ReadHpccTopology(topology.Path()), {});
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events.front().from, "switch2");
    EXPECT_EQ(events.front().to, "host1#2");
}

TEST(HpccConfig, SaysHowDcqcnIsSet)
{
    const PacketSpec spec = SpecOf(
        "ENABLE_QCN 1\nUSE_DYNAMIC_PFC_THRESHOLD 1\nPACKET_PAYLOAD_SIZE 1500\nCC_MODE 1\n"
        "ALPHA_RESUME_INTERVAL 2\nRATE_DECREASE_INTERVAL 5\nCLAMP_TARGET_RATE 1\nRP_TIMER 900\n"
        "EWMA_GAIN 0.00390625\nFAST_RECOVERY_TIMES 3\nRATE_AI 50Mb/s\nRATE_HAI 100Mb/s\n"
        "MIN_RATE 200Mb/s\nL2_ACK_INTERVAL 6000\nACK_HIGH_PRIO 1\nBUFFER_SIZE 24\n"
        "SIMULATOR_STOP_TIME 4.00\nTRACE_OUTPUT_FILE mix/mix.tr\nLINK_DOWN 0 0 0\n"
        "KMAX_MAP 3 25000000000 200 40000000000 1 100000000000 800\n"
        "KMIN_MAP 2 25000000000 50 100000000000 200\n"
        "PMAX_MAP 2 25000000000 0.3 100000000000 0.3\n");
    EXPECT_EQ(spec.format.mtu, Bytes(1500));
    EXPECT_EQ(spec.format.header, 48u);
    EXPECT_EQ(spec.clock, Time::Nanoseconds(1));
    EXPECT_EQ(spec.queuePair.ackEvery, 4u);
    EXPECT_TRUE(spec.queuePair.ackPriority);
    EXPECT_EQ(spec.queuePair.flowEnd, FlowEnd::Acknowledged);
    EXPECT_EQ(spec.switches.buffer, Bytes::MiB(24));
    EXPECT_EQ(spec.switches.flowControl, FlowControl::Pfc);
    EXPECT_EQ(spec.switches.alphaRate, Rate::Gbps(25));
    EXPECT_EQ(spec.switches.markFrom, Bytes(50000));
    EXPECT_EQ(spec.switches.markAll, Bytes(200000));
    EXPECT_EQ(spec.switches.markRate, Rate::Gbps(25));
    EXPECT_EQ(spec.switches.markProbability, 0.3);
    const auto& dcqcn = ControlOf<Dcqcn>(spec);
    EXPECT_EQ(dcqcn.alphaTimer, Time::Microseconds(2));
    EXPECT_EQ(dcqcn.cutCheck, Time::Microseconds(5));
    EXPECT_EQ(dcqcn.increaseTimer, Time::Microseconds(900));
    EXPECT_TRUE(dcqcn.notificationInterval.IsInfinite());
    EXPECT_TRUE(dcqcn.clampTarget);
    EXPECT_EQ(dcqcn.fastRecovery, 3u);
    EXPECT_EQ(dcqcn.alphaGain, 0.00390625);
    EXPECT_EQ(dcqcn.additiveIncrease, Rate::BitsPerSecond(50e6));
    EXPECT_EQ(dcqcn.hyperIncrease, Rate::BitsPerSecond(100e6));
    EXPECT_EQ(dcqcn.minimumRate, Rate::BitsPerSecond(200e6));
    EXPECT_EQ(dcqcn.increaseRate, Rate());
}

/**
 * The largest round trip of STAR is between the hosts at 25 Gb/s: 2 x 2 us and 2 x 320 ns for 1000
 * bytes. From there to the other host it is shorter, 4 us + 320 ns + 80 ns. All pairs have 25 Gb/s:
 * 4640 ns x 25 Gb/s are 14500 bytes.
 */
TEST(HpccConfig, WindowsAreOfTheLargestPair)
{
    const std::string text =
        "CC_MODE 3\nHAS_WIN 1\nGLOBAL_T 1\nVAR_WIN 1\nFAST_REACT 0\n"
        "U_TARGET 0.9\nMI_THRESH 0\nINT_MULTI 2\nRATE_AI 80Mb/s\n";
    const auto byAll = ControlOf<Hpcc>(SpecOf(text));
    EXPECT_EQ(byAll.baseRtt, Time::Nanoseconds(4640));
    EXPECT_EQ(byAll.window, Bytes(14500));
    EXPECT_FALSE(byAll.windowOfPath);
    EXPECT_FALSE(byAll.fastReaction);
    EXPECT_EQ(byAll.utilization, 0.9);
    EXPECT_EQ(byAll.byteUnit, 256u);
    EXPECT_EQ(byAll.queueUnit, 160u);
    EXPECT_EQ(byAll.increase, Rate::BitsPerSecond(80e6));
    std::string own = text;
    own.replace(own.find("GLOBAL_T 1"), 10, "GLOBAL_T 0");
    const auto byPath = ControlOf<Hpcc>(SpecOf(own));
    EXPECT_EQ(byPath.baseRtt, Time());
    EXPECT_TRUE(byPath.windowOfPath);
}

TEST(HpccConfig, KnowsTimelyAndDctcp)
{
    const auto timely = ControlOf<Timely>(SpecOf("CC_MODE 7\nRATE_AI 20Mb/s\nRATE_HAI 60Mb/s\n"));
    EXPECT_EQ(timely.increase, Rate::BitsPerSecond(20e6));
    EXPECT_EQ(timely.hyperIncrease, Rate::BitsPerSecond(60e6));
    EXPECT_EQ(timely.increaseRate, Rate()); // the file's rates apply to its links as they are
    const auto dctcp = ControlOf<Dctcp>(
        SpecOf("CC_MODE 8\nDCTCP_RATE_AI 615Mb/s\nEWMA_GAIN 0.0625\nENABLE_QCN 1\n"));
    EXPECT_EQ(dctcp.increase, Rate::BitsPerSecond(615e6));
    EXPECT_EQ(dctcp.gain, 0.0625);
    EXPECT_FALSE(SpecOf("CC_MODE 7\nENABLE_QCN 0\n").switches.marks);
}

TEST(HpccConfig, RefusesWhatCannotBe)
{
    EXPECT_EQ(Refusal("CC_MOD 1\n"),
              "1: key: found 'CC_MOD', expected one of HPCC's simulator, such as CC_MODE (did you "
              "mean 'CC_MODE'?)");
    EXPECT_EQ(Refusal("RP_TIMER 1\n"),
              "1: found no CC_MODE, expected a configuration of HPCC's simulator");
    EXPECT_EQ(Refusal("CC_MODE\n"), "1: CC_MODE: found nothing, expected a value");
    EXPECT_EQ(Refusal("CC_MODE 1\nCC_MODE 3\n"),
              "2: CC_MODE: found it twice (first on line 1), expected it once");
    EXPECT_EQ(Refusal("CC_MODE 10\n"),
              "1: CC_MODE: found '10', expected 1 (DCQCN), 3 (HPCC), 7 (TIMELY) or 8 (DCTCP)");
    EXPECT_EQ(
        Refusal("CC_MODE 1\nL2_BACK_TO_ZERO 1\n"),
        "2: L2_BACK_TO_ZERO: found '1', expected 0: lost packets are retransmitted by go-back-N");
    EXPECT_EQ(Refusal("CC_MODE 1\nUSE_DYNAMIC_PFC_THRESHOLD 0\n"),
              "2: USE_DYNAMIC_PFC_THRESHOLD: found '0', expected 1: pause thresholds are dynamic");
    EXPECT_EQ(Refusal("CC_MODE 1\nERROR_RATE_PER_LINK 1\n"),
              "2: ERROR_RATE_PER_LINK: found '1', expected 0 to below 1");
    for (const char* down : {"100 0 1", "100 0 4", "100 0", "soon 0 3", "-1 0 3"})
    {
        EXPECT_EQ(Refusal(std::string("CC_MODE 1\nLINK_DOWN ") + down + "\n"),
                  std::string("2: LINK_DOWN: found '") + down +
                      "', expected a time in microseconds and two nodes that a link connects");
    }
    EXPECT_EQ(Refusal("CC_MODE 1\nRP_TIMER soon\n"),
              "2: RP_TIMER: found 'soon', expected a number from 0 to 1e+09");
    EXPECT_EQ(Refusal("CC_MODE 1\nRATE_AI 50\n"),
              "2: RATE_AI: found '50', expected a rate with a unit, such as 50Mb/s");
    EXPECT_EQ(Refusal("CC_MODE 1\nKMIN_MAP 2 25000000000 100\n"),
              "2: KMIN_MAP: found '2 25000000000 100', expected a count, followed by that many "
              "pairs of a rate in bits per second and a value");
    EXPECT_EQ(Refusal("CC_MODE 1\nKMIN_MAP 1 25000000000 100\n"),
              "2: KMIN_MAP: found '1 25000000000 100', expected an entry of 100000000000, which "
              "ports of the topology have");
    EXPECT_EQ(Refusal("CC_MODE 1\nKMAX_MAP 2 25000000000 100 100000000000 100\n"),
              "2: KMAX_MAP: found '2 25000000000 100 100000000000 100', expected values in "
              "proportion to the rates of the topology");
    EXPECT_EQ(Refusal("CC_MODE 1\nPMAX_MAP 2 25000000000 0.2 100000000000 0.8\n"),
              "2: PMAX_MAP: found '2 25000000000 0.2 100000000000 0.8', expected one value for all "
              "rates of the topology");
    EXPECT_EQ(Refusal("CC_MODE 1\nPMAX_MAP 2 25000000000 2 100000000000 2\n"),
              "2: PMAX_MAP: found '2 25000000000 2 100000000000 2', expected probabilities, at "
              "most 1");
    EXPECT_EQ(Refusal("CC_MODE 1\nKMIN_MAP 2 25000000000 500 100000000000 2000\n"),
              "2: KMIN_MAP: found '2 25000000000 500 100000000000 2000', expected at most KMAX, "
              "400 kB at 25000000000");
    EXPECT_EQ(Refusal("CC_MODE 1\nKMAX_MAP 2 25000000000 50 100000000000 200\n"),
              "2: KMAX_MAP: found '2 25000000000 50 100000000000 200', expected at least KMIN, 100 "
              "kB at 25000000000");
    EXPECT_EQ(Refusal("CC_MODE 1\nHAS_WIN 1\nVAR_WIN 0\n"),
              "3: VAR_WIN: found '0', expected VAR_WIN 1 with HAS_WIN 1 and CC_MODE 1: DCQCN's "
              "window follows its rate");
    const TextFile config("CC_MODE 1\nFLOW_FILE no/such.txt\n");
    EXPECT_EQ(config.Strip(RefusalOf([&] { HpccConfig(config.Path()).FlowFile(); })),
              "2: FLOW_FILE: found 'no/such.txt', expected a file, by itself or from the "
              "configuration's folder or the one above");
    const TextFile yaml("congestionControl: {kind: none}\n");
    EXPECT_FALSE(HpccConfig::IsOne(yaml.Path()));
    EXPECT_TRUE(HpccConfig::IsOne(config.Path()));
}

} // namespace
} // namespace weir
