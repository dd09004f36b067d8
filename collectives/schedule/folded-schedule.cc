// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/schedule/folded-schedule.h"

#include "fabric/routing/flow-hash.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir
{

namespace
{

/** Numbers distinct values in the order of their first occurrence. */
template <typename Value, typename Same = std::equal_to<>>
class Numbering
{
  public:
    explicit Numbering(Same same = {})
        : m_same(std::move(same))
    {
    }

    uint32_t NumberOf(const Value& value, uint64_t hash)
    {
        auto& known = m_byHash[hash];
        for (const auto& [each, number] : known)
        {
            if (m_same(*each, value))
            {
                return number;
            }
        }
        known.emplace_back(&value, m_count);
        return m_count++;
    }

  private:
    Same m_same;
    uint32_t m_count{0};
    std::unordered_map<uint64_t, std::vector<std::pair<const Value*, uint32_t>>> m_byHash;
};

/** The ranks, blocks, connections and links of a schedule as one graph, numbered in that order. */
class ScheduleGraph
{
  public:
    ScheduleGraph(const Schedule& schedule, uint32_t ranks, const Routing& routing);

    uint32_t Size() const
    {
        return m_firstLink + static_cast<uint32_t>(m_links.size());
    }

    uint32_t ConnectionCount() const
    {
        return m_firstLink - m_firstConnection;
    }

    bool IsConnection(uint32_t node) const
    {
        return node >= m_firstConnection && node < m_firstLink;
    }

    bool IsLink(uint32_t node) const
    {
        return node >= m_firstLink;
    }

    /** Calls @p use(role, neighbor) for every neighbor of a node. */
    template <typename Use>
    void ForEachNeighbor(uint32_t node, const Use& use) const;

    /** The class of a node by its own properties, without its neighbors. */
    uint32_t KindOf(uint32_t node) const
    {
        return m_kinds[node];
    }

    /** @param representatives of each node's class, by node */
    FoldedSchedule Fold(const std::vector<uint32_t>& representatives, Routing& routing) const;

    /**
     * By connection, of all channels: its route over the remaining links. Frees the users of each
     * link to save memory, after which the graph is of no further use.
     */
    std::vector<RouteId> RoutesLeft(Routing& routing);

  private:
    static constexpr uint32_t NONE = 0xffffffff;
    static constexpr uint64_t SENDS = uint64_t{1} << 32;    //!< roles: plus the index in a list
    static constexpr uint64_t RECEIVES = uint64_t{2} << 32; //!< as above
    static constexpr uint64_t CROSSES = uint64_t{3} << 32;  //!< plus the number of crossings
    static constexpr uint64_t OF_RANK = uint64_t{4} << 32;

    struct BlockNode
    {
        const ThreadBlock* block;
        uint32_t channel;
        uint32_t firstConnection; //!< the node of its channel's first connection
    };

    struct ConnectionNode
    {
        const ScheduleConnection* connection;
        uint32_t channel;
        uint32_t sendIndex{0}; //!< index in its sender's list
        uint32_t recvIndex{0}; //!< index in its receiver's list
    };

    /** A remaining link, and how often a connection crosses it. */
    struct Crossed
    {
        uint32_t link; //!< index into m_links
        uint32_t times;
    };

    /** A connection that crosses a link, and how often. */
    struct User
    {
        uint32_t connection;
        uint32_t crossings;
    };

    /** A link that represents its class, and how often a class of connections crosses it. */
    struct ClassLink
    {
        uint32_t connection; //!< the representative of the class
        PathLink link;

        friend bool operator<(const ClassLink& a, const ClassLink& b)
        {
            return std::tie(a.connection, a.link.link) < std::tie(b.connection, b.link.link);
        }
    };

    PathTable::Span LinksOf(const ConnectionNode& node) const
    {
        return m_routing.Links(node.connection->connection.route);
    }

    std::pair<const User*, const User*> UsersOf(LinkId link) const
    {
        return {m_users.data() + m_firstUsers[link.Index()],
                m_users.data() + m_firstUsers[link.Index() + 1]};
    }

    /** The remaining links that a connection, counted from the first, crosses. */
    std::pair<const Crossed*, const Crossed*> CrossedBy(uint32_t connection) const
    {
        return {m_crossed.data() + m_firstCrossed[connection],
                m_crossed.data() + m_firstCrossed[connection + 1]};
    }

    void AddChannel(uint32_t channel);
    void FindUsers();
    uint32_t CrossingsOf(uint32_t connection, LinkId link) const;
    bool Implies(LinkId link, LinkId other) const;
    void LeaveImpliedOut();
    void ListCrossed();
    void NumberKinds();
    std::vector<ClassLink> ClassLinks(const std::vector<uint32_t>& representatives) const;

    const Schedule& m_schedule;
    const Routing& m_routing;
    uint32_t m_ranks;
    uint32_t m_firstBlock{0}; //!< nodes before it are ranks and switches
    uint32_t m_firstConnection{0};
    uint32_t m_firstLink{0};
    std::vector<BlockNode> m_blocks;
    std::vector<ConnectionNode> m_connections;
    std::vector<uint32_t> m_firstBlocks; //!< nodes, by channel
    std::vector<LinkId> m_links;         //!< crossed and not redundant
    std::vector<uint32_t> m_linkNodes;   //!< by link; NONE: not one of m_links
    std::vector<uint32_t> m_firstUsers;  //!< by link, and the end: indices into m_users
    std::vector<User> m_users;
    std::vector<uint32_t> m_firstCrossed; //!< by connection, and the end: indices into m_crossed
    std::vector<Crossed> m_crossed;       //!< in the order of paths
    std::vector<std::vector<uint32_t>> m_ofRank; //!< by rank: the nodes of its blocks
    std::vector<uint32_t> m_kinds;
};

ScheduleGraph::ScheduleGraph(const Schedule& schedule, uint32_t ranks, const Routing& routing)
    : m_schedule(schedule),
      m_routing(routing),
      m_ranks(ranks),
      m_firstBlock(ranks)
{
    std::size_t blocks = 0;
    for (const auto& [channel, copies] : schedule.channels)
    {
        blocks += channel.blocks.size();
        for (const ThreadBlock& block : channel.blocks)
        {
            m_firstBlock = std::max(m_firstBlock, block.rank + 1);
        }
    }
    m_firstConnection = m_firstBlock + static_cast<uint32_t>(blocks);
    m_ofRank.resize(m_firstBlock);
    for (uint32_t channel = 0; channel < schedule.channels.size(); channel++)
    {
        AddChannel(channel);
    }
    m_firstLink = m_firstConnection + static_cast<uint32_t>(m_connections.size());
    FindUsers();
    LeaveImpliedOut();
    ListCrossed();
    NumberKinds();
}

void
ScheduleGraph::AddChannel(uint32_t channel)
{
    const ChannelSchedule& steps = m_schedule.channels[channel].schedule;
    const auto firstConnection = m_firstConnection + static_cast<uint32_t>(m_connections.size());
    m_firstBlocks.push_back(m_firstBlock + static_cast<uint32_t>(m_blocks.size()));
    for (const ScheduleConnection& connection : steps.connections)
    {
        m_connections.push_back({&connection, channel});
    }
    const uint32_t first = firstConnection - m_firstConnection;
    for (const ThreadBlock& block : steps.blocks)
    {
        m_ofRank[block.rank].push_back(m_firstBlock + static_cast<uint32_t>(m_blocks.size()));
        m_blocks.push_back({&block, channel, firstConnection});
        for (uint32_t i = 0; i < block.send.size(); i++)
        {
            m_connections[first + block.send[i]].sendIndex = i;
        }
        for (uint32_t i = 0; i < block.recv.size(); i++)
        {
            m_connections[first + block.recv[i]].recvIndex = i;
        }
    }
}

/** Lists the connections that cross each link. */
void
ScheduleGraph::FindUsers()
{
    m_firstUsers.assign(m_routing.GetTopology().LinkCount() + 1, 0);
    for (const ConnectionNode& each : m_connections)
    {
        for (const PathLink& crossed : LinksOf(each))
        {
            m_firstUsers[crossed.link.Index() + 1]++;
        }
    }
    std::partial_sum(m_firstUsers.begin(), m_firstUsers.end(), m_firstUsers.begin());
    m_users.resize(m_firstUsers.back());
    std::vector<uint32_t> next = m_firstUsers;
    for (uint32_t c = 0; c < m_connections.size(); c++)
    {
        for (const PathLink& crossed : LinksOf(m_connections[c]))
        {
            m_users[next[crossed.link.Index()]++] = {m_firstConnection + c, crossed.multiplicity};
        }
    }
}

/** How often a byte of a connection crosses a link. */
uint32_t
ScheduleGraph::CrossingsOf(uint32_t connection, LinkId link) const
{
    for (const PathLink& crossed : LinksOf(m_connections[connection - m_firstConnection]))
    {
        if (crossed.link == link)
        {
            return crossed.multiplicity;
        }
    }
    return 0;
}

/** Whether @p link saturates no later than @p other at any rates, so that @p other is redundant. */
bool
ScheduleGraph::Implies(LinkId link, LinkId other) const
{
    const double rate = m_routing.GetTopology().GetLink(link).rate.ToBytesPerSecond();
    const double its = m_routing.GetTopology().GetLink(other).rate.ToBytesPerSecond();
    const auto [first, last] = UsersOf(other);
    return std::all_of(first, last, [&](const User& user) {
        return user.crossings * rate <= CrossingsOf(user.connection, link) * its;
    });
}

/**
 * Numbers the links that are crossed, without those that can be saturated only where another is.
 */
void
ScheduleGraph::LeaveImpliedOut()
{
    m_linkNodes.resize(m_routing.GetTopology().LinkCount(), NONE);
    for (uint32_t i = 0; i < m_linkNodes.size(); i++)
    {
        const LinkId link(i);
        const auto [first, last] = UsersOf(link);
        if (first == last)
        {
            continue;
        }
        const auto& candidates = LinksOf(m_connections[first->connection - m_firstConnection]);
        const bool isImplied =
            std::any_of(candidates.begin(), candidates.end(), [&](const PathLink& candidate) {
                return candidate.link != link && Implies(candidate.link, link) &&
                       (candidate.link < link || !Implies(link, candidate.link));
            });
        if (!isImplied)
        {
            m_linkNodes[i] = Size();
            m_links.push_back(link);
        }
    }
}

/** Lists the remaining links by connection, so that splitting does not look up paths. */
void
ScheduleGraph::ListCrossed()
{
    std::size_t crossings = 0;
    for (const LinkId link : m_links)
    {
        const auto [first, last] = UsersOf(link);
        crossings += last - first;
    }
    m_crossed.reserve(crossings);
    m_firstCrossed.reserve(m_connections.size() + 1);
    for (const ConnectionNode& each : m_connections)
    {
        m_firstCrossed.push_back(static_cast<uint32_t>(m_crossed.size()));
        for (const PathLink& crossed : LinksOf(each))
        {
            if (const uint32_t link = m_linkNodes[crossed.link.Index()]; link != NONE)
            {
                m_crossed.push_back({link - m_firstLink, crossed.multiplicity});
            }
        }
    }
    m_firstCrossed.push_back(static_cast<uint32_t>(m_crossed.size()));
}

/** Classifies nodes by their own properties, without their neighbors. */
void
ScheduleGraph::NumberKinds()
{
    const auto areEqualFigures = [](const ScheduleConnection& a, const ScheduleConnection& b) {
        return a.connection.kind == b.connection.kind && a.Values() == b.Values();
    };
    Numbering<Program> programs;
    Numbering<std::vector<Loop>> loops;
    Numbering<ScheduleConnection, decltype(areEqualFigures)> figures(areEqualFigures);
    std::vector<std::vector<uint32_t>> programOf; // by channel and program
    std::vector<uint32_t> loopsOf;                // by channel
    std::vector<bool> isEven;                     // by channel: no block has a chunk of its own
    for (const auto& [channel, copies] : m_schedule.channels)
    {
        programOf.emplace_back();
        for (const Program& program : channel.programs)
        {
            uint64_t hash = program.primitives.size();
            for (const Primitive& p : program.primitives)
            {
                hash = SplitMix64(hash ^ SplitMix64(static_cast<uint64_t>(p.kind) << 32 ^
                                                    static_cast<uint32_t>(p.chunk)));
            }
            programOf.back().push_back(programs.NumberOf(program, hash));
        }
        uint64_t hash = channel.loops.size();
        isEven.push_back(true);
        for (const Loop& loop : channel.loops)
        {
            hash = SplitMix64(hash ^ SplitMix64(loop.repeat) ^ loop.chunks.size());
            isEven.back() = isEven.back() &&
                            std::all_of(loop.chunks.begin(), loop.chunks.end(), [&](Bytes chunk) {
                                return chunk == loop.chunks.front();
                            });
        }
        loopsOf.push_back(loops.NumberOf(channel.loops, hash));
    }
    std::map<std::array<uint32_t, 5>, uint32_t> kinds;
    const auto add = [&](const std::array<uint32_t, 5>& kind) {
        m_kinds.push_back(kinds.emplace(kind, kinds.size()).first->second);
    };
    for (uint32_t rank = 0; rank < m_firstBlock; rank++)
    {
        add({1, rank < m_ranks ? 1U : 0U});
    }
    for (const BlockNode& each : m_blocks)
    {
        const uint32_t position = isEven[each.channel] ? 0 : each.block->position;
        add({2,
             programOf[each.channel][each.block->program],
             loopsOf[each.channel],
             m_schedule.channels[each.channel].copies,
             position});
    }
    for (const ConnectionNode& each : m_connections)
    {
        const ScheduleConnection& c = *each.connection;
        const uint64_t hash = SplitMix64(static_cast<uint64_t>(c.latency.ToPicoseconds()));
        add({3, figures.NumberOf(c, hash), m_schedule.channels[each.channel].copies});
    }
    std::unordered_map<double, uint32_t> rates;
    for (const LinkId link : m_links)
    {
        const double rate = m_routing.GetTopology().GetLink(link).rate.ToBytesPerSecond();
        add({4, rates.emplace(rate, rates.size()).first->second});
    }
}

template <typename Use>
void
ScheduleGraph::ForEachNeighbor(uint32_t node, const Use& use) const
{
    if (node < m_firstBlock)
    {
        for (const uint32_t block : m_ofRank[node])
        {
            use(OF_RANK, block);
        }
    }
    else if (node < m_firstConnection)
    {
        const BlockNode& each = m_blocks[node - m_firstBlock];
        use(OF_RANK, each.block->rank);
        for (std::size_t i = 0; i < each.block->send.size(); i++)
        {
            use(SENDS + i, each.firstConnection + each.block->send[i]);
        }
        for (std::size_t i = 0; i < each.block->recv.size(); i++)
        {
            use(RECEIVES + i, each.firstConnection + each.block->recv[i]);
        }
    }
    else if (node < m_firstLink)
    {
        const ConnectionNode& each = m_connections[node - m_firstConnection];
        const uint32_t firstBlock = m_firstBlocks[each.channel];
        use(SENDS + each.sendIndex, firstBlock + each.connection->fromBlock);
        use(RECEIVES + each.recvIndex, firstBlock + each.connection->toBlock);
        const auto [first, last] = CrossedBy(node - m_firstConnection);
        std::for_each(first, last, [&](const Crossed& crossed) {
            use(CROSSES + crossed.times, m_firstLink + crossed.link);
        });
    }
    else
    {
        const auto [first, last] = UsersOf(m_links[node - m_firstLink]);
        std::for_each(
            first, last, [&](const User& user) { use(CROSSES + user.crossings, user.connection); });
    }
}

/**
 * By class of connections, one link of each class of links, crossed as often as by the whole class.
 */
std::vector<ScheduleGraph::ClassLink>
ScheduleGraph::ClassLinks(const std::vector<uint32_t>& representatives) const
{
    std::vector<ClassLink> links;
    for (uint32_t link = m_firstLink; link < Size(); link++)
    {
        if (representatives[link] == link)
        {
            const LinkId crossed = m_links[link - m_firstLink];
            const auto [first, last] = UsersOf(crossed);
            std::for_each(first, last, [&](const User& user) {
                links.push_back({representatives[user.connection], {crossed, user.crossings}});
            });
        }
    }
    std::sort(links.begin(), links.end());
    std::size_t kept = 0;
    for (const ClassLink& each : links)
    {
        if (kept > 0 && !(links[kept - 1] < each))
        {
            links[kept - 1].link.multiplicity += each.link.multiplicity;
            continue;
        }
        links[kept++] = each;
    }
    links.resize(kept);
    return links;
}

std::vector<RouteId>
ScheduleGraph::RoutesLeft(Routing& routing)
{
    m_users = {};
    std::vector<RouteId> routes;
    routes.reserve(m_connections.size());
    std::vector<PathLink> path;
    for (uint32_t c = 0; c < m_connections.size(); c++)
    {
        path.clear();
        const auto [first, last] = CrossedBy(c);
        std::for_each(first, last, [&](const Crossed& crossed) {
            path.push_back({m_links[crossed.link], crossed.times});
        });
        routes.push_back(path.empty() ? m_connections[c].connection->connection.route
                                      : routing.AddFixed(path));
    }
    return routes;
}

FoldedSchedule
ScheduleGraph::Fold(const std::vector<uint32_t>& representatives, Routing& routing) const
{
    FoldedSchedule folded;
    folded.schedule = {m_schedule.op,
                       m_schedule.algorithm,
                       m_schedule.protocol,
                       m_schedule.startLatency,
                       m_schedule.channelCap,
                       m_schedule.block,
                       {}};
    // Representatives of blocks and connections keep their channel: two connected classes are on
    // the same channels, and the first member of a class is on the first of these.
    std::vector<uint32_t> numbers(m_firstLink); // of representatives: among ranks or in the channel
    for (uint32_t rank = 0; rank < m_firstBlock; rank++)
    {
        folded.ranks += rank < m_ranks && representatives[rank] == rank ? 1 : 0;
    }
    uint32_t ranks = 0;
    for (uint32_t rank = 0; rank < m_firstBlock; rank++)
    {
        numbers[rank] = representatives[rank] == rank ? ranks++ : 0;
    }
    for (const auto& [channel, copies] : m_schedule.channels)
    {
        folded.schedule.channels.push_back({{channel.programs, {}, {}, channel.loops}, copies});
    }
    for (uint32_t b = m_firstBlock; b < m_firstConnection; b++)
    {
        auto& blocks = folded.schedule.channels[m_blocks[b - m_firstBlock].channel].schedule.blocks;
        if (representatives[b] == b)
        {
            numbers[b] = static_cast<uint32_t>(blocks.size());
            blocks.push_back(*m_blocks[b - m_firstBlock].block);
            blocks.back().rank = numbers[representatives[blocks.back().rank]];
        }
    }
    const auto numberIn = [&](uint32_t channel, uint32_t node) {
        const uint32_t first = representatives[node];
        const uint32_t its = IsConnection(first) ? m_connections[first - m_firstConnection].channel
                                                 : m_blocks[first - m_firstBlock].channel;
        if (its != channel)
        {
            throw std::logic_error("FoldSchedule: a block is connected to one of another channel");
        }
        return numbers[first];
    };
    const std::vector<ClassLink> classLinks = ClassLinks(representatives);
    auto nextLink = classLinks.begin();
    std::vector<PathLink> path;
    for (uint32_t c = m_firstConnection; c < m_firstLink; c++)
    {
        if (representatives[c] != c)
        {
            continue;
        }
        const ConnectionNode& each = m_connections[c - m_firstConnection];
        auto& connections = folded.schedule.channels[each.channel].schedule.connections;
        numbers[c] = static_cast<uint32_t>(connections.size());
        connections.push_back(*each.connection);
        ScheduleConnection& its = connections.back();
        const uint32_t firstBlock = m_firstBlocks[each.channel];
        its.fromBlock = numberIn(each.channel, firstBlock + its.fromBlock);
        its.toBlock = numberIn(each.channel, firstBlock + its.toBlock);
        for (path.clear(); nextLink != classLinks.end() && nextLink->connection == c; ++nextLink)
        {
            path.push_back(nextLink->link);
        }
        if (!path.empty())
        {
            its.connection.route = routing.AddFixed(path);
        }
    }
    for (uint32_t b = m_firstBlock; b < m_firstConnection; b++)
    {
        if (representatives[b] != b)
        {
            continue;
        }
        const BlockNode& each = m_blocks[b - m_firstBlock];
        ThreadBlock& block = folded.schedule.channels[each.channel].schedule.blocks[numbers[b]];
        for (auto* list : {&block.recv, &block.send})
        {
            for (uint32_t& connection : *list)
            {
                connection = numberIn(each.channel, each.firstConnection + connection);
            }
        }
    }
    return folded;
}

/**
 * The coarsest equitable partition of a ScheduleGraph.
 *
 * The resulting classes do not depend on the order in which classes are split. Links are split
 * first, then connections: where hashing spreads connections over links, these two tell most nodes
 * apart.
 */
class EquitablePartition
{
  public:
    explicit EquitablePartition(const ScheduleGraph& graph);

    /**
     * Splits classes until they are equitable.
     * @return the first node of each node's class, by node; empty where more than half of the
     *         connections would remain
     */
    std::vector<uint32_t> FindRepresentatives();

  private:
    /** The order in which nodes are split; all nodes of a class are in the same stage. */
    enum Stage : std::size_t
    {
        Links,
        Connections,
        Others,
        STAGES
    };

    /** A node whose class may have to be split, and the signature of its neighbors. */
    struct Doubtful
    {
        uint32_t oldClass;
        uint32_t node;
        uint64_t signature;
    };

    Stage StageOf(uint32_t node) const
    {
        return m_graph.IsLink(node) ? Links : m_graph.IsConnection(node) ? Connections : Others;
    }

    void Doubt(uint32_t node)
    {
        if (!m_isDoubtful[node])
        {
            m_isDoubtful[node] = true;
            m_doubtful[StageOf(node)].push_back(node);
        }
    }

    void Split(std::vector<uint32_t>& nodes);
    void TakeNewClasses();
    std::size_t SplitClass(const std::vector<Doubtful>& doubtful, std::size_t begin);
    uint64_t SignatureOf(uint32_t node) const;
    bool AreEquitable(const std::vector<uint32_t>& representatives) const;

    const ScheduleGraph& m_graph;
    std::vector<uint32_t> m_classes;                      //!< by node
    std::vector<uint32_t> m_sizes;                        //!< by class
    std::array<std::vector<uint32_t>, STAGES> m_doubtful; //!< nodes with a neighbor of a new class
    std::vector<bool> m_isDoubtful;                       //!< by node
    std::vector<std::pair<uint32_t, uint32_t>> m_changed; //!< nodes and their new classes
    uint32_t m_connectionClasses{0};
};

EquitablePartition::EquitablePartition(const ScheduleGraph& graph)
    : m_graph(graph),
      m_classes(graph.Size()),
      m_isDoubtful(graph.Size(), false)
{
    for (uint32_t node = 0; node < graph.Size(); node++)
    {
        const uint32_t kind = graph.KindOf(node);
        m_classes[node] = kind;
        if (kind >= m_sizes.size())
        {
            m_sizes.resize(kind + 1, 0);
        }
        m_connectionClasses += m_sizes[kind]++ == 0 && graph.IsConnection(node) ? 1 : 0;
        Doubt(node);
    }
}

/** Equal for nodes of one class that have equally many neighbors of each class in each role. */
uint64_t
EquitablePartition::SignatureOf(uint32_t node) const
{
    uint64_t signature = 0;
    m_graph.ForEachNeighbor(node, [&](uint64_t role, uint32_t neighbor) {
        signature += SplitMix64(role ^ SplitMix64(m_classes[neighbor]));
    });
    return signature;
}

std::vector<uint32_t>
EquitablePartition::FindRepresentatives()
{
    for (std::size_t stage = 0; stage < STAGES;)
    {
        if (m_doubtful[stage].empty())
        {
            stage++;
            continue;
        }
        Split(m_doubtful[stage]);
        if (m_connectionClasses * 2 > m_graph.ConnectionCount())
        {
            return {};
        }
        TakeNewClasses();
        stage = 0;
    }
    std::vector<uint32_t> firsts(m_sizes.size(), m_graph.Size()); // by class
    std::vector<uint32_t> ofClasses;
    for (uint32_t node = 0; node < m_graph.Size(); node++)
    {
        uint32_t& first = firsts[m_classes[node]];
        first = std::min(first, node);
        ofClasses.push_back(first);
    }
    return AreEquitable(ofClasses) ? ofClasses : std::vector<uint32_t>();
}

/** Splits the classes of all doubtful nodes of a stage by their neighbors, into m_changed. */
void
EquitablePartition::Split(std::vector<uint32_t>& nodes)
{
    std::vector<Doubtful> doubtful;
    doubtful.reserve(nodes.size());
    for (const uint32_t node : nodes)
    {
        doubtful.push_back({m_classes[node], node, SignatureOf(node)});
        m_isDoubtful[node] = false;
    }
    nodes.clear();
    std::sort(doubtful.begin(), doubtful.end(), [](const Doubtful& a, const Doubtful& b) {
        return std::tie(a.oldClass, a.signature, a.node) <
               std::tie(b.oldClass, b.signature, b.node);
    });
    for (std::size_t first = 0; first < doubtful.size();)
    {
        first = SplitClass(doubtful, first);
    }
}

/** Moves nodes to the classes that were split off and marks their neighbors as doubtful. */
void
EquitablePartition::TakeNewClasses()
{
    for (const auto& [node, fresh] : m_changed)
    {
        m_classes[node] = fresh;
    }
    for (const auto& [node, fresh] : m_changed)
    {
        m_graph.ForEachNeighbor(
            node, [this](uint64_t /* role */, uint32_t neighbor) { Doubt(neighbor); });
    }
    m_changed.clear();
}

/** Splits the class whose doubtful nodes begin at @p begin. @return the end of these nodes. */
std::size_t
EquitablePartition::SplitClass(const std::vector<Doubtful>& doubtful, std::size_t begin)
{
    const uint32_t old = doubtful[begin].oldClass;
    std::vector<std::size_t> starts; // of doubtful nodes with one signature, and the end
    std::size_t end = begin;
    for (; end < doubtful.size() && doubtful[end].oldClass == old; end++)
    {
        if (end == begin || doubtful[end].signature != doubtful[end - 1].signature)
        {
            starts.push_back(end);
        }
    }
    starts.push_back(end);
    // Nodes not in doubt keep the class; if all are in doubt, the largest part does, so that few
    // neighbors become doubtful.
    std::size_t kept = starts.size();
    if (end - begin == m_sizes[old])
    {
        kept = 0;
        for (std::size_t i = 1; i + 1 < starts.size(); i++)
        {
            kept = starts[i + 1] - starts[i] > starts[kept + 1] - starts[kept] ? i : kept;
        }
    }
    for (std::size_t i = 0; i + 1 < starts.size(); i++)
    {
        if (i == kept)
        {
            continue;
        }
        const auto fresh = static_cast<uint32_t>(m_sizes.size());
        m_sizes.push_back(static_cast<uint32_t>(starts[i + 1] - starts[i]));
        m_sizes[old] -= m_sizes.back();
        m_connectionClasses += m_graph.IsConnection(doubtful[starts[i]].node) ? 1 : 0;
        for (std::size_t d = starts[i]; d < starts[i + 1]; d++)
        {
            m_changed.emplace_back(doubtful[d].node, fresh);
        }
    }
    return end;
}

/** Verifies the classes, which so far rest on signatures, that is on hashes. */
bool
EquitablePartition::AreEquitable(const std::vector<uint32_t>& representatives) const
{
    std::vector<std::pair<uint64_t, uint32_t>> its;
    std::vector<std::pair<uint64_t, uint32_t>> first;
    const auto list = [&](uint32_t node, std::vector<std::pair<uint64_t, uint32_t>>& neighbors) {
        neighbors.clear();
        m_graph.ForEachNeighbor(node, [&](uint64_t role, uint32_t neighbor) {
            neighbors.emplace_back(role, m_classes[neighbor]);
        });
        std::sort(neighbors.begin(), neighbors.end());
    };
    for (uint32_t node = 0; node < m_graph.Size(); node++)
    {
        list(node, its);
        list(representatives[node], first);
        if (its != first || m_graph.KindOf(node) != m_graph.KindOf(representatives[node]))
        {
            return false;
        }
    }
    return true;
}

bool
IsStriped(const Schedule& schedule, const Routing& routing)
{
    for (const auto& [channel, copies] : schedule.channels)
    {
        for (const ScheduleConnection& each : channel.connections)
        {
            if (routing.IsStriped(each.connection.route))
            {
                return true;
            }
        }
    }
    return false;
}

} // namespace

FoldedSchedule
FoldSchedule(Schedule schedule, uint32_t ranks, Routing& routing)
{
    if (IsStriped(schedule, routing))
    {
        return {std::move(schedule), ranks};
    }
    std::vector<RouteId> routes;
    {
        ScheduleGraph graph(schedule, ranks, routing);
        const std::vector<uint32_t> representatives =
            EquitablePartition(graph).FindRepresentatives();
        if (!representatives.empty())
        {
            return graph.Fold(representatives, routing);
        }
        routes = graph.RoutesLeft(routing);
    }
    auto route = routes.begin();
    for (auto& [channel, copies] : schedule.channels)
    {
        for (ScheduleConnection& each : channel.connections)
        {
            each.connection.route = *route++;
        }
    }
    return {std::move(schedule), ranks};
}

} // namespace weir
