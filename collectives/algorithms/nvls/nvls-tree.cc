// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/nvls/nvls-heads.h"
#include "collectives/algorithms/point-to-point/point-to-point.h"
#include "collectives/algorithms/protocol.h"
#include "collectives/channels/tree-graph.h"
#include "collectives/engines/closed-form.h"
#include "collectives/schedule/message-split.h"

#include <algorithm>
#include <array>
#include <vector>

/**
 * @file
 * NVLSTree all-reduce (NCCL's all_reduce.h, RunWorkColl of NCCL_ALGO_NVLS_TREE). Each head reduces
 * its part over its node's NVSwitch, sends the sum up a binary tree over the nodes by its own NIC,
 * and stores the total that returns to all GPUs of its node. Even channels use tree 0 of the double
 * binary tree over the nodes, odd channels tree 1; head h of a node communicates with head h of its
 * neighbors.
 */
namespace weir
{

namespace
{

bool
SupportsNvlsTree(CollectiveOp op, const Communicator& communicator)
{
    return op == CollectiveOp::AllReduce && communicator.nodes > 1 &&
           communicator.nvlsGraph.channels > 1;
}

/**
 * From a chunk's last byte on the network to its use by the next head: NCCL's step over the network
 * without its posts and flags, which are part of the heads' synchronization
 * (NodeCostKind::NvlsNetworkSync).
 */
Time
HopTime(const AlgorithmInputs& in, const Connection& hop)
{
    const Time posts = in.times.Costs().TimeOf(NodeCostKind::NvlsNetworkSync);
    return std::max(HopLatency(in, Algorithm::NvlsTree, hop, Bytes()) - posts,
                    in.routing.Latency(hop.route));
}

/**
 * Bytes on the network per byte of payload. From three nodes on a port exchanges data with a parent
 * and two children concurrently, and reaches a fraction of its rate if each connection has one
 * queue pair.
 */
double
PortFactor(const AlgorithmInputs& in)
{
    return in.communicator.nodes < 3 || in.settings.queuePairs > 1
               ? 1
               : 1 / in.times.Costs().FactorOf(NodeCostKind::TreePortEfficiency);
}

/** Wires channels that use one of the two trees; the part inside nodes is wired once for all. */
class TreeWiring
{
  public:
    TreeWiring(const AlgorithmInputs& in, const NvlsHeads& heads, uint32_t tree)
        : m_in(in),
          m_heads(heads),
          m_count(static_cast<uint32_t>(heads.Nodes().size()))
    {
        ScheduleWiring wiring(m_inside);
        for (uint32_t node = 0; node < m_count; ++node)
        {
            m_neighbors.push_back(NeighborsInDoubleTree(m_count, node, tree));
            WireNode(wiring, node);
        }
    }

    ChannelSchedule Wire(uint32_t channel) const
    {
        ChannelSchedule wired = m_inside;
        ScheduleWiring wiring(wired);
        for (uint32_t node = 0; node < m_count; ++node)
        {
            const uint32_t parent = m_neighbors[node].parent;
            for (uint32_t head = 0; parent != BinaryTreeNode::NONE && head < m_heads.Count();
                 ++head)
            {
                const BlockPair& here = m_groups[node][head];
                const BlockPair& above = m_groups[parent][head];
                wiring.Join(here.up, above.up, Hop(node, parent, head, channel));
                wiring.Join(above.down, here.down, Hop(parent, node, head, channel));
            }
        }
        return wired;
    }

