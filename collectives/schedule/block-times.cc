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
      double slower)
{
    BlockTimes times;
    for (std::size_t kind = 0; kind < PRIMITIVE_KINDS; ++kind)
    {
        const double bytesPerMicrosecond = (1 << 20) / (mebibyteMicroseconds[kind] * slower);
        times.costs[kind] = {Time::Microseconds(floorMicroseconds[kind]),
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
    // Site ault (A100 class, so Ampere and Volta here): floors of 8 KiB, medians; rates of 1 MiB,
    // 10th percentiles, as its medians hold waits for a shared link.
    constexpr std::array<double, PRIMITIVE_KINDS> AMPERE_FLOOR{
        0.98, 2.97, 4.35, 1.73, 2.97, 1.68, 1.68};
    constexpr std::array<double, PRIMITIVE_KINDS> AMPERE{
        95.547, 99.320, 143.709, 81.789, 99.320, 55.693, 55.693};
    // Blackwell: Hopper's, slowed until a ring of 8 GPUs on one channel gives the 29.4 GB/s of bus
    // bandwidth that a B300 has (128 MiB, eunomia-bpf/nccl-eBPF 14f9bca): 14 MiB in the 21.554 +
    // 6 x 28.117 + 44.987 + 6 x 38.244 + 22.044 = 486.75 us of Hopper's primitives are 30.16.
    constexpr double BLACKWELL_OVER_HOPPER = 30.16 / 29.4;
    if (computeCapability >= 90)
    {
        return Table(HOPPER_FLOOR, HOPPER, computeCapability >= 100 ? BLACKWELL_OVER_HOPPER : 1);
    }
    return Table(AMPERE_FLOOR, AMPERE, 1);
}

} // namespace weir
