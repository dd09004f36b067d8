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
 * Grouped sends and receives (NCCL's sendrecv.h and the point-to-point part of enqueue.cc): all
 * messages of a call at once, each split into parts on channels of its own, each part cut into
 * chunks. What the algorithm's streams and its schedule have in common.
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

/** What goes of one message over one channel. */
struct MessagePart
{
    uint32_t message; //!< index
    uint32_t part;    //!< of the message
    uint32_t channel;
    uint32_t round; //!< of the point-to-point order
    Bytes bytes;    //!< payload; the message's last part may be shorter than the others
    Bytes share;    //!< payload of each if all were equal
};

/** All parts of @p messages, message by message. O(parts). */
std::vector<MessagePart> PartsOf(const AlgorithmInputs& inputs,
                                 const std::vector<Message>& messages);

/**
 * How much the thread blocks have to do, the busiest of them, besides copying a rank's own part:
 * that is no wire's work, and does not hold up the threads that wait for one.
 */
struct BlockLoad
{
    uint32_t atOnce;  //!< parts that one block works on at once
    uint32_t ofARank; //!< parts that one rank sends at once
};

/** See point-to-point-load.cc. O(parts + ranks x channels). */
BlockLoad BlockLoadOf(const AlgorithmInputs& inputs,
                      const std::vector<Message>& messages,
                      const std::vector<MessagePart>& parts);

/** What a part moves at most, on the wire: parts of one block share what it can copy. */
Rate PartCap(const AlgorithmInputs& inputs, const BlockLoad& load);

/** Whether both ranks are in one node. */
bool AreInOneNode(const AlgorithmInputs& inputs, const Message& message);

/** The ports and the queue pair of a part that crosses the network. */
NetworkPorts PortsOf(const AlgorithmInputs& inputs, const Message& message, uint32_t part);
uint32_t QueuePairOf(const AlgorithmInputs& inputs, uint32_t part);

/** The path of a part; the empty path from a rank to itself. */
Connection PathOf(const AlgorithmInputs& inputs, const Message& message, uint32_t part);

/** Payload of a part's chunks: 128 KiB, 512 KiB where all is NVLink; less of short messages. */
Bytes ChunkOf(const AlgorithmInputs& inputs, const Message& message);

/** The first and largest slice of a part, on the wire. */
Bytes SliceOf(const AlgorithmInputs& inputs, const Message& message, const MessagePart& part);

/** The call's messages. */
std::vector<Message> MessagesOf(const AlgorithmInputs& inputs);

/** StreamShape of such a call, see point-to-point-streams.cc. */
StreamShape PointToPointStreams(const AlgorithmInputs& inputs);

/** Schedule of such a call, see point-to-point-schedule.cc. */
Schedule PointToPointSchedule(const AlgorithmInputs& inputs);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_POINT_TO_POINT_H
