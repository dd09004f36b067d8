// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/packet/queue-pairs.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace weir
{

namespace
{

// Encoding of an ACK number: the next packet expected, and the offset from it to a later packet
// that has just arrived; with a bitmap, to the highest packet reported (PacketNotes::came).
constexpr unsigned NEXT_BITS = 48;
constexpr uint64_t NEXT_MASK = (uint64_t{1} << NEXT_BITS) - 1;
constexpr uint64_t MAX_BEHIND = 0xffff; //!< 0: none
constexpr unsigned ACK_BITS = 64;       //!< see QueuePairSpec::ackBitmap

constexpr std::size_t CACHE_LINE = 64;

constexpr uint64_t NEVER_NACKED = ~uint64_t{0}; //!< see QueuePairs::Pair::nacked

/** Unused grants of credit from which on a sender reports that it is sated. */
constexpr double EXCESS_CREDIT_GRANTS = 2;

uint64_t
AckNumber(uint64_t next, uint64_t came)
{
    const uint64_t behind = came > next && came - next <= MAX_BEHIND ? came - next : 0;
    return next | behind << NEXT_BITS;
}

} // namespace

QueuePairs::QueuePairs(const PacketSpec& spec,
                       EventWheel& events,
                       PacketPool& packets,
                       MessageClient& client)
    : m_spec(spec),
      m_events(events),
      m_packets(packets),
      m_client(client),
      m_notificationInterval(spec.congestionControl->NotificationInterval()),
      m_wantsTelemetry(spec.congestionControl->WantsTelemetry()),
      m_creditPackets(spec.congestionControl->CreditPackets()),
      m_ackBitmap(spec.queuePair.ackBitmap && spec.queuePair.recovery == LossRecovery::Selective),
      m_notesPaths(spec.queuePair.pathChoice != PathChoice::RoundRobin),
      m_sendsWithin(spec.congestionControl->SendsWithinWindow()),
      m_hasPortTimers(spec.queuePair.paceTimer == PaceTimer::Port),
      m_header(spec.format.header.value_or(0) + spec.congestionControl->HeaderBytes())
{
}

void
QueuePairs::SetNetwork(PacketNetwork& network)
{
    m_network = &network;
    m_portQueues.resize(network.Links() * network.Classes());
    if (m_creditPackets > 0)
    {
        m_creditClocks.resize(network.Links());
        m_events.Reserve(PacketEventKind::Credit, network.Links());
    }
}

uint32_t
QueuePairs::Open(std::vector<Path> paths, const ConnectionFacts& facts, uint8_t trafficClass)
{
    const uint32_t id = Add(std::move(paths), facts, trafficClass);
    m_pairs[id]->control = m_spec.congestionControl->Open(facts);
    m_pairs[id]->credit = m_creditPackets > 0 ? 0 : m_pairs[id]->credit;
    return id;
}

uint32_t
QueuePairs::OpenLink(uint32_t hop, const ConnectionFacts& facts, uint8_t trafficClass)
{
    const uint32_t id = Add({{hop, PacketNetwork::END}}, facts, trafficClass);
    m_pairs[id]->control = std::make_unique<SenderControl>(facts.lineRate);
    m_pairs[id]->isLink = true;
    return id;
}

/** Adds a queue pair without congestion control. */
uint32_t
QueuePairs::Add(std::vector<Path> paths, const ConnectionFacts& facts, uint8_t trafficClass)
{
    const auto id = static_cast<uint32_t>(m_pairs.size());
    m_pairs.push_back(std::make_unique<Pair>());
    Pair& pair = *m_pairs.back();
    pair.paths = std::move(paths);
    pair.facts = facts;
    pair.link = m_network->HopAt(pair.paths.front().forward);
    pair.trafficClass = trafficClass;
    pair.cap = std::numeric_limits<double>::infinity();
    m_events.Reserve(PacketEventKind::Timer, m_pairs.size());
    m_events.Reserve(PacketEventKind::Pace, m_pairs.size());
    return id;
}

void
QueuePairs::SetPaths(uint32_t id, std::vector<Path> paths, int64_t now)
{
    Pair& pair = *m_pairs[id];
    if (paths.empty())
    {
        pair.paths.clear();
        return;
    }
    const bool wasStalled = pair.paths.empty();
    const uint32_t link = m_network->HopAt(paths.front().forward);
    pair.paths = std::move(paths);
    pair.pathSelector = SprayPathSelector();
    if (pair.state == State::Queued && link != pair.link)
    {
        const std::size_t index = PortQueueIndex(pair.link, pair.trafficClass);
        Leave(m_portQueues[index], id); // a failed port serves no queue pair
        if (m_portQueues[index].waiting.empty() && index != m_asking)
        {
            m_network->SetSource(pair.link, pair.trafficClass, false, now);
        }
        if (m_portQueues[index].timer != EventWheel::NEVER && m_portQueues[index].timed == id)
        {
            m_events.Cancel(PacketEventKind::Pace, id);
            m_portQueues[index].timer = EventWheel::NEVER;
            WakePort(pair.link, pair.trafficClass, now);
        }
        pair.link = link;
        JoinPortQueue(id, now);
        Resume(id, now); // with port timers it may need credit
        return;
    }
    pair.link = link;
    if (wasStalled)
    {
        pair.state = pair.state == State::Stalled ? State::Idle : pair.state;
        Resume(id, now);
        WakePort(link, pair.trafficClass, now);
    }
}

/** Whether window and credit allow another packet. */
bool
QueuePairs::MaySend(Pair& pair) const
{
    if (pair.credit <= 0 && NextPayload(pair) > 0) // an empty packet needs no credit
    {
        return false;
    }
    const auto inFlight = static_cast<double>(pair.inFlight);
    if (!m_sendsWithin || pair.isLink || pair.inFlight == 0)
    {
        return inFlight < WindowOf(pair);
    }
    return inFlight + NextPayload(pair) <= WindowOf(pair);
}

/** Payload bytes of the next packet; those of a full one if there is none yet. */
uint32_t
QueuePairs::NextPayload(Pair& pair)
{
    const uint64_t next = pair.again.empty() ? pair.next : pair.again.back();
    return next < pair.messages.End() ? pair.messages.PayloadOf(next) : pair.facts.mtu;
}

/** Whether packets await acknowledgment, an empty one included, which adds nothing to inFlight. */
bool
QueuePairs::AwaitsAcknowledgment(const Pair& pair)
{
    const bool isFirstMissingSent = pair.again.empty() || pair.again.back() > pair.acked;
    return pair.inFlight > 0 || (pair.acked < pair.next && isFirstMissingSent);
}

/** Lets a sender without packets in flight send before its receiver grants credit. */
void
QueuePairs::Speculate(Pair& pair)
{
    if (m_creditPackets > 0 && !pair.isLink && pair.inFlight == 0)
    {
        pair.speculates = true;
        pair.credit = m_spec.congestionControl->StartCredit(pair.facts);
        pair.expectedBytes = 0;
    }
}

/** Ends speculation at the first answer of the receiver; unused speculative credit is lost. */
void
QueuePairs::StopSpeculating(Pair& pair)
{
    if (pair.speculates)
    {
        pair.speculates = false;
        pair.credit = 0;
    }
}

/** Requests credit from the receiver if no data in flight will do so. */
void
QueuePairs::RequestCredit(uint32_t id, int64_t now)
{
    Pair& pair = *m_pairs[id];
    if (pair.inFlight > 0 || pair.credit > 0 || pair.hasRequested || pair.paths.empty())
    {
        return;
    }
    pair.hasRequested = true;
    pair.progress = now;
    const uint32_t request = NewControlPacket(PacketKind::Request, id);
    m_packets[request].hop = pair.paths.front().forward;
    m_network->Send(request, now);
    ScheduleTimer(id, now);
}

/** Reports the arrival of a packet to the credit control of the receiving port. */
void
QueuePairs::NoteArrival(Pair& pair, const Packet& packet, int64_t now)
{
    pair.isSated = (packet.flags & Packet::SATED) != 0;
    CreditClock& clock = m_creditClocks[pair.facts.receiverLink];
    if (!clock.control)
    {
        clock.control = m_spec.congestionControl->OpenReceiver(pair.facts.receiverRate);
    }
    Arrival arrival;
    arrival.now = Time::Picoseconds(now);
    arrival.baseRtt = pair.facts.baseRtt;
    arrival.bytes = packet.size;
    arrival.isTrimmed = packet.kind == PacketKind::Trimmed;
    clock.control->OnArrival(arrival);
}

/**
 * Bytes that a receiver expects beyond those already granted. Zero for a sated sender, which has
 * unused credit, for instance because it also sends to other receivers.
 */
double
QueuePairs::MissingCredit(const Pair& pair) const
{
    return pair.isSated
               ? 0
               : static_cast<double>(pair.posted - pair.receivedBytes) - pair.expectedBytes;
}

/** @p bytes have arrived, whole or trimmed, so the sender may be granted more. */
void
QueuePairs::AskCredit(uint32_t id, uint32_t bytes, int64_t now)
{
    Pair& pair = *m_pairs[id];
    pair.expectedBytes = std::max(0.0, pair.expectedBytes - bytes);
    if (pair.asksCredit || MissingCredit(pair) <= 0)
    {
        return;
    }
    pair.asksCredit = true;
    CreditClock& clock = m_creditClocks[pair.facts.receiverLink];
    clock.asking.push_back(id);
    m_events.ScheduleBy(
        PacketEventKind::Credit, pair.facts.receiverLink, std::max(now, clock.next));
}

void
QueuePairs::OnCreditClock(uint32_t link, int64_t now)
{
    CreditClock& clock = m_creditClocks[link];
    while (!clock.asking.empty())
    {
        const uint32_t id = clock.asking.front();
        Pair& pair = *m_pairs[id];
        clock.asking.pop_front();
        const double mtu = pair.facts.mtu;
        const double bytes = std::min(MissingCredit(pair), m_creditPackets * mtu);
        pair.asksCredit = bytes > 0;
        if (!pair.asksCredit)
        {
            continue; // its bytes have arrived in the meantime
        }
        pair.expectedBytes += bytes;
        pair.asksCredit = MissingCredit(pair) > 0;
        if (pair.asksCredit)
        {
            clock.asking.push_back(id);
        }
        const double wire = bytes + std::ceil(bytes / mtu) * pair.facts.header;
        const double rate = clock.control ? clock.control->Rate() : pair.facts.receiverRate;
        clock.next = now + static_cast<int64_t>(wire / rate * 1e12 + 0.5);
        const uint32_t credit = NewControlPacket(PacketKind::Credit, id);
        m_packets[credit].number = static_cast<uint64_t>(bytes);
        if (!clock.asking.empty())
        {
            m_events.Schedule(PacketEventKind::Credit, link, clock.next);
        }
        SendBack(credit, now);
        return;
    }
}

double
QueuePairs::WindowOf(const Pair& pair) const
{
    const double window = pair.control->Window();
    const double min = m_spec.queuePair.window.ToDouble();
    return min > 0 ? std::min(window, min) : window;
}

/** Earliest send time of the next packet by pace and available bytes, ps. */
int64_t
QueuePairs::SendTime(Pair& pair) const
{
    if (std::isinf(pair.cap) || pair.next < pair.highest || !pair.again.empty() ||
        pair.next == pair.messages.End()) // withdrawn or acknowledged in the meantime
    {
        return pair.nextSend;
    }
    const double bytes = pair.messages.PayloadOf(pair.next);
    return std::max(pair.nextSend,
                    pair.producedAt + static_cast<int64_t>(bytes / pair.cap * 1e12 + 0.5));
}

bool
QueuePairs::AppendLevels(std::vector<double>& levels) const
{
    for (const std::unique_ptr<Pair>& pair : m_pairs)
    {
        if (!pair->control->NextTimer().IsInfinite() || !pair->control->HasSettled())
        {
            return false;
        }
        levels.push_back(pair->control->PacingRate());
        levels.push_back(pair->control->Window());
    }
    return true;
}

double
QueuePairs::RateOf(uint32_t id) const
{
    const Pair& pair = *m_pairs[id];
    return std::min(pair.control->PacingRate(), pair.cap);
}

/** Time from the last packet to the next one at the current rate, ps. */
int64_t
QueuePairs::GapOf(const Pair& pair) const
{
    return m_spec.WholeTime(pair.lastSize * 1e12 / pair.control->PacingRate());
}

void
QueuePairs::Post(uint32_t id, uint32_t message, int64_t bytes, int64_t now)
{
    Pair& pair = *m_pairs[id];
    const bool wasIdle = !HasPackets(pair);
    const bool isInside = pair.facts.isInside;
    const uint32_t mtu = isInside ? m_spec.nodeLinks.BurstOf(bytes) : pair.facts.mtu;
    pair.messages.Post(message, bytes, mtu);
    pair.posted += bytes;
    if (wasIdle)
    {
        Speculate(pair);
        pair.nextSend = std::max(pair.nextSend, now);
        pair.producedAt = std::max(pair.producedAt, now);
    }
    Resume(id, now);
}

void
QueuePairs::Withdraw(uint32_t id, uint32_t message, int64_t now)
{
    Pair& pair = *m_pairs[id];
    pair.posted -= pair.messages.Cut(message, pair.highest);
    Deliver(pair, now);
    PopAcknowledged(pair, now);
}

int64_t
QueuePairs::BytesLeft(uint32_t id, uint32_t message) const
{
    return m_pairs[id]->messages.BytesLeft(message, m_pairs[id]->expected);
}

bool
QueuePairs::IsMoving(uint32_t id, uint32_t message) const
{
    return m_pairs[id]->messages.IsMoving(message, m_pairs[id]->highest);
}

bool
QueuePairs::HasUnsent(uint32_t id, uint32_t message) const
{
    return m_pairs[id]->messages.HasUnsent(message, m_pairs[id]->highest);
}

void
QueuePairs::SetBytesLeft(uint32_t id, uint32_t message, int64_t left, int64_t now)
{
    Pair& pair = *m_pairs[id];
    const int64_t before = pair.messages.BytesLeft(message, pair.expected);
    pair.messages.SetBytesLeft(message, pair.expected, pair.highest, left);
    pair.posted += pair.messages.BytesLeft(message, pair.expected) - before;
    Deliver(pair, now);
    PopAcknowledged(pair, now);
    Resume(id, now);
}

/** Determines the next state of a sender that is idle or waited for its window. */
void
QueuePairs::Resume(uint32_t id, int64_t now)
{
    Pair& pair = *m_pairs[id];
    if (pair.state == State::Queued || pair.state == State::Pacing)
    {
        if (m_hasPortTimers && HasPackets(pair) && !MaySend(pair))
        {
            RequestCredit(id, now); // it stays queued without window or credit
        }
        return;
    }
    if (!HasPackets(pair))
    {
        pair.state = State::Idle;
        return;
    }
    if (pair.paths.empty())
    {
        pair.state = State::Stalled;
        return;
    }
    if (!MaySend(pair))
    {
        RequestCredit(id, now);
        if (!m_hasPortTimers)
        {
            pair.state = State::Windowed;
            return;
        }
    }
    const int64_t time = SendTime(pair);
    if (time > now && !m_hasPortTimers)
    {
        pair.state = State::Pacing;
        m_events.Schedule(PacketEventKind::Pace, id, time);
        return;
    }
    JoinPortQueue(id, now);
}

void
QueuePairs::JoinPortQueue(uint32_t id, int64_t now)
{
    Pair& pair = *m_pairs[id];
    pair.state = State::Queued;
    const std::size_t index = PortQueueIndex(pair.link, pair.trafficClass);
    std::vector<uint32_t>& waiting = m_portQueues[index].waiting;
    const auto at = std::lower_bound(waiting.begin(), waiting.end(), id);
    if (at == waiting.end() || *at != id)
    {
        waiting.insert(at, id);
        m_portQueues[index].bursts += pair.facts.isInside ? 1 : 0;
        if ((waiting.size() == 1 || m_hasPortTimers) && index != m_asking)
        {
            m_network->SetSource(pair.link, pair.trafficClass, true, now);
        }
    }
}

/** Removes a queue pair from the waiting queue pairs of a port. */
void
QueuePairs::Leave(PortQueue& queue, uint32_t id)
{
    const auto position = std::lower_bound(queue.waiting.begin(), queue.waiting.end(), id);
    if (position != queue.waiting.end() && *position == id)
    {
        queue.waiting.erase(position);
        queue.bursts -= m_pairs[id]->facts.isInside ? 1 : 0;
    }
}

/** PaceTimer::Port: lets the port check which queue pairs may send now. */
void
QueuePairs::WakePort(uint32_t link, unsigned trafficClass, int64_t now)
{
    const std::size_t index = PortQueueIndex(link, trafficClass);
    if (m_hasPortTimers && index != m_asking && !m_portQueues[index].waiting.empty())
    {
        m_network->SetSource(link, trafficClass, true, now);
    }
}

/**
 * The queue pair served after @p last. Ports serve queue pairs round robin by packet; where
 * node-internal bursts and network packets share a port, by the bytes of a burst.
 */
uint32_t
QueuePairs::NextRoundRobin(const PortQueue& queue, uint32_t last) const
{
    const std::vector<uint32_t>& waiting = queue.waiting;
    const int64_t quantum = queue.bursts > 0 ? m_spec.nodeLinks.burst.Count() : 0;
    if (last == queue.last && queue.sent < quantum &&
        std::binary_search(waiting.begin(), waiting.end(), last))
    {
        return last;
    }
    const auto next = std::upper_bound(waiting.begin(), waiting.end(), last);
    return next == waiting.end() ? waiting.front() : *next;
}

/**
 * The next queue pair in round-robin order that may send at once or has nothing to send; NONE if
 * all must wait.
 */
uint32_t
QueuePairs::NextReady(const PortQueue& queue, int64_t now) const
{
    const std::vector<uint32_t>& waiting = queue.waiting;
    const auto first = std::upper_bound(waiting.begin(), waiting.end(), queue.last);
    const auto start = static_cast<std::size_t>(first - waiting.begin());
    for (std::size_t i = 0; i < waiting.size(); i++)
    {
        const uint32_t id = waiting[(start + i) % waiting.size()];
        Pair& pair = *m_pairs[id];
        if (pair.paths.empty() || !HasPackets(pair) || (MaySend(pair) && SendTime(pair) <= now))
        {
            return id;
        }
    }
    return Packet::NONE;
}

void
QueuePairs::SetPortTimer(PortQueue& queue, uint32_t pair, int64_t time)
{
    if (queue.timer != EventWheel::NEVER)
    {
        m_events.Cancel(PacketEventKind::Pace, queue.timed);
    }
    queue.timed = pair;
    queue.timer = time;
    m_events.Schedule(PacketEventKind::Pace, pair, time);
}

/**
 * Sets the port timer to the earliest send time, if no queue pair may send now. Does nothing if
 * that time is past or the timer is set.
 */
void
QueuePairs::SetPortTimer(PortQueue& queue, int64_t now)
{
    if (queue.timer != EventWheel::NEVER || queue.waiting.empty())
    {
        return;
    }
    const uint32_t first = *std::min_element(
        queue.waiting.begin(), queue.waiting.end(), [this](uint32_t a, uint32_t b) {
            return SendTime(*m_pairs[a]) < SendTime(*m_pairs[b]);
        });
    const int64_t time = SendTime(*m_pairs[first]);
    if (time > now)
    {
        SetPortTimer(queue, first, time);
    }
}

void
QueuePairs::OnPace(uint32_t id, int64_t now)
{
    Pair& pair = *m_pairs[id];
    if (m_hasPortTimers)
    {
        m_portQueues[PortQueueIndex(pair.link, pair.trafficClass)].timer = EventWheel::NEVER;
        WakePort(pair.link, pair.trafficClass, now);
        return;
    }
    pair.state = State::Idle;
    Resume(id, now);
}

/** Moves the send time of the next packet after a change of the rate. */
void
QueuePairs::Repace(uint32_t id, int64_t now)
{
    Pair& pair = *m_pairs[id];
    const double rate = pair.control->PacingRate();
    if (!m_spec.queuePair.repace || rate == pair.pacedRate || pair.lastSize == 0)
    {
        return;
    }
    pair.pacedRate = rate;
    pair.nextSend = std::max(now, pair.lastSent + GapOf(pair));
    if (pair.state == State::Pacing)
    {
        m_events.Schedule(PacketEventKind::Pace, id, std::max(now, SendTime(pair)));
    }
    if (m_hasPortTimers)
    {
        PortQueue& queue = m_portQueues[PortQueueIndex(pair.link, pair.trafficClass)];
        if (queue.timer != EventWheel::NEVER && SendTime(pair) < queue.timer)
        {
            SetPortTimer(queue, id, std::max(now, SendTime(pair)));
        }
    }
}

uint32_t
QueuePairs::NextPacket(uint32_t link, unsigned trafficClass, int64_t now)
{
    m_asking = PortQueueIndex(link, trafficClass);
    PortQueue& queue = m_portQueues[m_asking];
    std::vector<uint32_t>& waiting = queue.waiting;
    uint32_t packet = Packet::NONE;
    uint32_t last = queue.last;
    std::size_t passedOver = 0; // queue pairs skipped for lack of credits
    while (passedOver < waiting.size() && packet == Packet::NONE)
    {
        const uint32_t id = m_hasPortTimers ? NextReady(queue, now) : NextRoundRobin(queue, last);
        if (id == Packet::NONE)
        {
            SetPortTimer(queue, now);
            break;
        }
        Pair& pair = *m_pairs[id];
        if (pair.paths.empty() || pair.link != link || !HasPackets(pair) || !MaySend(pair))
        {
            queue.last = last = id;
            pair.state = State::Idle;
            Leave(queue, id);
            Resume(id, now);
            continue;
        }
        uint64_t number = pair.again.empty() ? pair.next : pair.again.back();
        const uint32_t payload = pair.messages.PayloadOf(number);
        if (!m_network->HasCredits(
                link, trafficClass, {payload + m_header, payload, pair.paths.front().forward}, now))
        {
            last = id; // others may have credits, as for the other kind of traffic on a PCIe link
            queue.sent = m_spec.nodeLinks.burst.Count(); // ends the current round-robin quantum
            passedOver = m_hasPortTimers ? waiting.size() : passedOver + 1;
            continue;
        }
        queue.sent = id == queue.last ? queue.sent + payload : payload;
        queue.last = id;
        pair.state = State::Idle;
        if (pair.again.empty())
        {
            pair.next++;
        }
        else
        {
            pair.again.pop_back();
        }
        const uint32_t mtu = pair.facts.mtu;
        packet = m_packets.New();
        Packet& p = m_packets[packet];
        const MessageQueue::Message& message = pair.messages.Of(number);
        p.payload = payload;
        p.size = payload + m_header;
        p.number = number;
        p.owner = id;
        p.stamp = now;
        p.trafficClass = pair.trafficClass;
        const uint32_t path = pair.pathSelector.Next(m_spec.queuePair.pathChoice,
                                                     static_cast<uint32_t>(pair.paths.size()));
        p.hop = pair.paths[path].forward;
        if (m_notesPaths)
        {
            m_packets.NotesOf(packet).path = path;
        }
        p.flags = number + 1 == message.end ? Packet::LAST : 0;
        if (m_wantsTelemetry)
        {
            m_packets.AddTelemetry(packet);
        }
        m_counters.dataPackets++;
        const bool isFirstTime = number == pair.highest;
        if (isFirstTime)
        {
            pair.highest++;
            pair.producedAt +=
                std::isinf(pair.cap) ? 0 : static_cast<int64_t>(p.payload / pair.cap * 1e12 + 0.5);
        }
        else
        {
            m_counters.retransmissions++;
            m_network->CountRetransmission(link);
            Count(pair, number, &FlowCounters::retransmissions);
        }
        // Links inside nodes have no headers; traffic to the network is paced as on the network.
        pair.lastSize = pair.facts.isInside && payload > 0 ? payload : p.size;
        if (pair.inFlight == 0)
        {
            pair.progress = now;
        }
        pair.inFlight += p.payload;
        pair.sentBytes += p.payload;
        pair.credit = std::max(0.0, pair.credit - p.payload); // a packet may overdraw it
        pair.expectedBytes += pair.speculates ? p.payload : 0;
        const bool isSated = m_creditPackets > 0 && !pair.isLink && !pair.speculates &&
                             pair.credit >= EXCESS_CREDIT_GRANTS * m_creditPackets * mtu;
        p.flags |= isSated ? Packet::SATED : 0;
        const bool isShort =
            !MaySend(pair) &&
            (m_ackBitmap || pair.inFlight < int64_t{m_spec.queuePair.ackEvery} * mtu);
        p.flags |= isShort || number + 1 < pair.highest ? Packet::ASKS : 0;
        pair.lastSent = now;
        const uint32_t name = message.name;
        const bool isLast = isFirstTime && (p.flags & Packet::LAST) != 0;
        Account(id, now);
        if (isLast)
        {
            m_client.OnMessageSent(name, now); // may post another message
        }
        if (pair.state == State::Idle)
        {
            Resume(id, now);
        }
        if (pair.state != State::Queued)
        {
            Leave(queue, id);
        }
    }
    m_asking = NOBODY;
    if (waiting.empty() || (m_hasPortTimers && packet == Packet::NONE))
    {
        m_network->SetSource(link, trafficClass, false, now);
    }
    return packet;
}

/** Updates pace and timers after a packet was generated. */
void
QueuePairs::Account(uint32_t id, int64_t now)
{
    Pair& pair = *m_pairs[id];
    pair.control->OnSent(pair.lastSize, Time::Picoseconds(now));
    pair.pacedRate = pair.control->PacingRate();
    pair.nextSend = now + GapOf(pair);
    const uint32_t header = pair.facts.isInside ? 0 : m_header;
    const uint32_t payload = pair.lastSize > header ? pair.lastSize - header : 0;
    const bool isMessageEnd = pair.again.empty() && pair.next < pair.messages.End() &&
                              pair.messages.Of(pair.next).first == pair.next;
    if (isMessageEnd || pair.next == pair.messages.End())
    {
        pair.nextSend += m_spec.queuePair.messageGap.ToPicoseconds();
    }
    ScheduleTimer(id, now);
    if (HasPackets(pair) && MaySend(pair) &&
        SendTime(pair) <= now + m_network->TransmissionTime(pair.link, pair.lastSize, payload))
    {
        JoinPortQueue(id, now); // stays queued, to send again as soon as the port is free
    }
}

void
QueuePairs::ScheduleTimer(uint32_t id, int64_t now)
{
    Pair& pair = *m_pairs[id];
    int64_t time = pair.control->NextTimer().ToPicoseconds(); // NEVER if infinite
    if ((AwaitsAcknowledgment(pair) || pair.hasRequested) &&
        !m_spec.queuePair.retransmissionTimeout.IsInfinite())
    {
        time = std::min(
            time,
            std::max(now, pair.progress + m_spec.queuePair.retransmissionTimeout.ToPicoseconds()));
    }
    if (pair.unacknowledged > 0)
    {
        time = std::min(time, pair.ackBy);
    }
    if (time != EventWheel::NEVER)
    {
        m_events.ScheduleBy(PacketEventKind::Timer, id, std::max(now, time));
    }
}

void
QueuePairs::OnTimer(uint32_t id, int64_t now)
{
    Pair& pair = *m_pairs[id];
    const Time time = Time::Picoseconds(now);
    while (pair.control->NextTimer() <= time)
    {
        pair.control->OnTimer(time);
    }
    const int64_t timeout = m_spec.queuePair.retransmissionTimeout.ToPicoseconds();
    if ((AwaitsAcknowledgment(pair) || pair.hasRequested) &&
        !m_spec.queuePair.retransmissionTimeout.IsInfinite() && now - pair.progress >= timeout)
    {
        pair.progress = now;
        m_counters.timeouts++;
        NoteRetry(id, now);
        pair.hasRequested = false;
        int64_t lost = 0; // payload bytes
        if (m_spec.queuePair.recovery == LossRecovery::GoBackN || pair.isLink)
        {
            lost = GoBack(pair, pair.acked);
        }
        else
        {
            for (uint64_t number = pair.next; number-- > pair.acked;)
            {
                lost += SendAgain(pair, number);
            }
            pair.reported = ReceivedSet(); // all packets are sent again in the order of numbers
        }
        pair.control->OnLoss(time, lost);
    }
    if (pair.unacknowledged > 0 && now >= pair.ackBy)
    {
        SendDelayedAck(id, now);
    }
    Repace(id, now);
    Resume(id, now);
    WakePort(pair.link, pair.trafficClass, now);
    ScheduleTimer(id, now);
}

/**
 * Counts a retransmission of the first missing packet, for the livelock detection. While nothing is
 * lost, a packet that arrives when slow links have transmitted all packets before it is not in a
 * livelock.
 */
void
QueuePairs::NoteRetry(uint32_t id, int64_t now)
{
    Pair& pair = *m_pairs[id];
    pair.retries++;
    m_retriesSince = m_retries == 0 ? now : m_retriesSince;
    m_retries++;
    if (!m_livelock && pair.retries >= MAX_RETRIES && m_retries >= MAX_RETRIES &&
        (m_lastLoss > m_retriesSince ||
         static_cast<double>(now - m_retriesSince) >
             static_cast<double>(LongestTransmission(pair)) * (m_packets.InUse() + 1.0)))
    {
        m_livelock = {id, pair.acked};
    }
}

/** The longest transmission time of a full packet on a link of a queue pair's paths, ps. */
int64_t
QueuePairs::LongestTransmission(const Pair& pair) const
{
    int64_t longest = 0;
    for (const Path& path : pair.paths)
    {
        for (const uint32_t first : {path.forward, path.back})
        {
            for (uint32_t hop = first; hop != PacketNetwork::END; hop++)
            {
                const uint32_t link = m_network->HopAt(hop);
                if (link == PacketNetwork::END)
                {
                    break;
                }
                longest = std::max(
                    longest,
                    m_network->TransmissionTime(link, pair.facts.mtu + m_header, pair.facts.mtu));
            }
        }
    }
    return longest;
}

void
QueuePairs::OnLost(uint32_t packet, int64_t now)
{
    m_counters.lost++;
    m_lastLoss = now;
    const Packet& p = m_packets[packet];
    if (p.kind == PacketKind::Data || p.kind == PacketKind::Trimmed)
    {
        Count(*m_pairs[p.owner], p.number, &FlowCounters::drops);
    }
}

/** Counts an event of a packet for its message, unless the receiver has all of that. */
void
QueuePairs::Count(Pair& pair, uint64_t number, uint32_t FlowCounters::*counter)
{
    const MessageQueue::Message* open = pair.messages.FirstUndelivered();
    if (open != nullptr && number >= open->first && number < pair.messages.End())
    {
        (m_client.CountersOf(pair.messages.Of(number).name).*counter)++;
    }
}

void
QueuePairs::Prefetch(const Packet& packet) const
{
    const auto* pair = reinterpret_cast<const char*>(m_pairs[packet.owner].get());
    for (std::size_t line = 0; line < sizeof(Pair); line += CACHE_LINE)
    {
        __builtin_prefetch(pair + line);
    }
}

void
QueuePairs::PrefetchNext(uint32_t link, unsigned trafficClass) const
{
    const PortQueue& queue = m_portQueues[PortQueueIndex(link, trafficClass)];
    __builtin_prefetch(queue.waiting.data());
}

void
QueuePairs::OnPacket(uint32_t packet, int64_t now)
{
    const uint32_t id = m_packets[packet].owner;
    switch (m_packets[packet].kind)
    {
    case PacketKind::Data:
        OnData(packet, now);
        break;
    case PacketKind::Trimmed:
        OnTrimmed(packet, now);
        break;
    case PacketKind::Ack:
    case PacketKind::Nack:
        OnAck(packet, now);
        break;
    case PacketKind::Request:
        m_pairs[id]->expectedBytes = 0;
        m_pairs[id]->isSated = false;
        AskCredit(id, 0, now);
        break;
    case PacketKind::Credit:
        StopSpeculating(*m_pairs[id]);
        m_pairs[id]->hasRequested = false;
        m_pairs[id]->credit += static_cast<double>(m_packets[packet].number);
        Resume(id, now);
        WakePort(m_pairs[id]->link, m_pairs[id]->trafficClass, now);
        break;
    case PacketKind::Cnp:
        m_pairs[id]->control->OnNotification(Time::Picoseconds(now));
        Repace(id, now);
        Resume(id, now);
        ScheduleTimer(id, now);
        break;
    case PacketKind::Datagram:
    case PacketKind::Pause:
        break;
    }
}

void
QueuePairs::OnData(uint32_t packet, int64_t now)
{
    const uint32_t id = m_packets[packet].owner;
    Pair& pair = *m_pairs[id];
    const uint64_t number = m_packets[packet].number;
    const uint8_t flags = m_packets[packet].flags;
    if (pair.isLink)
    {
        pair.expected++;
        Acknowledge(pair, pair.expected);
        Deliver(pair, now);
        PopAcknowledged(pair, now);
        Resume(id, now);
        return;
    }
    if ((flags & Packet::MARKED) != 0)
    {
        pair.isMarked = true;
        Count(pair, number, &FlowCounters::marks);
        if (!m_notificationInterval.IsInfinite() &&
            (pair.notifiedAt < 0 ||
             now - pair.notifiedAt >= m_notificationInterval.ToPicoseconds()))
        {
            pair.notifiedAt = now;
            Reply(packet, PacketKind::Cnp, 0, now);
        }
    }
    const bool isSelective = m_spec.queuePair.recovery == LossRecovery::Selective;
    if (m_creditPackets > 0)
    {
        const bool isNew = number == pair.expected ||
                           (isSelective && number > pair.expected && !pair.received.Has(number));
        pair.receivedBytes += isNew ? m_packets[packet].payload : 0;
        NoteArrival(pair, m_packets[packet], now);
        AskCredit(id, m_packets[packet].payload, now);
    }
    if (number < pair.expected)
    {
        Reply(packet, PacketKind::Ack, AckNumber(pair.expected, 0), now);
        return;
    }
    if (number > pair.expected && !isSelective)
    {
        SendNack(packet, now);
        return;
    }
    if (m_ackBitmap && ExceedsAckBitmap(pair, number))
    {
        SendDelayedAck(id, now);
    }
    const bool echoesMark = pair.isMarked && m_notificationInterval.IsInfinite();
    const bool asks = (flags & (Packet::LAST | Packet::ASKS)) != 0;
    bool isAnswered = echoesMark || asks || pair.unacknowledged + 1 >= m_spec.queuePair.ackEvery;
    pair.came = pair.unacknowledged == 0 ? number : std::max(pair.came, number);
    pair.minArrived = pair.unacknowledged == 0 ? number : std::min(pair.minArrived, number);
    pair.unacknowledged++;
    pair.stamp = m_packets[packet].stamp - now;
    pair.newest = std::max(pair.newest, number);
    pair.camePath = m_notesPaths ? m_packets.NotesOf(packet).path : 0;
    if (number > pair.expected)
    {
        const bool isNew = pair.received.Add(number, pair.expected);
        pair.hasAsked = pair.hasAsked || asks;
        isAnswered = isAnswered || !isNew || !m_ackBitmap;
    }
    else
    {
        pair.expected = isSelective ? pair.received.Advance(number) : number + 1;
        const bool closesGap = m_ackBitmap ? pair.hasAsked && pair.received.IsEmpty()
                                           : pair.expected > number + 1; // RFC 5681, 4.2
        pair.hasAsked = pair.hasAsked && !closesGap;
        isAnswered = isAnswered || closesGap;
    }
    if (isAnswered)
    {
        const uint64_t came = m_ackBitmap ? HighestReported(pair) : number;
        Reply(packet, PacketKind::Ack, AckNumber(pair.expected, came), now);
    }
    else
    {
        StartAckTimer(id, now);
    }
    Deliver(pair, now);
    PopAcknowledged(pair, now); // without a path back, an acknowledgment takes no time
}

/** Whether one acknowledgment cannot report both @p number and the packets still unacknowledged. */
bool
QueuePairs::ExceedsAckBitmap(const Pair& pair, uint64_t number)
{
    const uint64_t max = std::max(pair.came, number);
    const uint64_t min = std::max(pair.expected, std::min(pair.minArrived, number));
    return pair.unacknowledged > 0 && max >= min + ACK_BITS;
}

/** Acknowledges the packets received since the last acknowledgment. */
void
QueuePairs::SendDelayedAck(uint32_t id, int64_t now)
{
    const Pair& pair = *m_pairs[id];
    const uint32_t ack = m_packets.New();
    m_packets[ack].owner = id;
    m_packets[ack].stamp = pair.stamp + now;
    if (m_notesPaths)
    {
        m_packets.NotesOf(ack).path = pair.camePath;
    }
    Reply(ack,
          PacketKind::Ack,
          AckNumber(pair.expected, m_ackBitmap ? HighestReported(pair) : 0),
          now);
    m_packets.Free(ack);
}

/** Starts the delayed-ACK timer at the first unacknowledged packet. */
void
QueuePairs::StartAckTimer(uint32_t id, int64_t now)
{
    Pair& pair = *m_pairs[id];
    if (pair.unacknowledged == 1)
    {
        pair.ackBy = now + m_spec.queuePair.ackDelay.ToPicoseconds();
        m_events.ScheduleBy(PacketEventKind::Timer, id, pair.ackBy);
    }
}

void
QueuePairs::OnTrimmed(uint32_t packet, int64_t now)
{
    const uint64_t number = m_packets[packet].number;
    const uint32_t id = m_packets[packet].owner;
    Pair& pair = *m_pairs[id];
    m_lastLoss = now;
    Count(pair, number, &FlowCounters::trims);
    if (m_creditPackets > 0)
    {
        // A packet below acked has been received, and its message may be gone.
        const uint32_t payload = number >= pair.acked ? pair.messages.PayloadOf(number) : 0;
        NoteArrival(pair, m_packets[packet], now);
        AskCredit(id, payload, now);
    }
    if (m_spec.queuePair.recovery == LossRecovery::Selective)
    {
        Reply(packet, PacketKind::Nack, number, now);
    }
    else if (number >= pair.expected)
    {
        // Of the packet expected, the header shows that this transmission was lost, too.
        pair.nacked = number == pair.expected ? NEVER_NACKED : pair.nacked;
        SendNack(packet, now);
    }
}

/**
 * Sends a NACK for the next packet expected, at most once per nackInterval unless `nacked` is
 * NEVER_NACKED.
 */
void
QueuePairs::SendNack(uint32_t packet, int64_t now)
{
    Pair& pair = *m_pairs[m_packets[packet].owner];
    if (pair.nacked != pair.expected ||
        now - pair.nackedAt >= m_spec.queuePair.nackInterval.ToPicoseconds())
    {
        pair.nacked = pair.expected;
        pair.nackedAt = now;
        Reply(packet, PacketKind::Nack, pair.expected, now);
    }
}

/** Sends a control packet in response to packet @p data to its sender. */
void
QueuePairs::Reply(uint32_t data, PacketKind kind, uint64_t number, int64_t now)
{
    const uint32_t id = m_packets[data].owner;
    const uint32_t reply = NewControlPacket(kind, id);
    Packet& p = m_packets[reply];
    Pair& pair = *m_pairs[id];
    p.number = number;
    p.stamp = m_packets[data].stamp;
    if (kind == PacketKind::Ack || kind == PacketKind::Nack)
    {
        p.flags = pair.isMarked ? Packet::MARKED : 0;
        pair.isMarked = false;
        pair.unacknowledged = 0;
        if ((m_packets[data].flags & Packet::TELEMETRY) != 0)
        {
            Telemetry& telemetry = m_packets.AddTelemetry(reply);
            const Telemetry& seen = m_packets.GetTelemetry(data);
            std::copy_n(seen.hops.begin(), seen.count, telemetry.hops.begin());
            telemetry.count = seen.count;
        }
        if (m_notesPaths || m_ackBitmap)
        {
            FillAckNotes(pair, data, reply);
        }
        m_counters.acknowledgments++;
    }
    SendBack(reply, now);
}

/**
 * Fills in the notes of an acknowledgment: the path of packet @p cause, and the bitmap of received
 * packets.
 */
void
QueuePairs::FillAckNotes(const Pair& pair, uint32_t cause, uint32_t reply)
{
    const uint32_t path = m_packets.NotesOf(cause).path;
    PacketNotes& notes = m_packets.NotesOf(reply);
    notes.path = path;
    notes.came = 0;
    const uint64_t came = HighestReported(pair);
    for (unsigned i = 0; m_ackBitmap && i < ACK_BITS && pair.expected + i < came; i++)
    {
        notes.came |= uint64_t{pair.received.Has(came - i)} << i;
    }
}

/**
 * The highest packet number that an acknowledgment reports: the highest unacknowledged one, or, if
 * higher, the highest received one within the reach of the bitmap.
 */
uint64_t
QueuePairs::HighestReported(const Pair& pair) const
{
    return std::max(pair.came, std::min(pair.newest, pair.expected + ACK_BITS));
}

/** Creates a control packet of a queue pair. */
uint32_t
QueuePairs::NewControlPacket(PacketKind kind, uint32_t id)
{
    const uint32_t packet = m_packets.New();
    Packet& p = m_packets[packet];
    p.kind = kind;
    p.owner = id;
    p.size = static_cast<uint32_t>(m_spec.format.controlSize.Count());
    p.trafficClass = m_spec.queuePair.ackPriority ? 0 : m_pairs[id]->trafficClass;
    return packet;
}

/** Sends a control packet from a queue pair's receiver to its sender. */
void
QueuePairs::SendBack(uint32_t packet, int64_t now)
{
    const Pair& pair = *m_pairs[m_packets[packet].owner];
    const uint32_t back = pair.paths.empty() ? PacketNetwork::END : pair.paths.front().back;
    if (back == PacketNetwork::END)
    {
        OnPacket(packet, now);
        m_packets.Free(packet);
        return;
    }
    m_packets[packet].hop = back;
    m_network->Send(packet, now);
    WakePort(m_network->HopAt(back), pair.trafficClass, now);
}

/** Delivers messages that the receiver has completely. */
void
QueuePairs::Deliver(Pair& pair, int64_t now)
{
    while (const MessageQueue::Message* message = pair.messages.FirstUndelivered())
    {
        if (message->end > pair.expected)
        {
            return;
        }
        const uint32_t name = message->name;
        pair.messages.SetDelivered();
        if (m_spec.queuePair.flowEnd == FlowEnd::Received || pair.isLink)
        {
            m_client.OnMessageDone(name, now);
        }
    }
}

/** Acknowledges all packets before @p next. @return newly acknowledged payload bytes */
uint32_t
QueuePairs::Acknowledge(Pair& pair, uint64_t next)
{
    if (next <= pair.acked)
    {
        return 0;
    }
    int64_t bytes = 0;
    if (m_spec.queuePair.recovery == LossRecovery::GoBackN || pair.isLink)
    {
        bytes = pair.messages.PayloadBetween(pair.acked, next);
        const uint64_t counted = std::min(next, pair.next);
        if (counted > pair.acked)
        {
            pair.inFlight -= pair.messages.PayloadBetween(pair.acked, counted);
        }
        pair.next = std::max(pair.next, next);
    }
    else
    {
        for (uint64_t number = pair.acked; number < next; number++)
        {
            bytes += pair.sacked.Has(number) ? 0 : AcknowledgeOne(pair, number);
        }
        pair.sacked.Forget(pair.acked, next);
    }
    pair.acked = next;
    MoveSearch(pair, std::max(pair.searched, next));
    return static_cast<uint32_t>(bytes);
}

/** Acknowledges a packet in flight or waiting for retransmission. @return its payload bytes */
uint32_t
QueuePairs::AcknowledgeOne(Pair& pair, uint64_t number)
{
    const uint32_t bytes = pair.messages.PayloadOf(number);
    const auto position =
        std::lower_bound(pair.again.begin(), pair.again.end(), number, std::greater<>());
    if (position != pair.again.end() && *position == number)
    {
        pair.again.erase(position);
    }
    else
    {
        pair.inFlight -= bytes;
    }
    return bytes;
}

/**
 * Acknowledges packets by bitmap: bit i of @p bits stands for packet @p came - i.
 * @return newly acknowledged payload bytes
 */
uint32_t
QueuePairs::AcknowledgeBitmap(Pair& pair, uint64_t came, uint64_t bits)
{
    uint32_t bytes = 0;
    for (uint64_t number = came; bits != 0 && number >= pair.acked; number--, bits >>= 1)
    {
        if ((bits & 1) != 0 && !pair.sacked.Has(number))
        {
            bytes += AcknowledgeOne(pair, number);
            pair.sacked.Add(number, pair.acked);
        }
    }
    return bytes;
}

/** Removes messages that are delivered and acknowledged. */
void
QueuePairs::PopAcknowledged(Pair& pair, int64_t now)
{
    while (!pair.messages.IsEmpty() && pair.messages.IsFrontDelivered() &&
           pair.messages.Front().end <= pair.acked)
    {
        const uint32_t name = pair.messages.Front().name;
        pair.messages.Pop();
        if (m_spec.queuePair.flowEnd == FlowEnd::Acknowledged && !pair.isLink)
        {
            m_client.OnMessageDone(name, now);
        }
    }
}

void
QueuePairs::OnAck(uint32_t packet, int64_t now)
{
    const Packet p = m_packets[packet];
    const uint32_t id = p.owner;
    Pair& pair = *m_pairs[id];
    const bool isSelective = m_spec.queuePair.recovery == LossRecovery::Selective;
    StopSpeculating(pair);
    const uint64_t acked = pair.acked;
    bool isFirstMissing = true; // of what is retransmitted
    Acknowledgment ack;
    int64_t lost = 0; // payload bytes
    if (p.kind == PacketKind::Ack || !isSelective)
    {
        const uint64_t next = p.number & NEXT_MASK;
        const uint64_t behind = p.kind == PacketKind::Ack ? p.number >> NEXT_BITS : 0;
        ack.next = next;
        ack.bytes = Acknowledge(pair, next);
        const uint64_t came = next + behind;
        if (behind > 0)
        {
            const uint64_t bits = m_ackBitmap ? m_packets.NotesOf(packet).came : 1;
            ack.bytes += AcknowledgeBitmap(pair, came, bits);
            lost = FindLost(pair, came);
        }
        if (p.kind == PacketKind::Nack)
        {
            lost = GoBack(pair, next);
        }
    }
    else
    {
        lost = SendAgain(pair, p.number);
        if (p.number >= pair.searched && p.number < pair.next)
        {
            pair.reported.Add(p.number, pair.searched);
        }
        isFirstMissing = p.number == pair.acked;
        ack.next = pair.acked;
    }
    if (m_notesPaths)
    {
        const bool isMarked = (p.flags & Packet::MARKED) != 0;
        pair.pathSelector.OnAnswer(m_spec.queuePair.pathChoice,
                                   m_packets.NotesOf(packet).path,
                                   static_cast<uint32_t>(pair.paths.size()),
                                   p.kind == PacketKind::Nack ? SprayPathSelector::TRIMMED
                                   : isMarked                 ? SprayPathSelector::MARKED
                                                              : 0);
    }
    if (ack.bytes > 0 || pair.acked > acked)
    {
        pair.progress = now;
        pair.retries = 0;
        ForgetRetries();
    }
    else if (lost > 0 && isFirstMissing)
    {
        NoteRetry(id, now);
    }
    ack.now = Time::Picoseconds(now);
    ack.rtt = Time::Picoseconds(now - p.stamp);
    ack.isMarked = (p.flags & Packet::MARKED) != 0;
    ack.sent = pair.next;
    const bool hasTelemetry = (p.flags & Packet::TELEMETRY) != 0;
    ack.telemetry = hasTelemetry ? &m_packets.GetTelemetry(packet) : nullptr;
    pair.control->OnAck(ack);
    if (lost > 0)
    {
        pair.control->OnLoss(ack.now, lost);
    }
    PopAcknowledged(pair, now);
    Repace(id, now);
    Resume(id, now);
    WakePort(pair.link, pair.trafficClass, now);
    ScheduleTimer(id, now);
}

/**
 * Go-back-N: retransmits all packets from @p next on.
 * @return payload bytes of those that were in flight
 */
int64_t
QueuePairs::GoBack(Pair& pair, uint64_t next)
{
    if (next >= pair.next || next < pair.acked)
    {
        return 0;
    }
    const int64_t bytes = pair.messages.PayloadBetween(next, pair.next);
    pair.inFlight -= bytes;
    pair.next = next;
    return bytes;
}

/**
 * Schedules the retransmission of a packet in flight.
 * @return its payload bytes; 0 if it was received or is scheduled already
 */
int64_t
QueuePairs::SendAgain(Pair& pair, uint64_t number)
{
    if (number < pair.acked || number >= pair.next || pair.sacked.Has(number))
    {
        return 0;
    }
    const auto position =
        std::lower_bound(pair.again.begin(), pair.again.end(), number, std::greater<>());
    if (position != pair.again.end() && *position == number)
    {
        return 0;
    }
    pair.again.insert(position, number);
    const int64_t bytes = pair.messages.PayloadOf(number);
    pair.inFlight -= bytes;
    return bytes;
}

/**
 * Declares packets lost if a packet sent more than QueuePairSpec::reordering later has been
 * received. Each packet is declared lost once, by this rule or by a NACK; afterwards only its
 * timeout or another NACK applies, since its retransmission is sent after packets with higher
 * numbers.
 * @return payload bytes of the lost packets
 */
int64_t
QueuePairs::FindLost(Pair& pair, uint64_t newest)
{
    const uint64_t reordering = m_spec.queuePair.reordering.value_or(0);
    int64_t bytes = 0;
    for (uint64_t number = pair.searched; number + reordering < newest; number++)
    {
        if (!pair.sacked.Has(number) && !pair.reported.Has(number))
        {
            bytes += SendAgain(pair, number);
        }
    }
    if (newest > reordering)
    {
        MoveSearch(pair, std::max(pair.searched, newest - reordering));
    }
    return bytes;
}

/** Notes that all gaps before packet @p number have been declared lost. */
void
QueuePairs::MoveSearch(Pair& pair, uint64_t number)
{
    pair.reported.Forget(pair.searched, number);
    pair.searched = number;
}

} // namespace weir
