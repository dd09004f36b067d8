// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/routing-policies.h"
#include "packet-bench.h"
#include "random-stream.h"

#include <gtest/gtest.h>

#include <vector>

/**
 * @file
 * Transport::UncontendedTime against the simulated time of an uncontended packet flow, to the
 * picosecond.
 */
namespace weir
{
namespace
{

/** A chain of switches between two hosts, and its packet parameters. */
struct Chain
{
    std::vector<double> gbps;        //!< of each link
    std::vector<double> nanoseconds; //!< latency of each link
    PacketSpec spec;
    LinkKind kind{LinkKind::Network};
};

/**
 * Time of an uncontended flow of @p bytes, simulated and from UncontendedTime(), in picoseconds.
 */
std::pair<int64_t, int64_t>
TimesAlone(const Chain& chain, Bytes bytes, Rate cap = Rate::Infinite(), uint32_t connections = 1)
{
    PacketBench bench;
    const uint32_t from = bench.AddHost();
    uint32_t at = from;
    std::vector<LinkId> links;
    for (std::size_t i = 0; i < chain.gbps.size(); i++)
    {
        const uint32_t next = i + 1 < chain.gbps.size() ? bench.AddSwitch() : bench.AddHost();
        links.push_back(bench.Join(at,
                                   next,
                                   Rate::Gbps(chain.gbps[i]),
                                   Time::Nanoseconds(chain.nanoseconds[i]),
                                   chain.kind));
        at = next;
    }
    bench.Open(chain.spec);
    FlowRequest request;
    request.route = chain.kind == LinkKind::Network ? bench.RouteOf(from, at)
                                                    : bench.GetRouting().AddPinned(links);
    request.bytes = bytes;
    request.cap = cap;
    request.connections = connections;
    const std::size_t flow = bench.AddFlow(request);
    bench.Run();
    return {bench.Duration(flow).ToPicoseconds(),
            bench.Any().UncontendedTime(request, PathId()).ToPicoseconds()};
}

PacketSpec
PlainSpec()
{
    PacketSpec spec;
    spec.switches.marks = false;
    spec.switches.buffer = Bytes::GiB(1); // lets a fast link run far ahead of a slow one
    return spec;
}

/**
 * Agreement over random cases: sizes from zero to some hundred packets, 1 to 6 links of various
 * rates, MTUs from 64 bytes, store-and-forward or cut-through, PFC, credits or neither. So an
 * uncontended flow has a slowdown of 1.
 */
TEST(UncontendedTime, IsWhatAFlowAloneTakes)
{
    RandomStream random(1);
    const std::vector<double> rates{10, 25, 40, 100, 200, 400};
    for (int i = 0; i < 400; i++)
    {
        Chain chain;
        chain.spec = PlainSpec();
        chain.spec.format.mtu = Bytes(random.Between(64, 9000));
        chain.spec.format.header = static_cast<uint32_t>(random.Between(0, 100));
        chain.spec.format.controlSize = Bytes(64);
        chain.spec.switches.cutThrough = i % 2 == 1;
        chain.spec.switches.flowControl = i % 3 == 0   ? FlowControl::None
                                          : i % 3 == 1 ? FlowControl::Pfc
                                                       : FlowControl::Credits;
        chain.spec.switches.creditUnit = Bytes(1); // else credits round up
        // With times rounded down, packets would be faster than the credits allow for.
        chain.spec.clock = i % 5 == 0 && i % 3 != 2 ? Time::Nanoseconds(1) : Time::Picoseconds(1);
        const int64_t links = random.Between(1, 6);
        for (int64_t link = 0; link < links; link++)
        {
            chain.gbps.push_back(rates[static_cast<std::size_t>(random.Between(0, 5))]);
            chain.nanoseconds.push_back(static_cast<double>(random.Between(0, 2000)));
        }
        const Bytes bytes(random.Between(0, 3) == 0
                              ? random.Between(0, 3) * chain.spec.format.mtu.Count()
                              : random.Between(0, 1'000'000));
        const auto [simulated, said] = TimesAlone(chain, bytes);
        EXPECT_EQ(simulated, said)
            << "case " << i << ", " << links << " links, " << bytes.Count() << " bytes";
    }
}

/** As above, for flows that end with their last acknowledgment and flows with a rate cap. */
TEST(UncontendedTime, KnowsAcknowledgmentsAndCaps)
{
    RandomStream random(2);
    for (int i = 0; i < 200; i++)
    {
        Chain chain;
        chain.spec = PlainSpec();
        chain.spec.format.mtu = Bytes(random.Between(64, 9000));
        chain.spec.format.header = 82;
        chain.spec.switches.cutThrough = i % 2 == 1;
        chain.spec.queuePair.flowEnd = i % 4 < 2 ? FlowEnd::Acknowledged : FlowEnd::Received;
        const int64_t links = random.Between(1, 6);
        for (int64_t link = 0; link < links; link++)
        {
            chain.gbps.push_back(100);
            chain.nanoseconds.push_back(500);
        }
        const Bytes bytes(random.Between(0, 200'000));
        const Rate cap =
            i % 4 == 0 ? Rate::Infinite() : Rate::Gbps(static_cast<double>(random.Between(1, 150)));
        const auto [simulated, said] = TimesAlone(chain, bytes, cap);
        EXPECT_EQ(simulated, said)
            << "case " << i << ", " << links << " links, " << bytes.Count() << " bytes";
    }
}

/**
 * Links inside a node carry bursts without headers, and the pacing of a sender counts none either.
 */
TEST(UncontendedTime, CountsNoHeadersInsideANode)
{
    RandomStream random(3);
    for (int i = 0; i < 100; i++)
    {
        Chain chain;
        chain.kind = i % 2 == 0 ? LinkKind::NvLink : LinkKind::Pcie;
        for (int64_t link = random.Between(1, 3); link > 0; link--)
        {
            chain.gbps.push_back(static_cast<double>(random.Between(1, 50) * 100));
            chain.nanoseconds.push_back(static_cast<double>(random.Between(0, 500)));
        }
        const Bytes bytes(random.Between(0, 3) == 0 ? random.Between(0, 4000)
                                                    : random.Between(0, 10'000'000));
        const auto [simulated, said] = TimesAlone(chain, bytes);
        EXPECT_EQ(simulated, said) << "case " << i << ", " << bytes.Count() << " bytes";
    }
}

/** Equal parts on several queue pairs of one port are sent one after the other. */
TEST(UncontendedTime, OfEqualPartsIsExact)
{
    for (const uint32_t connections : {2u, 4u, 8u})
    {
        Chain chain;
        chain.spec = PlainSpec();
        chain.gbps = {100, 100, 100};
        chain.nanoseconds = {500, 500, 500};
        const auto [simulated, said] =
            TimesAlone(chain, Bytes(100'000 * connections), Rate::Infinite(), connections);
        EXPECT_EQ(simulated, said) << connections;
    }
}

/** The end of a flow. */
struct End : FlowClient
{
    void OnFlowDone(uint64_t /* token */, Time now) override
    {
        at = now;
    }

    Time at{Time::Infinite()};
};

/** Two hosts of 100 Gb/s, each on a switch, and two switches of @p gbps between these. */
struct TwoPaths
{
    PacketBench bench;
    uint32_t from;
    uint32_t to;

    TwoPaths(double gbps, Time latency, Time otherLatency)
        : from(bench.AddHost()),
          to(bench.AddHost())
    {
        const Time near = Time::Nanoseconds(500);
        const uint32_t first = bench.AddSwitch();
        const uint32_t last = bench.AddSwitch();
        bench.Join(from, first, Rate::Gbps(100), near);
        bench.Join(last, to, Rate::Gbps(100), near);
        for (const Time each : {latency, otherLatency})
        {
            const uint32_t middle = bench.AddSwitch();
            bench.Join(first, middle, Rate::Gbps(gbps), each);
            bench.Join(middle, last, Rate::Gbps(gbps), each);
        }
    }
};

// Load-aware switches take the first path, of 4 x 0.5 us, for a flow on an idle network, whatever
// its hash: 100 kB take 8 us more. Sprayed over both paths, it takes the latency of the slower one,
// 2 x 0.5 + 2 x 5 us.
TEST(UncontendedTime, IsThatOfTheChosenPathsWhateverTheHash)
{
    for (const bool isSprayed : {false, true})
    {
        TwoPaths paths(100, Time::Nanoseconds(500), Time::Microseconds(5));
        isSprayed ? paths.bench.OpenFluid(SprayRouting())
                  : paths.bench.OpenFluid(AdaptiveRouting());
        Transport& transport = paths.bench.Any();
        for (uint16_t port = 0; port < 6; port++)
        {
            RouteRequest ends;
            ends.source = ends.outNic = DeviceId(paths.from);
            ends.destination = ends.inNic = DeviceId(paths.to);
            ends.sourcePort = port;
            End end;
            FlowRequest request;
            request.route = paths.bench.GetRouting().Add(ends);
            request.bytes = Bytes(100'000);
            request.client = &end;
            const Time start = Time::Milliseconds(port);
            paths.bench.RunUntil(start);
            const FlowPath taken = transport.CurrentPath(transport.Start(request, start));
            const Time said =
                transport.UncontendedTime(request, taken.unit == 1 ? taken.path : PathId());
            paths.bench.RunUntil(start + Time::Microseconds(500));
            EXPECT_EQ(said, Time::Microseconds(isSprayed ? 19 : 10));
            EXPECT_EQ(end.at - start, said);
        }
    }
}

/**
 * Two to five paths between two switches, of one to four packets of 4096 bytes a path or many more.
 * The packets take the paths in turn, wait for each other at both ends, and may overtake each other
 * where paths differ in rate or latency (those of every fourth case are alike): the flow ends when
 * the last of them has arrived, or when its acknowledgment has.
 */
TEST(UncontendedTime, OfASprayedFlowIsThatOfAllItsPackets)
{
    RandomStream random(2);
    const std::vector<double> rates{10, 25, 40, 50, 100, 200};
    for (int i = 0; i < 300; i++)
    {
        PacketBench bench;
        const uint32_t from = bench.AddHost();
        const uint32_t to = bench.AddHost();
        const uint32_t first = bench.AddSwitch();
        const uint32_t last = bench.AddSwitch();
        const auto rate = [&] {
            return Rate::Gbps(rates[static_cast<std::size_t>(random.Between(0, 5))]);
        };
        const auto latency = [&] {
            return Time::Nanoseconds(static_cast<double>(random.Between(0, 3000)));
        };
        bench.Join(from, first, rate(), latency());
        bench.Join(last, to, rate(), latency());
        const bool isEven = i % 2 == 0;
        const bool areAlike = i % 4 == 0;
        const Rate common = rate();
        const Time delay = latency();
        const int64_t paths = random.Between(2, 5);
        for (int64_t path = 0; path < paths; path++)
        {
            const uint32_t middle = bench.AddSwitch();
            bench.Join(first, middle, isEven ? common : rate(), areAlike ? delay : latency());
            bench.Join(middle, last, isEven ? common : rate(), areAlike ? delay : latency());
        }
        PacketSpec spec = PlainSpec();
        spec.switches.cutThrough = i % 3 == 1;
        spec.queuePair.flowEnd = i % 5 == 0 ? FlowEnd::Acknowledged : FlowEnd::Received;
        bench.Open(spec, SprayRouting());
        FlowRequest request;
        request.route = bench.RouteOf(from, to);
        request.bytes = Bytes(random.Between(0, isEven && i % 8 < 4 ? 2'000'000 : 80'000));
        request.cap = i % 7 == 0 ? rate() : Rate::Infinite();
        if (i % 11 == 0) // two queue pairs of equal parts; the order of unequal ones is not fixed
        {
            request.connections = 2;
            request.bytes = Bytes(random.Between(0, 40) * 2 * spec.format.mtu.Count());
        }
        const std::size_t flow = bench.AddFlow(request);
        bench.Run();
        EXPECT_EQ(bench.Duration(flow).ToPicoseconds(),
                  bench.Any().UncontendedTime(request, PathId()).ToPicoseconds())
            << "case " << i << ", " << paths << " paths, " << request.bytes.Count() << " bytes";
    }
}

/**
 * A flow over a set of links, one of them three times: 1 MB at 1 GB/s is 3 MB at 3 GB/s on that
 * link, and takes 1 ms. So without a cap three times 1 MB at the 10 GB/s of the link: 0.3 ms.
 */
TEST(UncontendedTime, CapsOfSetsOfLinksScaleWithTheirUses)
{
    for (const double cap : {1.0, 100.0})
    {
        PacketBench bench;
        const uint32_t from = bench.AddHost();
        const uint32_t middle = bench.AddSwitch();
        const uint32_t to = bench.AddHost();
        const auto join = [&](uint32_t a, uint32_t b) {
            return bench.Join(a, b, Rate::GBps(10), Time::Nanoseconds(100), LinkKind::NvLink);
        };
        const LinkId first = join(from, middle);
        const LinkId second = join(middle, to);
        bench.Open(PlainSpec());
        FlowRequest request;
        request.route = bench.GetRouting().AddFixed({first, second, second, second});
        request.bytes = Bytes(1'000'000);
        request.cap = Rate::GBps(cap);
        const std::size_t flow = bench.AddFlow(request);
        bench.Run();
        const double duration = bench.Duration(flow).ToMicroseconds();
        EXPECT_NEAR(duration, cap == 1 ? 1000 : 300, 5) << cap;
        EXPECT_NEAR(
            duration, bench.Any().UncontendedTime(request, PathId()).ToMicroseconds(), 1e-6);
    }
}

} // namespace
} // namespace weir
