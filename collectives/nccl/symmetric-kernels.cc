// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/symmetric-kernels.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace weir
{

namespace
{

/** What NCCL's estimate counts as moved, and how much faster a block moves it. */
struct Work
{
    double bytes;
    double blockFactor{1};
};

Work
WorkOf(const SymmetricCase& call, Protocol protocol, bool isMulticast)
{
    constexpr double LL_FACTOR = 9;             // twice the bytes, polls, and loops not unrolled
    constexpr double LL_MULTICAST_FACTOR = 1.1; // so that it is preferred
    constexpr double HALF_MULTICAST_FACTOR = 0.55;
    const double ranks = call.ranks;
    const bool isAllReduce = call.op == CollectiveOp::AllReduce;
    const double part = call.bytes.ToDouble() / (isAllReduce ? 1 : ranks);
    if (protocol == Protocol::Ll)
    {
        return {ranks * part * LL_FACTOR, isMulticast ? LL_MULTICAST_FACTOR : 1};
    }
    if (isAllReduce)
    {
        return isMulticast ? Work{part / ranks + part, ranks}
                           : Work{2 * part * (ranks - 1) / ranks};
    }
    return {(ranks - 1) * part, isMulticast ? HALF_MULTICAST_FACTOR * ranks : 1};
}

/** A smooth minimum of @p x and @p ceiling. */
double
SoftMinimum(double x, double ceiling, double softness)
{
    return ceiling -
           softness * std::log1p(std::expm1(ceiling / softness) * std::exp(-x / softness));
}

/** A smooth maximum of @p x and 0. */
double
SoftPositive(double x)
{
    return x > 100 ? x : std::log1p(std::exp(x));
}

uint32_t
MaxBlocks(const SymmetricCase& call, Protocol protocol, bool isMulticast)
{
    const bool bySwitch = isMulticast && protocol == Protocol::Simple;
    const double ofAll = call.constants.ValueOf(NcclTable::SymmetricSwitchBlocks);
    return call.limits.Apply(bySwitch ? static_cast<uint32_t>(std::ceil(ofAll / call.ranks))
                                      : MAX_SYMMETRIC_BLOCKS,
                             MAX_SYMMETRIC_BLOCKS);
}

/** The kernel with @p blocks blocks. */
SymmetricKernel
Estimate(const SymmetricCase& call, Protocol protocol, bool isMulticast, uint32_t blocks)
{
    constexpr double GIB = 1 << 30;
    constexpr double HIDDEN = 1; // us of moving that the latency covers
    const Work work = WorkOf(call, protocol, isMulticast);
    const bool isLl = protocol == Protocol::Ll;
    const bool isAllReduce = call.op == CollectiveOp::AllReduce;
    const bool reducesInSwitch = isAllReduce && isMulticast && !isLl;
    const uint32_t latencyColumn =
        isLl ? (call.op == CollectiveOp::AllGather ? 0 : 1) : (isAllReduce ? 2 : 3);
    const double block = call.constants.ValueOf(NcclTable::SymmetricBlock, isAllReduce ? 0 : 1);
    const double peak = call.constants.ValueOf(NcclTable::SymmetricPeak, reducesInSwitch ? 0 : 1);
    const double rate = SoftMinimum(blocks * block * work.blockFactor, peak, block);
    const double moving = work.bytes / (rate * GIB) * 1e6; // us
    const Time latency =
        Time::Microseconds(call.constants.ValueOf(NcclTable::SymmetricLatency, latencyColumn));
    return {protocol,
            isMulticast,
            blocks,
            latency,
            Time::Microseconds(moving),
            latency + Time::Microseconds(SoftPositive(moving - HIDDEN))};
}

/** The kernel with NCCL's number of blocks. */
SymmetricKernel
Narrowed(const SymmetricCase& call, Protocol protocol, bool isMulticast)
{
    constexpr double TOLERANCE = 1.025;
    if (call.blocks)
    {
        return Estimate(call, protocol, isMulticast, *call.blocks);
    }
    const uint32_t max = MaxBlocks(call, protocol, isMulticast);
    const SymmetricKernel widest = Estimate(call, protocol, isMulticast, max);
    for (uint32_t blocks = std::min(call.limits.min, max); blocks < max; ++blocks)
    {
        const SymmetricKernel kernel = Estimate(call, protocol, isMulticast, blocks);
        if (kernel.estimate <= widest.estimate * TOLERANCE)
        {
            return kernel;
        }
    }
    return widest;
}

/** The estimate that NCCL compares: an additional block has to be worth 2.5 %. */
double
Weighted(const SymmetricKernel& kernel)
{
    constexpr double BLOCK_PENALTY = 0.025;
    return kernel.estimate.ToSeconds() * (1 + BLOCK_PENALTY * kernel.blocks);
}

} // namespace

SymmetricKernel
ChooseSymmetricKernel(const SymmetricCase& call)
{
    constexpr Bytes LL_END = Bytes::GiB(2); // LL kernels count in 32 bits
    std::optional<SymmetricKernel> best;
    for (const Protocol protocol : {Protocol::Ll, Protocol::Simple})
    {
        if (call.protocol.value_or(protocol) != protocol ||
            (protocol == Protocol::Ll && call.bytes >= LL_END))
        {
            continue;
        }
        for (const bool isMulticast : {false, true})
        {
            const bool exists =
                !isMulticast || (call.hasMulticast && (protocol == Protocol::Simple ||
                                                       call.op != CollectiveOp::ReduceScatter));
            if (!exists)
            {
                continue;
            }
            const SymmetricKernel kernel = Narrowed(call, protocol, isMulticast);
            if (!best || Weighted(kernel) < Weighted(*best))
            {
                best = kernel;
            }
        }
    }
    if (!best)
    {
        throw std::invalid_argument(std::string("found protocol '") + ToString(*call.protocol) +
                                    "' for " + std::to_string(call.bytes.Count()) +
                                    " bytes, expected simple, or ll below 2 GiB, on symmetric "
                                    "memory");
    }
    return *best;
}

} // namespace weir
