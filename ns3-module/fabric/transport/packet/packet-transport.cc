// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/packet/packet-transport.h"

#include "fabric/refuse.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

/**
 * Time of the last events, ps: about 94 days. A transmission of up to 10^18 ps
 * (PacketSpec::WholeTime) that starts before it ends before the largest time.
 */
constexpr int64_t LATEST = std::numeric_limits<int64_t>::max() - 1'100'000'000'000'000'000;

/** Returns @p spec with its open values filled in. */
PacketSpec
Filled(PacketSpec spec, const RoutingPolicy& policy)
{
    FillHeader(spec.format, 1);
    FillRecovery(spec.queuePair, policy.GetScope() == RoutingPolicy::Scope::Packet);
    return spec;
}

} // namespace

PacketTransport::PacketTransport(Routing& routing, PacketSpec spec, PathSelector* others)
    : Transport(FlowForm::Packets),
      m_spec(Filled(std::move(spec), routing.Policy())),
      m_routing(routing),
      m_pairs(m_spec, m_wheel, m_packets, *this),
      m_network(routing.GetTopology(), m_spec, m_wheel, m_packets, m_pairs),
      m_datagrams(
          m_spec,
          routing,
          m_packets,
          m_network,
          [this](PathId path) { return HopsOf(path).forward; },
          m_hasTold)
{
    m_spec.congestionControl->Check();
    CheckLossyQueues();
    m_pairs.SetNetwork(m_network);
    if (routing.Policy().IsLoadAware())
    {
        m_ownSelector = others ? nullptr : std::make_unique<PathSelector>(routing);
        m_selector = others ? others : m_ownSelector.get();
    }
}

/**
 * Checks that a lossy queue has room for one full packet, which would otherwise be retransmitted
 * forever.
 * @throws std::invalid_argument if it has not.
 */
void
PacketTransport::CheckLossyQueues() const
{
    const SwitchSpec& spec = m_spec.switches;
    const bool isLossy =
        spec.flowControl == FlowControl::None ||
        (spec.flowControl == FlowControl::Pfc && m_spec.trafficClasses > spec.losslessClasses);
    if (!isLossy)
    {
        return;
    }
    const int64_t packet = m_spec.format.mtu.Count() + m_spec.format.header.value_or(0) +
                           m_spec.congestionControl->HeaderBytes();
    const std::string forEver = ": otherwise every transmission is lost";
    const int64_t queue = spec.portQueue.Count();
    WEIR_REFUSE_IF(queue > 0 && queue < packet,
                   "switch.portQueue: found " << queue << " bytes, expected at least the " << packet
                                              << " of a full packet" << forEver);
    const int64_t control = spec.controlQueue.Count();
    WEIR_REFUSE_IF(spec.trim && control > 0 && control < m_spec.format.controlSize.Count(),
                   "switch.controlQueue: found " << control
                                                 << " bytes, expected at least packet.controlSize, "
                                                 << m_spec.format.controlSize.Count() << forEver);
    const int64_t cell = spec.cell.Count();
    const int64_t room = (packet + cell - 1) / cell * cell;
    const Topology& topology = m_routing.GetTopology();
    for (std::size_t i = 0; i < topology.LinkCount() && queue == 0; i++)
    {
        const Link& link = topology.GetLink(LinkId(i));
        const Device& device = topology.GetDevice(link.to);
        const bool isSwitch = IsNetworkSwitch(device);
        if (link.kind != LinkKind::Network || (!isSwitch && device.kind != DeviceKind::Nic))
        {
            continue; // its end device forwards nothing
        }
        const Bytes buffer = isSwitch ? spec.buffer : m_spec.nodeLinks.nicBuffer;
        WEIR_REFUSE_IF(static_cast<double>(room) > spec.alpha * buffer.ToDouble(),
                       (isSwitch ? "switch.buffer" : "nodeLinks.nicBuffer")
                           << ": found " << buffer.Count() << " bytes at " << device.name
                           << ", of which switch.alpha gives a lossy queue "
                           << static_cast<int64_t>(spec.alpha * buffer.ToDouble())
                           << ", expected room for the " << room << " of a full packet" << forEver);
    }
}

Time
PacketTransport::NextEventTime()
{
    const bool isOver = IsAtRest() || m_pairs.FindLivelock();
    const int64_t next = isOver ? EventWheel::NEVER : m_wheel.PeekTime();
    return next >= LATEST ? Time::Infinite() : Time::Picoseconds(next);
}

/**
 * Called when something starts or changes. Retransmissions that failed so far may now succeed, so
 * the livelock detection is reset. Timers left over from an idle period are handled first.
 */
void
PacketTransport::Wake(Time now)
{
    m_pairs.ForgetRetries();
    if (IsAtRest())
    {
        AdvanceTo(std::max(now, m_now));
    }
    m_now = std::max(m_now, now);
}

void
PacketTransport::Handle(EventWheel::Event event, int64_t now)
{
    m_events++;
    m_now = Time::Picoseconds(now);
    switch (event.kind)
    {
    case PacketEventKind::Arrival:
        m_network.OnArrival(event.number, now);
        break;
    case PacketEventKind::PortReady:
        m_network.OnPortReady(event.number, now);
        break;
    case PacketEventKind::Pace:
        m_pairs.OnPace(event.number, now);
        break;
    case PacketEventKind::Timer:
        m_pairs.OnTimer(event.number, now);
        break;
    case PacketEventKind::Post:
        Post(event.number, now);
        break;
    case PacketEventKind::Credit:
        m_pairs.OnCreditClock(event.number, now);
        break;
    case PacketEventKind::Refresh:
        m_network.OnRefresh(event.number, now);
        break;
    }
}

