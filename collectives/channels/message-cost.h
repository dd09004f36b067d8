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
 * What a message costs beside its bytes and the path's latency.
 *
 * Each process has one thread that moves its network messages (NCCL's proxy). Under LL they lie in
 * the host's memory, where it looks for the flags of all 16-byte lines before it posts one
 * (net.cc, sendProxyProgress); under LL128 and Simple in the GPU's. A NIC may take small messages
 * with the post itself and must read larger ones; a transport may ask the receiver first.
 */
struct MessageCost
{
    explicit MessageCost(const NodeCosts& costs);

    /**
     * What of it a step of @p bytes on the wire takes longer, in a call in which the sending
     * process looks for those of @p senders connections at once. Under Simple only what every
     * message costs: slices follow each other, and Busy bounds them.
     */
    Time Latency(Protocol protocol, Bytes bytes, uint32_t senders) const;

    /** What each of a process's connections carries in a call. */
    struct Load
    {
        Bytes bytes;          //!< of a message
        uint32_t sends{0};    //!< connections out of the process
        uint32_t receives{0}; //!< and into it
        bool fits{false};     //!< no more messages than slots: all receives are posted before
    };

    /**
     * The least time between two messages over one of a process's connections. Those that are too
     * many for the slots of their connection wait for the receiver to post a slot again.
     */
    Time Busy(Protocol protocol, const Load& load) const;

    /** The messages of one of a process's connections in a call, on a tree. */
    struct Train
    {
        Bytes bytes;         //!< of a message
        uint64_t count{1};   //!< one after the other
        uint32_t parents{1}; //!< to so many the process sends at once
        Rate wire;           //!< what the path gives one message alone
    };

    /**
     * What a message comes later because it shares the wire with those that follow it. Where the
     * receiver asks for messages (rendezvous), it reads all that have been announced at once, and
     * they end together: a chunk is handed on when the last of those under way has come, not the
     * first. A proxy keeps min(8, 16 / connections) steps of each of its connections under way
     * (net.cc: NCCL_STEPS, NCCL_SHARED_STEPS); a process on a tree has two children a parent. On
     * verbs a queue pair's messages come one after the other: nothing.
     */
    Time TrainTime(Protocol protocol, const Train& train) const;

    /**
     * Bytes that the wire carries per byte of a train whose receivers ask for messages. Those that
     * are too many for the slots of their connection wait for both processes (handling), and as
     * messages under way end together, the port waits, too: 1 + (handling of the later messages) /
     * (what all messages take on the wire). A tree of 128 nodes of Alps bears it out: chunks of 512
     * KiB, 22.2 us on a port of 23.65 GB/s and 5.5 of handling, give 37.0 of 46.2 GB/s of reduced
     * data; between 256 MiB and 1 GiB 36.2 to 37.2 are measured (nccl-benchmark-on-alps 897cff4).
     */
    double WireFactor(const Train& train) const;

    Time post;       //!< what posting keeps the process busy for
    Time line;       //!< what polling for a flag word does
    Bytes inlined;   //!< largest message that is posted with its bytes
    Time fetch;      //!< until the NIC has read a larger one
    Bytes eager;     //!< largest message that is sent without asking the receiver first
    Time rendezvous; //!< asking: the round trip and matching, of a larger one
    Time handling;   //!< of a larger one that waits for a slot, what each end's process is busy for

  private:
    Time Lines(Bytes bytes) const;
};

/** How many network connections of a call a rank's process serves. */
struct ServedConnections
{
    uint32_t out{0};
    uint32_t in{0};
};

/** By rank, of a ring. */
std::vector<ServedConnections> RingConnections(const Communicator& communicator, uint32_t channels);

/** The most connections out of one process, at least one. */
uint32_t MaxOut(const std::vector<ServedConnections>& served);

} // namespace weir

#endif // WEIR_COLLECTIVES_CHANNELS_MESSAGE_COST_H
