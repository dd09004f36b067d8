// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/graph-fabric.h"
#include "fabric/routing/routing.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/transport/make-transport.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace weir
{

namespace
{

/** Notes when flows are done. */
struct Ends : FlowClient
{
    void OnFlowDone(uint64_t token, Time now) override
    {
        at.resize(std::max<std::size_t>(at.size(), token + 1));
        at[token] = now;
    }

    std::vector<Time> at;
};

/** Hosts 0 to 3 on one switch, links of 100 Gb/s and 1 us. */
Topology
Star()
{
    Topology topology;
    for (int i = 0; i < 4; i++)
    {
        topology.AddDevice(DeviceKind::Host, "host" + std::to_string(i));
    }
    const DeviceId leaf = topology.AddDevice(DeviceKind::LeafSwitch, "leaf");
    for (uint32_t i = 0; i < 4; i++)
    {
        topology.AddDuplexLink(
            DeviceId(i), leaf, LinkKind::Network, Rate::Gbps(100), Time::Microseconds(1));
    }
    return topology;
}

struct Message
{
    uint32_t from;
    int64_t bytes;
};

/** When messages to host 0 that begin together are there, us. */
std::vector<double>
TimesOf(const std::vector<Message>& messages, const CorrectionSpec& corrections)
{
    const Topology topology = Star();
    FabricSpec fabric;
    fabric.kind = GraphFabric();
    Routing routing(topology, fabric);
    const auto transport = MakeTransport(routing, std::nullopt, std::nullopt, {}, corrections);
    Ends ends;
    for (std::size_t i = 0; i < messages.size(); i++)
    {
        RouteRequest route;
        route.source = route.outNic = DeviceId(messages[i].from);
        route.destination = route.inNic = DeviceId(0);
        FlowRequest request;
        request.route = routing.Add(route);
        request.bytes = Bytes(messages[i].bytes);
        request.client = &ends;
        request.token = i;
        transport->Start(request, Time());
    }
    EngineSet engines;
    engines.Add(*transport);
    engines.RunToEnd();
    std::vector<double> times;
    for (const Time& end : ends.at)
    {
        times.push_back(end.ToSeconds() * 1e6);
    }
    return times;
}

/** 12500 bytes are a microsecond at 100 Gb/s; two links are 2 us of latency. */
TEST(CorrectedTransport, ForwardingAddsTheLastPacketOfEveryLinkButOne)
{
    CorrectionSpec spec;
    spec.forwarding.packet = Bytes(4096);
    EXPECT_NEAR(TimesOf({{1, 125000}}, spec)[0], 2 + 10 + 4096 / 12500.0, 1e-6);
    // A message of less than a packet is sent twice.
    EXPECT_NEAR(TimesOf({{1, 1250}}, spec)[0], 2 + 2 * 0.1, 1e-6);
    EXPECT_NEAR(TimesOf({{1, 125000}}, {})[0], 2 + 10, 1e-6);
}

TEST(CorrectedTransport, ForwardingAddsWhatPacketsDo)
{
    // One message alone. A last packet that is not full waits for the one before it, which is.
    CorrectionSpec spec;
    PacketSpec packets;
    packets.format.header = 0;
    spec.forwarding.packet = packets.format.mtu;
    const Topology topology = Star();
    FabricSpec fabric;
    fabric.kind = GraphFabric();
    Routing routing(topology, fabric);
    RouteRequest route;
    route.source = route.outNic = DeviceId(1);
    route.destination = route.inNic = DeviceId(0);
    const RouteId id = routing.Add(route);
    for (const int64_t bytes : {1, 4096, 40960, 1000000})
    {
        const auto transport = MakeTransport(routing, packets);
        Ends ends;
        FlowRequest request;
        request.route = id;
        request.bytes = Bytes(bytes);
        request.client = &ends;
        transport->Start(request, Time());
        EngineSet engines;
        engines.Add(*transport);
        engines.RunToEnd();
        EXPECT_NEAR(TimesOf({{1, bytes}}, spec)[0], ends.at[0].ToSeconds() * 1e6, 1e-3) << bytes;
    }
}

TEST(CorrectedTransport, UtilizationIsAPartOfNetworkLinks)
{
    CorrectionSpec spec;
    spec.utilization.ofLink = 0.8;
    EXPECT_NEAR(TimesOf({{1, 125000}}, spec)[0], 2 + 10 / 0.8, 1e-6);
    EXPECT_NEAR(TimesOf({{1, 125000}, {2, 125000}}, spec)[1], 2 + 20 / 0.8, 1e-6);
}

TEST(CorrectedTransport, CutFlowsWaitAPeriodAndGoOnAtHalfTheirRate)
{
    // Two messages of 1.25 MB (100 us each) to one port: their queue grows at 12500 B/us and marks
    // 125000 B after 10 us. What they have sent by then, 125000 B each, is through after another
    // 10 us, at 2 + 20 us. The floor gives each 1250 B/us for 300 us: 375000 B; then half of the
    // line and of that, 6875 B/us each, more than the port together, which serves 6250 B/us each:
    // 750000 B in 120 us, but the queue does not come to 125000 B before (at 1250 B/us it takes
    // 100 us) they are cut to the port's rate, and drained 10 us later.
    CorrectionSpec spec;
    spec.recovery.period = Time::Microseconds(300);
    spec.recovery.markFrom = Bytes(125000);
    spec.recovery.floor = 0.1;
    const auto times = TimesOf({{1, 1250000}, {2, 1250000}}, spec);
    EXPECT_NEAR(times[0], 2 + 20 + 300 + 120, 1e-3);
    EXPECT_NEAR(times[1], times[0], 1e-3);
    // Without it they share the port.
    EXPECT_NEAR(TimesOf({{1, 1250000}, {2, 1250000}}, {})[0], 2 + 200, 1e-6);
}

TEST(CorrectedTransport, FlowsThatHaveSentAllAreNotCut)
{
    // Of 100000 B each, two have sent all after 8 us, when 100000 B stand in the queue.
    CorrectionSpec spec;
    spec.recovery.period = Time::Microseconds(300);
    spec.recovery.markFrom = Bytes(125000);
    spec.recovery.floor = 0.1;
    EXPECT_NEAR(TimesOf({{1, 100000}, {2, 100000}}, spec)[1], 2 + 16, 1e-6);
    // One alone meets no queue, however long it is.
    EXPECT_NEAR(TimesOf({{1, 12500000}}, spec)[0], 2 + 1000, 1e-6);
}

} // namespace

} // namespace weir
