// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_SCHEDULE_SUB_CHANNELS_H
#define WEIR_COLLECTIVES_SCHEDULE_SUB_CHANNELS_H

#include "collectives/schedule/schedule.h"
#include "fabric/units.h"

#include <cstdint>
#include <vector>

namespace weir
{

/**
 * The connections of a channel that the chunks of some positions cross, and that no other chunks
 * cross.
 */
struct SubChannel
{
    /** A connection that has links. */
    struct Hop
    {
        uint32_t connection; //!< index in the channel
        uint32_t uses;       //!< number of chunks of a pass that cross it
        uint32_t distance;   //!< number of hops up to the root, or down from it, including this one
        uint32_t stage;      //!< the stage in which a chunk crosses it
        bool isUp;           //!< towards the root
    };

    std::vector<Hop> hops;      //!< in the channel's order of connections
    std::vector<uint32_t> path; //!< by stage: index into hops, along the slowest path
    Time latency;               //!< of that path
    Rate cap{Rate::Infinite()}; //!< of one chunk: the lowest of its connections
    double weight{1};           //!< of one chunk: the lowest of its hops
};

/**
 * The sub-channels of a channel of which every pass moves @p chunks chunks: chunk i uses
 * sub-channel i mod @p subChannels, and every connection belongs to one sub-channel.
 *
 * A chunk is reduced on the path up to the root, where the last block reduces, and spread on the
 * path down. Its slowest path is the one of largest latency; of equal ones, that of the lowest
 * ranks. U of its hops lead up. A hop with d hops left up to the root (itself included) is crossed
 * in stage U - d, and the e-th hop down from the root in stage U + e - 1. Hops farther from the
 * root than the slowest path reaches are crossed in its first or last stage. Connections without
 * links take no stage.
 *
 * O(connections + primitives of the programs).
 * @throws std::logic_error when the connections form a cycle.
 */
std::vector<SubChannel> SubChannelsOf(const ChannelSchedule& channel,
                                      uint32_t chunks,
                                      uint32_t subChannels,
                                      const Routing& routing);

} // namespace weir

#endif // WEIR_COLLECTIVES_SCHEDULE_SUB_CHANNELS_H
