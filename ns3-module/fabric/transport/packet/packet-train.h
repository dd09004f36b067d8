// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_PACKET_TRAIN_H
#define WEIR_FABRIC_TRANSPORT_PACKET_PACKET_TRAIN_H

#include "fabric/transport/packet/packet-network.h"
#include "fabric/transport/packet/packet-spec.h"

#include <cstdint>
#include <vector>

namespace weir
{

/**
 * The packets of a message on links that nobody else uses, one behind the other: when they are at
 * the end, without the latency of links. All packets but the last are alike; so a port has sent the
 * n-th of them when the first one has come through all ports up to it, and n - 1 of them have
 * passed the slowest of these. With cut-through a packet takes a port only what that takes beyond
 * the port before it.
 *
 * A message on several queue pairs is taken for one whose queue pairs' last packets come last:
 * exact where all have as many packets. O(links).
 */
class PacketTrain
{
  public:
    /** What is sent, and how fast it may be. */
    struct Load
    {
        int64_t bytes{0};     //!< payload
        uint32_t parts{1};    //!< queue pairs, which share it evenly
        uint32_t mtu{0};      //!< payload bytes of a full packet
        double lineRate{0};   //!< bytes/s on the wire: the pace of a queue pair
        double cap{0};        //!< bytes/s of payload at which the message comes to be there
        bool isInside{false}; //!< a node, where packets have no headers
    };

    PacketTrain(const PacketSpec& spec, const PacketNetwork& network);

    /** When the last packet is at the end of @p links, ps after the message was posted. */
    int64_t Send(const Load& load, const std::vector<uint32_t>& links);

    /** When the acknowledgment of that packet is at the end of @p links, ps. */
    int64_t Acknowledge(const std::vector<uint32_t>& links);

  private:
    int64_t TimeOf(uint32_t link, uint32_t payload) const;
    int64_t EntryOf(const std::vector<uint32_t>& links, std::size_t hop, uint32_t payload) const;
    int64_t EntryOf(const std::vector<uint32_t>& links,
                    std::size_t hop,
                    uint32_t size,
                    uint32_t payload) const;
    int64_t PaceOf(double bytes, double rate) const;

    const PacketSpec& m_spec;
    const PacketNetwork& m_network;
    uint32_t m_header;       //!< bytes of a data packet
    int64_t m_last{0};       //!< ps: when the last packet came
    int64_t m_beforeLast{0}; //!< ps: when the one before it did
    bool m_hasBefore{false}; //!< there was one
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_PACKET_TRAIN_H
