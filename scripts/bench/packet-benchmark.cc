// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/graph-fabric.h"
#include "fabric/routing/routing.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/transport/packet/congestion/congestion-control.h"
#include "fabric/transport/packet/packet-transport.h"
#include "fluid-pattern.h"

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

namespace
{

using namespace weir;

/** A k-ary fat tree (Al-Fares et al., SIGCOMM 2008, section 3) with links of 400 Gb/s and 1 us. */
class FatTreeOfHosts
{
  public:
    explicit FatTreeOfHosts(uint32_t hosts)
    {
        uint32_t k = 2;
        while (k * k * k / 4 < hosts)
        {
            k += 2;
        }
        for (uint32_t i = 0; i < k * k * k / 4; i++)
        {
            Add(DeviceKind::Host);
        }
        const uint32_t half = k / 2;
        const auto first = static_cast<uint32_t>(topology.DeviceCount());
        for (uint32_t i = 0; i < 2 * k * half + half * half; i++)
        {
            Add(DeviceKind::LeafSwitch);
        }
        const auto edge = [&](uint32_t pod, uint32_t i) { return first + pod * half + i; };
        const auto aggregation = [&](uint32_t pod, uint32_t i) {
            return first + k * half + pod * half + i;
        };
        for (uint32_t pod = 0; pod < k; pod++)
        {
            for (uint32_t i = 0; i < half; i++)
            {
                for (uint32_t j = 0; j < half; j++)
                {
                    Join((pod * half + i) * half + j, edge(pod, i));
                    Join(edge(pod, i), aggregation(pod, j));
                    Join(aggregation(pod, i), first + 2 * k * half + i * half + j);
                }
            }
        }
    }

    Topology topology;

  private:
    void Add(DeviceKind kind)
    {
        topology.AddDevice(kind, std::to_string(topology.DeviceCount()));
    }

    void Join(uint32_t a, uint32_t b)
    {
        topology.AddDuplexLink(
            DeviceId(a), DeviceId(b), LinkKind::Network, Rate::Gbps(400), Time::Microseconds(1));
    }
};

/** Each host sends to one other host. An item is one packet on one link. */
void
PacketHops(benchmark::State& state, const char* congestionControl)
{
    const auto hosts = static_cast<uint32_t>(state.range(0));
    const auto bytes = static_cast<double>(state.range(1)) * 1e6;
    const FatTreeOfHosts tree(hosts);
    FabricSpec fabric;
    fabric.kind = GraphFabric();
    const auto permutation = MakePattern("permutation", hosts, 1);
    uint64_t hops = 0;
    uint64_t events = 0;
    std::size_t max = 0;
    for (auto _ : state)
    {
        state.PauseTiming();
        Routing routing(tree.topology, fabric);
        PacketSpec spec;
        spec.congestionControl = *CongestionControls().Find(congestionControl);
        PacketTransport transport(routing, spec);
        std::vector<FlowRequest> flows;
        for (uint32_t i = 0; i < permutation->Count(); i++)
        {
            const FluidFlow flow = permutation->Flow(i);
            RouteRequest route;
            route.source = route.outNic = DeviceId(flow.source);
            route.destination = route.inNic = DeviceId(flow.destination);
            route.sourcePort = static_cast<uint16_t>(i);
            FlowRequest request;
            request.route = routing.Add(route);
            request.bytes = Bytes(static_cast<int64_t>(bytes));
            flows.push_back(request);
        }
        state.ResumeTiming();
        for (const FlowRequest& request : flows)
        {
            transport.Start(request, Time());
        }
        while (transport.ActiveFlows() > 0)
        {
            transport.AdvanceExclusively(Time::Infinite());
        }
        hops += transport.PacketHops();
        events += transport.Events();
        max = transport.PeakPackets();
    }
    state.SetItemsProcessed(static_cast<int64_t>(hops));
    state.counters["events/hop"] = static_cast<double>(events) / static_cast<double>(hops);
    state.counters["packets"] = static_cast<double>(max);
}

BENCHMARK_CAPTURE(PacketHops, none, "none")
    ->ArgNames({"hosts", "MB"})
    ->Args({16, 10})
    ->Args({128, 10})
    ->Args({1024, 10})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(PacketHops, dcqcn, "dcqcn")
    ->ArgNames({"hosts", "MB"})
    ->Args({16, 10})
    ->Args({128, 10})
    ->Args({1024, 10})
    ->Unit(benchmark::kMillisecond);

} // namespace
