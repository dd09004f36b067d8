// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_FLUID_FLUID_TRANSPORT_H
#define WEIR_FABRIC_TRANSPORT_FLUID_FLUID_TRANSPORT_H

#include "fabric/indexed-heap.h"
#include "fabric/instant-queue.h"
#include "fabric/routing/routing.h"
#include "fabric/sharing/sharing-solver.h"
#include "fabric/transport/flow-slots.h"
#include "fabric/transport/fluid/fluid-spec.h"
#include "fabric/transport/path-selector.h"
#include "fabric/transport/transport.h"
#include "fabric/units.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <vector>

namespace weir
{

/**
 * Completion time of a fluid flow in isolation: overhead, latency, and bytes divided by its rate.
 * @param path path of the flow; if invalid, the planned path of its route
 */
inline Time
FluidUncontendedTime(const FlowRequest& request, Routing& routing, PathId path = PathId())
{
    const bool isPlanned = !path.IsValid();
    const Time latency =
        isPlanned ? routing.UncontendedLatency(request.route) : routing.Paths().Latency(path);
    const Rate max =
        isPlanned ? routing.UncontendedRate(request.route) : routing.Paths().BottleneckRate(path);
    const Rate rate = std::min(request.cap, max);
    return request.overhead + (request.addsLatency ? latency : Time()) +
           (rate.IsInfinite() ? Time() : request.bytes / rate);
}

/** Accumulates the usage of a link. It is updated only when the rate of the link changes. */
class LinkMeter
{
  public:
    /** A load of at least this fraction of the capacity saturates a link. */
    static constexpr double SATURATED = 1 - 1e-9;

    static bool Saturates(double rate, double capacity)
    {
        return rate > 0 && rate >= capacity * SATURATED;
    }

    /** Sets the rate and the capacity of the link from @p now on, bytes/s. */
    void SetRate(double rate, double capacity, Time now)
    {
        m_busy = Busy(now);
        m_saturated = Saturated(now);
        m_since = now;
        m_rate = rate;
        m_full = Saturates(rate, capacity);
    }

    /** Adds busy time that was measured elsewhere, during which this meter had rate zero. */
    void AddTime(Time busy, bool saturated)
    {
        m_busy += busy;
        m_saturated += saturated ? busy : Time();
    }

    void AddBytes(int64_t bytes)
    {
        m_bytes += bytes;
    }

    double Rate() const
    {
        return m_rate;
    }

    bool IsFull() const
    {
        return m_full;
    }

    int64_t Bytes() const
    {
        return m_bytes;
    }

    Time Busy(Time now) const
    {
        return m_rate > 0 ? m_busy + (now - m_since) : m_busy;
    }

    Time Saturated(Time now) const
    {
        return m_full ? m_saturated + (now - m_since) : m_saturated;
    }

  private:
    double m_rate{0}; //!< bytes/s since m_since
    Time m_since;
    Time m_busy;        //!< until m_since
    Time m_saturated;   //!< until m_since
    int64_t m_bytes{0}; //!< bytes of transfers that have left the link
    bool m_full{false}; //!< m_rate saturates the link
};

/**
 * Service per unit of weight (bytes), a counter that runs at a rate.
 *
 * A transfer that starts at counter value s is done at s + bytes / weight, however the rate changes
 * in between. A change of rate is therefore one change here, not one per transfer.
 */
class ServiceClock
{
  public:
    /** Value at @p now, in bytes per unit of weight. */
    double At(Time now) const
    {
        return m_rate == 0 || m_rate == INFINITE || now == m_since
                   ? m_served
                   : m_served + m_rate * (now - m_since).ToSeconds();
    }

    /**
     * Time at which the value reaches @p served: now if the rate is infinite, never if it is zero.
     */
    Time TimeOf(double served) const
    {
        if (served <= m_served || m_rate == INFINITE)
        {
            return m_since;
        }
        return m_rate == 0 ? Time::Infinite()
                           : m_since + Time::Seconds((served - m_served) / m_rate);
    }

    /** Sets the rate from @p now on, in bytes per second and unit of weight. */
    void SetRate(double rate, Time now)
    {
        m_served = At(now);
        m_since = now;
        m_rate = rate;
    }

    /** Sets the value at @p now to @p served. */
    void Set(double served, Time now)
    {
        m_served = served;
        m_since = now;
    }

    double Rate() const
    {
        return m_rate;
    }

