// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_FLUID_TRANSPORT_H
#define WEIR_FABRIC_FLUID_TRANSPORT_H

#include "fabric/indexed-heap.h"
#include "fabric/routing/routing.h"
#include "fabric/sharing/sharing-solver.h"
#include "fabric/sharing/sharing-spec.h"
#include "fabric/transport/fluid/instant-queue.h"
#include "fabric/transport/fluid/pairing-heap.h"
#include "fabric/transport/path-selector.h"
#include "fabric/transport/transport-observers.h"
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
 * What a fluid flow takes when no other one is under way: overhead, latency, bytes over its rate.
 * @param path that it takes; invalid: the planned one of its route
 */
inline Time
FluidUncontendedTime(const FlowRequest& request, Routing& routing, PathId path = PathId())
{
    const bool isPlanned = !path.IsValid();
    const Time latency = isPlanned ? routing.Latency(request.route) : routing.Paths().Latency(path);
    const Rate most =
        isPlanned ? routing.UncontendedRate(request.route) : routing.Paths().BottleneckRate(path);
    const Rate rate = std::min(request.cap, most);
    return request.overhead + (request.addsLatency ? latency : Time()) +
           (rate.IsInfinite() ? Time() : request.bytes / rate);
}

/** Counts what a link has carried; touched only when its rate changes. */
class LinkMeter
{
  public:
    /** A load of at least this part of the capacity saturates a link. */
    static constexpr double SATURATED = 1 - 1e-9;

    static bool Saturates(double rate, double capacity)
    {
        return rate > 0 && rate >= capacity * SATURATED;
    }

    /** The link carries @p rate (bytes/s) of @p capacity from @p now on. */
    void SetRate(double rate, double capacity, Time now)
    {
        m_busy = Busy(now);
        m_saturated = Saturated(now);
        m_since = now;
        m_rate = rate;
        m_full = Saturates(rate, capacity);
    }

    /** Adds time that was measured elsewhere, during which this meter showed no rate. */
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
    int64_t m_bytes{0}; //!< of transfers that have left the link
    bool m_full{false}; //!< m_rate is all that the link can carry
};

/**
 * How much has been served to each unit of weight: a counter that runs at a rate.
 *
 * A transfer that starts when the counter shows s is done when it shows s + bytes / weight, however
 * the rate changes in between; so a change of rate is one change here, not one per transfer.
 */
class ServiceClock
{
  public:
    /** What it shows at @p now, in bytes per unit of weight. */
    double At(Time now) const
    {
        return m_rate == 0 || m_rate == INFINITE || now == m_since
                   ? m_served
                   : m_served + m_rate * (now - m_since).ToSeconds();
    }

    /** When it shows @p served; at once when the rate is infinite, never when it is zero. */
    Time TimeOf(double served) const
    {
        if (served <= m_served || m_rate == INFINITE)
        {
            return m_since;
        }
        return m_rate == 0 ? Time::Infinite()
                           : m_since + Time::Seconds((served - m_served) / m_rate);
    }

    /** Runs at @p rate (bytes per second and unit of weight) from @p now on. */
    void SetRate(double rate, Time now)
    {
        m_served = At(now);
        m_since = now;
        m_rate = rate;
    }

    /** Shows @p served at @p now. */
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
 * Bytes as fluid: flows share links weighted max-min fairly, with rate caps.
 *
 * Flows that share path, cap and weight are one *bundle*, one variable of the solver. Bundles
 * with the same bottleneck link are one *group*: all of them are served at the link's level, so a
 * group has one clock, and one timer for the first of its flows to end. A bundle that is alone
 * on its links or at its cap has a clock and a timer of its own.
 *
 * Whatever happens at one instant is solved once, when a later instant or a rate is asked for; a
 * flow that starts where an equal one ends leaves nothing to solve. A flow ends at the
 * picosecond nearest to where its last byte passes; all that end in one picosecond end together, in
 * the order of their starts.
 *
 * Cost: O(log n) to start and to end one of n flows in a bundle or group, O(1) for bundles in
 * lock-step, plus the solve (SharingSolver). About 150 bytes a flow, and 250 plus 60 per link a
 * bundle.
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
     * Also takes sums of routes (Routing::AddSum), which only a fluid can carry: one stream at one
     * rate over all their links at once.
     */
    FlowId Start(const FlowRequest& request, Time now) override;

    /** Moves the rest of a flow to another route. @return false when it is already done. */
    bool SetRoute(FlowId id, RouteId route, Time now);

    /**
     * Traffic that is not fluid takes its share like a flow, after the same delay, without end and
     * without moving bytes, until Cancel. Observers are not told of it.
     * @param path that it takes where routes do not say; invalid: as a flow
     * @throws std::invalid_argument as Start.
     */
    virtual FlowId Occupy(const FlowRequest& request, FlowPath path, Time now);

