// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_FLOW_ENGINE_H
#define WEIR_COLLECTIVES_ENGINES_FLOW_ENGINE_H

#include "collectives/engines/back-to-back-calls.h"
#include "collectives/engines/call-slots.h"
#include "collectives/engines/collective-engine.h"
#include "collectives/planner.h"
#include "collectives/schedule/folded-schedule.h"
#include "collectives/schedule/schedule-run.h"
#include "fabric/transport/transport.h"
#include "fabric/units.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <tuple>
#include <vector>

namespace weir
{

/**
 * Timers that all have the same delay, and so run out in the order in which they were set: a
 * first-in-first-out queue instead of a heap. O(1), and no allocation once it has grown.
 */
template <typename Item>
class DelayLine
{
  public:
    explicit DelayLine(Time delay)
        : m_delay(delay)
    {
    }

    Time Delay() const
    {
        return m_delay;
    }

    bool IsEmpty() const
    {
        return m_size == 0;
    }

    /** When the oldest timer runs out. Not to be asked when empty. */
    Time Front() const
    {
        return m_ring[m_head].due;
    }

    /** Sets a timer at @p now, which is never before the last one's. */
    void Push(Time now, const Item& item)
    {
        if (m_size == m_ring.size())
        {
            Grow();
        }
        m_ring[(m_head + m_size) & (m_ring.size() - 1)] = {now + m_delay, item};
        ++m_size;
    }

    Item Pop()
    {
        const Item item = m_ring[m_head].item;
        m_head = (m_head + 1) & (m_ring.size() - 1);
        --m_size;
        return item;
    }

  private:
    struct Timer
    {
        Time due;
        Item item;
    };

    void Grow()
    {
        std::vector<Timer> larger(m_ring.empty() ? 16 : 2 * m_ring.size());
        for (std::size_t i = 0; i < m_size; ++i)
        {
            larger[i] = m_ring[(m_head + i) & (m_ring.size() - 1)];
        }
        m_ring = std::move(larger);
        m_head = 0;
    }

    Time m_delay;
    std::vector<Timer> m_ring; //!< a power of two of places
    std::size_t m_head{0};
    std::size_t m_size{0};
};

/**
 * A collective is every slice of every chunk of every step of its schedule, each a fluid flow with
 * its true dependencies.
 *
 * A connection is a pipe: one slice on the wire at a time, the next one following it at once, and
 * each arrives one hop latency after its last byte. A slice that moves as packets arrives when the
 * transport says so, and later by what the hop latency has beyond the path's. Every thread
 * block starts after the protocol's base latency. Reduction and copy cost is the cap of a channel,
 * and where the schedule has BlockTimes a slice keeps its block busy for that long, and a wire that
 * blocks store through pauses between two slices. Equal channels run as one flow of their number's
 * weight. What crosses no link, as copies inside a GPU, takes bytes / cap whatever else moves, so
 * the transport is not asked for it. O(1) per slice besides the transport's own work and, for a
 * block that is waited for, O(log blocks).
 */
class FlowEngine : public CollectiveEngine, private FlowClient
{
  public:
    /**
     * @param form of its flows, where the transport moves both
     * Planner and transport must outlive it; the transport is advanced by whoever owns it.
     */
    FlowEngine(Planner& planner, Transport& transport, FlowForm form = FlowForm::Fluid);

    /** @throws std::length_error as Planner::GetSchedule, and at more slices than hours can move.
     */
    void Start(const CollectiveCall& call,
               CollectiveClient* client,
               uint64_t token,
               Time now) override;

    /**
     * Begins what no planner's call is: @p schedule, of @p ranks ranks and further switches, which
     * must outlive it.
     */
    void Start(const Schedule& schedule, uint32_t ranks, CollectiveClient* client, Time now);

    /**
     * Begins a row of calls like @p call at @p now, each of which every rank makes when its own
     * kernel of the one before has ended (BackToBackCalls), until @p client wants no more; those
     * that some rank has begun by then come to their end. @throws as Start.
     */
    void StartBackToBack(const CollectiveCall& call, BackToBackClient& client, Time now);

    /**
     * From now on every call is alone on its fabric, whose paths are fixed, and only its times
     * matter, not what flows and links do: what is alike is played once (FoldAlike).
     */
    void FoldCalls()
    {
        m_foldsCalls = true;
    }

    std::size_t Active() const override;
    std::optional<FlowOrigin> OriginOf(const FlowRequest& request) const override;
    Time NextEventTime() override;
    void AdvanceTo(Time now) override;

  private:
    /** A connection's wire; all that a slice needs of it, in one place. */
    struct Wire
    {
        static constexpr uint16_t NO_LINE = 0xffff;
        static constexpr int64_t CROSSES_LINKS = -2;
        static constexpr int64_t UNKNOWN = -1;

