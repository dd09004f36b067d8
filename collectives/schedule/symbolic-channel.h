// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_SCHEDULE_SYMBOLIC_CHANNEL_H
#define WEIR_COLLECTIVES_SCHEDULE_SYMBOLIC_CHANNEL_H

#include "collectives/schedule/operation-postcondition.h"
#include "collectives/schedule/rank-set.h"
#include "collectives/schedule/schedule.h"

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace weir
{

/**
 * One channel of a schedule, run on symbols: buffers and messages are the sets of ranks whose data
 * is summed in them. Loops that repeat run twice.
 */
class SymbolicChannel
{
  public:
    /** Both must outlive it. @p root as in ScheduleClaim. */
    SymbolicChannel(CollectiveOp op, const ChannelSchedule& channel, uint32_t ranks, uint32_t root);

    /** @return the first fault in words, empty when there is none. */
    std::string Run();

  private:
    struct Message
    {
        uint32_t chunk;
        uint32_t slice;
        RankSet data;
    };

    /** Where a block stands. */
    struct Position
    {
        uint32_t loop{0};
        uint32_t pass{0};
        uint32_t primitive{0};
        uint32_t slice{0};
    };

    /** What a rank has of a slice, and which of its blocks wrote it. */
    struct Kept
    {
        uint32_t block;
        RankSet data;
    };

    static uint32_t Passes(const Loop& loop);
    static uint64_t Key(const Position& at, uint32_t chunk);
    bool IsSwitch(const ThreadBlock& block) const;
    std::string Name(const ThreadBlock& block) const;
    std::string Name(const ThreadBlock& block, const Position& at) const;

    std::string CheckShape() const;
    std::string CheckEnd() const;
    std::string CheckOutput(const ThreadBlock& block) const;

    bool CanRun(const ThreadBlock& block, const Primitive& primitive) const;
    bool Step(uint32_t index);
    static void Next(Position& at, const Loop& loop, std::size_t primitives);

    /** One primitive's acts; false, with m_fault set, when one is wrong. */
    bool Receive(RankSet& data, uint32_t index, const Primitive& primitive, uint32_t chunk);
    bool AddOwn(RankSet& data, uint32_t index, const Primitive& primitive, uint32_t chunk);
    bool Keep(const RankSet& data, uint32_t index, uint32_t chunk);
    bool Fail(uint32_t index, const std::string& what, uint32_t chunk);
    const RankSet* KeptBy(uint32_t rank, uint64_t key) const;

    CollectiveOp m_op;
    const ChannelSchedule& m_channel;
    uint32_t m_ranks;
    OperationPostcondition m_postcondition;
    std::vector<std::deque<Message>> m_pipes;        //!< by connection
    std::vector<Position> m_positions;               //!< by block
    std::vector<std::map<uint64_t, Kept>> m_outputs; //!< by rank; keys by loop, pass, chunk, slice
    std::string m_fault;
};

} // namespace weir

#endif // WEIR_COLLECTIVES_SCHEDULE_SYMBOLIC_CHANNEL_H
