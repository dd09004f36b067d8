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
 * channels, chunks and paths of messages. PeerCall has the execution of a call.
 */
namespace weir
{

/** Numbers of channels that messages may be split over; powers of two, see PeerChannelsOf. */
struct PeerChannels
{
    uint32_t all; //!< of the communicator
    uint32_t min; //!< for a message that is long enough
    uint32_t max; //!< maximum, for very long messages
    Bytes step;   //!< payload of a step under Simple (p2pChunkSize)
};

/**
 * Channels per peer (ncclTopoComputeP2pChannels, scheduleP2pTasksToPlan): the smallest number over
 * the kinds of paths, which is 2 x the NVLinks of a pair, 2 on PCIe, and over the network the
 * number that drives the GPU's ports. It is halved until each peer has channels of its own; the
 * limit for very long messages is halved until at most four peers share one. O(ranks).
 */
PeerChannels PeerChannelsOf(const AlgorithmInputs& inputs);

/** Number of channels for a message of @p bytes, or the number that the call's overrides fix. */
uint32_t ChannelsOfMessage(const AlgorithmInputs& inputs, const PeerChannels& limits, Bytes bytes);

/** Whether both ranks are in one node. */
bool AreInOneNode(const AlgorithmInputs& inputs, const Message& message);

/**
 * The ports of a message that crosses the network on a channel of the communicator. The channel
 * selects among several ports of a GPU (ncclTopoGetLocalNet).
 */
NetworkPorts PortsOf(const AlgorithmInputs& inputs, const Message& message, uint32_t channel);

/** The queue pair of a part of a message that crosses the network. */
uint32_t QueuePairOf(const AlgorithmInputs& inputs, uint32_t part);

/** The path of a part on a channel; the empty path from a rank to itself. */
Connection PathOf(const AlgorithmInputs& inputs,
                  const Message& message,
                  uint32_t channel,
                  uint32_t part);

/**
 * Payload of a part's chunks: 128 KiB, or 512 KiB if all GPUs are on NVLink (256 KiB on several
 * nodes of Blackwell with ARM hosts); less for short messages.
 */
Bytes ChunkOf(const AlgorithmInputs& inputs, const Message& message);

std::vector<Message> MessagesOf(const AlgorithmInputs& inputs);

/** The StreamShape of a call of sends and receives, see point-to-point-streams.cc. */
StreamShape PointToPointStreams(const AlgorithmInputs& inputs);

/**
 * A call of sends and receives, see point-to-point-schedule.cc.
 * @throws std::length_error when a message has more than 2^22 chunks on one channel.
 */
CallDescription DescribePointToPoint(const AlgorithmInputs& inputs);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_POINT_TO_POINT_H
