// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_CONTENTION_DELAYS_H
#define WEIR_COLLECTIVES_ENGINES_CONTENTION_DELAYS_H

#include "collectives/planner.h"
#include "fabric/routing/routing.h"

#include <vector>

namespace weir
{

/**
 * By plan: how much longer than alone it takes when the legs of all @p plans begin at once; of
 * plans that take as long alone, what the one that waits most does, so that they stay alike.
 *
 * One that ends leaves its share to the others (LegSharing). Where all legs end together, or all
 * plans and channels are alike, AloneRates has the answer.
 *
 * O(links of all legs) in those cases, else that times the different ends and the different rates
 * between two of them.
 */
std::vector<Time> ContentionDelays(const std::vector<const CollectivePlan*>& plans,
                                   Routing& routing);

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_CONTENTION_DELAYS_H
