// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/packet/packet-network.h"

#include "fabric/refuse.h"
#include "fabric/routing/flow-hash.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

constexpr unsigned MAX_CLASSES = 8; //!< PFC has one bit per class

/** Default size of a port's queue of control packets, in data queues (htsim). */
constexpr int64_t CONTROL_QUEUES = 2;

/** Bytes of a pause frame with preamble and gap (IEEE 802.3, Annex 31D). */
constexpr uint32_t PAUSE_BYTES = 84;

/** Minimum number of due events worth prefetching for; fewer would still wait for the memory. */
constexpr std::size_t MIN_PREFETCHED = 4;

/**
 * Minimum number of used ports whose state does not fit in the caches. With fewer, prefetching
 * costs more than it saves (permutations on fat trees and all-reduces, by
 * scripts/bench/packet-benchmark: 768 ports lose 5 %, 1500 gain 10 %, 6144 gain 75 %).
 */
constexpr std::size_t MIN_PREFETCHED_PORTS = 1200;

constexpr int64_t TLP_UNIT = 16; //!< bytes of a PCI Express data credit

/** Number of parts of @p part bytes that @p size bytes need, rounded up. */
int64_t
TlpsOf(int64_t size, int64_t part)
{
    return (size + part - 1) / part;
}

/**
 * Capacity of a switch port's queue of control packets, bytes; unlimited unless the switch trims.
 */
int64_t
ControlRoomOf(const SwitchSpec& spec)
{
    const int64_t room = spec.controlQueue > Bytes(0) ? spec.controlQueue.Count()
                                                      : CONTROL_QUEUES * spec.portQueue.Count();
    return spec.trim && room > 0 ? room : std::numeric_limits<int64_t>::max();
}

} // namespace

PacketNetwork::PacketNetwork(const Topology& topology,
                             const PacketSpec& spec,
                             EventWheel& events,
                             PacketPool& packets,
                             PacketEndpoints& ends)
    : m_topology(topology),
      m_spec(spec),
      m_events(events),
      m_packets(packets),
      m_ends(ends),
      m_classes(spec.trafficClasses + 1),
      m_losslessClasses(spec.switches.losslessClasses),
      m_arbiter(spec.arbitration, spec.trafficClasses),
      m_cell(spec.switches.cell.Count()),
      m_controlRoom(ControlRoomOf(spec.switches)),
      m_controlRun(spec.switches.trim ? spec.switches.controlRun : 0),
      m_boundsTlpHeaders(spec.nodeLinks.pciePostedHeaders > 0 ||
                         spec.nodeLinks.pcieCompletionHeaders > 0),
      m_ports(topology.LinkCount()),
      m_queues(topology.LinkCount() * m_classes),
      m_sent(topology.LinkCount()),
      m_accounts(topology.LinkCount() * (m_classes - 1)),
      m_details(topology.LinkCount()),
      m_counters(topology.LinkCount()),
      m_lossyRoom(m_cell == 1 ? 0 : topology.LinkCount() * m_classes, 0),
      m_pausedUntil(topology.LinkCount() * m_classes, 0),
      m_pausedSince(topology.LinkCount(), 0),
      m_creditIndex(topology.LinkCount(), END),
      m_buffers(topology.DeviceCount()),
      m_draws(topology.LinkCount())
{
    WEIR_REFUSE_IF(m_classes > MAX_CLASSES,
                   "trafficClasses: found " << spec.trafficClasses << ", expected at most 7");
    for (const PacketEventKind kind :
         {PacketEventKind::Arrival, PacketEventKind::PortReady, PacketEventKind::Refresh})
    {
        events.Reserve(kind, topology.LinkCount());
    }
    for (uint32_t i = 0; i < m_ports.size(); i++)
    {
        const Link& link = topology.GetLink(LinkId(i));
        Port& port = m_ports[i];
        port.latency = link.latency.ToPicoseconds();
        if (IsNetworkSwitch(topology.GetDevice(link.to)))
        {
            port.latency += spec.switches.latency.ToPicoseconds();
        }
        port.to = link.to.Index();
        m_details[i].opposite = link.opposite.IsValid() ? link.opposite.Index() : END;
        port.isNetwork = link.kind == LinkKind::Network;
        port.isOfSwitch = IsNetworkSwitch(topology.GetDevice(link.from));
        port.isOfGpu = topology.GetDevice(link.from).kind == DeviceKind::Gpu;
        m_details[i].turn = m_arbiter.Begin();
        m_draws[i] = SplitMix64(SplitMix64(spec.seed) ^ i);
        SetWireRate(i, link.rate);
    }
    CheckSwitches();
    std::vector<int64_t> committed(topology.DeviceCount(), 0);
    for (uint32_t i = 0; i < m_ports.size(); i++)
    {
        Port& port = m_ports[i];
        PortDetails& details = m_details[i];
        details.latencyBack = m_ports[details.opposite == END ? i : details.opposite].latency;
        SetAdmission(i);
        if (port.admission == Admission::Pfc)
        {
            const Link& link = topology.GetLink(LinkId(i));
            const double alphaRate = spec.switches.alphaRate.ToBytesPerSecond();
            for (unsigned c = 1; c < m_classes && c <= m_losslessClasses; c++)
            {
                IngressAccount& account = AccountOf(i, c);
                account.headroomSize = HeadroomOf(i);
                CheckPauseTime(i);
                account.alpha = spec.switches.alpha *
                                (alphaRate > 0 ? link.rate.ToBytesPerSecond() / alphaRate : 1);
                committed[port.to] += account.headroomSize + spec.switches.reserve.Count();
            }
        }
    }
    for (std::size_t d = 0; d < m_buffers.size(); d++)
    {
        const bool isSwitch = IsNetworkSwitch(topology.GetDevice(DeviceId(d)));
        const int64_t size =
            (isSwitch ? spec.switches.buffer : spec.nodeLinks.nicBuffer).Count() - committed[d];
        WEIR_REFUSE_IF(isSwitch && committed[d] > 0 && size <= 0,
                       "switch.buffer: found " << size + committed[d] << " bytes at "
                                               << topology.GetDevice(DeviceId(d)).name
                                               << ", expected more than the " << committed[d]
                                               << " bytes of reserve and headroom that the delays, "
                                                  "rates and largest packets of its links require");
        // The headrooms of a NIC are outside its buffer, which only forwarded packets use.
        m_buffers[d] = SharedBuffer(std::max<int64_t>(0, size), spec.switches.reserve.Count());
    }
}

/**
 * Checks that a pause does not expire while its renewal waits behind a packet.
 * @throws std::invalid_argument if it does.
 */
void
PacketNetwork::CheckPauseTime(uint32_t ingress) const
{
    const uint32_t back = m_details[ingress].opposite;
    const auto bytes = static_cast<uint32_t>(MaxBytes(back));
    const int64_t min = 2 * (TransmissionTime(back, bytes, bytes) +
                             TransmissionTime(back, PAUSE_BYTES, 0)); // renewed at half its time
    const Time pause = m_spec.switches.pauseTime;
    WEIR_REFUSE_IF(!pause.IsInfinite() && pause.ToPicoseconds() < min,
                   "switch.pauseTime: found "
                       << pause.ToPicoseconds() / 1000 << " ns, expected "
                       << "at least the " << (min + 999) / 1000
                       << " ns of two packets and their pauses at "
                       << m_topology.GetDevice(m_topology.GetLink(LinkId(back)).from).name
                       << ", behind which a pause may wait");
}

/**
 * Checks the number and the total rate of the links of each switch against its model.
 * @throws std::invalid_argument if there are too many.
 */
