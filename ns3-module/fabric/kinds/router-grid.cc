// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/router-grid.h"

#include "fabric/kinds/switch-layers.h"
#include "fabric/topology/cluster-spec.h"

#include <limits>
#include <stdexcept>

namespace weir
{

namespace
{

constexpr std::size_t MAX_DIMENSIONS = 32; //!< twice what sizes of two need for all NICs
constexpr uint64_t MAX_ROUTERS = uint64_t{1} << 24;

/** Wires a product of dimensions, router by router and dimension by dimension. */
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
    /** "1.0.3": the point's digit in every dimension. */
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

/** Wires along one dimension of @p points routers. */
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
    throw std::logic_error("WiresAlong: not a kind of dimension");
}

} // namespace

uint64_t
PointsOf(const std::vector<FabricDimension>& dimensions, const std::string& key)
{
    uint64_t points = 1;
    for (std::size_t d = 0; d < dimensions.size(); d++)
    {
        if (dimensions[d].size == 0 || dimensions[d].links == 0)
        {
            throw std::invalid_argument(key + "." + std::to_string(d) +
                                        ": a size or number of links of 0, expected at least 1");
        }
        points *= dimensions[d].size;
        if (points > MAX_ROUTERS)
        {
            throw std::invalid_argument(key + ": " + SizesText(dimensions) +
                                        " routers, expected at most " +
                                        std::to_string(MAX_ROUTERS));
        }
    }
    return points;
}

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

FabricSize
GridSize(const std::vector<FabricDimension>& dimensions)
{
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

void
CheckDimensionCount(const ClusterSpec& spec, std::size_t count, const std::string& key)
{
    CheckFabricLinks(spec);
    if (count == 0 || count > MAX_DIMENSIONS)
    {
        throw std::invalid_argument(key + ": " + std::to_string(count) +
                                    " dimensions, expected 1 to " + std::to_string(MAX_DIMENSIONS));
    }
}

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

FabricSketch
SketchOfGrid(const Topology& topology, const std::vector<FabricDimension>& dimensions)
{
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

uint32_t
NodesOfPlaces(uint64_t places, const NodeSpec& node)
{
    const bool fits = node.nics > 0 && places % node.nics == 0 &&
                      places / node.nics <= std::numeric_limits<uint32_t>::max();
    return fits ? static_cast<uint32_t>(places / node.nics) : 0;
}

} // namespace weir
