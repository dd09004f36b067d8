// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_GRAPH_STEP_GRAPH_CHECK_H
#define WEIR_COMPUTE_MODEL_GRAPH_STEP_GRAPH_CHECK_H

#include "compute-model/graph/step-program.h"

namespace weir
{

/**
 * Checks that @p graph can be executed: indices are in range, dependencies refer to existing
 * operations, every rank is in the groups it uses, senders and receivers have their positions in
 * their pairs, and all members of a group issue the same communications on it, in the same order
 * where each member uses one stream for them. The order between streams is checked as they run
 * (GroupRendezvous).
 *
 * Programs are checked once, not once per rank: O(operations of all programs + sum of group sizes).
 * @throws std::invalid_argument naming the rank (or program) and the operation.
 */
void CheckStepGraph(const StepGraph& graph);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_GRAPH_STEP_GRAPH_CHECK_H
