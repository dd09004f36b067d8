// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/packet/packet-train.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>
#include <unordered_map>

namespace weir
{

PacketTrain::PacketTrain(const PacketSpec& spec, const PacketNetwork& network)
    : m_spec(spec),
      m_network(network),
      m_header(spec.format.header.value_or(0) + spec.congestionControl->HeaderBytes())
{
}

/** Transmission time of a data packet, ps. */
int64_t
PacketTrain::TimeOf(uint32_t link, uint32_t payload) const
{
    return m_network.NominalTransmissionTime(link, payload + m_header, payload);
}

int64_t
PacketTrain::EntryOf(const std::vector<uint32_t>& links, std::size_t hop, uint32_t payload) const
{
    return EntryOf(links, hop, payload + m_header, payload);
}

/**
 * Time that an idle port adds to a packet, ps; with cut-through, forwarding starts after the
 * header.
 */
int64_t
PacketTrain::EntryOf(const std::vector<uint32_t>& links,
                     std::size_t hop,
                     uint32_t size,
                     uint32_t payload) const
{
    const int64_t time = m_network.NominalTransmissionTime(links[hop], size, payload);
    const uint32_t rest = hop == 0 ? 0 : RestBehindHeader(links[hop - 1], links[hop], size);
    return rest == 0 ? time
                     : std::max<int64_t>(
                           0, time - m_network.NominalTransmissionTime(links[hop - 1], rest, rest));
}

/**
 * Bytes of a packet of @p size bytes that are still to arrive by link @p in when link @p out starts
 * to forward it; zero without cut-through.
 */
uint32_t
PacketTrain::RestBehindHeader(uint32_t in, uint32_t out, uint32_t size) const
{
    const uint32_t header = m_spec.format.header.value_or(0);
    const bool isStored = size <= header || m_network.IsOfGpu(out) ||
                          !m_network.CutsThrough(1 / m_network.NominalWireRate(in),
                                                 1 / m_network.NominalWireRate(out));
    return isStored ? 0 : size - header;
}

/** Latency of links in total, ps. */
int64_t
PacketTrain::LatencyOf(const std::vector<uint32_t>& links) const
{
    return std::accumulate(links.begin(), links.end(), int64_t{0}, [&](int64_t sum, uint32_t link) {
        return sum + m_network.Latency(link);
    });
}

/** Time between two full packets of a queue pair at its pace, ps. */
int64_t
PacketTrain::GapOf(const Load& load) const
{
    const uint32_t wire = load.mtu + (load.isInside ? 0 : m_header);
    return m_spec.WholeTime(wire * 1e12 / load.lineRate);
}

/** Time for @p bytes at a rate, ps, rounded as queue pairs do. */
int64_t
PacketTrain::PaceOf(double bytes, double rate) const
{
    return std::isinf(rate) ? 0 : static_cast<int64_t>(bytes / rate * 1e12 + 0.5);
}

int64_t
PacketTrain::Send(const Load& load, const std::vector<uint32_t>& links)
{
    const int64_t mtu = load.mtu;
    int64_t full = 0;            // packets that are not the last of their queue pair
    std::vector<uint32_t> tails; // payload of the last packets
    for (uint32_t part = 0; part < load.parts; part++)
    {
        const int64_t bytes = SizeOfPart(load.bytes, part, load.parts);
        const int64_t packets = std::max<int64_t>(1, (bytes + mtu - 1) / mtu);
        full += packets - 1;
        tails.push_back(static_cast<uint32_t>(bytes - (packets - 1) * mtu));
    }
    // A queue pair sends a packet when all of it is available, and one pace gap after the previous
    // one.
    const int64_t gap = GapOf(load) / load.parts;
    const int64_t come = PaceOf(load.mtu, load.cap);
    int64_t first = 0;   // ps: when the first full packet has left a port
    int64_t longest = 0; // ps: largest interval between two full packets
    std::vector<int64_t> ends(tails.size(), 0);
    for (std::size_t hop = 0; hop < links.size(); hop++)
    {
        const int64_t time = TimeOf(links[hop], load.mtu);
        first += EntryOf(links, hop, load.mtu) + (hop == 0 ? come : 0);
        longest = std::max({longest, time, hop == 0 ? std::max(gap, come) : 0});
        int64_t before = full == 0 ? 0 : first + (full - 1) * longest;
        m_beforeLast = before;
        m_hasBefore = full > 0;
        for (std::size_t i = 0; i < tails.size(); i++)
        {
            const int64_t own = TimeOf(links[hop], tails[i]);
            const int64_t there =
                hop == 0 ? std::max(full * come + PaceOf(tails[i], load.cap),
                                    full == 0 ? 0 : before + std::max<int64_t>(0, gap - time)) +
                               own
                         : ends[i] + EntryOf(links, hop, tails[i]);
            m_beforeLast = before;
            m_hasBefore = full + static_cast<int64_t>(i) > 0;
            ends[i] = std::max(there, before + own);
            before = ends[i];
        }
    }
    const int64_t latency = LatencyOf(links);
    m_beforeLast += latency;
    m_last = ends.back() + latency;
    return m_last;
}

int64_t
PacketTrain::Spray(const Load& load, const Paths& paths)
{
    // In the long run, a round of one packet on each path takes the time of its bottleneck: the
    // sender, or the link that all packets of the round on it keep busy longest.
    const auto turns = static_cast<int64_t>(paths.size());
    std::unordered_map<uint32_t, int64_t> busy; // ps a round, by link
    int64_t round = turns * std::max(GapOf(load), PaceOf(load.mtu, load.cap / load.parts));
    for (const std::vector<uint32_t>& path : paths)
    {
        for (const uint32_t link : path)
        {
            round = std::max(round, busy[link] += load.parts * TimeOf(link, load.mtu));
        }
    }
    // The last packet's time of a message is a maximum over chains of packets that wait for each
    // other, each of which is linear in the number of rounds. It is thus convex, and once a round
    // adds the time of its bottleneck, all further rounds do.
    const int64_t rest = turns * load.mtu * load.parts; // payload bytes of a round
    Load part = load;
    for (int64_t rounds = 4; rounds < load.bytes / rest; rounds *= 2)
    {
        const int64_t skipped = load.bytes / rest - rounds;
        part.bytes = load.bytes - (skipped + 1) * rest;
        const int64_t before = SprayEach(part, paths);
        part.bytes += rest;
        if (SprayEach(part, paths) - before == round)
        {
            m_beforeLast += skipped * round;
            return m_last += skipped * round;
        }
    }
    return SprayEach(load, paths);
}

/** Time between two full packets of one queue pair at @p link, its first port, ps. */
int64_t
PacketTrain::SpacingOf(const Load& load, uint32_t link) const
{
    return std::max({GapOf(load), PaceOf(load.mtu, load.cap), TimeOf(link, load.mtu)});
}

std::size_t
PacketTrain::LastPackets(const Load& load, const std::vector<uint32_t>& links) const
{
    const int64_t spacing = SpacingOf(load, links.front());
    if (load.parts > 1 || std::any_of(links.begin(), links.end(), [&](uint32_t link) {
            return TimeOf(link, load.mtu) > spacing;
        }))
    {
        return 0;
    }
    // Full packets remain apart by the spacing. The last one may be shorter, and gains less than
    // the spacing at each port on those before it.
    return std::min(static_cast<std::size_t>(load.Packets()), links.size() + 2);
}

int64_t
PacketTrain::SprayLast(const Load& load, const Paths& last)
{
    const int64_t before = load.Packets() - static_cast<int64_t>(last.size());
    Load rest = load;
    rest.bytes -= before * load.mtu;
    SprayEach(rest, last);
    const int64_t spacing = SpacingOf(load, last.front().front());
    m_beforeLast += before * spacing;
    return m_last += before * spacing;
}

/** As Spray, by the time of each packet at each port. O(packets * links) */
int64_t
PacketTrain::SprayEach(const Load& load, const Paths& paths)
{
    struct Sprayed
    {
        const std::vector<uint32_t>* path;
        uint32_t payload;
        int64_t whole; //!< ps: when all of it has arrived at its next port
        std::size_t hop{1};
    };

    std::unordered_map<uint32_t, int64_t> freeAt; // ps, by link
    std::vector<Sprayed> packets;
    std::vector<int64_t> available(load.parts, 0);              // ps, by queue pair
    std::vector<int64_t> next(load.parts, 0);                   // ps, by queue pair
    using Arrival = std::tuple<int64_t, uint32_t, std::size_t>; // ps, link, packet
    std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals;
    const auto transmit = [&](Sprayed& packet, uint32_t link, int64_t from, int64_t until) {
        int64_t& free = freeAt[link];
        free = std::max(std::max(from, free) + TimeOf(link, packet.payload), until);
        packet.whole = free + m_network.Latency(link);
    };
    const auto arrive = [&](std::size_t number) {
        const Sprayed& packet = packets[number];
        const uint32_t link = (*packet.path)[packet.hop - 1];
        if (packet.hop < packet.path->size())
        {
            const uint32_t rest =
                RestBehindHeader(link, (*packet.path)[packet.hop], packet.payload + m_header);
            const int64_t early =
                rest > 0 ? m_network.NominalTransmissionTime(link, rest, rest) : 0;
            arrivals.emplace(packet.whole - early, link, number);
            return;
        }
        m_beforeLast = std::max(m_beforeLast, std::min(m_last, packet.whole));
        m_last = std::max(m_last, packet.whole);
    };
    m_last = m_beforeLast = 0;
    for (int64_t turn = 0; turn * load.mtu * load.parts < std::max<int64_t>(1, load.bytes); turn++)
    {
        for (uint32_t part = 0; part < load.parts; part++)
        {
            const int64_t left = SizeOfPart(load.bytes, part, load.parts) - turn * load.mtu;
            if (left <= 0 && turn > 0)
            {
                continue;
            }
            const std::vector<uint32_t>& path =
                paths[static_cast<std::size_t>(turn) % paths.size()];
            packets.push_back({&path, static_cast<uint32_t>(std::min<int64_t>(left, load.mtu)), 0});
            available[part] += PaceOf(packets.back().payload, load.cap / load.parts);
            const int64_t from = std::max({available[part], next[part], freeAt[path.front()]});
            next[part] = from + GapOf(load);
            transmit(packets.back(), path.front(), from, 0);
            arrive(packets.size() - 1);
        }
    }
    while (!arrivals.empty())
    {
        const auto [time, ingress, number] = arrivals.top();
        arrivals.pop();
        Sprayed& packet = packets[number];
        transmit(packet, (*packet.path)[packet.hop++], time, packet.whole);
        arrive(number);
    }
    m_hasBefore = packets.size() > 1;
    return m_last;
}

int64_t
PacketTrain::Acknowledge(const std::vector<uint32_t>& links)
{
    const auto size = static_cast<uint32_t>(m_spec.format.controlSize.Count());
    const bool hasBefore = m_hasBefore && m_spec.queuePair.ackEvery == 1;
    int64_t before = m_beforeLast;
    int64_t last = m_last;
    for (std::size_t hop = 0; hop < links.size(); hop++)
    {
        const int64_t entry = EntryOf(links, hop, size, 0);
        before += entry;
        last = std::max(last + entry,
                        hasBefore ? before + m_network.NominalTransmissionTime(links[hop], size, 0)
                                  : 0);
    }
    return last + LatencyOf(links);
}

} // namespace weir
