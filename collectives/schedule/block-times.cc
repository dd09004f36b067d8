// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/schedule/block-times.h"

namespace weir
{

BlockTimes
BlockTimesOf(const NodeCosts& costs)
{
    struct Row
    {
        PrimitiveKind kind;
        NodeCostKind floor;
        NodeCostKind mebibyte;
    };

    // A RecvReduceCopy reads two buffers and writes one, as a RecvReduceSend does. A local Copy
    // reads and writes as a Recv does.
    using Kind = NodeCostKind;
    constexpr Row ROWS[] = {
        {PrimitiveKind::Send, Kind::SendFloor, Kind::SendMebibyte},
        {PrimitiveKind::RecvReduceSend, Kind::ReduceSendFloor, Kind::ReduceSendMebibyte},
        {PrimitiveKind::RecvReduceCopySend,
         Kind::ReduceCopySendFloor,
         Kind::ReduceCopySendMebibyte},
        {PrimitiveKind::RecvCopySend, Kind::CopySendFloor, Kind::CopySendMebibyte},
        {PrimitiveKind::RecvReduceCopy, Kind::ReduceSendFloor, Kind::ReduceSendMebibyte},
        {PrimitiveKind::Recv, Kind::RecvFloor, Kind::RecvMebibyte},
        {PrimitiveKind::Copy, Kind::RecvFloor, Kind::RecvMebibyte}};
    constexpr double MEBIBYTE = 1 << 20;
    BlockTimes times;
    for (const Row& row : ROWS)
    {
        const double microseconds =
            costs.TimeOf(row.mebibyte).ToMicroseconds() * costs.FactorOf(Kind::BlockTime);
        times.Of(row.kind) = {costs.TimeOf(row.floor) * costs.FactorOf(Kind::BlockFloor),
                              Rate::BytesPerSecond(MEBIBYTE / microseconds * 1e6)};
    }
    return times;
}

} // namespace weir
