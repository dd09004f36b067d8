// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/pat/pat.h"

#include "collectives/algorithms/call-description.h"
#include "collectives/algorithms/point-to-point/point-to-point.h"
#include "collectives/algorithms/protocol.h"
#include "collectives/engines/closed-form.h"
#include "collectives/schedule/message-split.h"
#include "collectives/schedule/schedule-wiring.h"
#include "fabric/routing/routing.h"

#include <algorithm>

/**
 * @file
 * PAT all-gather and reduce-scatter (NCCL's parallel aggregated trees, all_gather.h and
 * reduce_scatter.h from 2.23, Simple only, one GPU per node). Every rank's part uses its own
 * binomial tree, so that a call has the latency of log2 n steps instead of a ring's n - 1, and most
 * messages go over short distances.
 */
namespace weir
{

std::vector<PatDistance>
PatDistances(uint32_t ranks)
{
    uint32_t distance = 1;
    while (2 * distance < ranks)
    {
        distance *= 2;
    }
    std::vector<PatDistance> distances;
    for (; distance > 0; distance /= 2)
    {
        PatDistance each{distance, {}};
        for (uint32_t offset = distance; offset < ranks; offset += 2 * distance)
        {
            each.offsets.push_back(offset);
        }
        if (!each.offsets.empty())
        {
            distances.push_back(std::move(each));
        }
    }
    return distances;
}

namespace
{

/** NCCL's own estimate (tuning.cc): base + log2 N x h / 3.5 + n x 2.8 us. */
constexpr double LATENCY_DIVISOR = 3.5;
constexpr Time STEP = Time::Nanoseconds(2800);

/** Messages that a rank sends before it receives: the number of slots of a connection. */
constexpr std::size_t WINDOW = NCCL_STEPS;

bool
SupportsPat(CollectiveOp op, const Communicator& communicator)
{
    return (op == CollectiveOp::AllGather || op == CollectiveOp::ReduceScatter) &&
           communicator.gpusPerNode == 1 && communicator.nodes > 1;
}

/** One step is one chunk, halved while there are few chunks (enqueue.cc). */
Chunking
ChunkingOf(const AlgorithmInputs& in)
{
    constexpr Bytes SMALLEST = Bytes::KiB(64);
    const int64_t wanted = in.call.op == CollectiveOp::AllGather ? 32 : 16;
    Chunking chunking = PipelineChunking(in.protocol, in.settings.simpleBuffer);
    chunking.chunk = Halved(chunking.chunk, SMALLEST, in.call.bytes, wanted * in.channels);
    return chunking;
}

std::vector<PatDistance>
Distances(const AlgorithmInputs& in)
{
    auto distances = PatDistances(in.communicator.Size());
    if (in.call.op == CollectiveOp::ReduceScatter)
    {
        std::reverse(distances.begin(), distances.end());
    }
    return distances;
}

/** The rank that @p from sends to over @p distance. */
uint32_t
PeerOf(const AlgorithmInputs& in, uint32_t from, uint32_t distance)
{
    const uint32_t n = in.communicator.Size();
    return (in.call.op == CollectiveOp::AllGather ? from + distance : from + n - distance) % n;
}

Time
Hop(const AlgorithmInputs& in, const Connection& hop)
{
    const Time table = in.constants.StepLatency(
        Algorithm::Pat, hop.kind, in.protocol, in.communicator.nodes, in.communicator.gpusPerNode);
    const Time step = table * (1 / LATENCY_DIVISOR);
    return std::max(Time(), step - ReferencePropagation(hop.kind)) + in.routing.Latency(hop.route);
}

/** The program of every rank; connection i of a block belongs to the i-th distance. */
Program
ProgramOf(const AlgorithmInputs& in)
{
    const auto n = static_cast<int32_t>(in.communicator.Size());
    const bool gather = in.call.op == CollectiveOp::AllGather;
    std::vector<bool> kept(n);
    Program program;
    uint16_t peer = 0;
    for (const auto& each : Distances(in))
    {
        const auto send = [&](uint32_t message) {
            // At the peer the data are at offset o, here at the other end of that tree edge.
            const uint32_t o = each.offsets[message];
            const uint32_t here = gather ? o - each.distance : o;
            Primitive step{PrimitiveKind::Send, (n - static_cast<int32_t>(here)) % n};
            step.sendTo = peer;
            step.fromKept = kept[here];
            program.primitives.push_back(step);
        };
        const auto receive = [&](uint32_t message) {
            const uint32_t o = each.offsets[message];
            const uint32_t here = gather ? o : o - each.distance;
            Primitive step{gather ? PrimitiveKind::Recv : PrimitiveKind::RecvReduceCopy,
                           (n - static_cast<int32_t>(here)) % n};
            step.recvFrom = peer;
            step.fromKept = !gather && kept[here];
            program.primitives.push_back(step);
            kept[here] = true;
        };
        for (std::size_t i = 0; i < each.offsets.size() + WINDOW; ++i)
        {
            if (i < each.offsets.size())
            {
                send(static_cast<uint32_t>(i));
            }
            if (i + 1 >= WINDOW && i + 1 - WINDOW < each.offsets.size())
            {
                receive(static_cast<uint32_t>(i + 1 - WINDOW));
            }
        }
        ++peer;
    }
    return program;
}

ChannelSchedule
WirePat(const AlgorithmInputs& in, uint32_t channel, const Chunking& chunking)
{
    const uint32_t n = in.communicator.Size();
    ChannelSchedule wired;
    ScheduleWiring wiring(wired);
    wired.programs.push_back(ProgramOf(in));
    for (uint32_t rank = 0; rank < n; ++rank)
    {
        wired.blocks.push_back({rank, rank, 0, {}, {}});
    }
    for (const auto& each : Distances(in))
    {
        for (uint32_t rank = 0; rank < n; ++rank)
        {
            const uint32_t peer = PeerOf(in, rank, each.distance);
            const Connection hop = PathOf(in, {rank, peer, {}}, channel, channel);
            wiring.Join(rank, peer, MakeConnection(hop, chunking, Hop(in, hop)));
        }
    }
    return wired;
}

CallDescription
DescribePat(const AlgorithmInputs& in)
{
    const Chunking chunking = ChunkingOf(in);
    CallDescription description;
    description.call = EmptySchedule(in, Algorithm::Pat);
    const PrimitiveKind receive =
        in.call.op == CollectiveOp::AllGather ? PrimitiveKind::Recv : PrimitiveKind::RecvReduceCopy;
    description.call.block.costs[static_cast<std::size_t>(receive)].floor = STEP;
    description.chunk = chunking.chunk;
    description.chunks = in.communicator.Size();
    description.lastChunks = LastChunks::Alike;
    for (uint32_t channel = 0; channel < in.channels; ++channel)
    {
        description.Add(channel, WirePat(in, channel, chunking), in.routing);
    }
    return description;
}

/** The latency of the slowest path over all distances on one channel. */
Time
PathLatency(const AlgorithmInputs& in, const ChannelSchedule& channel)
{
    std::vector<Time> paths(
        in.communicator.Size()); // by rank: latency of the data that it has so far
    for (auto hop = channel.connections.begin(); hop != channel.connections.end();)
    {
        std::vector<Time> next = paths;
        for (uint32_t rank = 0; rank < in.communicator.Size(); ++rank, ++hop)
        {
            next[hop->toBlock] = std::max(next[hop->toBlock], paths[rank] + hop->latency);
        }
        paths = std::move(next);
    }
    return *std::max_element(paths.begin(), paths.end());
}

/**
 * Over each distance a rank sends its k messages one after the other, each for m on the wire, and
 * receives them a hop's latency L later, for NCCL's t = 2.8 us each. The next distance, or pass,
 * begins when the last of them is received:
 *
 *   m + L + (k - 1) max(m, t) + t  =  L + k max(m, t) + min(m, t)
 *
 * The whole call takes the base latency plus the sum over passes and distances; the k of a pass add
 * up to n - 1. Where distances may share links between switches unequally, passes are played.
 */
StreamShape
PatStreams(const AlgorithmInputs& in)
{
    const CallDescription call = DescribePat(in);
    const Bytes payload = DivideUp(in.call.bytes, int64_t{call.chunks} * in.channels);
    const double messages = call.chunks - 1;
    StreamShape shape;
    shape.legs = LegsOf(in, call, ChannelCap(in));
    Time slowest;
    for (const auto& [steps, channels] : call.channels)
    {
        slowest = std::max(slowest, PathLatency(in, steps));
    }
    const auto distances = static_cast<double>(Distances(in).size());
    const auto moving = [&](Time wires) {
        Time passes;
        for (const Loop& loop : LoopsOf(in, call))
        {
            const double part = loop.chunks.front().ToDouble() / payload.ToDouble();
            const Time wire = wires * (part / messages);
            const Time pass =
                slowest + std::max(wire, STEP) * messages + std::min(wire, STEP) * distances;
            passes += pass * loop.repeat;
        }
        return passes;
    };
    const UncontendedRates rates(shape.legs, in.routing);
    const Time wires = rates.SlowestLeg().time;
    shape.levels = rates.CrossesSwitches() ? static_cast<uint32_t>(distances) : 0;
    shape.latency = call.call.startLatency;
    shape.moving = moving(wires);
    shape.movingConcurrent = moving(wires * (1 + wires / shape.moving));
    return shape;
}

} // namespace

const CollectiveAlgorithm PAT_ALGORITHM{
    Algorithm::Pat,
    SupportsPat,
    RingMaxChannels,
    DescribePat,
    PatStreams,
};

} // namespace weir