  private:
    static constexpr double INFINITE = std::numeric_limits<double>::infinity();

    double m_served{0}; //!< bytes per unit of weight at m_since
    double m_rate{0};   //!< bytes per second and unit of weight
    Time m_since;
};

/**
 * Moves bytes as a fluid: flows share links in weighted max-min fairness, with rate caps.
 *
 * Flows with equal path, cap and weight form a *bundle*, which is one variable of the solver.
 * Bundles with the same bottleneck link form a *group*. They all are served at the link's level, so
 * a group has one clock, and one timer for the first of its flows to end. A bundle that is
 * uncontended on its links or at its cap has its own clock and timer.
 *
 * All changes at one instant are solved once, when a later instant or a rate is requested. A flow
 * that starts where an equal one ends needs no solve. A flow ends at the picosecond nearest to the
 * passage of its last byte. Flows that end in the same picosecond end in the order of their starts.
 *
 * Cost: O(log n) to start and to end one of n flows in a bundle or group, O(1) for bundles in
 * lock-step, plus the solve (SharingSolver). Memory: about 150 bytes a flow, and 250 plus 60 per
 * link a bundle.
 */
class FluidTransport : public Transport
{
  public:
    /** @p routing must outlive it. */
    explicit FluidTransport(Routing& routing, const SharingSpec& sharing = {});
    FluidTransport(const FluidTransport&) = delete;
    FluidTransport& operator=(const FluidTransport&) = delete;

    Time NextEventTime() override;

    /** @throws std::invalid_argument when @p now is in the past or would skip an event. */
    void AdvanceTo(Time now) override;

    /**
     * Starts a flow. Also accepts sums of routes (Routing::AddSum), which only a fluid can carry:
     * one stream that has the same rate on all their links at once.
     * @throws std::invalid_argument as Transport::Start.
     */
    FlowId Start(const FlowRequest& request, Time now) override;

    /**
     * Moves the rest of a flow to another route.
     * @return false if the flow has already ended
     * @throws std::invalid_argument if the route does not exist
     */
    bool SetRoute(FlowId id, RouteId route, Time now);

    /**
     * Adds an occupant: traffic that is not fluid. It takes a share of links like a flow, after the
     * same delay, until Cancel. It has no end, moves no bytes, and is not reported to observers.
     * @param path path of the traffic, where routes do not determine it; if invalid, as for a flow
     * @throws std::invalid_argument as Start.
     */
    virtual FlowId Occupy(const FlowRequest& request, FlowPath path, Time now);

    /**
     * Changes the cap, path or weight of an occupant.
     * @return false if it has been canceled
     */
    virtual bool SetOccupant(FlowId id, Rate cap, FlowPath path, double weight, Time now);

    /** Current flows and occupants of a link. */
    struct Shares
    {
        double flowRate{0};       //!< bytes/s
        double flowWeight{0};     //!< total weight of flows with bytes to move
        double occupantWeight{0}; //!< total weight of occupants
        bool isGreedy{false};     //!< an occupant has the highest level that any flow has on the
                                  //!< link
    };

    /** O(bundles on the link) */
    Shares SharesOf(LinkId link);

    /**
     * Links on which shares may have changed since the last call; each once, in ascending order.
     * The first call returns all links.
     */
    const std::vector<uint32_t>& TakeChangedLinks();

    /**
     * Changes the rate cap of a flow from @p now on.
     * @return false if the flow has already ended
     */
    bool SetCap(FlowId id, Rate cap, Time now);

    void SetLinkRate(LinkId link, Rate rate, Time now) override;
    void SetLinksUp(const std::vector<LinkId>& links, bool up, Time now) override;

    bool IsLinkUp(LinkId link) const override
    {
        return !m_isDown[link.Index()];
    }

    bool Cancel(FlowId id, Time now) override;
    Rate CurrentRate(FlowId id) override;
    FlowPath CurrentPath(FlowId id) override;

    /** Current rate on a link. */
    Rate CurrentLinkRate(LinkId link);

    LinkUsage GetLinkUsage(LinkId link) override;
    void MoveTo(Time now) override;

    /**
     * The selector that counts the load of flows, if the routing policy is not fixed; else null.
     */
    PathSelector* Selector()
    {
        return m_selector.get();
    }

    Time UncontendedTime(const FlowRequest& request, PathId path) override
    {
        return FluidUncontendedTime(request, m_routing, path);
    }

