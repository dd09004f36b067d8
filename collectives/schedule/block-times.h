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

/** What a primitive does besides waiting; the parts of the name are in the order of the actions. */
enum class PrimitiveKind : uint8_t
{
    Send,               //!< send own data
    RecvReduceSend,     //!< receive, add own data, send the sum
    RecvReduceCopySend, //!< as RecvReduceSend, and keep the sum, which is final
    RecvCopySend,       //!< receive, keep, and send on
    RecvReduceCopy,     //!< receive, add own data, and keep (end of a reduce-scatter)
    Recv,               //!< receive and keep
    Copy                //!< copy own data to own output, without a peer
};

bool Receives(PrimitiveKind kind);
bool Sends(PrimitiveKind kind);
bool Reduces(PrimitiveKind kind);

constexpr std::size_t PRIMITIVE_KINDS = static_cast<std::size_t>(PrimitiveKind::Copy) + 1;

/**
 * How long one slice keeps its thread block busy under Simple, by kind of primitive: max(floor,
 * bytes / rate). The floor is the cost of waiting threads, the barriers and the flags. The rate is
 * how fast one SM loads, reduces and stores. The wire moves the slice meanwhile; a block that
 * itself stores over NVLink or PCIe runs no primitive that only receives until the slice has left.
 */
struct BlockTimes
{
    struct Cost
    {
        Time floor; //!< zero: the rate is that of back-to-back slices
        Rate rate{Rate::Infinite()};
    };

    std::array<Cost, PRIMITIVE_KINDS> costs; //!< by PrimitiveKind; by default no slice takes time

    const Cost& Of(PrimitiveKind kind) const
    {
        return costs[static_cast<std::size_t>(kind)];
    }

    Cost& Of(PrimitiveKind kind)
    {
        return costs[static_cast<std::size_t>(kind)];
    }

    /** @param pause before the next slice, where the block itself stores this one */
    Time Of(PrimitiveKind kind, Bytes bytes, Time pause = {}) const
    {
        const Cost& cost = Of(kind);
        return cost.rate.IsInfinite() ? cost.floor
                                      : std::max(cost.floor, bytes / cost.rate + pause);
    }

    /**
     * The pause between two slices that a block itself stores through NVLink or PCIe: its stores
     * are the wire, and between slices it signals one and waits for the next. Half of an all-reduce
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

    /** Rate of a channel that moves as many slices of kind @p a as of kind @p b (harmonic mean). */
    Rate AverageOf(PrimitiveKind a, PrimitiveKind b) const
    {
        return Rate::GBps(2 / (1 / Of(a).rate.ToGBps() + 1 / Of(b).rate.ToGBps()));
    }
};

/** From a node's costs of thread blocks, NodeCostKind::BlockFloor to RecvMebibyte. */
BlockTimes BlockTimesOf(const NodeCosts& costs);

} // namespace weir

#endif // WEIR_COLLECTIVES_SCHEDULE_BLOCK_TIMES_H
