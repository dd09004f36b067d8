// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_SCHEDULE_SCHEDULE_H
#define WEIR_COLLECTIVES_SCHEDULE_SCHEDULE_H

#include "collectives/collective.h"
#include "collectives/communicator.h"
#include "collectives/schedule/block-times.h"
#include "fabric/routing/routing.h"
#include "fabric/units.h"

#include <cstdint>
#include <tuple>
#include <vector>

/**
 * @file
 * A collective as data: what every rank's thread block does on every channel, in order.
 *
 * The form is NCCL's own (and MSCCL's): per channel and rank a list of primitives. Each primitive
 * may receive one chunk from each of some connections, reduce or copy it, and send one chunk to
 * each of some others. Sends match receives by connection, first in first out. A primitive starts
 * when the previous one of its block is done, its chunks have arrived and every receiver has a free
 * slot for what it sends. A rank may have several blocks on a channel (NCCL's tree goes up and down
 * in separate thread groups). A block whose rank is not in the group is a switch of the network or
 * of NVLink that sums what it receives and multicasts; it has no data of its own and keeps none.
 * Ranks which do the same relative to their position share one program, and a repeated program
 * (NCCL's outer loop) is stored once, so a schedule's size does not grow with the message.
 */
namespace weir
{

/** One step of a thread block. */
struct Primitive
{
    PrimitiveKind kind{PrimitiveKind::Send};
    int32_t chunk{
        0}; //!< chunk of the loop, relative to the rank's position: (position + chunk) mod chunks
    uint16_t recvFrom{0}; //!< first index into ThreadBlock::recv, if it receives
    uint16_t sendTo{0};   //!< first index into ThreadBlock::send, if it sends
    uint16_t recvs{1}; //!< number of consecutive connections that it receives one chunk each from
    uint16_t sends{1}; //!< number of consecutive connections that it sends the same chunk to
    bool fromKept{false}; //!< its own data is what the block has kept of this chunk, not the input

    friend bool operator==(const Primitive& a, const Primitive& b)
    {
        const auto values = [](const Primitive& p) {
            return std::tie(p.kind, p.chunk, p.recvFrom, p.sendTo, p.recvs, p.sends, p.fromKept);
        };
        return values(a) == values(b);
    }
};

/** What one rank does in one loop of a channel; shared by all ranks of the same role. */
struct Program
{
    std::vector<Primitive> primitives;

    friend bool operator==(const Program& a, const Program& b)
    {
        return a.primitives == b.primitives;
    }
};

/** One rank's thread block on one channel. */
struct ThreadBlock
{
    uint32_t rank{0};           //!< group rank; beyond the group: a reducing switch
    uint32_t position{0};       //!< position in the channel's order
    uint32_t program{0};        //!< index into ChannelSchedule::programs
    std::vector<uint32_t> recv; //!< indices into ChannelSchedule::connections
    std::vector<uint32_t> send; //!< indices into ChannelSchedule::connections

    friend bool operator==(const ThreadBlock& a, const ThreadBlock& b)
    {
        return std::tie(a.rank, a.position, a.program, a.recv, a.send) ==
               std::tie(b.rank, b.position, b.program, b.recv, b.send);
    }
};

/** The parameters of a connection besides its ends and its route. Many connections share them. */
struct ConnectionFigures
{
    uint32_t slots{8};    //!< slices by which the sender may be ahead of the receiver
    Time latency;         //!< from a slice's last byte on the wire to its use at the receiver
    double wireFactor{1}; //!< bytes on this wire per byte of the protocol's format; scales caps too
    double weight{1};     //!< of one channel, when it shares links with other flows
    Rate cap{Rate::Infinite()}; //!< of one channel, in the protocol's wire format, in addition to
                                //!< Schedule::channelCap
    Time interval{}; //!< minimum time from one slice's start on the wire to the next one's
    Time release{};  //!< from the last slice's end on the wire until the sender's kernel may end;
                     //!< matters only to back-to-back calls

    /** All of them, for comparisons. */
    auto Values() const
    {
        return std::tie(slots, latency, wireFactor, weight, cap, interval, release);
    }
};

/** A directed first-in-first-out pipe between two thread blocks. */
struct ScheduleConnection : ConnectionFigures
{
    uint32_t fromBlock{0};
    uint32_t toBlock{0};
    Connection connection;
};

/** Equal passes of NCCL's outer loop over a channel's share of the message. */
struct Loop
{
    uint32_t repeat{1};        //!< number of passes
    std::vector<Bytes> chunks; //!< payload of each chunk of a pass (the last pass may be ragged)
    uint32_t slices{1};        //!< number of slices of each chunk
    Bytes slice{}; //!< size of all slices but the last, which is the rest; 0: all are equal

    friend bool operator==(const Loop& a, const Loop& b)
    {
        return std::tie(a.repeat, a.chunks, a.slices, a.slice) ==
               std::tie(b.repeat, b.chunks, b.slices, b.slice);
    }
};

/** Everything that happens on one channel. */
struct ChannelSchedule
{
    std::vector<Program> programs;
    std::vector<ThreadBlock> blocks;
    std::vector<ScheduleConnection> connections;
    std::vector<Loop> loops;
};

/** A whole collective. Channels with equal paths and sizes are stored once. */
struct Schedule
{
    CollectiveOp op{CollectiveOp::AllReduce};
    Algorithm algorithm{Algorithm::Ring};
    Protocol protocol{Protocol::Simple};
    Time startLatency;                 //!< paid once, before the first primitive of every block
    Rate channelCap{Rate::Infinite()}; //!< maximum rate of one channel over a hop, on the wire
    BlockTimes block;                  //!< how long a slice keeps its block busy

    struct Channel
    {
        ChannelSchedule schedule;
        uint32_t copies{1}; //!< number of channels with the same connections and sizes
    };

    std::vector<Channel> channels;
};

/** What one pass sends over a connection. */
struct ConnectionUse
{
    uint32_t chunks{0};
    uint32_t first{0}; //!< the first chunk, before it is taken modulo the chunks of a pass
};

/**
 * By connection of @p channel. O(primitives of the programs + connections).
 * @param merged by the chunk number that primitives use: how many chunks move as one; empty: one
 *        each. With it all blocks have position 0.
 */
std::vector<ConnectionUse> UsesOf(const ChannelSchedule& channel,
                                  const std::vector<uint32_t>& merged = {});

/**
 * Number of slices that @p schedule sends, with copies of a channel counted once. O(primitives of
 * the programs + connections).
 */
double SliceCount(const Schedule& schedule);

/** @p schedule with at most @p passes passes of each loop. */
Schedule WithPasses(Schedule schedule, uint32_t passes);

} // namespace weir

#endif // WEIR_COLLECTIVES_SCHEDULE_SCHEDULE_H
