// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_GRAPH_FABRIC_H
#define WEIR_FABRIC_GRAPH_FABRIC_H

#include "fabric/kinds/fabric-kind.h"
#include "fabric/kinds/network-graph.h"

#include <vector>

namespace weir
{

/** What the hosts of a graph stand for. */
enum class GraphHosts : uint8_t
{
    Nics, //!< host i is NIC i, counted node by node
    Nodes //!< host i is node i: all its NICs are attached to it
};

/**
 * Joins the NICs by a graph. Where its hosts are NICs, a NIC takes its host's place and wires, at
 * the slower of its own rate and the wire's; where they are nodes, a host becomes a switch that
 * passes on what its node's NICs send, each at its own rate. Hosts that no NIC takes stay hosts
 * without a node.
 */
class GraphFabric : public FabricKind
{
  public:
    GraphFabric()
        : FabricKind("graph", "Any network of hosts and switches, from a file.")
    {
    }

    NetworkGraph graph;
    GraphHosts hosts{GraphHosts::Nics};
    std::vector<uint32_t> order; //!< the vertices that are hosts, as NICs (or nodes) take them;
                                 //!< none: all, as the graph has them

    void VisitParameters(ParameterVisitor& visitor) override;

    /**
     * @throws std::invalid_argument when there are fewer hosts than NICs (or nodes), or they are
     * not joined.
     */
    void Wire(Topology& topology,
              const ClusterSpec& spec,
              const std::vector<DeviceId>& nics) const override;
    bool HasOwnLinks() const override;
    std::optional<uint32_t> NodesThatFill(const NodeSpec& node) const override;
    FabricSketch Sketch(const Topology& topology) const override;
    std::string Shape() const override;

  private:
    /** The hosts in the order in which they are taken. */
    std::vector<uint32_t> TakenHosts() const;

    /** Throws unless there are hosts for all. */
    void CheckHosts(const ClusterSpec& spec, std::size_t nicCount) const;

    /** Throws unless the graph joins @p taken. */
    void CheckJoined(const std::vector<uint32_t>& taken) const;
};

} // namespace weir

#endif // WEIR_FABRIC_GRAPH_FABRIC_H
