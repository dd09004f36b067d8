// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/fluid/fluid-transport.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace weir
{

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
    flow.due = ServedOf(bundle) + amount;
    flow.state = State::Moving;
    SetFirst(bundle, PairingHeap<FlowItems>({&m_flows}).Insert(bundle.first, t));
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
    const double left = LeftOf(flow);
    const int64_t moved = flow.bytes - static_cast<int64_t>(std::ceil(left));
    flow.bytes -= moved;
    bundle.carried += moved;
    SetFirst(bundle, PairingHeap<FlowItems>({&m_flows}).Remove(bundle.first, t));
    bundle.moving--;
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
FluidTransport::LeftOf(const Flow& flow) const
{
    const Bundle& bundle = m_bundles[flow.bundle];
    const double left = (flow.due - ServedOf(bundle)) * bundle.weight;
    return std::min(std::max(left, 0.0), static_cast<double>(flow.bytes));
}

/** Resets the service of a bundle to zero. O(flows), but rare: once per REBASE_ABOVE bytes. */
void
FluidTransport::Rebase(uint32_t b)
{
    Bundle& bundle = m_bundles[b];
    const double served = ServedOf(bundle);
    PairingHeap<FlowItems>({&m_flows}).ForEach(bundle.first, [&](uint32_t t) {
        m_flows[t].due -= served;
    });
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

/** Sets the first flow of a bundle to end; NONE if none moves. */
void
FluidTransport::SetFirst(Bundle& bundle, uint32_t t)
{
    bundle.first = t;
    bundle.due = t == NONE ? 0 : m_flows[t].due;
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
