// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/simulation/fabric-events.h"

#include "fabric/routing/flow-hash.h"
#include "scenarios/bound/random-draws.h"
#include "scenarios/yaml/input-error.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

namespace weir
{
namespace
{

/** One end of an event: the name and its location. */
struct EventEnd
{
    const std::string& name;
    const std::string& where; //!< location in its file; empty: not from a file
    std::string key;          //!< the event's key for messages if where is empty

    [[noreturn]] void Fail(const std::string& expected) const
    {
        const std::string text = ": found '" + name + "', expected " + expected;
        if (!where.empty())
        {
            throw InputError(where + text);
        }
        throw std::invalid_argument(key + text);
    }
};

EventEnd
FromOf(const EventSpec& event, std::size_t index)
{
    return {event.from, event.fromWhere, "events." + std::to_string(index) + ".from"};
}

EventEnd
ToOf(const EventSpec& event, std::size_t index)
{
    return {event.to, event.toWhere, "events." + std::to_string(index) + ".to"};
}

DeviceId
FindDevice(const Topology& topology, const EventEnd& end)
{
    const DeviceId device = topology.FindDevice(end.name);
    if (!device.IsValid())
    {
        end.Fail("a device of the system");
    }
    return device;
}

/**
 * The link that Topology::LinkName calls "from->to". Of parallel links, a suffix "#2" of `to`
 * selects the second; "#1" or no suffix selects the first.
 */
std::optional<LinkId>
LinkOf(const Topology& topology, const EventSpec& event, DeviceId from)
{
    const std::string first = "#1";
    const std::size_t end = event.to.size() - std::min(event.to.size(), first.size());
    const std::string to = event.to.substr(end) == first ? event.to.substr(0, end) : event.to;
    for (const LinkId link : topology.LinksFrom(from))
    {
        if (topology.LinkName(link) == event.from + "->" + to)
        {
            return link;
        }
    }
    return std::nullopt;
}

LinkId
FindLink(const Topology& topology, const EventSpec& event, std::size_t index)
{
    const auto link = LinkOf(topology, event, FindDevice(topology, FromOf(event, index)));
    if (!link)
    {
        ToOf(event, index).Fail("a device that a link from '" + event.from + "' leads to");
    }
    return *link;
}

GpuId
FindGpu(const Cluster& cluster, DeviceId device)
{
    for (std::size_t gpu = 0; gpu < cluster.GpuCount(); gpu++)
    {
        if (cluster.GpuDevice(GpuId(gpu)) == device)
        {
            return GpuId(gpu);
        }
    }
    return GpuId();
}

/** The route from the first to the second GPU on NCCL's first channel between them. */
RouteId
GpuToGpuRoute(Planner& planner, GpuId from, GpuId to)
{
    const auto& communicator = planner.GetCommunicator(planner.AddCommunicator({from, to}));
    const auto& channel = communicator.channels.front();
    return channel.hops[channel.order.front() == 0 ? 0 : 1].route;
}

RouteId
BackgroundRoute(const EventSpec& event, std::size_t index, Planner& planner)
{
    const Cluster& cluster = planner.GetCluster();
    const Topology& topology = cluster.GetTopology();
    Routing& routing = planner.GetRouting();
    const DeviceId from = FindDevice(topology, FromOf(event, index));
    const auto link = LinkOf(topology, event, from);
    if (link && !topology.FindDevice(event.to).IsValid()) // a parallel link: "spine0#2"
    {
        return routing.AddPinned({*link});
    }
    const DeviceId to = FindDevice(topology, ToOf(event, index));
    if (from == to)
    {
        ToOf(event, index).Fail("another device than `from`");
    }
    const GpuId fromGpu = FindGpu(cluster, from);
    const GpuId toGpu = FindGpu(cluster, to);
    if (fromGpu.IsValid() && toGpu.IsValid())
    {
        return GpuToGpuRoute(planner, fromGpu, toGpu);
    }
    RouteRequest request;
    request.source = from;
    request.destination = to;
    request.outNic = from;
    request.inNic = to;
    request.networkKinds =
        routing.GetRouter().IsReachable(from, to, NVLINK_KINDS) ? NVLINK_KINDS : ALL_KINDS;
    request.sourcePort = static_cast<uint16_t>(index);
    try
    {
        return routing.Add(request);
    }
    catch (const std::runtime_error&) // no path
    {
        ToOf(event, index).Fail("a device that a path from '" + event.from + "' leads to");
    }
}

/** Both directions of @p link. */
RandomFailures::Wire
WireOf(const Topology& topology, LinkId link)
{
    const LinkId back = topology.GetLink(link).opposite;
    return back.IsValid() ? RandomFailures::Wire{link, back} : RandomFailures::Wire{link};
}

/** The wires that fail at random, each once, by id. */
std::vector<RandomFailures::Wire>
WiresOf(const EventSpec& event, const Topology& topology)
{
    const EventEnd end{
        event.links.empty() ? event.from : event.links.front(), event.fromWhere, "events.links"};
    const bool isSwitches = event.links == std::vector<std::string>{SWITCH_LINKS};
    const bool isNics = event.links == std::vector<std::string>{NIC_LINKS};
    std::vector<std::string> names;
    for (std::string name : event.links)
    {
        name.erase(std::remove(name.begin(), name.end(), ' '), name.end());
        names.push_back(name);
    }
    std::vector<bool> isFound(names.size());
    std::vector<RandomFailures::Wire> wires;
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        const Link& link = topology.GetLink(LinkId(i));
        const bool isNetwork = link.kind == LinkKind::Network;
        const bool fromSwitch = IsNetworkSwitch(topology.GetDevice(link.from));
        const bool toSwitch = IsNetworkSwitch(topology.GetDevice(link.to));
        const bool isFirst = !link.opposite.IsValid() || i < link.opposite.Index();
        const auto named = std::find(names.begin(), names.end(), topology.LinkName(LinkId(i)));
        if (named != names.end())
        {
            isFound[named - names.begin()] = true;
            wires.push_back(WireOf(topology, LinkId(i)));
        }
        else if (isNetwork && isFirst &&
                 (isSwitches ? fromSwitch && toSwitch : isNics && fromSwitch != toSwitch))
        {
            wires.push_back(WireOf(topology, LinkId(i)));
        }
    }
    const auto missing = std::find(isFound.begin(), isFound.end(), false);
    if (!isSwitches && !isNics && missing != isFound.end())
    {
        const std::string& name = event.links[missing - isFound.begin()];
        EventEnd{name, event.fromWhere, "events.links"}.Fail("a link of the system, from -> to");
    }
    if (wires.empty())
    {
        end.Fail("links that the system has");
    }
    return wires;
}

} // namespace

