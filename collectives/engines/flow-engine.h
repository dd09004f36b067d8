// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_FLOW_ENGINE_H
#define WEIR_COLLECTIVES_ENGINES_FLOW_ENGINE_H

#include "collectives/engines/back-to-back-calls.h"
#include "collectives/engines/collective-engine.h"
#include "collectives/engines/striped-flows.h"
#include "collectives/planner.h"
#include "collectives/schedule/folded-schedule.h"
#include "collectives/schedule/schedule-run.h"
#include "fabric/slot-pool.h"
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
 * A FIFO timer queue: all timers have the same delay, and so expire in the order in which they were
 * set. O(1) per timer, without allocation once the queue has grown.
 */
template <typename Item>
class TimerQueue
{
  public:
    explicit TimerQueue(Time delay)
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

    /** When the oldest timer expires. The queue must not be empty. */
    Time Front() const
    {
        return m_ring[m_head].due;
    }

    /** Sets a timer. @p now is never before that of the previous call. */
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
    std::vector<Timer> m_ring; //!< a ring buffer whose size is a power of two
    std::size_t m_head{0};
    std::size_t m_size{0};
};

/**
 * A collective is every slice of every chunk of every step of its schedule, each a fluid flow with
 * its true dependencies.
 *
 * A connection is a pipe with one slice on the wire at a time. The next slice follows at once, and
 * each slice arrives one hop latency after its last byte. A slice that moves as packets arrives
 * when the transport says so, later by the part of the hop latency that exceeds the path's. Every
 * thread block starts after the protocol's base latency. Reduction and copy cost is the cap of a
 * channel. Where the schedule has BlockTimes, a slice also keeps its block busy for its block time,
 * and a wire that blocks store through pauses between two slices. Equal channels run as one flow
 * whose weight is their number. A slice on a striped route is a flow on each stripe, and has moved
 * when the last of them has. Slices that cross no link, such as copies inside a GPU, take bytes
 * / cap whatever else moves, without the transport. O(1) per slice besides the transport's own
 * work, plus O(log blocks) for a block that is waited for.
 */
class FlowEngine : public CollectiveEngine, private FlowClient
{
  public:
    /**
     * @param form of its flows, where the transport moves both forms
     * Planner and transport must outlive it; the owner of the transport advances it.
     */
    FlowEngine(Planner& planner, Transport& transport, FlowForm form = FlowForm::Fluid);

    /** @throws std::length_error as Planner::GetSchedule, and for more than 2^32 slices. */
    void Start(const CollectiveCall& call,
               CollectiveClient* client,
               uint64_t token,
               Time now) override;

    /**
     * Begins a schedule that is not a planner's call. @p schedule is of @p ranks ranks and further
     * switches, and must outlive the run.
     */
    void Start(const Schedule& schedule, uint32_t ranks, CollectiveClient* client, Time now);

    /**
     * Begins back-to-back calls equal to @p call at @p now. Every rank makes its next call when its
     * own kernel of the previous one has ended (BackToBackCalls), until @p client wants no more.
     * Calls that some rank has begun by then run to their end.
     * @throws as Start.
     */
    void StartBackToBack(const CollectiveCall& call, BackToBackClient& client, Time now);

    /**
     * From now on every call is uncontended on a fabric with fixed paths, and only its times
     * matter, not those of flows and links: each call is folded (FoldSchedule).
     */
    void FoldCalls()
    {
        m_foldsCalls = true;
    }

    std::optional<FlowOrigin> OriginOf(const FlowRequest& request) const override;
    Time NextEventTime() override;
    void AdvanceTo(Time now) override;

  private:
    /** The wire of a connection, with everything that a slice needs of it. */
    struct Wire
    {
        static constexpr uint16_t NO_LINE = 0xffff;
        static constexpr int64_t CROSSES_LINKS = -2;
        static constexpr int64_t UNKNOWN = -1;
        static constexpr uint32_t WHOLE = 0xffffffff;

        Time notBefore;                //!< earliest start of the next slice
        int64_t copied{CROSSES_LINKS}; //!< size of the copied slice that copyLine is for (bytes),
                                       //!< if slices are copied
        uint32_t stream{0};            //!< number of the flows' stream on its route
        uint32_t queuePairs{1};        //!< number of queue pairs of a stripe, for packets
        uint32_t stripes{WHOLE};       //!< index into Running::stripes; WHOLE: one flow per slice
        uint16_t copyLine{0};          //!< index into m_lines: the time of a copy
        uint16_t arrivalLine{0}; //!< index into m_lines: the delay until a slice arrives, from its
                                 //!< departure or the transport's report
        bool isHere{false};      //!< a copied slice arrives at once
        bool isTold{false};      //!< the transport reports the arrival of slices
        bool pauses{false};      //!< between the end of a slice and the start of the next
    };