void
PacketNetwork::CheckSwitches() const
{
    const SwitchSpec& spec = m_spec.switches;
    std::vector<uint32_t> links(m_topology.DeviceCount(), 0);
    std::vector<double> rates(m_topology.DeviceCount(), 0);
    for (uint32_t i = 0; i < m_ports.size(); i++)
    {
        const std::size_t from = m_topology.GetLink(LinkId(i)).from.Index();
        links[from]++;
        rates[from] += WireRate(i);
    }
    constexpr double ROUNDING = 1 + 1e-9;
    for (std::size_t d = 0; d < links.size(); d++)
    {
        const Device& device = m_topology.GetDevice(DeviceId(d));
        if (!IsNetworkSwitch(device))
        {
            continue;
        }
        WEIR_REFUSE_IF(spec.ports > 0 && links[d] > spec.ports,
                       "switch.ports: found " << links[d] << " links at " << device.name
                                              << ", expected at most " << spec.ports);
        const double capacity = spec.capacity.ToBytesPerSecond();
        if (capacity > 0 && rates[d] > capacity * ROUNDING)
        {
            const auto gbps = [](double rate) { return std::to_string(std::llround(rate * 8e-9)); };
            throw std::invalid_argument("switch.capacity: found links of " + gbps(rates[d]) +
                                        " Gb/s at " + device.name + ", expected at most " +
                                        gbps(capacity) + " Gb/s");
        }
    }
}

void
PacketNetwork::AddObserver(uint32_t link, PortObserver& observer)
{
    m_observers.resize(m_ports.size());
    m_observers[link].push_back(&observer);
    m_ports[link].isObserved = true;
}

void
PacketNetwork::RemoveObserver(uint32_t link, PortObserver& observer)
{
    m_observers.resize(m_ports.size());
    auto& observers = m_observers[link];
    observers.erase(std::remove(observers.begin(), observers.end(), &observer), observers.end());
    m_ports[link].isObserved = !observers.empty();
}

/** Tells the observers of a port of an event. */
template <typename... Parameters, typename... Facts>
void
PacketNetwork::Tell(uint32_t link,
                    void (PortObserver::*event)(LinkId, Parameters...),
                    const Facts&... facts)
{
    if (m_ports[link].isObserved)
    {
        for (PortObserver* observer : m_observers[link])
        {
            (observer->*event)(LinkId(link), facts...);
        }
    }
}

void
PacketNetwork::TellQueue(uint32_t link, unsigned trafficClass, int64_t now)
{
    const int64_t bytes = QueueOf(link, trafficClass).bytes;
    Tell(link, &PortObserver::OnQueue, trafficClass, bytes, Time::Picoseconds(now));
}

void
PacketNetwork::TellPause(uint32_t link, unsigned trafficClass, bool isPaused, int64_t now)
{
    Tell(link, &PortObserver::OnPause, trafficClass, isPaused, Time::Picoseconds(now));
}

void
PacketNetwork::TellCreditWait(uint32_t link, unsigned trafficClass, bool isWaiting, int64_t now)
{
    Port& port = m_ports[link];
    const auto bit = static_cast<uint8_t>(1u << trafficClass);
    if (((port.uncredited & bit) != 0) == isWaiting)
    {
        return;
    }
    port.uncredited ^= bit;
    Tell(link, &PortObserver::OnCreditWait, trafficClass, isWaiting, Time::Picoseconds(now));
}

int64_t
PacketNetwork::MaxPayload(uint32_t link) const
{
    const Bytes payload = m_ports[link].isNetwork
                              ? m_spec.format.mtu
                              : std::max(m_spec.format.mtu, m_spec.nodeLinks.burst);
    return payload.Count();
}

int64_t
PacketNetwork::MaxBytes(uint32_t link) const
{
    return MaxPayload(link) + m_spec.format.header.value_or(0) +
           m_spec.congestionControl->HeaderBytes();
}

void
PacketNetwork::SetWireRate(uint32_t link, Rate rate)
{
    Port& port = m_ports[link];
    double& whole = m_details[link].wholePsPerByte;
    port.isStopped = rate == Rate();
    whole = port.isStopped ? whole : PsPerByte(link, rate);
    port.psPerByte = whole / port.share;
}

void
PacketNetwork::SetShare(uint32_t link, double part)
{
    Port& port = m_ports[link];
    port.share = part;
    port.psPerByte = m_details[link].wholePsPerByte / part;
    const uint32_t ingress = m_details[link].opposite;
    if (part < 1 && ingress != END && m_ports[ingress].admission == Admission::Pfc)
    {
        // With a share of the link, a pause can wait behind a frame longer than on any real switch.
        // The headroom is therefore unlimited.
        for (unsigned c = 1; c < m_classes && c <= m_losslessClasses; c++)
        {
            AccountOf(ingress, c).headroomSize = std::numeric_limits<int64_t>::max() / 2;
        }
    }
}

/**
 * Number of output links, the reverse link excluded, of the NVSwitch at the end of a link; 1 if
 * there is no NVSwitch.
 */
uint32_t
PacketNetwork::OutputsBehind(uint32_t link) const
{
    const DeviceId end = m_topology.GetLink(LinkId(link)).to;
    const auto links = static_cast<uint32_t>(m_topology.LinksFrom(end).size());
    return m_topology.GetDevice(end).kind == DeviceKind::NvSwitch ? std::max(links, 2u) - 1 : 1;
}

void
PacketNetwork::SetAdmission(uint32_t link)
{
    Port& port = m_ports[link];
    if (port.isNetwork && m_spec.switches.flowControl != FlowControl::Credits)
    {
        port.admission =
            m_spec.switches.flowControl == FlowControl::Pfc && m_details[link].opposite != END
                ? Admission::Pfc
                : Admission::Lossy;
        return;
    }
    port.admission = Admission::Credits;
    const LinkKind kind = m_topology.GetLink(LinkId(link)).kind;
    int64_t room = (kind == LinkKind::Network  ? m_spec.switches.creditBuffer
                    : kind == LinkKind::NvLink ? m_spec.nodeLinks.nvlinkBuffer
                                               : m_spec.nodeLinks.pcieBuffer)
                       .Count();
    const int64_t packet = MaxBytes(link);
    port.isPcie = kind == LinkKind::Pcie;
    const int64_t unit = m_spec.switches.creditUnit.Count();
    if (room == 0) // default: the bytes of a round trip and a packet at either end
    {
        const auto roundTrip =
            static_cast<double>(RoundTrip(link) + m_spec.switches.creditDelay.ToPicoseconds());
        // Except on PCIe, a packet takes whole units.
        const int64_t taken = port.isPcie ? packet : UnitsOf(packet) * unit;
        const double part = static_cast<double>(taken) / static_cast<double>(packet);
        room = static_cast<int64_t>(std::ceil(roundTrip / port.psPerByte * part)) + 2 * taken;
        room *= kind == LinkKind::NvLink ? OutputsBehind(link) : 1;
    }
    m_creditIndex[link] = static_cast<uint32_t>(m_credits.size());
    if (port.isPcie)
    {
        SetTlpCredits(link, room);
        return;
    }
    const int64_t units = std::max(room / unit, (packet + unit - 1) / unit);
    for (unsigned c = 0; c < m_classes; c++)
    {
        m_credits.emplace_back(units);
    }
}

/**
 * Sets the credits of a PCIe link: headers and data for writes, then headers and data for read
 * completions.
 * @param room data bytes of either kind if the parameters do not set credits
 * @throws std::invalid_argument if credits or read tags do not suffice for one packet or burst.
 */
void
PacketNetwork::SetTlpCredits(uint32_t link, int64_t room)
{
    const NodeLinkSpec& spec = m_spec.nodeLinks;
    const int64_t packet = MaxPayload(link);
    const auto check = [](const char* key, int64_t found, int64_t min, const char* what) {
        WEIR_REFUSE_IF(found > 0 && found < min,
                       "nodeLinks." << key << ": found " << found << ", expected at least the "
                                    << min << what);
    };
    const int64_t headers = TlpsOf(packet, spec.pcieMaxPayload.Count());
    const int64_t data = TlpsOf(packet, TLP_UNIT);
    check("pciePostedHeaders", spec.pciePostedHeaders, headers, " of a packet or burst");
    check("pciePostedData", spec.pciePostedData, data, " of a packet or burst");
    check("pcieCompletionHeaders", spec.pcieCompletionHeaders, headers, " of a packet or burst");
    check("pcieCompletionData", spec.pcieCompletionData, data, " of a packet or burst");
    const int64_t window = spec.pcieReadTags * spec.pcieReadRequest.Count();
    check("pcieReadTags",
          spec.pcieReadTags,
          TlpsOf(packet, spec.pcieReadRequest.Count()),
          " read requests of a packet or burst");
    constexpr int64_t INFINITE = int64_t{1} << 60;
    for (unsigned c = 0; c < m_classes; c++)
    {
        for (const auto& [ofHeaders, ofData] :
             {std::pair(spec.pciePostedHeaders, spec.pciePostedData),
              std::pair(spec.pcieCompletionHeaders, spec.pcieCompletionData)})
        {
            m_credits.emplace_back(ofHeaders > 0 ? ofHeaders : INFINITE);
            m_credits.emplace_back(ofData > 0 ? ofData : std::max(room / TLP_UNIT, data));
        }
    }
    if (window > 0)
    {
        m_reads.resize(m_ports.size());
        m_reads[link] = LinkCredits(window);
    }
}

