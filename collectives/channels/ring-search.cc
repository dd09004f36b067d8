// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/channels/ring-search.h"

#include <algorithm>

namespace weir
{

namespace
{

/** Whether and how an order of GPUs returns to its first GPU. */
enum class Closing : uint8_t
{
    None,
    Any,
    NvLink, //!< over NVLink only
};

/** The paths allowed from one GPU of an order to the next. */
enum class Hops : uint8_t
{
    NvLink,
    RelayedNvLink, //!< direct, or relayed by a third GPU
    Any,
};

/** Number of hops that a search may try for one channel before it gives up. */
constexpr uint32_t SEARCH_BUDGET = 1 << 12;

/**
 * Finds one order of a node's GPUs with room for another channel, and reserves its links. The
 * search is depth first, in ring order, with the least used direct links first, within a budget of
 * hops as in NCCL.
 */
class OrderSearch
{
  public:
    /** @param speed GB/s to reserve. @p node must outlive it. */
    OrderSearch(NodeCapacity& node, double speed, Hops hops)
        : m_node(node),
          m_speed(speed),
          m_hops(hops)
    {
    }

    /**
     * Searches from @p first through all GPUs to @p last (to any GPU if equal and there are
     * others), and back to @p first as @p closing says.
     * @return whether an order was found, which Order() then returns
     */
    bool Find(uint32_t first, uint32_t last, Closing closing)
    {
        const auto n = m_node.Size();
        m_last = last;
        m_closing = closing;
        m_budget = SEARCH_BUDGET;
        m_order.assign(1, first);
        m_visited.assign(n, false);
        m_visited[first] = true;
        // Walk away from the last GPU, so that it comes last in ring order.
        m_step = (first + 1) % n == last && n > 2 ? n - 1 : 1;
        return Extend();
    }

    const std::vector<uint32_t>& Order() const
    {
        return m_order;
    }

  private:
    bool Extend()
    {
        const std::size_t n = m_node.Size();
        const uint32_t from = m_order.back();
        if (m_order.size() == n)
        {
            return Close();
        }
        const bool isFinal = m_order.size() + 1 == n;
        for (uint32_t to : Candidates(from))
        {
            if (m_budget == 0)
            {
                break;
            }
            if (m_visited[to] || !Allows(from, to) ||
                (m_last != m_order.front() && (to == m_last) != isFinal))
            {
                continue;
            }
            --m_budget;
            const auto& links = m_node.BetweenGpus(from, to);
            if (!m_node.Reserve(links, m_speed))
            {
                continue;
            }
            m_order.push_back(to);
            m_visited[to] = true;
            if (Extend())
            {
                return true;
            }
            m_order.pop_back();
            m_visited[to] = false;
            m_node.Release(links, m_speed);
        }
        return false;
    }

    bool Close()
    {
        const uint32_t first = m_order.front();
        const uint32_t last = m_order.back();
        if (m_closing == Closing::None || first == last)
        {
            return true;
        }
        const bool closes =
            m_closing == Closing::Any ? Allows(last, first) : m_node.IsNvLink(last, first);
        return closes && m_node.Reserve(m_node.BetweenGpus(last, first), m_speed);
    }

    bool Allows(uint32_t from, uint32_t to) const
    {
        return m_hops == Hops::Any || m_node.IsNvLink(from, to) ||
               (m_hops == Hops::RelayedNvLink && m_node.IsRelayedNvLink(from, to));
    }

    std::vector<uint32_t> Candidates(uint32_t from) const
    {
        const auto n = m_node.Size();
        std::vector<uint32_t> candidates;
        for (uint32_t i = 1; i < n; ++i)
        {
            candidates.push_back((from + i * m_step) % n);
        }
        const auto left = [&](uint32_t to) {
            const auto& links = m_node.BetweenGpus(from, to);
            return links.size() == 1 ? m_node.Left(links.front()) : 0;
        };
        std::stable_sort(candidates.begin(), candidates.end(), [&](uint32_t a, uint32_t b) {
            return left(a) > left(b);
        });
        return candidates;
    }

    NodeCapacity& m_node;
    double m_speed;
    Hops m_hops;
    uint32_t m_last{0};
    Closing m_closing{Closing::None};
    uint32_t m_step{1};   //!< to the next GPU in ring order
    uint32_t m_budget{0}; //!< hops that may still be tried
    std::vector<uint32_t> m_order;
    std::vector<bool> m_visited;
};

/** Speeds below this fraction of the best one found are not tried: ncclTopoCompute. */
constexpr double SLOWEST_NEXT_SPEED = 0.49;

/** The GPUs from which a channel may leave for its port. */
enum class Exit
{
    Near,  //!< a GPU near the port, other than the first GPU if there are several
    Proxy, //!< the first GPU, near the port, which the last one reaches by NVLink (PXN)
    Far,   //!< any GPU but the first
};

/**
 * Packs channels of one speed over one kind of paths between GPUs into a node, all of whose links
 * it frees before. One public method is to be called, once.
 */
class RingPacker
{
  public:
    /** @param speed GB/s of a channel. @p node must outlive it. */
    RingPacker(NodeCapacity& node,
               const NcclConstants& constants,
               const NicRules& rules,
               double speed,
               Hops hops)
        : m_node(node),
          m_pxn(rules.pxn),
          m_maxChannels(constants.MaxChannels() / 2),
          m_search(node, speed, hops)
    {
        m_graph.speed = speed;
        node.Reset();
    }