        Time notBefore;                //!< when it may move a slice again
        int64_t copied{CROSSES_LINKS}; //!< bytes of the slice that copyLine is for, if a copy
        uint32_t stream{0};            //!< of its route's
        uint16_t copyLine{0};          //!< of m_lines, while a slice is copied
        uint16_t arrivalLine{0};       //!< from then, or when it is told, until it has arrived
        bool isHere{false};            //!< a copied slice arrives at once
        bool isTold{false};            //!< the transport tells when a slice arrives
        bool pauses{false};            //!< from one slice's end to the next one's start
    };

    struct Running
    {
        std::unique_ptr<ScheduleRun> run;         //!< null: the place is free
        std::unique_ptr<FoldedSchedule> folded{}; //!< null: all of the planner's is played; else
                                                  //!< what the run has not taken out of it
        const Schedule* schedule{nullptr};
        uint32_t ranks{0}; //!< of the schedule; further ones are switches
        CollectiveClient* client{nullptr};
        uint64_t token{0};
        uint64_t serial{0};                     //!< tells collectives of one place apart
        std::vector<Wire> wires;                //!< by connection
        Time pause;                             //!< of those that do
        std::unique_ptr<BackToBackCalls> row{}; //!< null: a single call
    };

    /**
     * What a timer is for: a slice arriving on a connection, or one that has been copied, or the
     * start of a collective.
     */
    struct Timer
    {
        static constexpr uint32_t START = 0xffffffff;
        static constexpr uint32_t COPIED = 0x80000000; //!< in connection

        uint32_t running{0};
        uint32_t connection{START};
    };

    /** A timer of a delay that has no line; ties in the order of setting. */
    struct Due
    {
        Time at;
        uint64_t order;
        Timer timer;

        friend bool operator>(const Due& a, const Due& b)
        {
            return std::tie(a.at, a.order) > std::tie(b.at, b.order);
        }
    };

    /**
     * When a busy block, or a pausing wire, can go on, a rank begins its next call, or the last
     * slice is done; ties by collective, then block.
     */
    struct Wake
    {
        static constexpr uint32_t WIRE = 0x80000000; //!< in block: it is a connection
        static constexpr uint32_t RANK = 0x40000000; //!< as above: it is a rank
        static constexpr uint32_t END = 0xffffffff;  //!< as above: it is the collective's end

        Time at;
        uint32_t running;
        uint32_t block;
        uint64_t serial; //!< Running::serial then

        friend bool operator>(const Wake& a, const Wake& b)
        {
            return std::tie(a.at, a.running, a.block) > std::tie(b.at, b.running, b.block);
        }
    };

    void OnFlowDone(uint64_t token, Time now) override;
    void OnFlowSent(uint64_t token, Time now) override;
    Running& Begin(const CollectiveCall& call, Time now);
    uint32_t Begin(std::unique_ptr<ScheduleRun> run,
                   const Schedule& schedule,
                   uint32_t ranks,
                   uint32_t communicator,
                   Time now);
    void BeginCalls(uint32_t running, Time now);
    void BeginCallOf(uint32_t running, uint32_t rank, Time now);
    void HoldSenders(const Running& running);
    void ReleaseEnded(uint32_t running, Time now);
    void Release(uint32_t running, uint32_t rank, Time at, Time now);
    void OnSliceMoved(uint32_t place, uint32_t connection, Time now);
    void OnSliceSent(uint32_t place, uint32_t connection, Time now);
    void SetArrival(uint32_t place, uint32_t connection, Time now);
    void AddWires(Running& running, uint32_t communicator);
    Time ArrivalDelay(const Running& running, uint32_t connection) const;
    void Copy(uint32_t running, uint32_t connection, Time now);
    FlowForm FormOf(RouteId route);
    FlowRequest RequestOf(uint32_t running, uint32_t connection);
    void Handle(const Timer& timer, Time now);
    void HandleWake(const Wake& wake, Time now);
    void AfterAdvance(uint32_t running, Time now);
    void Send(uint32_t running, uint32_t connection, Time now);
    void SendStarted(uint32_t running, Time now);
    void Finish(uint32_t running, Time now);
    uint16_t LineOf(Time delay);
    void SetTimer(uint16_t line, Time delay, Time now, const Timer& timer);
    Time CopyTime(uint32_t running, uint32_t connection);

    Planner& m_planner;
    Transport& m_transport;
    FlowForm m_form;
    bool m_foldsCalls{false};
    CallSlots<Running> m_running;
    std::vector<DelayLine<Timer>> m_lines; //!< one per distinct delay, of the first MAX_LINES
    std::priority_queue<Due, std::vector<Due>, std::greater<>> m_dues; //!< timers of others
    uint64_t m_timers{0};                                              //!< set in m_dues so far
    std::priority_queue<Wake, std::vector<Wake>, std::greater<>> m_wakes;
    std::vector<uint32_t> m_started; //!< connections that must start to send, while handling
    uint64_t m_serial{0};
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_FLOW_ENGINE_H
