// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_EVENT_WHEEL_H
#define WEIR_FABRIC_TRANSPORT_PACKET_EVENT_WHEEL_H

#include "fabric/transport/packet/huge-page-allocator.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace weir
{

/** Kind of an event of the packet transport. At one instant, lower kinds come first. */
enum class PacketEventKind : uint8_t
{
    Arrival,  //!< first packet on a wire reaches its end; by link
    Post,     //!< overhead of a flow is over; by flow
    Timer,    //!< retransmission, acknowledgment or congestion control timer; by queue pair
    Pace,     //!< a queue pair may send its next packet; by queue pair
    Credit,   //!< a receiver may grant credit; by link
    Refresh,  //!< a pause must be renewed; by link
    PortReady //!< a port may send its next packet; by link
};

/**
 * Pending events by time, in a hierarchical timing wheel (Varghese and Lauck, SOSP 1987).
 *
 * An event is identified by its kind and number, and is pending at most once, so that it can be
 * moved. Events are ordered by time, then kind, then number, whatever the order in which they were
 * scheduled. A slot is a linked list of blocks of entries; a block is one cache line. The entry of
 * an event that was moved or canceled stays until its slot is opened. Schedule and Cancel are O(1).
 * An event moves through at most LEVELS slots and is then sorted among the events of its 512 ps.
 * Events scheduled into an opened slot are inserted in order. A slot is opened only when its events
 * are to be taken, since others may still be scheduled before them.
 */
class EventWheel
{
  public:
    /** An event by its kind and number. */
    struct Event
    {
        PacketEventKind kind;
        uint32_t number;
    };

    static constexpr int64_t NEVER = std::numeric_limits<int64_t>::max();

    /** Reserves space for numbers below @p count of a kind. */
    void Reserve(PacketEventKind kind, std::size_t count)
    {
        auto& times = m_times[static_cast<std::size_t>(kind)];
        if (times.size() < count)
        {
            times.resize(count, NEVER);
        }
    }

    /** Time of an event, ps; NEVER if it is not scheduled. */
    int64_t TimeOf(PacketEventKind kind, uint32_t number) const
    {
        const auto& times = m_times[static_cast<std::size_t>(kind)];
        return number < times.size() ? times[number] : NEVER;
    }

    /** Schedules or moves an event. @param time ps, not before the last event popped */
    void Schedule(PacketEventKind kind, uint32_t number, int64_t time)
    {
        const uint32_t handle = HandleOf(kind, number);
        int64_t& scheduled = TimeOf(handle);
        if (scheduled == time)
        {
            return;
        }
        if (scheduled != NEVER)
        {
            Remove(handle, scheduled);
        }
        scheduled = time;
        m_count++;
        Insert(handle, time);
    }

    /** As Schedule, but keeps an event that is due earlier. */
    void ScheduleBy(PacketEventKind kind, uint32_t number, int64_t time)
    {
        if (TimeOf(kind, number) > time)
        {
            Schedule(kind, number, time);
        }
    }

    void Cancel(PacketEventKind kind, uint32_t number)
    {
        const uint32_t handle = HandleOf(kind, number);
        int64_t& scheduled = TimeOf(handle);
        if (scheduled != NEVER)
        {
            Remove(handle, scheduled);
            scheduled = NEVER;
        }
    }

    /**
     * Time of the first event, ps, which is then ready for Pop. If there is none before @p limit
     * (ps), returns NEVER or some time not before @p limit.
     */
    int64_t NextTime(int64_t limit = NEVER)
    {
        if (m_due.empty() && !OpenNext(limit))
        {
            return NEVER;
        }
        return m_due.back().time;
    }

    /**
     * Time of the first event, ps; NEVER if there is none. O(1) if no event was taken or moved
     * since the last call, else O(events of its slot).
     */
    int64_t PeekTime()
    {
        if (!m_due.empty())
        {
            return m_due.back().time;
        }
        if (m_firstHeld == UNKNOWN)
        {
            m_firstHeld = FirstHeld();
        }
        return m_firstHeld;
    }

    /** Whether NextTime has opened a slot since the last call of TakeOpened. */
    bool TakeOpened()
    {
        const bool hasOpened = m_hasOpened;
        m_hasOpened = false;
        return hasOpened;
    }

    /** Number of sorted events before all others. */
    std::size_t DueCount() const
    {
        return m_due.size();
    }

    /** The sorted event @p after positions behind the first. */
    Event DueAt(std::size_t after) const
    {
        const uint32_t handle = m_due[m_due.size() - 1 - after].handle;
        return {static_cast<PacketEventKind>(handle >> KIND_SHIFT), handle & NUMBER_MASK};
    }

    /** Removes the first event. NextTime must have returned its time. */
    Event Pop()
    {
        const uint32_t handle = m_due.back().handle;
        m_due.pop_back();
        TimeOf(handle) = NEVER;
        m_count--;
        return {static_cast<PacketEventKind>(handle >> KIND_SHIFT), handle & NUMBER_MASK};
    }

  private:
    static constexpr uint32_t NONE = 0xffffffff;
    static constexpr int64_t UNKNOWN = -1;
    static constexpr auto KINDS = static_cast<unsigned>(PacketEventKind::PortReady) + 1;
    static constexpr unsigned KIND_SHIFT = 29;
    static constexpr uint32_t NUMBER_MASK = (1u << KIND_SHIFT) - 1;
    static constexpr unsigned SLOT_BITS = 9;   //!< a slot of the lowest level is 2^9 ps
    static constexpr unsigned LEVEL_BITS = 12; //!< 2^12 slots a level; the lowest spans 2 us, so
                                               //!< that most packets on wires are inserted there
                                               //!< directly
    static constexpr unsigned SLOTS = 1u << LEVEL_BITS;
    static constexpr unsigned LEVELS = 5; //!< 2^(9 + 12 x 5) ps: all times
    static constexpr unsigned WORDS = SLOTS / 64;
    static constexpr uint32_t MAX_INSERTED = 16; //!< events; above this, SortByParts comes before
                                                 //!< the insertion sort

    /** A block of entries of a slot, with a link to the older block; one cache line. */
    struct alignas(64) Block
    {
        static constexpr uint32_t CAPACITY = 5;

        std::array<int64_t, CAPACITY> times;
        std::array<uint32_t, CAPACITY> handles;
        uint32_t next{NONE};
    };

    /**
     * Contents of a slot: its newest block, of which `count` entries are used; older blocks are
     * full. The count is kept here so that inserting an event need not wait for the block's memory.
     */
    struct Slot
    {
        uint32_t block{NONE};
        uint32_t count{Block::CAPACITY};
    };

    struct Due
    {
        int64_t time;
        uint32_t handle;

        friend bool operator==(const Due& a, const Due& b)
        {
            return a.time == b.time && a.handle == b.handle;
        }

        friend bool operator<(const Due& a, const Due& b) // the first event comes last
        {
            return a.time > b.time || (a.time == b.time && a.handle > b.handle);
        }
    };

    static uint32_t HandleOf(PacketEventKind kind, uint32_t number)
    {
        return static_cast<uint32_t>(kind) << KIND_SHIFT | number;
    }

    int64_t& TimeOf(uint32_t handle)
    {
        return m_times[handle >> KIND_SHIFT][handle & NUMBER_MASK];
    }

    void Insert(uint32_t handle, int64_t at)
    {
        if (at < m_dueEnd)
        {
            const Due due{at, handle};
            m_due.insert(std::lower_bound(m_due.begin(), m_due.end(), due), due);
            return;
        }
        m_firstHeld = std::min(m_firstHeld, at);
        // The level is that of the highest bit in which the time and the cursor differ.
        const uint64_t time = static_cast<uint64_t>(at) >> SLOT_BITS;
        const uint64_t cursor = static_cast<uint64_t>(m_dueEnd) >> SLOT_BITS;
        const uint64_t unlike = time ^ cursor;
        const unsigned level =
            unlike == 0 ? 0 : (63 - static_cast<unsigned>(__builtin_clzll(unlike))) / LEVEL_BITS;
        const auto slot = static_cast<unsigned>(time >> (LEVEL_BITS * level)) & (SLOTS - 1);
        Slot& held = m_slots[level][slot];
        if (held.count == Block::CAPACITY)
        {
            held = {NewBlock(held.block), 0};
            m_occupied[level][slot / 64] |= uint64_t{1} << (slot % 64);
        }
        Block& block = m_blocks[held.block];
        block.times[held.count] = at;
        block.handles[held.count++] = handle;
    }

    uint32_t NewBlock(uint32_t next)
    {
        if (m_unused == NONE)
        {
            m_unused = static_cast<uint32_t>(m_blocks.size());
            m_blocks.emplace_back();
        }
        const uint32_t block = m_unused;
        m_unused = m_blocks[block].next;
        m_blocks[block].next = next;
        return block;
    }

    /** Calls @p take for each valid event of a slot, and frees its blocks. */
    template <typename F>
    void Empty(Slot slot, const F& take)
    {
        while (slot.block != NONE)
        {
            const Block entries = m_blocks[slot.block];
            m_blocks[slot.block].next = m_unused;
            m_unused = slot.block;
            for (uint32_t i = 0; i < slot.count; i++)
            {
                if (TimeOf(entries.handles[i]) == entries.times[i])
                {
                    take(entries.handles[i], entries.times[i]);
                }
            }
            slot = {entries.next, Block::CAPACITY};
        }
    }

    void Remove(uint32_t handle, int64_t time)
    {
        m_count--;
        if (time < m_dueEnd)
        {
            const Due due{time, handle};
            m_due.erase(std::lower_bound(m_due.begin(), m_due.end(), due));
        }
        else if (time == m_firstHeld)
        {
            m_firstHeld = UNKNOWN;
        }
    }

    /** The first occupied slot of a level from @p slot on; SLOTS if there is none. */
    unsigned FirstOccupied(unsigned level, unsigned slot) const
    {
        for (unsigned word = slot / 64; word < WORDS; word++)
        {
            uint64_t bits = m_occupied[level][word];
            if (word == slot / 64)
            {
                bits &= ~uint64_t{0} << (slot % 64);
            }
            if (bits != 0)
            {
                return word * 64 + static_cast<unsigned>(__builtin_ctzll(bits));
            }
        }
        return SLOTS;
    }

    /** Removes and returns the contents of a slot. */
    Slot Take(unsigned level, unsigned slot)
    {
        m_occupied[level][slot / 64] &= ~(uint64_t{1} << (slot % 64));
        return std::exchange(m_slots[level][slot], Slot());
    }

    /** A slot and its start, in units of the lowest level's slots. */
    struct SlotPosition
    {
        unsigned level{0};
        unsigned slot{0};
        uint64_t begin{0};
    };

    /** Finds the first slot with entries; there must be one. */
    SlotPosition FindFirstSlot()
    {
        const uint64_t cursor = static_cast<uint64_t>(m_dueEnd) >> SLOT_BITS;
        SpreadEntered(cursor);
        SlotPosition position;
        for (position.slot = SLOTS; position.slot == SLOTS; position.level++)
        {
            const auto first =
                static_cast<unsigned>(cursor >> (LEVEL_BITS * position.level)) & (SLOTS - 1);
            position.slot = FirstOccupied(position.level, first);
        }
        position.level--;
        const unsigned shift = LEVEL_BITS * position.level;
        const uint64_t above = cursor >> (shift + LEVEL_BITS) << (shift + LEVEL_BITS);
        position.begin = above | uint64_t{position.slot} << shift;
        return position;
    }

    /**
     * Fills m_due with the events of the first nonempty slot.
     * @return false if none starts before @p limit
     */
    bool OpenNext(int64_t limit)
    {
        while (m_due.empty() && m_count > 0)
        {
            const SlotPosition position = FindFirstSlot();
            if (static_cast<int64_t>(position.begin << SLOT_BITS) >= limit)
            {
                return false;
            }
            const Slot held = Take(position.level, position.slot);
            m_firstHeld = UNKNOWN;
            if (position.level == 0)
            {
                Open(held, position.begin);
                continue;
            }
            m_dueEnd = std::max(m_dueEnd, static_cast<int64_t>(position.begin << SLOT_BITS));
            Spread(held);
        }
        return !m_due.empty();
    }

    /** The earliest time in all slots, ps; NEVER if they are empty. */
    int64_t FirstHeld()
    {
        int64_t first = NEVER;
        while (first == NEVER && m_count > 0)
        {
            const SlotPosition position = FindFirstSlot();
            Slot slot = m_slots[position.level][position.slot];
            for (; slot.block != NONE; slot = {m_blocks[slot.block].next, Block::CAPACITY})
            {
                const Block& entries = m_blocks[slot.block];
                for (uint32_t i = 0; i < slot.count; i++)
                {
                    const bool isHeld = TimeOf(entries.handles[i]) == entries.times[i];
                    first = isHeld ? std::min(first, entries.times[i]) : first;
                }
            }
            if (first == NEVER) // all its entries are stale
            {
                Empty(Take(position.level, position.slot), [](uint32_t, int64_t) {});
            }
        }
        return first;
    }

    /** Redistributes the slots of higher levels that the cursor has just entered. */
    void SpreadEntered(uint64_t cursor)
    {
        for (unsigned level = 1; level < LEVELS; level++)
        {
            if ((cursor >> (LEVEL_BITS * (level - 1)) & (SLOTS - 1)) != 0)
            {
                return;
            }
            const auto slot = static_cast<unsigned>(cursor >> (LEVEL_BITS * level)) & (SLOTS - 1);
            if (m_slots[level][slot].block != NONE)
            {
                Spread(Take(level, slot));
            }
        }
    }

    /** Redistributes a slot's events by their distance from the cursor. */
    void Spread(const Slot& slot)
    {
        Empty(slot, [this](uint32_t handle, int64_t time) { Insert(handle, time); });
    }

    void Open(const Slot& slot, uint64_t slotBegin)
    {
        m_dueEnd = static_cast<int64_t>((slotBegin + 1) << SLOT_BITS);
        m_hasOpened = true;
        Empty(slot, [this](uint32_t handle, int64_t time) { m_due.push_back({time, handle}); });
        if (m_due.size() > MAX_INSERTED)
        {
            SortByParts();
        }
        for (std::size_t i = 1; i < m_due.size(); i++)
        {
            const Due due = m_due[i];
            std::size_t position = i;
            for (; position > 0 && due < m_due[position - 1]; position--)
            {
                m_due[position] = m_due[position - 1];
            }
            m_due[position] = due;
        }
        // An event that was moved away and back has two entries.
        m_due.erase(std::unique(m_due.begin(), m_due.end()), m_due.end());
    }

    /**
     * Sorts the events of a slot by 64 equal parts of its time (a counting sort), since the
     * processor cannot predict the branches of a comparison sort. Parts with many events are then
     * sorted by comparison.
     */
    void SortByParts()
    {
        constexpr unsigned PARTS = 64;
        constexpr unsigned PART_BITS = SLOT_BITS - 6;
        const auto partOf = [this](const Due& due) { // the first event comes last
            return static_cast<std::size_t>(m_dueEnd - 1 - due.time) >> PART_BITS;
        };
        std::array<uint32_t, PARTS> positions{}; // counts, then start positions
        for (const Due& due : m_due)
        {
            positions[partOf(due)]++;
        }
        uint32_t before = 0;
        for (uint32_t& position : positions)
        {
            before += std::exchange(position, before);
        }
        m_unsorted.swap(m_due);
        m_due.resize(m_unsorted.size());
        for (const Due& due : m_unsorted)
        {
            m_due[positions[partOf(due)]++] = due;
        }
        m_unsorted.clear();
        uint32_t begin = 0;
        for (const uint32_t end : positions)
        {
            if (end - begin > MAX_INSERTED)
            {
                std::sort(m_due.begin() + begin, m_due.begin() + end);
            }
            begin = end;
        }
    }

    std::array<AlignedVector<int64_t>, KINDS> m_times; //!< by kind, then number
    AlignedVector<Block> m_blocks;
    uint32_t m_unused{NONE}; //!< head of the list of free blocks
    std::array<std::array<Slot, SLOTS>, LEVELS> m_slots;
    std::array<std::array<uint64_t, WORDS>, LEVELS> m_occupied{};
    std::vector<Due> m_due;       //!< all events before m_dueEnd, the first one last
    std::vector<Due> m_unsorted;  //!< see SortByParts
    int64_t m_dueEnd{0};          //!< the slots hold the events from this time on, ps
    int64_t m_firstHeld{UNKNOWN}; //!< the earliest time in the slots, ps
    std::size_t m_count{0};       //!< number of pending events
    bool m_hasOpened{false};
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_EVENT_WHEEL_H
