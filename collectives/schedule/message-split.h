// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_SCHEDULE_MESSAGE_SPLIT_H
#define WEIR_COLLECTIVES_SCHEDULE_MESSAGE_SPLIT_H

#include "collectives/schedule/schedule.h"
#include "fabric/units.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** Some channels with equal shares of a message. */
struct ChannelShare
{
    uint32_t firstChannel{0};
    uint32_t channels{1};
    Bytes bytes; //!< of one channel
};

/**
 * Splits @p bytes over @p channels in order: equal shares, whole multiples of the chunk alignment,
 * the last one ragged. Channels that would get nothing are left out; equal shares are one entry.
 */
std::vector<ChannelShare> SplitOverChannels(Bytes bytes, uint32_t channels);

/** What the chunks of a pass that is not full are. */
enum class LastChunks
{
    Cut,  //!< multiples of 16 bytes of one message, the last ones may be empty
    Alike //!< each of another rank's data, as equal as whole bytes are
};

/**
 * NCCL's outer loop over one channel's share of which every pass moves @p chunksPerPass chunks of
 * @p chunk bytes: as many full passes as fit, then a pass whose chunks shrink to the rest over
 * @p chunksPerPass.
 */
std::vector<Loop> SplitIntoLoops(Bytes share,
                                 Bytes chunk,
                                 uint32_t chunksPerPass,
                                 uint32_t slices,
                                 LastChunks last = LastChunks::Cut);

/** The least whole number of bytes that is not below @p bytes. */
Bytes RoundedUp(double bytes);

/** (numerator + denominator - 1) / denominator, for sizes that are not negative. */
Bytes DivideUp(Bytes numerator, int64_t denominator);

/** The least power of two that is not below @p value. */
uint32_t PowerOfTwoUp(uint32_t value);

} // namespace weir

#endif // WEIR_COLLECTIVES_SCHEDULE_MESSAGE_SPLIT_H
