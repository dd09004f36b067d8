// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_SWITCH_GRAPH_H
#define WEIR_FABRIC_SWITCH_GRAPH_H

#include "fabric/ids.h"
#include "fabric/topology/topology.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace weir
{

/** Whether a device passes on what is not for it: switches and root complexes do. */
bool Forwards(DeviceKind kind);

/** A set of link kinds: bit 1 << LinkKind. */
constexpr uint8_t
KindBit(LinkKind kind)
{
    return static_cast<uint8_t>(1u << static_cast<unsigned>(kind));
}

/**
 * The part of a topology that forwards, over links of some kinds only: its islands (weakly
 * connected components) with their switches numbered densely, so that what is kept per destination
 * is as small as the island it lies in and does not grow with the end points.
 */
class SwitchGraph
{
  public:
    /** A place that a device has not, or a distance that cannot be travelled. */
    static constexpr uint32_t NONE = std::numeric_limits<uint32_t>::max();
    static constexpr uint16_t UNREACHABLE = std::numeric_limits<uint16_t>::max();

    /** One link between two switches of one island. */
    struct Arc
    {
        LinkId link;
        uint32_t peer; //!< local number of the switch at the other end
        uint8_t cost;  //!< Link::cost
    };

    SwitchGraph(const Topology& topology, uint8_t kinds);

    /** The island of a device; NONE when it does not forward. */
    uint32_t IslandOf(DeviceId device) const
    {
        return m_island[device.Index()];
    }

    /** The number of a switch within its island. */
    uint32_t LocalIndexOf(DeviceId device) const
    {
        return m_local[device.Index()];
    }

    /** The switch of that number in that island. */
    DeviceId SwitchAt(uint32_t island, uint32_t local) const
    {
        return m_switches[m_firstSwitch[island] + local];
    }

    /** Links from a switch to others, by ascending link id. */
    const std::vector<Arc>& ArcsFrom(uint32_t island, uint32_t local) const
    {
        return m_outgoing[m_firstSwitch[island] + local];
    }

    /**
     * The length of the shortest way, the sum of its links' costs, from every switch of an island
     * to the nearest of @p targets, by local number; UNREACHABLE where there is no way. Dial's
     * search (CACM 1969), breadth-first where every link counts one: O(links of the island). No way
     * passes a switch of the network that is inside a node: it is the node's ports.
     * @param usable by link.
     */
    std::vector<uint16_t> DistancesTo(uint32_t island,
                                      const std::vector<uint32_t>& targets,
                                      const std::vector<bool>& usable) const;

  private:
    void FindIslands(const Topology& topology, uint8_t kinds);

    std::vector<uint32_t> m_island;      //!< by device
    std::vector<uint32_t> m_local;       //!< by device
    std::vector<uint32_t> m_firstSwitch; //!< by island, into the vectors below; one more at the end
    std::vector<DeviceId> m_switches;    //!< island by island
    std::vector<bool> m_isEnd;           //!< as m_switches: ways begin and end there, none passes
    std::vector<std::vector<Arc>> m_outgoing; //!< as m_switches
    std::vector<std::vector<Arc>> m_incoming; //!< as m_switches
};

} // namespace weir

#endif // WEIR_FABRIC_SWITCH_GRAPH_H
