// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/dimensions.h"

#include "fabric/ids.h"
#include "fabric/kinds/switch-layers.h"
#include "fabric/refuse.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/topology/link-profile.h"

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

/**
 * @file
 * Torus and Dimensions, and their common part: routers at the points of a product of dimensions.
 * The coordinates of point n are the digits of n in mixed radix, first dimension fastest. Routers
 * that differ only in one coordinate are connected as the kind of that dimension says.
 */
namespace weir
{

namespace
{

constexpr std::size_t MAX_DIMENSIONS = 32; //!< twice the number that dimensions of size two need
constexpr uint64_t MAX_ROUTERS = uint64_t{1} << 24;

/** Adds the routers of a product of dimensions, and the wires along each dimension. */
class RouterGrid
{
  public:
    RouterGrid(Topology& topology,
               const ClusterSpec& spec,
               const std::vector<FabricDimension>& dimensions)
        : m_topology(topology),
          m_dimensions(dimensions),
          m_default(TrunkProfile(spec))
    {
        uint64_t points = 1;
        for (const FabricDimension& dimension : m_dimensions)
        {
            points *= dimension.size;
        }
        for (uint64_t point = 0; point < points; point++)
        {
            m_routers.push_back(m_topology.AddDevice(
                DeviceKind::LeafSwitch, "router" + DigitsOf(point), Device::NO_NODE, point));
        }
    }

    const std::vector<DeviceId>& Routers() const
    {
        return m_routers;
    }

    void Join()
    {
        uint64_t stride = 1;
        for (std::size_t d = 0; d < m_dimensions.size(); d++)
        {
            const uint64_t span = stride * m_dimensions[d].size;
            uint32_t line = 0;
            for (uint64_t block = 0; block < m_routers.size() && !m_dimensions[d].isInside;
                 block += span)
            {
                for (uint64_t offset = 0; offset < stride; offset++)
                {
                    JoinLine(d, block + offset, stride, line++);
                }
            }
            stride = span;
        }
    }

  private:
    /** The coordinates of a point: "1.0.3". */
    std::string DigitsOf(uint64_t point) const
    {
        std::string text;
        for (const FabricDimension& dimension : m_dimensions)
        {
            text += (text.empty() ? "" : ".") + std::to_string(point % dimension.size);
            point /= dimension.size;
        }
        return text;
    }

    void Wire(std::size_t d, DeviceId a, DeviceId b)
    {
        const FabricDimension& dimension = m_dimensions[d];
        const LinkProfile& profile = dimension.link.rawRate == Rate() ? m_default : dimension.link;
        for (uint32_t i = 0; i < dimension.links; i++)
        {
            m_topology.SetDimension(m_topology.AddDuplexLink(a, b, LinkKind::Network, profile),
                                    static_cast<uint8_t>(d));
        }
    }

    void JoinLine(std::size_t d, uint64_t first, uint64_t stride, uint32_t line)
    {
        const uint32_t size = m_dimensions[d].size;
        const auto at = [&](uint32_t i) { return m_routers[first + i * stride]; };
        switch (m_dimensions[d].kind)
        {
        case DimensionKind::Ring:
            for (uint32_t i = 0; i + 1 < size; i++)
            {
                Wire(d, at(i), at(i + 1));
            }
            if (size > 2)
            {
                Wire(d, at(size - 1), at(0));
            }
            break;
        case DimensionKind::FullyConnected:
            for (uint32_t i = 0; i < size; i++)
            {
                for (uint32_t j = i + 1; j < size; j++)
                {
                    Wire(d, at(i), at(j));
                }
            }
            break;
        case DimensionKind::Switch:
            const DeviceId middle =
                m_topology.AddDevice(DeviceKind::SpineSwitch,
                                     "switch" + std::to_string(d) + "-" + std::to_string(line),
                                     Device::NO_NODE,
                                     m_switches++);
            for (uint32_t i = 0; i < size; i++)
            {
                Wire(d, at(i), middle);
            }
            break;
        }
    }

