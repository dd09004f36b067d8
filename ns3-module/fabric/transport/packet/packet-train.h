// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_PACKET_TRAIN_H
#define WEIR_FABRIC_TRANSPORT_PACKET_PACKET_TRAIN_H

#include "fabric/transport/packet/packet-network.h"
#include "fabric/transport/packet/packet-spec.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir
{

/**
 * Size of part @p part when @p bytes are divided into @p count parts, which differ by at most one
 * byte.
 */
constexpr int64_t
SizeOfPart(int64_t bytes, std::size_t part, std::size_t count)
{
    const auto n = static_cast<int64_t>(count);
    const auto i = static_cast<int64_t>(part);
    const int64_t rest = bytes % n;
    return bytes / n + rest * (i + 1) / n - rest * i / n;
}

/**
 * Timing of the packets of a message on uncontended links, in closed form on one path. All packets
 * but the last are equal. A port therefore has sent packet n when the first packet has passed all
 * ports up to it and n - 1 packets have passed the slowest of these ports. With cut-through, a port
 * adds only the time by which its transmission exceeds that of the previous port.
 *
 * A message on several queue pairs is treated as one message whose last packets are those of the
 * queue pairs; this is exact if all have equally many packets. O(links).
 */
class PacketTrain
{
  public:
    /** The message and its rate limits. */
    struct Load
    {
        int64_t bytes{0};     //!< payload
        uint32_t parts{1};    //!< number of queue pairs, which carry equal parts
        uint32_t mtu{0};      //!< payload bytes of a full packet
        double lineRate{0};   //!< pace of a queue pair, bytes/s on the wire
        double cap{0};        //!< rate at which the message becomes available at its source,
                              //!< payload bytes/s
        bool isInside{false}; //!< inside a node, where packets have no headers

        /** Number of packets on one queue pair. */
        int64_t Packets() const
        {
            return std::max<int64_t>(1, (bytes + mtu - 1) / mtu);
        }
    };

    PacketTrain(const PacketSpec& spec, const PacketNetwork& network);

    /** Time from posting the message until its last packet reaches the end of @p links, ps. */
    int64_t Send(const Load& load, const std::vector<uint32_t>& links);

    using Paths = std::vector<std::vector<uint32_t>>; //!< links of each path

    /**
     * As Send, where each queue pair sends its packets over @p paths in turn, which all begin with
     * the same link. O(links of all paths) beyond a transient that is followed packet by packet:
     * some rounds over all paths, or the whole message where two ports are nearly equally slow.
     */
    int64_t Spray(const Load& load, const Paths& paths);

    /**
     * How many of the last packets determine when a message of one queue pair has arrived, which is
     * sprayed over paths that are all like @p links: no packets but these wait for each other, as
     * no port is slower than the sender. Zero where packets wait for each other, or on several
     * queue pairs.
     */
    std::size_t LastPackets(const Load& load, const std::vector<uint32_t>& links) const;

    /** As Spray where LastPackets is not zero. @param last the paths of these packets, in order */
    int64_t SprayLast(const Load& load, const Paths& last);

    /** Time until the acknowledgment of that packet reaches the end of @p links, ps. */
    int64_t Acknowledge(const std::vector<uint32_t>& links);

  private:
    int64_t TimeOf(uint32_t link, uint32_t payload) const;
    int64_t EntryOf(const std::vector<uint32_t>& links, std::size_t hop, uint32_t payload) const;
    int64_t EntryOf(const std::vector<uint32_t>& links,
                    std::size_t hop,
                    uint32_t size,
                    uint32_t payload) const;
    uint32_t RestBehindHeader(uint32_t in, uint32_t out, uint32_t size) const;
    int64_t LatencyOf(const std::vector<uint32_t>& links) const;
    int64_t GapOf(const Load& load) const;
    int64_t SpacingOf(const Load& load, uint32_t link) const;
    int64_t PaceOf(double bytes, double rate) const;
    int64_t SprayEach(const Load& load, const Paths& paths);

    const PacketSpec& m_spec;
    const PacketNetwork& m_network;
    uint32_t m_header;       //!< header bytes of a data packet
    int64_t m_last{0};       //!< ps: arrival of the last packet
    int64_t m_beforeLast{0}; //!< ps: arrival of the packet before it
    bool m_hasBefore{false}; //!< there was a packet before it
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_PACKET_TRAIN_H