    /** Channels inside one node. */
    RingGraph InsideNode()
    {
        while (m_graph.rings.size() < m_maxChannels && m_search.Find(0, 0, Closing::Any))
        {
            const auto& order = m_search.Order();
            m_graph.rings.push_back({order, NodeRing::NO_NIC, NodeRing::NO_NIC, order.back()});
        }
        return std::move(m_graph);
    }

    /** Channels that leave by the NIC by which they enter. */
    RingGraph SameNic(const std::vector<uint32_t>& nics)
    {
        return ByNics(nics.size(), [&](std::size_t i) {
            return Add(nics[i], nics[i], Exit::Near) || Add(nics[i], nics[i], Exit::Proxy) ||
                   Add(nics[i], nics[i], Exit::Far);
        });
    }

    /** Pairs of channels from one NIC to the next, and back. */
    RingGraph Alternating(const std::vector<uint32_t>& nics)
    {
        m_graph.alternating = true;
        auto& rings = m_graph.rings;
        for (bool found = nics.size() > 1; found;)
        {
            found = false;
            for (std::size_t i = 0; i + 1 < nics.size() && rings.size() + 2 <= m_maxChannels;
                 i += 2)
            {
                const std::size_t before = rings.size();
                if (Add(nics[i], nics[i + 1], Exit::Near) && Add(nics[i + 1], nics[i], Exit::Near))
                {
                    found = true;
                }
                else
                {
                    rings.resize(before); // its links stay reserved, as they are full
                }
            }
        }
        return std::move(m_graph);
    }

    /**
     * Channels that enter by the NICs in turn and leave by any NIC, first by those near the last
     * GPU of a ring that starts at the entry.
     */
    RingGraph AnyNic(const std::vector<uint32_t>& nics)
    {
        return ByNics(nics.size(), [&](std::size_t in) {
            for (std::size_t back = 1; back <= nics.size(); ++back)
            {
                const uint32_t out = nics[(in + nics.size() - back) % nics.size()];
                if (Add(nics[in], out, Exit::Near) || Add(nics[in], out, Exit::Proxy))
                {
                    return true;
                }
            }
            return Add(nics[in], nics[in], Exit::Far);
        });
    }

  private:
    /** Adds a channel for each of @p nics NICs in turn, by @p add, until it adds none for any. */
    template <typename AddBy>
    RingGraph ByNics(std::size_t nics, const AddBy& add)
    {
        for (bool found = true; found;)
        {
            found = false;
            for (std::size_t i = 0; i < nics; ++i)
            {
                found |= m_graph.rings.size() < m_maxChannels && add(i);
            }
        }
        return std::move(m_graph);
    }

    /** Adds one channel that enters by @p inNic and leaves by @p outNic. @return whether it fits */
    bool Add(uint32_t inNic, uint32_t outNic, Exit exit)
    {
        const bool several = m_node.Size() > 1;
        const double speed = m_graph.speed;
        for (uint32_t first : m_node.GpusNear(inNic))
        {
            const auto& in = m_node.FromNetwork(inNic, first);
            if (!m_node.Reserve(in, speed))
            {
                continue;
            }
            for (uint32_t last : exit == Exit::Far ? m_node.AllGpus() : m_node.GpusNear(outNic))
            {
                const bool isFirst = last == first && several;
                const auto& out = m_node.ToNetwork(last, outNic);
                const bool mayExit = !isFirst || (m_pxn && m_node.ReachOf(last, outNic) <= *m_pxn);
                if (isFirst != (exit == Exit::Proxy) || !mayExit || !m_node.Reserve(out, speed))
                {
                    continue;
                }
                if (m_search.Find(first, last, isFirst ? Closing::NvLink : Closing::None))
                {
                    m_graph.rings.push_back({m_search.Order(), inNic, outNic, last});
                    return true;
                }
                m_node.Release(out, speed);
            }
            m_node.Release(in, speed);
        }
        return false;
    }

