// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/hybrid/hybrid-transport.h"

#include "fabric/refuse.h"
#include "fabric/transport/corrected/corrected-transport.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weir
{

namespace
{

std::vector<bool>
ChosenLinks(const Topology& topology, const std::vector<std::string>& patterns)
{
    std::vector<bool> chosen;
    for (const std::string& pattern : patterns)
    {
        chosen.resize(topology.LinkCount());
        for (const LinkId link : LinksNamed(topology, pattern))
        {
            chosen[link.Index()] = true;
        }
    }
    return chosen;
}

/** Rounds a rate up to a logarithmic grid; caps that differ by less than a step need no update. */
Rate
RoundUpToGrid(double bytesPerSecond)
{
    constexpr double STEP = 1.0 / 64;
    return Rate::BytesPerSecond(std::exp(std::ceil(std::log(bytesPerSecond) / STEP) * STEP));
}

std::unique_ptr<FluidTransport>
MakeFluid(Routing& routing, const TransportSpec& spec)
{
    WEIR_REFUSE_IF(spec.corrections.ingress.IsOn(),
                   "corrections: found ingress with packets, expected other corrections: ingress "
                   "accounts only for fluid flows");
    return MakeFluidTransport(routing, spec.corrections, spec.sharing);
}

} // namespace

HybridTransport::HybridTransport(Routing& routing, TransportSpec spec)
    : Transport(std::nullopt),
      m_routing(routing),
      m_spec(spec.coupling.value_or(CouplingSpec())),
      m_fluid(MakeFluid(routing, spec)),
      m_packets(routing, std::move(spec.packets).value_or(PacketSpec()), m_fluid->Selector()),
      m_use(std::max(1.0,
                     m_packets.GetSpec().congestionControl->TargetUtilization() /
                         spec.corrections.utilization.ofLink)),
      m_isChosen(ChosenLinks(routing.GetTopology(), m_spec.links)),
      m_links(routing.GetTopology().LinkCount())
{
    for (std::size_t i = 0; i < m_links.size(); i++)
    {
        m_links[i].rate = routing.GetTopology().GetLink(LinkId(i)).rate.ToBytesPerSecond();
        m_links[i].limit = m_links[i].rate;
    }
    m_packets.AddObserver(*this, false);
}

Time
HybridTransport::NextEventTime()
{
    Couple();
    return std::min({m_fluid->NextEventTime(), m_packets.NextEventTime(), m_windowEnd});
}

void
HybridTransport::AdvanceTo(Time now)
{
    m_now = now;
    m_packets.AdvanceTo(now);
    m_fluid->AdvanceTo(now);
    if (m_windowEnd <= now)
    {
        EndWindow();
    }
}

Time
HybridTransport::AdvanceExclusively(Time limit)
{
    const Time until = std::min({limit, m_fluid->NextEventTime(), m_windowEnd});
    m_now = std::max(m_now, m_packets.AdvanceExclusively(until));
    return m_now;
}

FlowForm
HybridTransport::FormOf(const FlowRequest& request)
{
    if (m_routing.IsSum(request.route))
    {
        return FlowForm::Fluid;
    }
    bool mayBePackets = m_spec.insideNodes;
    for (const PathLink& each : m_routing.Paths().Links(m_routing.PlannedPath(request.route)))
    {
        if (!m_isChosen.empty() && m_isChosen[each.link.Index()])
        {
            return FlowForm::Packets;
        }
        mayBePackets =
            mayBePackets || m_routing.GetTopology().GetLink(each.link).kind == LinkKind::Network;
    }
    return mayBePackets ? request.form : FlowForm::Fluid;
}

FlowId
HybridTransport::Start(const FlowRequest& request, Time now)
{
    m_now = std::max(m_now, now);
    const bool isKnown = request.route.Index() < m_routing.Size();
    if (!isKnown || FormOf(request) == FlowForm::Fluid)
    {
        return m_fluid->Start(request, now);
    }
    const FlowId flow = m_packets.Start(request, now);
    if (m_packets.RequestOf(flow) != nullptr) // it has not ended immediately
    {
        Enter(request, flow, now);
    }
    return flow;
}

// Packet streams as occupants of the fluid.

uint32_t
HybridTransport::StreamOf(const FlowRequest& request)
{
    const auto [entry, isNew] = m_streamIndices.try_emplace(
        ConnectionKey(request), static_cast<uint32_t>(m_streams.size()));
    if (isNew)
    {
        m_streams.emplace_back();
    }
    return entry->second;
}

void
HybridTransport::Enter(const FlowRequest& request, FlowId flow, Time now)
{
    const uint32_t index = StreamOf(request);
    Stream& stream = m_streams[index];
    stream.request = request;
    stream.flow = flow;
    stream.flows.push_back(flow);
    if (stream.isPresent)
    {
        return;
    }
    MakePresent(index, now);
}

/** Registers the stream of a route whose datagrams start to flow. */
void
HybridTransport::EnterDatagrams(RouteId route, Time now)
{
    FlowRequest request;
    request.route = route;
    request.bytes = Bytes(1); // any; an occupant has no end
    request.stream = DATAGRAMS;
    const uint32_t index = StreamOf(request);
    Stream& stream = m_streams[index];
    stream.request = request;
    if (!stream.isDatagrams)
    {
        stream.isDatagrams = true;
        m_datagrams.push_back(index);
    }
    stream.flows.assign(1, stream.flow);
    if (!stream.isPresent)
    {
        stream.isPresent = true;
        CountDatagramStreams();
        stream.request.weight = DatagramWeightOf(stream);
        MakePresent(index, now);
    }
}

/** Makes a stream an occupant of the fluid. */
void
HybridTransport::MakePresent(uint32_t index, Time now)
{
    Stream& stream = m_streams[index];
    FlowRequest occupant = stream.request;
    occupant.addsLatency = true;
    occupant.client = nullptr;
    const bool isSpread = m_routing.Policy().GetScope() == RoutingPolicy::Scope::Packet;
    stream.occupant = m_fluid->Occupy(occupant, isSpread ? FlowPath() : PathOf(stream), now);
    stream.isPresent = true;
    stream.windows = 0;
    m_present.push_back(index);
    m_occupants++;
    FindLinks(stream);
    for (const LinkId link : stream.links)
    {
        if (m_links[link.Index()].checked < m_windowStart)
        {
            Account(link); // else it was accounted for since the start of the window
        }
    }
}

void
HybridTransport::CountDatagramStreams()
{
    m_datagramStreams.assign(m_links.size(), 0);
    for (const uint32_t index : m_datagrams)
    {
        const Stream& stream = m_streams[index];
        if (stream.isPresent)
        {
            for (const PathLink& each : m_routing.Paths().Links(PathOf(stream).path))
            {
                m_datagramStreams[each.link.Index()]++;
            }
        }
    }
}

/**
 * Weight of a stream of datagrams. With it, the stream gets the share that round robin among
 * traffic classes would give it on the link that the fluid uses most: all streams of datagrams
 * combined send one datagram for each packet of the flows.
 */
double
HybridTransport::DatagramWeightOf(const Stream& stream)
{
    const Datagrams::Traffic& traffic = m_packets.GetDatagrams().TrafficOf(stream.request.route);
    const PacketFormat& format = m_packets.GetSpec().format;
    const double size = static_cast<double>(traffic.bytes) / static_cast<double>(traffic.datagrams);
    const double perPacket = size / (format.mtu.ToDouble() + format.header.value_or(0));
    double maxTaken = 0;
    double weight = 1;
    for (const PathLink& each : m_routing.Paths().Links(PathOf(stream).path))
    {
        const FluidTransport::Shares shares = m_fluid->SharesOf(each.link);
        const double taken = shares.flowRate / m_links[each.link.Index()].rate;
        if (taken > maxTaken)
        {
            maxTaken = taken;
            weight = perPacket * shares.flowWeight / m_datagramStreams[each.link.Index()];
        }
    }
    return weight;
}

/** Current path of a stream's packets. */
FlowPath
HybridTransport::PathOf(const Stream& stream)
{
    return stream.isDatagrams ? FlowPath{m_routing.CurrentPath(stream.request.route)}
                              : m_packets.CurrentPath(stream.flow);
}

/**
 * Current demand of a stream. The demand of datagrams is unlimited, since their senders do not
 * announce it.
 */
PacketTransport::Demand
HybridTransport::DemandOf(const Stream& stream)
{
    if (!stream.isDatagrams)
    {
        return m_packets.DemandOf(stream.flow);
    }
    const RouteId route = stream.request.route;
    const LinkId first = m_routing.Links(route).front().link;
    const double payload = PayloadFraction(m_routing.GetTopology().GetLink(first));
    PacketTransport::Demand demand;
    demand.allowed = Rate::Infinite();
    demand.sent = static_cast<int64_t>(
        static_cast<double>(m_packets.GetDatagrams().TrafficOf(route).bytes) * payload);
    demand.mtu = static_cast<uint32_t>(m_packets.GetSpec().format.mtu.Count());
    demand.roundTrip = m_routing.Latency(route) + m_routing.Latency(route);
    return demand;
}

/**
 * Whether a stream of datagrams has stopped, which must be detected since their end is not
 * announced.
 */
bool
HybridTransport::IsAtRest(const Stream& stream, int64_t sentSince)
{
    return stream.isDatagrams && stream.windows > HORIZON && sentSince == 0 &&
           m_packets.GetDatagrams().TrafficOf(stream.request.route).inFlight == 0;
}

/**
 * A packet flow has ended or was canceled. Its stream leaves the fluid at the next Couple unless it
 * has another active flow by then.
 */
void
HybridTransport::Leave(const FlowRequest& request, FlowId flow)
{
    const uint32_t index = StreamOf(request);
    Stream& stream = m_streams[index];
    const auto position = std::find(stream.flows.begin(), stream.flows.end(), flow);
    if (position == stream.flows.end())
    {
        return; // it ended immediately
    }
    stream.flows.erase(position);
    if (!stream.flows.empty())
    {
        stream.flow = stream.flows.back();
    }
    else if (!stream.isLeaving)
    {
        stream.isLeaving = true;
        m_leaving.push_back(index);
    }
}

/**
 * Whether packets and fluid may share links. False if all flows wait for failed links, which may
 * take forever.
 */
bool
HybridTransport::IsCoupled()
{
    return m_occupants > 0 && m_fluid->ActiveFlows() > m_occupants &&
           !(m_packets.NextEventTime().IsInfinite() && m_fluid->NextEventTime().IsInfinite());
}

/** Exchanges the changes at this instant between packets and fluid. */
void
HybridTransport::Couple()
{
    if (m_packets.GetDatagrams().HasBeginnings())
    {
        for (const Datagrams::Beginning& each : m_packets.GetDatagrams().TakeActivatedRoutes())
        {
            m_now = std::max(m_now, each.at);
            EnterDatagrams(each.route, m_now);
        }
    }
    for (const uint32_t index : m_leaving)
    {
        Stream& stream = m_streams[index];
        stream.isLeaving = false;
        if (stream.flows.empty() && stream.isPresent)
        {
            m_fluid->Cancel(stream.occupant, m_now);
            stream.isPresent = false;
            m_occupants--;
        }
    }
    m_leaving.clear();
    if (m_streams.empty())
    {
        return; // there are only fluid flows
    }
    const std::vector<uint32_t>& changed = m_fluid->TakeChangedLinks();
    if (!m_isShared) // all links have changed, and packets have not moved yet
    {
        m_isShared = true;
        for (const uint32_t link : changed)
        {
            m_links[link].traffic = m_fluid->GetLinkUsage(LinkId(link)).busy;
        }
    }
    for (const uint32_t link : changed)
    {
        SetShare(link);
    }
    if (m_windowEnd.IsInfinite() && IsCoupled())
    {
        BeginWindows();
    }
}

/** Starts the coupling windows: from now on packets and fluid share links. */
void
HybridTransport::BeginWindows()
{
    m_windowStart = m_now;
    for (const uint32_t index : m_present)
    {
        Stream& stream = m_streams[index];
        stream.windows = 0;
        Observe(stream);
        FindLinks(stream);
        for (const LinkId link : stream.links)
        {
            Account(link);
        }
    }
    m_windowEnd = m_now + WindowLength();
}

/** Records the bytes that a stream has sent so far. */
void
HybridTransport::Observe(Stream& stream)
{
    const std::size_t slot = stream.windows % HORIZON;
    const PacketTransport::Demand demand = DemandOf(stream);
    stream.sent[slot] = demand.sent;
    stream.seen[slot] = m_now;
    stream.windows++;
    if (demand.mtu > 0)
    {
        m_shortestTrip = std::min(m_shortestTrip, demand.roundTrip);
    }
}

/**
 * Actual use of a link by the fluid, as a multiple of its rate. If corrections give the fluid less
 * than the target utilization of the congestion control, the difference is used by acknowledgments.
 */
double
HybridTransport::UseOf(uint32_t link) const
{
    const bool isNetwork = m_routing.GetTopology().GetLink(LinkId(link)).kind == LinkKind::Network;
    return isNetwork ? m_use : 1;
}

/** Time until now for which a port has transmitted packets. */
Time
HybridTransport::PortBusy(uint32_t link)
{
    const int64_t rest = m_packets.GetNetwork().BusyUntil(link) - m_now.ToPicoseconds();
    return Time::Picoseconds(m_packets.GetPortCounters(LinkId(link))->busy -
                             std::max<int64_t>(0, rest));
}

/** Time for which a link has carried any traffic, if its port has been busy for @p portBusy. */
Time
HybridTransport::TrafficTime(uint32_t link, Time portBusy) const
{
    const LinkState& state = m_links[link];
    return state.traffic +
           (state.fluidRate > 0 ? m_now - state.trafficSince : portBusy - state.portBusy);
}

/** Gives packets the rate of a link that the fluid leaves. */
void
HybridTransport::SetShare(uint32_t link)
{
    LinkState& state = m_links[link];
    const FluidTransport::Shares shares = m_fluid->SharesOf(LinkId(link));
    TellRate(LinkId(link), shares.flowRate, m_now);
    if ((shares.flowRate > 0) != (state.fluidRate > 0))
    {
        const Time portBusy = PortBusy(link);
        state.traffic = TrafficTime(link, portBusy);
        state.trafficSince = m_now;
        state.portBusy = portBusy;
    }
    state.fluidBytes = FluidBytes(state);
    state.since = m_now;
    state.fluidRate = shares.flowRate;
    double part = 1;
    if (shares.flowRate > 0 && state.rate > 0 && !std::isinf(state.rate))
    {
        // Traffic unknown to the fluid, such as acknowledgments, is served like one flow.
        const double packets = shares.occupantWeight > 0 ? shares.occupantWeight : 1;
        const double fair = packets / (packets + shares.flowWeight);
        part = (state.limit - shares.flowRate * UseOf(link)) / state.rate;
        part = shares.isGreedy && part > 0 ? part : std::max(part, fair * state.limit / state.rate);
    }
    m_packets.GetNetwork().SetShare(link, part);
}

/** Reports the fluid rate of a link (bytes/s) to observers, if it has changed. */
void
HybridTransport::TellRate(LinkId link, double rate, Time now)
{
    double& told = m_links[link.Index()].toldRate;
    if (m_observers.WantLinkRates() && rate != told)
    {
        told = rate;
        m_observers.OnLinkRate(link, Rate::BytesPerSecond(rate), now);
    }
}

// Windows.

Time
HybridTransport::WindowLength() const
{
    constexpr Time SHORTEST = Time::Nanoseconds(100);
    const Time length = m_spec.window > Time()        ? m_spec.window
                        : m_shortestTrip.IsInfinite() ? Time::Microseconds(1)
                                                      : m_shortestTrip;
    return std::max(length, SHORTEST);
}

/** Ends a window: updates the fluid with the packets' use of links. */
void
HybridTransport::EndWindow()
{
    m_counters.windows++;
    m_present.erase(std::remove_if(m_present.begin(),
                                   m_present.end(),
                                   [this](uint32_t index) { return !m_streams[index].isPresent; }),
                    m_present.end());
    std::sort(m_present.begin(), m_present.end());
    m_present.erase(std::unique(m_present.begin(), m_present.end()), m_present.end());
    const std::vector<uint32_t> reduced = std::move(m_reduced);
    m_reduced.clear();
    for (const uint32_t index : m_present)
    {
        FindLinks(m_streams[index]);
        for (const LinkId link : m_streams[index].links)
        {
            Balance(link);
        }
    }
    for (const uint32_t link : reduced)
    {
        Balance(LinkId(link));
    }
    if (!m_datagramStreams.empty())
    {
        CountDatagramStreams();
    }
    for (const uint32_t index : m_present)
    {
        SetDemand(m_streams[index]);
    }
    m_windowStart = m_now;
    m_windowEnd = IsCoupled() || !m_reduced.empty() ? m_now + WindowLength() : Time::Infinite();
}

/** Updates the links of a stream's current paths, forward and reverse. */
void
HybridTransport::FindLinks(Stream& stream)
{
    const PathId path = PathOf(stream).path;
    if (!path.IsValid() || (path == stream.path && !stream.links.empty()))
    {
        return; // its last flow has ended, or they are known
    }
    stream.path = path;
    stream.links.clear();
    std::vector<PathId> paths{path};
    if (m_routing.Policy().GetScope() == RoutingPolicy::Scope::Packet)
    {
        paths =
            m_routing.EntropyPaths(stream.request.route, m_packets.GetSpec().queuePair.paths, true);
    }
    for (const PathId each : paths)
    {
        for (const PathLink& link : m_routing.Paths().Links(each))
        {
            stream.links.push_back(link.link);
            const LinkId back = m_routing.GetTopology().GetLink(link.link).opposite;
            if (back.IsValid())
            {
                stream.links.push_back(back);
            }
        }
    }
    std::sort(stream.links.begin(), stream.links.end());
    stream.links.erase(std::unique(stream.links.begin(), stream.links.end()), stream.links.end());
}

/**
 * Compares the bytes that a link has carried since it was last accounted for with its capacity, and
 * updates its debt.
 */
void
HybridTransport::Account(LinkId link)
{
    LinkState& state = m_links[link.Index()];
    const Time length = m_now - state.checked;
    if (length == Time())
    {
        return;
    }
    // Of a part of a window, busy is unknown.
    const bool isPart = state.checked != m_windowStart || m_windowStart == m_now;
    const PortCounters& port = *m_packets.GetPortCounters(link);
    const double packetBytes =
        static_cast<double>(port.bytes) * PayloadFraction(m_routing.GetTopology().GetLink(link));
    const double carried = FluidBytes(state) + packetBytes - state.packetBytes;
    constexpr double BUSY = 0.9; // packets are indivisible and may extend into a neighboring window
    state.wasBusy = isPart || Time::Picoseconds(port.busy - state.busy) > length * BUSY;
    state.busy = port.busy;
    state.packetBytes = packetBytes;
    state.fluidBytes = 0;
    state.since = m_now;
    state.checked = m_now;
    const double room = state.rate * length.ToSeconds();
    if (!std::isinf(room))
    {
        state.debt = std::max(0.0, state.debt + carried - room);
        m_counters.largestDebt = std::max(m_counters.largestDebt, state.debt);
    }
}

/** Accounts for a link at the end of a window, and limits its rate while it is in debt. */
void
HybridTransport::Balance(LinkId link)
{
    LinkState& state = m_links[link.Index()];
    if (state.checked == m_now)
    {
        return;
    }
    Account(link);
    if (std::isinf(state.rate))
    {
        return;
    }
    // A debt below the bytes of one round trip is a burst, which the idle time after it
    // compensates.
    const Time length = m_now - m_windowStart;
    const double packet = m_packets.GetSpec().format.mtu.ToDouble();
    const double burst = state.rate * std::max(length, m_shortestTrip).ToSeconds();
    const bool mustReduce = state.debt > std::max(2 * packet, burst) && state.fluidRate > 0;
    double limit = state.rate;
    if (mustReduce)
    {
        limit = std::max(state.rate - state.debt / length.ToSeconds(), state.rate / 2);
        m_reduced.push_back(static_cast<uint32_t>(link.Index()));
    }
    if (limit != state.limit)
    {
        state.limit = limit;
        m_fluid->SetLinkRate(link, Rate::BytesPerSecond(limit), m_now);
    }
}

/** Sets the cap of a stream's occupant by its behavior in the last windows. */
void
HybridTransport::SetDemand(Stream& stream)
{
    const PacketTransport::Demand demand = DemandOf(stream);
    if (demand.mtu == 0)
    {
        return; // in its overhead, or on a footprint
    }
    const std::size_t oldest = stream.windows < HORIZON ? 0 : stream.windows % HORIZON;
    const int64_t before = stream.sent[oldest];
    const Time since = stream.seen[oldest];
    const bool isNew = stream.windows == 0;
    if (IsAtRest(stream, demand.sent - before))
    {
        m_packets.GetDatagrams().Rest(stream.request.route);
        Leave(stream.request, stream.flow);
        return;
    }
    Observe(stream);
    bool isShared = false;
    bool isBusy = false;
    for (const LinkId link : stream.links)
    {
        const LinkState& state = m_links[link.Index()];
        isShared = isShared || state.fluidRate > 0;
        isBusy = isBusy || (state.fluidRate > 0 && state.wasBusy);
    }
    double cap = stream.request.cap.ToBytesPerSecond();
    if (isShared && !isNew)
    {
        double greed = demand.allowed.ToBytesPerSecond();
        if (!isBusy)
        {
            const auto sent = static_cast<double>(demand.sent - before);
            greed =
                std::min(greed, std::max<double>(sent, demand.mtu) / (m_now - since).ToSeconds());
        }
        cap = greed < cap ? RoundUpToGrid(greed).ToBytesPerSecond() : cap;
    }
    const double weight = stream.isDatagrams ? DatagramWeightOf(stream) : stream.request.weight;
    m_fluid->SetOccupant(stream.occupant, Rate::BytesPerSecond(cap), PathOf(stream), weight, m_now);
}

// Links.

void
HybridTransport::SetLinkRate(LinkId link, Rate rate, Time now)
{
    m_now = std::max(m_now, now);
    Account(link); // at the rate until now
    m_fluid->SetLinkRate(link, rate, now);
    m_packets.SetLinkRate(link, rate, now);
    m_links[link.Index()].rate = rate.ToBytesPerSecond();
    m_links[link.Index()].limit = rate.ToBytesPerSecond();
    m_links[link.Index()].debt = 0;
}

void
HybridTransport::SetLinkLoss(LinkId link, double part, Time now)
{
    m_now = std::max(m_now, now);
    m_packets.SetLinkLoss(link, part, now);
}

void
HybridTransport::SetLinksUp(const std::vector<LinkId>& links, bool up, Time now)
{
    m_now = std::max(m_now, now);
    m_fluid->SetLinksUp(links, up, now);
    m_packets.SetLinksUp(links, up, now);
    for (Stream& stream : m_streams)
    {
        stream.links.clear(); // its links may have changed
    }
}

void
HybridTransport::MoveTo(Time now)
{
    m_now = std::max(m_now, now);
    m_fluid->MoveTo(now);
}

LinkUsage
HybridTransport::GetLinkUsage(LinkId link)
{
    const LinkUsage packets = m_packets.GetLinkUsage(link);
    LinkUsage usage = m_fluid->GetLinkUsage(link); // includes the times of occupants
    if (usage.bytes == 0)
    {
        return packets;
    }
    if (m_isShared)
    {
        usage.bytes += packets.bytes;
        usage.busy = TrafficTime(static_cast<uint32_t>(link.Index()), packets.busy);
        usage.saturated = std::min(usage.busy, std::max(usage.saturated, packets.saturated));
    }
    return usage;
}

// Flows of either form.

bool
HybridTransport::Cancel(FlowId id, Time now)
{
    m_now = std::max(m_now, now);
    if (FormOfFlow(id) == FlowForm::Fluid)
    {
        return m_fluid->Cancel(id, now);
    }
    const FlowRequest* known = m_packets.RequestOf(id);
    if (known == nullptr)
    {
        return false;
    }
    const FlowRequest request = *known;
    m_packets.Cancel(id, now);
    Leave(request, id);
    return true;
}

std::vector<StalledFlow>
HybridTransport::StalledFlows()
{
    std::vector<StalledFlow> stalled = m_fluid->StalledFlows();
    const std::vector<StalledFlow> packets = m_packets.StalledFlows();
    stalled.insert(stalled.end(), packets.begin(), packets.end());
    return stalled;
}

// Observers.

void
HybridTransport::AddObserver(TransportObserver& observer, bool linkRates)
{
    m_fluid->AddObserver(observer, false);
    m_packets.AddObserver(observer, false);
    m_observers.Add(observer, linkRates);
    WatchLinkRates();
}

void
HybridTransport::RemoveObserver(TransportObserver& observer)
{
    m_observers.Remove(observer);
    m_fluid->RemoveObserver(observer);
    m_packets.RemoveObserver(observer);
    WatchLinkRates();
}

/** Observes the link rates of the fluid if an observer wants link rates. */
void
HybridTransport::WatchLinkRates()
{
    if (m_observers.WantLinkRates())
    {
        m_fluid->AddObserver(*this, true);
    }
    else
    {
        m_fluid->RemoveObserver(*this);
    }
}

void
HybridTransport::OnFlowFinished(FlowId id, const FlowRequest& request, Time /* started */, Time now)
{
    if (FormOfFlow(id) == FlowForm::Packets)
    {
        m_now = std::max(m_now, now);
        Leave(request, id);
    }
}

void
HybridTransport::OnLinkRate(LinkId link, Rate rate, Time now)
{
    if (m_streams.empty()) // otherwise SetShare reports the rate without occupants
    {
        TellRate(link, rate.ToBytesPerSecond(), now);
    }
}

} // namespace weir
