// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_CHANNELS_MESSAGE_COST_H
#define WEIR_COLLECTIVES_CHANNELS_MESSAGE_COST_H

#include "collectives/collective.h"
#include "collectives/communicator.h"
#include "collectives/nccl/node-costs.h"
#include "fabric/units.h"

#include <cstdint>
#include <vector>

namespace weir
{

/**
 * Overheads of a network message besides its bytes and the latency of its path.
 *
 * Each process has one thread that moves its network messages (NCCL's proxy). Under LL they are in
 * the host's memory, where the proxy polls the flags of all 16-byte flag words before it posts a
 * message (net.cc, sendProxyProgress); under LL128 and Simple they are in the GPU's memory. A NIC
 * may take small messages inline with the post, and must read larger ones. A transport may ask the
 * receiver before it sends a large message (rendezvous).
 */
struct MessageCost
{
    explicit MessageCost(const NodeCosts& costs);

    /**
     * The additional latency of a step of @p bytes on the wire, in a call in which the sending
     * process polls for @p senders connections concurrently. Under Simple it is only the NIC's read
     * of a message, since consecutive slices overlap: Busy bounds them.
     */
    Time Latency(Protocol protocol, Bytes bytes, uint32_t senders) const;

    /** The load of each of a process's network connections in a call. */
    struct Load
    {
        Bytes bytes;          //!< size of a message
        uint32_t sends{0};    //!< connections out of the process
        uint32_t receives{0}; //!< and into it
        bool fits{false};     //!< no more messages than slots: all receives are posted in advance
    };

    /**
     * Minimum time between two messages on one of a process's connections: its thread serves all
     * connections. Messages beyond the slots of their connection wait until the receiver posts a
     * slot again.
     */
    Time Busy(Protocol protocol, const Load& load) const;

    /** The messages of one of a process's connections in a call on a tree. */
    struct Train
    {
        Bytes bytes;         //!< size of a message
        uint64_t count{1};   //!< number of messages, one after the other
        uint32_t parents{1}; //!< number of parents to which the process sends concurrently
        Rate wire;           //!< rate of the path for one uncontended message
    };

    /**
     * Delay of a message by the following messages on the same wire. Where the receiver asks for
     * messages (rendezvous), it reads all announced messages concurrently, and they end at the same
     * time: a chunk is forwarded when the last message in flight has arrived, not the first. A
     * proxy keeps min(8, 16 / connections) steps of each of its connections in flight (net.cc:
     * NCCL_STEPS, NCCL_SHARED_STEPS); a process on a tree has two children per parent. Zero on
     * verbs, where the messages of a queue pair arrive one after the other.
     */
    Time TrainTime(Protocol protocol, const Train& train) const;

    /**
     * Bytes on the wire per byte of a train whose receivers ask for messages (rendezvous). Messages
     * beyond the slots of their connection wait for both processes (handling), and as messages in
     * flight end at the same time, the port idles too: 1 + (handling of these messages) / (time of
     * all messages on the wire). Validated on a tree of 128 nodes of Alps: chunks of 512 KiB, 22.2
     * us on a port of 23.65 GB/s and 5.5 us of handling, give 37.0 of 46.2 GB/s of reduced data;
     * 36.2 to 37.2 GB/s are measured between 256 MiB and 1 GiB (nccl-benchmark-on-alps 897cff4).
     */
    double WireFactor(const Train& train) const;

    Time post;       //!< process time for posting a message
    Time line;       //!< process time for polling one flag word of 16 bytes (LL)
    Bytes inlined;   //!< largest message that is posted inline
    Time fetch;      //!< time until the NIC has read a larger message
    Bytes eager;     //!< largest message that is sent without rendezvous
    Time rendezvous; //!< of a larger message: round trip and matching
    Time handling;   //!< process time at each end for a larger message that waits for a slot

  private:
    Time Lines(Bytes bytes) const;
};

/** Number of network connections of a call that a rank's process serves. */
struct ServedConnections
{
    uint32_t out{0};
    uint32_t in{0};
};

/** Connections of rings, by rank. */
std::vector<ServedConnections> RingConnections(const Communicator& communicator, uint32_t channels);

/** The largest number of connections out of one process, at least 1. */
uint32_t MaxOut(const std::vector<ServedConnections>& served);

} // namespace weir

#endif // WEIR_COLLECTIVES_CHANNELS_MESSAGE_COST_H
