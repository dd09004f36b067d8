// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/fabric-kinds.h"

#include "fabric/kinds/dimensions.h"
#include "fabric/kinds/dragonfly-plus.h"
#include "fabric/kinds/dragonfly.h"
#include "fabric/kinds/fat-tree.h"
#include "fabric/kinds/graph-fabric.h"
#include "fabric/kinds/leaf-spine.h"
#include "fabric/kinds/no-fabric.h"
#include "fabric/kinds/rail-optimized.h"
#include "fabric/kinds/torus.h"

namespace weir
{

FabricKindRegistry
FabricKinds()
{
    FabricKindRegistry kinds;
    kinds.Add(NoFabric());
    kinds.Add(RailOptimized());
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