    /** Gives what Occupy has started another cap, path or weight. */
    virtual void SetOccupant(FlowId id, Rate cap, FlowPath path, double weight, Time now);

    /** Flows and occupants on a link, now. */
    struct Shares
    {
        double flowRate{0};       //!< bytes/s
        double flowWeight{0};     //!< of those that have bytes to move
        double occupantWeight{0}; //!< of traffic that is not fluid
        bool isGreedy{false};     //!< an occupant has all that a flow has there
    };

    /** O(bundles on the link) */
    Shares SharesOf(LinkId link);

    /**
     * Links on which shares may have changed since the last call; each once, ascending. The first
     * call gives all links.
     */
    const std::vector<uint32_t>& TakeChangedLinks();

    /** Gives a flow another upper limit from @p now on. @return false when it is already done. */
    bool SetCap(FlowId id, Rate cap, Time now);

    void SetLinkRate(LinkId link, Rate rate, Time now) override;
    void SetLinksUp(const std::vector<LinkId>& links, bool up, Time now) override;
    bool IsLinkUp(LinkId link) const override;
    bool Cancel(FlowId id, Time now) override;
    Rate CurrentRate(FlowId id) override;
    FlowPath CurrentPath(FlowId id) override;
    Rate CurrentLinkRate(LinkId link) override;
    LinkUsage GetLinkUsage(LinkId link) override;
    void MoveTo(Time now) override;

    bool Moves(FlowForm form) const override
    {
        return form == FlowForm::Fluid;
    }

    FlowForm FormOf(const FlowRequest& /* request */) override
    {
        return FlowForm::Fluid;
    }

    /** What counts flows on links where paths do not follow from routes; null where they do. */
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
    /** A clock is set back above this (bytes per weight), for resolution: 2^33. */
    static constexpr double REBASE_ABOVE = 8589934592.0;

    static constexpr uint32_t NONE = 0xffffffff;

    // A FlowId is the number of the start above the index in m_flows: unique, in the order of
    // starts, and found without a search. 2^40 starts a run, 2^24 flows at one time.
    static constexpr uint32_t INDEX_BITS = 24;
    static constexpr uint64_t INDEX_MASK = (uint64_t{1} << INDEX_BITS) - 1;

    enum class State : uint8_t
    {
        Unused,
        Delayed, //!< in its start-up delay
        Moving,
        Done //!< ended, its client not yet told
    };

    /** What every flow needs at its end is in the first cache line. */
    struct alignas(64) Flow
    {
        uint64_t id{0};
        double due{0};    //!< done when its bundle has been served this (bytes per weight)
        int64_t bytes{0}; //!< to move on this path
        FlowClient* client{nullptr};
        uint64_t token{0};
        uint32_t bundle{NONE};
        PairingNode inBundle;
        State state{State::Unused};
        bool addsLatency{true};  //!< of the request
        bool isOccupant{false};  //!< Occupy
        bool hasOwnPath{false};  //!< of an occupant: it has not been selected
        bool isUndivided{false}; //!< its path is yet to be found, with others'
        bool isStalled{false};   //!< told to be

        double left{0};  //!< when delayed: bytes it will start with
        int64_t size{0}; //!< bytes of the request
        Time started;
        Time overhead; //!< of the request
        RouteId route;
        uint32_t unit{1}; //!< it moves 1 / unit of the request's bytes, weight and cap
        InstantNode inDelays;
    };

    /** Flows of one path, cap and weight. What a change of rate needs is in the first cache line.
     */
    struct alignas(64) Bundle
    {
        ServiceClock clock;   //!< its own
        double offset{0};     //!< what it has been served is its group's clock plus this
        double due{0};        //!< of its first flow
        double weight{1};     //!< of each flow
        uint32_t first{NONE}; //!< heap of moving flows, the first to end on top
        uint32_t group{NONE}; //!< the link whose clock it follows; NONE: its own
        uint32_t moving{0};   //!< flows
        bool isStale{false};  //!< its timer is not right
        bool isQueued{false}; //!< is in m_idleQueue
        bool wasAlone{false}; //!< when last looked at

        double cap{0};             //!< bytes/s, of each flow
        int64_t carried{0};        //!< bytes done, not yet added to its links' meters
        double uncontendedRate{0}; //!< bytes/s when alone on its links
        double aloneFull{0};       //!< the last such rate that was not zero
        PathId path;
        uint32_t nextOfPath{NONE}; //!< another bundle on this path
        uint32_t users{0};         //!< flows that are moving, delayed, or done but not told
        uint32_t occupants{0};     //!< of those that are moving
        InstantNode inTimers;
    };

    /** Time for which a bundle has been alone on its links. */
    struct UncontendedSpan
    {
        Time since;
        Time busy; //!< at aloneFull, not yet added to its links' meters
    };

