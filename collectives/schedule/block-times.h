// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_SCHEDULE_BLOCK_TIMES_H
#define WEIR_COLLECTIVES_SCHEDULE_BLOCK_TIMES_H

#include "collectives/collective.h"
#include "collectives/nccl/node-costs.h"
#include "fabric/units.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace weir
{

/** What a primitive does besides waiting; the order of the name's parts is the order of the acts.
 */
enum class PrimitiveKind : uint8_t
{
    Send,               //!< send own data
    RecvReduceSend,     //!< receive, add own data, send the sum
    RecvReduceCopySend, //!< as RecvReduceSend, and keep the sum (it is final)
    RecvCopySend,       //!< receive, keep, send on
    RecvReduceCopy,     //!< receive, add own data, keep (end of a reduce-scatter)
    Recv,               //!< receive and keep
    Copy                //!< own data to own output, no peer
};

bool Receives(PrimitiveKind kind);
bool Sends(PrimitiveKind kind);
bool Reduces(PrimitiveKind kind);

constexpr std::size_t PRIMITIVE_KINDS = static_cast<std::size_t>(PrimitiveKind::Copy) + 1;

/**
 * How long one slice keeps the thread block that runs it busy, by kind of primitive, under Simple:
 * max(floor, bytes / rate). The floor is what waiting threads, the barriers and the flags cost; the
 * rate is how fast one SM loads, reduces and stores. The wire moves the slice meanwhile; a block
 * that stores over NVLink or PCIe itself receives nothing to keep before it has left.
 */
struct BlockTimes
{
    struct Cost
    {
        Time floor; //!< none: the rate is that of slices that follow each other
        Rate rate{Rate::Infinite()};
    };

    std::array<Cost, PRIMITIVE_KINDS> costs; //!< by PrimitiveKind; by default nothing takes time

    const Cost& Of(PrimitiveKind kind) const
    {
        return costs[static_cast<std::size_t>(kind)];
    }

    Cost& Of(PrimitiveKind kind)
    {
        return costs[static_cast<std::size_t>(kind)];
    }

    Time Of(PrimitiveKind kind, Bytes bytes) const
    {
        const Cost& cost = Of(kind);
        return cost.rate.IsInfinite() ? cost.floor : std::max(cost.floor, bytes / cost.rate);
    }

    /** The same for a slice that the block stores itself, @p pause before the next one. */
    Time Of(PrimitiveKind kind, Bytes bytes, Time pause) const
    {
        const Cost& cost = Of(kind);
        return cost.rate.IsInfinite() ? cost.floor
                                      : std::max(cost.floor, bytes / cost.rate + pause);
    }

    /**
     * Between two slices that a block stores through NVLink or PCIe itself: its stores are the
     * wire, and it signals one slice and waits for the next in between. Half of an all-reduce
     * reduces, half copies.
     */
    Time Pause(CollectiveOp op) const
    {
        const Time copy = Of(PrimitiveKind::RecvCopySend).floor;
        const Time reduce = Of(PrimitiveKind::RecvReduceSend).floor;
        return op == CollectiveOp::AllReduce       ? (copy + reduce) * 0.5
               : op == CollectiveOp::ReduceScatter ? reduce
                                                   : copy;
    }

    bool IsNothing() const
    {
        return std::all_of(costs.begin(), costs.end(), [](const Cost& cost) {
            return cost.floor == Time() && cost.rate.IsInfinite();
        });
    }

    /** What a channel moves while it does as many of one of two kinds as of the other. */
    Rate AverageOf(PrimitiveKind a, PrimitiveKind b) const
    {
        return Rate::GBps(2 / (1 / Of(a).rate.ToGBps() + 1 / Of(b).rate.ToGBps()));
    }
};

/** From a node's costs of blocks, NodeCostKind::BlockFloor to RecvMebibyte. */
BlockTimes BlockTimesOf(const NodeCosts& costs);

} // namespace weir

#endif // WEIR_COLLECTIVES_SCHEDULE_BLOCK_TIMES_H
