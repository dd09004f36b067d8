// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_DIMENSIONS_H
#define WEIR_FABRIC_DIMENSIONS_H

#include "fabric/kinds/fabric-dimension.h"
#include "fabric/kinds/fabric-kind.h"

#include <vector>

namespace weir
{

/**
 * Joins the NICs as a product of dimensions, Ring(k) x FullyConnected(k) x Switch(k), the notation
 * of ASTRA-sim 2.0 (Won et al., ISPASS 2023, section III): each NIC has a router of its own, at
 * the point of its number (router-grid.h).
 *
 * Where the first dimension is inside the nodes its size is that of a node's GPUs, each with a NIC
 * of its own, and the others join NICs of the same number.
 */
class Dimensions : public FabricKind
{
  public:
    std::vector<FabricDimension> dimensions;

    const char* Name() const override;
    const char* Description() const override;
    void VisitParameters(ParameterVisitor& visitor) override;
    void Wire(Topology& topology,
              const ClusterSpec& spec,
              const std::vector<DeviceId>& nics) const override;
    bool HasDimensions() const override;
    std::vector<FabricDimension> GridDimensions() const override;
    bool HasIntermediates() const override;
    std::optional<uint32_t> NodesThatFill(const NodeSpec& node) const override;
    FabricSize FixedSize(const ClusterSpec& spec) const override;
    FabricSketch Sketch(const Topology& topology) const override;
    std::string Shape() const override;

  private:
    /** Throws unless the first dimension can be what is inside the nodes. */
    void CheckInside(const NodeSpec& node) const;

    /** Throws unless there are dimensions of which links can be made. */
    void CheckDimensions(const ClusterSpec& spec) const;
};

} // namespace weir

#endif // WEIR_FABRIC_DIMENSIONS_H