void
PacketTransport::AdvanceTo(Time now)
{
    WEIR_REFUSE_IF(now < m_now, "PacketTransport::AdvanceTo: the time is in the past");
    const int64_t until = std::min(now.ToPicoseconds(), LATEST);
    for (int64_t next = m_wheel.NextTime(until + 1); next <= until;
         next = m_wheel.NextTime(until + 1))
    {
        Handle(m_wheel.Pop(), next);
    }
    m_now = now;
}

Time
PacketTransport::AdvanceExclusively(Time limit)
{
    const int64_t until = limit.IsInfinite() ? LATEST : std::min(limit.ToPicoseconds(), LATEST);
    m_hasTold = false;
    // A bound on the events per call lets the caller show progress or stop.
    for (unsigned done = 0; done < 1u << 12 && !m_hasTold && !m_pairs.FindLivelock(); done++)
    {
        const int64_t next = m_wheel.NextTime(until);
        if (next >= until)
        {
            break;
        }
        if (m_wheel.TakeOpened())
        {
            m_network.Prefetch();
        }
        Handle(m_wheel.Pop(), next);
        if (m_active == 0 && IsAtRest())
        {
            break; // only congestion control timers are left
        }
    }
    return m_now;
}

/** Index of a flow whose packets have not all arrived, canceled or not; NONE if there is none. */
uint32_t
PacketTransport::FindSlot(FlowId id) const
{
    const uint32_t index = m_flows.Find(id);
    return index == NONE || m_flows[index].state == State::Unused ? NONE : index;
}

/** Index of an active flow; NONE if it has ended. */
uint32_t
PacketTransport::Find(FlowId id) const
{
    const uint32_t index = FindSlot(id);
    return index == NONE || m_flows[index].state == State::Canceled ? NONE : index;
}

void
PacketTransport::Check(const FlowRequest& request) const
{
    WEIR_REFUSE_IF(request.bytes < Bytes(0) || request.overhead < Time() ||
                       request.overhead.IsInfinite() || !(request.weight > 0) ||
                       !(request.cap > Rate()) || request.connections == 0,
                   "PacketTransport::Start: found a negative size or overhead, or no weight, cap "
                   "or connections, expected a flow");
    WEIR_REFUSE_IF(request.trafficClass == 0 || request.trafficClass > m_spec.trafficClasses,
                   "PacketTransport::Start: found traffic class " << unsigned{request.trafficClass}
                                                                  << ", expected 1 to "
                                                                  << m_spec.trafficClasses);
    WEIR_REFUSE_IF(request.trafficClass >= Datagrams::FIRST_CLASS && m_datagrams.HasClient(),
                   "PacketTransport::Start: found a flow in a class beyond the first, expected "
                   "only datagrams in it");
    WEIR_REFUSE_IF(request.route.Index() >= m_routing.Size(),
                   "PacketTransport::Start: no such route");
    WEIR_REFUSE_IF(m_routing.IsSum(request.route),
                   "PacketTransport::Start: found a sum of routes, expected a single route");
}

FlowId
PacketTransport::Start(const FlowRequest& request, Time now)
{
    Check(request);
    Wake(now);
    const uint32_t index = m_flows.Take("PacketTransport");
    m_wheel.Reserve(PacketEventKind::Post, m_flows.Size());
    Flow& flow = m_flows[index];
    flow.request = request;
    flow.started = now;
    flow.state = State::Delayed;
    m_active++;
    const FlowId id{flow.id};
    m_observers.OnFlowStarted(id, request, now);
    if (request.overhead > Time())
    {
        m_wheel.Schedule(PacketEventKind::Post, index, (now + request.overhead).ToPicoseconds());
    }
    else
    {
        Post(index, now.ToPicoseconds());
    }
    return id;
}

/** Posts a flow's messages: its overhead is over. */
void
PacketTransport::Post(uint32_t index, int64_t now)
{
    Flow& flow = m_flows[index];
    flow.state = State::Moving;
    if (m_routing.Links(flow.request.route).size() == 0)
    {
        flow.partsLeft = 1; // it crosses no link
        flow.partsUnsent = 1;
        OnMessageSent(index, now);
        OnMessageDone(index, now);
        return;
    }
    flow.connection = ConnectionOf(flow.request);
    const Connection& connection = m_connections[flow.connection];
    const std::size_t parts = PartsOf(flow);
    flow.partsLeft = static_cast<uint32_t>(parts);
    flow.partsUnsent = flow.partsLeft;
    const int64_t bytes = flow.request.bytes.Count();
    const double cap = flow.request.cap.ToBytesPerSecond();
    flow.port = PortInto(connection.path);
    flow.pausedBefore = PausedTime(flow, now);
    const bool isFootprint = connection.isFootprint;
    for (std::size_t i = 0; i < parts; i++)
    {
        const uint32_t pair = m_connections[flow.connection].pairs[i];
        if (!isFootprint && m_selector)
        {
            ChoosePath(m_connections[flow.connection], pair, now);
            Count(pair, true);
        }
        const uint32_t times =
            isFootprint ? m_routing.Links(flow.request.route)[i].multiplicity : 1;
        m_pairs.SetCap(pair, isFootprint ? cap * times : cap / static_cast<double>(parts));
        m_pairs.Post(pair, index, isFootprint ? bytes * times : SizeOfPart(bytes, i, parts), now);
    }
    flow.path = PathOf(m_connections[flow.connection], parts);
    if (m_connections[flow.connection].isStalled && !flow.isStalled)
    {
        flow.isStalled = true;
        m_hasTold = true;
        m_observers.OnFlowStalled({flow.id}, flow.request, true, m_now);
    }
}

