// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_LINK_LEGEND_H
#define WEIR_SCENARIOS_TOPOLOGY_LINK_LEGEND_H

#include "fabric/topology/topology.h"
#include "scenarios/topology/svg-canvas.h"

#include <string>
#include <vector>

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

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_LINK_LEGEND_H