    std::size_t ActiveFlows() const override
    {
        return m_active;
    }

    std::vector<StalledFlow> StalledFlows() override;
    void AddObserver(TransportObserver& observer, bool linkRates) override;
    void RemoveObserver(TransportObserver& observer) override;

  private:
    /** Clocks are reset above this value (bytes per weight), to keep their resolution: 2^33. */
    static constexpr double REBASE_ABOVE = 8589934592.0;

    static constexpr uint32_t NONE = 0xffffffff;

    enum class State : uint8_t
    {
        Unused,
        Delayed, //!< in its overhead and latency
        Moving,
        Done //!< ended, before its client is called
    };

    /** A flow. The fields needed at its end are in the first cache line. */
    struct alignas(64) Flow
    {
        uint64_t id{0};
        int64_t bytes{0}; //!< bytes to move on this path
        FlowClient* client{nullptr};
        uint64_t token{0};
        uint32_t bundle{NONE};
        State state{State::Unused};
        bool addsLatency{true};  //!< of the request
        bool isOccupant{false};  //!< started by Occupy
        bool hasOwnPath{false};  //!< of an occupant: its path was given, not selected
        bool isUndivided{false}; //!< its path is pending in m_undivided
        bool isStalled{false};   //!< reported as stalled

        double left{0};  //!< while delayed: bytes that it starts with
        int64_t size{0}; //!< bytes of the request
        Time started;
        Time overhead; //!< of the request
        RouteId route;
        uint32_t unit{1}; //!< it moves 1/unit of the request's bytes, weight and cap
    };

    /**
     * Flows of one path, cap and weight. The fields needed by a change of rate are in the first
     * cache line.
     */
    struct alignas(64) Bundle
    {
        ServiceClock clock;         //!< its own clock, if it has no group
        double offset{0};           //!< its service is its group's clock plus this
        double due{0};              //!< key of its first flow; 0 if none moves
        double weight{1};           //!< weight of each flow
        uint32_t group{NONE};       //!< link whose group it belongs to; NONE: own clock
        uint32_t moving{0};         //!< number of moving flows
        bool isStale{false};        //!< its timer must be updated
        bool isQueued{false};       //!< it is in m_idleQueue
        bool wasUncontended{false}; //!< it was uncontended at the last MeterUncontended

        PositionedHeap<double> flows;  //!< moving flows, by its service (bytes per weight) at
                                       //!< which they are done
        double cap{0};                 //!< cap of each flow, bytes/s
        int64_t carried{0};            //!< bytes moved but not yet added to its links' meters
        double uncontendedRate{0};     //!< total rate while uncontended on its links, bytes/s
        double lastUncontendedRate{0}; //!< last nonzero uncontendedRate
        PathId path;
        uint32_t nextOfPath{NONE}; //!< next bundle on this path
        uint32_t users{0};         //!< flows that are moving, delayed, or done but not yet reported
        uint32_t occupants{0};     //!< number of moving flows that are occupants
    };

    /** Time for which a bundle has been uncontended on its links. */
    struct UncontendedSpan
    {
        Time since;
        Time busy; //!< time at lastUncontendedRate not yet added to its links' meters
    };

    /** Bundles with a common bottleneck link. */
    struct alignas(64) Group
    {
        ServiceClock clock;
        PositionedHeap<double> heap; //!< bundles, by the clock value at which their first flow ends
        double timedRate{0};         //!< highest clock rate for which its timer is not too late
        uint32_t bundles{0};         //!< bundles that follow the clock
        bool isTimedEarly{false};    //!< timer may be too early
        bool isStale{false};         //!< its timer must be updated
    };

    using Flows = FlowSlots<FlowForm::Fluid, std::vector<Flow>>;

    // Flows and bundles.
    void FreeFlow(uint32_t flow);
    uint32_t Find(FlowId id) const;

    static bool IsActive(const Flow& flow)
    {
        return flow.state == State::Moving || flow.state == State::Delayed;
    }

    FlowRequest RequestOf(const Flow& flow) const;
    uint32_t BundleFor(PathId path, double cap, double weight);
    uint32_t NewFlow(const FlowRequest& request, const SelectedPath& selected);
    void Begin(uint32_t flow, Time delay);
    void Release(uint32_t bundle);
    std::size_t IdleLimit() const;
    void Retire();
    void Enter(uint32_t flow, double bytes);
    double Leave(uint32_t flow);
    double ServedOf(const Bundle& bundle) const;
    double LeftOf(uint32_t flow) const;
    void Rebase(uint32_t bundle);
    void RemoveMoving(Bundle& bundle, uint32_t flow);
    void SetStale(uint32_t bundle);

