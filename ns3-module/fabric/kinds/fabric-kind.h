// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_FABRIC_KIND_H
#define WEIR_FABRIC_FABRIC_KIND_H

#include "fabric/ids.h"
#include "fabric/kinds/fabric-dimension.h"
#include "fabric/kinds/fabric-sketch.h"
#include "fabric/parameters/parameter-visitor.h"
#include "fabric/topology/topology.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

struct ClusterSpec;
struct NodeSpec;
class RoutingPolicy;

/** Switches, and wires between them. */
struct FabricSize
{
    double switches{0};
    double wires{0};
};

/** A bound that no switch comes near; it keeps products of two counts within 32 bits. */
constexpr uint32_t MAX_PORTS = 1 << 15;

/**
 * How nodes are joined: the values of one fabric, and all that Weir asks of its kind.
 *
 * A kind is a class of its own in a file of its own, and one line of FabricKinds(). It must have a
 * name, a description, parameters and a wiring; what else is asked has an answer here that holds
 * for a plain Clos network of switches in tiers.
 */
class FabricKind : public Component
{
  public:
    /** The name is what `fabric.kind` says. */
    using Component::Component;

    /**
     * Adds switches and links to @p topology so that they join @p nics. The values are in their
     * ranges.
     * @param spec the cluster, of which this is the fabric.
     * @param nics all NICs, by node * nicsPerNode + number.
     * @throws std::invalid_argument "fabric.KEY: ..., expected ..." when the numbers cannot be
     * wired.
     */
    virtual void Wire(Topology& topology,
                      const ClusterSpec& spec,
                      const std::vector<DeviceId>& nics) const = 0;

    /** Whether nodes are joined at all. */
    virtual bool JoinsNodes() const;

    /** Whether its links have figures of their own, so that FabricSpec::link need not be given. */
    virtual bool HasOwnLinks() const;

    /** Whether its links are in dimensions. */
    virtual bool HasDimensions() const;

    /** Its dimensions, where each GPU or NIC is a point of their product; empty: it has none. */
    virtual std::vector<FabricDimension> GridDimensions() const;

    /** Whether paths may lead through a third group or router. */
    virtual bool HasIntermediates() const;

    /** Whether it has what @p policy needs. */
    bool CanRoute(const RoutingPolicy& policy) const;

    /**
     * As many nodes as it has places for, 0 where these do not come out even; nothing where it
     * grows with the nodes.
     * @throws std::invalid_argument as Wire.
     */
    virtual std::optional<uint32_t> NodesThatFill(const NodeSpec& node) const;

    /**
     * What it has whether nodes need it or not; zero where it grows with the nodes, whose share of
     * memory covers it. Exact of what can be wired, and asked before it is known whether it can.
     */
    virtual FabricSize FixedSize(const ClusterSpec& spec) const;

    /** Where the switches stand in a drawing. @param topology what Wire made. */
    virtual FabricSketch Sketch(const Topology& topology) const;

    /** Its shape in a few words, behind its name: "Ring(4) x Ring(4)". */
    virtual std::string Shape() const;

    /** A sentence on what was built beside what was asked for. @param topology what Wire made. */
    virtual std::string Figures(const Topology& topology) const;
};

} // namespace weir

#endif // WEIR_FABRIC_FABRIC_KIND_H
