// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_TRANSPORT_H
#define WEIR_FABRIC_TRANSPORT_TRANSPORT_H

#include "fabric/ids.h"
#include "fabric/routing/path-table.h"
#include "fabric/transport/packet/packet-counters.h"
#include "fabric/transport/packet/port-observer.h"
#include "fabric/transport/passive-engine.h"
#include "fabric/units.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace weir
{

/** Receives the completion callbacks of flows that it has started. */
class FlowClient
{
  public:
    virtual ~FlowClient() = default;

    /** The last byte of the flow has arrived at @p now. The callback may start new flows. */
    virtual void OnFlowDone(uint64_t token, Time now) = 0;

    /**
     * The last byte of the flow is about to leave its source, so that a following flow on the same
     * route may be started. Called before OnFlowDone, and only for flows that move as packets.
     */
    virtual void OnFlowSent(uint64_t token, Time now)
    {
    }
};

/** Identifies a flow. Values are not reused within one run. */
struct FlowId
{
    uint64_t value{0};

    friend bool operator==(FlowId a, FlowId b)
    {
        return a.value == b.value;
    }
};

/** The model that moves the bytes of a flow. */
enum class FlowForm : uint8_t
{
    Fluid,  //!< a continuous rate
    Packets //!< discrete packets, each with its own delay
};

/** A request to move bytes between two end points. */
struct FlowRequest
{
    RouteId route;                  //!< end points and flow tuple, registered with the fabric's
                                    //!< Routing
    Bytes bytes;                    //!< bytes that cross the wire; may be zero
    Time overhead{};                //!< time from the start until the first byte enters the route
    bool addsLatency{true};         //!< whether the route's latency is added to the overhead; if
                                    //!< false, the flow's starter accounts for it after the end
    Rate cap{Rate::Infinite()};     //!< upper limit of the flow's rate
    double weight{1};               //!< weight in max-min sharing; k equal flows equal one flow of
                                    //!< weight k
    uint32_t connections{1};        //!< queue pairs that carry equal parts of the flow; packets
                                    //!< only
    uint32_t stream{0};             //!< flows of one route with different streams use different
                                    //!< queue pairs; see ConnectionKey
    uint8_t trafficClass{1};        //!< class of the packets, from 1; ignored by a fluid
    FlowForm form{FlowForm::Fluid}; //!< requested form, for transports that move both; see
                                    //!< Transport::FormOf
    FlowClient* client{nullptr};    //!< receives the callbacks; null for background traffic
    uint64_t token{0};              //!< returned to the client in its callbacks
};

/** What flows have in common whose packets use the same queue pairs. */
struct ConnectionKey
{
    explicit ConnectionKey(const FlowRequest& request)
        : route(request.route),
          stream(request.stream),
          trafficClass(request.trafficClass)
    {
    }

    friend bool operator==(const ConnectionKey& a, const ConnectionKey& b)
    {
        return a.route == b.route && a.stream == b.stream && a.trafficClass == b.trafficClass;
    }

    struct Hash
    {
        std::size_t operator()(const ConnectionKey& key) const
        {
            const uint64_t packed = uint64_t{key.route.Index()} << 32 | key.stream;
            return packed ^ static_cast<uint64_t>(key.trafficClass) << 56;
        }
    };

    RouteId route;
    uint32_t stream;
    uint8_t trafficClass;
};

/** Usage of a link since the start of the run. */
struct LinkUsage
{
    double bytes{0}; //!< bytes carried
    Time busy;       //!< time during which the link carried any traffic
    Time saturated;  //!< time at full rate, to a relative 1e-9
};

/**
 * Observes the flows and link rates of a transport. Used by trace sources, the recorder and link
 * time series.
 */
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

    /**
     * The flow has no path over links that are up, and waits until a link comes up; or, if not @p
     * isStalled, it has a path again.
     */
    virtual void OnFlowStalled(FlowId id, const FlowRequest& request, bool isStalled, Time now)
    {
    }

    /**
     * The total rate of fluid flows on a link has changed; called after the solve of that instant.
     * PortObserver reports packets instead.
     */
    virtual void OnLinkRate(LinkId link, Rate rate, Time now)
    {
    }
};

