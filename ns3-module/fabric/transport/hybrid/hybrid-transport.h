// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_HYBRID_HYBRID_TRANSPORT_H
#define WEIR_FABRIC_TRANSPORT_HYBRID_HYBRID_TRANSPORT_H

#include "fabric/routing/routing.h"
#include "fabric/transport/fluid/fluid-transport.h"
#include "fabric/transport/hybrid/coupling-spec.h"
#include "fabric/transport/packet/packet-transport.h"
#include "fabric/transport/transport-observers.h"
#include "fabric/transport/transport.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace weir
{

/** What the coupling of packets and a fluid has done, and how far it was off. */
struct CouplingCounters
{
    uint64_t windows{0};
    double largestDebt{0}; //!< bytes that a link has carried beyond its rate, at most
};

/**
 * Some flows as packets, the others as a fluid, on the same links (co-simulation in space). Packets
 * are flows whose FlowRequest::form says so and that leave their node (or, by
 * CouplingSpec::insideNodes, all of these), and those whose planned path crosses a link of
 * CouplingSpec::links; sums of routes are always fluid. Datagrams are packets, those of a route one
 * stream; where it is greedy it has what a port's classes have that take turns packet by packet.
 *
 * **To the fluid**, each stream of packets is an occupant of the max-min system on its path: as
 * greedy as its congestion control lets it be or, where it leaves unused what it may have (packets
 * do not keep any of the links busy that it shares), as it was in the last few windows.
 *
 * **To the packets**, a shared link of capacity C on which the fluid moves at rate f has the rate
 * C - f; where all packets there are content with less than their fair share of C, that share, so
 * that it shows when they want more. Changes of the fluid take effect at once. A backlog is marked
 * as if the whole link served it, so that its delay is that of a shared queue.
 *
 * **Conservation.** What a link has carried beyond C in a window (acknowledgments, packets that
 * came sooner than the fluid knew) is its debt: both have so much less of it in the next one.
 *
 * **Corrections** of the fluid hold beside packets, too, which fill the ports where it recovers;
 * not sharing by ingress, which knows of flows only.
 *
 * Without packets this is FluidTransport, without a fluid PacketTransport, bit for bit. The error
 * is of first order in the window: a rate of packets that changes by d misplaces d times the
 * window.
 */
class HybridTransport final : public Transport
{
  public:
    /** @p routing must outlive it. @throws std::invalid_argument as PacketTransport, when no link
     *  has a name of @p spec, or where it corrects sharing by ingress. */
    HybridTransport(Routing& routing, HybridSpec spec);
    HybridTransport(const HybridTransport&) = delete;
    HybridTransport& operator=(const HybridTransport&) = delete;

    Time NextEventTime() override;
    void AdvanceTo(Time now) override;
    Time AdvanceAlone(Time limit) override;

    FlowId Start(const FlowRequest& request, Time now) override;
    void SetLinkRate(LinkId link, Rate rate, Time now) override;

    /** Of packets; a fluid loses nothing. */
    void SetLinkLoss(LinkId link, double part, Time now) override;
    void SetLinksUp(const std::vector<LinkId>& links, bool up, Time now) override;
    bool IsLinkUp(LinkId link) const override;
    bool Cancel(FlowId id, Time now) override;
    Rate CurrentRate(FlowId id) override;
    FlowPath CurrentPath(FlowId id) override;
    Rate CurrentLinkRate(LinkId link) override;
    LinkUsage GetLinkUsage(LinkId link) override;
    void MoveTo(Time now) override;
    const PortCounters* GetPortCounters(LinkId link) override;
    const FlowCounters* GetFlowCounters(FlowId id) override;
    bool AddPortObserver(PortObserver& observer) override;
    void RemovePortObserver(PortObserver& observer) override;

    bool Moves(FlowForm /* form */) const override
    {
        return true;
    }

    FlowForm FormOf(const FlowRequest& request) override;
    Time UncontendedTime(const FlowRequest& request, PathId path) override;
    std::size_t ActiveFlows() const override;

    /** Those that are fluid before those that are packets. */
    std::vector<StalledFlow> StalledFlows() override;
    std::string DescribeWaiting() const override;
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
     * Windows over which a stream's rate is measured: windows of bytes come in bursts, one a round
     * trip.
     */
    static constexpr std::size_t HORIZON = 4;

    static constexpr uint32_t DATAGRAMS = 0xffffffff; //!< FlowRequest::stream of theirs

    /** Passes on what one of the two transports tells, with the ids that flows have here. */
    class Watch : public TransportObserver
    {
      public:
        Watch(HybridTransport& owner, FlowForm form)
            : m_owner(owner),
              m_form(form)
        {
        }

        void OnFlowStarted(FlowId id, const FlowRequest& request, Time now) override;
        void OnFlowFinished(FlowId id, const FlowRequest& request, Time started, Time now) override;
        void OnFlowStalled(FlowId id, const FlowRequest& request, Time now) override;
        void OnFlowResumed(FlowId id, const FlowRequest& request, Time now) override;
        void OnLinkRate(LinkId link, Rate rate, Time now) override;

      private:
        HybridTransport& m_owner;
        FlowForm m_form;
    };

    /** A stream of packets in the eyes of the fluid: flows of it follow each other. */
    struct Stream
    {
        FlowRequest request;                 //!< of the last flow
        FlowId flow;                         //!< as above, in the packet transport
        bool isDatagrams{false};             //!< instead of flows
        FlowId occupant;                     //!< in the fluid, while `isPresent`
        uint32_t active{0};                  //!< flows
        bool isPresent{false};               //!< an occupant of the fluid
        bool isLeaving{false};               //!< is in m_leaving
        std::array<int64_t, HORIZON> sent{}; //!< bytes, at the last windows' ends in turns
        std::array<Time, HORIZON> seen{};    //!< these ends
        uint32_t windows{0};                 //!< that it has been seen in
        std::vector<LinkId> links;           //!< that its packets and their acknowledgments take
        PathId path;                         //!< that `links` are of
    };

    /** What decides of a route's form. */
    enum class RouteKind : uint8_t
    {
        Unknown,
        Fluid,  //!< a sum, or inside a node that is fluid
        Either, //!< as requests say
        Packets //!< it crosses a chosen link
    };

    /** What a link has carried as a fluid. */
    struct LinkState
    {
        double rate{0};      //!< bytes/s, wired or set
        double limit{0};     //!< bytes/s that both may have: less than that on account of its debt
        double fluidRate{0}; //!< bytes/s since `since`
        double toldRate{0};  //!< bytes/s, that observers know
        Time since;
        double fluidBytes{0};  //!< until `since`, from the last window's end
        double packetBytes{0}; //!< since the beginning, at the last window's end
        int64_t busy{0};       //!< ps, as above
        double debt{0};        //!< bytes
        Time checked;          //!< the last window's end that it was part of
        bool wasBusy{false};   //!< with packets, in the last window
    };

    static FlowId Outer(FlowId inner, FlowForm form)
    {
        return {inner.value << 1 | (form == FlowForm::Packets ? 1u : 0u)};
    }

    static FlowId Inner(FlowId outer)
    {
        return {outer.value >> 1};
    }

    static FlowForm FormOf(FlowId outer)
    {
        return (outer.value & 1) != 0 ? FlowForm::Packets : FlowForm::Fluid;
    }

    uint32_t StreamOf(const FlowRequest& request);
    void Enter(const FlowRequest& request, FlowId flow, Time now);
    void EnterDatagrams(RouteId route, Time now);
    void MakePresent(uint32_t index, Time now);
    FlowPath PathOf(const Stream& stream);
    PacketTransport::Demand DemandOf(const Stream& stream);
    double TurnsOf(const Stream& stream);
    void CountDatagramStreams();
    bool IsAtRest(const Stream& stream, int64_t sentSince);
    void Leave(const FlowRequest& request);
    void Couple();
    double UseOf(uint32_t link) const;
    void SetShare(uint32_t link);
    void TellRate(LinkId link, double rate, Time now);
    double FluidBytes(LinkState& state);
    bool IsCoupled();
    void EndWindow();
    void FindLinks(Stream& stream);
    void Balance(LinkId link, Time length);
    void SetDemand(Stream& stream);
    void BeginWindows();
    void Observe(Stream& stream);
    Time WindowLength() const;
    void NoteRoute(RouteId route);

    Routing& m_routing;
    CouplingSpec m_spec;
    double m_use; //!< see UseOf
    std::unique_ptr<FluidTransport> m_fluid;
    PacketTransport m_packets;
    Watch m_fluidWatch;
    Watch m_packetWatch;
    TransportObservers m_observers;
    std::vector<bool> m_isChosen;                          //!< by link; empty: none is
    std::vector<RouteKind> m_routeKinds;                   //!< by route
    std::unordered_map<uint64_t, uint32_t> m_streamPlaces; //!< by route and stream
    std::vector<Stream> m_streams;
    std::vector<uint32_t> m_present; //!< streams that are or have been; sorted out at windows' ends
    std::vector<uint32_t> m_leaving;
    std::vector<uint32_t> m_datagrams; //!< streams that are of them
    std::vector<uint32_t>
        m_datagramStreams; //!< how many are present, by link; empty: there are none
    std::size_t m_occupants{0};
    std::vector<LinkState> m_links;
    std::vector<uint32_t> m_reduced; //!< links
    Time m_windowStart;
    Time m_windowEnd{Time::Infinite()};
    Time m_shortestTrip{Time::Infinite()};
    Time m_now;
    CouplingCounters m_counters;
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_HYBRID_HYBRID_TRANSPORT_H
