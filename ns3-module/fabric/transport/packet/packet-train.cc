// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/packet/packet-train.h"

#include <algorithm>
#include <cmath>

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
    const uint32_t header = m_spec.format.header.value_or(0);
    if (hop == 0 || size <= header || m_network.IsOfGpu(links[hop]) ||
        !m_network.CutsThrough(1 / m_network.NominalWireRate(links[hop - 1]),
                               1 / m_network.NominalWireRate(links[hop])))
    {
        return time;
    }
    const uint32_t rest = size - header;
    return std::max<int64_t>(0,
                             time - m_network.NominalTransmissionTime(links[hop - 1], rest, rest));
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
    const uint32_t wire = load.mtu + (load.isInside ? 0 : m_header);
    const int64_t gap = m_spec.WholeTime(wire * 1e12 / load.lineRate) / load.parts;
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
    m_last = ends.back();
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
    return last;
}

} // namespace weir
