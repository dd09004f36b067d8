// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/nvls/nvls-nodes-blocks.h"

#include "collectives/algorithms/nvls/nvls-blocks.h"

namespace weir
{

void
AddNvlsHead(ScheduleWiring& wiring,
            const AlgorithmInputs& inputs,
            const NvlsNodesCall& inside,
            uint32_t head,
            uint32_t node,
            NvlsHeadBlocks& blocks)
{
    const uint32_t nowhere = inputs.communicator.Size(); // blocks of no rank
    const auto gpus = static_cast<uint32_t>(inside.nodes[node].gpus.size());
    const uint32_t member = inside.nodes[node].heads[head].member;
    blocks.sum = wiring.AddBlock(nowhere, head, OneStep(PrimitiveKind::RecvReduceSend, gpus, 1));
    blocks.multicast =
        wiring.AddBlock(nowhere, head, OneStep(PrimitiveKind::RecvCopySend, 1, gpus));
    ScheduleConnection accesses;
    accesses.slots = 1; // the next chunk is begun when this one is posted
    accesses.latency = inside.sync;
    accesses.wireFactor = inside.wireFactor;
    accesses.weight = inside.weight;
    accesses.connection.route = inputs.routing.AddFixed(inside.groups[node].Reduction(member));
    wiring.Join(blocks.sum, blocks.reducing, accesses);
    accesses.connection.route = inputs.routing.AddFixed(inside.groups[node].Store(member));
    wiring.Join(blocks.storing, blocks.multicast, accesses);
}

void
AddNvlsCopies(ScheduleWiring& wiring,
              const AlgorithmInputs& inputs,
              const NvlsNodesCall& inside,
              uint32_t node,
              const std::vector<NvlsHeadBlocks>& heads)
{
    ScheduleConnection copy;
    copy.connection.route = inputs.routing.Nowhere();
    copy.cap = inside.headCap;
    std::vector<uint32_t> sums;
    std::vector<uint32_t> multicasts;
    for (const auto& blocks : heads)
    {
        sums.push_back(blocks.sum);
        multicasts.push_back(blocks.multicast);
    }
    const auto& ranks = inside.nodes[node].ranks;
    for (uint32_t member = 0; member < ranks.size(); ++member)
    {
        const auto place = static_cast<uint32_t>(member % sums.size());
        AddCopyIn(wiring, ranks[member], place, sums, copy);
        AddCopyOut(wiring, ranks[member], place, multicasts, copy);
    }
}

} // namespace weir
