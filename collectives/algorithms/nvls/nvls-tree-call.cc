// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/nvls/nvls-tree-call.h"

#include "collectives/algorithms/nvls/nvls-chunking.h"

#include <algorithm>

namespace weir
{

namespace
{

/**
 * From three nodes on a port exchanges with a parent and two children at once, and reaches a part
 * of its rate where connections have one queue pair each; 1 elsewhere.
 */
double
PortFactor(const AlgorithmInputs& inputs)
{
    return inputs.communicator.nodes < 3 || inputs.settings.queuePairs > 1
               ? 1
               : 1 / inputs.times.Costs().FactorOf(NodeCostKind::TreePortEfficiency);
}

} // namespace

NvlsTreeCall::NvlsTreeCall(const AlgorithmInputs& inputs)
    : inside(inputs),
      paths(FindNvlsTreePaths(inputs, inside.nodes)),
      chunk(NvlsTreeChunk(inputs.call.bytes,
                          inputs.channels,
                          inside.Heads(),
                          static_cast<uint32_t>(inside.nodes.size()))),
      portFactor(PortFactor(inputs))
{
}

} // namespace weir