/** Number of queue pairs of a flow, which are the first of its connection. */
std::size_t
PacketTransport::PartsOf(const Flow& flow) const
{
    const Connection& connection = m_connections[flow.connection];
    return connection.isFootprint ? connection.pairs.size() : flow.request.connections;
}

/** The first network link of a path; NONE if there is none. */
uint32_t
PacketTransport::PortInto(PathId path) const
{
    for (const PathLink& each : m_routing.Paths().Links(path))
    {
        if (m_routing.GetTopology().GetLink(each.link).kind == LinkKind::Network)
        {
            return each.link.Index();
        }
    }
    return NONE;
}

/** Total time for which the port by which a flow enters the network has been paused, ps. */
int64_t
PacketTransport::PausedTime(const Flow& flow, int64_t now)
{
    return flow.port == NONE ? 0 : m_network.CountersAt(flow.port, now).paused;
}

void
PacketTransport::OnMessageSent(uint32_t message, int64_t now)
{
    Flow& flow = m_flows[message];
    if (--flow.partsUnsent == 0 && flow.request.client != nullptr)
    {
        m_hasTold = true;
        flow.request.client->OnFlowSent(flow.request.token, Time::Picoseconds(now));
    }
}

void
PacketTransport::OnMessageDone(uint32_t message, int64_t now)
{
    Flow& flow = m_flows[message];
    if (--flow.partsLeft > 0)
    {
        return;
    }
    const FlowRequest request = flow.request;
    const Time time = Time::Picoseconds(now);
    const bool isCanceled = flow.state == State::Canceled;
    flow.state = State::Unused;
    if (isCanceled)
    {
        m_canceled--;
    }
    else
    {
        m_hasTold = true;
        m_active--;
        m_observers.OnFlowFinished({flow.id}, request, flow.started, time);
    }
    if (m_selector && flow.connection != NONE && !m_connections[flow.connection].isFootprint)
    {
        for (uint32_t i = 0; i < request.connections; i++)
        {
            Count(m_connections[flow.connection].pairs[i], false);
        }
    }
    m_flows.Free(message);
    if (request.client != nullptr)
    {
        request.client->OnFlowDone(request.token, time);
    }
}

void
PacketTransport::OfferDatagrams(LinkId link, unsigned trafficClass, Time now)
{
    WEIR_REFUSE_IF(
        !m_datagrams.HasClient() || link.Index() >= m_network.Links(),
        "PacketTransport::OfferDatagrams: no such link, or no client that provides datagrams");
    Wake(now);
    m_datagrams.Offer(link, trafficClass, now.ToPicoseconds());
}

/** Hop indices of a path and of its reverse path. */
QueuePairs::Path
PacketTransport::HopsOf(PathId path)
{
    if (path.Index() >= m_hopsOfPath.size())
    {
        m_hopsOfPath.resize(m_routing.Paths().Size(), {PacketNetwork::END, PacketNetwork::END});
    }
    QueuePairs::Path& known = m_hopsOfPath[path.Index()];
    if (known.forward == PacketNetwork::END)
    {
        std::vector<LinkId> there;
        std::vector<LinkId> back;
        for (const PathLink& each : m_routing.Paths().Links(path))
        {
            there.push_back(each.link);
            back.push_back(m_routing.GetTopology().GetLink(each.link).opposite);
        }
        std::reverse(back.begin(), back.end());
        const bool hasBack =
            std::all_of(back.begin(), back.end(), [](LinkId link) { return link.IsValid(); });
        known.forward = m_network.AddHops(there);
        known.back = hasBack ? m_network.AddHops(back) : PacketNetwork::END;
    }
    return known;
}

/** Paths of a route's packets: all sprayed paths, or the single current path. */
std::vector<PathId>
PacketTransport::PathsOf(RouteId route)
{
    return m_routing.EntropyPaths(route, m_spec.queuePair.paths, m_spec.queuePair.distinctPaths);
}

std::vector<QueuePairs::Path>
PacketTransport::HopsOf(const std::vector<PathId>& paths)
{
    std::vector<QueuePairs::Path> hops;
    for (const PathId path : paths)
    {
        hops.push_back(HopsOf(path));
    }
    return hops;
}

/** Path of a flow in @p parts parts. */
FlowPath
PacketTransport::PathOf(const Connection& connection, std::size_t parts)
{
    if (!m_selector || connection.isFootprint)
    {
        return connection.whole;
    }
    std::vector<PathId> chosen;
    for (std::size_t i = 0; i < parts; i++)
    {
        chosen.push_back(m_choices[connection.pairs[i]].path);
    }
    return m_routing.Paths().InternDivided(chosen);
}

/**
 * Selects a new path for a queue pair if none of its flows is active or, for flowlets, if it has
 * paused for the flowlet gap.
 */