/** Calls @p take with each credit account of a link that a packet uses, and the units it takes. */
template <typename F>
void
PacketNetwork::ForCredits(uint32_t link,
                          unsigned trafficClass,
                          const PacketShape& packet,
                          const F& take)
{
    if (!m_ports[link].isPcie)
    {
        take(m_credits[m_creditIndex[link] + trafficClass], UnitsOf(packet.size));
        return;
    }
    const int64_t size = BytesOf(link, packet.size, packet.payload);
    const int64_t headers =
        m_boundsTlpHeaders ? TlpsOf(size, m_spec.nodeLinks.pcieMaxPayload.Count()) : 0;
    const int64_t data = TlpsOf(size, TLP_UNIT);
    for (const bool isRead : {false, true})
    {
        if (packet.hop == END || isRead == IsToNetwork(packet.hop))
        {
            const std::size_t index = m_creditIndex[link] + 4 * trafficClass + (isRead ? 2 : 0);
            if (m_boundsTlpHeaders)
            {
                take(m_credits[index], headers);
            }
            take(m_credits[index + 1], data);
        }
    }
}

/** Returns the read tag of a packet. The next read request must first reach the sender. */
void
PacketNetwork::ReturnRead(Packet& packet, int64_t now)
{
    packet.flags &= static_cast<uint8_t>(~Packet::READ);
    int64_t back = now;
    uint32_t first = END;
    for (uint32_t hop = packet.hop; hop-- > 0 && m_hops[hop] != END;)
    {
        first = m_hops[hop];
        back += m_ports[first].isPcie ? m_details[first].latencyBack : 0;
        if (m_ports[first].isOfGpu)
        {
            break; // the packet was read from its memory
        }
    }
    m_reads[first].Return(packet.payload, back);
    if (m_ports[first].waitsForCredits)
    {
        m_ports[first].waitsForCredits = false;
        m_events.ScheduleBy(
            PacketEventKind::PortReady, first, std::max(back, m_ports[first].busyUntil));
    }
}

int64_t
PacketNetwork::HeadroomOf(uint32_t link) const
{
    if (m_spec.switches.headroom > Bytes(0))
    {
        return m_spec.switches.headroom.Count();
    }
    // Before the pause leaves, a frame may have just started on the reverse link; before it takes
    // effect, a frame may have just started on this link. In between, both directions carry the
    // full rate (PFC headroom without interface delays).
    const int64_t packet = MaxBytes(link);
    const double wire = static_cast<double>(RoundTrip(link)) / m_ports[link].psPerByte;
    const int64_t bytes = static_cast<int64_t>(std::ceil(wire)) + 2 * packet + PAUSE_BYTES;
    if (m_cell == 1)
    {
        return bytes;
    }
    // In the worst case, all packets have the highest ratio of cells to bytes: the shortest
    // packets, or packets with one byte in their second cell. The first packet may be longer than
    // the rest.
    const auto cell = static_cast<double>(m_cell);
    const double shortest = m_spec.format.header.value_or(0) + 1.0;
    const double worst = std::max(shortest < cell ? cell / shortest : 1.0, 2 * cell / (cell + 1));
    return static_cast<int64_t>(std::ceil(worst * static_cast<double>(bytes) + cell));
}

/**
 * Whether a packet rises by a class between two consecutive links. Along a path, the number 2 c +
 * (1 on links between groups, 0 within one), where c is the class, only grows. Hence no cycle of
 * waiting packets can form.
 */
bool
PacketNetwork::IsRaised(LinkId first, LinkId second) const
{
    const auto joinsGroups = [this](LinkId id) {
        const Link& link = m_topology.GetLink(id);
        return m_topology.GetDevice(link.from).group != m_topology.GetDevice(link.to).group;
    };
    return JoinsSwitches(m_topology, first) && JoinsSwitches(m_topology, second) &&
           (joinsGroups(first) || !joinsGroups(second));
}

/**
 * Checks that the classes of a path's packets, which start at class 1 and rise by @p raised, exist.
 * @throws std::invalid_argument if not.
 */
void
PacketNetwork::CheckClasses(const std::vector<LinkId>& links, unsigned raised) const
{
    const bool arePaused = m_spec.switches.flowControl == FlowControl::Pfc;
    const auto check = [&](const char* key, unsigned classes) {
        WEIR_REFUSE_IF(raised + 1 > classes,
                       key << ": found " << classes << ", expected at least " << raised + 1
                           << ", because classes rise by hop from "
                           << m_topology.LinkName(links.front()) << " to "
                           << m_topology.LinkName(links.back()));
    };
    check("trafficClasses", m_classes - 1);
    check("switch.losslessClasses", arePaused ? m_losslessClasses : m_classes - 1);
}

/**
 * Checks that a packet's telemetry has room for all switches of a path, if the congestion control
 * uses telemetry.
 * @throws std::invalid_argument if not.
 */
void
PacketNetwork::CheckTelemetry(const std::vector<LinkId>& links) const
{
    const auto switches = std::count_if(
        links.begin(), links.end(), [&](LinkId link) { return m_ports[link.Index()].isOfSwitch; });
    WEIR_REFUSE_IF(m_spec.congestionControl->WantsTelemetry() && switches > Telemetry::MAX_HOPS,
                   "congestionControl: found "
                       << m_spec.congestionControl->Name() << " on a path of " << switches
                       << " switches, expected at most the " << Telemetry::MAX_HOPS
                       << " that a packet's telemetry covers");
}

uint32_t
PacketNetwork::AddHops(const std::vector<LinkId>& links)
{
    const auto first = static_cast<uint32_t>(m_hops.size());
    for (const LinkId link : links)
    {
        m_hops.push_back(link.Index());
    }
    m_hops.push_back(END);
    CheckTelemetry(links);
    m_isToNetwork.resize(m_hops.size(), 0);
    for (std::size_t i = links.size(); i-- > 0;)
    {
        const bool isNetwork = m_ports[links[i].Index()].isNetwork;
        m_isToNetwork[first + i] = isNetwork ? 1 : m_isToNetwork[first + i + 1];
    }
    if (m_spec.switches.classByHop)
    {
        unsigned raised = 0;
        m_raises.resize(m_hops.size(), 0);
        for (std::size_t i = 1; i < links.size(); i++)
        {
            const bool rises = IsRaised(links[i - 1], links[i]);
            m_raises[first + i] = rises ? 1 : 0;
            raised += rises ? 1 : 0;
        }
        CheckClasses(links, raised);
    }
    return first;
}

void
PacketNetwork::Push(uint32_t packet, uint32_t link)
{
    const Packet& p = m_packets[packet];
    Queue& queue = QueueOf(link, p.trafficClass);
    Insert(packet, link, queue.packets.Last());
    queue.maxBytes = std::max(queue.maxBytes, queue.bytes);
    if (m_ports[link].isSource && p.trafficClass > 0) // control packets are not arbitrated
    {
        m_forwarded[std::size_t{link} * m_classes + p.trafficClass][p.owner]++;
    }
}

