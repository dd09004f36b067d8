// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_FABRIC_KINDS_H
#define WEIR_FABRIC_FABRIC_KINDS_H

#include "fabric/kinds/fabric-kind.h"
#include "fabric/parameters/registry.h"

namespace weir
{

using FabricKindRegistry = Registry<FabricKind>;

/** The fabric kinds of Weir, in listing order. */
FabricKindRegistry FabricKinds();

} // namespace weir

#endif // WEIR_FABRIC_FABRIC_KINDS_H
