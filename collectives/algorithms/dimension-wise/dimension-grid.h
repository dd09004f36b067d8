// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_DIMENSION_GRID_H
#define WEIR_COLLECTIVES_ALGORITHMS_DIMENSION_GRID_H

#include "collectives/communicator.h"
#include "fabric/kinds/fabric-dimension.h"
#include "fabric/topology/cluster.h"

#include <cstdint>
#include <vector>

namespace weir
{

/**
 * The ranks of a group as points of a product of dimensions: a point's number in the mixed radix of
 * their sizes, the first dimension fastest.
 */
struct DimensionGrid
{
    struct Dimension
    {
        uint32_t size{2};
        uint32_t stride{1}; //!< between points that are next to each other along it
        DimensionKind kind{DimensionKind::Switch};
    };

    std::vector<Dimension> dimensions; //!< those of more than one point
    std::vector<uint32_t> rankAt;      //!< by point

    /** The point @p steps further than @p point along a dimension, around its end. */
    uint32_t Next(uint32_t point, uint32_t dimension, uint32_t steps) const;

    /** A point's digit along a dimension. */
    uint32_t DigitOf(uint32_t point, uint32_t dimension) const;
};

/**
 * The grid of a group: all GPUs of a fabric that has dimensions have those, with the GPUs of a NIC
 * below them; other groups have two, the GPUs of a node and the nodes.
 * @throws std::invalid_argument unless the group has as many GPUs of each of its nodes.
 */
DimensionGrid GridOf(const Communicator& communicator, const Cluster& cluster);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_DIMENSION_GRID_H