void
PacketTransport::ChoosePath(Connection& connection, uint32_t pair, int64_t now)
{
    const RoutingPolicy& policy = m_routing.Policy();
    const bool isPaused = !m_pairs.HasSent(pair) ||
                          now - m_pairs.LastSent(pair) >= policy.FlowletGap().ToPicoseconds();
    if (connection.isStalled || (m_choices[pair].flows > 0 && !m_pairs.IsIdle(pair)) ||
        (policy.GetScope() == RoutingPolicy::Scope::Flowlet && !isPaused))
    {
        return;
    }
    Take(connection, pair, now);
}

/** Moves a queue pair to the least loaded path, its own load excluded. */
void
PacketTransport::Take(Connection& connection, uint32_t pair, int64_t now)
{
    Choice& choice = m_choices[pair];
    const double load = choice.flows > 0 ? 1 : 0;
    m_selector->Hold(choice.path, -load);
    choice.path = m_selector->LeastLoaded(connection.route, 1).path;
    m_selector->Hold(choice.path, load);
    connection.path = choice.path;
    m_pairs.SetPaths(pair,
                     m_routing.HasDownLink(choice.path) ? std::vector<QueuePairs::Path>()
                                                        : std::vector{HopsOf(choice.path)},
                     now);
}

/** Adds or removes a flow of a queue pair, which counts as load while it has any. */
void
PacketTransport::Count(uint32_t pair, bool isMore)
{
    Choice& choice = m_choices[pair];
    const uint32_t flows = isMore ? choice.flows + 1 : choice.flows - 1;
    if (flows == 0 || choice.flows == 0)
    {
        m_selector->Hold(choice.path, isMore ? 1 : -1);
    }
    choice.flows = flows;
}

ConnectionFacts
PacketTransport::FactsOf(PathId path) const
{
    const PathTable::Span links = m_routing.Paths().Links(path);
    const uint32_t port = PortInto(path);
    const bool inNetwork = port != NONE;
    ConnectionFacts facts;
    facts.mtu =
        static_cast<uint32_t>((inNetwork ? m_spec.format.mtu : m_spec.nodeLinks.burst).Count());
    facts.isInside = !inNetwork;
    facts.header = m_spec.format.header.value_or(0) + m_spec.congestionControl->HeaderBytes();
    // Traffic to the network is paced at the rate of the network adapter's port.
    facts.lineRate = m_network.WireRate(inNetwork ? port : links.front().link.Index());
    facts.bottleneckRate = std::numeric_limits<double>::infinity();
    const auto control = static_cast<uint32_t>(m_spec.format.controlSize.Count());
    int64_t roundTrip = 0;
    for (const PathLink& each : links)
    {
        const uint32_t link = each.link.Index();
        const double rate = m_network.WireRate(link);
        facts.bottleneckRate = std::min(facts.bottleneckRate, rate);
        facts.hops++;
        if (!inNetwork || m_routing.GetTopology().GetLink(each.link).kind == LinkKind::Network)
        {
            facts.receiverLink = link;
            facts.receiverRate = rate;
        }
        roundTrip += m_network.WholeTransmissionTime(link, facts.mtu + facts.header, facts.mtu) +
                     m_network.WholeTransmissionTime(link, control, 0) +
                     2 * m_network.Latency(link);
    }
    const double max = m_spec.queuePair.maxRate.ToBytesPerSecond();
    if (max > 0)
    {
        facts.portRate = facts.lineRate;
        facts.lineRate = std::min(facts.lineRate, max);
        facts.bottleneckRate = std::min(facts.bottleneckRate, max);
    }
    facts.baseRtt = Time::Picoseconds(roundTrip);
    return facts;
}

/**
 * Facts of a connection sprayed over several shortest paths: the shortest base round trip of the
 * paths, and as bottleneck rate the joint rate at the hop where the paths have the least in total.
 * A slow link thus slows only the packets that cross it, not all packets of the connection. htsim's
 * windows similarly use the sender's rate and a round trip without slow links.
 */
ConnectionFacts
PacketTransport::FactsOf(std::vector<PathId> paths) const
{
    std::sort(paths.begin(), paths.end());
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    ConnectionFacts facts = FactsOf(paths.front());
    if (paths.size() == 1)
    {
        return facts;
    }
    std::vector<std::vector<LinkId>> hopLinks(facts.hops);
    for (const PathId path : paths)
    {
        facts.baseRtt = std::min(facts.baseRtt, FactsOf(path).baseRtt);
        const PathTable::Span links = m_routing.Paths().Links(path);
        for (std::size_t i = 0; i < hopLinks.size(); i++)
        {
            hopLinks[i].push_back(links[i].link);
        }
    }
    facts.bottleneckRate = facts.lineRate;
    for (std::vector<LinkId>& links : hopLinks)
    {
        std::sort(links.begin(), links.end());
        links.erase(std::unique(links.begin(), links.end()), links.end());
        double rate = 0;
        for (const LinkId link : links)
        {
            rate += m_network.WireRate(link.Index());
        }
        facts.bottleneckRate = std::min(facts.bottleneckRate, rate);
    }
    return facts;
}

void
PacketTransport::CountIdlePath(RouteId route, const ConnectionFacts& facts)
{
    if (facts.baseRtt > m_longest.roundTrip)
    {
        m_longest = {route, facts.baseRtt, facts.hops};
    }
}

