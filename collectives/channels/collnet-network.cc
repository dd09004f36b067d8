// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/channels/collnet-network.h"

#include "collectives/algorithms/collnet-switch-tree.h"
#include "collectives/algorithms/nvls-blocks.h"
#include "collectives/algorithms/protocol.h"

#include <algorithm>

namespace weir
{

CollNetWay
FindCollNetWay(const AlgorithmInputs& inputs,
               Algorithm algorithm,
               const std::vector<CollNetHead>& heads,
               uint32_t choice)
{
    const Cluster& cluster = inputs.connector.GetCluster();
    const Topology& topology = cluster.GetTopology();
    std::vector<DeviceId> nics;
    std::vector<LinkId> links;
    Time inside;
    for (const auto& head : heads)
    {
        const GpuId gpu = inputs.communicator.gpus[head.rank];
        nics.push_back(cluster.NicDevice(cluster.NodeOf(gpu), head.nic));
        Time latency;
        for (const auto& part : {inputs.connector.LinksToNic(gpu, head.nic),
                                 inputs.connector.LinksFromNic(gpu, head.nic)})
        {
            links.insert(links.end(), part.begin(), part.end());
            for (LinkId link : part)
            {
                latency += topology.GetLink(link).latency;
            }
        }
        inside = std::max(inside, latency);
    }
    const SwitchTree tree = FindSwitchTree(topology, nics, choice);
    links.insert(links.end(), tree.links.begin(), tree.links.end());
    const Time nccl =
        inputs.constants.HardwareLatency(algorithm, ConnectionKind::Network, Protocol::Simple);
    const Time wire = ReferencePropagation(ConnectionKind::Network);
    return {inputs.paths.Intern(links), std::max(Time(), nccl - wire) + inside + tree.latency};
}

CollNetBlocks
AddCollNet(ScheduleWiring& wiring,
           const AlgorithmInputs& inputs,
           uint32_t chunk,
           uint32_t heads,
           const CollNetWay& way,
           Rate cap)
{
    const uint32_t nowhere = inputs.communicator.Size(); // blocks of no rank
    CollNetBlocks blocks;
    blocks.into = wiring.AddBlock(nowhere, chunk, OneStep(PrimitiveKind::RecvReduceSend, heads, 1));
    blocks.outOf = wiring.AddBlock(nowhere, chunk, OneStep(PrimitiveKind::RecvCopySend, 1, heads));
    ScheduleConnection network;
    network.connection = {way.path, ConnectionKind::Network};
    network.slots = 2 * NCCL_STEPS; // a buffer at each end (net.cc)
    network.latency = way.latency;
    network.cap = cap;
    wiring.Join(blocks.into, blocks.outOf, network);
    return blocks;
}

ScheduleConnection
HeadToCollNet(const AlgorithmInputs& inputs)
{
    ScheduleConnection nothing;
    nothing.connection.path = inputs.paths.Intern({});
    return nothing;
}

GraphSpeed
SearchCollNet(const Communicator& communicator, const Connector& connector)
{
    const bool reduces = connector.GetCluster().GetSpec().fabric.inNetworkReduction;
    return reduces && communicator.nodes > 1 ? communicator.treeGraph : GraphSpeed();
}

} // namespace weir
