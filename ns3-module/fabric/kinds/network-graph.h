// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_NETWORK_GRAPH_H
#define WEIR_FABRIC_NETWORK_GRAPH_H

#include "fabric/units.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/** A wire of a graph, both directions. */
struct GraphWire
{
    uint32_t a{0}; //!< index into NetworkGraph::vertices
    uint32_t b{0};
    Rate rate; //!< payload rate
    Time latency;
};

/** A vertex of a graph. */
struct GraphVertex
{
    std::string name;
    bool isHost{false}; //!< an end point; all others are switches
};

/** A network that was read from a file. */
struct NetworkGraph
{
    std::string file; //!< path of the file
    std::vector<GraphVertex> vertices;
    std::vector<GraphWire> wires;

    /** The vertices that are hosts. */
    std::vector<uint32_t> Hosts() const
    {
        std::vector<uint32_t> hosts;
        for (uint32_t i = 0; i < vertices.size(); i++)
        {
            if (vertices[i].isHost)
            {
                hosts.push_back(i);
            }
        }
        return hosts;
    }
};

} // namespace weir

#endif // WEIR_FABRIC_NETWORK_GRAPH_H