RandomFailures::RandomFailures(
    std::vector<Wire> wires, Time start, Time up, Time down, uint64_t seed)
    : m_up(up),
      m_down(down),
      m_seed(seed)
{
    for (Wire& wire : wires)
    {
        State state;
        state.wire = std::move(wire);
        state.next = start + Span(m_states.size(), state);
        m_states.push_back(std::move(state));
    }
}

Time
RandomFailures::Span(std::size_t index, const State& state) const
{
    RandomDraws draws(m_seed ^ SplitMix64(index), state.changes);
    const double mean = (state.isUp ? m_up : m_down).ToSeconds();
    return std::max(Time::Picoseconds(1), Time::Seconds(-mean * std::log1p(-draws.Unit())));
}

Time
RandomFailures::NextEventTime() const
{
    Time next = Time::Infinite();
    for (const State& state : m_states)
    {
        next = std::min(next, state.next);
    }
    return next;
}

void
RandomFailures::AdvanceTo(Time now, Transport& transport)
{
    for (std::size_t i = 0; i < m_states.size(); i++)
    {
        State& state = m_states[i];
        while (state.next <= now)
        {
            state.isUp = !state.isUp;
            state.changes++;
            transport.SetLinksUp(state.wire, state.isUp, now);
            state.next = state.next + Span(i, state);
        }
    }
}

void
RandomFailures::BeginRound()
{
    for (State& state : m_states)
    {
        state.before = state.changes;
    }
}

