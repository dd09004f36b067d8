// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/dimensions.h"

#include "fabric/kinds/clos-layers.h"
#include "fabric/topology/profile-check.h"

#include <limits>
#include <stdexcept>
#include <string>

namespace weir
{

namespace
{

constexpr std::size_t MOST_DIMENSIONS = 32; //!< twice what sizes of two need for all NICs
constexpr uint64_t MOST_ROUTERS = uint64_t{1} << 24;

std::string
FieldOf(std::size_t dimension)
{
    return "fabric.dimensions." + std::to_string(dimension);
}

/** The product of all sizes. */
uint64_t
PointsOf(const std::vector<FabricDimension>& dimensions)
{
    uint64_t points = 1;
    for (std::size_t d = 0; d < dimensions.size(); d++)
    {
        if (dimensions[d].size == 0 || dimensions[d].links == 0)
        {
            throw std::invalid_argument(FieldOf(d) + ": a size or number of links of 0, expected " +
                                        "at least 1");
        }
        points *= dimensions[d].size;
        if (points > MOST_ROUTERS)
        {
            throw std::invalid_argument("fabric.dimensions: more than " +
                                        std::to_string(MOST_ROUTERS) +
                                        " routers, expected at most so many");
        }
    }
    return points;
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

/** Wires a product of dimensions, router by router and dimension by dimension. */
class Grid
{
  public:
    Grid(Topology& topology, const ClusterSpec& spec)
        : m_topology(topology),
          m_dimensions(spec.fabric.dimensions),
          m_default(TrunkProfile(spec))
    {
        const uint64_t points = PointsOf(m_dimensions);
        for (uint64_t point = 0; point < points; point++)
        {
            m_routers.push_back(m_topology.AddDevice(
                DeviceKind::LeafSwitch, "router" + PlaceText(point), Device::NO_NODE, point));
        }
    }

    /** Joins along all dimensions that are not inside nodes; lower dimensions get lower links. */
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

    const std::vector<DeviceId>& Routers() const
    {
        return m_routers;
    }

  private:
    /** "1.0.3": the point's place in every dimension. */
    std::string PlaceText(uint64_t point) const
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
        for (uint32_t lane = 0; lane < dimension.links; lane++)
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
    std::vector<DeviceId> m_routers; //!< by place in the mixed radix
    uint32_t m_switches{0};
};

void
CheckDimensions(const ClusterSpec& spec)
{
    CheckFabricLinks(spec);
    const auto& dimensions = spec.fabric.dimensions;
    if (dimensions.empty() || dimensions.size() > MOST_DIMENSIONS)
    {
        throw std::invalid_argument("fabric.dimensions: " + std::to_string(dimensions.size()) +
                                    " dimensions, expected 1 to " +
                                    std::to_string(MOST_DIMENSIONS));
    }
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

/** Whether the GPUs of a node are joined by NVLink in the way of @p dimension. */
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

/** Throws unless the first dimension of @p spec can be what is inside its nodes. */
void
CheckInside(const ClusterSpec& spec)
{
    const FabricDimension& first = spec.fabric.dimensions.front();
    const NodeSpec& node = spec.node;
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

} // namespace

uint32_t
NodesOfDimensions(const ClusterSpec& spec)
{
    const uint64_t places = PointsOf(spec.fabric.dimensions) * spec.fabric.nicsPerRouter;
    const bool fits = spec.node.nics > 0 && places % spec.node.nics == 0 &&
                      places / spec.node.nics <= std::numeric_limits<uint32_t>::max();
    return fits ? static_cast<uint32_t>(places / spec.node.nics) : 0;
}

void
WireTorus(Topology& topology, const ClusterSpec& spec, const std::vector<DeviceId>& nics)
{
    CheckDimensions(spec);
    const FabricSpec& fabric = spec.fabric;
    for (std::size_t d = 0; d < fabric.dimensions.size(); d++)
    {
        if (fabric.dimensions[d].kind != DimensionKind::Ring || fabric.dimensions[d].isInside)
        {
            throw std::invalid_argument(FieldOf(d) +
                                        ": another shape, expected a ring between routers");
        }
    }
    const uint64_t places = PointsOf(fabric.dimensions) * fabric.nicsPerRouter;
    if (nics.size() > places)
    {
        throw std::invalid_argument(
            "fabric.sizes: " + SizesText(fabric.dimensions) + " routers with nicsPerRouter " +
            std::to_string(fabric.nicsPerRouter) + " hold " + std::to_string(places) +
            " NICs, expected room for nodes x node.nics = " + std::to_string(nics.size()));
    }
    Grid grid(topology, spec);
    for (std::size_t nic = 0; nic < nics.size(); nic++)
    {
        topology.AddDuplexLink(nics[nic],
                               grid.Routers()[nic / fabric.nicsPerRouter],
                               LinkKind::Network,
                               spec.node.nic);
    }
    grid.Join();
}

void
WireDimensions(Topology& topology, const ClusterSpec& spec, const std::vector<DeviceId>& nics)
{
    CheckDimensions(spec);
    const auto& dimensions = spec.fabric.dimensions;
    const uint64_t points = PointsOf(dimensions);
    if (dimensions.front().isInside)
    {
        CheckInside(spec);
    }
    if (nics.size() != points)
    {
        throw std::invalid_argument(
            "fabric.dimensions: " + SizesText(dimensions) + " is " + std::to_string(points) +
            " NICs, expected nodes x node.nics = " + std::to_string(spec.nodes) + " x " +
            std::to_string(spec.node.nics) + " = " + std::to_string(nics.size()));
    }
    Grid grid(topology, spec);
    for (std::size_t nic = 0; nic < nics.size(); nic++)
    {
        topology.AddDuplexLink(nics[nic], grid.Routers()[nic], LinkKind::Network, spec.node.nic);
    }
    grid.Join();
}

} // namespace weir
