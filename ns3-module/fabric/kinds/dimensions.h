// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_DIMENSIONS_H
#define WEIR_FABRIC_DIMENSIONS_H

#include "fabric/kinds/fabric-dimension.h"
#include "fabric/kinds/fabric-kind.h"

#include <vector>

namespace weir
{

/** Routers at the points of a product of dimensions, joined along each as its shape says. */
class GridFabric : public FabricKind
{
  public:
    using FabricKind::FabricKind;

    bool HasDimensions() const override;
    bool HasIntermediates() const override;
    FabricSize FixedSize(const ClusterSpec& spec) const override;
    FabricSketch Sketch(const Topology& topology) const override;
    std::string Shape() const override;

  private:
    /** The dimensions of its routers. */
    virtual std::vector<FabricDimension> Grid() const = 0;
};

/**
 * Joins the NICs as a product of dimensions, Ring(k) x FullyConnected(k) x Switch(k), the notation
 * of ASTRA-sim 2.0 (Won et al., ISPASS 2023, section III): each NIC has a router of its own, at
 * the point of its number, whose digits in a mixed radix are its coordinates.
 *
 * Where the first dimension is inside the nodes its size is that of a node's GPUs, each with a NIC
 * of its own, and the others join NICs of the same number.
 */
class Dimensions : public GridFabric
{
  public:
    Dimensions()
        : GridFabric("dimensions",
                     "A product of rings, full meshes and switches, with a router for each NIC.")
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

    /** Throws unless the first dimension can be what is inside the nodes. */
    void CheckInside(const NodeSpec& node) const;

    /** Throws unless there are dimensions of which links can be made. */
    void CheckDimensions(const ClusterSpec& spec) const;
};

/**
 * Joins the NICs by a torus (Dally, IEEE Trans. Computers 1990): rings of routers, nicsPerRouter
 * NICs on each, in order of nodes, the first dimension fastest.
 *
 * With sizes k_i > 2, N = product of k_i: N routers, n N wires, a diameter of sum floor(k_i / 2)
 * links. A ring of two is one wire, one of one none.
 */
class Torus : public GridFabric
{
  public:
    Torus()
        : GridFabric("torus", "A grid of routers that wraps around in each dimension.")
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
