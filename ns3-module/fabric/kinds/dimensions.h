// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_DIMENSIONS_H
#define WEIR_FABRIC_DIMENSIONS_H

#include "fabric/kinds/fabric-dimension.h"
#include "fabric/kinds/fabric-kind.h"

#include <vector>

namespace weir
{

/**
 * Routers at the points of a product of dimensions, connected along each dimension as its kind
 * says.
 */
class GridFabric : public FabricKind
{
  public:
    using FabricKind::FabricKind;

    bool HasDimensions() const override
    {
        return true;
    }

    bool HasIntermediates() const override
    {
        return true;
    }

    FabricSize FixedSize(const ClusterSpec& spec) const override;
    FabricSketch Sketch(const Topology& topology) const override;
    std::string Shape() const override;

  private:
    /** The dimensions of the router grid. */
    virtual std::vector<FabricDimension> Grid() const = 0;
};

/**
 * Connects the NICs as a product of dimensions, Ring(k) x FullyConnected(k) x Switch(k), in the
 * notation of ASTRA-sim 2.0 (Won et al., ISPASS 2023, section III). Each NIC has its own router.
 * The coordinates of router n are the digits of n in mixed radix, first dimension fastest.
 *
 * If the first dimension is inside the nodes, its size is the number of GPUs of a node, each with
 * its own NIC, and the other dimensions connect NICs with the same number within their nodes.
 */
class Dimensions : public GridFabric
{
  public:
    Dimensions()
        : GridFabric("dimensions",
                     "A multi-dimensional network of rings, full meshes and switches, with one "
                     "router per NIC.")
    {
    }

    std::vector<FabricDimension> dimensions;

    void VisitParameters(ParameterVisitor& visitor) override;
    void Wire(Topology& topology,
              const ClusterSpec& spec,
              const std::vector<DeviceId>& nics) const override;
    std::vector<FabricDimension> GridDimensions() const override;
    std::optional<uint32_t> NodesThatFill(const NodeSpec& node) const override;

  private:
    std::vector<FabricDimension> Grid() const override;

    /**
     * Checks that the first dimension matches the NVLinks inside the nodes.
     * @throws std::invalid_argument
     */
    void CheckInside(const NodeSpec& node) const;

    /** Checks the number of dimensions and their links. @throws std::invalid_argument */
    void CheckDimensions(const ClusterSpec& spec) const;
};

/**
 * Connects the NICs by a torus (Dally, IEEE Trans. Computers 1990): rings of routers in each
 * dimension, with nicsPerRouter NICs per router, in order of nodes, first dimension fastest.
 *
 * A torus of n dimensions with sizes k_i > 2 has N = product of k_i routers, n N wires and a
 * diameter of sum floor(k_i / 2) links. A ring of two routers has one wire, a ring of one has none.
 */
class Torus : public GridFabric
{
  public:
    Torus()
        : GridFabric("torus", "A grid of routers with wrap-around links in each dimension.")
    {
    }

    std::vector<uint32_t> sizes; //!< routers along each dimension
    uint32_t nicsPerRouter{1};

    void VisitParameters(ParameterVisitor& visitor) override;
    void Wire(Topology& topology,
              const ClusterSpec& spec,
              const std::vector<DeviceId>& nics) const override;
    std::vector<FabricDimension> GridDimensions() const override;
    std::optional<uint32_t> NodesThatFill(const NodeSpec& node) const override;

  private:
    std::vector<FabricDimension> Grid() const override;
};

} // namespace weir

#endif // WEIR_FABRIC_DIMENSIONS_H
