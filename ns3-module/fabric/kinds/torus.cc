// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/torus.h"

#include "fabric/kinds/router-grid.h"
#include "fabric/topology/cluster-spec.h"

#include <stdexcept>

namespace weir
{

namespace
{

constexpr const char* SIZES = "fabric.sizes";

} // namespace

const char*
Torus::Name() const
{
    return "torus";
}

const char*
Torus::Description() const
{
    return "A grid of routers that wraps around in each dimension.";
}

void
Torus::VisitParameters(ParameterVisitor& visitor)
{
    constexpr uint32_t MAX_SIZE = 1 << 24; // all routers in one ring
    visitor.Counts(Required("sizes", "Routers along each dimension: [4, 4, 2] or 4x4x2."),
                   sizes,
                   {1, MAX_SIZE});
    visitor.Count({"nicsPerRouter", "NICs attached to a router."}, nicsPerRouter, {1, MAX_PORTS});
}

std::vector<FabricDimension>
Torus::Rings() const
{
    std::vector<FabricDimension> rings(sizes.size());
    for (std::size_t d = 0; d < sizes.size(); d++)
    {
        rings[d].size = sizes[d];
    }
    return rings;
}

void
Torus::Wire(Topology& topology, const ClusterSpec& spec, const std::vector<DeviceId>& nics) const
{
    CheckDimensionCount(spec, sizes.size(), SIZES);
    const std::vector<FabricDimension> rings = Rings();
    const uint64_t places = PointsOf(rings, SIZES) * nicsPerRouter;
    if (nics.size() > places)
    {
        throw std::invalid_argument(
            std::string(SIZES) + ": " + SizesText(rings) + " routers with nicsPerRouter " +
            std::to_string(nicsPerRouter) + " hold " + std::to_string(places) +
            " NICs, expected room for nodes x node.nics = " + std::to_string(nics.size()));
    }
    WireGrid(topology, spec, rings, nics, nicsPerRouter);
}

bool
Torus::HasDimensions() const
{
    return true;
}

std::vector<FabricDimension>
Torus::GridDimensions() const
{
    return nicsPerRouter == 1 ? Rings() : std::vector<FabricDimension>();
}

bool
Torus::HasIntermediates() const
{
    return true;
}

std::optional<uint32_t>
Torus::NodesThatFill(const NodeSpec& node) const
{
    return NodesOfPlaces(PointsOf(Rings(), SIZES) * nicsPerRouter, node);
}

FabricSize
Torus::FixedSize(const ClusterSpec& spec) const
{
    return GridSize(Rings());
}

FabricSketch
Torus::Sketch(const Topology& topology) const
{
    return SketchOfGrid(topology, Rings());
}

std::string
Torus::Shape() const
{
    std::string text;
    for (const FabricDimension& ring : Rings())
    {
        text += (text.empty() ? "" : " x ") + ToString(ring);
    }
    return text;
}

} // namespace weir
