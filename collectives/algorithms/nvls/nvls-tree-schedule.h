// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_NVLS_TREE_SCHEDULE_H
#define WEIR_COLLECTIVES_ALGORITHMS_NVLS_TREE_SCHEDULE_H

#include "collectives/algorithms/algorithm.h"

namespace weir
{

/**
 * From a chunk's last byte on the network to its use by the next head: NCCL's step over the network
 * less its posts and flags, which the heads' synchronising holds (NodeCostKind::NvlsNetworkSync).
 */
Time NvlsTreeHop(const AlgorithmInputs& inputs, const Connection& hop);

/**
 * An NVLSTree all-reduce as primitives. In every node each head has a switch that sums what its
 * GPUs copy in, a reducing group that adds what its children sent and passes the sum to its
 * parent, a storing group that takes the total from its parent to its children and its own
 * NVSwitch, and a switch that multicasts it; at the root one group does both.
 */
Schedule BuildNvlsTreeSchedule(const AlgorithmInputs& inputs);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_NVLS_TREE_SCHEDULE_H