/** Forwards events to all observers of a transport, in the order of their registration. */
class TransportObservers : public TransportObserver
{
  public:
    /** Adds an observer, or changes whether a registered one receives link rates. */
    void Add(TransportObserver& observer, bool linkRates)
    {
        if (std::find(m_all.begin(), m_all.end(), &observer) == m_all.end())
        {
            m_all.push_back(&observer);
        }
        Erase(m_ofRates, observer);
        if (linkRates)
        {
            m_ofRates.push_back(&observer);
        }
    }

    void Remove(TransportObserver& observer)
    {
        Erase(m_all, observer);
        Erase(m_ofRates, observer);
    }

    bool IsEmpty() const
    {
        return m_all.empty();
    }

    /** Whether any observer receives OnLinkRate, which costs a visit of every touched link. */
    bool WantLinkRates() const
    {
        return !m_ofRates.empty();
    }

    void OnFlowStarted(FlowId id, const FlowRequest& request, Time now) override
    {
        for (std::size_t i = 0; i < m_all.size(); i++) // an observer may add another
        {
            m_all[i]->OnFlowStarted(id, request, now);
        }
    }

    void OnFlowFinished(FlowId id, const FlowRequest& request, Time started, Time now) override
    {
        for (std::size_t i = 0; i < m_all.size(); i++)
        {
            m_all[i]->OnFlowFinished(id, request, started, now);
        }
    }

    void OnFlowStalled(FlowId id, const FlowRequest& request, bool isStalled, Time now) override
    {
        for (std::size_t i = 0; i < m_all.size(); i++)
        {
            m_all[i]->OnFlowStalled(id, request, isStalled, now);
        }
    }

    void OnLinkRate(LinkId link, Rate rate, Time now) override
    {
        for (std::size_t i = 0; i < m_ofRates.size(); i++)
        {
            m_ofRates[i]->OnLinkRate(link, rate, now);
        }
    }

  private:
    using List = std::vector<TransportObserver*>;

    static void Erase(List& list, TransportObserver& observer)
    {
        list.erase(std::remove(list.begin(), list.end(), &observer), list.end());
    }

    List m_all;
    List m_ofRates; //!< subset of m_all that receives link rates
};

/** A flow that waits for a link to come up. */
struct StalledFlow
{
    FlowId id;
    FlowRequest request;
    LinkId link; //!< first link of its path that is down
};

/**
 * Interface of all models that move bytes: fluid, packets, or both. A flow names its route
 * (Routing::Add). The transport finds the path, balances load by the fabric's routing policy, and
 * reroutes active flows when links fail or come up.
 *
 * An uncontended flow takes its overhead, plus the latency of its path, plus its bytes divided by
 * the rate of the bottleneck link.
 */
class Transport : public PassiveEngine
{
  public:
    /** @param form the form of all its flows; empty: it moves both */
    explicit Transport(std::optional<FlowForm> form)
        : m_form(form)
    {
    }

    /**
     * Starts a flow at @p now.
     * @throws std::invalid_argument if the size is negative, the overhead is negative or infinite,
     *         the weight or the cap is not positive, or the route does not exist or is not
     *         supported by the transport.
     */
    virtual FlowId Start(const FlowRequest& request, Time now) = 0;

    /**
     * Sets the rate of a link from @p now on, for instance of a degraded link. At rate zero nothing
     * moves on the link and nothing is rerouted; see SetLinksUp for failures.
     * @throws std::invalid_argument if the link does not exist or the rate is negative.
     */
    virtual void SetLinkRate(LinkId link, Rate rate, Time now) = 0;

    /**
     * Sets the probability with which a link loses each packet from @p now on. This models a bad
     * cable or transceiver, whose bit errors the receiver's frame check detects.
     * @param part loss probability, in [0, 1)
     * @throws std::invalid_argument if the transport simulates no packets (a fluid, or replayed
     *         packets), the link does not exist or is not a network link, or the probability is
     *         outside [0, 1).
     */
    virtual void SetLinkLoss(LinkId /* link */, double /* part */, Time /* now */)
    {
        throw std::invalid_argument(
            "Transport::SetLinkLoss: found a link loss without simulated packets, expected the "
            "packet transport");
    }

