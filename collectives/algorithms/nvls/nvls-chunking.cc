// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/nvls/nvls-chunking.h"

#include <algorithm>
#include <tuple>

namespace weir
{

namespace
{

/** While a message is below @p times what all channels and heads hold, chunks are @p chunk. */
struct ChunkLimit
{
    int64_t times;
    Bytes chunk;
};

Bytes
Shrunk(Bytes chunk, Bytes bytes, int64_t concurrent, std::initializer_list<ChunkLimit> limits)
{
    for (const auto& limit : limits)
    {
        if (chunk > limit.chunk && bytes < chunk * (concurrent * limit.times))
        {
            chunk = limit.chunk;
        }
    }
    return chunk;
}

} // namespace

namespace
{

/** As many as NCCL takes of itself. */
uint32_t
DefaultNvlsChannels(const AlgorithmInputs& inputs)
{
    constexpr double FAST_PORT = 96; // GB/s
    const auto& [constants, communicator] = std::tie(inputs.constants, inputs.communicator);
    if (constants.ComputeCapability() < 100)
    {
        return 16;
    }
    if (communicator.nodes == 1)
    {
        return constants.Version().AtLeast(28) ? 24 : 32;
    }
    if (communicator.nodes == 2 || !constants.Version().AtLeast(30))
    {
        return 32;
    }
    const double port = inputs.connector.GetCluster().GetSpec().node.nic.rawRate.ToGBps();
    return port >= FAST_PORT && communicator.gpusPerNode > 8 ? 32 : 24;
}

} // namespace

uint32_t
NvlsChannels(const AlgorithmInputs& inputs)
{
    const ChannelLimits& limits = inputs.settings.channelLimits;
    return std::max(limits.least, std::min(limits.most, DefaultNvlsChannels(inputs)));
}

Bytes
NvlsChunk(Bytes bytes, uint32_t channels, uint32_t heads)
{
    return Shrunk(Bytes::KiB(128),
                  bytes,
                  int64_t{channels} * heads,
                  {{64, Bytes::KiB(64)}, {8, Bytes::KiB(32)}, {2, Bytes::KiB(16)}});
}

Bytes
NvlsTreeChunk(Bytes bytes, uint32_t channels, uint32_t heads, uint32_t nodes)
{
    constexpr uint32_t MANY_NODES = 4;
    return Shrunk(nodes >= MANY_NODES ? Bytes::KiB(64) : Bytes::KiB(128),
                  bytes,
                  int64_t{channels} * heads,
                  {{4, Bytes::KiB(64)}, {1, Bytes::KiB(32)}});
}

uint32_t
NvlsPasses(const std::vector<Loop>& loops)
{
    uint32_t passes = 0;
    for (const auto& loop : loops)
    {
        passes += loop.repeat;
    }
    return passes;
}

Time
NvlsStartLatency(const NcclConstants& constants, Algorithm algorithm)
{
    return constants.BaseLatency(algorithm, Protocol::Simple) +
           constants.HardwareLatency(algorithm, ConnectionKind::NvLink, Protocol::Simple);
}

Time
NvlsSyncLatency(const NodeCosts& costs, Time crossing)
{
    const Time least = crossing * 3;
    const Time measured = costs.TimeOf(NodeCostKind::NvlsSync);
    return std::max(measured - ReferencePropagation(ConnectionKind::NvLink) * 3, Time()) + least;
}

Rate
NvlsCopyRate(const NcclConstants& constants)
{
    return Rate::GBps(constants.BlockBandwidth());
}

} // namespace weir