    Topology& m_topology;
    const std::vector<FabricDimension>& m_dimensions;
    const LinkProfile m_default;
    std::vector<DeviceId> m_routers; //!< by index in the mixed radix
    uint32_t m_switches{0};
};

/** The number of wires along one dimension in a grid of @p points routers. */
double
WiresAlong(const FabricDimension& dimension, double points)
{
    const double size = dimension.size;
    const double lines = points / size;
    switch (dimension.kind)
    {
    case DimensionKind::Ring:
        return lines * (size > 2 ? size : size - 1) * dimension.links;
    case DimensionKind::FullyConnected:
        return lines * size * (size - 1) / 2 * dimension.links;
    case DimensionKind::Switch:
        return points * dimension.links;
    }
    throw std::logic_error("WiresAlong: unknown kind of dimension");
}

/** "4 x 4 x 2". */
std::string
SizesText(const std::vector<FabricDimension>& dimensions)
{
    std::string text;
    for (const FabricDimension& dimension : dimensions)
    {
        text += (text.empty() ? "" : " x ") + std::to_string(dimension.size);
    }
    return text;
}

/**
 * The product of all sizes.
 * @param key of the sizes, for messages: "fabric.sizes".
 * @throws std::invalid_argument if a size or number of links is 0, or there are more than 2^24
 *         routers.
 */
uint64_t
PointsOf(const std::vector<FabricDimension>& dimensions, const std::string& key)
{
    uint64_t points = 1;
    for (std::size_t d = 0; d < dimensions.size(); d++)
    {
        WEIR_REFUSE_IF(dimensions[d].size == 0 || dimensions[d].links == 0,
                       key << "." << d << ": a size or number of links of 0, expected at least 1");
        points *= dimensions[d].size;
        WEIR_REFUSE_IF(points > MAX_ROUTERS,
                       key << ": " << SizesText(dimensions) << " routers, expected at most "
                           << MAX_ROUTERS);
    }
    return points;
}

/**
 * Checks the links, and that the number of dimensions is 1 to MAX_DIMENSIONS.
 * @throws std::invalid_argument
 */
void
CheckDimensionCount(const ClusterSpec& spec, std::size_t count, const std::string& key)
{
    CheckFabricLinks(spec);
    WEIR_REFUSE_IF(count == 0 || count > MAX_DIMENSIONS,
                   key << ": " << count << " dimensions, expected 1 to " << MAX_DIMENSIONS);
}

/**
 * Adds the routers, attaches @p nicsPerRouter of @p nics to each in order, and connects the routers
 * along all dimensions that are not inside nodes. Links are added dimension by dimension, so that
 * lower dimensions have lower link ids.
 */
void
WireGrid(Topology& topology,
         const ClusterSpec& spec,
         const std::vector<FabricDimension>& dimensions,
         const std::vector<DeviceId>& nics,
         uint32_t nicsPerRouter)
{
    RouterGrid grid(topology, spec, dimensions);
    for (std::size_t nic = 0; nic < nics.size(); nic++)
    {
        topology.AddDuplexLink(
            nics[nic], grid.Routers()[nic / nicsPerRouter], LinkKind::Network, spec.node.nic);
    }
    grid.Join();
}

/** The number of nodes that have @p nics NICs in total; 0 if there is no such number. */
uint32_t
NodesOfNics(uint64_t nics, const NodeSpec& node)
{
    const bool fits = node.nics > 0 && nics % node.nics == 0 &&
                      nics / node.nics <= std::numeric_limits<uint32_t>::max();
    return fits ? static_cast<uint32_t>(nics / node.nics) : 0;
}

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

/** Whether the NVLinks of a node connect its GPUs as @p dimension says. */
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

FabricSize
GridFabric::FixedSize(const ClusterSpec& spec) const
{
    const std::vector<FabricDimension> dimensions = Grid();
    double points = 1;
    for (const FabricDimension& dimension : dimensions)
    {
        points *= dimension.size;
    }
    FabricSize size{points, 0};
    for (const FabricDimension& dimension : dimensions)
    {
        if (!dimension.isInside)
        {
            size.wires += WiresAlong(dimension, points);
            size.switches += dimension.kind == DimensionKind::Switch ? points / dimension.size : 0;
        }
    }
    return size;
}

/**
 * Draws the routers in a grid of the first two dimensions, with a panel for each point of the
 * others.
 */
FabricSketch
GridFabric::Sketch(const Topology& topology) const
{
    const std::vector<FabricDimension> dimensions = Grid();
    const uint32_t columns = dimensions[0].size;
    const uint32_t rows = dimensions.size() > 1 ? dimensions[1].size : 1;
    FabricSketch sketch;
    sketch.style = SketchStyle::Grid;
    uint32_t point = 0;
    for (const DeviceId device : NetworkSwitches(topology))
    {
        const std::string& name = topology.GetDevice(device).name;
        SketchedSwitch at;
        at.device = device;
        at.isBetween = topology.GetDevice(device).kind != DeviceKind::LeafSwitch;
        if (at.isBetween)
        {
            at.label = name;
        }
        else
        {
            at.label = name.substr(std::string("router").size());
            at.column = point % columns;
            at.row = point / columns % rows;
            at.part = point / columns / rows;
            point++;
        }
        sketch.switches.push_back(std::move(at));
    }
    return sketch;
}

std::string
GridFabric::Shape() const
{
    std::string text;
    for (const FabricDimension& dimension : Grid())
    {
        text += (text.empty() ? "" : " x ") + ToString(dimension) +
                (dimension.isInside ? " inside" : "");
    }
    return text;
}

void
Dimensions::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Dimensions(
        Required("dimensions",
                 "Dimensions in ASTRA-sim's notation, as Ring(4) x FullyConnected(8) x Switch(2), "
                 "or a list of dimensions with their own links."),
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
        WEIR_REFUSE_IF(
            dimensions[d].isInside && d > 0,
            FieldOf(d)
                << ": a dimension inside the nodes, expected only the first dimension there");
    }
}

void
Dimensions::CheckInside(const NodeSpec& node) const
{
    const FabricDimension& first = dimensions.front();
    WEIR_REFUSE_IF(first.size != node.gpus,
                   FieldOf(0) << ": a size of " << first.size << " inside the nodes, expected the "
                              << node.gpus << " GPUs of a node (node.gpus)");
    WEIR_REFUSE_IF(node.nics != node.gpus,
                   FieldOf(0) << ": a dimension inside nodes with node.nics " << node.nics
                              << ", expected one NIC for each of the " << node.gpus << " GPUs");
    WEIR_REFUSE_IF(
        !IsJoinedAs(node, first),
        FieldOf(0)
            << ": a shape other than that of the NVLinks inside a node, expected "
            << (node.wiring == NvLinkWiring::Switched
                    ? "Switch(" + std::to_string(node.gpus) +
                          "), or node.nvlink with wiring: mesh and links of this shape"
                    : "links of this shape in node.nvlink, or wiring: switched for a Switch"));
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
    WEIR_REFUSE_IF(nics.size() != points,
                   DIMENSIONS << ": " << SizesText(dimensions) << " is " << points
                              << " NICs, expected nodes x node.nics = " << spec.nodes << " x "
                              << spec.node.nics << " = " << nics.size());
    WireGrid(topology, spec, dimensions, nics, 1);
}

std::vector<FabricDimension>
Dimensions::Grid() const
{
    return dimensions;
}

std::vector<FabricDimension>
Dimensions::GridDimensions() const
{
    return dimensions;
}

std::optional<uint32_t>
Dimensions::NodesThatFill(const NodeSpec& node) const
{
    return NodesOfNics(PointsOf(dimensions, DIMENSIONS), node);
}

namespace
{

constexpr const char* SIZES = "fabric.sizes";

} // namespace

void
Torus::VisitParameters(ParameterVisitor& visitor)
{
    constexpr uint32_t MAX_SIZE = 1 << 24; // all routers in one ring
    visitor.Counts(
        Required("sizes", "Number of routers along each dimension, as [4, 4, 2] or 4x4x2."),
        sizes,
        {1, MAX_SIZE});
    visitor.Count(
        {"nicsPerRouter", "Number of NICs attached to a router."}, nicsPerRouter, {1, MAX_PORTS});
}

std::vector<FabricDimension>
Torus::Grid() const
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
    const std::vector<FabricDimension> rings = Grid();
    const uint64_t maxNics = PointsOf(rings, SIZES) * nicsPerRouter;
    WEIR_REFUSE_IF(nics.size() > maxNics,
                   SIZES << ": " << SizesText(rings) << " routers with nicsPerRouter "
                         << nicsPerRouter << " hold " << maxNics
                         << " NICs, expected room for nodes x node.nics = " << nics.size());
    WireGrid(topology, spec, rings, nics, nicsPerRouter);
}

std::vector<FabricDimension>
Torus::GridDimensions() const
{
    return nicsPerRouter == 1 ? Grid() : std::vector<FabricDimension>();
}

std::optional<uint32_t>
Torus::NodesThatFill(const NodeSpec& node) const
{
    return NodesOfNics(PointsOf(Grid(), SIZES) * nicsPerRouter, node);
}

} // namespace weir