bool
RandomFailures::HaveAllLinksCycled() const
{
    constexpr uint64_t MANY = 2000; // changes per wire: a thousand failures
    const auto changed = [this](uint64_t changes) {
        return std::all_of(m_states.begin(), m_states.end(), [changes](const State& state) {
            return state.changes >= state.before + changes;
        });
    };
    return (AreAllUp() && changed(2)) || changed(MANY);
}

bool
RandomFailures::AreAllUp() const
{
    return std::all_of(
        m_states.begin(), m_states.end(), [](const State& state) { return state.isUp; });
}

std::vector<double>
ComputeScales(const std::vector<EventSpec>& events, const Cluster& cluster)
{
    std::vector<double> scales;
    for (std::size_t i = 0; i < events.size(); i++)
    {
        if (events[i].kind != EventKind::SlowGpu)
        {
            continue;
        }
        const EventEnd end = FromOf(events[i], i);
        const GpuId gpu = FindGpu(cluster, FindDevice(cluster.GetTopology(), end));
        if (!gpu.IsValid())
        {
            end.Fail("a GPU");
        }
        scales.resize(cluster.GpuCount(), 1.0);
        scales[gpu.Index()] *= events[i].factor;
    }
    return scales;
}

namespace
{

constexpr double MIN_FACTOR = 1e-9; //!< minimum rate factor at which packets still get through

/** Whether the rate of a link stays below MIN_FACTOR after @p event. */
bool
IsForEver(const EventSpec& event, const std::vector<EventSpec>& events)
{
    return event.kind == EventKind::Degrade && event.factor < MIN_FACTOR &&
           std::none_of(events.begin(), events.end(), [&event](const EventSpec& other) {
               return other.kind == EventKind::Degrade && other.factor >= MIN_FACTOR &&
                      other.from == event.from && other.to == event.to &&
                      other.at + other.every * (other.times - 1) >= event.at;
           });
}

} // namespace

void
ExpectSimulated(const std::vector<EventSpec>& events,
                Fidelity fidelity,
                bool isSettled,
                const std::string& where)
{
    const bool arePackets = FormOf(fidelity) == FlowForm::Packets || fidelity == Fidelity::Hybrid;
    for (std::size_t i = 0; i < events.size(); i++)
    {
        const EventSpec& event = events[i];
        const std::string location =
            event.where.empty() ? where + ": events." + std::to_string(i) : event.where;
        if (fidelity == Fidelity::Analytical && event.kind != EventKind::SlowGpu)
        {
            throw InputError(location +
                             ": found an event on links with fidelity analytical, which ignores "
                             "load, expected fidelity stream, flow, packet or hybrid");
        }
        if (event.kind == EventKind::LossyLink && (!arePackets || isSettled))
        {
            throw InputError(location +
                             ": found a lossy link where not every packet is simulated, expected "
                             "fidelity packet or hybrid without network.settle");
        }
        if (arePackets && IsForEver(event, events))
        {
            throw InputError(
                location +
                ": found a link whose packets would be retransmitted forever, expected a factor of "
                "at least 1e-9, a later event that raises it, or kind link-down");
        }
    }
}

FabricEvents::FabricEvents(const std::vector<EventSpec>& events,
                           Transport& transport,
                           Planner& planner,
                           std::function<bool()> isOver,
                           std::function<bool(const FabricEvents&)> isIdle)
    : m_transport(transport),
      m_topology(planner.GetCluster().GetTopology()),
      m_isOver(std::move(isOver)),
      m_isIdle(std::move(isIdle))
{
    const Topology& topology = m_topology;
    for (std::size_t i = 0; i < events.size(); i++)
    {
        const EventSpec& event = events[i];
        Due due{
            event.kind, event.at, LinkId(), RouteId(), Rate(), event.loss, event.bytes, event.form};
        switch (event.kind)
        {
        case EventKind::SlowGpu:
            continue;
        case EventKind::Degrade:
            due.link = FindLink(topology, event, i);
            due.rate = topology.GetLink(due.link).rate * event.factor;
            break;
        case EventKind::LossyLink:
            due.link = FindLink(topology, event, i);
            if (topology.GetLink(due.link).kind != LinkKind::Network)
            {
                ToOf(event, i).Fail("a network link: links inside a node lose no packets");
            }
            break;
        case EventKind::LinkDown:
        case EventKind::LinkUp:
            due.link = FindLink(topology, event, i);
            break;
        case EventKind::Flap:
            AddFlap(event, FindLink(topology, event, i));
            continue;
        case EventKind::Failures:
            m_failures.emplace_back(
                WiresOf(event, topology), event.at, event.up, event.down, event.seed);
            continue;
        case EventKind::Background:
            due.route = BackgroundRoute(event, i, planner);
            break;
        }
        for (uint32_t time = 0; time < event.times; time++)
        {
            m_due.push_back(due);
            due.at += event.every;
        }
    }
    std::stable_sort(
        m_due.begin(), m_due.end(), [](const Due& a, const Due& b) { return a.at < b.at; });
}

