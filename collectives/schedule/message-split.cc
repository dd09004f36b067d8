// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/schedule/message-split.h"

#include "collectives/algorithms/protocol.h"

#include <algorithm>
#include <cmath>

namespace weir
{

namespace
{

/** Simple cuts no slice below 1/32 of two 512 KiB steps (prims_simple.h). */
constexpr Bytes SMALLEST_SLICE = Bytes::KiB(32);

Bytes
AlignUp(Bytes bytes)
{
    return DivideUp(bytes, CHUNK_ALIGNMENT.Count()) * CHUNK_ALIGNMENT.Count();
}

uint32_t
SlicesOf(Bytes chunk, uint32_t slices)
{
    return chunk >= SMALLEST_SLICE * slices ? slices : 1;
}

} // namespace

Bytes
RoundedUp(double bytes)
{
    return Bytes(static_cast<int64_t>(std::ceil(bytes)));
}

Bytes
Scaled(Bytes bytes, double factor)
{
    return factor == 1 ? bytes : RoundedUp(bytes.ToDouble() * factor);
}

Bytes
DivideUp(Bytes numerator, int64_t denominator)
{
    return Bytes((numerator.Count() + denominator - 1) / denominator);
}

uint32_t
PowerOfTwoUp(uint32_t value)
{
    uint32_t power = 1;
    while (power < value)
    {
        power *= 2;
    }
    return power;
}

uint32_t
FloorLog2(uint64_t value)
{
    uint32_t log = 0;
    while (value >>= 1)
    {
        ++log;
    }
    return log;
}

std::vector<ChannelShare>
SplitOverChannels(Bytes bytes, uint32_t channels)
{
    const Bytes share = AlignUp(DivideUp(bytes, channels));
    const auto full =
        static_cast<uint32_t>(std::min<int64_t>(channels, bytes.Count() / share.Count()));
    const Bytes rest = full < channels ? bytes - share * full : Bytes();
    std::vector<ChannelShare> shares;
    if (full > 0)
    {
        shares.push_back({0, full, share});
    }
    if (rest > Bytes())
    {
        shares.push_back({full, 1, rest});
    }
    return shares;
}

std::vector<Loop>
SplitIntoLoops(Bytes share, Bytes chunk, uint32_t chunksPerPass, uint32_t slices, LastChunks last)
{
    std::vector<Loop> loops;
    const Bytes pass = chunk * chunksPerPass;
    const int64_t full = share.Count() / pass.Count();
    if (full > 0)
    {
        loops.push_back({static_cast<uint32_t>(full),
                         std::vector<Bytes>(chunksPerPass, chunk),
                         SlicesOf(chunk, slices)});
    }
    const Bytes rest = share - pass * full;
    if (rest > Bytes())
    {
        const bool isCut = last == LastChunks::Cut;
        const Bytes part = DivideUp(rest, chunksPerPass);
        const Bytes max = isCut ? AlignUp(part) : part;
        Loop loop{1, {}, SlicesOf(max, slices)};
        Bytes left = rest;
        for (uint32_t i = 0; i < chunksPerPass; ++i)
        {
            loop.chunks.push_back(isCut ? std::min(max, left)
                                        : DivideUp(left, int64_t{chunksPerPass} - i));
            left -= loop.chunks.back();
        }
        loops.push_back(std::move(loop));
    }
    return loops;
}

} // namespace weir
