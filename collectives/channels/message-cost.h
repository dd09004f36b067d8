// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_CHANNELS_MESSAGE_COST_H
#define WEIR_COLLECTIVES_CHANNELS_MESSAGE_COST_H

#include "collectives/communicator.h"
#include "fabric/cluster-spec.h"
#include "fabric/units.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** What a message of a transport costs beside its bytes and the way's latency. */
struct MessageCost
{
    Bytes eager;     //!< largest message that is sent without asking the receiver first
    Time rendezvous; //!< asking: the round trip and matching, of a larger one
    Time turn;       //!< until the others are asked for, per further channel of the call
    Time handling;   //!< of a larger one, what each end's process is busy for
};

/**
 * InfiniBand and RoCE verbs write into memory that the receiver has named before: nothing beside
 * the latency. Slingshot 11 (CXI by libfabric and aws-ofi-nccl): fitted to nccl-tests on Alps on 4
 * nodes and on Polaris on 2 and 8; see the definition.
 */
MessageCost MessageCostOf(NetTransport transport);

/** How many network connections of a call each rank's process serves, in and out. */
std::vector<uint32_t> NetworkConnections(const Communicator& communicator, uint32_t channels);

} // namespace weir

#endif // WEIR_COLLECTIVES_CHANNELS_MESSAGE_COST_H