  private:
    void WireNode(ScheduleWiring& wiring, uint32_t node)
    {
        const uint32_t nowhere = m_in.communicator.Size(); // rank of blocks of switches
        const BinaryTreeNode& neighbors = m_neighbors[node];
        const bool isRoot = neighbors.parent == BinaryTreeNode::NONE;
        const auto none =
            std::count(neighbors.children.begin(), neighbors.children.end(), BinaryTreeNode::NONE);
        const auto ends = static_cast<uint32_t>(1 + neighbors.children.size() - none);
        m_groups.emplace_back();
        for (uint32_t head = 0; head < m_heads.Count(); ++head)
        {
            const auto add = [&](PrimitiveKind kind, uint32_t recvs, uint32_t sends) {
                return wiring.AddBlock(nowhere, head, kind, recvs, sends);
            };
            // The up block adds the sums of the head's children and sends the total to its parent,
            // the down one sends the total to its children and its own NVSwitch; the root has one
            // for both.
            BlockPair groups;
            groups.up = add(PrimitiveKind::RecvReduceSend, ends, isRoot ? ends : 1);
            groups.down = isRoot ? groups.up : add(PrimitiveKind::RecvCopySend, 1, ends);
            m_groups.back().push_back(groups);
        }
        m_heads.AddNode(wiring, node, m_groups.back());
    }

    ScheduleConnection Hop(uint32_t from, uint32_t to, uint32_t head, uint32_t channel) const
    {
        const NvlsNode& sender = m_heads.Nodes()[from];
        const NvlsNode& receiver = m_heads.Nodes()[to];
        const NvlsHead& out = sender.heads[head];
        const NvlsHead& into = receiver.heads[head];
        const GpuId gpu = sender.gpus[out.member];
        ScheduleConnection hop;
        hop.connection = m_in.connector.BetweenNodes(
            gpu, receiver.gpus[into.member], {out.nic, into.nic, gpu}, QueuePairOf(m_in, channel));
        hop.slots = 2 * NCCL_STEPS; // a buffer at each end (net.cc)
        hop.latency = HopTime(m_in, hop.connection);
        hop.wireFactor = PortFactor(m_in);
        return hop;
    }

