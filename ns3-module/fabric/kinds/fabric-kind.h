// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_FABRIC_KIND_H
#define WEIR_FABRIC_FABRIC_KIND_H

#include "fabric/ids.h"
#include "fabric/kinds/fabric-dimension.h"
#include "fabric/kinds/fabric-sketch.h"
#include "fabric/parameters/parameter-visitor.h"
#include "fabric/parameters/registry.h"
#include "fabric/routing/routing-policy.h"
#include "fabric/topology/topology.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

struct ClusterSpec;
struct NodeSpec;

/** The number of switches and of wires between them. */
struct FabricSize
{
    double switches{0};
    double wires{0};
};

/**
 * Upper bound of port counts, far above those of real switches. It keeps products of two counts
 * within 32 bits.
 */
constexpr uint32_t MAX_PORTS = 1 << 15;

/**
 * A fabric kind: how nodes are connected.
 *
 * A kind is a class with its parameters, in its own file, and one entry in FabricKinds(). It must
 * define a name, a description, parameters and the wiring. The defaults of the other functions are
 * those of a plain Clos network of switches in tiers.
 */
class FabricKind : public Component
{
  public:
    /** The name is the value of `fabric.kind`. */
    using Component::Component;

    /**
     * Adds switches and links to @p topology that connect @p nics. The parameters are within their
     * ranges.
     * @param spec the cluster that has this fabric.
     * @param nics all NICs, by node * nicsPerNode + number.
     * @throws std::invalid_argument "fabric.KEY: ..., expected ..." if the parameters cannot be
     *         wired.
     */
    virtual void Wire(Topology& topology,
                      const ClusterSpec& spec,
                      const std::vector<DeviceId>& nics) const = 0;

    /** Whether the fabric connects nodes at all. */
    virtual bool JoinsNodes() const
    {
        return true;
    }

    /**
     * Whether the links have their own rates and latencies, so that FabricSpec::link is not needed.
     */
    virtual bool HasOwnLinks() const
    {
        return false;
    }

    /** Whether the links have dimensions. */
    virtual bool HasDimensions() const
    {
        return false;
    }

    /** The dimensions, if each GPU or NIC is a point of their product; empty otherwise. */
    virtual std::vector<FabricDimension> GridDimensions() const
    {
        return {};
    }

    /** Whether paths may lead through an intermediate group or router. */
    virtual bool HasIntermediates() const
    {
        return false;
    }

    /** Whether the fabric has the dimensions or intermediates that @p policy needs. */
    bool CanRoute(const RoutingPolicy& policy) const
    {
        return (HasDimensions() || !policy.NeedsDimensions()) &&
               (HasIntermediates() || !policy.NeedsIntermediates());
    }

    /**
     * The number of nodes that fill the fabric; 0 if no whole number does; nullopt if the fabric
     * grows with the number of nodes.
     * @throws std::invalid_argument as Wire does.
     */
    virtual std::optional<uint32_t> NodesThatFill(const NodeSpec& node) const
    {
        return std::nullopt;
    }

    /**
     * The number of switches and wires that do not depend on the nodes; zero if the fabric grows
     * with the nodes. Used for memory estimates before Wire: exact if the parameters can be wired.
     */
    virtual FabricSize FixedSize(const ClusterSpec& spec) const
    {
        return {};
    }

    /** The positions of the switches in a drawing. @param topology as built by Wire */
    virtual FabricSketch Sketch(const Topology& topology) const
    {
        return SketchByKind(topology);
    }

    /** The shape in a few words, shown after the name: "Ring(4) x Ring(4)". */
    virtual std::string Shape() const
    {
        return "";
    }

    /**
     * A sentence that compares the fabric as built with the requested parameters.
     * @param topology as built by Wire
     */
    virtual std::string Figures(const Topology& topology) const
    {
        return "";
    }

    /**
     * "fabric.KEY: which is ... here: REASON" for a requested parameter that the fabric as built
     * does not have; empty when it has all.
     * @param topology as built by Wire
     */
    virtual std::string Unmet(const Topology& topology) const
    {
        return "";
    }
};

using FabricKindRegistry = Registry<FabricKind>;

/** The fabric kinds of Weir, in listing order. */
FabricKindRegistry FabricKinds();

} // namespace weir

#endif // WEIR_FABRIC_FABRIC_KIND_H
