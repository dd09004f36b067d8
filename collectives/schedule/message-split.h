// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_SCHEDULE_MESSAGE_SPLIT_H
#define WEIR_COLLECTIVES_SCHEDULE_MESSAGE_SPLIT_H

#include "collectives/schedule/schedule.h"
#include "fabric/units.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** Consecutive channels with equal shares of a message. */
struct ChannelShare
{
    uint32_t firstChannel{0};
    uint32_t channels{1};
    Bytes bytes; //!< of one channel
};

/**
 * Splits @p bytes over @p channels in order: equal shares in multiples of the chunk alignment, the
 * last one ragged. Channels without bytes are left out; equal shares are one entry.
 */
std::vector<ChannelShare> SplitOverChannels(Bytes bytes, uint32_t channels);

/** How a partial pass is cut into chunks. */
enum class LastChunks
{
    Cut,  //!< parts of one message in multiples of 16 bytes; the last ones may be empty
    Alike //!< each chunk is another rank's data; sizes differ by at most one byte
};

/**
 * NCCL's outer loop over one channel's share: as many full passes of @p chunksPerPass chunks of @p
 * chunk bytes as fit, then one partial pass, whose chunks shrink to the rest over @p chunksPerPass.
 */
std::vector<Loop> SplitIntoLoops(Bytes share,
                                 Bytes chunk,
                                 uint32_t chunksPerPass,
                                 uint32_t slices,
                                 LastChunks last = LastChunks::Cut);

/** @p bytes rounded up to a whole number. */
Bytes RoundedUp(double bytes);

/** @p bytes times @p factor, rounded up; a factor of 1 is exact. */
Bytes Scaled(Bytes bytes, double factor);

/** (numerator + denominator - 1) / denominator, for sizes that are not negative. */
Bytes DivideUp(Bytes numerator, int64_t denominator);

/** The smallest power of two that is at least @p value. */
uint32_t PowerOfTwoUp(uint32_t value);

/** The logarithm to base 2, rounded down; 0 for 0. */
uint32_t FloorLog2(uint64_t value);

} // namespace weir

#endif // WEIR_COLLECTIVES_SCHEDULE_MESSAGE_SPLIT_H
