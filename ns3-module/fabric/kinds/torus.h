// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TORUS_H
#define WEIR_FABRIC_TORUS_H

#include "fabric/kinds/fabric-dimension.h"
#include "fabric/kinds/fabric-kind.h"

#include <vector>

namespace weir
{

/**
 * Joins the NICs by a torus (Dally, IEEE Trans. Computers 1990): rings of routers, nicsPerRouter
 * NICs on each, in order of nodes, the first dimension fastest.
 *
 * With sizes k_i > 2, N = product of k_i: N routers, n N wires, a diameter of sum floor(k_i / 2)
 * links. A ring of two is one wire, one of one none.
 */
class Torus : public FabricKind
{
  public:
    std::vector<uint32_t> sizes; //!< routers along each dimension
    uint32_t nicsPerRouter{1};

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
    std::vector<FabricDimension> Rings() const;
};

} // namespace weir

#endif // WEIR_FABRIC_TORUS_H
