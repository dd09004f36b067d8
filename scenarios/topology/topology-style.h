// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_TOPOLOGY_STYLE_H
#define WEIR_SCENARIOS_TOPOLOGY_TOPOLOGY_STYLE_H

#include "fabric/topology/topology.h"
#include "fabric/units.h"
#include "scenarios/topology/svg-canvas.h"

#include <string>
#include <vector>

/**
 * @file
 * Style of topology drawings: a color for each kind of link and device, a width for each rate.
 */
namespace weir
{

/** Legend of the links of the first node and of the network, by kind, profile, rate and latency. */
class LinkLegend
{
  public:
    explicit LinkLegend(const Topology& topology);

    /** Whether another rate is more than four times as common among links of that kind. */
    bool IsAtypical(const Link& link) const;

    /** Draws the legend below @p y. @return its height in pixels. */
    double Draw(SvgCanvas& canvas, double left, double y) const;

  private:
    struct Entry
    {
        LinkKind kind;
        std::string profile;
        Rate rate;
        Time latency;
        std::size_t count{0};
    };

    std::vector<Entry> m_entries; //!< sorted by kind
};

/** Whether a link is the first of the two directions of a bidirectional link, or unidirectional. */
bool IsFirstDirection(const Topology& topology, LinkId id);

constexpr double MARGIN = 24;     //!< pixels around the drawing
constexpr double BOX_HEIGHT = 20; //!< pixels, of a device in a node

const char* ColorOf(LinkKind kind);
const char* FillOf(DeviceKind kind);

/** Line width in pixels, proportional to the square root of the rate. */
double LineWidth(Rate rate);

/** Label of a GPU: its model; for a file, the name without folder and extension. */
std::string GpuLabel(const std::string& gpuModel);

/** "51.2 GB/s". */
std::string RateLabel(Rate rate);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_TOPOLOGY_STYLE_H
