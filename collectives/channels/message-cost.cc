// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/channels/message-cost.h"

namespace weir
{

MessageCost
MessageCostOf(NetTransport transport)
{
    if (transport != NetTransport::Slingshot)
    {
        return {};
    }
    // Eager: all-reduce by tree under LL on 4 nodes of Alps takes 42 us with messages of 4 KiB (2
    // KiB of data) and 74 us with 8 KiB.
    // Rendezvous and turn: what a network hop of such trees takes longer than with 2 to 4 KiB, on 4
    // nodes of Alps and on 2 and 8 of Polaris: 5 to 15 us with one channel, 10 to 15 with two, 18
    // to 24 with four.
    // Handling: a ring that moves one slice a step takes 23 us a step however small the slice (to
    // 128 KiB) where a process serves two channels' sends and receives (Polaris, 4 channels on 2
    // NICs; Alps, 8 on 4), 9.9 where it serves one channel's, 5.8 with one channel in all.
    return {Bytes::KiB(4), Time::Microseconds(8), Time::Microseconds(4), Time::Microseconds(5.5)};
}

std::vector<uint32_t>
NetworkConnections(const Communicator& communicator, uint32_t channels)
{
    std::vector<uint32_t> connections(communicator.Size(), 0);
    for (uint32_t c = 0; c < channels; ++c)
    {
        const RingChannel& ring = communicator.channels[c];
        for (std::size_t i = 0; i < ring.hops.size(); ++i)
        {
            if (ring.hops[i].kind == ConnectionKind::Network)
            {
                ++connections[ring.order[i]];
                ++connections[ring.order[(i + 1) % ring.order.size()]];
            }
        }
    }
    return connections;
}

} // namespace weir
