// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/point-to-point/peer-call.h"

#include "collectives/algorithms/point-to-point/point-to-point.h"
#include "collectives/schedule/message-split.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace weir
{

namespace
{

constexpr uint32_t WORK_SLOTS = PointToPointOrder::WORKS_AT_ONCE; // of a block
constexpr uint32_t NO_ROUND = 0xffffffff;

/** One rank's block on one channel, while its rounds are counted. */
struct BlockRounds
{
    uint32_t firstSlot{0};
    uint32_t count{0};       //!< number of rounds so far
    uint32_t last{NO_ROUND}; //!< the last round
    uint32_t sends{0};       //!< number of parts, without copies
    uint32_t receives{0};    //!< as above
};

uint32_t
ReverseBits(uint32_t value, uint32_t bits)
{
    uint32_t reversed = 0;
    for (uint32_t i = 0; i < bits; ++i)
    {
        reversed = reversed << 1 | (value >> i & 1);
    }
    return reversed;
}

/**
 * For each distance below @p count its index in the order 0, 1, 3, 6, 10, ... mod a power of two.
 */
std::vector<uint32_t>
TriangularIndices(uint32_t count)
{
    const uint32_t power = PowerOfTwoUp(count);
    std::vector<uint32_t> indices(count, 0);
    uint32_t next = 0;
    uint32_t distance = 0;
    for (uint32_t round = 0; round < power; ++round)
    {
        distance = (distance + round) % power;
        if (distance < count)
        {
            indices[distance] = next++;
        }
    }
    return indices;
}

} // namespace

PointToPointOrder::PointToPointOrder(const Communicator& communicator, const Cluster& cluster)
{
    std::map<uint32_t, uint32_t> nodes;
    std::vector<uint32_t> members;
    for (const GpuId gpu : communicator.gpus)
    {
        const auto [it, isNew] =
            nodes.emplace(cluster.NodeOf(gpu), static_cast<uint32_t>(nodes.size()));
        if (isNew)
        {
            members.push_back(0);
        }
        m_node.push_back(it->second);
        m_local.push_back(members[it->second]++);
    }
    m_nodeDistanceIndex = TriangularIndices(static_cast<uint32_t>(members.size()));
    m_gpuDistanceIndex = TriangularIndices(*std::max_element(members.begin(), members.end()));
}

uint32_t
PointToPointOrder::RoundOf(uint32_t from, uint32_t to) const
{
    const auto nodes = static_cast<uint32_t>(m_nodeDistanceIndex.size());
    const auto locals = static_cast<uint32_t>(m_gpuDistanceIndex.size());
    const uint32_t nodeDistance = (m_node[to] + nodes - m_node[from]) % nodes;
    const uint32_t localDistance = (m_local[to] + locals - m_local[from]) % locals;
    return m_nodeDistanceIndex[nodeDistance] * locals + m_gpuDistanceIndex[localDistance];
}

uint32_t
PointToPointOrder::ChannelOf(uint32_t round, uint32_t part, uint32_t channels) const
{
    const auto locals = static_cast<uint32_t>(m_gpuDistanceIndex.size());
    uint32_t base = round;
    if (m_nodeDistanceIndex.size() > 1)
    {
        const uint32_t groups = (locals + WORKS_AT_ONCE - 1) / WORKS_AT_ONCE;
        base = round / locals * groups + round % locals / WORKS_AT_ONCE;
    }
    return (base + ReverseBits(part, FloorLog2(channels))) % channels;
}

PeerCall::PeerCall(const AlgorithmInputs& inputs)
    : m_in(inputs),
      m_messages(MessagesOf(inputs))
{
    Split();
    OrderByRound();
    AssignSlots();
}

void
PeerCall::Split()
{
    const PointToPointOrder order(m_in.communicator, m_in.connector.GetCluster());
    const PeerChannels limits = PeerChannelsOf(m_in);
    m_parts.reserve(m_messages.size() * m_in.channels);
    for (uint32_t m = 0; m < m_messages.size(); ++m)
    {
        const Message& message = m_messages[m];
        const uint32_t round = order.RoundOf(message.from, message.to);
        const uint32_t channels = ChannelsOfMessage(m_in, limits, message.bytes);
        const auto shares = SplitOverChannels(message.bytes, channels);
        const uint32_t count = shares.back().firstChannel + shares.back().channels;
        const Bytes fair = DivideUp(message.bytes, count);
        for (uint32_t p = 0; p < count; ++p)
        {
            const Bytes bytes = p < shares[0].channels ? shares[0].bytes : shares[1].bytes;
            m_parts.push_back({m, p, order.ChannelOf(round, p, limits.all), round, bytes, fair});
        }
    }
}

void
PeerCall::OrderByRound()
{
    uint32_t rounds = 0;
    for (const Part& part : m_parts)
    {
        rounds = std::max(rounds, part.round + 1);
    }
    std::vector<uint32_t> next(std::size_t{rounds} + 1, 0); // by round: the index of its next part
    for (const Part& part : m_parts)
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
PeerCall::AssignSlots()
{
    const uint32_t channels = PeerChannelsOf(m_in).all;
    const std::size_t ranks = m_in.communicator.Size();
    std::vector<BlockRounds> blocks(ranks * channels);
    const auto slotIn = [&](BlockRounds& block, const Part& part) {
        if (block.count == 0)
        {
            block.firstSlot = m_slotCount;
            m_slotCount += WORK_SLOTS;
        }
        block.count += block.last != part.round;
        block.last = part.round;
        return block.firstSlot + (block.count - 1) % WORK_SLOTS;
    };
    for (const uint32_t i : m_order)
    {
        Part& part = m_parts[i];
        const Message& message = MessageOf(part);
        BlockRounds& from = blocks[std::size_t{message.from} * channels + part.channel];
        BlockRounds& to = blocks[std::size_t{message.to} * channels + part.channel];
        part.sender = slotIn(from, part);
        part.receiver = slotIn(to, part);
        // A copy uses no wire, and does not block the threads that wait for one.
        from.sends += message.from != message.to;
        to.receives += message.from != message.to;
    }
    for (const BlockRounds& block : blocks)
    {
        m_partsAtOnce = std::max({m_partsAtOnce,
                                  std::min(block.sends, WORK_SLOTS),
                                  std::min(block.receives, WORK_SLOTS)});
    }
}

Bytes
PeerCall::WireShare(const Part& part) const
{
    return WireBytes(m_in.protocol, part.share);
}

Bytes
PeerCall::SliceOf(const Part& part) const
{
    return WireBytes(m_in.protocol, std::min(ChunkOf(m_in, MessageOf(part)), part.bytes));
}

uint32_t
PeerCall::ChannelCount() const
{
    uint32_t count = 0;
    for (const Part& part : m_parts)
    {
        count = std::max(count, part.channel + 1);
    }
    return count;
}

Rate
PeerCall::PartCap() const
{
    // The threads of a send only copy, faster than a ring's primitive that reduces.
    const Rate copy = m_in.constants.GetBlockTimes().Of(PrimitiveKind::Send).rate;
    return std::min(ChannelCap(m_in, copy), copy / m_partsAtOnce);
}

std::vector<Bytes>
PeerCall::SlotBytes(const std::function<bool(const Part&)>& includes) const
{
    const auto bytesOf = [&](const Part& part) {
        return includes && !includes(part) ? Bytes() : WireShare(part);
    };
    std::vector<Bytes> sent(m_slotCount);
    std::vector<Bytes> received(m_slotCount);
    ForRounds(
        [&](uint32_t i) {
            const uint32_t slot = m_parts[i].sender;
            sent[slot] = std::max(sent[slot], received[slot]) + bytesOf(m_parts[i]);
        },
        [&](uint32_t i) { received[m_parts[i].receiver] += bytesOf(m_parts[i]); });
    for (std::size_t slot = 0; slot < m_slotCount; ++slot)
    {
        sent[slot] = std::max(sent[slot], received[slot]);
    }
    return sent;
}

Time
PeerCall::LongestChain(const std::vector<Time>& latencyOfPart) const
{
    std::vector<Time> received(m_slotCount);
    std::vector<Time> arrival(m_parts.size());
    Time last;
    ForRounds([&](uint32_t i) { arrival[i] = received[m_parts[i].sender] + latencyOfPart[i]; },
              [&](uint32_t i) {
                  Time& at = received[m_parts[i].receiver];
                  at = std::max(at, arrival[i]);
                  last = std::max(last, at);
              });
    return last;
}

std::vector<PeerCall::Work>
PeerCall::WorksOf(const std::vector<uint32_t>& onChannel) const
{
    std::vector<Work> works;
    works.reserve(2 * onChannel.size());
    for (const uint32_t i : onChannel)
    {
        const Part& part = m_parts[i];
        works.push_back({MessageOf(part).from, part.sender, part.round, true, i});
        works.push_back({MessageOf(part).to, part.receiver, part.round, false, i});
    }
    std::sort(works.begin(), works.end(), [](const Work& a, const Work& b) {
        return std::tie(a.rank, a.slot, a.round, a.sends, a.part) <
               std::tie(b.rank, b.slot, b.round, b.sends, b.part);
    });
    return works;
}

} // namespace weir
