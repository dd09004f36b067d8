// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/nvls/nvls-chunking.h"
#include "collectives/algorithms/nvls/nvls-network-parts-call.h"
#include "collectives/engines/closed-form.h"
#include "collectives/schedule/message-split.h"
#include "fabric/routing/routing.h"

#include <algorithm>

/**
 * @file
 * NVLS all-gather and reduce-scatter over several nodes (NCCL's all_gather.h and reduce_scatter.h,
 * RunWorkColl of NCCL_ALGO_NVLS with CollNet), where every GPU is a head. To gather, each GPU gives
 * the network its part, the switches multicast it to the GPUs of its number in all nodes, and each
 * of these stores what it gets to all GPUs of its node over the NVSwitch. To scatter, the same
 * backwards: each GPU reduces the parts of its number over its node's NVSwitch, the network's
 * switches sum over nodes, and each part goes to the one GPU that keeps it.
 */
namespace weir
{

namespace
{

bool
Supports(CollectiveOp op, const Communicator& communicator)
{
    return (op == CollectiveOp::AllGather || op == CollectiveOp::ReduceScatter) &&
           communicator.nodes > 1 && communicator.collNetGraph.channels > 0 &&
           communicator.gpusPerNode > 1 &&
           communicator.nvlsGraph.channels == communicator.gpusPerNode &&
           communicator.Size() == communicator.nodes * communicator.gpusPerNode;
}

using Legs = std::vector<StreamLeg>;

/** By head: its parts of @p part bytes on each channel, on their ways through the network. */
Legs
NetworkLegs(const AlgorithmInputs& in, const NvlsNetworkPartsCall& call, double part)
{
    Legs legs;
    for (const auto& paths : call.networks)
    {
        RouteSum sum;
        for (const auto& path : paths)
        {
            sum.Add(path.route);
        }
        legs.push_back({in.routing.AddSum(sum),
                        RoundedUp(part * in.channels),
                        call.inside.headCap * (1.0 / call.Nodes()) * in.channels,
                        static_cast<double>(in.channels) / call.Nodes()});
    }
    return legs;
}

/**
 * Start, copy in or out, the first pass (the network and a reduction or store, each alone on
 * its links) beyond what its legs last; and the legs. NVLink's are longer by a synchronisation for
 * each pass.
 */
StreamShape
Streams(const AlgorithmInputs& in)
{
    const NvlsNetworkPartsCall call(in);
    const NvlsNodesCall& inside = call.inside;
    const Bytes share = SplitOverChannels(in.call.bytes, in.channels).front().bytes;
    const auto loops = SplitIntoLoops(share, call.chunk, in.communicator.Size(), 1);
    const double payload = in.call.bytes.ToDouble() / inside.Heads() / in.channels; // of a head
    const double nodes = call.Nodes();
    const double first = loops.front().chunks.front().ToDouble() * nodes;
    const double last = loops.back().chunks.front().ToDouble() * nodes;

    StreamShape shape;
    shape.legs = inside.Legs(in, payload, !call.gathers, call.gathers);
    const double longer = 1 + inside.sync * NvlsPasses(loops) / AloneTime(shape.legs, in.routing);
    for (auto& leg : shape.legs)
    {
        leg.bytes = RoundedUp(leg.bytes.ToDouble() * longer);
    }
    const Legs outside = NetworkLegs(in, call, payload / nodes);
    shape.legs.insert(shape.legs.end(), outside.begin(), outside.end());
    const Time pass = AloneTime(shape.legs, in.routing) * std::min(1.0, first / payload);
    Time network;
    for (const auto& paths : call.networks)
    {
        for (const auto& path : paths)
        {
            network = std::max(network, path.latency);
        }
    }
    const Time alone = AloneTime(inside.Legs(in, first, !call.gathers, call.gathers), in.routing) +
                       AloneTime(NetworkLegs(in, call, first / nodes), in.routing) + network +
                       inside.sync;
    const double copied = call.gathers ? last : first;
    shape.latency = NvlsStartLatency(in.constants, Algorithm::Nvls) +
                    RoundedUp(copied) / inside.headCap + std::max(alone - pass, Time());
    return shape;
}

} // namespace

const CollectiveAlgorithm NVLS_NETWORK_PARTS_ALGORITHM{
    Algorithm::Nvls,
    Supports,
    NvlsChannels,
    nullptr,
    Streams,
    BuildNvlsNetworkPartsSchedule,
};

} // namespace weir
