// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/fluid/fluid-transport.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace weir
{

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
    Time longer = selected.latency;
    if (!m_selector && m_down > 0)
    {
        longer = std::max(Time(), m_paths.Latency(selected.path) - planned);
    }
    return request.overhead + (request.addsLatency ? planned : Time()) + longer;
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
    if (route.Index() >= m_routing.Size())
    {
        throw std::invalid_argument("FluidTransport: there is no route " +
                                    std::to_string(route.Index()));
    }
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
    if (link.Index() >= m_rates.size() || !(rate >= Rate()))
    {
        throw std::invalid_argument("FluidTransport: found link " + std::to_string(link.Index()) +
                                    " of " + std::to_string(m_rates.size()) + " at " +
                                    std::to_string(rate.ToBytesPerSecond()) +
                                    " bytes/s, expected an existing link and a rate of at least 0");
    }
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
        if (link.Index() >= m_rates.size())
        {
            throw std::invalid_argument("FluidTransport: there is no link " +
                                        std::to_string(link.Index()));
        }
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

bool
FluidTransport::IsLinkUp(LinkId link) const
{
    return !m_isDown[link.Index()];
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

} // namespace weir
