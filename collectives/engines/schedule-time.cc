// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/schedule-time.h"

#include "collectives/schedule/message-split.h"
#include "collectives/schedule/schedule-run.h"
#include "fabric/routing/concurrent-shares.h"
#include "fabric/sharing/sharing-solver.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <queue>
#include <tuple>
#include <vector>

namespace weir
{

namespace
{

/** Blocks that share links may drift apart over tens of passes, to where they share them better. */
constexpr uint32_t FEW_PASSES = 32;
constexpr double STEADY = 1e-3; //!< periods that differ by less than this part are the same

/** Follows a schedule slice by slice. */
class SliceTimes
{
  public:
    SliceTimes(const Schedule& schedule, Routing& routing, double calls)
        : m_run(schedule),
          m_pause(schedule.block.Pause(schedule.op)),
          m_solver(Capacities(routing.GetTopology(), calls))
    {
        const ConcurrentShares shares(routing, [&] { return Loads(); });
        for (uint32_t c = 0; c < m_run.ConnectionCount(); ++c)
        {
            const ScheduleConnection& connection = m_run.GetConnection(c);
            const double copies = m_run.Copies(c);
            Wire wire;
            wire.weight = copies * connection.weight;
            wire.factor = copies * connection.wireFactor;
            wire.cap = std::min(schedule.channelCap, connection.cap) * wire.factor;
            std::vector<LinkShare> path;
            shares.ForEach(connection.connection.route, [&](LinkId link, double share) {
                path.push_back({link, share});
            });
            if (!path.empty())
            {
                wire.variable = m_solver.Add(path, wire.cap.ToBytesPerSecond() / wire.weight);
            }
            m_wires.push_back(wire);
        }
    }

    /** When the last block has run its last primitive. */
    Time End()
    {
        for (uint32_t block = 0; block < m_run.BlockCount(); ++block)
        {
            m_run.Advance(block, m_started, m_now);
            GoOn();
        }
        while (m_run.BlocksLeft() > 0)
        {
            Share();
            Time next = m_events.empty() ? Time::Infinite() : m_events.top().at;
            for (const uint32_t c : m_moving)
            {
                next = std::min(next, m_wires[c].end);
            }
            if (next.IsInfinite())
            {
                return next;
            }
            m_now = next;
            EndMoves();
            while (!m_events.empty() && m_events.top().at == m_now)
            {
                const Event event = m_events.top();
                m_events.pop();
                Handle(event);
            }
        }
        return m_now;
    }

  private:
    static constexpr uint32_t NO_LINKS = 0xffffffff;

    struct Wire
    {
        uint32_t variable{NO_LINKS}; //!< of the solver
        double weight{1};            //!< of all copies
        double factor{1};            //!< bytes on the wires of all copies per byte of a slice
        Rate cap;                    //!< of all copies
        Time notBefore;              //!< when it may move a slice again
        double left{0};              //!< bytes at `since`, while it moves
        double rate{0};              //!< bytes per second from then on
        Time since;
        Time end;
    };

    enum class What : uint8_t
    {
        Arrival,
        Copied,
        WireIsFree,
        BlockIsFree
    };

    struct Event
    {
        Time at;
        uint64_t order; //!< breaks ties
        What what;
        uint32_t index; //!< of a connection or block

        friend bool operator>(const Event& a, const Event& b)
        {
            return std::tie(a.at, a.order) > std::tie(b.at, b.order);
        }
    };

    static std::vector<double> Capacities(const Topology& topology, double calls)
    {
        std::vector<double> capacities;
        for (std::size_t i = 0; i < topology.LinkCount(); ++i)
        {
            capacities.push_back(topology.GetLink(LinkId(i)).rate.ToBytesPerSecond() / calls);
        }
        return capacities;
    }

    std::vector<RouteLoad> Loads() const
    {
        std::vector<RouteLoad> loads;
        for (uint32_t c = 0; c < m_run.ConnectionCount(); ++c)
        {
            loads.push_back({m_run.GetRoute(c), m_run.Copies(c) * m_run.GetConnection(c).weight});
        }
        return loads;
    }

    void Push(Time at, What what, uint32_t index)
    {
        m_events.push({at, m_pushed++, what, index});
    }

    /** Moves what blocks have sent, and remembers those that are busy. */
    void GoOn()
    {
        for (const ScheduleRun::Wake& wake : m_run.Wakes())
        {
            Push(wake.at, What::BlockIsFree, wake.block);
        }
        m_run.Wakes().clear();
        for (const uint32_t connection : m_started)
        {
            Move(connection);
        }
        m_started.clear();
    }

