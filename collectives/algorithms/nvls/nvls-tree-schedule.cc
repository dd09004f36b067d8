// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/nvls/nvls-tree-schedule.h"

#include "collectives/algorithms/nvls/nvls-blocks.h"
#include "collectives/algorithms/nvls/nvls-chunking.h"
#include "collectives/algorithms/nvls/nvls-nodes-blocks.h"
#include "collectives/algorithms/nvls/nvls-tree-call.h"
#include "collectives/algorithms/protocol.h"
#include "collectives/schedule/message-split.h"

#include <algorithm>

namespace weir
{

namespace
{

uint32_t
CountChildren(const BinaryTreePlace& place)
{
    return static_cast<uint32_t>(
        std::count_if(place.children.begin(), place.children.end(), [](uint32_t child) {
            return child != BinaryTreePlace::NONE;
        }));
}

/** Wires one channel of an NVLSTree. */
class NvlsTreeWiring
{
  public:
    NvlsTreeWiring(const AlgorithmInputs& in, const NvlsTreeCall& tree, const NvlsTreePaths& paths)
        : m_in(in),
          m_tree(tree),
          m_paths(paths),
          m_wiring(m_channel)
    {
    }

    ChannelSchedule Wire()
    {
        const NvlsNodesCall& inside = m_tree.inside;
        const auto nodes = static_cast<uint32_t>(inside.nodes.size());
        std::vector<std::vector<NvlsHeadBlocks>> blocks(nodes); // by node, head
        for (uint32_t head = 0; head < inside.Heads(); ++head)
        {
            for (uint32_t node = 0; node < nodes; ++node)
            {
                blocks[node].push_back(AddGroups(head, m_paths.places[head][node].nodes));
                AddNvlsHead(m_wiring, m_in, inside, head, node, blocks[node].back());
            }
            JoinNodes(head, blocks);
        }
        for (uint32_t node = 0; node < nodes; ++node)
        {
            AddNvlsCopies(m_wiring, m_in, inside, node, blocks[node]);
        }
        return std::move(m_channel);
    }

  private:
    /** The reducing and the storing group of a head, one group at the root. */
    NvlsHeadBlocks AddGroups(uint32_t head, const BinaryTreePlace& place)
    {
        const uint32_t nowhere = m_in.communicator.Size(); // blocks of no rank
        const uint32_t children = CountChildren(place);
        const bool isRoot = place.parent == BinaryTreePlace::NONE;
        NvlsHeadBlocks blocks;
        blocks.reducing = m_wiring.AddBlock(
            nowhere,
            head,
            OneStep(PrimitiveKind::RecvReduceSend, 1 + children, isRoot ? 1 + children : 1));
        blocks.storing =
            isRoot ? blocks.reducing
                   : m_wiring.AddBlock(
                         nowhere, head, OneStep(PrimitiveKind::RecvCopySend, 1, 1 + children));
        return blocks;
    }

    void JoinNodes(uint32_t head, const std::vector<std::vector<NvlsHeadBlocks>>& blocks)
    {
        for (uint32_t node = 0; node < blocks.size(); ++node)
        {
            const auto& place = m_paths.places[head][node];
            if (place.nodes.parent == BinaryTreePlace::NONE)
            {
                continue;
            }
            const NvlsHeadBlocks& parent = blocks[place.nodes.parent][head];
            m_wiring.Join(blocks[node][head].reducing, parent.reducing, Hop(place.toParent));
            m_wiring.Join(parent.storing, blocks[node][head].storing, Hop(place.fromParent));
        }
    }

    ScheduleConnection Hop(const Connection& connection) const
    {
        ScheduleConnection hop;
        hop.connection = connection;
        hop.slots = 2 * NCCL_STEPS; // a buffer at each end (net.cc)
        hop.latency = NvlsTreeHop(m_in, connection);
        hop.wireFactor = m_tree.portFactor;
        return hop;
    }

    const AlgorithmInputs& m_in;
    const NvlsTreeCall& m_tree;
    const NvlsTreePaths& m_paths;
    ChannelSchedule m_channel;
    ScheduleWiring m_wiring;
};

} // namespace

Time
NvlsTreeHop(const AlgorithmInputs& inputs, const Connection& hop)
{
    const Time posts = inputs.times.Costs().TimeOf(NodeCostKind::NvlsNetworkSync);
    return std::max(HopLatency(inputs, Algorithm::NvlsTree, hop, Bytes()) - posts,
                    inputs.routing.Latency(hop.route));
}

Schedule
BuildNvlsTreeSchedule(const AlgorithmInputs& inputs)
{
    const NvlsTreeCall tree(inputs);
    Schedule schedule = EmptyNvlsSchedule(inputs, Algorithm::NvlsTree);
    for (const auto& share : SplitOverChannels(inputs.call.bytes, inputs.channels))
    {
        for (const auto& paths : tree.paths)
        {
            const auto copies = static_cast<uint32_t>(
                std::count_if(paths.channels.begin(), paths.channels.end(), [&](uint32_t channel) {
                    return channel >= share.firstChannel &&
                           channel < share.firstChannel + share.channels;
                }));
            if (copies > 0)
            {
                ChannelSchedule channel = NvlsTreeWiring(inputs, tree, paths).Wire();
                channel.loops = SplitIntoLoops(share.bytes, tree.chunk, tree.inside.Heads(), 1);
                schedule.channels.push_back({std::move(channel), copies});
            }
        }
    }
    return schedule;
}

} // namespace weir
