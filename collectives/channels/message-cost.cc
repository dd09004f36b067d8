// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/channels/message-cost.h"

#include "collectives/algorithms/protocol.h"

#include <algorithm>

namespace weir
{

MessageCost::MessageCost(const NodeCosts& costs)
    : post(costs.TimeOf(NodeCostKind::ProxyPost)),
      line(costs.TimeOf(NodeCostKind::ProxyPoll)),
      inlined(costs.BytesOf(NodeCostKind::MessageInline)),
      fetch(costs.TimeOf(NodeCostKind::MessageFetch)),
      eager(costs.BytesOf(NodeCostKind::MessageEager)),
      rendezvous(costs.TimeOf(NodeCostKind::MessageRendezvous)),
      handling(costs.TimeOf(NodeCostKind::MessageHandling))
{
}

Time
MessageCost::Lines(Bytes bytes) const
{
    constexpr double LINE = 16; // bytes
    return line * (bytes.ToDouble() / LINE);
}

Time
MessageCost::Latency(Protocol protocol, Bytes bytes, uint32_t senders) const
{
    const Time read = bytes > inlined ? fetch : Time();
    if (protocol == Protocol::Simple)
    {
        return read;
    }
    const Time looking = protocol == Protocol::Ll ? Lines(bytes) * senders : Time();
    return looking + read + (bytes > eager ? rendezvous : Time());
}

Time
MessageCost::Busy(Protocol protocol, const Load& load) const
{
    const Time looking = protocol == Protocol::Ll ? Lines(load.bytes) * load.sends : Time();
    const bool waits = load.bytes > eager && !load.fits;
    return std::max(looking + post * load.sends,
                    waits ? handling * (load.sends + load.receives) : Time());
}

Time
MessageCost::TrainTime(Protocol protocol, const Train& train) const
{
    if (protocol != Protocol::Simple || train.bytes <= eager)
    {
        return {};
    }
    constexpr uint64_t SHARED_STEPS = 16;
    const uint64_t depth =
        std::min<uint64_t>(NCCL_STEPS, SHARED_STEPS / (2 * uint64_t{train.parents}));
    const uint64_t after = std::min(train.count, std::max<uint64_t>(depth, 1)) - 1;
    return train.bytes / train.wire * static_cast<double>(after);
}

double
MessageCost::WireFactor(const Train& train) const
{
    if (train.bytes <= eager || train.count <= NCCL_STEPS)
    {
        return 1;
    }
    const auto count = static_cast<double>(train.count);
    return 1 + handling / (train.bytes / train.wire) * ((count - NCCL_STEPS) / count);
}

std::vector<ServedConnections>
RingConnections(const Communicator& communicator, uint32_t channels)
{
    std::vector<ServedConnections> served(communicator.Size());
    for (uint32_t c = 0; c < channels; ++c)
    {
        const RingChannel& ring = communicator.channels[c];
        for (std::size_t i = 0; i < ring.hops.size(); ++i)
        {
            if (ring.hops[i].kind == ConnectionKind::Network)
            {
                ++served[ring.order[i]].out;
                ++served[ring.order[(i + 1) % ring.order.size()]].in;
            }
        }
    }
    return served;
}

uint32_t
MaxOut(const std::vector<ServedConnections>& served)
{
    uint32_t max = 1;
    for (const auto& each : served)
    {
        max = std::max(max, each.out);
    }
    return max;
}

} // namespace weir
