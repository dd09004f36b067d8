// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/fabric-kind.h"

#include "fabric/routing/routing-policy.h"
#include "fabric/topology/cluster-spec.h"

namespace weir
{

bool
FabricKind::JoinsNodes() const
{
    return true;
}

bool
FabricKind::HasOwnLinks() const
{
    return false;
}

bool
FabricKind::HasDimensions() const
{
    return false;
}

std::vector<FabricDimension>
FabricKind::GridDimensions() const
{
    return {};
}

bool
FabricKind::HasIntermediates() const
{
    return false;
}

bool
FabricKind::CanRoute(const RoutingPolicy& policy) const
{
    return (HasDimensions() || !policy.NeedsDimensions()) &&
           (HasIntermediates() || !policy.NeedsIntermediates());
}

std::optional<uint32_t>
FabricKind::NodesThatFill(const NodeSpec& node) const
{
    return std::nullopt;
}

FabricSize
FabricKind::FixedSize(const ClusterSpec& spec) const
{
    return {};
}

FabricSketch
FabricKind::Sketch(const Topology& topology) const
{
    return SketchByKind(topology);
}

std::string
FabricKind::Shape() const
{
    return "";
}

std::string
FabricKind::Figures(const Topology& topology) const
{
    return "";
}

} // namespace weir
