// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/nccl-latency-model.h"

#include "collectives/nccl/kernel-times.h"
#include "collectives/nccl/nccl-bandwidth-model.h"

#include <algorithm>

namespace weir
{

namespace
{

/** Whether all channels visit the GPUs in one order (NCCL's sameChannels). */
bool
HasOneOrder(const Communicator& communicator)
{
    const auto& channels = communicator.channels;
    return std::all_of(channels.begin(), channels.end(), [&](const RingChannel& channel) {
        return channel.order == channels.front().order;
    });
}

uint32_t
FloorLog2(uint32_t value)
{
    uint32_t log = 0;
    while (value >>= 1)
    {
        ++log;
    }
    return log;
}

/** Broadcast or reduce: one step if all channels have one order, else one per rank. */
Time
ChainLatency(const NcclConstants& constants, const Communicator& communicator, Protocol protocol)
{
    const ConnectionKind kind =
        communicator.nodes > 1 ? ConnectionKind::Network : InnerKind(communicator);
    const Time base = constants.BaseLatency(Algorithm::Ring, protocol);
    if (HasOneOrder(communicator))
    {
        return base + constants.HardwareLatency(Algorithm::Ring, kind, protocol);
    }
    const Algorithm table = protocol == Protocol::Simple ? Algorithm::Tree : Algorithm::Ring;
    return base + constants.HardwareLatency(table, kind, protocol) * communicator.Size();
}

} // namespace

Time
NcclLatency(const NcclConstants& constants,
            const Communicator& communicator,
            Algorithm algorithm,
            CollectiveOp op,
            Protocol protocol)
{
    const NcclVersion& version = constants.Version();
    const uint32_t nodes = communicator.nodes;
    const double perNode = communicator.gpusPerNode;
    const Time base = constants.BaseLatency(algorithm, protocol);
    const Time inner = constants.StepLatency(
        algorithm, InnerKind(communicator), protocol, nodes, communicator.gpusPerNode);
    const Time outer = constants.StepLatency(
        algorithm, ConnectionKind::Network, protocol, nodes, communicator.gpusPerNode);
    const double levels = FloorLog2(nodes);
    switch (algorithm)
    {
    case Algorithm::Tree:
        return base + (inner * (perNode - 1) + outer * levels) * 2;
    case Algorithm::CollNetDirect: {
        const Time peer = Time::Microseconds(version.AtLeast(19) ? 0.4 : 0.5);
        return base + (inner * std::min(1.0, perNode - 1) + peer * (perNode - 1)) * 2 + outer;
    }
    case Algorithm::CollNetChain:
        return base + inner * (2 * (perNode - 1)) + outer;
    case Algorithm::Nvls:
        return nodes > 1 ? base + inner + outer : base + inner;
    case Algorithm::NvlsTree:
        return base + inner + outer * (version.AtLeast(19) ? 2 * levels : 2.0 * (nodes - 1));
    case Algorithm::Pat:
        return base + outer * (levels / 3.5) + Time::Microseconds(2.8) * communicator.Size();
    default:
        break;
    }
    if (op == CollectiveOp::Broadcast || op == CollectiveOp::Reduce)
    {
        return ChainLatency(constants, communicator, protocol);
    }
    double crossings = 0;
    if (nodes > 1)
    {
        const bool whole = version.AtLeast(12) && !version.AtLeast(23);
        crossings = op == CollectiveOp::AllReduce ? 2.0 * (whole ? nodes : nodes - 1) : nodes - 1;
    }
    // To 2.22 a ring of two nodes with a GPU each has more crossings than steps.
    return base + inner * NcclRingSteps(op, communicator.Size()) + outer * crossings -
           inner * crossings;
}

} // namespace weir
