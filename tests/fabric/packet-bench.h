// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_PACKET_BENCH_H
#define WEIR_TESTS_PACKET_BENCH_H

#include "fabric/kinds/graph-fabric.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/transport/corrected/corrected-transport.h"
#include "fabric/transport/fluid/fluid-transport.h"
#include "fabric/transport/hybrid/hybrid-transport.h"
#include "fabric/transport/packet/packet-transport.h"
#include "fabric/transport/replay/replay-transport.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace weir
{

/** Packets of 1000 bytes plus 48 of headers, on switches without losses and marks. */
inline PacketSpec
PlainPackets()
{
    PacketSpec spec;
    spec.format.mtu = Bytes(1000);
    spec.format.header = 48;
    spec.format.controlSize = Bytes(60);
    spec.switches.marks = false;
    return spec;
}

/**
 * Hosts and switches with a packet, fluid or hybrid transport, and flows whose ends are recorded.
 */
class PacketBench : private FlowClient, private PassiveEngine
{
  public:
    uint32_t AddHost()
    {
        return Add(DeviceKind::Host);
    }

    uint32_t AddSwitch()
    {
        return Add(DeviceKind::LeafSwitch);
    }

    /** @return the direction from @p a to @p b. */
    LinkId Join(uint32_t a, uint32_t b, Rate rate, Time latency, LinkKind kind = LinkKind::Network)
    {
        return m_topology.AddDuplexLink(DeviceId(a), DeviceId(b), kind, rate, latency);
    }

    /** A chain of a host, @p switches switches, and a host. @return the two hosts */
    std::pair<uint32_t, uint32_t> AddChain(unsigned switches, Rate rate, Time latency)
    {
        const uint32_t from = AddHost();
        uint32_t at = from;
        for (unsigned i = 0; i < switches; i++)
        {
            const uint32_t next = AddSwitch();
            Join(at, next, rate, latency);
            at = next;
        }
        const uint32_t to = AddHost();
        Join(at, to, rate, latency);
        return {from, to};
    }

    /** The link to a device that has only one. */
    LinkId LinkTo(uint32_t device) const
    {
        return m_topology.GetLink(m_topology.LinksFrom(DeviceId(device)).front()).opposite;
    }

    /** Assigns a switch to a group of a dragonfly. */
    void SetGroup(uint32_t device, uint32_t group)
    {
        m_topology.SetGroup(DeviceId(device), group);
    }

    /** Creates the transport. Call it after all links are joined and before flows are added. */
    void Open(const PacketSpec& spec, const Polymorphic<RoutingPolicy>& routing = EcmpRouting())
    {
        MakeRouting(routing);
        auto packets = std::make_unique<PacketTransport>(*m_routing, spec);
        m_packets = packets.get();
        Use(std::move(packets));
    }

    void OpenFluid(const Polymorphic<RoutingPolicy>& routing = EcmpRouting())
    {
        MakeRouting(routing);
        Use(std::make_unique<FluidTransport>(*m_routing));
    }

    void OpenCorrected(const CorrectionSpec& spec)
    {
        MakeRouting(EcmpRouting());
        Use(std::make_unique<CorrectedTransport>(*m_routing, spec));
    }

    void OpenHybrid(const TransportSpec& spec,
                    const Polymorphic<RoutingPolicy>& routing = EcmpRouting())
    {
        MakeRouting(routing);
        auto both = std::make_unique<HybridTransport>(*m_routing, spec);
        m_packets = &both->GetPackets();
        m_hybrid = both.get();
        Use(std::move(both));
    }

    void OpenReplay(const PacketSpec& spec,
                    const Polymorphic<RoutingPolicy>& routing = EcmpRouting())
    {
        MakeRouting(routing);
        auto replay = std::make_unique<ReplayTransport>(*m_routing, spec);
        m_replay = replay.get();
        Use(std::move(replay));
    }

    /**
     * Adds a flow; flows must be added in the order of their starts.
     * @return the index of the flow, for Duration() and End()
     */
    std::size_t AddFlow(uint32_t from, uint32_t to, Bytes bytes, Time start = Time())
    {
        return AddFlow(RouteOf(from, to), bytes, start);
    }

    /** Route of the flow that is added next. */
    RouteId RouteOf(uint32_t from, uint32_t to)
    {
        RouteRequest request;
        request.source = request.outNic = DeviceId(from);
        request.destination = request.inNic = DeviceId(to);
        request.sourcePort = static_cast<uint16_t>(m_starts.size());
        return m_routing->Add(request);
    }

    RouteId RouteIdOf(std::size_t flow) const
    {
        return m_requests[flow].route;
    }

    /** Number of links that a flow crosses. */
    std::size_t Hops(std::size_t flow) const
    {
        return m_routing->Links(m_requests[flow].route).size();
    }

    /** As above, for a flow in the given form (packets or fluid) and with a rate cap. */
    std::size_t AddFlowAs(FlowForm form,
                          uint32_t from,
                          uint32_t to,
                          Bytes bytes,
                          Time start = Time(),
                          Rate cap = Rate::Infinite())
    {
        const std::size_t flow = AddFlow(from, to, bytes, start);
        m_requests[flow].form = form;
        m_requests[flow].cap = cap;
        return flow;
    }

    std::size_t AddFlow(RouteId route, Bytes bytes, Time start = Time())
    {
        FlowRequest flow;
        flow.route = route;
        flow.bytes = bytes;
        return AddFlow(flow, start);
    }

    std::size_t AddFlow(FlowRequest flow, Time start = Time())
    {
        flow.client = this;
        flow.token = m_starts.size();
        m_requests.push_back(flow);
        m_starts.push_back(start);
        m_ends.push_back(Time::Infinite());
        return m_starts.size() - 1;
    }

    /** Adds another engine that runs alongside the flows. */
    void AddEngine(PassiveEngine& engine)
    {
        m_engines.Add(engine);
    }

    void Run()
    {
        m_engines.RunToEnd();
        CheckConservation();
    }

    void RunUntil(Time time)
    {
        m_engines.RunUntil(time);
        CheckConservation();
    }

    /** Time from the start of a flow to its end; infinite if it has not ended. */
    Time Duration(std::size_t flow) const
    {
        return m_ends[flow] - m_starts[flow];
    }

    Time End(std::size_t flow) const
    {
        return m_ends[flow];
    }

    PacketTransport& Transport()
    {
        return *m_packets;
    }

    PacketNetwork& Network()
    {
        return m_packets->GetNetwork();
    }

    /** The transport in use, whichever it is. */
    weir::Transport& Any()
    {
        return *m_transport;
    }

    HybridTransport& Hybrid()
    {
        return *m_hybrid;
    }

    ReplayTransport& Replay()
    {
        return *m_replay;
    }

    Routing& GetRouting()
    {
        return *m_routing;
    }

    const Topology& GetTopology() const
    {
        return m_topology;
    }

  private:
    void MakeRouting(const Polymorphic<RoutingPolicy>& routing)
    {
        FabricSpec fabric;
        fabric.kind = GraphFabric();
        fabric.routing = routing;
        m_routing = std::make_unique<Routing>(m_topology, fabric);
    }

    void Use(std::unique_ptr<weir::Transport> transport)
    {
        m_transport = std::move(transport);
        m_engines.Add(*m_transport);
        m_engines.Add(*this);
    }

    void CheckConservation() const
    {
        if (m_packets != nullptr)
        {
            m_packets->CheckConservation();
        }
    }

    uint32_t Add(DeviceKind kind)
    {
        const std::string name = (kind == DeviceKind::Host ? "host" : "switch") +
                                 std::to_string(m_topology.DeviceCount());
        return m_topology.AddDevice(kind, name).Index();
    }

    Time NextEventTime() override
    {
        return m_next < m_starts.size() ? m_starts[m_next] : Time::Infinite();
    }

    void AdvanceTo(Time now) override
    {
        for (; m_next < m_starts.size() && m_starts[m_next] <= now; m_next++)
        {
            m_transport->Start(m_requests[m_next], now);
        }
    }

    void OnFlowDone(uint64_t token, Time now) override
    {
        m_ends[token] = now;
    }

    Topology m_topology;
    std::unique_ptr<Routing> m_routing;
    std::unique_ptr<weir::Transport> m_transport;
    PacketTransport* m_packets{nullptr}; //!< null where there are no packets
    HybridTransport* m_hybrid{nullptr};
    ReplayTransport* m_replay{nullptr};
    EngineSet m_engines;
    std::vector<FlowRequest> m_requests;
    std::vector<Time> m_starts;
    std::vector<Time> m_ends;
    std::size_t m_next{0};
};

} // namespace weir

#endif // WEIR_TESTS_PACKET_BENCH_H