Time
FabricEvents::NextDue() const
{
    return m_next == m_due.size() ? Time::Infinite() : m_due[m_next].at;
}

Time
FabricEvents::NextFailure() const
{
    Time next = Time::Infinite();
    for (const RandomFailures& failures : m_failures)
    {
        next = std::min(next, failures.NextEventTime());
    }
    return next;
}

Time
FabricEvents::NextEventTime()
{
    if (m_isOver())
    {
        return Time::Infinite();
    }
    return std::min(NextDue(), NextFailure());
}

bool
FabricEvents::RestoresNothing() const
{
    return NextDue().IsInfinite() &&
           std::all_of(m_failures.begin(), m_failures.end(), [](const RandomFailures& failures) {
               return failures.AreAllUp();
           });
}

void
FabricEvents::AdvanceTo(Time now)
{
    while (NextDue() <= now && !m_isOver())
    {
        Do(m_due[m_next++], now);
    }
    if (NextFailure() > now || m_isOver())
    {
        return;
    }
    DropIneffectiveFailures();
    for (RandomFailures& failures : m_failures)
    {
        failures.AdvanceTo(now, m_transport);
    }
}

void
FabricEvents::DropIneffectiveFailures()
{
    const bool isIdle = NextDue().IsInfinite() && m_isIdle(*this);
    if (isIdle && !m_isInRound)
    {
        std::for_each(m_failures.begin(), m_failures.end(), [](RandomFailures& failures) {
            failures.BeginRound();
        });
    }
    m_isInRound = isIdle;
    if (isIdle && std::all_of(m_failures.begin(), m_failures.end(), [](const RandomFailures& each) {
            return each.HaveAllLinksCycled();
        }))
    {
        m_failures.clear();
    }
}

/** Adds repeated pairs of link-down and link-up events. */
void
FabricEvents::AddFlap(const EventSpec& event, LinkId link)
{
    Due due{EventKind::LinkDown, event.at, link, RouteId(), Rate(), 0, Bytes(), event.form};
    for (uint32_t time = 0; time < event.times; time++)
    {
        due.kind = EventKind::LinkDown;
        m_due.push_back(due);
        due.at += event.down;
        due.kind = EventKind::LinkUp;
        m_due.push_back(due);
        due.at += event.up;
    }
}

void
FabricEvents::Do(const Due& due, Time now)
{
    switch (due.kind)
    {
    case EventKind::SlowGpu:
    case EventKind::Flap: // converted to link-down and link-up
    case EventKind::Failures:
        break;
    case EventKind::Degrade:
        m_transport.SetLinkRate(due.link, due.rate, now);
        break;
    case EventKind::LossyLink:
        m_transport.SetLinkLoss(due.link, due.loss, now);
        break;
    case EventKind::LinkDown:
    case EventKind::LinkUp: {
        m_transport.SetLinksUp(WireOf(m_topology, due.link), due.kind == EventKind::LinkUp, now);
        break;
    }
    case EventKind::Background: {
        FlowRequest request;
        request.route = due.route;
        request.bytes = due.bytes;
        request.form = due.form;
        m_transport.Start(request, now);
        break;
    }
    }
}

} // namespace weir