    /** The oldest slice of a connection. */
    void Move(uint32_t c)
    {
        Wire& wire = m_wires[c];
        if (wire.notBefore > m_now)
        {
            Push(wire.notBefore, What::WireIsFree, c);
            return;
        }
        wire.notBefore = m_now + m_run.GetConnection(c).interval;
        const Bytes bytes = RoundedUp(static_cast<double>(m_run.FrontBytes(c)) * wire.factor);
        if (wire.variable == NO_LINKS)
        {
            const Time copy = wire.cap.IsInfinite() ? Time() : bytes / wire.cap;
            Push(m_now + copy, What::Copied, c);
            return;
        }
        wire.left = bytes.ToDouble();
        wire.rate = 0;
        wire.since = m_now;
        m_moving.push_back(c);
        m_solver.SetWeight(wire.variable, wire.weight);
    }

    /** Gives all slices that move their rates. */
    void Share()
    {
        if (!m_solver.NeedsSolve())
        {
            return;
        }
        m_solver.Solve();
        for (const uint32_t c : m_moving)
        {
            Wire& wire = m_wires[c];
            const double rate = m_solver.Level(wire.variable) * wire.weight;
            if (rate != wire.rate || wire.since == m_now)
            {
                wire.left -= wire.rate * (m_now - wire.since).ToSeconds();
                wire.since = m_now;
                wire.rate = rate;
                const Bytes left(std::max<int64_t>(0, std::llround(wire.left)));
                wire.end = m_now + left / Rate::BytesPerSecond(rate);
            }
        }
    }

    void EndMoves()
    {
        std::vector<uint32_t> ended;
        const auto isOver = [&](uint32_t c) { return m_wires[c].end == m_now; };
        std::copy_if(m_moving.begin(), m_moving.end(), std::back_inserter(ended), isOver);
        m_moving.erase(std::remove_if(m_moving.begin(), m_moving.end(), isOver), m_moving.end());
        for (const uint32_t c : ended)
        {
            m_solver.SetWeight(m_wires[c].variable, 0);
            Sent(c);
        }
    }

    /** The last byte of the oldest slice has left: the next one may. */
    void Sent(uint32_t c)
    {
        const ScheduleConnection& connection = m_run.GetConnection(c);
        Wire& wire = m_wires[c];
        const bool stores = connection.connection.kind != ConnectionKind::Network;
        wire.notBefore = std::max(wire.notBefore, m_now + (stores ? m_pause : Time()));
        Push(m_now + connection.latency, What::Arrival, c);
        if (m_run.PopFront(c))
        {
            Move(c);
        }
    }

    void Handle(const Event& event)
    {
        switch (event.what)
        {
        case What::Arrival:
            m_run.Arrive(event.index, m_started, m_now);
            break;
        case What::Copied:
            Sent(event.index);
            break;
        case What::WireIsFree:
            Move(event.index);
            break;
        case What::BlockIsFree:
            m_run.Advance(event.index, m_started, m_now);
            break;
        }
        GoOn();
    }

    ScheduleRun m_run;
    Time m_pause; //!< of a wire that blocks store through, between two slices
    SharingSolver m_solver;
    std::vector<Wire> m_wires;      //!< by connection
    std::vector<uint32_t> m_moving; //!< connections with a slice on links
    std::vector<uint32_t> m_started;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> m_events;
    uint64_t m_pushed{0};
    Time m_now;
};

uint32_t
MostRepeats(const Schedule& schedule)
{
    uint32_t most = 0;
    for (const auto& [channel, copies] : schedule.channels)
    {
        for (const Loop& loop : channel.loops)
        {
            most = std::max(most, loop.repeat);
        }
    }
    return most;
}

} // namespace

Time
ScheduleTime(const Schedule& schedule, Routing& routing, double calls)
{
    const uint32_t repeats = MostRepeats(schedule);
    const auto endOf = [&](uint32_t passes) {
        return SliceTimes(WithPasses(schedule, passes), routing, calls).End();
    };
    Time before;
    Time periodBefore;
    for (uint32_t passes = FEW_PASSES; passes < repeats; passes *= 2)
    {
        const Time end = endOf(passes);
        if (end.IsInfinite())
        {
            return end;
        }
        const Time period = (end - before) * (2.0 / passes);
        if (std::abs(period / periodBefore - 1) <= STEADY)
        {
            return end + period * (repeats - passes);
        }
        before = end;
        periodBefore = period;
    }
    return endOf(repeats);
}

} // namespace weir
