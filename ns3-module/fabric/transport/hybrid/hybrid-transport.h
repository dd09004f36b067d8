// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_HYBRID_HYBRID_TRANSPORT_H
#define WEIR_FABRIC_TRANSPORT_HYBRID_HYBRID_TRANSPORT_H

#include "fabric/routing/routing.h"
#include "fabric/transport/flow-slots.h"
#include "fabric/transport/fluid/fluid-transport.h"
#include "fabric/transport/packet/packet-transport.h"
#include "fabric/transport/transport-spec.h"
#include "fabric/transport/transport.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace weir
{

/** Counters of the coupling of packets and fluid, with its largest error. */
struct CouplingCounters
{
    uint64_t windows{0};
    double largestDebt{0}; //!< largest number of bytes that a link has carried beyond its rate
};

/**
 * Moves some flows as packets and the others as a fluid, on the same links (co-simulation in
 * space). Packets are the flows whose FlowRequest::form says so and that leave their node (with
 * CouplingSpec::insideNodes also those inside nodes), and the flows whose planned path crosses a
 * link of CouplingSpec::links. Sums of routes are always fluid. Datagrams are packets; those of a
 * route form one stream. A greedy stream of datagrams gets the share of a port that round robin
 * among traffic classes, packet by packet, would give it.
 *
 * **To the fluid**, each stream of packets is an occupant of the max-min system on its path. It is
 * as greedy as its congestion control allows. If it leaves part of that unused (its packets keep
 * none of its shared links busy), its cap is its rate in the last few windows.
 *
 * **To the packets**, a shared link of capacity C on which the fluid moves at rate f has the rate C
 * - f. If all packets there use less than their fair share of C, they get that fair share, so that
 * a growing demand becomes visible. Changes of the fluid take effect at once. Packets are marked as
 * if the whole link served the backlog, so that its delay is that of a shared queue.
 *
 * **Conservation.** The bytes that a link has carried beyond C in a window (acknowledgments,
 * packets that arrived before the fluid knew of them) are its debt. The capacity of the next window
 * is reduced by the debt for both.
 *
 * **Corrections** of the fluid also apply beside packets, which fill the ports for its recovery.
 * Sharing by ingress is not supported, since it knows fluid flows only.
 *
 * Without packets this equals FluidTransport, and without fluid PacketTransport, bit for bit. The
 * error is of first order in the window: a packet rate that changes by d causes an error of d times
 * the window.
 */
class HybridTransport final : public Transport, private TransportObserver
{
  public:
    /**
     * @p routing must outlive it. Parts that @p spec lacks have their default values.
     * @throws std::invalid_argument as PacketTransport; also if no link matches a name of @p spec,
     *         or if @p spec enables sharing by ingress.
     */
    HybridTransport(Routing& routing, TransportSpec spec);
    HybridTransport(const HybridTransport&) = delete;
    HybridTransport& operator=(const HybridTransport&) = delete;

    Time NextEventTime() override;
    void AdvanceTo(Time now) override;
    Time AdvanceExclusively(Time limit) override;

    FlowId Start(const FlowRequest& request, Time now) override;
    void SetLinkRate(LinkId link, Rate rate, Time now) override;

    /** Sets the loss of packets; a fluid loses nothing. */
    void SetLinkLoss(LinkId link, double part, Time now) override;
    void SetLinksUp(const std::vector<LinkId>& links, bool up, Time now) override;

    bool IsLinkUp(LinkId link) const override
    {
        return m_packets.IsLinkUp(link);
    }

    bool Cancel(FlowId id, Time now) override;

    Rate CurrentRate(FlowId id) override
    {
        return Of(FormOfFlow(id)).CurrentRate(id);
    }

    FlowPath CurrentPath(FlowId id) override
    {
        return Of(FormOfFlow(id)).CurrentPath(id);
    }

    LinkUsage GetLinkUsage(LinkId link) override;
    void MoveTo(Time now) override;

    const PortCounters* GetPortCounters(LinkId link) override
    {
        return m_packets.GetPortCounters(link);
    }

    const FlowCounters* GetFlowCounters(FlowId id) override
    {
        return Of(FormOfFlow(id)).GetFlowCounters(id);
    }

    bool AddPortObserver(PortObserver& observer) override
    {
        return m_packets.AddPortObserver(observer);
    }

    void RemovePortObserver(PortObserver& observer) override
    {
        m_packets.RemovePortObserver(observer);
    }

    FlowForm FormOf(const FlowRequest& request) override;

    Time UncontendedTime(const FlowRequest& request, PathId path) override
    {
        return Of(FormOf(request)).UncontendedTime(request, path);
    }

    std::size_t ActiveFlows() const override
    {
        return m_fluid->ActiveFlows() - m_occupants + m_packets.ActiveFlows();
    }

    /** Fluid flows come before packet flows. */
    std::vector<StalledFlow> StalledFlows() override;

    std::string DescribeWaiting() const override
    {
        return m_packets.DescribeWaiting();
    }

    void AddObserver(TransportObserver& observer, bool linkRates) override;
    void RemoveObserver(TransportObserver& observer) override;

    const CouplingCounters& GetCoupling() const
    {
        return m_counters;
    }

    PacketTransport& GetPackets()
    {
        return m_packets;
    }

  private:
    /**
     * Number of windows over which a stream's rate is measured, since window-based senders send in
     * bursts, one a round trip.
     */
    static constexpr std::size_t HORIZON = 4;

    static constexpr uint32_t DATAGRAMS = 0xffffffff; //!< value of FlowRequest::stream for
                                                      //!< datagrams

    /** A stream of packets as the fluid sees it: the flows of one connection. */
    struct Stream
    {
        FlowRequest request;                 //!< request of the last flow
        FlowId flow;                         //!< id, in the packet transport, of the last of its
                                             //!< active flows, or of the flow that ended last
        std::vector<FlowId> flows;           //!< active flows in the packet transport, in the order
                                             //!< of their starts; datagrams: one flow of any id
        bool isDatagrams{false};             //!< it consists of datagrams instead of flows
        FlowId occupant;                     //!< id in the fluid, while isPresent
        bool isPresent{false};               //!< it is an occupant of the fluid
        bool isLeaving{false};               //!< it is in m_leaving
        std::array<int64_t, HORIZON> sent{}; //!< bytes sent by the ends of the last windows (ring)
        std::array<Time, HORIZON> seen{};    //!< times of these ends (ring)
        uint32_t windows{0};                 //!< windows in which it has been observed
        std::vector<LinkId> links;           //!< links of its packets and their acknowledgments
        PathId path;                         //!< path from which links were computed
    };

    /** State of a link in the coupling. */
    struct LinkState
    {
        double rate{0};      //!< bytes/s, as wired or set
        double limit{0};     //!< rate available to both, bytes/s; below rate while in debt
        double fluidRate{0}; //!< fluid rate since `since`, bytes/s
        double toldRate{0};  //!< rate last reported to observers, bytes/s
        Time since;
        double fluidBytes{0};  //!< fluid bytes from `checked` until `since`
        double packetBytes{0}; //!< packet bytes since the start of the run, at `checked`
        int64_t busy{0};       //!< busy time of the port at `checked`, ps
        double debt{0};        //!< bytes carried beyond the rate
        Time checked;          //!< when it was last accounted for
        bool wasBusy{false};   //!< it was busy with packets in the last window
        Time traffic;          //!< time with any traffic until `trafficSince`
        Time trafficSince;     //!< when the fluid last started or stopped
        Time portBusy;         //!< busy time of the port at `trafficSince`
    };

    /** The transport of the flows of a form. */
    Transport& Of(FlowForm form)
    {
        return form == FlowForm::Packets ? static_cast<Transport&>(m_packets) : *m_fluid;
    }

    /** Handles the ends of packet flows; those of fluid flows are ignored. */
    void OnFlowFinished(FlowId id, const FlowRequest& request, Time started, Time now) override;

    /** Observes the fluid only. */
    void OnLinkRate(LinkId link, Rate rate, Time now) override;
    void WatchLinkRates();
    uint32_t StreamOf(const FlowRequest& request);
    void Enter(const FlowRequest& request, FlowId flow, Time now);
    void EnterDatagrams(RouteId route, Time now);
    void MakePresent(uint32_t index, Time now);
    FlowPath PathOf(const Stream& stream);
    PacketTransport::Demand DemandOf(const Stream& stream);
    double DatagramWeightOf(const Stream& stream);
    void CountDatagramStreams();
    bool IsAtRest(const Stream& stream, int64_t sentSince);
    void Leave(const FlowRequest& request, FlowId flow);
    void Couple();
    double UseOf(uint32_t link) const;
    Time PortBusy(uint32_t link);
    Time TrafficTime(uint32_t link, Time portBusy) const;
    void SetShare(uint32_t link);
    void TellRate(LinkId link, double rate, Time now);

    /** Fluid bytes of a link since it was last accounted for. */
    double FluidBytes(LinkState& state)
    {
        return state.fluidBytes + state.fluidRate * (m_now - state.since).ToSeconds();
    }

    bool IsCoupled();
    void EndWindow();
    void FindLinks(Stream& stream);
    void Account(LinkId link);
    void Balance(LinkId link);
    void SetDemand(Stream& stream);
    void BeginWindows();
    void Observe(Stream& stream);
    Time WindowLength() const;

    Routing& m_routing;
    CouplingSpec m_spec;
    std::unique_ptr<FluidTransport> m_fluid;
    PacketTransport m_packets;
    double m_use;                 //!< see UseOf
    std::vector<bool> m_isChosen; //!< by link; empty if no link is chosen
    std::unordered_map<ConnectionKey, uint32_t, ConnectionKey::Hash> m_streamIndices;
    std::vector<Stream> m_streams;
    std::vector<uint32_t> m_present; //!< streams that are or were present; cleaned up at window
                                     //!< ends
    std::vector<uint32_t> m_leaving;
    std::vector<uint32_t> m_datagrams; //!< streams of datagrams
    std::vector<uint32_t>
        m_datagramStreams; //!< by link: number of present datagram streams; empty if there are none
    std::size_t m_occupants{0};
    std::vector<LinkState> m_links;
    std::vector<uint32_t> m_reduced; //!< links with a limit below their rate
    Time m_windowStart;
    Time m_windowEnd{Time::Infinite()};
    Time m_shortestTrip{Time::Infinite()};
    Time m_now;
    CouplingCounters m_counters;
    bool m_isShared{false}; //!< shares of links have been set, since there are streams
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_HYBRID_HYBRID_TRANSPORT_H