    NodeCapacity& m_node;
    std::optional<NicReach> m_pxn; //!< see NicRules
    std::size_t m_maxChannels;     //!< maximum number of channels
    OrderSearch m_search;
    RingGraph m_graph;
};

/** Number of hops of all channels: NCCL prefers fewer at equal bandwidth. */
std::size_t
HopsOf(const std::vector<NodeRing>& rings)
{
    std::size_t hops = 0;
    for (const auto& ring : rings)
    {
        hops += ring.order.size() +
                (ring.inNic != NodeRing::NO_NIC && ring.outGpu != ring.order.back());
    }
    return hops;
}

/** Replaces @p best by @p graph if that is better. */
void
Consider(RingGraph graph, RingGraph& best)
{
    constexpr double TOLERANCE = 1e-9;
    const double bandwidth = static_cast<double>(graph.rings.size()) * graph.speed;
    const double reached = static_cast<double>(best.rings.size()) * best.speed;
    const bool wider = bandwidth > reached + TOLERANCE;
    const bool shorter = bandwidth > reached - TOLERANCE &&
                         graph.rings.size() == best.rings.size() &&
                         HopsOf(graph.rings) < HopsOf(best.rings);
    if (!graph.rings.empty() && (wider || shorter))
    {
        best = std::move(graph);
    }
}

/** Kinds of paths between GPUs (typeIntra), in the order in which they are tried. */
std::vector<Hops>
HopsFor(const NodeCapacity& node)
{
    return node.HasRelayedNvLink() ? std::vector<Hops>{Hops::NvLink, Hops::RelayedNvLink, Hops::Any}
                                   : std::vector<Hops>{Hops::NvLink, Hops::Any};
}

/**
 * The best graph with channels of @p speed. Wider kinds of paths are tried only where narrower ones
 * give no channel, and paths to NICs (typeInter) only up to the kind of the best graph so far.
 */
RingGraph
PackAll(NodeCapacity& node,
        const NcclConstants& constants,
        double speed,
        bool interNode,
        const NicRules& rules,
        NicReach maxReach)
{
    RingGraph found;
    const auto packer = [&](Hops hops) { return RingPacker(node, constants, rules, speed, hops); };
    if (!interNode)
    {
        for (const Hops hops : HopsFor(node))
        {
            if (found.rings.empty())
            {
                Consider(packer(hops).InsideNode(), found);
            }
        }
        return found;
    }
    for (const NicReach reach : {NicReach::Switches, NicReach::Host, NicReach::Sockets})
    {
        const std::vector<uint32_t> nics = node.NicsWithin(reach);
        for (const Hops hops : HopsFor(node))
        {
            if (!found.rings.empty() || reach > maxReach || nics.empty())
            {
                continue;
            }
            Consider(rules.crossNic == CrossNic::Always ? packer(hops).AnyNic(nics)
                                                        : packer(hops).SameNic(nics),
                     found);
            if (rules.crossNic == CrossNic::IfFaster)
            {
                Consider(packer(hops).Alternating(nics), found);
            }
            found.reach = reach;
        }
    }
    return found;
}

void
Duplicate(RingGraph& graph, const NcclConstants& constants)
{
    constexpr std::size_t FEW_RINGS = 4;
    const std::size_t found = graph.rings.size();
    if (graph.speed < constants.ValueOf(NcclTable::DuplicatedSpeed, found > FEW_RINGS ? 1 : 0))
    {
        return;
    }
    const std::size_t wanted = std::min<std::size_t>(2 * found, constants.MaxChannels());
    for (std::size_t i = found; i < wanted; ++i)
    {
        graph.rings.push_back(graph.rings[i - found]);
    }
    graph.speed *= static_cast<double>(found) / static_cast<double>(wanted);
}

/**
 * NCCL's last resort ("falling back to simple order"): one channel through all GPUs in the order of
 * their numbers, in and out by the first NIC. No rings where one of its paths does not exist.
 */
RingGraph
SimpleOrder(NodeCapacity& node, bool interNode)
{
    NodeRing ring{node.AllGpus()};
    const auto last = static_cast<uint32_t>(ring.order.size() - 1);
    ring.outGpu = last;
    const bool hasNic = interNode && !node.Nics().empty();
    bool joined = hasNic || (!interNode && node.Exists(node.BetweenGpus(last, 0)));
    for (uint32_t gpu = 0; gpu < last; ++gpu)
    {
        joined = joined && node.Exists(node.BetweenGpus(gpu, gpu + 1));
    }
    if (hasNic)
    {
        ring.inNic = ring.outNic = node.Nics().front();
        joined = joined && node.Exists(node.FromNetwork(ring.inNic, 0)) &&
                 node.Exists(node.ToNetwork(last, ring.outNic));
    }
    return joined ? RingGraph{{ring}, SIMPLE_ORDER_SPEED, false} : RingGraph{};
}

} // namespace

RingGraph
SearchRings(NodeCapacity& node,
            const NcclConstants& constants,
            bool interNode,
            const NicRules& rules)
{
    RingGraph best;
    const double bestPath = node.BestPath(interNode);
    const bool single = node.Size() == 1;
    for (double speed : constants.SearchSpeeds(interNode))
    {
        if (speed > bestPath || (!single && speed > node.GpuBandwidth()))
        {
            continue;
        }
        if (!best.rings.empty() && speed <= SLOWEST_NEXT_SPEED * best.speed)
        {
            break;
        }
        const NicReach maxReach = best.rings.empty() ? NicReach::Sockets : best.reach;
        Consider(PackAll(node, constants, speed, interNode, rules, maxReach), best);
        if (static_cast<double>(best.rings.size()) * best.speed >= node.GpuBandwidth())
        {
            break;
        }
    }
    node.Reset();
    if (best.rings.empty())
    {
        return SimpleOrder(node, interNode);
    }
    Duplicate(best, constants);
    return best;
}

} // namespace weir