void
PacketTransport::CountIdlePath(RouteId route)
{
    if (route.Index() >= m_isCounted.size())
    {
        m_isCounted.resize(m_routing.Size());
    }
    if (!m_isCounted[route.Index()])
    {
        m_isCounted[route.Index()] = true;
        if (m_routing.Links(route).size() > 0 && !IsFootprint(route, m_routing.CurrentPath(route)))
        {
            CountIdlePath(route, FactsOf(PathsOf(route)));
        }
    }
}

/**
 * Finds or opens the connection of a flow's stream and class, with as many queue pairs as it asks
 * for.
 */
uint32_t
PacketTransport::ConnectionOf(const FlowRequest& request)
{
    const RouteId route = request.route;
    const PathId path = m_routing.CurrentPath(route);
    const auto [known, isNew] = m_connectionIndices.try_emplace(
        ConnectionKey(request), static_cast<uint32_t>(m_connections.size()));
    if (isNew)
    {
        m_connections.emplace_back();
        if (m_routing.Policy().GetScope() == RoutingPolicy::Scope::Packet)
        {
            SprayOf(route); // before links fail
        }
        Connection& opened = m_connections.back();
        opened.route = route;
        opened.trafficClass = request.trafficClass;
        opened.path = path;
        opened.isFootprint = IsFootprint(route, path);
        opened.whole =
            opened.isFootprint ? FlowPath{path} : m_routing.Paths().InternDivided(PathsOf(route));
        if (opened.isFootprint)
        {
            OpenFootprint(opened);
        }
    }
    Connection& connection = m_connections[known->second];
    while (!connection.isFootprint && connection.pairs.size() < request.connections)
    {
        const std::vector<PathId> paths = PathsOf(route);
        const ConnectionFacts facts = FactsOf(paths);
        connection.pairs.push_back(m_pairs.Open(HopsOf(paths), facts, connection.trafficClass));
        CountIdlePath(route, facts);
        m_choices.resize(m_pairs.Size());
        m_choices.back().path = path;
        if (m_routing.HasDownLink(path))
        {
            connection.isStalled = true;
            m_pairs.SetPaths(connection.pairs.back(), {}, m_now.ToPicoseconds());
        }
    }
    return known->second;
}

/** Whether a path is a footprint: a set of links without a hop order. */
bool
PacketTransport::IsFootprint(RouteId route, PathId path) const
{
    const PathTable::Span links = m_routing.Paths().Links(path);
    return !m_routing.HasEnds(route) ||
           std::any_of(links.begin(), links.end(), [](const PathLink& each) {
               return each.multiplicity > 1;
           });
}

/** Opens a queue pair for each link of a footprint. */
void
PacketTransport::OpenFootprint(Connection& connection)
{
    for (const PathLink& each : m_routing.Paths().Links(connection.path))
    {
        ConnectionFacts facts;
        facts.lineRate = m_network.WireRate(each.link.Index());
        facts.mtu = static_cast<uint32_t>(m_spec.nodeLinks.burst.Count());
        facts.isInside = true;
        connection.pairs.push_back(
            m_pairs.OpenLink(m_network.AddHops({each.link}), facts, connection.trafficClass));
    }
}

void
PacketTransport::SetLinkRate(LinkId link, Rate rate, Time now)
{
    WEIR_REFUSE_IF(link.Index() >= m_network.Links() || !(rate >= Rate()),
                   "PacketTransport::SetLinkRate: no such link, or its rate is negative");
    Wake(now);
    m_network.SetRate(link.Index(), rate, now.ToPicoseconds());
    if (m_selector)
    {
        m_selector->SetRate(link, rate);
    }
}

void
PacketTransport::SetLinkLoss(LinkId link, double part, Time now)
{
    WEIR_REFUSE_IF(link.Index() >= m_network.Links() || !(part >= 0 && part < 1) ||
                       m_routing.GetTopology().GetLink(link).kind != LinkKind::Network,
                   "PacketTransport::SetLinkLoss: no such link of the network, or the loss "
                   "probability is not in [0, 1)");
    m_pairs.ForgetRetries();
    m_now = std::max(m_now, now);
    m_network.SetLoss(link.Index(), part);
}

void
PacketTransport::SetLinksUp(const std::vector<LinkId>& links, bool up, Time now)
{
    for (const LinkId link : links)
    {
        WEIR_REFUSE_IF(link.Index() >= m_network.Links(),
                       "PacketTransport::SetLinksUp: no such link");
    }
    Wake(now);
    m_routing.SetUsable(links, up);
    m_datagrams.Reroute();
    for (const LinkId link : links)
    {
        m_network.SetUp(link.Index(), up, now.ToPicoseconds());
    }
    Reroute(now.ToPicoseconds());
}

/** Moves queue pairs to the current path of their route. @return whether it has changed */
bool
PacketTransport::TakeRoute(Connection& connection, int64_t now)
{
    const RouteId route = connection.route;
    const PathId path = m_routing.CurrentPath(route);
    const bool isStalled = m_routing.HasDownLink(path);
    const bool isSprayed = m_routing.Policy().GetScope() == RoutingPolicy::Scope::Packet;
    if (path == connection.path && isStalled == connection.isStalled && !isSprayed)
    {
        return false;
    }
    const std::vector<PathId> paths = PathsOf(route);
    connection.path = path;
    connection.whole = m_routing.Paths().InternDivided(paths);
    connection.isStalled = isStalled;
    for (const uint32_t pair : connection.pairs)
    {
        m_pairs.SetPaths(pair, isStalled ? std::vector<QueuePairs::Path>() : HopsOf(paths), now);
    }
    return true;
}