    // Paths.
    void CheckRequest(const FlowRequest& request) const;
    SelectedPath SelectPath(const FlowRequest& request, bool isUndivided);
    Time DelayOf(const FlowRequest& request, const SelectedPath& selected) const;
    void MoveToPath(uint32_t flow, PathId path, uint32_t unit);
    void MoveToBundle(uint32_t flow, uint32_t bundle, uint32_t unit);
    void LeavePath(uint32_t flow);
    void SetCapacity(LinkId link, double rate);
    void DivideStarted();
    void DivideAgain();
    void TakePath(uint32_t flow);
    LinkId FirstDownLink(uint32_t flow) const;
    void ReportStallState(uint32_t flow);
    std::vector<uint32_t> FlowsByStart() const;

    // Time.
    Time FirstTimer() const;
    void EndDelays();
    void EndFlows(uint32_t bundle, const ServiceClock& clock, double offset);
    void EndFlowsOfGroup(uint32_t link);
    void Tell();

    // The solve and its consequences.
    void Settle();
    void Regroup(uint32_t bundle);
    void SetGroupLevel(uint32_t link);
    void SetTimer(uint32_t bundle);
    void SetGroupTimer(uint32_t link);
    void TimeGroup(uint32_t link, Time time);

    /** Time at which the first flow of a group ends at the current rate of its clock. */
    Time TimeOfGroup(const Group& group) const
    {
        return group.heap.Empty() ? Time::Infinite() : group.clock.TimeOf(group.heap.TopKey());
    }

    void MakeFirstGroupTimerExact();
    void SetGroupStale(uint32_t link);

    // Usage of links.
    void MeterLink(uint32_t link);
    void MeterUncontended(uint32_t bundle);
    void ReportUncontendedRate(uint32_t bundle);
    void AddUncontendedTime(uint32_t bundle);
    void AddCarried(uint32_t bundle);
    double LoadOf(uint32_t link) const;

    // Traffic that is not fluid.
    void NoteChangedLinks();

    Routing& m_routing;
    PathTable& m_paths;
    std::unique_ptr<PathSelector> m_selector; //!< null: paths follow from the routes
    SharingSolver m_solver;
    Flows m_flows;
    std::vector<Bundle> m_bundles;                   //!< by variable of the solver
    std::vector<UncontendedSpan> m_uncontendedSpans; //!< by bundle
    std::vector<uint32_t> m_positions;               //!< by bundle: in the heap of its group
    std::vector<uint32_t> m_positionsInBundle;       //!< by flow: in the heap of its bundle
    std::vector<uint32_t> m_bundleOfPath;            //!< by path: its first bundle
    std::vector<Group> m_groups;                     //!< by link
    std::vector<LinkMeter> m_meters;                 //!< by link
    InstantQueue m_delays;                           //!< flows in their overhead and latency
    InstantQueue m_timers;                           //!< bundles with their own clock
    IndexedHeap<Time> m_groupTimers;                 //!< by link
    std::vector<uint32_t> m_staleBundles;
    std::vector<uint32_t> m_staleGroups;
    std::deque<uint32_t>
        m_idleQueue;       //!< bundles that became idle, oldest first; some may be in use again
    std::size_t m_idle{0}; //!< bundles without flows
    std::size_t m_bundleCount{0};      //!< number of bundles, including idle ones
    std::vector<uint32_t> m_done;      //!< flows that ended at this instant
    std::vector<uint32_t> m_undivided; //!< flows waiting for DivideStarted
    bool m_hasDivided{false};
    std::vector<double> m_rates; //!< by link, bytes/s: as wired or set; kept while down
    std::vector<bool> m_isDown;  //!< by link
    std::size_t m_down{0};       //!< number of links that are down
    std::size_t m_active{0};
    Time m_now;
    bool m_isSettled{true}; //!< levels and timers are up to date
    bool m_notesChanges{false};
    std::vector<uint32_t> m_changedLinks; //!< changed links since TakeChangedLinks, if
                                          //!< m_notesChanges
    std::vector<uint32_t> m_takenLinks;
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_FLUID_FLUID_TRANSPORT_H
