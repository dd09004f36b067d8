// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_FABRIC_SHAPE_H
#define WEIR_FABRIC_FABRIC_SHAPE_H

#include "fabric/topology/link-profile.h"
#include "fabric/units.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * The numbers of networks that are not Clos: what a dragonfly, a torus or a graph from a file is
 * made of, as plain values.
 */
namespace weir
{

/** Which router takes a node's NICs, where routers take several. */
enum class NicPlacement : uint8_t
{
    Packed, //!< NICs in order of nodes fill one router after the other
    Rails   //!< the k-th NIC of a node hangs on the k-th router of a block of routers
};

/** Groups of routers that are joined among each other: dragonfly and dragonfly+. */
struct DragonflyShape
{
    uint32_t groups{0};          //!< 0: the fewest that hold all NICs
    uint32_t routersPerGroup{4}; //!< that NICs hang on (dragonfly+: leaves)
    uint32_t spinesPerGroup{4};  //!< dragonfly+ only
    uint32_t nicsPerRouter{2};
    uint32_t localLinks{1};  //!< between two routers of a group (dragonfly+: leaf and spine)
    uint32_t globalLinks{2}; //!< of a router (dragonfly+: of a spine) to other groups
    LinkProfile globalLink;  //!< between groups; without a rate: as within groups
    NicPlacement placement{NicPlacement::Packed};
};

/** How the points along one dimension are joined. */
enum class DimensionKind : uint8_t
{
    Ring,           //!< each with the next, and the last with the first
    FullyConnected, //!< every two
    Switch          //!< all with one switch
};

/** One dimension of a multi-dimensional network. */
struct FabricDimension
{
    DimensionKind kind{DimensionKind::Ring};
    uint32_t size{2};
    uint32_t links{1};    //!< parallel wires of each joint
    LinkProfile link;     //!< of one wire; without a rate: FabricSpec::link
    bool isInside{false}; //!< the NVLinks inside a node; the first dimension only
};

/** One wire of a graph, both directions. */
struct GraphWire
{
    uint32_t a{0}; //!< into GraphShape::vertices
    uint32_t b{0};
    Rate rate; //!< payload
    Time latency;
};

/** A point of a graph. */
struct GraphVertex
{
    std::string name;
    bool isHost{false}; //!< an end point; all others are switches
};

/** What the hosts of a graph stand for. */
enum class GraphHosts : uint8_t
{
    Nics, //!< host i is NIC i, counted node by node
    Nodes //!< host i is node i: all its NICs hang on it
};

/** A network as a file gives it. */
struct GraphShape
{
    std::string file; //!< where it was read
    std::vector<GraphVertex> vertices;
    std::vector<GraphWire> wires;
    GraphHosts hosts{GraphHosts::Nics};
    std::vector<uint32_t> order; //!< the vertices that are hosts, as NICs (or nodes) take them
};

} // namespace weir

#endif // WEIR_FABRIC_FABRIC_SHAPE_H
