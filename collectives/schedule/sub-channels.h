// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_SCHEDULE_SUB_CHANNELS_H
#define WEIR_COLLECTIVES_SCHEDULE_SUB_CHANNELS_H

#include "collectives/schedule/schedule.h"
#include "fabric/units.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** The connections of a channel that chunks of some places cross, and no others. */
struct SubChannel
{
    /** One that has links. */
    struct Hop
    {
        uint32_t connection; //!< of the channel
        uint32_t uses;       //!< chunks of a pass that cross it
        uint32_t distance;   //!< hops up to the turn, or down from it, this one too
        uint32_t stage;      //!< in which a chunk crosses it
        bool isUp;           //!< towards the turn
    };

    std::vector<Hop> hops;      //!< in the channel's order
    std::vector<uint32_t> path; //!< by stage: index into hops, of the slowest path
    Time latency;               //!< of that path
    Rate cap{Rate::Infinite()}; //!< of one chunk, by what bounds its connections
    double weight{1};           //!< as above, of what one channel loads
};

/**
 * The sub-channels of a channel of which every pass moves @p chunks chunks: chunk i goes by
 * sub-channel i mod @p subChannels, and every connection belongs to one sub-channel.
 *
 * A chunk is summed upwards, to the turn where the last block reduces, and spread from there
 * downwards. Its slowest path is the longest by latency, of equal ones that of the lowest ranks; U
 * of its hops lead up. A hop from which a chunk has d hops up to the turn is crossed in stage U -
 * d, one that is the e-th down from the turn in stage U + e - 1; what is farther than the slowest
 * path is crossed in its first and last stage. Connections without links take no stage.
 *
 * O(connections + primitives of the programs).
 * @throws std::logic_error when chunks go in circles.
 */
std::vector<SubChannel> SubChannelsOf(const ChannelSchedule& channel,
                                      uint32_t chunks,
                                      uint32_t subChannels,
                                      const Routing& routing);

} // namespace weir

#endif // WEIR_COLLECTIVES_SCHEDULE_SUB_CHANNELS_H