/** Inserts a packet into its queue behind @p before, as in PacketList. */
void
PacketNetwork::Insert(uint32_t packet, uint32_t link, uint32_t before)
{
    Queue& queue = QueueOf(link, m_packets[packet].trafficClass);
    queue.packets.Insert(m_packets, before, packet);
    queue.count++;
    queue.bytes += m_packets[packet].size;
    m_ports[link].backlog++;
}

/** Takes a packet out of its queue. */
void
PacketNetwork::Take(uint32_t packet, uint32_t link)
{
    Queue& queue = QueueOf(link, m_packets[packet].trafficClass);
    queue.packets.Remove(m_packets, packet);
    queue.count--;
    queue.bytes -= m_packets[packet].size;
    if (m_ports[link].backlog-- == 0)
    {
        throw std::logic_error("PacketNetwork: more packets left a port than arrived");
    }
}

/** Number of owners whose packets a source port forwards in a class, at least 1. */
std::size_t
PacketNetwork::ForwardedOwners(uint32_t link, unsigned trafficClass)
{
    return std::max<std::size_t>(1,
                                 m_forwarded[std::size_t{link} * m_classes + trafficClass].size());
}

/** Updates ForwardedOwners: a packet has left the queue of a source port. */
void
PacketNetwork::ForgetForwarded(const Packet& packet, uint32_t link)
{
    auto& owners = m_forwarded[std::size_t{link} * m_classes + packet.trafficClass];
    const auto owner = owners.find(packet.owner);
    if (owner != owners.end() && --owner->second == 0)
    {
        owners.erase(owner);
    }
}

void
PacketNetwork::Drop(uint32_t packet, uint32_t link, int64_t now)
{
    m_counters[link].drops++;
    Packet& p = m_packets[packet];
    if ((p.flags & Packet::READ) != 0)
    {
        ReturnRead(p, now);
    }
    p.nextLink = link;
    Tell(link, &PortObserver::OnDrop, p.trafficClass, p.size, Time::Picoseconds(now));
    EndsOf(p).OnLost(packet, now);
    m_packets.Free(packet);
}

/**
 * Allocates buffer space for a packet that leaves by @p link, in the device at the start of the
 * link.
 * @return false if there is none
 */
bool
PacketNetwork::Admit(uint32_t packet, uint32_t link, int64_t now)
{
    const Packet& p = m_packets[packet];
    if (p.trafficClass == 0 || p.ingress == Packet::NONE)
    {
        return true; // control packets, or packets of the device itself
    }
    Port& in = m_ports[p.ingress];
    SharedBuffer& buffer = m_buffers[in.to];
    switch (AdmissionOf(in, p.ingressClass))
    {
    case Admission::Credits:
        return true;
    case Admission::Pfc: {
        IngressAccount& account = AccountOf(p.ingress, p.ingressClass);
        const auto bit = static_cast<uint8_t>(1u << p.ingressClass);
        const bool isPausing = (in.pausing & bit) != 0;
        if (!buffer.Take(account, RoomOf(p.size), isPausing))
        {
            return false;
        }
        if (!isPausing && buffer.MustPause(account))
        {
            in.pausing |= bit;
            SendPause(p.ingress, p.ingressClass, false, now);
        }
        return true;
    }
    case Admission::Lossy: {
        if (IsFull(link, p, 0))
        {
            return false;
        }
        const int64_t size = RoomOf(p.size);
        buffer.TakeShared(size);
        // With cells of one byte, the queue's own count serves.
        LossyRoomOf(link, p.trafficClass) += m_cell == 1 ? 0 : size;
        return true;
    }
    }
    return true;
}

/**
 * Whether a packet's lossy queue lacks room for it, once a packet of @p freed bytes has left the
 * queue.
 */
bool
PacketNetwork::IsFull(uint32_t link, const Packet& packet, uint32_t freed)
{
    const int64_t limit = m_spec.switches.portQueue.Count();
    if (limit > 0)
    {
        return QueueOf(link, packet.trafficClass).bytes + packet.size - freed > limit;
    }
    const int64_t room = RoomOf(freed);
    const int64_t used = LossyRoomOf(link, packet.trafficClass) + RoomOf(packet.size) - room;
    const SharedBuffer& buffer = m_buffers[m_ports[packet.ingress].to];
    return static_cast<double>(used) > buffer.Threshold(m_spec.switches.alpha, room);
}

/** Returns the credits of a packet to the sender at the other end of @p ingress. */
void
PacketNetwork::ReturnCredits(const Packet& packet, uint32_t ingress, int64_t now)
{
    Port& in = m_ports[ingress];
    const int64_t back =
        now + m_details[ingress].latencyBack + m_spec.switches.creditDelay.ToPicoseconds();
    ForCredits(ingress,
               packet.ingressClass,
               ShapeOf(packet),
               [back](LinkCredits& credits, int64_t units) { credits.Return(units, back); });
    if (in.waitsForCredits)
    {
        in.waitsForCredits = false;
        m_events.ScheduleBy(PacketEventKind::PortReady, ingress, std::max(back, in.busyUntil));
    }
}

/** Buffer bytes of a lossy queue. */
int64_t&
PacketNetwork::LossyRoomOf(uint32_t link, unsigned trafficClass)
{
    return m_cell == 1 ? QueueOf(link, trafficClass).bytes
                       : m_lossyRoom[link * m_classes + trafficClass];
}

/** Frees the buffer space of a packet in the device that it leaves by @p link. */
void
PacketNetwork::Release(const Packet& packet, uint32_t link, int64_t now)
{
    const uint32_t ingress = packet.ingress;
    if (ingress == Packet::NONE)
    {
        return;
    }
    Port& in = m_ports[ingress];
    if (in.admission == Admission::Credits)
    {
        ReturnCredits(packet, ingress, now);
        return;
    }
    if (packet.trafficClass == 0)
    {
        return;
    }
    SharedBuffer& buffer = m_buffers[in.to];
    if (AdmissionOf(in, packet.ingressClass) == Admission::Lossy)
    {
        const int64_t room = RoomOf(packet.size);
        buffer.TakeShared(-room);
        LossyRoomOf(link, packet.trafficClass) -= m_cell == 1 ? 0 : room;
        return;
    }
    IngressAccount& account = AccountOf(ingress, packet.ingressClass);
    buffer.Give(account, RoomOf(packet.size));
    if (account.bytes < 0)
    {
        throw std::logic_error("PacketNetwork: more bytes left " +
                               m_topology.LinkName(LinkId(ingress)) + "'s account than arrived");
    }
    const auto bit = static_cast<uint8_t>(1u << packet.ingressClass);
    if ((in.pausing & bit) != 0 && buffer.MayResume(account, m_spec.switches.resumeOffset.Count()))
    {
        in.pausing &= static_cast<uint8_t>(~bit);
        SendPause(ingress, packet.ingressClass, true, now);
    }
}

/** Sends a pause or resume frame for a class to the sender at the other end of @p ingress. */
void
PacketNetwork::SendPause(uint32_t ingress, unsigned trafficClass, bool resume, int64_t now)
{
    const uint32_t link = m_details[ingress].opposite;
    const uint32_t packet = m_packets.New();
    Packet& p = m_packets[packet];
    p.kind = PacketKind::Pause;
    p.size = PAUSE_BYTES;
    p.owner = trafficClass;
    p.flags = resume ? Packet::RESUME : 0;
    // Pause frames go ahead of other packets and keep their own order.
    uint32_t before = Packet::NONE;
    uint32_t after = QueueOf(link, 0).packets.First();
    while (after != Packet::NONE && m_packets[after].kind == PacketKind::Pause)
    {
        before = after;
        after = m_packets[after].next;
    }
    Insert(packet, link, before);
    if (m_ports[link].isObserved)
    {
        TellQueue(link, 0, now);
    }
    const int64_t again = m_spec.switches.pauseTime.ToPicoseconds() / 2;
    if (!resume && !m_spec.switches.pauseTime.IsInfinite() &&
        m_events.TimeOf(PacketEventKind::Refresh, ingress) == EventWheel::NEVER)
    {
        m_events.Schedule(PacketEventKind::Refresh, ingress, now + again);
    }
    m_events.ScheduleBy(PacketEventKind::PortReady, link, std::max(now, m_ports[link].busyUntil));
}

