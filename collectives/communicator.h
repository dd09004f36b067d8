// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_COMMUNICATOR_H
#define WEIR_COLLECTIVES_COMMUNICATOR_H

#include "collectives/collective.h"
#include "fabric/ids.h"
#include "fabric/units.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** NCCL's three kinds of way between two GPUs; they differ in latency per hop. */
enum class ConnectionKind : uint8_t
{
    NvLink,
    Pcie,
    Network
};

/** One directed connection of one channel: how bytes get from one GPU to the next. */
struct Connection
{
    PathId path;
    ConnectionKind kind{ConnectionKind::NvLink};
};

/** The order in which one channel's ring visits the group, and its hops. */
struct RingChannel
{
    std::vector<uint32_t> order;  //!< group ranks; order[i] sends to order[(i + 1) % n]
    std::vector<Connection> hops; //!< hops[i] leaves order[i]
};

/**
 * A group of GPUs with the channels found for it, as NCCL finds them when a communicator is made:
 * who follows whom on every channel, over which paths.
 */
struct Communicator
{
    std::vector<GpuId> gpus;           //!< by group rank
    uint32_t nodes{1};                 //!< distinct nodes
    uint32_t gpusPerNode{1};           //!< the largest number of its GPUs in one node
    std::vector<RingChannel> channels; //!< at full width; small messages use the first few
    std::vector<PathId> ringPaths;     //!< by channel: all links of all its hops
    uint32_t searchChannels{1};        //!< channels of NCCL's graph, before it duplicates them
    double searchBandwidth{0}; //!< GB/s of all channels in NCCL's graph, for its tuning model
    bool ll128{false};         //!< whether NCCL enables LL128 on these connections

    uint32_t Size() const
    {
        return static_cast<uint32_t>(gpus.size());
    }
};

} // namespace weir

#endif // WEIR_COLLECTIVES_COMMUNICATOR_H
