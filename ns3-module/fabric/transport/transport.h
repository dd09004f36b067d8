// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_TRANSPORT_H
#define WEIR_FABRIC_TRANSPORT_TRANSPORT_H

#include "fabric/ids.h"
#include "fabric/routing/path-table.h"
#include "fabric/transport/packet/packet-counters.h"
#include "fabric/transport/packet/port-observer.h"
#include "fabric/transport/passive-engine.h"
#include "fabric/units.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace weir
{

/** Whoever started a flow and is told when it is done. */
class FlowClient
{
  public:
    virtual ~FlowClient() = default;

    /** The last byte of the flow has passed, at @p now. May start new flows. */
    virtual void OnFlowDone(uint64_t token, Time now) = 0;

    /**
     * The last byte of the flow is about to leave its source: what follows it on the same route
     * may be started. Told of flows that move as packets only, before OnFlowDone.
     */
    virtual void OnFlowSent(uint64_t token, Time now)
    {
    }
};

/** Names a flow while it is under way; its value is never used again in one run. */
struct FlowId
{
    uint64_t value{0};

    friend bool operator==(FlowId a, FlowId b)
    {
        return a.value == b.value;
    }
};

/** What bytes move as. */
enum class FlowForm : uint8_t
{
    Fluid,  //!< at a rate
    Packets //!< one behind the other, each with a delay of its own
};

/** Bytes to be moved from one end point to another. */
struct FlowRequest
{
    RouteId route;                  //!< end points and tuple, of the fabric's Routing
    Bytes bytes;                    //!< what crosses the wire; zero is allowed
    Time overhead{};                //!< from the start until the first byte enters the route
    bool addsLatency{true};         //!< the route's latency is added to that; false: whoever
                                    //!< starts the flow accounts for it after the end
    Rate cap{Rate::Infinite()};     //!< upper limit of its rate
    double weight{1};               //!< of its share; k equal flows are one of weight k
    uint32_t connections{1};        //!< queue pairs that carry equal parts of it, if as packets
    uint32_t stream{0};             //!< flows of a route with another one have other queue pairs
    uint8_t trafficClass{1};        //!< of its packets, from 1 on, similarly; none of a fluid
    FlowForm form{FlowForm::Fluid}; //!< where a transport moves both, see Transport::FormOf
    FlowClient* client{nullptr};    //!< told at the end; null for background traffic
    uint64_t token{0};              //!< handed back to the client
};

/** What a link has carried since the start of the run. */
struct LinkUsage
{
    double bytes{0}; //!< bytes carried
    Time busy;       //!< time with any traffic
    Time saturated;  //!< time with its full rate in use (to 1e-9)
};

/** Sees what happens on a transport; used by trace sources, the recorder and link time series. */
class TransportObserver
{
  public:
    virtual ~TransportObserver() = default;

    virtual void OnFlowStarted(FlowId id, const FlowRequest& request, Time now)
    {
    }

    virtual void OnFlowFinished(FlowId id, const FlowRequest& request, Time started, Time now)
    {
    }

    /** No path over links that are up is left to the flow; it waits until one comes up. */
    virtual void OnFlowStalled(FlowId id, const FlowRequest& request, Time now)
    {
    }

    /** A flow that stalled has a path again. */
    virtual void OnFlowResumed(FlowId id, const FlowRequest& request, Time now)
    {
    }

    /**
     * The rate at which fluid flows use a link changed (after the solve of that instant); of
     * packets a PortObserver is told.
     */
    virtual void OnLinkRate(LinkId link, Rate rate, Time now)
    {
    }
};

/** A flow that waits for a link to come up. */
struct StalledFlow
{
    FlowId id;
    FlowRequest request;
    LinkId link; //!< the first of its path that is down
};

/**
 * The contract of whatever moves bytes: as fluid, as packets, or both. Whoever starts a flow names
 * its route (Routing::Add); the transport finds the path, balances loads as the fabric's routing
 * policy says, and reroutes what is under way when links fail or come up.
 *
 * An uncontended flow takes its overhead, the latency of its path, and bytes over the bottleneck's
 * rate.
 */
class Transport : public PassiveEngine
{
  public:
    /**
     * Begins a flow at @p now.
     * @throws std::invalid_argument on a negative size, an overhead that is negative or infinite, a
     *         weight or cap that is not positive, or a route that does not exist or that the
     *         transport cannot take.
     */
    virtual FlowId Start(const FlowRequest& request, Time now) = 0;

    /**
     * Gives a link another rate from @p now on: a degraded link. At rate zero nothing moves on it,
     * and nothing is rerouted; see SetLinksUp.
     * @throws std::invalid_argument when the link does not exist or the rate is negative.
     */
    virtual void SetLinkRate(LinkId link, Rate rate, Time now) = 0;

    /**
     * A link loses each packet that it carries with a probability from @p now on: a bad cable or
     * transceiver, whose errors the receiver's check finds.
     * @throws std::invalid_argument where nothing is packets (a fluid, replayed packets), when the
     *         link does not exist or is none of the network, or the part is not in [0, 1).
     */
    virtual void SetLinkLoss(LinkId /* link */, double /* part */, Time /* now */)
    {
        throw std::invalid_argument("Transport::SetLinkLoss: only simulated packets are lost");
    }

    /**
     * Links fail, or come up at the rate that they were last given. Flows on links that fail are
     * rerouted, or stall where no path is left; when links come up, flows have their planned paths
     * again. All @p links change at once: the ports of a switch that fails.
     * @throws std::invalid_argument when a link does not exist.
     */
    virtual void SetLinksUp(const std::vector<LinkId>& links, bool up, Time now) = 0;

    /** Whether a link has not failed. */
    virtual bool IsLinkUp(LinkId link) const = 0;

    /** Ends a flow early, without telling its client. @return false when already done. */
    virtual bool Cancel(FlowId id, Time now) = 0;

    /** The rate a flow has now: zero until its first byte is under way, and when done. */
    virtual Rate CurrentRate(FlowId id) = 0;

    /** What a flow takes now, or took when it ended just now. */
    virtual FlowPath CurrentPath(FlowId id) = 0;

    /** What a link carries now. */
    virtual Rate CurrentLinkRate(LinkId link) = 0;

    /** Until its last event, or until where MoveTo took it. */
    virtual LinkUsage GetLinkUsage(LinkId link) = 0;

    /** Time goes on to @p now, which is not after the next event; that does not happen yet. */
    virtual void MoveTo(Time now)
    {
    }

    /** What packets have met at the port of a link; null where there are none. */
    virtual const PortCounters* GetPortCounters(LinkId link)
    {
        return nullptr;
    }

    /**
     * What packets of a flow have met that is under way, or ended just now; null where it is none
     * of packets.
     */
    virtual const FlowCounters* GetFlowCounters(FlowId id)
    {
        return nullptr;
    }

    /**
     * Tells @p observer, which must outlive it, of what happens at all ports from now on.
     * @return false where there are no packets.
     */
    virtual bool AddPortObserver(PortObserver& observer)
    {
        return false;
    }

    /** Tells @p observer of nothing more, after pauses that have expired by now. */
    virtual void RemovePortObserver(PortObserver& observer)
    {
    }

    /** Whether a flow may move as @p form here. */
    virtual bool Moves(FlowForm form) const = 0;

    /**
     * What a flow moves as. One of packets is done when its last byte has arrived, whatever its
     * request says of latency.
     */
    virtual FlowForm FormOf(const FlowRequest& request) = 0;

    /**
     * What a flow takes where nothing else moves and links have the rates of the topology: packets
     * with their headers and what they wait for on their way, a fluid as is said above.
     * @param path that it takes; invalid: the planned one of its route
     */
    virtual Time UncontendedTime(const FlowRequest& request, PathId path) = 0;

    /** Flows under way (including those in their overhead and latency). */
    virtual std::size_t ActiveFlows() const = 0;

    /** Flows that wait for links to come up, in the order of their starts. O(flows under way). */
    virtual std::vector<StalledFlow> StalledFlows() = 0;

    /** What keeps bytes waiting besides links that are down, as a sentence; empty: nothing. */
    virtual std::string DescribeWaiting() const
    {
        return {};
    }

    /**
     * Tells @p observer of everything from now on, after those that were added before; of link
     * rates only where @p linkRates, for they cost a visit of every link whose rate changes. One
     * that is told already may change its mind so.
     */
    virtual void AddObserver(TransportObserver& observer, bool linkRates) = 0;

    /** Tells @p observer of nothing more. */
    virtual void RemoveObserver(TransportObserver& observer) = 0;
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_TRANSPORT_H
