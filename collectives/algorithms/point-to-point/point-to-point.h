// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_POINT_TO_POINT_H
#define WEIR_COLLECTIVES_ALGORITHMS_POINT_TO_POINT_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/protocol.h"
#include "collectives/algorithms/traffic.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * Grouped sends and receives (NCCL's sendrecv.h and the point-to-point part of enqueue.cc): the
 * channels, chunks and paths of messages. What a call does with them is a PeerCall.
 */
namespace weir
{

/** How many channels messages may be split over; powers of two, see PeerChannelsOf. */
struct PeerChannels
{
    uint32_t all;   //!< of the communicator
    uint32_t least; //!< what a message is split over if it is long enough
    uint32_t most;  //!< what its parts may grow to while they are very long
};

/**
 * Channels per peer (ncclTopoComputeP2pChannels, scheduleP2pTasksToPlan): what the narrowest kind
 * of path needs, 2 x the NVLinks of a pair, 2 on PCIe, over the network what drives the GPU's
 * ports; halved until each peer has channels of its own, or four peers share one, in the limit for
 * very long messages. O(ranks).
 */
PeerChannels PeerChannelsOf(const AlgorithmInputs& inputs);

/** Over how many channels a message of @p bytes goes; what the call fixes, if it does. */
uint32_t ChannelsOfMessage(const AlgorithmInputs& inputs, const PeerChannels& limits, Bytes bytes);

/** Whether both ranks are in one node. */
bool AreInOneNode(const AlgorithmInputs& inputs, const Message& message);

/** The ports of what crosses the network on a channel of the communicator; of a GPU with several
 * the channel says which (ncclTopoGetLocalNet). */
NetworkPorts PortsOf(const AlgorithmInputs& inputs, const Message& message, uint32_t channel);

/** The queue pair of a part of a message that crosses the network. */
uint32_t QueuePairOf(const AlgorithmInputs& inputs, uint32_t part);

/** The path of a part on a channel; the empty path from a rank to itself. */
Connection PathOf(const AlgorithmInputs& inputs,
                  const Message& message,
                  uint32_t channel,
                  uint32_t part);

/** Payload of a part's chunks: 128 KiB, 512 KiB where all is NVLink; less of short messages. */
Bytes ChunkOf(const AlgorithmInputs& inputs, const Message& message);

/** The call's messages. */
std::vector<Message> MessagesOf(const AlgorithmInputs& inputs);

/** StreamShape of such a call, see point-to-point-streams.cc. */
StreamShape PointToPointStreams(const AlgorithmInputs& inputs);

/** Schedule of such a call, see point-to-point-schedule.cc. */
Schedule PointToPointSchedule(const AlgorithmInputs& inputs);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_POINT_TO_POINT_H
