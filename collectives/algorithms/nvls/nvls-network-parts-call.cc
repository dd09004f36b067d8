// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/nvls/nvls-network-parts-call.h"

#include "collectives/algorithms/nvls/nvls-chunking.h"
#include "collectives/algorithms/protocol.h"
#include "collectives/schedule/message-split.h"

#include <stdexcept>

namespace weir
{

NvlsNetworkPartsCall::NvlsNetworkPartsCall(const AlgorithmInputs& inputs)
    : gathers(inputs.call.op == CollectiveOp::AllGather),
      inside(inputs),
      chunk(DivideUp(NvlsChunk(inputs.call.bytes, inputs.channels, inside.Heads()),
                     Nodes() * CHUNK_ALIGNMENT.Count()) *
            CHUNK_ALIGNMENT.Count())
{
    if (inside.Heads() != inputs.communicator.gpusPerNode)
    {
        throw std::logic_error("NvlsNetworkPartsCall: a GPU that is no head");
    }
    for (uint32_t head = 0; head < inside.Heads(); ++head)
    {
        networks.push_back(
            FindCollNetPartPaths(inputs, Algorithm::Nvls, inside.HeadsAt(head), head, gathers));
    }
}

} // namespace weir
