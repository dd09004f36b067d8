// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_POINT_TO_POINT_TURNS_H
#define WEIR_COLLECTIVES_ALGORITHMS_POINT_TO_POINT_TURNS_H

#include "collectives/algorithms/point-to-point/point-to-point.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** One direction of one round of a rank on a channel. */
struct PeerWork
{
    uint32_t rank;
    uint32_t round;
    bool sends;
    uint32_t part; //!< index of the MessagePart
};

/** What one of a block's eight places does, one round after the other. */
struct PeerTurn
{
    std::vector<PeerWork> works; //!< round by round; in a round the receive comes first

    uint32_t Sends() const;

    uint32_t Receives() const
    {
        return static_cast<uint32_t>(works.size()) - Sends();
    }

    /** Receives of rounds before @p round. */
    uint32_t ReceivesBefore(uint32_t round) const;
};

/**
 * The turns of all ranks' blocks on one channel: a rank's rounds in their order, the first to the
 * first place, the ninth to the first again.
 * @param onChannel indices of the parts that go over it.
 */
std::vector<PeerTurn> TurnsOf(const std::vector<Message>& messages,
                              const std::vector<MessagePart>& parts,
                              const std::vector<uint32_t>& onChannel);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_POINT_TO_POINT_TURNS_H