    const AlgorithmInputs& m_in;
    const NvlsHeads& m_heads;
    uint32_t m_count;                             //!< number of nodes
    std::vector<BinaryTreeNode> m_neighbors;      //!< by node
    std::vector<std::vector<BlockPair>> m_groups; //!< by node, head
    ChannelSchedule m_inside;
};

CallDescription
DescribeNvlsTree(const AlgorithmInputs& in, const NvlsHeads& heads)
{
    CallDescription description = heads.Describe(Algorithm::NvlsTree);
    const std::array<TreeWiring, 2> trees{TreeWiring(in, heads, 0), TreeWiring(in, heads, 1)};
    for (uint32_t channel = 0; channel < in.channels; ++channel)
    {
        description.Add(channel, trees[channel % 2].Wire(channel), in.routing);
    }
    return description;
}

/**
 * Time from the start of the first reduction to the end of the last store of K = @p passes passes,
 * each with @p payload bytes per chunk.
 *
 * A pass's reduction takes r, its store s, and both concurrently b. The group of each synchronizes
 * for t, during which the other one has NVLink for itself. The first store starts when the first
 * sum has been up and down the tree, after D = r + t + sum over levels of (up + down). Until then
 * only reductions run, one per r + t, so k = min(K, D / (r + t)) of them are ahead of the stores.
 * From then on one pass is reduced and another one stored per p = max(b + t - (b / s - 1) t, r + t,
 * s + t). When all are reduced, the last k are stored, one per s + t:
 *
 *   D + (K - k) p + k (s + t)
 *
 * or, if a pass takes longer, q, over the network or to copy in or out:  D + (K - 1) q + s + t. A
 * node is one level higher in one of the two trees than in the other. So one half of a store
 * arrives one step down, d, before the other, and the call ends min(s / 2, d) sooner.
 *
 * @param calls number of concurrent calls in lockstep, this one included
 */
Time
MovingTime(const AlgorithmInputs& in,
           const NvlsHeads& heads,
           const DescribedLoads& loads,
           double payload,
           double passes,
           uint32_t calls)
{
    const auto inside = [&](bool isUp) {
        return loads.LinkTime(
            payload,
            [isUp](const auto& each, const auto& hop) {
                return InsideHop(each, hop) && hop.isUp == isUp;
            },
            calls);
    };
    const auto step = [&](bool isUp, uint32_t depth) {
        const auto isOf = [isUp](const auto& each, const auto& hop) {
            return !InsideHop(each, hop) && hop.isUp == isUp;
        };
        const auto isIn = [&](const auto& each, const auto& hop) {
            return isOf(each, hop) && hop.distance == depth;
        };
        return loads.SlowestHop(isOf) + loads.LinkTime(payload, isIn, calls);
    };
    const Time sync = heads.Sync();
    const Time reduction = inside(true);
    const Time store = inside(false);
    const Time both = loads.LinkTime(payload, InsideHop, calls);
    Time firstStore = reduction + sync;
    Time down; // of the last level
    for (uint32_t depth = 1; depth <= DoubleTreeDepth(in.communicator.nodes); ++depth)
    {
        down = step(false, depth);
        firstStore += step(true, depth) + down;
    }
    const double ahead = std::min(passes, firstStore / (reduction + sync));
    const Time pace =
        std::max({both + sync * std::max(0.0, 2 - both / store), reduction + sync, store + sync});
    const Time other =
        std::max(loads.LinkTime(
                     payload,
                     [](const auto& each, const auto& hop) { return !InsideHop(each, hop); },
                     calls),
                 RoundedUp(payload) / heads.CopyCap());
    const Time apart = in.channels > 1 ? std::min(store * 0.5, down) : Time();
    return firstStore - apart +
           std::max(pace * (passes - ahead) + (store + sync) * ahead,
                    other * (passes - 1) + store + sync);
}

/**
 * The legs on NVLink and on the network, and the start, the copy in, MovingTime and the copy out.
 * Levels are set, so that passes are played, where they may share links of the network unequally.
 * Elsewhere, for some orders of heads, the channels of the two trees drift apart in fidelity flow,
 * so that one uses NVLink while the other synchronizes. Measurements show them in lockstep (67.1 us
 * per pass of 16 MiB on 2 nodes of 8 H100, NCCL 2.26, nccl-tests issue 309; 65.8 here, 63.0 if they
 * drift apart).
 */
StreamShape
NvlsTreeStreams(const AlgorithmInputs& in)
{
    const NvlsHeads heads(in);
    const CallDescription call = DescribeNvlsTree(in, heads);
    const DescribedLoads loads(in, call);
    const auto loops = LoopsOf(in, call);
    const double payload = in.call.bytes.ToDouble() / call.chunks / in.channels;
    const double first = loops.front().chunks.front().ToDouble();
    const double passes = std::max(1.0, payload / first);
    StreamShape shape;
    shape.legs = loads.Legs(payload, AnyHop);
    const bool crossesSwitches = UncontendedRates(shape.legs, in.routing).CrossesSwitches();
    shape.levels = crossesSwitches ? 1 + DoubleTreeDepth(in.communicator.nodes) : 0;
    shape.path = loads.Path();
    shape.chunks = passes;
    shape.isInLockstep = shape.levels == 0 && in.channels > 1 && passes > 1;
    shape.latency = call.call.startLatency + loops.front().chunks.front() / heads.CopyCap() +
                    loops.back().chunks.front() / heads.CopyCap();
    shape.moving = MovingTime(in, heads, loads, first, passes, 1);
    shape.movingConcurrent = MovingTime(in, heads, loads, first, passes, 2);
    return shape;
}

} // namespace

const CollectiveAlgorithm NVLS_TREE_ALGORITHM{
    Algorithm::NvlsTree,
    SupportsNvlsTree,
    NvlsTreeChannels,
    [](const AlgorithmInputs& in) { return DescribeNvlsTree(in, NvlsHeads(in)); },
    NvlsTreeStreams,
};

} // namespace weir