void
PacketNetwork::OnRefresh(uint32_t link, int64_t now)
{
    for (unsigned c = 1; c < m_classes; c++)
    {
        if ((m_ports[link].pausing >> c & 1) != 0)
        {
            SendPause(link, c, false, now);
        }
    }
}

/** Handles a pause or resume frame received by @p link. */
void
PacketNetwork::OnPause(const Packet& packet, uint32_t link, int64_t now)
{
    const uint32_t paused = m_details[link].opposite;
    Port& port = m_ports[paused];
    ExpirePauses(paused, now);
    const auto bit = static_cast<uint8_t>(1u << packet.owner);
    const bool wasPaused = port.paused != 0;
    if ((packet.flags & Packet::RESUME) != 0)
    {
        port.paused &= static_cast<uint8_t>(~bit);
    }
    else
    {
        port.paused |= bit;
        m_counters[paused].pauses++;
        if (!m_spec.switches.pauseTime.IsInfinite())
        {
            m_pausedUntil[paused * m_classes + packet.owner] =
                now + m_spec.switches.pauseTime.ToPicoseconds();
        }
    }
    TellPause(paused, packet.owner, (packet.flags & Packet::RESUME) == 0, now);
    if (!wasPaused && port.paused != 0)
    {
        m_pausedSince[paused] = now;
    }
    else if (wasPaused && port.paused == 0)
    {
        m_counters[paused].paused += now - m_pausedSince[paused];
    }
    if ((packet.flags & Packet::RESUME) != 0)
    {
        m_events.ScheduleBy(PacketEventKind::PortReady, paused, std::max(now, port.busyUntil));
    }
    else if (!m_spec.switches.pauseTime.IsInfinite())
    {
        m_events.ScheduleBy(
            PacketEventKind::PortReady,
            paused,
            std::max(m_pausedUntil[paused * m_classes + packet.owner], port.busyUntil));
    }
}

/** Ends the pauses of a port that have expired. */
void
PacketNetwork::ExpirePauses(uint32_t link, int64_t now)
{
    Port& port = m_ports[link];
    if (port.paused == 0 || m_spec.switches.pauseTime.IsInfinite())
    {
        return;
    }
    int64_t last = 0;
    for (unsigned c = 1; c < m_classes; c++)
    {
        const int64_t until = m_pausedUntil[link * m_classes + c];
        if ((port.paused >> c & 1) != 0 && until <= now)
        {
            port.paused &= static_cast<uint8_t>(~(1u << c));
            last = std::max(last, until);
            TellPause(link, c, false, until);
        }
    }
    if (port.paused == 0)
    {
        m_counters[link].paused += last - m_pausedSince[link];
    }
}

PortCounters
PacketNetwork::Counters(uint32_t link) const
{
    PortCounters counters = m_counters[link];
    const Sent& sent = m_sent[link];
    counters.packets = sent.packets;
    counters.bytes = sent.bytes;
    counters.busy = sent.busy;
    counters.backlogged = sent.backlogged;
    for (unsigned c = 0; c < m_classes; c++)
    {
        const Queue& queue = m_queues[link * m_classes + c];
        counters.maxQueued = std::max(counters.maxQueued, queue.maxBytes);
        counters.marks += queue.marks;
    }
    return counters;
}

const PortCounters&
PacketNetwork::CountersAt(uint32_t link, int64_t now)
{
    ExpirePauses(link, now);
    m_counters[link] = Counters(link);
    for (unsigned c = 0; c < m_classes; c++)
    {
        QueueOf(link, c).marks = 0;
    }
    if (m_ports[link].paused != 0)
    {
        m_counters[link].paused += now - m_pausedSince[link];
        m_pausedSince[link] = now;
    }
    return m_counters[link];
}

/** The next random number of a port, uniform in [0, 1). */
double
PacketNetwork::Draw(uint32_t link)
{
    m_draws[link] += SPLIT_MIX_64_STEP;
    return static_cast<double>(SplitMix64(m_draws[link]) >> 11) * 0x1p-53;
}

/**
 * Trims the newest packet of a full queue with probability SwitchSpec::trimTail, if the arriving
 * packet then has room. The trimmed header moves to the queue of control packets, or is dropped if
 * that queue is full.
 * @return whether the arriving packet has been admitted in its stead
 */
bool
PacketNetwork::TrimTail(uint32_t packet, uint32_t link, int64_t now)
{
    const SwitchSpec& spec = m_spec.switches;
    const Packet& p = m_packets[packet];
    Queue& queue = QueueOf(link, p.trafficClass);
    if (!spec.trim || spec.trimTail == 0 || !m_ports[link].isOfSwitch || queue.packets.IsEmpty() ||
        p.kind != PacketKind::Data ||
        AdmissionOf(m_ports[p.ingress], p.ingressClass) != Admission::Lossy)
    {
        return false;
    }
    const uint32_t tail = queue.packets.Last();
    const Packet& t = m_packets[tail];
    if (t.kind != PacketKind::Data || t.ingress == Packet::NONE ||
        AdmissionOf(m_ports[t.ingress], t.ingressClass) != Admission::Lossy || t.size < p.size ||
        IsFull(link, p, t.size) || Draw(link) >= spec.trimTail)
    {
        return false;
    }
    Take(tail, link);
    Release(t, link, now);
    TrimOrDrop(tail, link, now);
    if (HasControlRoom(tail, link))
    {
        Push(tail, link);
    }
    else
    {
        Drop(tail, link, now);
    }
    if (m_ports[link].isObserved)
    {
        TellQueue(link, p.trafficClass, now);
        TellQueue(link, t.trafficClass, now);
    }
    return Admit(packet, link, now);
}

/** Trims a packet that found no room, or drops it. @return whether it remains, trimmed */
bool
PacketNetwork::TrimOrDrop(uint32_t packet, uint32_t link, int64_t now)
{
    Packet& p = m_packets[packet];
    if (!m_spec.switches.trim || p.kind != PacketKind::Data || !m_ports[link].isOfSwitch)
    {
        Drop(packet, link, now);
        return false;
    }
    p.kind = PacketKind::Trimmed;
    p.size = static_cast<uint32_t>(m_spec.format.controlSize.Count());
    p.payload = 0;
    p.trafficClass = 0;
    p.time = now; // the header need not wait for the payload
    m_counters[link].trims++;
    return true;
}

/** Whether the queue of control packets has room for a packet; true for data. */
bool
PacketNetwork::HasControlRoom(uint32_t packet, uint32_t link) const
{
    const Packet& p = m_packets[packet];
    return p.trafficClass != 0 || !m_ports[link].isOfSwitch ||
           m_queues[std::size_t{link} * m_classes].bytes + p.size <= m_controlRoom;
}

void
PacketNetwork::Enqueue(uint32_t packet, uint32_t link, int64_t now)
{
    Port& port = m_ports[link];
    if (port.paused != 0)
    {
        ExpirePauses(link, now);
    }
    if (!m_raises.empty() && m_packets[packet].trafficClass > 0)
    {
        m_packets[packet].trafficClass += m_raises[m_packets[packet].hop];
    }
    if (port.isOfGpu && m_packets[packet].ingress != Packet::NONE)
    {
        // The packet is in the memory of a relaying GPU (PXN) and continues as a packet of that
        // GPU.
        ReturnCredits(m_packets[packet], m_packets[packet].ingress, now);
        m_packets[packet].ingress = Packet::NONE;
    }
    if (!port.isUp)
    {
        const uint32_t ingress = m_packets[packet].ingress;
        if (ingress != Packet::NONE && m_ports[ingress].admission == Admission::Credits)
        {
            ReturnCredits(m_packets[packet], ingress, now);
        }
        Drop(packet, link, now);
        return;
    }
    if (!Admit(packet, link, now) && !TrimTail(packet, link, now) && !TrimOrDrop(packet, link, now))
    {
        return;
    }
    if (!HasControlRoom(packet, link))
    {
        Drop(packet, link, now);
        return;
    }
    if (m_spec.switches.markAt == MarkingPoint::Enqueue)
    {
        Packet& p = m_packets[packet];
        Mark(p, link, QueueOf(link, p.trafficClass).bytes, now);
    }
    Push(packet, link);
    if (port.isObserved)
    {
        TellQueue(link, m_packets[packet].trafficClass, now);
    }
    if (port.busyUntil >= now) // simultaneous arrivals at the end of a packet compete
    {
        if (port.backlog == 1)
        {
            m_events.ScheduleBy(PacketEventKind::PortReady, link, port.busyUntil);
        }
    }
    else if (m_events.TimeOf(PacketEventKind::PortReady, link) != now)
    {
        TransmitNext(link, now);
    }
}

