// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/point-to-point/point-to-point-load.h"

#include "collectives/algorithms/point-to-point/point-to-point-order.h"

namespace weir
{

namespace
{

constexpr uint32_t NO_ROUND = 0xffffffff;

/** One rank's block on one channel, while its rounds are counted. */
struct BlockRounds
{
    uint32_t firstPlace{0};
    uint32_t count{0};       //!< of rounds so far
    uint32_t last{NO_ROUND}; //!< the latest
};

} // namespace

PlaceLoads::PlaceLoads(const AlgorithmInputs& in,
                       const std::vector<Message>& messages,
                       const std::vector<MessagePart>& parts)
    : m_parts(parts)
{
    OrderByRound();
    FindPlaces(in, messages);
    AddBytes(in.protocol);
}

void
PlaceLoads::OrderByRound()
{
    uint32_t rounds = 0;
    for (const auto& part : m_parts)
    {
        rounds = std::max(rounds, part.round + 1);
    }
    std::vector<uint32_t> next(std::size_t{rounds} + 1, 0); // by round, where its next part goes
    for (const auto& part : m_parts)
    {
        ++next[part.round + 1];
    }
    for (uint32_t round = 0; round < rounds; ++round)
    {
        next[round + 1] += next[round];
    }
    m_order.resize(m_parts.size());
    for (uint32_t i = 0; i < m_parts.size(); ++i)
    {
        m_order[next[m_parts[i].round]++] = i;
    }
}

void
PlaceLoads::FindPlaces(const AlgorithmInputs& in, const std::vector<Message>& messages)
{
    constexpr uint32_t PLACES = PointToPointOrder::WORKS_AT_ONCE;
    const uint32_t channels = PeerChannelsOf(in).all;
    std::vector<BlockRounds> blocks(std::size_t{in.communicator.Size()} * channels);
    uint32_t places = 0;
    const auto placeOf = [&](uint32_t rank, const MessagePart& part) {
        BlockRounds& block = blocks[std::size_t{rank} * channels + part.channel];
        if (block.count == 0)
        {
            block.firstPlace = places;
            places += PLACES;
        }
        block.count += block.last != part.round;
        block.last = part.round;
        return block.firstPlace + (block.count - 1) % PLACES;
    };
    m_ends.resize(m_parts.size());
    for (const uint32_t i : m_order)
    {
        const Message& message = messages[m_parts[i].message];
        const uint32_t from = placeOf(message.from, m_parts[i]);
        m_ends[i] = {from, placeOf(message.to, m_parts[i])};
    }
    m_bytes.resize(places);
}

void
PlaceLoads::AddBytes(Protocol protocol)
{
    std::vector<Bytes> sent(m_bytes.size());
    std::vector<Bytes> received(m_bytes.size());
    const auto bytesOf = [&](uint32_t i) { return WireBytes(protocol, m_parts[i].share); };
    ForRounds(
        [&](uint32_t i) {
            const uint32_t place = m_ends[i].from;
            sent[place] = std::max(sent[place], received[place]) + bytesOf(i);
        },
        [&](uint32_t i) { received[m_ends[i].to] += bytesOf(i); });
    for (std::size_t place = 0; place < m_bytes.size(); ++place)
    {
        m_bytes[place] = std::max(sent[place], received[place]);
    }
}

Bytes
PlaceLoads::Most() const
{
    return m_bytes.empty() ? Bytes() : *std::max_element(m_bytes.begin(), m_bytes.end());
}

Time
PlaceLoads::LongestChain(const std::vector<Time>& latencyOfPart) const
{
    std::vector<Time> received(m_bytes.size());
    std::vector<Time> arrival(m_parts.size());
    Time last;
    ForRounds([&](uint32_t i) { arrival[i] = received[m_ends[i].from] + latencyOfPart[i]; },
              [&](uint32_t i) {
                  Time& at = received[m_ends[i].to];
                  at = std::max(at, arrival[i]);
                  last = std::max(last, at);
              });
    return last;
}

BlockLoad
BlockLoadOf(const AlgorithmInputs& in,
            const std::vector<Message>& messages,
            const std::vector<MessagePart>& parts)
{
    constexpr uint32_t AT_ONCE = PointToPointOrder::WORKS_AT_ONCE;
    const uint32_t channels = PeerChannelsOf(in).all;
    const std::size_t ranks = in.communicator.Size();
    std::vector<uint32_t> sends(ranks * channels, 0);
    std::vector<uint32_t> receives(ranks * channels, 0);
    for (const auto& part : parts)
    {
        const Message& message = messages[part.message];
        if (message.from != message.to)
        {
            ++sends[std::size_t{message.from} * channels + part.channel];
            ++receives[std::size_t{message.to} * channels + part.channel];
        }
    }
    BlockLoad load{1, 0};
    for (std::size_t rank = 0; rank < ranks; ++rank)
    {
        uint32_t ofRank = 0;
        for (uint32_t channel = 0; channel < channels; ++channel)
        {
            const std::size_t block = rank * channels + channel;
            const uint32_t sending = std::min(sends[block], AT_ONCE);
            load.atOnce = std::max({load.atOnce, sending, std::min(receives[block], AT_ONCE)});
            ofRank += sending;
        }
        load.ofARank = std::max(load.ofARank, ofRank);
    }
    return load;
}

} // namespace weir
