// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_SCHEDULE_RUN_H
#define WEIR_COLLECTIVES_SCHEDULE_RUN_H

#include "collectives/schedule.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/**
 * Where one execution of a Schedule stands: the position of every thread block and the slices in
 * every connection, without any notion of time. Blocks and connections of all channels are
 * numbered through.
 *
 * A block runs its primitives slice by slice. A slice of a primitive can run when the slice that
 * it receives has arrived and the connection that it sends on has a free slot; running it frees
 * the slot that the received slice took and puts the sent one into its connection's queue. What
 * moves queued slices, and when they arrive, is the caller's concern.
 */
class ScheduleRun
{
  public:
    /** @p schedule must outlive it. */
    explicit ScheduleRun(const Schedule& schedule);

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

    /** What a connection is made of. */
    const ScheduleConnection& GetConnection(uint32_t connection) const
    {
        return *m_connections[connection].description;
    }

    /** The path of a connection. */
    PathId Path(uint32_t connection) const
    {
        return m_connections[connection].path;
    }

    /** How many equal channels a connection stands for. */
    uint32_t Copies(uint32_t connection) const
    {
        return m_connections[connection].copies;
    }

    /**
     * Runs everything that can run now, beginning with @p block. Appends to @p started each
     * connection that had an empty queue and now has a slice.
     */
    void Advance(uint32_t block, std::vector<uint32_t>& started);

    /** A slice has arrived at the receiving end: Advance for the block there. */
    void Arrive(uint32_t connection, std::vector<uint32_t>& started)
    {
        ++m_connections[connection].arrived;
        Advance(m_connections[connection].toBlock, started);
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

    /** A sentence about a block that cannot run, for errors. */
    std::string DescribeWait() const;

  private:
    struct Block
    {
        const ChannelSchedule* channel;
        const ThreadBlock* description;
        const Primitive* primitives; //!< of its program
        uint32_t primitiveCount;
        uint32_t place;
        uint32_t firstConnection; //!< of its channel
        uint32_t onlyIn;          //!< the connection it receives from, if there is just one
        uint32_t onlyOut;         //!< the connection it sends on, if there is just one
        uint32_t loop;
        uint32_t pass;      //!< of the loop
        uint32_t primitive; //!< of the pass
        uint32_t slice;     //!< of the primitive
    };

    struct Pipe
    {
        const ScheduleConnection* description;
        PathId path;
        int64_t front; //!< bytes of the oldest queued slice
        uint32_t fromBlock;
        uint32_t toBlock;
        uint32_t copies;
        uint32_t firstSlot; //!< into m_queues
        uint16_t slots;     //!< places there
        uint16_t head;      //!< the place of the slice after the front
        uint16_t queued;    //!< slices that have not left
        uint16_t arrived;   //!< slices that wait to be received
        uint16_t free;      //!< slots that hold nothing
        bool senderWaits;   //!< for a slot
    };

    void AddChannel(const ChannelSchedule& channel, uint32_t copies);
    bool RunSlice(Block& block, std::vector<uint32_t>& started);
    static bool Step(Block& block);
    int64_t SliceBytes(const Block& block, const Loop& loop, int32_t chunk) const;

    static constexpr uint32_t SEVERAL = 0xffffffff; //!< for Block::onlyIn and onlyOut

    Protocol m_protocol;
    uint32_t m_blocksLeft{0};
    std::vector<Block> m_blocks;
    std::vector<Pipe> m_connections;
    std::vector<int64_t> m_queues; //!< bytes of slices behind the front, a ring per connection
    std::vector<uint32_t> m_ready; //!< blocks to try, while Advance runs
};

} // namespace weir

#endif // WEIR_COLLECTIVES_SCHEDULE_RUN_H