    /** Slices of a connection whose flows have sent, and delivered, their last byte. */
    struct Stripes
    {
        StripedSlices sent;
        StripedSlices done;
    };

    /** The token of a flow. */
    struct FlowToken
    {
        static constexpr unsigned CONNECTION_BITS = 30;
        static constexpr unsigned STRIPE_BITS = 10;

        static FlowToken Of(uint64_t packed);
        uint64_t Packed() const;

        uint32_t running{0};
        uint32_t connection{0};
        uint32_t stripe{0};
    };

    struct Running
    {
        std::unique_ptr<ScheduleRun> run;         //!< null: the slot is free
        std::unique_ptr<FoldedSchedule> folded{}; //!< null: not folded
        const Schedule* schedule{nullptr};
        uint32_t ranks{0}; //!< of the schedule; larger ones are switches
        CollectiveClient* client{nullptr};
        uint64_t token{0};
        uint64_t serial{0};           //!< distinguishes collectives that use the same slot
        std::vector<Wire> wires;      //!< by connection
        std::vector<Stripes> stripes; //!< of connections over striped routes
        Time pause;                   //!< pause of wires that have one
        std::unique_ptr<BackToBackCalls> backToBack{}; //!< null: a single call
    };

    /**
     * The purpose of a timer: the arrival of a slice on a connection, the end of its copy, or the
     * start of a collective.
     */
    struct Timer
    {
        static constexpr uint32_t START = 0xffffffff;
        static constexpr uint32_t COPIED = 0x80000000; //!< flag in connection

        uint32_t running{0};
        uint32_t connection{START};
    };

    /** A timer whose delay has no queue; ties expire in the order of setting. */
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
     * When a busy block or a pausing wire can continue, a rank begins its next call, or the last
     * slice is done. Ties by collective, then block.
     */
    struct Wake
    {
        static constexpr uint32_t WIRE = 0x80000000; //!< in block: the rest is a connection
        static constexpr uint32_t RANK = 0x40000000; //!< in block: the rest is a rank
        static constexpr uint32_t END = 0xffffffff;  //!< in block: the end of the collective

        Time at;
        uint32_t running;
        uint32_t block;
        uint64_t serial; //!< Running::serial when it was set

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
    void Release(uint32_t running, uint32_t rank, Time at, Time now);
    bool IsWhole(const FlowToken& moved, StripedSlices Stripes::*slices);
    void OnSliceMoved(uint32_t slot, uint32_t connection, Time now);
    void OnSliceSent(uint32_t slot, uint32_t connection, Time now);
    void SetArrival(uint32_t slot, uint32_t connection, Time now);
    void AddWires(Running& running, uint32_t communicator);
    bool MovesAsPackets(RouteId route);
    uint32_t QueuePairsOn(RouteId route) const;
    Time ArrivalDelay(const Running& running, uint32_t connection) const;
    void Copy(uint32_t running, uint32_t connection, Time now);
    FlowRequest RequestOf(uint32_t running, uint32_t connection);
    void Handle(const Timer& timer, Time now);
    void HandleWake(const Wake& wake, Time now);
    void AfterAdvance(uint32_t running, Time now);
    void Send(uint32_t running, uint32_t connection, Time now);
    void Finish(uint32_t running, Time now);
    uint16_t LineOf(Time delay);
    void SetTimer(uint16_t line, Time delay, Time now, const Timer& timer);
    Time CopyTime(uint32_t running, uint32_t connection);

    Planner& m_planner;
    Transport& m_transport;
    FlowForm m_form;
    bool m_foldsCalls{false};
    SlotPool<std::vector<Running>> m_running;
    std::vector<TimerQueue<Timer>> m_lines; //!< one per distinct delay, up to MAX_LINES
    std::priority_queue<Due, std::vector<Due>, std::greater<>> m_dues; //!< all other timers
    uint64_t m_timers{0}; //!< number of timers set in m_dues so far
    std::priority_queue<Wake, std::vector<Wake>, std::greater<>> m_wakes;
    std::vector<uint32_t> m_started; //!< connections that start to send after the current event
    uint64_t m_serial{0};
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_FLOW_ENGINE_H
