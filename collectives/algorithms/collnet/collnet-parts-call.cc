// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/collnet/collnet-parts-call.h"

#include "collectives/algorithms/collnet/collnet-chain-paths.h"
#include "collectives/algorithms/collnet/collnet-direct-call.h"
#include "collectives/algorithms/protocol.h"
#include "collectives/schedule/message-split.h"

namespace weir
{

namespace
{

constexpr uint32_t NO_HOP = 0xffffffff;

/** A ring's hop by which the network reaches a rank. */
struct Entry
{
    uint32_t channel{NO_HOP};
    std::size_t place{0};
};

/** By rank: on the first channel that enters its node there. */
std::vector<Entry>
EntriesOf(const Communicator& communicator)
{
    std::vector<Entry> entries(communicator.Size());
    for (uint32_t c = 0; c < communicator.channels.size(); ++c)
    {
        const RingChannel& ring = communicator.channels[c];
        for (std::size_t i = 0; i < ring.hops.size(); ++i)
        {
            Entry& entry = entries[ring.order[(i + 1) % ring.order.size()]];
            if (ring.hops[i].kind == ConnectionKind::Network && entry.channel == NO_HOP)
            {
                entry = {c, i};
            }
        }
    }
    return entries;
}

} // namespace

bool
IsEveryRankHead(const Communicator& communicator)
{
    if (communicator.Size() != communicator.nodes * communicator.gpusPerNode ||
        communicator.collNetGraph.channels < communicator.gpusPerNode)
    {
        return false;
    }
    for (const auto& entry : EntriesOf(communicator))
    {
        if (entry.channel == NO_HOP)
        {
            return false;
        }
    }
    return true;
}

CollNetPartsCall::CollNetPartsCall(const AlgorithmInputs& inputs)
    : gathers(inputs.call.op == CollectiveOp::AllGather),
      nodes(NvlsNodes(inputs.communicator, inputs.connector)),
      heads(inputs.communicator.gpusPerNode),
      chunk(DivideUp(CollNetDirectChunk(inputs, heads), Nodes() * CHUNK_ALIGNMENT.Count()) *
            CHUNK_ALIGNMENT.Count()),
      cap(ChannelCap(inputs) / heads)
{
    const auto entries = EntriesOf(inputs.communicator);
    for (uint32_t head = 0; head < heads; ++head)
    {
        std::vector<CollNetHead> members;
        for (const auto& node : nodes)
        {
            const uint32_t rank = node.ranks[head];
            const RingChannel& ring = inputs.communicator.channels[entries[rank].channel];
            members.push_back({rank, CollNetPort(inputs, ring.hops[entries[rank].place], false)});
        }
        networks.push_back(
            FindCollNetPartPaths(inputs, Algorithm::CollNetDirect, members, head, gathers));
    }
    networkCap = std::min(cap, CollNetDirectRate(inputs, networks.front().front()));
}

} // namespace weir
