// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/nvls/nvls-tree-call.h"

#include "collectives/algorithms/nvls/nvls-chunking.h"

namespace weir
{

NvlsTreeCall::NvlsTreeCall(const AlgorithmInputs& inputs)
    : inside(inputs),
      ways(FindNvlsTreeWays(inputs, inside.nodes)),
      chunk(NvlsTreeChunk(inputs.call.bytes,
                          inputs.channels,
                          inside.Heads(),
                          static_cast<uint32_t>(inside.nodes.size())))
{
}

} // namespace weir
