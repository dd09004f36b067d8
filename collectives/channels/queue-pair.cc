// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/channels/queue-pair.h"

namespace weir
{

Rate
QueuePairRate(const NodeSpec& node)
{
    constexpr double FAST_PORT = 50;  // GB/s: 400 Gb/s
    constexpr double MEASURED = 21.4; // GB/s
    const bool verbs =
        node.transport == NetTransport::Infiniband || node.transport == NetTransport::Roce;
    return verbs && node.nic.rawRate.ToGBps() >= FAST_PORT ? Rate::GBps(MEASURED)
                                                           : Rate::Infinite();
}

} // namespace weir