void
PacketNetwork::SetSource(uint32_t link, unsigned trafficClass, bool hasPackets, int64_t now)
{
    Port& port = m_ports[link];
    const auto bit = static_cast<uint8_t>(1u << trafficClass);
    if (!hasPackets)
    {
        port.sources &= static_cast<uint8_t>(~bit);
        return;
    }
    port.sources |= bit;
    port.isSource = true;
    m_events.ScheduleBy(PacketEventKind::PortReady, link, std::max(now, port.busyUntil));
}

bool
PacketNetwork::HasCredits(uint32_t link,
                          unsigned trafficClass,
                          const PacketShape& packet,
                          int64_t now)
{
    Port& port = m_ports[link];
    if (port.admission != Admission::Credits)
    {
        return true;
    }
    int64_t time = now; // when all credits are available
    const auto look = [&time, now](LinkCredits& credits, int64_t units) {
        if (credits.Units(now) < units)
        {
            const int64_t there = credits.TimeOf(units);
            time = time == LinkCredits::UNKNOWN || there == LinkCredits::UNKNOWN
                       ? LinkCredits::UNKNOWN
                       : std::max(time, there);
        }
    };
    ForCredits(link, trafficClass, packet, look);
    if (IsRead(link, packet))
    {
        look(m_reads[link], packet.payload);
    }
    if (time == now)
    {
        return true;
    }
    port.heldBack |= static_cast<uint8_t>(1u << trafficClass);
    if (port.isObserved)
    {
        TellCreditWait(link, trafficClass, true, now);
    }
    if (time == LinkCredits::UNKNOWN)
    {
        port.waitsForCredits = true;
    }
    else
    {
        m_events.ScheduleBy(PacketEventKind::PortReady, link, time);
    }
    return false;
}

/** The next packet that the device at the start of a link generates; NONE if there is none. */
uint32_t
PacketNetwork::OwnPacket(uint32_t link, unsigned trafficClass, int64_t now)
{
    if (&EndsFor(trafficClass) == &m_ends)
    {
        return m_ends.NextPacket(link, trafficClass, now); // which checks the credits itself
    }
    const PacketShape largest{
        static_cast<uint32_t>(MaxBytes(link)), static_cast<uint32_t>(MaxPayload(link)), END};
    return HasCredits(link, trafficClass, largest, now)
               ? m_datagrams->NextPacket(link, trafficClass, now)
               : Packet::NONE;
}

/**
 * The oldest write in the queue of a PCIe port if it has credits; NONE if there is none. It passes
 * read completions that wait for theirs, which otherwise could block the writes of a node in a
 * cycle with those of other nodes (PCI Express Base Specification 3.0, 2.4.1: posted requests may
 * pass completions). Completions do not pass writes.
 */
uint32_t
PacketNetwork::PassingWrite(uint32_t link, unsigned trafficClass, int64_t now)
{
    if (!m_ports[link].isPcie)
    {
        return Packet::NONE;
    }
    uint32_t packet = QueueOf(link, trafficClass).packets.First();
    while (packet != Packet::NONE && IsToNetwork(m_packets[packet].hop))
    {
        packet = m_packets[packet].next;
    }
    return packet != Packet::NONE && HasCredits(link, trafficClass, ShapeOf(m_packets[packet]), now)
               ? packet
               : Packet::NONE;
}

/** Sends a packet of a class if one may be sent. @return its bytes; 0 if none was sent */
uint32_t
PacketNetwork::TransmitOf(uint32_t link, unsigned trafficClass, int64_t now)
{
    Port& port = m_ports[link];
    Queue& queue = QueueOf(link, trafficClass);
    const bool hasSource = (port.sources >> trafficClass & 1) != 0;
    if (queue.packets.IsEmpty() && !hasSource)
    {
        return 0;
    }
    if ((port.paused >> trafficClass & 1) != 0)
    {
        port.heldBack |= static_cast<uint8_t>(1u << trafficClass);
        if (!m_spec.switches.pauseTime.IsInfinite())
        {
            const int64_t until = m_pausedUntil[link * m_classes + trafficClass];
            m_events.ScheduleBy(PacketEventKind::PortReady, link, until);
        }
        return 0;
    }
    // A device that also forwards packets divides its bytes evenly among the owners of forwarded
    // packets and its own senders, as an adapter that reads for all of them.
    const bool hasBoth = hasSource && !queue.packets.IsEmpty();
    int64_t& lead = m_details[link].ownLead;
    uint32_t packet = Packet::NONE;
    if (hasSource && (!hasBoth || lead <= 0))
    {
        packet = OwnPacket(link, trafficClass, now);
        if (hasBoth && packet != Packet::NONE)
        {
            lead +=
                static_cast<int64_t>(m_packets[packet].size * ForwardedOwners(link, trafficClass));
        }
    }
    if (packet == Packet::NONE)
    {
        if (queue.packets.IsEmpty())
        {
            return 0;
        }
        packet = queue.packets.First();
        if (m_packets[packet].kind != PacketKind::Pause &&
            !HasCredits(link, trafficClass, ShapeOf(m_packets[packet]), now))
        {
            packet = PassingWrite(link, trafficClass, now);
            if (packet == Packet::NONE)
            {
                return 0;
            }
        }
        Take(packet, link);
        if (hasBoth)
        {
            lead -= static_cast<int64_t>(m_packets[packet].size *
                                         EndsFor(trafficClass).Waiting(link, trafficClass));
        }
        if (port.isSource && trafficClass > 0)
        {
            ForgetForwarded(m_packets[packet], link);
        }
        Release(m_packets[packet], link, now);
    }
    if (port.uncredited != 0)
    {
        TellCreditWait(link, trafficClass, false, now);
    }
    const uint32_t size = m_packets[packet].size;
    Transmit(packet, link, now);
    return size;
}

/**
 * Whether a switch port has sent so many consecutive control packets that data is served next;
 * pauses are exempt.
 */
bool
PacketNetwork::MustServeData(uint32_t link) const
{
    const Port& port = m_ports[link];
    const Queue& control = m_queues[std::size_t{link} * m_classes];
    return m_details[link].controlRun >= m_controlRun && port.isOfSwitch &&
           port.backlog > control.count &&
           (control.count == 0 || m_packets[control.packets.First()].kind != PacketKind::Pause);
}

/** Sends a packet of the data class that the arbiter selects. @return whether one was sent */
bool
PacketNetwork::TransmitData(uint32_t link, int64_t now)
{
    constexpr unsigned ONE_CLASS = 2; // one data class and the control class
    if (m_classes == ONE_CLASS)
    {
        return TransmitOf(link, 1, now) > 0;
    }
    return m_arbiter.Serve(m_details[link].turn,
                           [&](unsigned c) { return TransmitOf(link, c, now); });
}

void
PacketNetwork::TransmitNext(uint32_t link, int64_t now)
{
    Port& port = m_ports[link];
    if (port.busyUntil > now)
    {
        m_events.ScheduleBy(PacketEventKind::PortReady, link, port.busyUntil);
        return;
    }
    if (!port.isUp || port.isStopped)
    {
        return;
    }
    if (port.paused != 0)
    {
        ExpirePauses(link, now);
    }
    const bool isData = m_controlRun > 0 && MustServeData(link) && TransmitData(link, now);
    const bool isControl = !isData && TransmitOf(link, 0, now) > 0;
    const bool isSent = isData || isControl || TransmitData(link, now);
    if (m_controlRun > 0)
    {
        const bool isWaiting = isControl && port.backlog > QueueOf(link, 0).count;
        uint32_t& run = m_details[link].controlRun;
        run = isWaiting ? run + 1 : 0;
    }
    if (isSent && (port.backlog > 0 || port.sources != 0))
    {
        m_events.ScheduleBy(PacketEventKind::PortReady, link, port.busyUntil);
    }
}

