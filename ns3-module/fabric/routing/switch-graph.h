// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTING_SWITCH_GRAPH_H
#define WEIR_FABRIC_ROUTING_SWITCH_GRAPH_H

#include "fabric/ids.h"
#include "fabric/topology/topology.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace weir
{

/**
 * The forwarding devices of a topology and the links of some kinds between them, as weakly
 * connected components. Switches are numbered densely per component, so that the memory per
 * destination depends on the size of its component and not on the number of end points.
 */
class SwitchGraph
{
  public:
    /** Marks a device without an index. */
    static constexpr uint32_t NONE = std::numeric_limits<uint32_t>::max();
    static constexpr uint16_t UNREACHABLE = std::numeric_limits<uint16_t>::max();

    /** One link between two switches of one component. */
    struct Arc
    {
        LinkId link;
        uint32_t peer; //!< local number of the switch at the other end
        uint8_t cost;  //!< Link::cost
    };

    SwitchGraph(const Topology& topology, uint8_t kinds);

    /** The component of a device; NONE if it does not forward. */
    uint32_t ComponentOf(DeviceId device) const
    {
        return m_component[device.Index()];
    }

    /** The number of a switch within its component. */
    uint32_t LocalIndexOf(DeviceId device) const
    {
        return m_local[device.Index()];
    }

    /** The switch with the number @p local in @p component. */
    DeviceId SwitchAt(uint32_t component, uint32_t local) const
    {
        return m_switches[m_firstSwitch[component] + local];
    }

    /** Links from a switch to others, by ascending link id. */
    const std::vector<Arc>& ArcsFrom(uint32_t component, uint32_t local) const
    {
        return m_outgoing[m_firstSwitch[component] + local];
    }

    /**
     * The length (sum of link costs) of the shortest path from every switch of a component to the
     * nearest of @p targets, by local number; UNREACHABLE if there is no path. Dial's algorithm
     * (CACM 1969), which is a breadth-first search if all costs are one: O(links of the component).
     * No path passes through a network switch that is inside a node, as it represents the ports of
     * that node.
     * @param usable by link.
     */
    std::vector<uint16_t> DistancesTo(uint32_t component,
                                      const std::vector<uint32_t>& targets,
                                      const std::vector<bool>& usable) const;

  private:
    void FindComponents(const Topology& topology, uint8_t kinds);

    std::vector<uint32_t> m_component; //!< by device
    std::vector<uint32_t> m_local;     //!< by device
    std::vector<uint32_t>
        m_firstSwitch;                //!< by component, into the vectors below; one more at the end
    std::vector<DeviceId> m_switches; //!< component by component
    std::vector<bool> m_isEnd;        //!< as m_switches: paths may begin and end there but not pass
    std::vector<std::vector<Arc>> m_outgoing; //!< as m_switches
    std::vector<std::vector<Arc>> m_incoming; //!< as m_switches
};

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_SWITCH_GRAPH_H
