// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTER_GRID_H
#define WEIR_FABRIC_ROUTER_GRID_H

#include "fabric/ids.h"
#include "fabric/kinds/fabric-dimension.h"
#include "fabric/kinds/fabric-kind.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * What torus and dimensions have in common: routers at the points of a product of dimensions. The
 * point of a number is its digits in a mixed radix, the first dimension fastest; along a dimension
 * the routers that differ in that digit only are joined as its shape says.
 */
namespace weir
{

/**
 * The product of all sizes.
 * @param key of the sizes, for messages: "fabric.sizes".
 * @throws std::invalid_argument when one is 0, or there are more routers than 2^24.
 */
uint64_t PointsOf(const std::vector<FabricDimension>& dimensions, const std::string& key);

/** "4 x 4 x 2". */
std::string SizesText(const std::vector<FabricDimension>& dimensions);

/** Routers and the switches of dimensions; all wires between these. */
FabricSize GridSize(const std::vector<FabricDimension>& dimensions);

/** Throws unless links can be made, and there are neither none nor too many dimensions. */
void CheckDimensionCount(const ClusterSpec& spec, std::size_t count, const std::string& key);

/**
 * Adds the routers, joins @p nics to them, @p nicsPerRouter to each in order, and the routers along
 * all dimensions that are not inside nodes; lower dimensions get lower links.
 */
void WireGrid(Topology& topology,
              const ClusterSpec& spec,
              const std::vector<FabricDimension>& dimensions,
              const std::vector<DeviceId>& nics,
              uint32_t nicsPerRouter);

/** Routers in a grid of the first two dimensions, a panel for each point of the others. */
FabricSketch SketchOfGrid(const Topology& topology, const std::vector<FabricDimension>& dimensions);

/** @p places NICs are those of so many nodes; 0 where that does not come out even. */
uint32_t NodesOfPlaces(uint64_t places, const NodeSpec& node);

} // namespace weir

#endif // WEIR_FABRIC_ROUTER_GRID_H
