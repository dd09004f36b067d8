// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/dimensions.h"

#include "fabric/kinds/router-grid.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/topology/link-profile.h"

#include <stdexcept>

namespace weir
{

namespace
{

constexpr const char* DIMENSIONS = "fabric.dimensions";

std::string
FieldOf(std::size_t dimension)
{
    return DIMENSIONS + ("." + std::to_string(dimension));
}

bool
HasMesh(const NodeSpec& node, uint32_t a, uint32_t b)
{
    for (const MeshLink& link : node.meshLinks)
    {
        if ((link.a == a && link.b == b) || (link.a == b && link.b == a))
        {
            return true;
        }
    }
    return false;
}

/** Whether the GPUs of a node are joined by NVLink as @p dimension says. */
bool
IsJoinedAs(const NodeSpec& node, const FabricDimension& dimension)
{
    if (dimension.kind == DimensionKind::Switch)
    {
        return node.wiring == NvLinkWiring::Switched;
    }
    if (node.wiring != NvLinkWiring::Mesh)
    {
        return false;
    }
    for (uint32_t a = 0; a < node.gpus; a++)
    {
        for (uint32_t b = a + 1; b < node.gpus; b++)
        {
            const bool isNext = b == a + 1 || (a == 0 && b + 1 == node.gpus);
            const bool expected = dimension.kind == DimensionKind::FullyConnected || isNext;
            if (HasMesh(node, a, b) != expected)
            {
                return false;
            }
        }
    }
    return true;
}

} // namespace

const char*
Dimensions::Name() const
{
    return "dimensions";
}

const char*
Dimensions::Description() const
{
    return "A product of rings, full meshes and switches, with a router for each NIC.";
}

void
Dimensions::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Dimensions(
        Required(
            "dimensions",
            "Dimensions in ASTRA-sim's notation, Ring(4) x FullyConnected(8) x Switch(2), or a "
            "list of them with links of their own."),
        dimensions);
}

void
Dimensions::CheckDimensions(const ClusterSpec& spec) const
{
    CheckDimensionCount(spec, dimensions.size(), DIMENSIONS);
    for (std::size_t d = 0; d < dimensions.size(); d++)
    {
        if (!dimensions[d].isInside && dimensions[d].link.rawRate != Rate())
        {
            CheckProfile(dimensions[d].link, FieldOf(d));
        }
        if (dimensions[d].isInside && d > 0)
        {
            throw std::invalid_argument(
                FieldOf(d) + ": a dimension inside the nodes, expected the first one at most");
        }
    }
}

void
Dimensions::CheckInside(const NodeSpec& node) const
{
    const FabricDimension& first = dimensions.front();
    if (first.size != node.gpus)
    {
        throw std::invalid_argument(FieldOf(0) + ": a size of " + std::to_string(first.size) +
                                    " inside the nodes, expected the " + std::to_string(node.gpus) +
                                    " GPUs that they have (node.gpus)");
    }
    if (node.nics != node.gpus)
    {
        throw std::invalid_argument(
            FieldOf(0) + ": a dimension inside nodes with node.nics " + std::to_string(node.nics) +
            ", expected a NIC of its own for each of the " + std::to_string(node.gpus) + " GPUs");
    }
    if (!IsJoinedAs(node, first))
    {
        throw std::invalid_argument(
            FieldOf(0) +
            ": a shape that the NVLinks inside a node have not, expected that of "
            "node.nvlink");
    }
}

void
Dimensions::Wire(Topology& topology,
                 const ClusterSpec& spec,
                 const std::vector<DeviceId>& nics) const
{
    CheckDimensions(spec);
    const uint64_t points = PointsOf(dimensions, DIMENSIONS);
    if (dimensions.front().isInside)
    {
        CheckInside(spec.node);
    }
    if (nics.size() != points)
    {
        throw std::invalid_argument(
            std::string(DIMENSIONS) + ": " + SizesText(dimensions) + " is " +
            std::to_string(points) +
            " NICs, expected nodes x node.nics = " + std::to_string(spec.nodes) + " x " +
            std::to_string(spec.node.nics) + " = " + std::to_string(nics.size()));
    }
    WireGrid(topology, spec, dimensions, nics, 1);
}

bool
Dimensions::HasDimensions() const
{
    return true;
}

std::vector<FabricDimension>
Dimensions::GridDimensions() const
{
    return dimensions;
}

bool
Dimensions::HasIntermediates() const
{
    return true;
}

std::optional<uint32_t>
Dimensions::NodesThatFill(const NodeSpec& node) const
{
    return NodesOfPlaces(PointsOf(dimensions, DIMENSIONS), node);
}

FabricSize
Dimensions::FixedSize(const ClusterSpec& spec) const
{
    return GridSize(dimensions);
}

FabricSketch
Dimensions::Sketch(const Topology& topology) const
{
    return SketchOfGrid(topology, dimensions);
}

std::string
Dimensions::Shape() const
{
    std::string text;
    for (const FabricDimension& dimension : dimensions)
    {
        text += (text.empty() ? "" : " x ") + ToString(dimension) +
                (dimension.isInside ? " inside" : "");
    }
    return text;
}

} // namespace weir