/**
 * Selects new paths for queue pairs whose path has, or had, a failed link.
 * @return whether any was selected
 */
bool
PacketTransport::ChooseAgain(Connection& connection, int64_t now)
{
    bool isStalled = false;
    bool hasChosen = false;
    for (const uint32_t pair : connection.pairs)
    {
        if (connection.isStalled || m_routing.HasDownLink(m_choices[pair].path))
        {
            Take(connection, pair, now);
            isStalled = isStalled || m_routing.HasDownLink(m_choices[pair].path);
            hasChosen = true;
        }
    }
    connection.isStalled = isStalled;
    return hasChosen;
}

/** Moves queue pairs to usable paths after links have failed or come up. */
void
PacketTransport::Reroute(int64_t now)
{
    std::vector<bool> isRerouted;
    for (std::size_t i = 0; i < m_connections.size(); i++) // observers may open others
    {
        Connection& connection = m_connections[i];
        isRerouted.push_back(false);
        if (connection.isFootprint)
        {
            continue;
        }
        isRerouted[i] = m_selector ? ChooseAgain(connection, now) : TakeRoute(connection, now);
    }
    for (std::size_t i = 0; i < m_flows.Size(); i++)
    {
        Flow& flow = m_flows[i];
        if (flow.state != State::Moving || flow.connection == NONE)
        {
            continue;
        }
        const Connection& connection = m_connections[flow.connection];
        if (flow.connection < isRerouted.size() && isRerouted[flow.connection])
        {
            flow.path = PathOf(connection, flow.request.connections);
        }
        if (connection.isStalled != flow.isStalled)
        {
            flow.isStalled = connection.isStalled;
            m_observers.OnFlowStalled({flow.id}, flow.request, flow.isStalled, m_now);
        }
    }
}

bool
PacketTransport::Cancel(FlowId id, Time now)
{
    const uint32_t index = Find(id);
    if (index == NONE)
    {
        return false;
    }
    m_pairs.ForgetRetries();
    Flow& flow = m_flows[index];
    m_active--;
    if (flow.state == State::Delayed)
    {
        m_wheel.Cancel(PacketEventKind::Post, index);
        flow.state = State::Unused;
        m_flows.Free(index);
        return true;
    }
    flow.state = State::Canceled; // packets in flight still arrive
    flow.request.client = nullptr;
    m_canceled++;
    const std::vector<uint32_t> pairs = m_connections[flow.connection].pairs; // copy: may grow
    for (const uint32_t pair : pairs)
    {
        m_pairs.Withdraw(pair, index, now.ToPicoseconds());
    }
    return true;
}

Rate
PacketTransport::CurrentRate(FlowId id)
{
    const uint32_t index = Find(id);
    if (index == NONE || m_flows[index].connection == NONE)
    {
        return Rate();
    }
    const Flow& flow = m_flows[index];
    double rate = 0;
    for (std::size_t i = 0; i < PartsOf(flow); i++)
    {
        const uint32_t pair = m_connections[flow.connection].pairs[i];
        rate += m_pairs.IsMoving(pair, index) ? m_pairs.RateOf(pair) : 0;
    }
    return Rate::BytesPerSecond(rate);
}

int64_t
PacketTransport::BytesLeft(FlowId id) const
{
    const uint32_t index = Find(id);
    if (index == NONE)
    {
        return 0;
    }
    const Flow& flow = m_flows[index];
    if (flow.connection == NONE)
    {
        return flow.request.bytes.Count();
    }
    const Connection& connection = m_connections[flow.connection];
    int64_t left = 0;
    int64_t max = 0; // maximum over the links of a footprint, each of which carries all bytes
    for (const uint32_t pair : connection.pairs)
    {
        const int64_t ofPair = m_pairs.BytesLeft(pair, index);
        left += ofPair;
        max = std::max(max, ofPair);
    }
    return connection.isFootprint ? std::min(max, flow.request.bytes.Count()) : left;
}

bool
PacketTransport::SetBytesLeft(FlowId id, int64_t left, Time now)
{
    const uint32_t index = Find(id);
    if (index == NONE || m_flows[index].connection == NONE)
    {
        return false;
    }
    const Flow& flow = m_flows[index];
    const Connection& connection = m_connections[flow.connection];
    const std::size_t parts = PartsOf(flow);
    const std::vector<uint32_t> pairs(connection.pairs.begin(),
                                      connection.pairs.begin() +
                                          static_cast<std::ptrdiff_t>(parts)); // copy: may grow
    const auto hasUnsent = [&](uint32_t pair) { return m_pairs.HasUnsent(pair, index); };
    if (!std::all_of(pairs.begin(), pairs.end(), hasUnsent))
    {
        return false;
    }
    const bool isFootprint = connection.isFootprint;
    const RouteId route = flow.request.route;
    for (std::size_t i = 0; i < parts; i++)
    {
        m_pairs.SetBytesLeft(pairs[i],
                             index,
                             isFootprint ? left * m_routing.Links(route)[i].multiplicity
                                         : SizeOfPart(left, i, parts),
                             now.ToPicoseconds());
    }
    return true;
}