    /**
     * Marks links as failed, or as up at the rate that was last set. Flows on failed links are
     * rerouted, or stall if no path is left. When links come up, flows return to their planned
     * paths. All @p links change at once, as the ports of a failed switch do.
     * @throws std::invalid_argument if a link does not exist.
     */
    virtual void SetLinksUp(const std::vector<LinkId>& links, bool up, Time now) = 0;

    /** Whether a link is up, that is, has not failed. */
    virtual bool IsLinkUp(LinkId link) const = 0;

    /**
     * Ends a flow early without calling its client.
     * @return false if the flow has ended already.
     */
    virtual bool Cancel(FlowId id, Time now) = 0;

    /**
     * Current rate of a flow: zero before its first byte moves and after its end. Of packet flows
     * that follow each other on a queue pair, the last one whose packets have been sent has its
     * rate.
     */
    virtual Rate CurrentRate(FlowId id) = 0;

    /**
     * Path of an active flow, or of a flow that has ended at this instant; invalid for other ids.
     */
    virtual FlowPath CurrentPath(FlowId id) = 0;

    /**
     * Usage of a link since the start of the run, up to the last event or the time of the last
     * MoveTo.
     */
    virtual LinkUsage GetLinkUsage(LinkId link) = 0;

    /**
     * Advances time to @p now without handling events. @p now must not be after the next event; an
     * event due at @p now is not handled yet.
     */
    virtual void MoveTo(Time now)
    {
    }

    /** Counters of the port of a link; null if the transport simulates no packets there. */
    virtual const PortCounters* GetPortCounters(LinkId link)
    {
        return nullptr;
    }

    /**
     * Packet counters of an active flow, or of a flow that has ended at this instant; null for a
     * fluid flow and for other ids.
     */
    virtual const FlowCounters* GetFlowCounters(FlowId id)
    {
        return nullptr;
    }

    /**
     * Registers @p observer for the events of all ports from now on. It must outlive the transport.
     * @return false if the transport simulates no packets.
     */
    virtual bool AddPortObserver(PortObserver& observer)
    {
        return false;
    }

    /** Unregisters @p observer, after reporting the pauses that have expired by now. */
    virtual void RemovePortObserver(PortObserver& observer)
    {
    }

    /** Whether the transport can move flows as @p form. */
    bool Moves(FlowForm form) const
    {
        return !m_form || *m_form == form;
    }

    /**
     * The form in which a flow moves. A packet flow ends when its last byte has arrived; its
     * addsLatency is ignored.
     */
    virtual FlowForm FormOf(const FlowRequest& request)
    {
        return m_form.value_or(request.form);
    }

    /**
     * Completion time of a flow in isolation, at the link rates of the topology. For packets it
     * includes headers and forwarding delays; for a fluid see the class comment.
     * @param path path of the flow; if invalid, the planned path of its route, or all of its paths
     *        where its packets are sprayed
     */
    virtual Time UncontendedTime(const FlowRequest& request, PathId path) = 0;

    /** Number of active flows, including those in their overhead or latency. */
    virtual std::size_t ActiveFlows() const = 0;

    /** Stalled flows, in the order of their starts. O(active flows). */
    virtual std::vector<StalledFlow> StalledFlows() = 0;

    /**
     * Describes, in a sentence, what blocks traffic other than failed links (for instance a
     * deadlock); empty if nothing does.
     */
    virtual std::string DescribeWaiting() const
    {
        return {};
    }

    /**
     * Registers @p observer for all events from now on. Observers are called in the order of
     * registration.
     * @param linkRates whether to report link rates, which costs a visit of every link whose rate
     *        changes. Registering an observer again changes this choice.
     */
    virtual void AddObserver(TransportObserver& observer, bool linkRates)
    {
        m_observers.Add(observer, linkRates);
    }

    /** Unregisters @p observer. */
    virtual void RemoveObserver(TransportObserver& observer)
    {
        m_observers.Remove(observer);
    }

  protected:
    TransportObservers m_observers;

  private:
    std::optional<FlowForm> m_form; //!< of all flows; empty: both
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_TRANSPORT_H
