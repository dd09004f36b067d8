// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_GRAPH_FABRIC_H
#define WEIR_FABRIC_GRAPH_FABRIC_H

#include "fabric/kinds/fabric-kind.h"
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

/** The meaning of the hosts of a graph. */
enum class GraphHosts : uint8_t
{
    Nics, //!< host i is NIC i, numbered node by node
    Nodes //!< host i is node i: all its NICs are attached to it
};

/**
 * Connects the NICs by a graph. If its hosts are NICs, a NIC replaces its host and takes over its
 * wires, at the slower of its own rate and the wire's. If they are nodes, a host becomes a switch
 * that forwards the traffic of its node's NICs, each at its own rate. Unused hosts remain hosts
 * without a node.
 */
class GraphFabric : public FabricKind
{
  public:
    GraphFabric()
        : FabricKind("graph", "An arbitrary network of hosts and switches, read from a file.")
    {
    }

    NetworkGraph graph;
    GraphHosts hosts{GraphHosts::Nics};
    std::vector<uint32_t> order; //!< host vertices in the order in which NICs (or nodes) take them;
                                 //!< empty: graph order

    void VisitParameters(ParameterVisitor& visitor) override;

    /**
     * @throws std::invalid_argument if there are fewer hosts than NICs (or nodes), or they are not
     *         connected.
     */
    void Wire(Topology& topology,
              const ClusterSpec& spec,
              const std::vector<DeviceId>& nics) const override;

    bool HasOwnLinks() const override
    {
        return true;
    }

    std::optional<uint32_t> NodesThatFill(const NodeSpec& node) const override;

    FabricSketch Sketch(const Topology& topology) const override
    {
        return SketchByDistance(topology);
    }

    std::string Shape() const override;

  private:
    /** The hosts in the order in which NICs or nodes take them. */
    std::vector<uint32_t> TakenHosts() const
    {
        return order.empty() ? graph.Hosts() : order;
    }

    /** Checks that there are enough hosts. @throws std::invalid_argument */
    void CheckHosts(const ClusterSpec& spec, std::size_t nicCount) const;

    /** Checks that the graph connects @p taken. @throws std::invalid_argument */
    void CheckJoined(const std::vector<uint32_t>& taken) const;
};

} // namespace weir

#endif // WEIR_FABRIC_GRAPH_FABRIC_H
