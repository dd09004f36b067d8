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
 * How drawings of topologies look: a color for each kind of link and device, a width for each
 * rate.
 */
namespace weir
{

/** The kinds of links of the first node and of the network, by what they are and carry. */
class LinkLegend
{
  public:
    explicit LinkLegend(const Topology& topology);

    /** Whether most links of that kind carry something else. */
    bool IsUnusual(const Link& link) const;

    /** Draws it below @p y. @return its height. */
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

    std::vector<Entry> m_entries; //!< by kind
};

/** Whether a link is the first of the two directions of its wire, or has no other. */
bool IsFirstDirection(const Topology& topology, LinkId id);

constexpr double MARGIN = 24;     //!< around what is drawn, pixels
constexpr double BOX_HEIGHT = 20; //!< of a device in a node, pixels

const char* ColorOf(LinkKind kind);
const char* FillOf(DeviceKind kind);

/** In pixels: as the square root of the rate. */
double LineWidth(Rate rate);

/** What GPUs are called: their model, of a file its name without folder and ending. */
std::string GpuWord(const std::string& gpuModel);

/** "51.2 GB/s". */
std::string RateWord(Rate rate);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_TOPOLOGY_STYLE_H
