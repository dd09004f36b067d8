// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_PART_PLACES_H
#define WEIR_COLLECTIVES_ALGORITHMS_PART_PLACES_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/channels/collnet-network.h"
#include "collectives/schedule/schedule-wiring.h"

#include <cstdint>
#include <vector>

namespace weir
{

/**
 * Where the parts of an all-gather or reduce-scatter in the network lie, one of each head of each
 * node: by node, then head. Every block takes those of its own node first, so that blocks of all
 * nodes have the same programs.
 */
struct PartPlaces
{
    uint32_t nodes{1};
    uint32_t heads{1}; //!< of each node

    /** Of the part of the rank at head @p head of node @p node. */
    uint32_t At(uint32_t node, uint32_t head) const
    {
        return node * heads + head;
    }

    /** The part of head @p head in the @p i-th node from @p node on. */
    uint32_t From(uint32_t node, uint32_t i, uint32_t head) const
    {
        return At((node + i) % nodes, head);
    }

    /** The chunk of part @p part as a block at @p place names it. */
    int32_t Relative(uint32_t place, uint32_t part) const
    {
        const uint32_t parts = nodes * heads;
        return static_cast<int32_t>((part + parts - place) % parts);
    }
};

/**
 * Adds the switches of every part. @param paths by head, then node. @param gathers or it scatters.
 * @param cap of a head's parts of all nodes on one channel. @return by place
 */
std::vector<CollNetBlocks> AddPartNetworks(ScheduleWiring& wiring,
                                           const AlgorithmInputs& inputs,
                                           const PartPlaces& places,
                                           const std::vector<std::vector<CollNetPath>>& paths,
                                           bool gathers,
                                           Rate cap);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_PART_PLACES_H