PacketTransport::Demand
PacketTransport::DemandOf(FlowId id) const
{
    Demand demand;
    const uint32_t index = FindSlot(id);
    if (index == NONE || m_flows[index].connection == NONE)
    {
        return demand;
    }
    const Connection& connection = m_connections[m_flows[index].connection];
    if (connection.isFootprint)
    {
        return demand;
    }
    double allowed = 0;
    for (const uint32_t pair : connection.pairs)
    {
        const ConnectionFacts& facts = m_pairs.FactsOf(pair);
        allowed += m_pairs.RateOf(pair) * facts.mtu / (facts.mtu + facts.header);
        demand.sent += m_pairs.SentBytes(pair);
        demand.roundTrip = facts.baseRtt;
        demand.mtu = facts.mtu;
    }
    demand.allowed = Rate::BytesPerSecond(allowed);
    return demand;
}

const FlowRequest*
PacketTransport::RequestOf(FlowId id) const
{
    const uint32_t index = Find(id);
    return index == NONE ? nullptr : &m_flows[index].request;
}

FlowPath
PacketTransport::CurrentPath(FlowId id)
{
    const uint32_t index = m_flows.Find(id);
    if (index == NONE)
    {
        return FlowPath();
    }
    const Flow& flow = m_flows[index];
    return flow.connection == NONE ? FlowPath{m_routing.CurrentPath(flow.request.route)}
                                   : flow.path;
}

LinkUsage
UsageOf(const PortCounters& counters, const Link& link)
{
    LinkUsage usage;
    usage.bytes = static_cast<double>(counters.bytes) * PayloadFraction(link);
    usage.busy = Time::Picoseconds(counters.busy);
    usage.saturated = Time::Picoseconds(counters.backlogged);
    return usage;
}

LinkUsage
PacketTransport::GetLinkUsage(LinkId link)
{
    return UsageOf(m_network.Counters(link.Index()), m_routing.GetTopology().GetLink(link));
}

const PortCounters*
PacketTransport::GetPortCounters(LinkId link)
{
    return &m_network.CountersAt(link.Index(), m_now.ToPicoseconds());
}

const FlowCounters*
PacketTransport::GetFlowCounters(FlowId id)
{
    const uint32_t index = m_flows.Find(id);
    if (index == NONE)
    {
        return nullptr;
    }
    Flow& flow = m_flows[index];
    flow.counters.paused = PausedTime(flow, m_now.ToPicoseconds()) - flow.pausedBefore;
    return &flow.counters;
}

bool
PacketTransport::AddPortObserver(PortObserver& observer)
{
    for (uint32_t link = 0; link < m_network.Links(); link++)
    {
        m_network.AddObserver(link, observer);
    }
    return true;
}

void
PacketTransport::RemovePortObserver(PortObserver& observer)
{
    for (uint32_t link = 0; link < m_network.Links(); link++)
    {
        m_network.CountersAt(link, m_now.ToPicoseconds());
        m_network.RemoveObserver(link, observer);
    }
}

/** The links of a path, in order. */
std::vector<uint32_t>
PacketTransport::LinksOf(PathId path) const
{
    std::vector<uint32_t> links;
    for (const PathLink& each : m_routing.Paths().Links(path))
    {
        links.push_back(each.link.Index());
    }
    return links;
}

/** The paths over which the packets of a route are sprayed, as they were at the first call. */
const PacketTransport::Spray&
PacketTransport::SprayOf(RouteId route)
{
    const auto [known, isNew] = m_sprays.try_emplace(route);
    Spray& spray = known->second;
    if (!isNew)
    {
        return spray;
    }
    spray.paths = PathsOf(route);
    const auto isLike = [this](uint32_t a, uint32_t b) {
        const Topology& topology = m_routing.GetTopology();
        return a == b || (topology.GetLink(LinkId(a)).kind == topology.GetLink(LinkId(b)).kind &&
                          m_network.NominalWireRate(a) == m_network.NominalWireRate(b) &&
                          m_network.Latency(a) == m_network.Latency(b) &&
                          m_network.IsOfGpu(a) == m_network.IsOfGpu(b));
    };
    const std::vector<uint32_t> first = LinksOf(spray.paths.front());
    for (const PathId path : spray.paths)
    {
        const std::vector<uint32_t> links = LinksOf(path);
        spray.areAlike = spray.areAlike &&
                         std::equal(links.begin(), links.end(), first.begin(), first.end(), isLike);
        spray.isOpen = spray.isOpen && std::all_of(links.begin(), links.end(), [&](uint32_t link) {
                           return m_routing.GetTopology().GetLink(LinkId(link)).rate > Rate();
                       });
    }
    return spray;
}

/** Time until the last packet of a sprayed message arrives, ps. */
int64_t
PacketTransport::SprayedTime(PacketTrain& train,
                             const PacketTrain::Load& load,
                             const Spray& spray) const
{
    const std::vector<uint32_t> first = LinksOf(spray.paths.front());
    if (spray.paths.size() == 1)
    {
        return train.Send(load, first);
    }
    PacketTrain::Paths paths;
    if (const std::size_t last = spray.areAlike ? train.LastPackets(load, first) : 0; last > 0)
    {
        const std::size_t before = static_cast<std::size_t>(load.Packets()) - last;
        while (paths.size() < last)
        {
            paths.push_back(LinksOf(spray.paths[(before + paths.size()) % spray.paths.size()]));
        }
        return train.SprayLast(load, paths);
    }
    for (const PathId path : spray.paths)
    {
        paths.push_back(LinksOf(path));
    }
    return train.Spray(load, paths);
}

