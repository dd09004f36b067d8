// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/replay/replay-transport.h"

#include "fabric/refuse.h"
#include "fabric/transport/fluid/fluid-transport.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <tuple>

namespace weir
{

class ReplayTransport::Packets final : public FlowClient, public TransportObserver
{
  public:
    Packets(ReplayTransport& owner, Episode& episode)
        : m_owner(owner),
          m_episode(episode),
          m_transport(owner.m_routing, owner.m_spec, *this, *this)
    {
    }

    SettlingPackets& Transport()
    {
        return m_transport;
    }

    /** Converts a time relative to the episode, ps, to the time of the packets. */
    Time At(int64_t time) const
    {
        return Time::Picoseconds(time + m_time);
    }

    /** Converts a time of the packets to a time relative to the episode, ps. */
    int64_t TimeOf(Time time) const
    {
        return time.ToPicoseconds() - m_time;
    }

    /** Token of an episode's started flow in the packets. */
    uint64_t TokenOf(std::size_t input) const
    {
        return input + m_flows;
    }

    std::size_t InputOf(uint64_t token) const
    {
        return token - m_flows;
    }

    /** Starts the next flow of the episode at @p time, ps relative to the episode. */
    void Start(FlowRequest request, int64_t time)
    {
        request.token = m_started++;
        m_transport.Start(request, m_owner.m_routes.Of(request.route).links, At(time));
    }

    /** Removes a period from the episode's view of the packets. */
    void Pass(const EpisodeMemo::Period& period)
    {
        m_time += period.time;
        m_flows += period.flows;
        m_passed.resize(std::max(m_passed.size(), period.counters.size()));
        for (std::size_t i = 0; i < period.counters.size(); i++)
        {
            m_passed[i] += period.counters[i];
        }
    }

    /** Counters of a link's port at @p time, without passed periods. */
    PortCounters CountersAt(uint32_t link, int64_t time)
    {
        PortCounters counters = m_transport.CountersAt(link, At(time));
        const uint32_t number = m_passed.empty() ? NONE : m_episode.names.NumberOf(link);
        if (number < m_passed.size())
        {
            counters -= m_passed[number];
        }
        return counters;
    }

    void OnFlowSent(uint64_t token, Time now) override
    {
        m_episode.news.push_back({TimeOf(now), static_cast<uint32_t>(InputOf(token)), false, {}});
    }

    void OnFlowDone(uint64_t token, Time now) override
    {
        m_episode.news.push_back({TimeOf(now),
                                  static_cast<uint32_t>(InputOf(token)),
                                  true,
                                  m_transport.CountersOf(token)});
    }

    void OnFlowStalled(FlowId /* id */,
                       const FlowRequest& request,
                       bool isStalled,
                       Time /* now */) override
    {
        m_owner.OnStalled(m_episode, static_cast<uint32_t>(InputOf(request.token)), isStalled);
    }

