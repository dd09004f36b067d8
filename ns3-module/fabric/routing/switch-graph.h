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
 * The part of a topology that forwards, over links of some kinds only: its weakly connected
 * components with their switches numbered densely, so that what is kept per destination
 * is as small as the component it lies in and does not grow with the end points.
 */
class SwitchGraph
{
  public:
    /** An index that a device has not, or a distance that cannot be travelled. */
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

    /** The component of a device; NONE when it does not forward. */
    uint32_t ComponentOf(DeviceId device) const
    {
        return m_component[device.Index()];
    }

    /** The number of a switch within its component. */
    uint32_t LocalIndexOf(DeviceId device) const
    {
        return m_local[device.Index()];
    }

    /** The switch of that number in that component. */
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
     * The length of the shortest path, the sum of its links' costs, from every switch of an
     * component to the nearest of @p targets, by local number; UNREACHABLE where there is no path.
     * Dial's search (CACM 1969), breadth-first where every link counts one: O(links of the
     * component). No path passes a switch of the network that is inside a node: it is the node's
     * ports.
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
    std::vector<bool> m_isEnd;        //!< as m_switches: paths begin and end there, none passes
    std::vector<std::vector<Arc>> m_outgoing; //!< as m_switches
    std::vector<std::vector<Arc>> m_incoming; //!< as m_switches
};

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_SWITCH_GRAPH_H
