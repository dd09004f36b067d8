// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/fluid/fluid-transport.h"

#include "fabric/refuse.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace weir
{

namespace
{

/** The timer of a group may be early by about 1/EARLY_PART of the remaining time. */
constexpr int64_t EARLY_PART = 64;

/**
 * Group timers are early only if more time than this remains, so that rounding to picoseconds is
 * negligible.
 */
constexpr Time EARLY_FROM = Time::Picoseconds(1000000);

std::vector<double>
CapacitiesOf(const Topology& topology)
{
    std::vector<double> capacities(topology.LinkCount());
    for (std::size_t i = 0; i < capacities.size(); i++)
    {
        capacities[i] = topology.GetLink(LinkId(i)).rate.ToBytesPerSecond();
    }
    return capacities;
}

} // namespace

FluidTransport::FluidTransport(Routing& routing, const SharingSpec& sharing)
    : Transport(FlowForm::Fluid),
      m_routing(routing),
      m_paths(routing.Paths()),
      m_solver(CapacitiesOf(routing.GetTopology()), sharing.tolerance),
      m_groups(routing.GetTopology().LinkCount()),
      m_meters(routing.GetTopology().LinkCount()),
      m_groupTimers(routing.GetTopology().LinkCount()),
      m_rates(CapacitiesOf(routing.GetTopology())),
      m_isDown(routing.GetTopology().LinkCount())
{
    if (!routing.Policy().IsFixed())
    {
        m_selector = std::make_unique<PathSelector>(routing);
    }
}

Time
FluidTransport::NextEventTime()
{
    Settle();
    return FirstTimer();
}

Time
FluidTransport::FirstTimer() const
{
    const Time ofGroups = m_groupTimers.Empty() ? Time::Infinite() : m_groupTimers.TopKey();
    return std::min({m_delays.FirstTime(), m_timers.FirstTime(), ofGroups});
}

/**
 * Advances time to @p now, after solving the changes made before.
 * @throws std::invalid_argument if @p now is in the past or would skip an event.
 */
void
FluidTransport::MoveTo(Time now)
{
    if (now == m_now)
    {
        return;
    }
    Settle();
    WEIR_REFUSE_IF(now < m_now || now > FirstTimer(),
                   "FluidTransport: cannot advance from "
                       << m_now.ToPicoseconds() << " ps to " << now.ToPicoseconds()
                       << " ps, the next event is at " << FirstTimer().ToPicoseconds() << " ps");
    m_now = now;
}

void
FluidTransport::AdvanceTo(Time now)
{
    MoveTo(now);
    Settle();
    EndDelays();
    while (m_timers.FirstTime() <= now)
    {
        const uint32_t b = m_timers.PopFirst();
        EndFlows(b, m_bundles[b].clock, 0);
    }
    while (!m_groupTimers.Empty() && m_groupTimers.TopKey() <= now)
    {
        EndFlowsOfGroup(m_groupTimers.TopIndex());
    }
    if (!m_done.empty())
    {
        Tell();
    }
}

/** Starts the flows whose overhead and latency end now. */
void
FluidTransport::EndDelays()
{
    while (m_delays.FirstTime() <= m_now)
    {
        const uint32_t t = m_delays.PopFirst();
        Flow& flow = m_flows[t];
        if (flow.bytes == 0)
        {
            flow.state = State::Done;
            m_done.push_back(t);
        }
        else
        {
            Enter(t, flow.left);
        }
    }
}

void
FluidTransport::EndFlowsOfGroup(uint32_t link)
{
    Group& group = m_groups[link];
    while (!group.heap.Empty() && group.clock.TimeOf(group.heap.TopKey()) <= m_now)
    {
        const uint32_t b = group.heap.TopIndex();
        group.heap.Remove(b, m_positions);
        EndFlows(b, group.clock, m_bundles[b].offset);
    }
    m_groupTimers.Remove(link);
    SetGroupStale(link);
}

/** Ends the flows of a bundle whose last byte has passed by now. */
void
FluidTransport::EndFlows(uint32_t b, const ServiceClock& clock, double offset)
{
    Bundle& bundle = m_bundles[b];
    while (bundle.moving > 0 && clock.TimeOf(bundle.due - offset) <= m_now)
    {
        const uint32_t t = bundle.flows.TopIndex();
        RemoveMoving(bundle, t);
        bundle.carried += m_flows[t].bytes;
        m_flows[t].state = State::Done;
        m_done.push_back(t);
    }
    m_solver.SetWeight(b, bundle.moving * bundle.weight);
    SetStale(b);
}

/** Calls the clients of the flows that have ended, in the order of their starts. */
void
FluidTransport::Tell()
{
    const auto earlier = [this](uint32_t a, uint32_t b) { return m_flows[a].id < m_flows[b].id; };
    if (!std::is_sorted(m_done.begin(), m_done.end(), earlier))
    {
        std::sort(m_done.begin(), m_done.end(), earlier);
    }
    m_active -= m_done.size();
    for (uint32_t t : m_done)
    {
        const Flow& flow = m_flows[t];
        FlowClient* const client = flow.client;
        const uint64_t token = flow.token;
        const uint32_t bundle = flow.bundle;
        if (!m_observers.IsEmpty())
        {
            m_observers.OnFlowFinished(FlowId{flow.id}, RequestOf(flow), flow.started, m_now);
        }
        LeavePath(t);
        Release(bundle);
        FreeFlow(t);
        if (client)
        {
            client->OnFlowDone(token, m_now); // may start flows
        }
    }
    m_done.clear();
}

void
FluidTransport::CheckRequest(const FlowRequest& request) const
{
    WEIR_REFUSE_IF(request.bytes.Count() < 0,
                   "FluidTransport: bytes must be zero or more, not "
                       << std::to_string(request.bytes.ToDouble()));
    WEIR_REFUSE_IF(request.overhead < Time() || request.overhead.IsInfinite(),
                   "FluidTransport: the overhead must be finite and zero or more, not "
                       << std::to_string(request.overhead.ToSeconds()));
    WEIR_REFUSE_IF(!(request.weight > 0) || !std::isfinite(request.weight),
                   "FluidTransport: the weight must be positive, not "
                       << std::to_string(request.weight));
    WEIR_REFUSE_IF(!(request.cap > Rate()),
                   "FluidTransport: the cap must be positive, not "
                       << std::to_string(request.cap.ToBytesPerSecond()));
    WEIR_REFUSE_IF(request.route.Index() >= m_routing.Size(),
                   "FluidTransport: the route must exist, not "
                       << std::to_string(static_cast<double>(request.route.Index())));
}

FlowId
FluidTransport::Start(const FlowRequest& request, Time now)
{
    CheckRequest(request);
    MoveTo(now);
    const bool isUndivided = m_selector && m_selector->IsDivided(request.route);
    const SelectedPath selected = SelectPath(request, isUndivided);
    const uint32_t t = NewFlow(request, selected);
    if (isUndivided)
    {
        m_flows[t].isUndivided = true;
        // Its shares of links will be rounded to units. In whole units it is not too fast.
        m_flows[t].left = static_cast<double>(m_flows[t].bytes);
        m_undivided.push_back(t);
        m_isSettled = false;
    }
    const FlowId id{m_flows[t].id};
    Begin(t, DelayOf(request, selected));
    if (!m_observers.IsEmpty())
    {
        m_observers.OnFlowStarted(id, request, now);
        if (m_down > 0)
        {
            ReportStallState(t);
        }
    }
    return id;
}

/** Lets a flow take its share of the links after @p delay. */
void
FluidTransport::Begin(uint32_t t, Time delay)
{
    Flow& flow = m_flows[t];
    if (flow.bytes > 0 && delay == Time())
    {
        Enter(t, flow.left);
        return;
    }
    flow.state = State::Delayed;
    m_delays.Set(t, m_now + delay);
}

bool
FluidTransport::Cancel(FlowId id, Time now)
{
    MoveTo(now);
    const uint32_t t = Find(id);
    if (t == NONE)
    {
        return false;
    }
    if (m_flows[t].state == State::Moving)
    {
        Leave(t);
    }
    m_delays.Remove(t);
    LeavePath(t);
    Release(m_flows[t].bundle);
    FreeFlow(t);
    m_active--;
    return true;
}

Rate
FluidTransport::CurrentRate(FlowId id)
{
    Settle();
    const uint32_t t = Find(id);
    if (t == NONE || m_flows[t].state != State::Moving)
    {
        return Rate();
    }
    const uint32_t b = m_flows[t].bundle;
    return Rate::BytesPerSecond(m_solver.Level(b) * m_bundles[b].weight * m_flows[t].unit);
}

void
FluidTransport::AddObserver(TransportObserver& observer, bool linkRates)
{
    Settle();
    m_observers.Add(observer, linkRates);
    m_solver.KeepLoads(m_notesChanges || m_observers.WantLinkRates());
}

void
FluidTransport::RemoveObserver(TransportObserver& observer)
{
    Settle();
    m_observers.Remove(observer);
    m_solver.KeepLoads(m_notesChanges || m_observers.WantLinkRates());
}

// Flows and bundles.

/** Creates a flow on which Begin has not been called yet. */
uint32_t
FluidTransport::NewFlow(const FlowRequest& request, const SelectedPath& selected)
{
    const uint32_t unit = selected.unit;
    const uint32_t b =
        BundleFor(selected.path, (request.cap / unit).ToBytesPerSecond(), request.weight / unit);
    const uint32_t t = m_flows.Take("FluidTransport");
    m_active++;
    Flow& flow = m_flows[t];
    flow.client = request.client;
    flow.token = request.token;
    flow.size = request.bytes.Count();
    flow.bytes = (flow.size + unit - 1) / unit;
    flow.left = static_cast<double>(flow.size) / unit;
    flow.started = m_now;
    flow.overhead = request.overhead;
    flow.addsLatency = request.addsLatency;
    flow.route = request.route;
    flow.unit = unit;
    flow.bundle = b;
    if (t >= m_positionsInBundle.size())
    {
        m_positionsInBundle.resize(t + 1, PositionedHeap<double>::ABSENT);
    }
    return t;
}

void
FluidTransport::FreeFlow(uint32_t t)
{
    m_flows[t].state = State::Unused;
    m_flows.Free(t);
}

/** Index of a flow that is moving or delayed; NONE if it has ended. */
uint32_t
FluidTransport::Find(FlowId id) const
{
    const uint32_t t = m_flows.Find(id);
    return t != NONE && IsActive(m_flows[t]) ? t : NONE;
}

FlowRequest
FluidTransport::RequestOf(const Flow& flow) const
{
    const Bundle& bundle = m_bundles[flow.bundle];
    FlowRequest request;
    request.route = flow.route;
    request.bytes = Bytes(flow.size);
    request.overhead = flow.overhead;
    request.addsLatency = flow.addsLatency;
    request.cap = Rate::BytesPerSecond(bundle.cap) * flow.unit;
    request.weight = bundle.weight * flow.unit;
    request.client = flow.client;
    request.token = flow.token;
    return request;
}

/** Finds or creates the bundle of a path, cap and weight, and adds a user to it. */
uint32_t
FluidTransport::BundleFor(PathId path, double cap, double weight)
{
    if (m_bundleOfPath.size() <= path.Index())
    {
        m_bundleOfPath.resize(std::max<std::size_t>(m_paths.Size(), path.Index() + 1), NONE);
    }
    uint32_t b = m_bundleOfPath[path.Index()];
    while (b != NONE && !(m_bundles[b].cap == cap && m_bundles[b].weight == weight))
    {
        b = m_bundles[b].nextOfPath;
    }
    if (b == NONE)
    {
        const auto links = m_paths.Links(path);
        if (std::any_of(links.begin(), links.end(), [this](const PathLink& each) {
                return each.link.Index() >= m_groups.size();
            }))
        {
            throw std::invalid_argument(
                "FluidTransport: the path has a link that was added to "
                "the topology after the transport was made");
        }
        b = m_solver.Add(links, cap / weight);
        if (b >= m_bundles.size())
        {
            m_bundles.resize(b + 1);
            m_uncontendedSpans.resize(b + 1);
            m_positions.resize(b + 1, PositionedHeap<double>::ABSENT);
        }
        m_bundles[b] = Bundle();
        m_uncontendedSpans[b] = UncontendedSpan();
        m_bundles[b].path = path;
        m_bundles[b].cap = cap;
        m_bundles[b].weight = weight;
        m_bundles[b].nextOfPath = m_bundleOfPath[path.Index()];
        m_bundleOfPath[path.Index()] = b;
        m_bundleCount++;
    }
    else if (m_bundles[b].users == 0)
    {
        m_idle--;
    }
    m_bundles[b].users++;
    return b;
}

void
FluidTransport::Release(uint32_t b)
{
    Bundle& bundle = m_bundles[b];
    if (--bundle.users > 0)
    {
        return;
    }
    m_idle++;
    if (!bundle.isQueued)
    {
        bundle.isQueued = true;
        m_idleQueue.push_back(b);
    }
    if (m_idle > IdleLimit())
    {
        m_isSettled = false;
    }
}

/**
 * Number of idle bundles kept for the next flow on their path. Training steps and schedules return
 * to the same paths; a stream of random flows hardly does.
 */
std::size_t
FluidTransport::IdleLimit() const
{
    constexpr std::size_t MIN_BUNDLES = 4096;
    return std::max(MIN_BUNDLES, (m_bundleCount - m_idle) / 2);
}

/** Frees the bundles that have been idle longest, down to IdleLimit. */
void
FluidTransport::Retire()
{
    while (m_idle > IdleLimit())
    {
        const uint32_t b = m_idleQueue.front();
        m_idleQueue.pop_front();
        Bundle& bundle = m_bundles[b];
        bundle.isQueued = false;
        if (bundle.users > 0)
        {
            continue;
        }
        AddUncontendedTime(b);
        AddCarried(b);
        m_solver.Remove(b);
        uint32_t* link = &m_bundleOfPath[bundle.path.Index()];
        while (*link != b)
        {
            link = &m_bundles[*link].nextOfPath;
        }
        *link = bundle.nextOfPath;
        m_idle--;
        m_bundleCount--;
    }
}

/** Adds a flow with @p bytes left to its bundle, so that it takes its share from now on. */
void
FluidTransport::Enter(uint32_t t, double bytes)
{
    Flow& flow = m_flows[t];
    const uint32_t b = flow.bundle;
    Bundle& bundle = m_bundles[b];
    if (bundle.moving == 0 && bundle.group == NONE)
    {
        bundle.clock.Set(0, m_now);
    }
    const double amount = bytes / bundle.weight;
    if (ServedOf(bundle) > std::max(REBASE_ABOVE, 64 * amount))
    {
        Rebase(b);
    }
    flow.state = State::Moving;
    bundle.flows.Set(t, ServedOf(bundle) + amount, m_positionsInBundle);
    bundle.due = bundle.flows.TopKey();
    bundle.moving++;
    bundle.occupants += flow.isOccupant ? 1 : 0;
    m_solver.SetWeight(b, bundle.moving * bundle.weight);
    SetStale(b);
}

/** Removes a flow from its bundle. @return the bytes that it has left */
double
FluidTransport::Leave(uint32_t t)
{
    Flow& flow = m_flows[t];
    const uint32_t b = flow.bundle;
    Bundle& bundle = m_bundles[b];
    const double left = LeftOf(t);
    const int64_t moved = flow.bytes - static_cast<int64_t>(std::ceil(left));
    flow.bytes -= moved;
    bundle.carried += moved;
    RemoveMoving(bundle, t);
    bundle.occupants -= flow.isOccupant ? 1 : 0;
    m_solver.SetWeight(b, bundle.moving * bundle.weight);
    SetStale(b);
    return left;
}

/** Service of a bundle so far, in bytes per unit of weight. */
double
FluidTransport::ServedOf(const Bundle& bundle) const
{
    return bundle.group == NONE ? bundle.clock.At(m_now)
                                : m_groups[bundle.group].clock.At(m_now) + bundle.offset;
}

/** Bytes that a moving flow has left. */
double
FluidTransport::LeftOf(uint32_t t) const
{
    const Flow& flow = m_flows[t];
    const Bundle& bundle = m_bundles[flow.bundle];
    const double due = bundle.flows.KeyOf(t, m_positionsInBundle);
    const double left = (due - ServedOf(bundle)) * bundle.weight;
    return std::min(std::max(left, 0.0), static_cast<double>(flow.bytes));
}

/** Resets the service of a bundle to zero. O(flows), but rare: once per REBASE_ABOVE bytes. */
void
FluidTransport::Rebase(uint32_t b)
{
    Bundle& bundle = m_bundles[b];
    const double served = ServedOf(bundle);
    bundle.flows.LowerKeys(served);
    bundle.due -= served;
    if (bundle.group == NONE)
    {
        bundle.clock.Set(0, m_now);
    }
    else
    {
        bundle.offset -= served;
    }
}

/** Removes a flow from the moving flows of its bundle. */
void
FluidTransport::RemoveMoving(Bundle& bundle, uint32_t t)
{
    bundle.flows.Remove(t, m_positionsInBundle);
    bundle.due = bundle.flows.Empty() ? 0 : bundle.flows.TopKey();
    bundle.moving--;
}

void
FluidTransport::SetStale(uint32_t b)
{
    m_isSettled = false;
    if (!m_bundles[b].isStale)
    {
        m_bundles[b].isStale = true;
        m_staleBundles.push_back(b);
    }
}

// Paths.

SelectedPath
FluidTransport::SelectPath(const FlowRequest& request, bool isUndivided)
{
    if (!m_selector)
    {
        return {m_routing.CurrentPath(request.route), 1, Time()};
    }
    if (isUndivided)
    {
        return m_selector->WholePath(request.route,
                                     m_selector->UnitFor(request.route, request.bytes));
    }
    return m_selector->Enter(request.route, request.weight, m_now);
}

/** Delay from the start of a flow until it takes its share of the links. */
Time
FluidTransport::DelayOf(const FlowRequest& request, const SelectedPath& selected) const
{
    const Time planned = m_routing.Latency(request.route);
    const Time longer =
        !m_selector && m_down > 0 ? m_paths.Latency(selected.path) - planned : selected.latency;
    return request.overhead + (request.addsLatency ? planned + longer : std::max(Time(), longer));
}

/** Moves the rest of a flow to @p path, counted in @p unit. */
void
FluidTransport::MoveToPath(uint32_t t, PathId path, uint32_t unit)
{
    const Bundle& bundle = m_bundles[m_flows[t].bundle];
    const double ratio = static_cast<double>(m_flows[t].unit) / unit;
    MoveToBundle(t, BundleFor(path, bundle.cap * ratio, bundle.weight * ratio), unit);
}

/**
 * Moves the rest of a flow to bundle @p after, possibly with another cap. The flow must be counted
 * as a user of that bundle already.
 */
void
FluidTransport::MoveToBundle(uint32_t t, uint32_t after, uint32_t unit)
{
    const uint32_t before = m_flows[t].bundle;
    const bool isMoving = m_flows[t].state == State::Moving;
    double left = isMoving ? Leave(t) : m_flows[t].left;
    Flow& flow = m_flows[t];
    flow.bundle = after;
    if (unit != flow.unit && !flow.isOccupant)
    {
        left *= static_cast<double>(flow.unit) / unit;
        flow.left = left;
        flow.bytes = static_cast<int64_t>(std::ceil(left));
    }
    flow.unit = unit;
    if (isMoving)
    {
        Enter(t, flow.isOccupant ? std::numeric_limits<double>::infinity() : left);
    }
    Release(before);
}

/** Removes the load of a flow from its path in the path selector. */
void
FluidTransport::LeavePath(uint32_t t)
{
    const Flow& flow = m_flows[t];
    if (!m_selector || flow.hasOwnPath)
    {
        return;
    }
    if (flow.isUndivided)
    {
        m_undivided.erase(std::find(m_undivided.begin(), m_undivided.end(), t));
        return;
    }
    const Bundle& bundle = m_bundles[flow.bundle];
    m_selector->Leave(flow.route, bundle.path, bundle.weight, m_now);
}

/** Divides all sums of routes that have started at this instant over their paths, jointly. */
void
FluidTransport::DivideStarted()
{
    std::vector<PathSelector::Divided> starting;
    for (const uint32_t t : m_undivided)
    {
        const Flow& flow = m_flows[t];
        const double weight = m_bundles[flow.bundle].weight * flow.unit;
        starting.push_back({flow.route, weight, flow.unit});
    }
    const auto selected = m_selector->Divide(starting);
    m_hasDivided = true;
    const auto started = std::move(m_undivided);
    m_undivided.clear();
    for (std::size_t i = 0; i < started.size(); i++)
    {
        m_flows[started[i]].isUndivided = false;
        MoveToPath(started[i], selected[i].path, selected[i].unit);
    }
}

/** Moves the rest of a flow, which has left its path, to the current path of its route. */
void
FluidTransport::TakePath(uint32_t t)
{
    Flow& flow = m_flows[t];
    if (!m_selector || flow.hasOwnPath)
    {
        const PathId path = m_routing.CurrentPath(flow.route);
        if (path != m_bundles[flow.bundle].path)
        {
            MoveToPath(t, path, flow.unit);
        }
        return;
    }
    const double weight = m_bundles[flow.bundle].weight * flow.unit;
    flow.isUndivided = m_selector->IsDivided(flow.route);
    SelectedPath selected;
    if (flow.isUndivided)
    {
        selected = m_selector->WholePath(flow.route, flow.unit);
        m_undivided.push_back(t);
        m_isSettled = false;
    }
    else
    {
        selected = m_selector->Enter(flow.route, weight, m_now);
    }
    MoveToPath(t, selected.path, selected.unit);
}

bool
FluidTransport::SetRoute(FlowId id, RouteId route, Time now)
{
    WEIR_REFUSE_IF(route.Index() >= m_routing.Size(),
                   "FluidTransport: there is no route " << route.Index());
    MoveTo(now);
    const uint32_t t = Find(id);
    if (t == NONE)
    {
        return false;
    }
    LeavePath(t);
    m_flows[t].route = route;
    TakePath(t);
    return true;
}

bool
FluidTransport::SetCap(FlowId id, Rate cap, Time now)
{
    MoveTo(now);
    const uint32_t t = Find(id);
    if (t == NONE)
    {
        return false;
    }
    const Bundle& bundle = m_bundles[m_flows[t].bundle];
    const uint32_t unit = m_flows[t].unit;
    const double perUnit = cap.ToBytesPerSecond() / unit;
    if (perUnit != bundle.cap)
    {
        MoveToBundle(t, BundleFor(bundle.path, perUnit, bundle.weight), unit);
    }
    return true;
}

/** Active flows, in the order of their starts. */
std::vector<uint32_t>
FluidTransport::FlowsByStart() const
{
    std::vector<uint32_t> flows;
    for (uint32_t t = 0; t < m_flows.Size(); t++)
    {
        if (IsActive(m_flows[t]))
        {
            flows.push_back(t);
        }
    }
    std::sort(flows.begin(), flows.end(), [this](uint32_t a, uint32_t b) {
        return m_flows[a].id < m_flows[b].id;
    });
    return flows;
}

void
FluidTransport::SetCapacity(LinkId link, double rate)
{
    const uint32_t uncontended = m_solver.UncontendedOn(link.Index());
    if (uncontended != NONE)
    {
        AddUncontendedTime(uncontended); // past saturation counts by the old rate
    }
    if (m_selector)
    {
        m_selector->SetRate(link, Rate::BytesPerSecond(rate));
    }
    m_solver.SetCapacity(link.Index(), rate);
    m_isSettled = false;
}

void
FluidTransport::SetLinkRate(LinkId link, Rate rate, Time now)
{
    WEIR_REFUSE_IF(link.Index() >= m_rates.size() || !(rate >= Rate()),
                   "FluidTransport: found link "
                       << link.Index() << " of " << m_rates.size() << " at "
                       << std::to_string(rate.ToBytesPerSecond())
                       << " bytes/s, expected an existing link and a rate of at least 0");
    MoveTo(now);
    m_rates[link.Index()] = rate.ToBytesPerSecond();
    if (!m_isDown[link.Index()])
    {
        SetCapacity(link, rate.ToBytesPerSecond());
        DivideAgain();
    }
}

/** Redivides the sums of routes one after another, each at the current link rates. */
void
FluidTransport::DivideAgain()
{
    if (!m_hasDivided)
    {
        return;
    }
    for (const uint32_t t : FlowsByStart())
    {
        if (m_flows[t].unit > 1 && !m_flows[t].hasOwnPath)
        {
            LeavePath(t);
            TakePath(t);
        }
    }
}

void
FluidTransport::SetLinksUp(const std::vector<LinkId>& links, bool up, Time now)
{
    for (const LinkId link : links)
    {
        WEIR_REFUSE_IF(link.Index() >= m_rates.size(),
                       "FluidTransport: there is no link " << link.Index());
    }
    MoveTo(now);
    Settle();
    m_routing.SetUsable(links, up);
    for (const LinkId link : links)
    {
        if (m_isDown[link.Index()] == up)
        {
            m_isDown[link.Index()] = !up;
            m_down += up ? -1 : 1;
            SetCapacity(link, up ? m_rates[link.Index()] : 0);
        }
    }
    for (const uint32_t t : FlowsByStart())
    {
        LeavePath(t);
        TakePath(t);
        if (!m_observers.IsEmpty() && !m_flows[t].isOccupant)
        {
            ReportStallState(t);
        }
    }
}

/** The first link of a flow's path that is down or has rate zero; invalid if there is none. */
LinkId
FluidTransport::FirstDownLink(uint32_t t) const
{
    for (const PathLink& each : m_paths.Links(m_bundles[m_flows[t].bundle].path))
    {
        if (m_isDown[each.link.Index()] || m_rates[each.link.Index()] == 0)
        {
            return each.link;
        }
    }
    return LinkId();
}

void
FluidTransport::ReportStallState(uint32_t t)
{
    Flow& flow = m_flows[t];
    const bool isStalled = FirstDownLink(t).IsValid();
    if (isStalled == flow.isStalled)
    {
        return;
    }
    flow.isStalled = isStalled;
    m_observers.OnFlowStalled(FlowId{flow.id}, RequestOf(flow), isStalled, m_now);
}

std::vector<StalledFlow>
FluidTransport::StalledFlows()
{
    std::vector<StalledFlow> stalled;
    for (const uint32_t t : FlowsByStart())
    {
        const LinkId link = FirstDownLink(t);
        if (link.IsValid() && !m_flows[t].isOccupant)
        {
            stalled.push_back({FlowId{m_flows[t].id}, RequestOf(m_flows[t]), link});
        }
    }
    return stalled;
}

FlowPath
FluidTransport::CurrentPath(FlowId id)
{
    const uint32_t t = m_flows.Find(id);
    return t == NONE || m_flows[t].state == State::Unused
               ? FlowPath()
               : FlowPath{m_bundles[m_flows[t].bundle].path, m_flows[t].unit};
}

// The solve and its consequences.

/** Updates levels, clocks and timers for all changes at this instant. */
void
FluidTransport::Settle()
{
    if (m_isSettled)
    {
        return;
    }
    if (!m_undivided.empty())
    {
        DivideStarted();
    }
    if (m_solver.NeedsSolve())
    {
        m_solver.Solve();
        for (uint32_t b : m_solver.MovedVariables())
        {
            __builtin_prefetch(&m_bundles[b]);
        }
        for (uint32_t b : m_solver.MovedVariables())
        {
            Regroup(b);
            MeterUncontended(b);
        }
        for (uint32_t link : m_solver.TouchedLinks())
        {
            if (m_solver.HasGroups())
            {
                SetGroupLevel(link);
            }
            MeterLink(link);
        }
        if (m_notesChanges)
        {
            NoteChangedLinks();
        }
    }
    for (uint32_t b : m_staleBundles)
    {
        SetTimer(b);
    }
    m_staleBundles.clear();
    for (uint32_t link : m_staleGroups)
    {
        SetGroupTimer(link);
    }
    m_staleGroups.clear();
    MakeFirstGroupTimerExact();
    Retire();
    m_isSettled = true;
}

/** Moves a bundle to the clock of its bottleneck as the solver says, keeping its service. */
void
FluidTransport::Regroup(uint32_t b)
{
    Bundle& bundle = m_bundles[b];
    const uint32_t after = m_solver.Bottleneck(b);
    if (bundle.group != NONE && bundle.group == after)
    {
        return;
    }
    const double served = ServedOf(bundle);
    if (bundle.group != NONE)
    {
        Group& group = m_groups[bundle.group];
        if (m_positions[b] != PositionedHeap<double>::ABSENT)
        {
            group.heap.Remove(b, m_positions);
            SetGroupStale(bundle.group);
        }
        group.bundles--;
    }
    bundle.group = after;
    if (after == NONE)
    {
        bundle.clock.Set(bundle.moving > 0 ? served : 0, m_now);
        bundle.clock.SetRate(m_solver.Level(b), m_now);
    }
    else
    {
        Group& group = m_groups[after];
        if (group.bundles++ == 0)
        {
            group.clock.Set(0, m_now);
        }
        bundle.offset = served - group.clock.At(m_now);
        m_timers.Remove(b);
    }
    SetStale(b);
}

/** Sets the rate of the clock of a link's group to the link's level. */
void
FluidTransport::SetGroupLevel(uint32_t link)
{
    Group& group = m_groups[link];
    const double level = group.bundles > 0 ? m_solver.LinkLevel(link) : 0;
    if (group.clock.Rate() == level)
    {
        return;
    }
    group.clock.SetRate(level, m_now);
    if (level <= group.timedRate)
    {
        group.isTimedEarly = true;
    }
    else
    {
        SetGroupStale(link);
    }
    const double shown = group.clock.At(m_now);
    if (shown > REBASE_ABOVE)
    {
        group.clock.Set(0, m_now);
        SetGroupStale(link);
        m_solver.ForEachOn(link, [&](uint32_t b, double /* multiplicity */) {
            Bundle& bundle = m_bundles[b];
            if (bundle.group == link)
            {
                bundle.offset += shown;
            }
        });
        group.heap.LowerKeys(shown);
    }
}

/** Sets the timer of a bundle, or its key in its group's heap, by its first flow to end. */
void
FluidTransport::SetTimer(uint32_t b)
{
    Bundle& bundle = m_bundles[b];
    bundle.isStale = false;
    if (bundle.group == NONE)
    {
        const Time time = bundle.moving > 0 ? bundle.clock.TimeOf(bundle.due) : Time::Infinite();
        if (time.IsInfinite())
        {
            m_timers.Remove(b);
        }
        else
        {
            m_timers.Set(b, time);
        }
        return;
    }
    Group& group = m_groups[bundle.group];
    if (bundle.moving > 0)
    {
        group.heap.Set(b, bundle.due - bundle.offset, m_positions);
    }
    else
    {
        group.heap.Remove(b, m_positions);
    }
    SetGroupStale(bundle.group);
}

/**
 * Sets the timer of a group somewhat too early, so that it stays valid while its clock gets
 * slightly faster. This helps where most levels change a little at every event.
 */
void
FluidTransport::SetGroupTimer(uint32_t link)
{
    Group& group = m_groups[link];
    group.isStale = false;
    const Time time = TimeOfGroup(group);
    const Time left = time.IsInfinite() ? Time() : time - m_now;
    group.timedRate = group.clock.Rate();
    group.isTimedEarly = left > EARLY_FROM;
    if (group.isTimedEarly)
    {
        group.timedRate *= 1 + 1.0 / EARLY_PART; // the timer allows for more
        m_groupTimers.Set(link, time - Time::Picoseconds(left.ToPicoseconds() / (EARLY_PART - 1)));
    }
    else
    {
        TimeGroup(link, time);
    }
}

void
FluidTransport::TimeGroup(uint32_t link, Time time)
{
    if (time.IsInfinite())
    {
        m_groupTimers.Remove(link);
    }
    else
    {
        m_groupTimers.Set(link, time);
    }
}

/** Recomputes the first group timer while it may be too early. */
void
FluidTransport::MakeFirstGroupTimerExact()
{
    while (!m_groupTimers.Empty() && m_groups[m_groupTimers.TopIndex()].isTimedEarly)
    {
        const uint32_t link = m_groupTimers.TopIndex();
        Group& group = m_groups[link];
        group.isTimedEarly = false;
        group.timedRate = group.clock.Rate();
        TimeGroup(link, TimeOfGroup(group));
    }
}

void
FluidTransport::SetGroupStale(uint32_t link)
{
    m_isSettled = false;
    if (!m_groups[link].isStale)
    {
        m_groups[link].isStale = true;
        m_staleGroups.push_back(link);
    }
}

// Usage of links.

/** Rate on a link, bytes/s. */
double
FluidTransport::LoadOf(uint32_t link) const
{
    const uint32_t uncontended = m_solver.UncontendedOn(link);
    if (uncontended == NONE && !std::isinf(m_solver.Capacity(link)))
    {
        return m_solver.Load(link);
    }
    double load = 0;
    m_solver.ForEachOn(link, [&](uint32_t b, double multiplicity) {
        const double weight = multiplicity * m_bundles[b].weight * m_bundles[b].moving;
        load += weight > 0 ? weight * m_solver.Level(b) : 0;
    });
    return load;
}

/** Updates the meter of a shared link with its new rate. */
void
FluidTransport::MeterLink(uint32_t link)
{
    LinkMeter& meter = m_meters[link];
    if (m_solver.IsSlack(link) && meter.Rate() > 0 && !meter.IsFull())
    {
        return; // busy but not saturated: its exact rate does not matter
    }
    const double level = m_solver.LinkLevel(link);
    if (!m_observers.WantLinkRates() && meter.IsFull() && level > 0 && !std::isinf(level))
    {
        return; // still saturated: flows with a level on a link are limited by it
    }
    // While a bundle is uncontended on a link, the bundle accumulates the time.
    const uint32_t own = m_solver.UncontendedOn(link);
    const double rate = own == NONE ? LoadOf(link) : 0;
    const bool full = LinkMeter::Saturates(rate, m_solver.Capacity(link));
    if (rate == meter.Rate() && full == meter.IsFull())
    {
        return;
    }
    const bool changed = rate != meter.Rate();
    meter.SetRate(rate, m_solver.Capacity(link), m_now);
    // A bundle that moves reports its own rate.
    if (m_observers.WantLinkRates() && changed &&
        (own == NONE || m_bundles[own].uncontendedRate == 0))
    {
        m_observers.OnLinkRate(LinkId(link), Rate::BytesPerSecond(rate), m_now);
    }
}

/** Updates the accumulated time of an uncontended bundle with its new rate. */
void
FluidTransport::MeterUncontended(uint32_t b)
{
    Bundle& bundle = m_bundles[b];
    const bool isUncontended = m_solver.IsUncontended(b);
    const double rate =
        isUncontended && bundle.moving > 0 ? bundle.moving * bundle.weight * m_solver.Level(b) : 0;
    if (isUncontended ? rate != bundle.uncontendedRate : bundle.wasUncontended)
    {
        UncontendedSpan& time = m_uncontendedSpans[b];
        if (!isUncontended || (rate > 0 && rate != bundle.lastUncontendedRate))
        {
            AddUncontendedTime(b);
            bundle.lastUncontendedRate = rate;
        }
        else if (bundle.uncontendedRate > 0)
        {
            time.busy += m_now - time.since;
        }
        const bool wasUncontended = bundle.uncontendedRate > 0;
        bundle.wasUncontended = isUncontended;
        time.since = m_now;
        bundle.uncontendedRate = rate;
        if (m_observers.WantLinkRates() && (isUncontended || wasUncontended))
        {
            ReportUncontendedRate(b);
        }
    }
    if (!m_solver.IsAttached(b))
    {
        AddCarried(b);
    }
}

/**
 * Reports the rate of the links on which a bundle is uncontended, or rate zero for links that it
 * has left idle. Other links are reported by MeterLink, or by the bundle that is uncontended there.
 */
void
FluidTransport::ReportUncontendedRate(uint32_t b)
{
    const Bundle& bundle = m_bundles[b];
    for (const PathLink& l : m_paths.Links(bundle.path))
    {
        const uint32_t link = l.link.Index();
        if (m_solver.UncontendedOn(link) == b || LoadOf(link) == 0)
        {
            const double rate = l.multiplicity * bundle.uncontendedRate;
            m_observers.OnLinkRate(l.link, Rate::BytesPerSecond(rate), m_now);
        }
    }
}

/** Adds the time for which a bundle was uncontended to the meters of its links. */
void
FluidTransport::AddUncontendedTime(uint32_t b)
{
    const Bundle& bundle = m_bundles[b];
    UncontendedSpan& time = m_uncontendedSpans[b];
    if (bundle.uncontendedRate > 0)
    {
        time.busy += m_now - time.since;
        time.since = m_now;
    }
    if (time.busy == Time())
    {
        return;
    }
    for (const PathLink& l : m_paths.Links(bundle.path))
    {
        const double rate = l.multiplicity * bundle.lastUncontendedRate;
        m_meters[l.link.Index()].AddTime(
            time.busy, LinkMeter::Saturates(rate, m_solver.Capacity(l.link.Index())));
    }
    time.busy = Time();
}

/** Adds the bytes that a bundle has moved to the meters of its links. */
void
FluidTransport::AddCarried(uint32_t b)
{
    Bundle& bundle = m_bundles[b];
    if (bundle.carried == 0)
    {
        return;
    }
    for (const PathLink& l : m_paths.Links(bundle.path))
    {
        m_meters[l.link.Index()].AddBytes(bundle.carried * l.multiplicity);
    }
    bundle.carried = 0;
}

Rate
FluidTransport::CurrentLinkRate(LinkId link)
{
    Settle();
    return Rate::BytesPerSecond(LoadOf(link.Index()));
}

LinkUsage
FluidTransport::GetLinkUsage(LinkId link)
{
    Settle();
    const uint32_t l = link.Index();
    const LinkMeter& meter = m_meters[l];
    LinkUsage usage;
    usage.busy = meter.Busy(m_now);
    usage.saturated = meter.Saturated(m_now);
    int64_t whole = meter.Bytes();
    double moving = 0;
    m_solver.ForEachOn(l, [&](uint32_t b, double multiplicity) {
        const Bundle& bundle = m_bundles[b];
        whole += bundle.carried * static_cast<int64_t>(multiplicity);
        double ofBundle = 0;
        bundle.flows.ForEach(
            [&](uint32_t t) { ofBundle += static_cast<double>(m_flows[t].bytes) - LeftOf(t); });
        moving += ofBundle * multiplicity;
        if (m_solver.IsUncontended(b))
        {
            const UncontendedSpan& time = m_uncontendedSpans[b];
            const Time busy =
                bundle.uncontendedRate > 0 ? time.busy + (m_now - time.since) : time.busy;
            const double full = multiplicity * bundle.lastUncontendedRate;
            usage.busy += busy;
            usage.saturated += LinkMeter::Saturates(full, m_solver.Capacity(l)) ? busy : Time();
        }
    });
    usage.bytes = static_cast<double>(whole) + moving;
    return usage;
}

// Traffic that is not fluid.

FlowId
FluidTransport::Occupy(const FlowRequest& request, FlowPath path, Time now)
{
    CheckRequest(request);
    MoveTo(now);
    SelectedPath selected{path.path, path.unit, Time()};
    if (!path.path.IsValid())
    {
        selected = SelectPath(request, false);
    }
    const uint32_t t = NewFlow(request, selected);
    Flow& flow = m_flows[t];
    flow.client = nullptr;
    flow.bytes = int64_t{1} << 62; // has no end
    flow.left = std::numeric_limits<double>::infinity();
    flow.isOccupant = true;
    flow.hasOwnPath = path.path.IsValid();
    const FlowId id{flow.id};
    Begin(t, DelayOf(request, selected));
    return id;
}

bool
FluidTransport::SetOccupant(FlowId id, Rate cap, FlowPath path, double weight, Time now)
{
    MoveTo(now);
    const uint32_t t = Find(id);
    if (t == NONE)
    {
        return false;
    }
    const Flow& flow = m_flows[t];
    const Bundle& bundle = m_bundles[flow.bundle];
    const FlowPath current{bundle.path, flow.unit};
    const FlowPath next = flow.hasOwnPath ? path : current;
    const double perUnit = cap.ToBytesPerSecond() / next.unit;
    if (!(next == current) || perUnit != bundle.cap || weight / next.unit != bundle.weight)
    {
        MoveToBundle(t, BundleFor(next.path, perUnit, weight / next.unit), next.unit);
    }
    return true;
}

FluidTransport::Shares
FluidTransport::SharesOf(LinkId link)
{
    Settle();
    Shares shares;
    double highest = 0; // highest level of flows
    double ofOccupants = 0;
    m_solver.ForEachOn(link.Index(), [&](uint32_t b, double multiplicity) {
        const Bundle& bundle = m_bundles[b];
        const uint32_t flows = bundle.moving - bundle.occupants;
        const double weight = multiplicity * bundle.weight;
        shares.flowWeight += weight * flows;
        shares.occupantWeight += weight * bundle.occupants;
        if (flows > 0)
        {
            shares.flowRate += weight * flows * m_solver.Level(b);
            highest = std::max(highest, m_solver.Level(b));
        }
        if (bundle.occupants > 0)
        {
            ofOccupants = std::max(ofOccupants, m_solver.Level(b));
        }
    });
    shares.isGreedy = ofOccupants >= highest * (1 - 1e-9);
    return shares;
}

/** Notes the links whose variables or rates the last solve has changed. */
void
FluidTransport::NoteChangedLinks()
{
    for (const uint32_t b : m_solver.MovedVariables())
    {
        for (const PathLink& each : m_paths.Links(m_bundles[b].path))
        {
            m_changedLinks.push_back(each.link.Index());
        }
    }
    const std::vector<uint32_t>& touched = m_solver.TouchedLinks();
    m_changedLinks.insert(m_changedLinks.end(), touched.begin(), touched.end());
}

const std::vector<uint32_t>&
FluidTransport::TakeChangedLinks()
{
    Settle();
    if (!m_notesChanges)
    {
        m_notesChanges = true;
        m_solver.KeepLoads(true);
        m_changedLinks.resize(m_groups.size()); // the first call reports all links
        std::iota(m_changedLinks.begin(), m_changedLinks.end(), 0);
    }
    std::sort(m_changedLinks.begin(), m_changedLinks.end());
    m_changedLinks.erase(std::unique(m_changedLinks.begin(), m_changedLinks.end()),
                         m_changedLinks.end());
    m_takenLinks.swap(m_changedLinks);
    m_changedLinks.clear();
    return m_takenLinks;
}

} // namespace weir
