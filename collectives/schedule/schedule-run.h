// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_SCHEDULE_SCHEDULE_RUN_H
#define WEIR_COLLECTIVES_SCHEDULE_SCHEDULE_RUN_H

#include "collectives/schedule/schedule.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace weir
{

/** What a connection is beside its ends, its route and what is queued: many have the same. */
struct ConnectionFigures
{
    ConnectionKind kind{ConnectionKind::NvLink};
    uint32_t slots{0};
    Time latency; //!< this and the next as ScheduleConnection has them
    double wireFactor{1};
    double weight{1};
    Rate cap;
    Time interval;
    Time release;
    uint32_t copies{1}; //!< equal channels that it stands for

    friend bool operator<(const ConnectionFigures& a, const ConnectionFigures& b)
    {
        const auto values = [](const ConnectionFigures& f) {
            return std::tie(f.kind,
                            f.slots,
                            f.latency,
                            f.wireFactor,
                            f.weight,
                            f.cap,
                            f.interval,
                            f.release,
                            f.copies);
        };
        return values(a) < values(b);
    }
};

/**
 * Where one execution of a Schedule stands: the position of every thread block and the slices in
 * every connection. Time has a part in it only where slices keep their blocks busy. Blocks and
 * connections of all channels are numbered through.
 *
 * A block runs its primitives slice by slice. A slice of a primitive can run when the slices that
 * it receives have arrived and all connections that it sends on have a free slot; running it frees
 * the slots that the received slices took and puts the sent one into its connections' queues. What
 * moves queued slices, and when they arrive, is the caller's concern. Where slices keep blocks
 * busy, one that stores itself does not run what it sends nothing of before all that it sent has
 * left.
 *
 * A block takes 64 bytes, a connection 40 and 8 a slot, and 8 more where its ends have others.
 */
class ScheduleRun
{
  public:
    /** The programs and loops of @p schedule must outlive it. */
    explicit ScheduleRun(const Schedule& schedule);

    /** As above; takes the blocks and connections out of @p schedule, channel by channel. */
    explicit ScheduleRun(Schedule&& schedule);

    uint32_t BlockCount() const
    {
        return static_cast<uint32_t>(m_blocks.size());
    }

    uint32_t ConnectionCount() const
    {
        return static_cast<uint32_t>(m_connections.size());
    }

    /** Blocks that have primitives left. */
    uint32_t BlocksLeft() const
    {
        return m_blocksLeft;
    }

    /** What a connection is like. */
    const ConnectionFigures& FiguresOf(uint32_t connection) const
    {
        return m_figures[m_connections[connection].figures];
    }

    /** The route of a connection. */
    RouteId GetRoute(uint32_t connection) const
    {
        return m_connections[connection].route;
    }

    /** The block that sends on a connection. */
    uint32_t Sender(uint32_t connection) const
    {
        return m_connections[connection].fromBlock;
    }

    /**
     * Runs everything that can run now, beginning with @p block. Appends to @p started each
     * connection that had an empty queue and now has a slice. With a time @p now, a block that is
     * busy with a slice until later does not run and is added to Wakes(); without, none is busy.
     */
    void Advance(uint32_t block, std::vector<uint32_t>& started, Time now = Time::Infinite());

    /** A slice has arrived at the receiving end: Advance for the block there. */
    void Arrive(uint32_t connection, std::vector<uint32_t>& started, Time now = Time::Infinite())
    {
        ++m_connections[connection].arrived;
        Advance(m_connections[connection].toBlock, started, now);
    }

    /** A block that could run but for being busy: to be advanced again at a time. */
    struct Wake
    {
        uint32_t block;
        Time at;
    };

    /** The wakes since they were last cleared; at most one a block until it is advanced again. */
    std::vector<Wake>& Wakes()
    {
        return m_wakes;
    }

    /** The rank of a block. */
    uint32_t RankOf(uint32_t block) const
    {
        return m_blocks[block].rank;
    }

    /** Whether a block has any primitive to run. */
    bool Works(uint32_t block) const
    {
        return m_blocks[block].primitiveCount > 0 && !m_blocks[block].channel->loops.empty();
    }

    /** When the last slice that a block has run is done. */
    Time FreeAt(uint32_t block) const
    {
        return m_blocks[block].freeAt;
    }

    /** The blocks that have run their last primitive since the list was last cleared. */
    std::vector<uint32_t>& Ended()
    {
        return m_ended;
    }

    /** A block that has ended begins again with its first primitive, when it is next advanced. */
    void Restart(uint32_t block)
    {
        m_blocks[block].loop = 0;
        ++m_blocksLeft;
    }

    /** Bytes on the wire of the oldest queued slice, of one channel. */
    int64_t FrontBytes(uint32_t connection) const
    {
        return m_connections[connection].front;
    }

    /** The oldest queued slice has left. @return whether another one is queued. */
    bool PopFront(uint32_t connection)
    {
        Pipe& pipe = m_connections[connection];
        if (--pipe.queued == 0)
        {
            return false;
        }
        pipe.front = m_queues[pipe.firstSlot + pipe.head];
        pipe.head = pipe.head + 1 == pipe.slots ? 0 : pipe.head + 1;
        return true;
    }

    /** Whether the block that sends on @p connection has waited for nothing to be queued there, as
     * is so now: it is to be advanced. */
    bool FreesSender(uint32_t connection)
    {
        Pipe& pipe = m_connections[connection];
        return std::exchange(pipe.holdsSender, false);
    }

    /** When all that blocks have run and sent nothing of is done. */
    Time End() const
    {
        return m_end;
    }

    /** A sentence about a block that cannot run, for errors. */
    std::string DescribeWait() const;

  private:
    struct alignas(64) Block
    {
        const ChannelSchedule* channel;
        const Primitive* primitives; //!< of its program
        uint32_t primitiveCount;
        uint32_t rank;
        uint32_t place;
        uint32_t firstIn;  //!< the connection it receives from, or of several the first in m_lists
        uint32_t firstOut; //!< the connection it sends on, or of several the first in m_lists
        uint32_t loop;
        uint32_t pass;      //!< of the loop
        uint32_t primitive; //!< of the pass
        uint32_t slice;     //!< of the primitive
        bool hasOneIn;
        bool hasOneOut;
        bool sleeps; //!< until freeAt: a wake is under way
        bool stores; //!< on NVLink or PCIe, itself
        Time freeAt; //!< when its last slice is done
    };

    struct Pipe
    {
        int64_t front; //!< bytes of the oldest queued slice
        RouteId route;
        uint32_t figures; //!< into m_figures
        uint32_t fromBlock;
        uint32_t toBlock;
        uint32_t firstSlot; //!< into m_queues
        uint16_t slots;     //!< places there
        uint16_t head;      //!< the place of the slice after the front
        uint16_t queued;    //!< slices that have not left
        uint16_t arrived;   //!< slices that wait to be received
        uint16_t free;      //!< slots that hold nothing
        bool senderWaits;   //!< for a slot
        bool holdsSender;   //!< it waits until nothing is queued
    };

    void Reserve(const Schedule& schedule);
    void AddChannel(const ChannelSchedule& channel, uint32_t copies);
    bool RunSlice(Block& block, std::vector<uint32_t>& started, Time now);
    uint32_t NumberOf(const ConnectionFigures& figures);
    uint32_t AddList(const std::vector<uint32_t>& connections, uint32_t firstConnection);

    uint32_t In(const Block& block, uint32_t index) const
    {
        return block.hasOneIn ? block.firstIn : m_lists[block.firstIn + index];
    }

    uint32_t Out(const Block& block, uint32_t index) const
    {
        return block.hasOneOut ? block.firstOut : m_lists[block.firstOut + index];
    }

    bool HaveArrived(const Block& block, const Primitive& primitive) const;
    bool HaveRoom(const Block& block, const Primitive& primitive);
    bool HasStored(const Block& block);
    void Receive(const Block& block, const Primitive& primitive);
    void Send(const Block& block, const Primitive& primitive, std::vector<uint32_t>& started);
    static bool Step(Block& block);
    int64_t SliceBytes(const Block& block, const Loop& loop, int32_t chunk) const;

    Protocol m_protocol;
    const BlockTimes* m_times; //!< null: slices keep no block busy
    Time m_pause;              //!< between two slices that a block stores
    uint32_t m_blocksLeft{0};
    Time m_end; //!< of what was not sent
    std::vector<Block> m_blocks;
    std::vector<Pipe> m_connections;
    std::vector<uint32_t> m_lists;            //!< connections of blocks that have several
    std::vector<ConnectionFigures> m_figures; //!< all different
    std::map<ConnectionFigures, uint32_t> m_numbersOfFigures; //!< in m_figures
    std::vector<int64_t> m_queues; //!< bytes of slices behind the front, a ring per connection
    std::vector<uint32_t> m_ready; //!< blocks to try, while Advance runs
    std::vector<Wake> m_wakes;
    std::vector<uint32_t> m_ended;
};

/**
 * Runs @p schedule with its slots in no time at all.
 * @return who waits for ever, empty when nobody does.
 */
std::string CheckProgress(const Schedule& schedule);

} // namespace weir

#endif // WEIR_COLLECTIVES_SCHEDULE_SCHEDULE_RUN_H