/** Marks a packet (ECN) by the @p queued bytes of its queue. */
void
PacketNetwork::Mark(Packet& packet, uint32_t link, int64_t queued, int64_t now)
{
    const SwitchSpec& spec = m_spec.switches;
    if (!spec.marks || !m_ports[link].isOfSwitch || packet.kind > PacketKind::Datagram ||
        (packet.flags & Packet::NOT_ECN_CAPABLE) != 0 || queued == 0)
    {
        return;
    }
    if (spec.markRoots && (m_ports[link].heldBack >> packet.trafficClass & 1) != 0)
    {
        return;
    }
    const double scale =
        spec.markRate > Rate() ? WireRate(link) / spec.markRate.ToBytesPerSecond() : 1;
    const double from = spec.markFrom.ToDouble() * scale;
    const double all = spec.markAll.ToDouble() * scale;
    const double bytes = static_cast<double>(queued) / m_ports[link].share;
    if (bytes <= from)
    {
        return;
    }
    if (bytes <= all)
    {
        const double probability = spec.markProbability * (bytes - from) / (all - from);
        if (Draw(link) >= probability)
        {
            return;
        }
    }
    packet.flags |= Packet::MARKED;
    if (++QueueOf(link, packet.trafficClass).marks == 0) // overflow: 2^32 marks
    {
        m_counters[link].marks += uint64_t{1} << 32;
    }
    Tell(link, &PortObserver::OnMark, packet.trafficClass, Time::Picoseconds(now));
}

/** Appends the telemetry of the port to a packet that leaves it. */
void
PacketNetwork::Stamp(uint32_t packet, uint32_t link, int64_t now)
{
    Telemetry& telemetry = m_packets.GetTelemetry(packet);
    if (telemetry.count < Telemetry::MAX_HOPS)
    {
        Telemetry::Hop& hop = telemetry.hops[telemetry.count++];
        hop.time = now;
        hop.rate = 1e12 / m_ports[link].psPerByte; // of the packets' share of the link
        hop.sentBytes = m_sent[link].bytes;
        const unsigned trafficClass = m_packets[packet].trafficClass;
        hop.queueBytes = static_cast<uint32_t>(QueueOf(link, trafficClass).bytes);
        hop.link = link;
    }
}

void
PacketNetwork::Transmit(uint32_t packet, uint32_t link, int64_t now)
{
    Port& port = m_ports[link];
    Packet& p = m_packets[packet];
    if (port.admission == Admission::Credits && p.kind != PacketKind::Pause)
    {
        const PacketShape shape = ShapeOf(p);
        ForCredits(link, p.trafficClass, shape, [](LinkCredits& credits, int64_t units) {
            credits.Take(units);
        });
        if (p.ingress == Packet::NONE && IsRead(link, shape))
        {
            p.flags |= Packet::READ;
            m_reads[link].Take(p.payload);
        }
    }
    if (p.kind <= PacketKind::Datagram)
    {
        if (m_spec.switches.markAt == MarkingPoint::Dequeue)
        {
            Mark(p, link, QueueOf(link, p.trafficClass).bytes, now);
        }
        if ((p.flags & Packet::TELEMETRY) != 0 && port.isOfSwitch)
        {
            Stamp(packet, link, now);
        }
    }
    port.heldBack &= static_cast<uint8_t>(~(1u << p.trafficClass));
    const int64_t sent = now + TransmissionTime(link, p.size, p.payload);
    const int64_t end = p.ingress == Packet::NONE ? sent : std::max(sent, p.time);
    Sent& counters = m_sent[link];
    m_usedPorts += counters.packets++ == 0 ? 1 : 0;
    counters.bytes += BytesOf(link, p.size, p.payload);
    counters.busy += end - now;
    counters.backlogged += port.backlog > 0 ? end - now : 0;
    port.busyUntil = end;
    if (port.isObserved)
    {
        Tell(link,
             &PortObserver::OnTransmit,
             p.trafficClass,
             BytesOf(link, p.size, p.payload),
             Time::Picoseconds(now),
             Time::Picoseconds(end));
        TellQueue(link, p.trafficClass, now);
    }
    p.time = end + port.latency;
    p.ingress = link;
    p.ingressClass = p.trafficClass;
    if (p.kind != PacketKind::Pause)
    {
        p.nextLink = m_hops[++p.hop];
    }
    const int64_t time = WholeAt(p, link);
    if (port.wire.IsEmpty())
    {
        m_events.Schedule(PacketEventKind::Arrival, link, time);
    }
    else
    {
        m_packets[port.wire.Last()].nextTime = time;
    }
    port.wire.Push(m_packets, packet);
}

/**
 * When a packet on @p link may be handled at its end, ps; with cut-through, once its header has
 * arrived.
 */
int64_t
PacketNetwork::WholeAt(const Packet& packet, uint32_t link) const
{
    if (packet.kind == PacketKind::Pause || packet.nextLink == END ||
        m_ports[packet.nextLink].isOfGpu ||
        !CutsThrough(m_ports[link].psPerByte, m_ports[packet.nextLink].psPerByte))
    {
        return packet.time;
    }
    const auto header = m_spec.format.header.value_or(0);
    const uint32_t rest = packet.size > header ? packet.size - header : 0;
    return packet.time - TransmissionTime(link, rest, rest);
}

uint32_t
PacketNetwork::FirstQueued(uint32_t link) const
{
    uint32_t packet = Packet::NONE;
    for (unsigned c = 0; c < m_classes && packet == Packet::NONE; c++)
    {
        packet = m_queues[std::size_t{link} * m_classes + c].packets.First();
    }
    return packet;
}

void
PacketNetwork::Prefetch()
{
    const std::size_t count = m_events.DueCount();
    if (count < MIN_PREFETCHED || m_usedPorts < MIN_PREFETCHED_PORTS)
    {
        return;
    }
    m_soon.clear();
    for (std::size_t i = 0; i < count; i++)
    {
        const EventWheel::Event event = m_events.DueAt(i);
        const bool isArrival = event.kind == PacketEventKind::Arrival;
        if (isArrival || event.kind == PacketEventKind::PortReady)
        {
            m_soon.push_back({event.number, isArrival});
        }
    }
    // Each pass prefetches what the pointers fetched by the previous pass lead to.
    const auto fetch = [](const void* memory) { __builtin_prefetch(memory); };
    const PacketPool& packets = m_packets;
    for (const Upcoming& event : m_soon)
    {
        fetch(&m_ports[event.link]);
        if (!event.isArrival)
        {
            fetch(&m_queues[std::size_t{event.link} * m_classes]);
            fetch(&m_sent[event.link]);
        }
    }
    for (Upcoming& event : m_soon)
    {
        const Port& port = m_ports[event.link];
        event.packet = event.isArrival ? port.wire.First() : FirstQueued(event.link);
        if (event.packet != Packet::NONE)
        {
            fetch(&packets[event.packet]);
        }
        else if (port.sources != 0)
        {
            constexpr unsigned LIKELIEST = 1; // class; the default class of flows
            m_ends.PrefetchNext(event.link, LIKELIEST);
        }
        if (!event.isArrival && !port.wire.IsEmpty())
        {
            fetch(&packets[port.wire.Last()]);
        }
    }
    for (const Upcoming& event : m_soon)
    {
        if (event.packet == Packet::NONE)
        {
            continue;
        }
        const Packet& p = packets[event.packet];
        const uint32_t ingress = event.isArrival ? event.link : p.ingress;
        const uint32_t other = event.isArrival ? p.nextLink : p.ingress;
        if (other < m_ports.size())
        {
            fetch(&m_ports[other]);
            fetch(&m_hops[p.hop]);
            if (event.isArrival)
            {
                fetch(&m_queues[std::size_t{other} * m_classes]);
            }
            if (p.trafficClass > 0)
            {
                fetch(&m_accounts[std::size_t{ingress} * (m_classes - 1)]);
            }
        }
        else if (event.isArrival && p.kind != PacketKind::Pause)
        {
            EndsOf(p).Prefetch(p);
        }
    }
    for (const Upcoming& event : m_soon)
    {
        if (!event.isArrival || event.packet == Packet::NONE)
        {
            continue;
        }
        const Packet& p = packets[event.packet];
        if (p.nextLink < m_ports.size())
        {
            const Port& port = m_ports[p.nextLink];
            const Queue& queue = m_queues[std::size_t{p.nextLink} * m_classes + p.trafficClass];
            const uint32_t last = port.backlog > 0 ? queue.packets.Last() : port.wire.Last();
            fetch(&m_sent[p.nextLink]);
            if (last != Packet::NONE)
            {
                fetch(&packets[last]);
            }
        }
    }
}

