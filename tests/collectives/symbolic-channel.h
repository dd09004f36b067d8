// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_COLLECTIVES_SYMBOLIC_CHANNEL_H
#define WEIR_TESTS_COLLECTIVES_SYMBOLIC_CHANNEL_H

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
 * The data that an operation gives every rank at the start and requires at the end, for each chunk
 * of one channel, as sets of ranks whose data is summed. For operations in which every rank has its
 * own part (all-gather, reduce-scatter, gather, scatter), chunk i is the part of the rank at
 * position i of the channel.
 */
class OperationPostcondition
{
  public:
    /** @p channel must outlive it. O(blocks). */
    OperationPostcondition(CollectiveOp op,
                           const ChannelSchedule& channel,
                           uint32_t ranks,
                           uint32_t root);

    /** The input of @p block in @p chunk; empty if it has none. A switch never has any. */
    RankSet Input(const ThreadBlock& block, uint32_t chunk) const;

    /** The required final data of @p block's rank in @p chunk; empty if nothing is required. */
    RankSet Output(const ThreadBlock& block, uint32_t chunk) const;

  private:
    RankSet PartOf(uint32_t position) const;

    CollectiveOp m_op;
    uint32_t m_ranks;
    uint32_t m_root;
    std::vector<uint32_t> m_rankAt; //!< by position
};

/**
 * One channel of a schedule, executed symbolically: buffers and messages are the sets of ranks
 * whose data is summed in them. Repeated loops run twice.
 */
class SymbolicChannel
{
  public:
    /** Both must outlive it. @p root as in ScheduleClaim. */
    SymbolicChannel(CollectiveOp op, const ChannelSchedule& channel, uint32_t ranks, uint32_t root);

    /** @return a description of the first fault, empty if there is none */
    std::string Run();

  private:
    struct Message
    {
        uint32_t chunk;
        uint32_t slice;
        RankSet data;
    };

    /** Progress of a block. */
    struct Position
    {
        uint32_t loop{0};
        uint32_t pass{0};
        uint32_t primitive{0};
        uint32_t slice{0};
    };

    /** A rank's data of a slice, and the block that wrote it. */
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

    /** The actions of a primitive; each returns false, with m_fault set, if it is wrong. */
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

#endif // WEIR_TESTS_COLLECTIVES_SYMBOLIC_CHANNEL_H
