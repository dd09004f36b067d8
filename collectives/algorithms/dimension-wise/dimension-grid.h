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
 * The ranks of a group as points of a product of dimensions. The index of a point is its number in
 * the mixed radix of their sizes, with the first dimension fastest.
 */
struct DimensionGrid
{
    struct Dimension
    {
        uint32_t size{2};
        uint32_t stride{1}; //!< difference in index of adjacent points
        DimensionKind kind{DimensionKind::Switch};
    };

    std::vector<Dimension> dimensions; //!< dimensions of more than one point
    std::vector<uint32_t> rankAt;      //!< by point

    /** The point @p steps steps from @p point along a dimension, with wrap-around. */
    uint32_t Next(uint32_t point, uint32_t dimension, uint32_t steps) const;

    /** The coordinate of a point along a dimension. */
    uint32_t DigitOf(uint32_t point, uint32_t dimension) const
    {
        return point / dimensions[dimension].stride % dimensions[dimension].size;
    }
};

/**
 * The grid of a group. A group of all GPUs of a fabric with dimensions has these dimensions,
 * preceded by one for the GPUs of a NIC if there are several. Other groups have two: the GPUs of a
 * node, and the nodes.
 * @throws std::invalid_argument unless the group has equally many GPUs in each of its nodes.
 */
DimensionGrid GridOf(const Communicator& communicator, const Cluster& cluster);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_DIMENSION_GRID_H