void
PacketNetwork::OnArrival(uint32_t link, int64_t now)
{
    Port& port = m_ports[link];
    const uint32_t packet = port.wire.Pop(m_packets);
    Packet& p = m_packets[packet];
    if (!port.wire.IsEmpty())
    {
        m_events.Schedule(PacketEventKind::Arrival, link, std::max(now, p.nextTime));
    }
    if ((p.flags & Packet::READ) != 0 && p.nextLink != END && m_ports[p.nextLink].isNetwork)
    {
        ReturnRead(p, now);
    }
    if (port.isLossy && CanBeLost(p) && Draw(link) < m_details[link].loss)
    {
        Lose(packet, link, true, now);
        return;
    }
    if (p.kind == PacketKind::Pause)
    {
        OnPause(p, link, now);
        m_packets.Free(packet);
        return;
    }
    if (p.nextLink == END)
    {
        if (port.admission == Admission::Credits)
        {
            ReturnCredits(p, link, now);
        }
        EndsOf(p).OnPacket(packet, now);
        m_packets.Free(packet);
        return;
    }
    Enqueue(packet, p.nextLink, now);
}

void
PacketNetwork::SetRate(uint32_t link, Rate rate, int64_t now)
{
    SetWireRate(link, rate);
    m_events.ScheduleBy(PacketEventKind::PortReady, link, std::max(now, m_ports[link].busyUntil));
}

void
PacketNetwork::SetLoss(uint32_t link, double part)
{
    m_ports[link].isLossy = part > 0;
    m_details[link].loss = part;
}

/** Loses a packet on the wire of a link, or in its queues. */
void
PacketNetwork::Lose(uint32_t packet, uint32_t link, bool isOnWire, int64_t now)
{
    const Packet& p = m_packets[packet];
    if (p.kind == PacketKind::Pause)
    {
        m_packets.Free(packet);
        return;
    }
    if (!isOnWire)
    {
        Release(p, link, now);
    }
    else if (m_ports[link].admission == Admission::Credits)
    {
        ReturnCredits(p, link, now);
    }
    Drop(packet, link, now);
}

void
PacketNetwork::SetUp(uint32_t link, bool up, int64_t now)
{
    Port& port = m_ports[link];
    if (port.isUp == up)
    {
        return;
    }
    port.isUp = up;
    if (up)
    {
        CountersAt(link, now); // ends its pause
        for (unsigned c = 1; c < m_classes && port.paused != 0; c++)
        {
            if ((port.paused >> c & 1) != 0)
            {
                TellPause(link, c, false, now);
            }
        }
        port.paused = 0;
        m_events.ScheduleBy(PacketEventKind::PortReady, link, std::max(now, port.busyUntil));
        return;
    }
    ExpirePauses(link, now);
    m_events.Cancel(PacketEventKind::Arrival, link);
    while (!port.wire.IsEmpty())
    {
        Lose(port.wire.Pop(m_packets), link, true, now);
    }
    port.backlog = 0;
    for (unsigned c = 0; c < m_classes; c++)
    {
        Queue& queue = QueueOf(link, c);
        queue.count = 0;
        queue.bytes = 0;
        while (!queue.packets.IsEmpty())
        {
            const uint32_t packet = queue.packets.Pop(m_packets);
            if (port.isSource && c > 0)
            {
                ForgetForwarded(m_packets[packet], link);
            }
            Lose(packet, link, false, now);
        }
        if (port.isObserved)
        {
            TellQueue(link, c, now);
            TellCreditWait(link, c, false, now);
        }
    }
    port.pausing = 0; // the sender clears its pauses when the link comes up
}

int64_t
PacketNetwork::QueuedBytes(uint32_t link) const
{
    int64_t bytes = 0;
    for (unsigned c = 0; c < m_classes; c++)
    {
        bytes += m_queues[link * m_classes + c].bytes;
    }
    return bytes;
}

uint64_t
PacketNetwork::CountIn(const PacketList& list) const
{
    uint64_t count = 0;
    for (uint32_t packet = list.First(); packet != Packet::NONE; packet = m_packets[packet].next)
    {
        count++;
    }
    return count;
}

uint64_t
PacketNetwork::CountHeld() const
{
    uint64_t held = 0;
    for (uint32_t link = 0; link < m_ports.size(); link++)
    {
        uint64_t queued = 0;
        for (unsigned c = 0; c < m_classes; c++)
        {
            queued += CountIn(m_queues[link * m_classes + c].packets);
        }
        if (queued != m_ports[link].backlog)
        {
            throw std::logic_error("PacketNetwork: found " + std::to_string(queued) +
                                   " packets at " + m_topology.LinkName(LinkId(link)) +
                                   ", expected " + std::to_string(m_ports[link].backlog));
        }
        held += queued + CountIn(m_ports[link].wire);
    }
    return held;
}

std::vector<LinkId>
PacketNetwork::FindDeadlock() const
{
    // A vertex is a class of a port. An edge leads from a waiting vertex to each vertex at the
    // other end that holds packets received from it, since these must leave before it may send.
    const std::size_t count = m_ports.size() * m_classes;
    std::vector<std::vector<std::size_t>> holders(count);
    for (std::size_t vertex = 0; vertex < count; vertex++)
    {
        for (uint32_t packet = m_queues[vertex].packets.First(); packet != Packet::NONE;
             packet = m_packets[packet].next)
        {
            const Packet& p = m_packets[packet];
            if (p.ingress != Packet::NONE && p.ingressClass > 0 &&
                AdmissionOf(m_ports[p.ingress], p.ingressClass) != Admission::Lossy)
            {
                holders[p.ingress * m_classes + p.ingressClass].push_back(vertex);
            }
        }
    }
    const auto waits = [this](std::size_t vertex) {
        const Port& port = m_ports[vertex / m_classes];
        const std::size_t trafficClass = vertex % m_classes;
        return (port.paused >> trafficClass & 1) != 0 ||
               (port.waitsForCredits && (port.heldBack >> trafficClass & 1) != 0);
    };
    enum class Mark : uint8_t
    {
        New,
        OnPath,
        Done
    };
    std::vector<Mark> marks(count, Mark::New);
    for (std::size_t start = 0; start < count; start++)
    {
        if (marks[start] != Mark::New || !waits(start))
        {
            continue;
        }
        std::vector<std::pair<std::size_t, std::size_t>> path{{start, 0}}; // vertex, next holder
        marks[start] = Mark::OnPath;
        while (!path.empty())
        {
            auto& [vertex, at] = path.back();
            if (at == holders[vertex].size())
            {
                marks[vertex] = Mark::Done;
                path.pop_back();
                continue;
            }
            const std::size_t next = holders[vertex][at++];
            if (!waits(next) || marks[next] == Mark::Done)
            {
                continue;
            }
            if (marks[next] == Mark::OnPath)
            {
                std::vector<LinkId> cycle;
                std::size_t i = path.size();
                do
                {
                    i--;
                    cycle.insert(cycle.begin(), LinkId(path[i].first / m_classes));
                } while (path[i].first != next);
                return cycle;
            }
            marks[next] = Mark::OnPath;
            path.emplace_back(next, 0);
        }
    }
    return {};
}

} // namespace weir
