// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/schedule/block-times.h"

namespace weir
{

namespace
{

/** In the order of PrimitiveKind; Copy is local. */
BlockTimes
Table(const std::array<double, PRIMITIVE_KINDS>& floorMicroseconds,
      const std::array<double, PRIMITIVE_KINDS>& mebibyteMicroseconds,
      double longerFloor,
      double slower)
{
    BlockTimes times;
    for (std::size_t kind = 0; kind < PRIMITIVE_KINDS; ++kind)
    {
        const double bytesPerMicrosecond = (1 << 20) / (mebibyteMicroseconds[kind] * slower);
        times.costs[kind] = {Time::Microseconds(floorMicroseconds[kind] * longerFloor),
                             Rate::BytesPerSecond(bytesPerMicrosecond * 1e6)};
    }
    return times;
}

} // namespace

BlockTimes
MeasuredBlockTimes(const NodeCosts& costs)
{
    // NPKit times of one channel's primitives under Simple, spcl/atlahs 8837294. The order is Send,
    // RecvReduceSend, RecvReduceCopySend, RecvCopySend, RecvReduceCopy, Recv, Copy. RecvReduceCopy
    // is not in the table; it reads two buffers and writes one as RecvReduceSend does. A local Copy
    // reads and writes as Recv does.
    //
    // Site clariden (GH200), medians: floors of 8 to 32 KiB, rates of 1 MiB. (Site ault of the same
    // source is a GPU on PCIe, whose links bound what its blocks do.) A block has as many loads
    // under way on other GPUs, so that its times go by its SM's clock.
    constexpr std::array<double, PRIMITIVE_KINDS> HOPPER_FLOOR{
        0.96, 1.63, 2.14, 1.02, 1.63, 0.88, 0.88};
    constexpr std::array<double, PRIMITIVE_KINDS> HOPPER{
        21.554, 28.117, 44.987, 38.244, 28.117, 22.044, 22.044};
    return Table(HOPPER_FLOOR,
                 HOPPER,
                 costs.FactorOf(NodeCostKind::BlockFloor),
                 costs.FactorOf(NodeCostKind::BlockTime));
}

} // namespace weir