Time
PacketTransport::UncontendedTime(const FlowRequest& request, PathId path)
{
    const bool isSprayed = !path.IsValid() &&
                           m_routing.Policy().GetScope() == RoutingPolicy::Scope::Packet &&
                           m_routing.HasEnds(request.route);
    const Spray* spray = isSprayed ? &SprayOf(request.route) : nullptr;
    path = isSprayed        ? spray->paths.front()
           : path.IsValid() ? path
                            : m_routing.PlannedPath(request.route);
    const PathTable::Span links = m_routing.Paths().Links(path);
    if (links.size() == 0)
    {
        return request.overhead;
    }
    const Topology& topology = m_routing.GetTopology();
    const bool isOpen =
        isSprayed ? spray->isOpen : std::all_of(links.begin(), links.end(), [&](const auto& each) {
            return topology.GetLink(each.link).rate > Rate();
        });
    if (!isOpen)
    {
        return Time::Infinite();
    }
    PacketTrain::Load load;
    load.bytes = request.bytes.Count();
    load.cap = request.cap.ToBytesPerSecond();
    PacketTrain train(m_spec, m_network);
    int64_t time = 0;
    if (IsFootprint(request.route, path))
    {
        load.isInside = true;
        for (const PathLink& each : links)
        {
            const uint32_t link = each.link.Index();
            load.bytes = request.bytes.Count() * each.multiplicity;
            load.cap = request.cap.ToBytesPerSecond() * each.multiplicity;
            load.mtu = m_spec.nodeLinks.BurstOf(load.bytes);
            load.lineRate = m_network.NominalWireRate(link);
            time = std::max(time, train.Send(load, {link}));
        }
        return request.overhead + Time::Picoseconds(time);
    }
    load.parts = request.connections;
    const uint32_t port = PortInto(path);
    load.isInside = port == NONE;
    load.mtu = load.isInside ? m_spec.nodeLinks.BurstOf(load.bytes / load.parts)
                             : static_cast<uint32_t>(m_spec.format.mtu.Count());
    load.lineRate = m_network.NominalWireRate(load.isInside ? links.front().link.Index() : port);
    const double max = m_spec.queuePair.maxRate.ToBytesPerSecond();
    load.lineRate = max > 0 ? std::min(load.lineRate, max) : load.lineRate;
    time = isSprayed ? SprayedTime(train, load, *spray) : train.Send(load, LinksOf(path));
    if (m_spec.queuePair.flowEnd == FlowEnd::Acknowledged)
    {
        std::vector<uint32_t> back;
        bool hasBack = true;
        for (const PathLink& each : links)
        {
            const LinkId opposite = topology.GetLink(each.link).opposite;
            hasBack = hasBack && opposite.IsValid();
            back.insert(back.begin(), opposite.Index());
        }
        time = hasBack ? train.Acknowledge(back) : time;
    }
    return request.overhead + Time::Picoseconds(time);
}

std::vector<StalledFlow>
PacketTransport::StalledFlows()
{
    std::vector<StalledFlow> stalled;
    for (std::size_t i = 0; i < m_flows.Size(); i++)
    {
        const Flow& flow = m_flows[i];
        if (flow.state == State::Moving && flow.isStalled)
        {
            stalled.push_back({{flow.id},
                               flow.request,
                               m_routing.FirstDownLink(m_routing.CurrentPath(flow.request.route))});
        }
    }
    std::sort(stalled.begin(), stalled.end(), [](const StalledFlow& a, const StalledFlow& b) {
        return a.id.value < b.id.value;
    });
    return stalled;
}

uint64_t
PacketTransport::PacketHops() const
{
    uint64_t hops = 0;
    for (uint32_t link = 0; link < m_network.Links(); link++)
    {
        hops += m_network.Counters(link).packets;
    }
    return hops;
}

std::string
PacketTransport::DescribeLivelock(const QueuePairs::Livelock& livelock) const
{
    const auto has = [&](const Connection& each) {
        return std::find(each.pairs.begin(), each.pairs.end(), livelock.pair) != each.pairs.end();
    };
    const auto connection = std::find_if(m_connections.begin(), m_connections.end(), has);
    const PathTable::Span links = m_routing.Paths().Links(connection->path);
    const Topology& topology = m_routing.GetTopology();
    return "livelock: packet " + std::to_string(livelock.packet) + " from " +
           topology.LinkName(links.front().link) + " to " + topology.LinkName(links.back().link) +
           " was retransmitted " + std::to_string(QueuePairs::MAX_RETRIES) +
           " times and never arrived, nor did any other packet since; lossy queues or links drop "
           "it (switch.flowControl, queuePair.recovery)";
}

std::string
PacketTransport::DescribeWaiting() const
{
    const std::vector<LinkId> cycle = m_network.FindDeadlock(); // which also ends in retries
    if (const auto& livelock = m_pairs.FindLivelock(); livelock && cycle.empty())
    {
        return DescribeLivelock(*livelock);
    }
    std::string text;
    for (const LinkId link : cycle)
    {
        text +=
            (text.empty() ? "deadlock: " : " waits for ") + m_routing.GetTopology().LinkName(link);
    }
    return text.empty() ? text
                        : text + " waits for " + m_routing.GetTopology().LinkName(cycle.front());
}

void
PacketTransport::CheckConservation() const
{
    const uint64_t held = m_network.CountHeld();
    if (held != m_packets.InUse())
    {
        throw std::logic_error("PacketTransport: found " + std::to_string(held) +
                               " packets in queues and on wires, expected " +
                               std::to_string(m_packets.InUse()));
    }
}

} // namespace weir
