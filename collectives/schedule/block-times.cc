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
MeasuredBlockTimes(uint32_t computeCapability)
{
    // NPKit times of one channel's primitives under Simple, spcl/atlahs 8837294. The order is Send,
    // RecvReduceSend, RecvReduceCopySend, RecvCopySend, RecvReduceCopy, Recv, Copy. RecvReduceCopy
    // is not in the table; it reads two buffers and writes one as RecvReduceSend does. A local Copy
    // reads and writes as Recv does.
    //
    // Site clariden (GH200), medians: floors of 8 to 32 KiB, rates of 1 MiB.
    constexpr std::array<double, PRIMITIVE_KINDS> HOPPER_FLOOR{
        0.96, 1.63, 2.14, 1.02, 1.63, 0.88, 0.88};
    constexpr std::array<double, PRIMITIVE_KINDS> HOPPER{
        21.554, 28.117, 44.987, 38.244, 28.117, 22.044, 22.044};
    // Ampere and Volta: Hopper's, slower by the clocks of their SMs: 1.98 GHz on a GH200, 1.41 on
    // an A100, 1.53 on a V100. A block has as many loads under way on each. (Site ault of the same
    // source is a GPU on PCIe, whose links bound what its blocks do.)
    constexpr double AMPERE_OVER_HOPPER = 1.98 / 1.41;
    constexpr double VOLTA_OVER_HOPPER = 1.98 / 1.53;
    // Blackwell: Hopper's, slowed until a ring of 8 GPUs on one channel gives the 29.4 GB/s of bus
    // bandwidth that a B300 has (128 MiB, eunomia-bpf/nccl-eBPF 14f9bca): 14 MiB in the 21.554 +
    // 6 x 28.117 + 44.987 + 6 x 38.244 + 22.044 = 486.75 us of Hopper's primitives are 30.16.
    constexpr double BLACKWELL_OVER_HOPPER = 30.16 / 29.4;
    const bool ampere = computeCapability >= 80;
    const double floor = computeCapability >= 90 ? 1
                         : ampere                ? AMPERE_OVER_HOPPER
                                                 : VOLTA_OVER_HOPPER;
    return Table(
        HOPPER_FLOOR, HOPPER, floor, computeCapability >= 100 ? BLACKWELL_OVER_HOPPER : floor);
}

} // namespace weir
