// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/ring/ring-channels.h"

#include "collectives/channels/message-cost.h"

namespace weir
{

uint32_t
RingMaxChannels(const AlgorithmInputs& inputs)
{
    return static_cast<uint32_t>(inputs.communicator.channels.size());
}

uint32_t
RingSenders(const AlgorithmInputs& inputs)
{
    return inputs.protocol == Protocol::Ll
               ? MaxOut(RingConnections(inputs.communicator, inputs.channels))
               : 1;
}

} // namespace weir