    /** Bundles that have one bottleneck link. */
    struct alignas(64) Group
    {
        ServiceClock clock;
        PositionedHeap<double> heap; //!< bundles by the clock value when their first flow ends
        double timedRate{0};         //!< no rate of the clock up to this makes its timer too late
        uint32_t bundles{0};         //!< that follow the clock
        bool isTimedEarly{false};    //!< its timer may be too early
        bool isStale{false};         //!< its timer is not right
    };

    struct FlowItems
    {
        std::vector<Flow>* flows;

        PairingNode& Node(uint32_t i) const
        {
            return (*flows)[i].inBundle;
        }

        bool Before(uint32_t a, uint32_t b) const
        {
            const Flow& x = (*flows)[a];
            const Flow& y = (*flows)[b];
            return x.due < y.due || (x.due == y.due && x.id < y.id);
        }
    };

    struct DelayItems
    {
        std::vector<Flow>* flows;

        InstantNode& Node(uint32_t i) const
        {
            return (*flows)[i].inDelays;
        }
    };

    struct TimerItems
    {
        std::vector<Bundle>* bundles;

        InstantNode& Node(uint32_t i) const
        {
            return (*bundles)[i].inTimers;
        }
    };

    // Flows and their bundles (fluid-bundles.cc).
    uint32_t NewPlace();
    void FreeFlow(uint32_t flow);
    uint32_t Find(FlowId id) const;
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
    double LeftOf(const Flow& flow) const;
    void Rebase(uint32_t bundle);
    void SetFirst(Bundle& bundle, uint32_t flow);
    void SetStale(uint32_t bundle);

    // Paths (fluid-paths.cc).
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
    void TellWhetherStalled(uint32_t flow);
    std::vector<uint32_t> FlowsByStart() const;

    // Time (fluid-transport.cc).
    Time FirstTimer() const;
    void EndDelays();
    void EndFlows(uint32_t bundle, const ServiceClock& clock, double offset);
    void EndFlowsOfGroup(uint32_t link);
    void Tell();

    // The solve and what follows from it (fluid-settle.cc).
    void Settle();
    void Regroup(uint32_t bundle);
    void SetGroupLevel(uint32_t link);
    void SetTimer(uint32_t bundle);
    void SetGroupTimer(uint32_t link);
    void TimeGroup(uint32_t link, Time time);
    Time TimeOfGroup(const Group& group) const;
    void MakeFirstGroupTimerExact();
    void SetGroupStale(uint32_t link);

    // Usage of links (fluid-settle.cc).
    void MeterLink(uint32_t link);
    void MeterAlone(uint32_t bundle);
    void TellAloneRate(uint32_t bundle);
    void AddAloneTime(uint32_t bundle);
    void AddCarried(uint32_t bundle);
    double LoadOf(uint32_t link) const;

    // Traffic that is not fluid (fluid-bundles.cc).
    void NoteChangedLinks();

    Routing& m_routing;
    PathTable& m_paths;
    std::unique_ptr<PathSelector> m_selector; //!< null: paths follow from the routes
    SharingSolver m_solver;
    std::vector<Flow> m_flows;
    std::vector<uint32_t> m_unusedFlows;
    std::vector<Bundle> m_bundles;                   //!< by variable of the solver
    std::vector<UncontendedSpan> m_uncontendedSpans; //!< by bundle
    std::vector<uint32_t> m_positions;               //!< by bundle: in the heap of its group
    std::vector<uint32_t> m_bundleOfPath;            //!< by path: its first bundle
    std::vector<Group> m_groups;                     //!< by link
    std::vector<LinkMeter> m_meters;                 //!< by link
    InstantQueue<DelayItems> m_delays;               //!< flows in their start-up delay
    InstantQueue<TimerItems> m_timers;               //!< bundles with clocks of their own
    IndexedHeap<Time> m_groupTimers;                 //!< by link
    std::vector<uint32_t> m_staleBundles;
    std::vector<uint32_t> m_staleGroups;
    std::deque<uint32_t>
        m_idleQueue;       //!< bundles that came to be idle, oldest first; some are in use again
    std::size_t m_idle{0}; //!< bundles without flows
    std::size_t m_bundleCount{0};      //!< bundles, idle ones included
    std::vector<uint32_t> m_done;      //!< flows that ended at this instant
    std::vector<uint32_t> m_undivided; //!< flows that DivideStarted waits for
    bool m_hasDivided{false};
    std::vector<double> m_rates; //!< by link, bytes/s: wired or set; also while down
    std::vector<bool> m_isDown;  //!< by link
    std::size_t m_down{0};       //!< links that are
    uint64_t m_started{0};       //!< flows, since the beginning
    std::size_t m_active{0};
    Time m_now;
    bool m_isSettled{true}; //!< levels and timers are right
    bool m_notesChanges{false};
    std::vector<uint32_t> m_changedLinks; //!< since TakeChangedLinks, if it m_notesChanges
    std::vector<uint32_t> m_takenLinks;
    TransportObservers m_observers;
};

} // namespace weir

#endif // WEIR_FABRIC_FLUID_TRANSPORT_H
