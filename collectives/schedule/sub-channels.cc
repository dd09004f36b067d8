// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/schedule/sub-channels.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace weir
{

namespace
{

constexpr uint32_t NONE = std::numeric_limits<uint32_t>::max();

/** Follows the chunks of one channel. */
class SubChannelFinder
{
  public:
    SubChannelFinder(const ChannelSchedule& channel,
                     uint32_t chunks,
                     uint32_t subChannels,
                     const Routing& routing)
        : m_channel(channel),
          m_routing(routing),
          m_connections(channel.connections.size()),
          m_blocks(channel.blocks.size()),
          m_subChannels(subChannels)
    {
        FindUses(chunks);
        FindOrder();
        FollowLatencies();
        CountHops();
    }

    std::vector<SubChannel> Find()
    {
        // The connection at which the slowest path ends, by sub-channel.
        std::vector<uint32_t> last(m_subChannels.size(), NONE);
        for (uint32_t c = 0; c < m_connections.size(); ++c)
        {
            uint32_t& slowest = last[m_connections[c].subChannel];
            const ThreadBlock& to = m_channel.blocks[To(c)];
            if (to.send.empty() &&
                (slowest == NONE ||
                 EndsLater(c, slowest, to.rank, m_channel.blocks[To(slowest)].rank)))
            {
                slowest = c;
            }
            Bound(c);
        }
        for (uint32_t subChannel = 0; subChannel < m_subChannels.size(); ++subChannel)
        {
            AddPath(m_subChannels[subChannel], last[subChannel]);
        }
        return std::move(m_subChannels);
    }

  private:
    struct ConnectionState
    {
        uint32_t subChannel{0};
        uint32_t uses{0};
        bool isUp{false};
        bool hasLinks{false};
        uint32_t hop{NONE}; //!< index into SubChannel::hops
        Time end;           //!< when a chunk that takes no time on links has crossed it
    };

    struct BlockState
    {
        uint32_t before{NONE}; //!< the connection on which the slowest chunk arrives
        uint32_t origin{0};    //!< the rank that sent it
        uint32_t up{0};        //!< hops from here to the root
        uint32_t down{0};      //!< hops from the root to here
    };

    uint32_t From(uint32_t connection) const
    {
        return m_channel.connections[connection].fromBlock;
    }

    uint32_t To(uint32_t connection) const
    {
        return m_channel.connections[connection].toBlock;
    }

    void FindUses(uint32_t chunks)
    {
        const std::vector<ConnectionUse> uses = UsesOf(m_channel);
        for (uint32_t c = 0; c < m_connections.size(); ++c)
        {
            m_connections[c].subChannel =
                uses[c].first % chunks % static_cast<uint32_t>(m_subChannels.size());
            m_connections[c].uses = uses[c].chunks;
            const auto& receiver = m_channel.programs[m_channel.blocks[To(c)].program].primitives;
            m_connections[c].isUp = Reduces(receiver.front().kind);
            m_connections[c].hasLinks =
                m_channel.connections[c].connection.route != m_routing.Nowhere();
        }
    }

    /** Orders connections topologically: those into a block before those out of it. */
    void FindOrder()
    {
        std::vector<std::size_t> waits;
        std::vector<uint32_t> ready;
        for (uint32_t b = 0; b < m_blocks.size(); ++b)
        {
            waits.push_back(m_channel.blocks[b].recv.size());
            m_blocks[b].origin = m_channel.blocks[b].rank;
            if (waits.back() == 0)
            {
                ready.push_back(b);
            }
        }
        for (std::size_t i = 0; i < ready.size(); ++i)
        {
            for (uint32_t c : m_channel.blocks[ready[i]].send)
            {
                m_order.push_back(c);
                if (--waits[To(c)] == 0)
                {
                    ready.push_back(To(c));
                }
            }
        }
        if (m_order.size() != m_connections.size())
        {
            throw std::logic_error("SubChannelsOf: the connections of a channel form a cycle");
        }
    }

    /**
     * Whether the chunk of @p a arrives later than that of @p b, or at the same time and @p rankOfA
     * is lower.
     */
    bool EndsLater(uint32_t a, uint32_t b, uint32_t rankOfA, uint32_t rankOfB) const
    {
        const Time left = m_connections[a].end;
        const Time right = m_connections[b].end;
        return left > right || (left == right && rankOfA < rankOfB);
    }

    void FollowLatencies()
    {
        for (uint32_t c : m_order)
        {
            const BlockState& from = m_blocks[From(c)];
            const Time begin = from.before == NONE ? Time() : m_connections[from.before].end;
            m_connections[c].end = begin + m_channel.connections[c].latency;
            BlockState& to = m_blocks[To(c)];
            if (to.before == NONE ||
                EndsLater(c, to.before, from.origin, m_blocks[From(to.before)].origin))
            {
                to.before = c;
                to.origin = from.origin;
            }
        }
    }

    void CountHops()
    {
        for (std::size_t i = m_order.size(); i-- > 0;)
        {
            const uint32_t c = m_order[i];
            BlockState& from = m_blocks[From(c)];
            if (m_connections[c].isUp)
            {
                from.up = std::max(from.up, m_blocks[To(c)].up + m_connections[c].hasLinks);
            }
        }
        for (uint32_t c : m_order)
        {
            BlockState& to = m_blocks[To(c)];
            if (!m_connections[c].isUp)
            {
                to.down = std::max(to.down, m_blocks[From(c)].down + m_connections[c].hasLinks);
            }
        }
    }

    /** Adds a connection to its sub-channel, still without its stage. */
    void Bound(uint32_t c)
    {
        const ScheduleConnection& connection = m_channel.connections[c];
        ConnectionState& state = m_connections[c];
        SubChannel& subChannel = m_subChannels[state.subChannel];
        subChannel.cap = std::min(subChannel.cap, connection.cap / state.uses);
        if (!state.hasLinks)
        {
            return;
        }
        subChannel.weight = std::min(subChannel.weight, connection.weight / state.uses);
        state.hop = static_cast<uint32_t>(subChannel.hops.size());
        const uint32_t count = state.isUp ? m_blocks[From(c)].up : m_blocks[To(c)].down;
        subChannel.hops.push_back({c, state.uses, count, 0, state.isUp});
    }

    void AddPath(SubChannel& subChannel, uint32_t last)
    {
        subChannel.latency = last == NONE ? Time() : m_connections[last].end;
        uint32_t upHops = 0;
        for (uint32_t c = last; c != NONE; c = m_blocks[From(c)].before)
        {
            if (m_connections[c].hasLinks)
            {
                subChannel.path.push_back(m_connections[c].hop);
                upHops += m_connections[c].isUp;
            }
        }
        std::reverse(subChannel.path.begin(), subChannel.path.end());
        const auto stages = static_cast<uint32_t>(subChannel.path.size());
        for (SubChannel::Hop& hop : subChannel.hops)
        {
            hop.stage = hop.isUp ? upHops - std::min(hop.distance, upHops)
                                 : std::min(upHops + hop.distance, std::max(stages, 1U)) - 1;
        }
    }

    const ChannelSchedule& m_channel;
    const Routing& m_routing;
    std::vector<ConnectionState> m_connections;
    std::vector<BlockState> m_blocks;
    std::vector<uint32_t> m_order;
    std::vector<SubChannel> m_subChannels;
};

} // namespace

std::vector<SubChannel>
SubChannelsOf(const ChannelSchedule& channel,
              uint32_t chunks,
              uint32_t subChannels,
              const Routing& routing)
{
    return SubChannelFinder(channel, chunks, subChannels, routing).Find();
}

} // namespace weir
