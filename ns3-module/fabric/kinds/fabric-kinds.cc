// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/fabric-kind.h"

#include "fabric/kinds/clos-fabric.h"
#include "fabric/kinds/dimensions.h"
#include "fabric/kinds/dragonfly.h"
#include "fabric/kinds/graph-fabric.h"
#include "fabric/kinds/no-fabric.h"

namespace weir
{

FabricKindRegistry
FabricKinds()
{
    FabricKindRegistry kinds;
    kinds.Add(NoFabric());
    kinds.Add(RailOptimized());
    kinds.Add(RailOnly());
    kinds.Add(LeafSpine());
    kinds.Add(FatTree());
    kinds.Add(Dragonfly());
    kinds.Add(DragonflyPlus());
    kinds.Add(Torus());
    kinds.Add(Dimensions());
    kinds.Add(GraphFabric());
    return kinds;
}

} // namespace weir