  private:
    ReplayTransport& m_owner;
    Episode& m_episode;
    SettlingPackets m_transport;
    uint64_t m_started{0};
    int64_t m_time{0};                  //!< total time of passed periods, ps
    uint32_t m_flows{0};                //!< flows of passed periods
    std::vector<PortCounters> m_passed; //!< counters of passed periods, by link number
};

ReplayTransport::ReplayTransport(Routing& routing, PacketSpec spec)
    : Transport(FlowForm::Packets),
      m_routing(routing),
      m_spec(std::move(spec)),
      m_uncontended(routing, m_spec), // validates the parameters
      m_routes(routing, m_spec.queuePair, m_memo),
      m_links(routing.GetTopology().LinkCount()),
      m_ended(routing.GetTopology().LinkCount())
{
}

ReplayTransport::~ReplayTransport() = default;

Time
ReplayTransport::NextEventTime()
{
    Flush();
    return m_due.empty() ? Time::Infinite() : Time::Picoseconds(m_due.begin()->first);
}

void
ReplayTransport::AdvanceTo(Time now)
{
    m_now = now;
    const int64_t until = now.ToPicoseconds();
    do
    {
        while (!m_due.empty() && m_due.begin()->first <= until)
        {
            Serve(*m_episodes[m_due.begin()->second], until);
        }
        Flush();
    } while (!m_due.empty() && m_due.begin()->first <= until);
}

Time
ReplayTransport::AdvanceExclusively(Time limit)
{
    const int64_t until = limit.IsInfinite() ? EpisodeMemo::NEVER : limit.ToPicoseconds();
    Flush();
    m_hasTold = false;
    constexpr unsigned MAX_STEPS = 1u << 12; // lets the caller show progress or stop
    for (unsigned i = 0; i < MAX_STEPS && !m_hasTold && !m_due.empty(); i++)
    {
        const auto [due, number] = *m_due.begin();
        if (due >= until)
        {
            break;
        }
        Episode& episode = *m_episodes[number];
        const auto second = std::next(m_due.begin());
        const int64_t exclusiveEnd = second == m_due.end() ? until : std::min(until, second->first);
        if (!episode.packets || !episode.toTell.empty() || !episode.held.empty() ||
            exclusiveEnd <= due)
        {
            m_now = Time::Picoseconds(due);
            Serve(episode, due);
            if (!m_hasTold)
            {
                Flush(); // before time advances; flows started by clients are flushed by the caller
            }
            continue;
        }
        SettlingPackets& packets = episode.packets->Transport();
        const Time stands = packets.AdvanceExclusively(
            exclusiveEnd == EpisodeMemo::NEVER ? Time::Infinite()
                                               : episode.packets->At(exclusiveEnd - episode.begin));
        const int64_t time = episode.packets->TimeOf(stands);
        Advance(episode, time); // all events of that instant
        m_now = std::max(m_now, Time::Picoseconds(episode.begin + time));
        GoOn(episode);
    }
    return m_now;
}

/** Handles the due events of an episode. */
void
ReplayTransport::Serve(Episode& episode, int64_t now)
{
    const int64_t time = now - episode.begin;
    PassHeld(episode);
    if (episode.packets)
    {
        Advance(episode, time);
    }
    else
    {
        PassTold(episode, time);
        const EpisodeMemo::State& state = m_memo.At(episode.state);
        const bool isOver = episode.nextNotification == state.told.size() && state.end <= time;
        const bool isLost =
            isOver ? episode.unfinished > episode.held.size() : PatienceOf(episode) <= time;
        if (episode.toTell.empty() && isLost && episode.walked == episode.inputs.size() &&
            !Follows(episode))
        {
            Simulate(episode);
        }
    }
    if (!episode.toTell.empty())
    {
        TellAll(episode, now);
        return;
    }
    GoOn(episode);
}

void
ReplayTransport::TellAll(Episode& episode, int64_t now)
{
    const uint32_t number = episode.number;
    const uint64_t serial = episode.serial;
    const std::vector<EpisodeMemo::Told> toTell = std::move(episode.toTell);
    episode.toTell.clear();
    for (const EpisodeMemo::Told& told : toTell)
    {
        if (IsAlive(number, serial)) // otherwise the merged episode reports the rest
        {
            Tell(episode, told, now);
        }
    }
    if (IsAlive(number, serial))
    {
        GoOn(episode);
    }
}

/**
 * Whether an episode may wait for the notifications of a simulated episode in the same state;
 * shifts it for that if the tolerance allows.
 */
bool
ReplayTransport::Follows(Episode& episode)
{
    const uint32_t number = m_memo.At(episode.state).leader;
    if (number == NONE || number == episode.number)
    {
        return false;
    }
    const Episode& leader = *m_episodes[number];
    const int64_t ahead = leader.begin - episode.begin;
    if (ahead > 0 && ahead <= MayMove(episode, episode.inputs.back()))
    {
        Move(episode, ahead);
    }
    return leader.begin <= episode.begin;
}

/**
 * Time until which an episode's memo suffices: known time plus the allowed delay of the next start,
 * ps.
 */
int64_t
ReplayTransport::PatienceOf(const Episode& episode) const
{
    const EpisodeMemo::State& state = m_memo.At(episode.state);
    const bool mayCome = state.firstChild != NONE && m_spec.settle.tolerance > 0;
    return state.known + (mayCome ? MayMove(episode, episode.inputs.back()) : 0);
}

/** Schedules the next event of an episode, or ends it. */
void
ReplayTransport::GoOn(Episode& episode)
{
    const int64_t now = m_now.ToPicoseconds();
    if (!episode.toTell.empty())
    {
        SetDue(episode, now);
        return;
    }
    if (episode.walked < episode.inputs.size() || (episode.isSimulated && !episode.packets))
    {
        SetDue(episode, EpisodeMemo::NEVER); // it is flushed before time advances
        return;
    }
    if (episode.packets)
    {
        SettlingPackets& packets = episode.packets->Transport();
        if (episode.unfinished == 0 && packets.IsAtRest())
        {
            End(episode, now);
            return;
        }
        const Time next = packets.NextEventTime();
        SetDue(episode,
               next.IsInfinite() ? EpisodeMemo::NEVER
                                 : episode.begin + episode.packets->TimeOf(next));
        return;
    }
    const EpisodeMemo::State& state = m_memo.At(episode.state);
    int64_t time = PatienceOf(episode);
    if (episode.nextNotification < state.told.size())
    {
        time = state.told[episode.nextNotification].time;
    }
    else if (state.end != EpisodeMemo::NEVER)
    {
        time = state.end;
        if (episode.unfinished == 0 && episode.begin + time <= now)
        {
            End(episode, now);
            return;
        }
        if (episode.unfinished == episode.held.size() && episode.begin + time <= now)
        {
            SetDue(episode, EpisodeMemo::NEVER); // except held notifications
            return;
        }
    }
    else if (Follows(episode))
    {
        m_waiting[episode.state].push_back(episode.number);
        SetDue(episode, EpisodeMemo::NEVER);
        return;
    }
    SetDue(episode, std::max(episode.begin + time, now));
}

void
ReplayTransport::SetDue(Episode& episode, int64_t due)
{
    for (const EpisodeMemo::Told& told : episode.held)
    {
        due = std::min(due, std::max(told.time, m_now.ToPicoseconds()));
    }
    if (due == episode.due)
    {
        return;
    }
    if (episode.due != EpisodeMemo::NEVER)
    {
        m_due.erase({episode.due, episode.number});
    }
    episode.due = due;
    if (due != EpisodeMemo::NEVER)
    {
        m_due.insert({due, episode.number});
    }
}

/** Wakes the episodes that wait for a state, of which more is known now. */
void
ReplayTransport::Notify(uint32_t state)
{
    const auto found = m_waiting.find(state);
    if (found == m_waiting.end())
    {
        return;
    }
    const std::vector<uint32_t> waiting = std::move(found->second);
    m_waiting.erase(found);
    for (const uint32_t number : waiting)
    {
        if (m_episodes[number] && m_episodes[number]->state == state &&
            !m_episodes[number]->isSimulated)
        {
            GoOn(*m_episodes[number]);
        }
    }
}

bool
ReplayTransport::IsAlive(uint32_t number, uint64_t serial) const
{
    return m_episodes[number] && m_episodes[number]->serial == serial;
}

ReplayTransport::Episode&
ReplayTransport::NewEpisode(int64_t begin)
{
    uint32_t number;
    if (m_freeEpisodes.empty())
    {
        number = static_cast<uint32_t>(m_episodes.size());
        m_episodes.emplace_back();
    }
    else
    {
        number = m_freeEpisodes.back();
        m_freeEpisodes.pop_back();
    }
    m_episodes[number] = std::make_unique<Episode>();
    Episode& episode = *m_episodes[number];
    episode.number = number;
    episode.serial = m_serials++;
    episode.serials = {episode.serial};
    episode.begin = begin;
    return episode;
}

/** Removes an episode with its packets. */
void
ReplayTransport::Retire(Episode& episode)
{
    if (episode.packets && episode.isKept)
    {
        // There were no more notifications until it ended or was merged.
        EpisodeMemo::State& state = m_memo.At(episode.packetState);
        state.known = std::max(state.known, m_now.ToPicoseconds() - episode.begin);
    }
    StopLeading(episode);
    Drop(episode.packets);
    Drop(episode.parked);
    episode.held.clear();
    SetDue(episode, EpisodeMemo::NEVER);
    if (m_whole == episode.number)
    {
        m_whole = NONE;
        for (LinkState& link : m_links)
        {
            link.flows = 0; // no flow is active, whatever links it was counted on
        }
    }
    m_freeEpisodes.push_back(episode.number);
    m_episodes[episode.number].reset();
}

/** Ends an episode that has become quiet. */
void
ReplayTransport::End(Episode& episode, int64_t now)
{
    m_counters.episodes++;
    const std::vector<uint32_t>& names = episode.names.Links();
    // A link that belonged to another episode in between is listed twice.
    std::sort(episode.links.begin(), episode.links.end());
    episode.links.erase(std::unique(episode.links.begin(), episode.links.end()),
                        episode.links.end());
    if (episode.packets)
    {
        for (const uint32_t link : episode.links)
        {
            m_ended[link] += episode.packets->CountersAt(link, episode.reached);
        }
        EpisodeMemo::State& state = m_memo.At(episode.packetState);
        if (episode.isKept && state.end == EpisodeMemo::NEVER)
        {
            state.end = now - episode.begin;
            for (const uint32_t link : names)
            {
                state.counters.push_back(episode.packets->CountersAt(link, episode.reached));
            }
        }
    }
    else
    {
        m_counters.replayed += episode.wasSimulated ? 0 : 1;
        const EpisodeMemo::State& state = m_memo.At(episode.state);
        for (std::size_t i = 0; i < state.counters.size(); i++)
        {
            m_ended[names[i]] += state.counters[i];
        }
    }
    for (const uint32_t link : episode.links)
    {
        if (m_links[link].episode == episode.number)
        {
            m_links[link].episode = NONE;
        }
    }
    Retire(episode);
}

/** A flow of an episode, also after its end while the episode keeps it; else null. */
const ReplayTransport::Input*
ReplayTransport::FindInput(FlowId id) const
{
    const uint32_t index = m_slots.Find(id);
    if (index == NONE)
    {
        return nullptr;
    }
    const Slot& slot = m_slots[index];
    const Episode* const episode = m_episodes[slot.episode].get();
    return episode != nullptr && slot.input < episode->inputs.size() &&
                   episode->inputs[slot.input].id == id
               ? &episode->inputs[slot.input]
               : nullptr;
}

FlowId
ReplayTransport::Start(const FlowRequest& request, Time now)
{
    m_uncontended.Check(request);
    m_uncontended.CountIdlePath(request.route);
    m_now = std::max(m_now, now);
    const uint32_t slot = m_slots.Take("ReplayTransport");
    const FlowId id{m_slots[slot].id};
    m_active++;
    Episode& episode = EpisodeFor(request, now.ToPicoseconds());
    m_slots[slot].episode = episode.number;
    m_slots[slot].input = static_cast<uint32_t>(episode.inputs.size());
    episode.inputs.emplace_back();
    Input& input = episode.inputs.back();
    input.request = request;
    input.id = id;
    input.slot = slot;
    input.start = now.ToPicoseconds();
    input.time = input.start - episode.begin;
    episode.unfinished++;
    m_observers.OnFlowStarted(id, request, now);
    return id;
}

/**
 * Whether a link is quiet: no active flow loads it, and the last acknowledgment arrived longer ago
 * than pauses within one episode last.
 */
bool
ReplayTransport::IsQuiet(uint32_t link, int64_t now) const
{
    const auto patience = m_patience.find(m_routes.KindOf(link));
    const int64_t wait = patience == m_patience.end() ? 0 : patience->second;
    return m_links[link].flows == 0 && m_links[link].quiet + wait <= now;
}

/** Increases the required quiet time of links whose takeover has split one episode into several. */
void
ReplayTransport::LearnPatience(const std::vector<uint32_t>& parts)
{
    for (const uint32_t number : parts)
    {
        for (const Taken& taken : m_episodes[number]->taken)
        {
            const bool isOfOne = std::any_of(parts.begin(), parts.end(), [&](uint32_t other) {
                const std::vector<uint64_t>& serials = m_episodes[other]->serials;
                return std::find(serials.begin(), serials.end(), taken.serial) != serials.end();
            });
            if (isOfOne)
            {
                int64_t& patience = m_patience[taken.kind];
                patience = std::max(patience, 2 * taken.gap);
            }
        }
    }
}

/**
 * Removes the load of an ended flow from its links. They stay busy until its last acknowledgment
 * has arrived, behind other packets.
 */
void
ReplayTransport::LeaveLinks(RouteId route, int64_t now)
{
    const Time latency = PacketLatency(m_routing, route, m_spec.format.mtu);
    const int64_t quiet = now + 2 * latency.ToPicoseconds();
    for (const uint32_t link : m_routes.Of(route).links)
    {
        LinkState& state = m_links[link];
        state.flows -= state.flows > 0 ? 1 : 0; // 0: the route had other paths at the start
        state.quiet = std::max(state.quiet, quiet);
    }
}

/** Finds, merges or creates the episode of a flow. It is flushed before time advances. */
ReplayTransport::Episode&
ReplayTransport::EpisodeFor(const FlowRequest& request, int64_t now)
{
    if (m_isWhole && m_whole == NONE)
    {
        Unify();
    }
    const std::vector<uint32_t>& links = m_routes.Of(request.route).links;
    std::vector<uint32_t> joined;
    if (m_whole != NONE)
    {
        joined.push_back(m_whole);
    }
    else
    {
        for (const uint32_t link : links)
        {
            const uint32_t number = m_links[link].episode;
            if (number != NONE && !IsQuiet(link, now) &&
                std::find(joined.begin(), joined.end(), number) == joined.end())
            {
                joined.push_back(number);
            }
        }
    }
    Episode& episode = joined.empty()       ? NewEpisode(now)
                       : joined.size() == 1 ? *m_episodes[joined.front()]
                                            : Merge(joined);
    if (m_isWhole && m_whole == NONE)
    {
        m_whole = episode.number;
        Forget(episode);
        Simulate(episode);
    }
    for (const uint32_t link : links)
    {
        LinkState& state = m_links[link];
        state.flows++;
        if (state.episode != episode.number)
        {
            if (state.episode != NONE)
            {
                m_episodes[state.episode]->lost.push_back(link);
                episode.taken.push_back(
                    {m_episodes[state.episode]->serial, m_routes.KindOf(link), now - state.quiet});
            }
            state.episode = episode.number;
            episode.links.push_back(link);
        }
    }
    RequestFlush(episode);
    return episode;
}

bool
ReplayTransport::LoadsAny(RouteId route, const std::vector<uint32_t>& links)
{
    const std::vector<uint32_t>& loaded = m_routes.Of(route).links;
    return std::any_of(links.begin(), links.end(), [&loaded](uint32_t link) {
        return std::binary_search(loaded.begin(), loaded.end(), link);
    });
}

/** Merges episodes into one, equal to an episode that was one from the start. */
ReplayTransport::Episode&
ReplayTransport::Merge(const std::vector<uint32_t>& numbers)
{
    int64_t begin = EpisodeMemo::NEVER;
    for (const uint32_t number : numbers)
    {
        Episode& part = *m_episodes[number];
        for (Input& input : part.inputs)
        {
            // Passed periods have moved it to a time when one of its links belonged to another
            // episode.
            if (part.hasPassed && input.isDone && LoadsAny(input.request.route, part.lost))
            {
                input.time = input.start - part.begin;
            }
            begin = std::min(begin, part.begin + input.time);
        }
    }
    LearnPatience(numbers);
    Episode& whole = NewEpisode(begin);
    for (const uint32_t number : numbers)
    {
        Episode& part = *m_episodes[number];
        whole.serials.insert(whole.serials.end(), part.serials.begin(), part.serials.end());
        whole.taken.insert(whole.taken.end(), part.taken.begin(), part.taken.end());
        whole.lost.insert(whole.lost.end(), part.lost.begin(), part.lost.end());
        whole.hasPassed = whole.hasPassed || part.hasPassed;
        whole.isKept = whole.isKept && part.isKept;
        whole.moved = std::max(whole.moved, part.moved);
        whole.unfinished += part.unfinished;
        whole.links.insert(whole.links.end(), part.links.begin(), part.links.end());
        for (Input& input : part.inputs)
        {
            input.time += part.begin - begin;
            whole.inputs.push_back(std::move(input));
        }
        Retire(part);
    }
    // In shifted parts, the times of flows may differ from the order of their starts.
    std::sort(whole.inputs.begin(), whole.inputs.end(), [](const Input& a, const Input& b) {
        return std::tie(a.time, a.id.value) < std::tie(b.time, b.id.value);
    });
    for (std::size_t i = 0; i < whole.inputs.size(); i++)
    {
        if (!whole.inputs[i].isDone)
        {
            m_slots[whole.inputs[i].slot].episode = whole.number;
            m_slots[whole.inputs[i].slot].input = static_cast<uint32_t>(i);
        }
    }
    for (const uint32_t link : whole.links)
    {
        const uint32_t number = m_links[link].episode;
        if (std::find(numbers.begin(), numbers.end(), number) != numbers.end())
        {
            m_links[link].episode = whole.number;
        }
    }
    if (!whole.isKept)
    {
        Simulate(whole);
    }
    return whole;
}

void
ReplayTransport::RequestFlush(Episode& episode)
{
    if (!episode.isToFlush)
    {
        episode.isToFlush = true;
        m_toFlush.emplace_back(episode.number, episode.serial);
    }
}

/** Processes the flows started at this instant as one batch. */
void
ReplayTransport::Flush()
{
    while (!m_toFlush.empty())
    {
        std::vector<std::pair<uint32_t, uint64_t>> flushed;
        std::swap(flushed, m_toFlush);
        // Leaders go before followers.
        std::stable_partition(flushed.begin(), flushed.end(), [this](const auto& each) {
            return IsAlive(each.first, each.second) &&
                   (m_episodes[each.first]->isSimulated || m_episodes[each.first]->parked);
        });
        for (const auto& [number, serial] : flushed)
        {
            if (IsAlive(number, serial))
            {
                m_episodes[number]->isToFlush = false;
                Flush(*m_episodes[number]);
            }
        }
    }
}

void
ReplayTransport::Flush(Episode& episode)
{
    if (episode.packets && episode.walked < episode.inputs.size())
    {
        Advance(episode, m_now.ToPicoseconds() - episode.begin);
    }
    while (episode.walked < episode.inputs.size())
    {
        const std::size_t first = episode.walked;
        std::size_t last = first + 1;
        const int64_t time = episode.inputs[first].time;
        while (last < episode.inputs.size() && episode.inputs[last].time == time)
        {
            last++;
        }
        SortBatch(episode, first, last);
        for (std::size_t i = first; i < last; i++)
        {
            Walk(episode, episode.inputs[i]);
            episode.walked++;
        }
        if (episode.packets && episode.isKept && episode.injected == first)
        {
            FindPeriod(episode, first);
        }
        if (episode.isKept && (episode.packets || !episode.isSimulated) &&
            m_memo.At(episode.state).period != NONE)
        {
            PassPeriod(episode, first);
        }
    }
    if (episode.isSimulated && !episode.packets)
    {
        CatchUp(episode);
    }
    while (episode.packets && episode.injected < episode.inputs.size())
    {
        Inject(episode);
    }
    if (!episode.packets)
    {
        PassTold(episode, m_now.ToPicoseconds() - episode.begin);
    }
    GoOn(episode);
}

/**
 * Sorts the flows of one instant on known connections, so that their order does not depend on the
 * order of calls. Flows on new connections keep their order, which determines the round-robin order
 * of queue pairs.
 */
void
ReplayTransport::SortBatch(Episode& episode, std::size_t first, std::size_t last)
{
    if (last - first < 2)
    {
        return;
    }
    const auto isBefore = [&](const Input& a, const Input& b) {
        return std::pair(episode.names.ConnectionOf(a.request), a.id.value) <
               std::pair(episode.names.ConnectionOf(b.request), b.id.value);
    };
    const auto begin = episode.inputs.begin() + static_cast<std::ptrdiff_t>(first);
    std::sort(begin, begin + static_cast<std::ptrdiff_t>(last - first), isBefore);
    for (std::size_t i = first; i < last; i++)
    {
        if (!episode.inputs[i].isDone)
        {
            m_slots[episode.inputs[i].slot].input = static_cast<uint32_t>(i);
        }
    }
}

/** Follows a start in the memo; if it is new, the episode needs packets from here on. */
void
ReplayTransport::Walk(Episode& episode, Input& input)
{
    if (!episode.isKept)
    {
        return;
    }
    const uint32_t facts = episode.names.FactsOf(input.request, m_routes, m_memo);
    const EpisodeMemo::Start start{input.time, facts};
    uint32_t known = m_memo.Find(episode.state, start);
    if (known == NONE && !episode.isSimulated && m_spec.settle.tolerance > 0)
    {
        known = m_memo.FindNear(episode.state, start, MayMove(episode, input));
        if (known != NONE)
        {
            Move(episode, start.time - m_memo.At(known).start.time);
        }
    }
    const uint32_t next = known == NONE ? m_memo.Extend(episode.state, start) : known;
    input.state = next;
    if (next == NONE)
    {
        Forget(episode);
        Simulate(episode);
        return;
    }
    if (episode.isSimulated)
    {
        StopLeading(episode);
        Enter(episode, next);
        return;
    }
    PassTold(episode, input.time);
    StopLeading(episode);
    episode.state = next;
    episode.nextNotification = 0;
    if (episode.parked)
    {
        Enter(episode, next);
    }
    const bool stalls =
        !m_down.empty() && m_routing.HasDownLink(m_routing.CurrentPath(input.request.route));
    if (known == NONE || stalls) // a stall is not in the memo
    {
        Simulate(episode);
    }
}

/** Allowed shift of an episode when a flow starts, ps. */
int64_t
ReplayTransport::MayMove(const Episode& episode, const Input& input) const
{
    const RouteId route = input.request.route;
    const Time uncontended =
        m_routing.Latency(route) + input.request.bytes / m_routing.BottleneckRate(route);
    const int64_t time = std::max(input.time, uncontended.ToPicoseconds());
    const double max = m_spec.settle.tolerance * static_cast<double>(time);
    return std::max(int64_t{0}, static_cast<int64_t>(max) - episode.moved);
}

/** Shifts the notifications of an episode by @p by ps. */
void
ReplayTransport::Move(Episode& episode, int64_t by)
{
    episode.begin += by;
    episode.moved += std::abs(by);
    m_counters.moves++;
    m_counters.largestMove = std::max(m_counters.largestMove, episode.moved);
    for (std::size_t i = episode.walked; i < episode.inputs.size(); i++)
    {
        episode.inputs[i].time -= by;
    }
}

/** Queues the notifications of the current memo state up to @p until. */
void
ReplayTransport::PassTold(Episode& episode, int64_t until)
{
    const EpisodeMemo::State& state = m_memo.At(episode.state);
    for (; episode.nextNotification < state.told.size() &&
           state.told[episode.nextNotification].time <= until;
         episode.nextNotification++)
    {
        PassOn(episode, state.told[episode.nextNotification]);
    }
}

/** Queues a notification of the memo or of packets, unless it was delivered before. */
void
ReplayTransport::PassOn(Episode& episode, EpisodeMemo::Told told)
{
    const Input& input = episode.inputs[told.flow];
    if (told.isDone ? input.isDone : input.isSent)
    {
        return;
    }
    if (told.isDone && episode.moved > 0)
    {
        // In a shifted episode, the flow may end earlier than packets could, at most by the shift.
        const Time min = FluidUncontendedTime(input.request, m_routing);
        const int64_t end = (Time::Picoseconds(input.start) + min).ToPicoseconds() - episode.begin;
        const int64_t time = std::min(end, told.time + episode.moved);
        if (time > m_now.ToPicoseconds() - episode.begin)
        {
            told.time = episode.begin + time; // absolute, independent of later shifts
            const bool isHeld =
                std::any_of(episode.held.begin(),
                            episode.held.end(),
                            [&](const EpisodeMemo::Told& each) { return each.flow == told.flow; });
            if (!isHeld) // a notification from before packets were needed again
            {
                episode.held.push_back(told);
            }
            return;
        }
    }
    episode.toTell.push_back(told);
}

/** Queues the held notifications that are due. */
void
ReplayTransport::PassHeld(Episode& episode)
{
    const int64_t now = m_now.ToPicoseconds();
    const auto later =
        std::stable_partition(episode.held.begin(),
                              episode.held.end(),
                              [now](const EpisodeMemo::Told& told) { return told.time <= now; });
    episode.toTell.insert(episode.toTell.end(), episode.held.begin(), later);
    episode.held.erase(episode.held.begin(), later);
}

/** Index of the first flow whose end was not yet reported. */
uint32_t
ReplayTransport::FirstOpen(Episode& episode)
{
    while (episode.open < episode.inputs.size() && episode.inputs[episode.open].isDone)
    {
        episode.open++;
    }
    return episode.open;
}

/** Looks for a recurrence, now that inputs from @p first on have started. */
void
ReplayTransport::FindPeriod(Episode& episode, std::size_t first)
{
    Recurrence& recurrence = episode.recurrence;
    for (std::size_t i = first; i < episode.walked; i++)
    {
        recurrence.Note(m_memo, episode.inputs[i].state, static_cast<uint32_t>(i + 1));
    }
    const uint32_t flows = recurrence.IsDue() ? recurrence.Find(m_memo, FirstOpen(episode)) : 0;
    if (flows == 0)
    {
        return;
    }
    Packets& packets = *episode.packets;
    Recurrence::Standing standing;
    standing.flows = episode.walked;
    if (!packets.Transport().AppendLevels(standing.levels))
    {
        return;
    }
    for (const uint32_t link : episode.names.Links())
    {
        const int64_t queued = packets.Transport().GetPackets().GetNetwork().QueuedBytes(link);
        standing.levels.push_back(static_cast<double>(queued));
        standing.counters.push_back(packets.CountersAt(link, episode.reached));
    }
    auto counters = recurrence.Confirm(flows, std::move(standing));
    if (!counters)
    {
        return;
    }
    EpisodeMemo::Period period;
    period.flows = flows;
    period.first = StateBefore(episode, episode.walked - flows);
    period.time = m_memo.At(episode.state).start.time - m_memo.At(period.first).start.time;
    period.counters = std::move(*counters);
    m_memo.Repeat(episode.state, std::move(period));
}

/**
 * Skips a period that repeats itself: the flows that started in it replace those that started one
 * period earlier. The packets are parked before the inputs from @p first on.
 */
void
ReplayTransport::PassPeriod(Episode& episode, std::size_t first)
{
    const EpisodeMemo::Period& period = m_memo.PeriodOf(episode.state);
    std::vector<Input>& inputs = episode.inputs;
    const std::size_t begin = episode.walked - 2 * period.flows;
    if (FirstOpen(episode) < begin)
    {
        return; // it was shifted, and a notification is late
    }
    const std::vector<uint32_t>& names = episode.names.Links();
    for (std::size_t i = 0; i < period.counters.size(); i++)
    {
        m_ended[names[i]] += period.counters[i];
    }
    StopLeading(episode);
    episode.isSimulated = false;
    if (episode.packets)
    {
        for (std::size_t i = first; i < episode.walked; i++)
        {
            EpisodeMemo::State& state = m_memo.At(StateBefore(episode, i));
            state.known = std::max(state.known, inputs[i].time + 1);
        }
        episode.packets->Pass(period);
        episode.injected -= period.flows;
        episode.reached -= period.time;
        episode.packetState = StateBefore(episode, episode.injected);
        episode.parked = std::move(episode.packets);
    }
    for (std::size_t i = begin; i < inputs.size(); i++)
    {
        Input input = inputs[i];
        input.time -= period.time;
        Input& known = inputs[i - period.flows];
        input.state = i < episode.walked ? known.state : NONE;
        known = input;
        if (!known.isDone)
        {
            m_slots[known.slot].input -= period.flows;
        }
    }
    inputs.resize(inputs.size() - period.flows);
    for (EpisodeMemo::Told& told : episode.toTell)
    {
        told.flow -= period.flows;
    }
    for (EpisodeMemo::Told& told : episode.held)
    {
        told.flow -= period.flows;
    }
    episode.hasPassed = true;
    episode.walked -= period.flows;
    episode.open -= period.flows;
    episode.begin += period.time;
    episode.state = period.first;
    episode.nextNotification = 0;
    m_counters.periods++;
    if (episode.parked)
    {
        Enter(episode, period.first);
    }
}

/** Frees packets, after adding their counters. */
void
ReplayTransport::Drop(std::unique_ptr<Packets>& packets)
{
    if (packets)
    {
        m_counters.events += packets->Transport().GetPackets().Events();
        m_counters.settled += packets->Transport().GetCounters();
        packets.reset();
    }
}

/** Moves an episode with packets to a memo state, which it may then lead. */
void
ReplayTransport::Enter(Episode& episode, uint32_t number)
{
    episode.state = number;
    EpisodeMemo::State& state = m_memo.At(number);
    if (state.leader == NONE || m_episodes[state.leader]->begin > episode.begin)
    {
        state.leader = episode.number;
    }
}

void
ReplayTransport::StopLeading(Episode& episode)
{
    EpisodeMemo::State& state = m_memo.At(episode.state);
    if (state.leader == episode.number)
    {
        state.leader = NONE;
        Notify(episode.state);
    }
}

/** Stops storing an episode. */
void
ReplayTransport::Forget(Episode& episode)
{
    episode.isKept = false;
    StopLeading(episode);
}

/** Requests packets for an episode; they catch up at the next flush. */
void
ReplayTransport::Simulate(Episode& episode)
{
    if (episode.isSimulated)
    {
        return;
    }
    episode.isSimulated = true;
    if (episode.isKept)
    {
        Enter(episode, episode.state);
    }
    RequestFlush(episode);
}

/**
 * Whether parked packets are at a point that the episode has passed, before its next start. They
 * are not if a different period was skipped since.
 */
bool
ReplayTransport::CanResume(const Episode& episode)
{
    const std::size_t known = episode.injected;
    return known <= episode.inputs.size() && StateBefore(episode, known) == episode.packetState &&
           (known == episode.inputs.size() || episode.moved > 0 ||
            episode.reached <= episode.inputs[known].time);
}

/** Simulates an episode from its start, or from its parked packets, up to now. */
void
ReplayTransport::CatchUp(Episode& episode)
{
    episode.recurrence = Recurrence();
    episode.wasSimulated = true;
    if (episode.parked && CanResume(episode))
    {
        episode.packets = std::move(episode.parked);
        episode.nextNotification =
            static_cast<uint32_t>(m_memo.At(episode.packetState).told.size());
    }
    else
    {
        episode.toTell.clear(); // found again, unless packets were parked behind it
        episode.held.clear();
        Drop(episode.parked);
        episode.packets = std::make_unique<Packets>(*this, episode);
        SettlingPackets& packets = episode.packets->Transport();
        for (const auto& [link, rate] : m_rates)
        {
            packets.SetLinkRate(link, rate, Time());
        }
        if (!m_down.empty())
        {
            packets.SetLinksUp(m_down, false, Time());
        }
        episode.packetState = EpisodeMemo::ROOT;
        episode.nextNotification = 0;
        episode.injected = 0;
        episode.reached = 0;
    }
    const PacketTransport& packets = episode.packets->Transport().GetPackets();
    const uint64_t known = packets.Events();
    while (episode.injected < episode.inputs.size())
    {
        Advance(episode, episode.inputs[episode.injected].time);
        Inject(episode);
    }
    Advance(episode, m_now.ToPicoseconds() - episode.begin);
    m_counters.repeatedEvents += packets.Events() - known;
    m_isWhole = m_isWhole || (m_counters.repeatedEvents > FREE_EVENTS &&
                              m_counters.repeatedEvents > m_counters.events / 2);
}

/**
 * Advances the packets of an episode to @p until, including that instant. Packets of a shifted
 * episode may be ahead already.
 */
void
ReplayTransport::Advance(Episode& episode, int64_t until)
{
    episode.reached = std::max(episode.reached, until);
    episode.packets->Transport().AdvanceTo(episode.packets->At(episode.reached));
    KeepNews(episode);
}

/** Starts the next flow of an episode in its packets. */
void
ReplayTransport::Inject(Episode& episode)
{
    const uint32_t number = episode.injected++;
    const Input& input = episode.inputs[number];
    if (episode.isKept)
    {
        EpisodeMemo::State& state = m_memo.At(episode.packetState);
        state.known = std::max(state.known, input.time + 1);
        episode.packetState = input.state;
        episode.nextNotification = 0;
    }
    episode.packets->Start(input.request, input.time);
    KeepNews(episode); // a flow without links is done
}

/** Stores and queues the notifications of packets. */
void
ReplayTransport::KeepNews(Episode& episode)
{
    std::sort(episode.news.begin(), episode.news.end());
    for (const EpisodeMemo::Told& told : episode.news)
    {
        PassOn(episode, told);
        if (!episode.isKept)
        {
            continue;
        }
        EpisodeMemo::State& state = m_memo.At(episode.packetState);
        if (episode.nextNotification < state.told.size() &&
            state.told[episode.nextNotification] == told)
        {
            episode.nextNotification++;
        }
        else if (episode.nextNotification == state.told.size() && state.end == EpisodeMemo::NEVER)
        {
            state.told.push_back(told);
            episode.nextNotification++;
            Notify(episode.packetState);
        }
        else
        {
            Forget(episode); // ports due at one instant are handled in another order here
        }
    }
    episode.news.clear();
}

/** Delivers a notification to a flow's client, once. */
void
ReplayTransport::Tell(Episode& episode, const EpisodeMemo::Told& told, int64_t now)
{
    Input& input = episode.inputs[told.flow];
    if (told.isDone ? input.isDone : input.isSent)
    {
        return;
    }
    const FlowRequest request = input.request;
    const bool isSentNow = !input.isSent;
    const Time time = Time::Picoseconds(now);
    input.isSent = true;
    input.isDone = told.isDone;
    input.counters = told.counters;
    m_hasTold = true;
    if (told.isDone)
    {
        episode.unfinished--;
        m_active--;
        m_counters.flows++;
        m_counters.replayedFlows += episode.isSimulated ? 0 : 1;
        m_slots.Free(input.slot);
        LeaveLinks(request.route, now);
        m_observers.OnFlowFinished(input.id, request, Time::Picoseconds(input.start), time);
    }
    if (request.client != nullptr && isSentNow)
    {
        request.client->OnFlowSent(request.token, time);
    }
    if (request.client != nullptr && told.isDone)
    {
        request.client->OnFlowDone(request.token, time);
    }
}

void
ReplayTransport::OnStalled(Episode& episode, uint32_t number, bool isStalled)
{
    Input& input = episode.inputs[number];
    if (input.isStalled == isStalled || input.isDone)
    {
        return;
    }
    input.isStalled = isStalled;
    const FlowRequest request = input.request;
    m_hasTold = true;
    m_observers.OnFlowStalled(input.id, request, isStalled, m_now);
}

/**
 * Merges all episodes into one, which is simulated and not stored.
 * @return null if there is none
 */
ReplayTransport::Episode*
ReplayTransport::Unify()
{
    if (m_whole == NONE)
    {
        std::vector<uint32_t> numbers;
        for (uint32_t i = 0; i < m_episodes.size(); i++)
        {
            if (m_episodes[i])
            {
                numbers.push_back(i);
            }
        }
        if (numbers.empty())
        {
            return nullptr;
        }
        Episode& whole = numbers.size() == 1 ? *m_episodes[numbers.front()] : Merge(numbers);
        Forget(whole);
        Simulate(whole);
        m_whole = whole.number;
    }
    Flush();
    return m_whole == NONE ? nullptr : m_episodes[m_whole].get();
}

/** Last rate set for a link. */
Rate
ReplayTransport::RateOf(LinkId link) const
{
    const auto given = std::find_if(
        m_rates.rbegin(), m_rates.rend(), [link](const auto& each) { return each.first == link; });
    return given == m_rates.rend() ? m_routing.GetTopology().GetLink(link).rate : given->second;
}

void
ReplayTransport::SetLinkRate(LinkId link, Rate rate, Time now)
{
    WEIR_REFUSE_IF(link.Index() >= m_ended.size() || !(rate >= Rate()),
                   "ReplayTransport::SetLinkRate: no such link, or its rate is negative");
    m_now = std::max(m_now, now);
    Episode* running = Unify();
    m_rates.emplace_back(link, rate);
    if (IsLinkUp(link))
    {
        m_routes.SetRate(link.Index(), rate.ToBytesPerSecond());
    }
    if (running != nullptr)
    {
        const Time time = running->packets->At(now.ToPicoseconds() - running->begin);
        running->packets->Transport().SetLinkRate(link, rate, time);
        GoOn(*running);
    }
}

void
ReplayTransport::SetLinksUp(const std::vector<LinkId>& links, bool up, Time now)
{
    for (const LinkId link : links)
    {
        WEIR_REFUSE_IF(link.Index() >= m_ended.size(), "ReplayTransport::SetLinksUp: no such link");
    }
    m_now = std::max(m_now, now);
    Episode* running = Unify();
    m_routing.SetUsable(links, up);
    m_routes.ForgetPaths();
    for (const LinkId link : links)
    {
        m_down.erase(std::remove(m_down.begin(), m_down.end(), link), m_down.end());
        if (!up)
        {
            m_down.push_back(link);
        }
        m_routes.SetRate(link.Index(), up ? RateOf(link).ToBytesPerSecond() : -1); // unique
    }
    if (running != nullptr)
    {
        const Time time = running->packets->At(now.ToPicoseconds() - running->begin);
        running->packets->Transport().SetLinksUp(links, up, time);
        GoOn(*running);
    }
}

bool
ReplayTransport::Cancel(FlowId id, Time now)
{
    const Input* const known = FindInput(id);
    if (known == nullptr || known->isDone)
    {
        return false;
    }
    m_now = std::max(m_now, now);
    Episode& running = *Unify();
    const uint32_t slot = m_slots.Find(id);
    const uint32_t number = m_slots[slot].input;
    Input& input = running.inputs[number];
    const Time time = running.packets->At(now.ToPicoseconds() - running.begin);
    input.isSent = true; // no more notifications
    input.isDone = true;
    running.unfinished--;
    m_active--;
    m_slots.Free(slot);
    LeaveLinks(input.request.route, now.ToPicoseconds());
    running.packets->Transport().Cancel(running.packets->TokenOf(number), time);
    KeepNews(running);
    GoOn(running);
    return true;
}

Rate
ReplayTransport::CurrentRate(FlowId id)
{
    const Input* const input = FindInput(id);
    if (input == nullptr || input->isDone)
    {
        return Rate();
    }
    const uint32_t number = m_slots[input->slot].input;
    const Episode& episode = *m_episodes[m_slots[input->slot].episode];
    return episode.packets && number < episode.injected
               ? episode.packets->Transport().RateOf(episode.packets->TokenOf(number))
               : Rate();
}

FlowPath
ReplayTransport::CurrentPath(FlowId id)
{
    const Input* const input = FindInput(id);
    if (input == nullptr)
    {
        return FlowPath();
    }
    const Slot& slot = m_slots[input->slot];
    const Episode& episode = *m_episodes[slot.episode];
    const FlowPath path =
        episode.packets && slot.input < episode.injected
            ? episode.packets->Transport().PathOf(episode.packets->TokenOf(slot.input))
            : FlowPath();
    return path.path.IsValid() ? path : m_routes.Of(input->request.route).taken;
}

LinkUsage
ReplayTransport::GetLinkUsage(LinkId link)
{
    return UsageOf(*GetPortCounters(link), m_routing.GetTopology().GetLink(link));
}

const PortCounters*
ReplayTransport::GetPortCounters(LinkId link)
{
    m_asked = m_ended[link.Index()];
    for (const auto& each : m_episodes) // other episodes may have used the link before
    {
        if (each && each->packets)
        {
            const int64_t now = std::max(each->reached, m_now.ToPicoseconds() - each->begin);
            m_asked += each->packets->CountersAt(link.Index(), now);
        }
        else if (each && each->parked)
        {
            m_asked += each->parked->CountersAt(link.Index(), each->reached);
        }
    }
    return &m_asked;
}

const FlowCounters*
ReplayTransport::GetFlowCounters(FlowId id)
{
    const Input* const input = FindInput(id);
    return input == nullptr ? nullptr : &input->counters;
}

std::vector<StalledFlow>
ReplayTransport::StalledFlows()
{
    Flush();
    std::vector<StalledFlow> stalled;
    for (const auto& episode : m_episodes)
    {
        if (!episode || !episode->packets)
        {
            continue;
        }
        for (const StalledFlow& each : episode->packets->Transport().StalledFlows())
        {
            const Input& input = episode->inputs[episode->packets->InputOf(each.request.token)];
            if (input.isDone)
            {
                continue; // reported earlier, in a shifted episode
            }
            stalled.push_back({input.id, input.request, each.link});
        }
    }
    std::sort(stalled.begin(), stalled.end(), [](const StalledFlow& a, const StalledFlow& b) {
        return a.id.value < b.id.value;
    });
    return stalled;
}

std::string
ReplayTransport::DescribeWaiting() const
{
    for (const auto& episode : m_episodes)
    {
        if (episode && episode->packets)
        {
            std::string text = episode->packets->Transport().GetPackets().DescribeWaiting();
            if (!text.empty())
            {
                return text;
            }
        }
    }
    return {};
}

} // namespace weir
