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

/** The parameters of a connection in a run. */
struct PipeFigures : ConnectionFigures
{
    ConnectionKind kind{ConnectionKind::NvLink};
    uint32_t copies{1}; //!< number of equal channels that it stands for

    friend bool operator<(const PipeFigures& a, const PipeFigures& b)
    {
        return std::tuple(a.kind, a.copies, a.Values()) < std::tuple(b.kind, b.copies, b.Values());
    }
};

/**
 * The state of one execution of a Schedule: the position of every thread block in its program, and
 * the slices in every connection. It depends on time only where slices keep their blocks busy
 * (BlockTimes). Blocks and connections are numbered across all channels.
 *
 * A block runs its primitives slice by slice. A slice of a primitive can run when the slices that
 * it receives have arrived and all connections that it sends on have a free slot. Running it frees
 * the slots of the received slices and appends the sent slice to the queues of its connections. The
 * caller moves queued slices and says when they arrive. With BlockTimes, a block which itself
 * stores over NVLink or PCIe runs a primitive that sends nothing only after all slices that it sent
 * have left.
 *
 * Memory: 64 bytes per block; 40 bytes per connection, 8 per slot, and 8 more where the blocks at
 * its ends have several connections.
 */
class ScheduleRun
{
  public:
    /** The programs and loops of @p schedule must outlive it. */
    explicit ScheduleRun(const Schedule& schedule);

    /** As above, but takes the blocks and connections out of @p schedule, channel by channel. */
    explicit ScheduleRun(Schedule&& schedule);

    uint32_t BlockCount() const
    {
        return static_cast<uint32_t>(m_blocks.size());
    }

    uint32_t ConnectionCount() const
    {
        return static_cast<uint32_t>(m_connections.size());
    }

    /** Number of blocks that have primitives left. */
    uint32_t BlocksLeft() const
    {
        return m_blocksLeft;
    }

    /** The parameters of a connection. */
    const PipeFigures& FiguresOf(uint32_t connection) const
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
     * connection whose queue was empty and now has a slice. With a time @p now, a block that is
     * busy with a slice beyond @p now does not run and is added to Wakes(); without, no block is
     * busy.
     */
    void Advance(uint32_t block, std::vector<uint32_t>& started, Time now = Time::Infinite());

    /** A slice has arrived at the receiving end; advances the receiving block. */
    void Arrive(uint32_t connection, std::vector<uint32_t>& started, Time now = Time::Infinite())
    {
        ++m_connections[connection].arrived;
        Advance(m_connections[connection].toBlock, started, now);
    }

    /** A block that could run but is busy, and the time at which to advance it again. */
    struct Wake
    {
        uint32_t block;
        Time at;
    };

    /**
     * The wakes since the list was last cleared; at most one per block until it is advanced again.
     */
    std::vector<Wake>& Wakes()
    {
        return m_wakes;
    }

    /** The rank of a block. */
    uint32_t RankOf(uint32_t block) const
    {
        return m_blocks[block].rank;
    }

    /** Whether a block has any primitives to run. */
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

    /**
     * Makes a block that has ended begin again with its first primitive when it is next advanced.
     */
    void Restart(uint32_t block)
    {
        m_blocks[block].loop = 0;
        ++m_blocksLeft;
    }

    /** Bytes on the wire of the oldest queued slice, for one channel. */
    int64_t FrontBytes(uint32_t connection) const
    {
        return m_connections[connection].front;
    }

    /** Removes the oldest queued slice, which has left. @return whether another one is queued. */
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

    /**
     * Whether the sending block of @p connection waits until nothing is queued there, which is so
     * now: the caller is to advance it. Resets the flag.
     */
    bool FreesSender(uint32_t connection)
    {
        Pipe& pipe = m_connections[connection];
        return std::exchange(pipe.holdsSender, false);
    }

    /** When all slices that blocks have run without sending them are done. */
    Time End() const
    {
        return m_end;
    }

    /** A sentence about a block that cannot run, for error messages. */
    std::string DescribeWait() const;

  private:
    struct alignas(64) Block
    {
        const ChannelSchedule* channel;
        const Primitive* primitives; //!< of the block's program
        uint32_t primitiveCount;
        uint32_t rank;
        uint32_t position;
        uint32_t firstIn;  //!< the connection it receives from; of several, the first in m_lists
        uint32_t firstOut; //!< the connection it sends on; of several, the first in m_lists
        uint32_t loop;
        uint32_t pass;      //!< of the loop
        uint32_t primitive; //!< of the pass
        uint32_t slice;     //!< of the primitive
        bool hasOneIn;
        bool hasOneOut;
        bool sleeps; //!< until freeAt; a wake is pending
        bool stores; //!< itself, on NVLink or PCIe
        Time freeAt; //!< when its last slice is done
    };

    struct Pipe
    {
        int64_t front; //!< bytes on the wire of the oldest queued slice
        RouteId route;
        uint32_t figures; //!< index into m_figures
        uint32_t fromBlock;
        uint32_t toBlock;
        uint32_t firstSlot; //!< index into m_queues
        uint16_t slots;     //!< capacity there: all queued slices but the front one
        uint16_t head;      //!< index of the slice after the front one
        uint16_t queued;    //!< slices that have not left
        uint16_t arrived;   //!< slices that have arrived and not been received
        uint16_t free;      //!< free slots
        bool senderWaits;   //!< for a free slot
        bool holdsSender;   //!< the sender waits until nothing is queued
    };

    void Reserve(const Schedule& schedule);
    void AddChannel(const ChannelSchedule& channel, uint32_t copies);
    bool RunSlice(Block& block, std::vector<uint32_t>& started, Time now);
    uint32_t NumberOf(const PipeFigures& figures);
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
    Time m_pause;              //!< between two slices that a block itself stores
    uint32_t m_blocksLeft{0};
    Time m_end; //!< when the last slice that is not sent is done
    std::vector<Block> m_blocks;
    std::vector<Pipe> m_connections;
    std::vector<uint32_t> m_lists;      //!< connections of the blocks that have several
    std::vector<PipeFigures> m_figures; //!< distinct
    std::map<PipeFigures, uint32_t> m_numbersOfFigures; //!< indices into m_figures
    std::vector<int64_t> m_queues; //!< bytes of slices behind the front; a ring buffer each
    std::vector<uint32_t> m_ready; //!< blocks that Advance has still to try
    std::vector<Wake> m_wakes;
    std::vector<uint32_t> m_ended;
};

/**
 * Runs @p schedule with its slots but without time.
 * @return a description of a deadlock; empty if there is none.
 */
std::string CheckProgress(const Schedule& schedule);

} // namespace weir

#endif // WEIR_COLLECTIVES_SCHEDULE_SCHEDULE_RUN_H
