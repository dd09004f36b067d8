// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/nvls/nvls-tree-call.h"

#include "collectives/algorithms/nvls/nvls-chunking.h"

#include <algorithm>

namespace weir
{

namespace
{

/**
 * From three nodes on a port exchanges with a parent and two children at once, of which NCCL's
 * model has less than the 48 GB/s that its graphs have of a port of 400 Gb/s, where connections
 * have one queue pair each; 1 elsewhere.
 */
double
PortFactor(const AlgorithmInputs& inputs)
{
    constexpr double GRAPHS_PORT = 48; // GB/s
    const bool isBound = !inputs.times.Costs().RateOf(NodeCostKind::QueuePairRate).IsInfinite();
    return inputs.communicator.nodes < 3 || inputs.settings.queuePairs > 1 || !isBound
               ? 1
               : std::max(1.0, GRAPHS_PORT / inputs.times.NvlsTreePortRate().ToGBps());
}

} // namespace

NvlsTreeCall::NvlsTreeCall(const AlgorithmInputs& inputs)
    : inside(inputs),
      ways(FindNvlsTreeWays(inputs, inside.nodes)),
      chunk(NvlsTreeChunk(inputs.call.bytes,
                          inputs.channels,
                          inside.Heads(),
                          static_cast<uint32_t>(inside.nodes.size()))),
      portFactor(PortFactor(inputs))
{
}

} // namespace weir
