// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_FABRIC_FLOW_PLAY_H
#define WEIR_TESTS_FABRIC_FLOW_PLAY_H

#include "fabric/fabric.h"

#include "box-spec.h"
#include "fabric/kinds/clos-fabric.h"
#include "network-figures.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace weir
{

constexpr uint8_t NETWORK = KindBit(LinkKind::Network);

/** NICs of 1000 GB/s under switches with trunks of 10 GB/s, without latency. */
inline ClusterSpec
ThinSpec(uint32_t nodes,
         const Polymorphic<FabricKind>& kind,
         const Polymorphic<RoutingPolicy>& routing)
{
    ClusterSpec spec = PointSpec(nodes, kind);
    spec.node.nic = PlainProfile("nic", Rate::GBps(1000), Time());
    spec.fabric.link = PlainProfile("trunk", Rate::GBps(10), Time());
    spec.fabric.routing = routing;
    return spec;
}

/** Two leaves with @p width NICs each and @p width uplinks each; all links have 10 GB/s. */
inline ClusterSpec
TwoLeaves(uint32_t width, const Polymorphic<RoutingPolicy>& routing)
{
    ClusterSpec spec = ThinSpec(2 * width, LeafSpine(), routing);
    spec.node.nic = PlainProfile("nic", Rate::GBps(10), Time());
    spec.fabric.kind.As<ClosFabric>().leafRadix = 2 * width;
    // The radix leaves each leaf one link to each spine.
    spec.fabric.link.rawRate = Rate::GBps(10);
    return spec;
}

/** Starts flows between the NICs of a fabric and records when they end. */
class Play : private FlowClient
{
  public:
    explicit Play(const ClusterSpec& spec, std::optional<PacketSpec> packets = {})
        : m_fabric(spec, {std::move(packets)})
    {
        m_engines.Add(m_fabric.GetTransport());
    }

    /** Route from the NIC of one node to that of another. */
    RouteId RouteOf(uint32_t from, uint32_t to, uint16_t port = 0)
    {
        const Cluster& cluster = m_fabric.GetCluster();
        RouteRequest request;
        request.source = request.outNic = cluster.NicDevice(from, 0);
        request.destination = request.inNic = cluster.NicDevice(to, 0);
        request.sourcePort = request.queuePair = port;
        return m_fabric.GetRouting().Add(request);
    }

    /** One route for all of these flows, which move at one rate. */
    RouteId SumOf(const std::vector<std::pair<uint32_t, uint32_t>>& flows)
    {
        RouteSum sum;
        for (const auto& [from, to] : flows)
        {
            sum.Add(RouteOf(from, to));
        }
        return m_fabric.GetRouting().AddSum(sum);
    }

    FlowId Start(uint32_t from, uint32_t to, Bytes bytes, Time now, uint64_t flow)
    {
        return Start(RouteOf(from, to, static_cast<uint16_t>(flow)), bytes, now, flow);
    }

    FlowId Start(RouteId route, Bytes bytes, Time now, uint64_t flow)
    {
        FlowRequest request;
        request.route = route;
        request.bytes = bytes;
        request.client = this;
        request.token = flow;
        m_ends.resize(std::max<std::size_t>(m_ends.size(), flow + 1), Time::Infinite());
        return m_fabric.GetTransport().Start(request, now);
    }

    /** Runs all flows to their ends. @return time at which the last one ended */
    Time Run()
    {
        m_engines.RunToEnd();
        Time last;
        for (const Time end : m_ends)
        {
            last = std::max(last, end);
        }
        return last;
    }

    Time EndOf(uint64_t flow) const
    {
        return m_ends[flow];
    }

    /** Bytes carried by each link between switches that carried any. */
    std::vector<double> TrunkBytes()
    {
        const Topology& topology = GetTopology();
        std::vector<double> bytes;
        for (std::size_t i = 0; i < topology.LinkCount(); i++)
        {
            const double carried = m_fabric.GetTransport().GetLinkUsage(LinkId(i)).bytes;
            if (carried > 0 && JoinsSwitches(topology, LinkId(i)))
            {
                bytes.push_back(carried);
            }
        }
        return bytes;
    }

    const Topology& GetTopology() const
    {
        return m_fabric.GetCluster().GetTopology();
    }

    Fabric& GetFabric()
    {
        return m_fabric;
    }

    EngineSet& Engines()
    {
        return m_engines;
    }

  private:
    void OnFlowDone(uint64_t token, Time now) override
    {
        m_ends[token] = now;
    }

    Fabric m_fabric;
    EngineSet m_engines;
    std::vector<Time> m_ends;
};

} // namespace weir

#endif // WEIR_TESTS_FABRIC_FLOW_PLAY_H
