// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/call-description.h"
#include "collectives/algorithms/pat/pat-order.h"
#include "collectives/algorithms/protocol.h"
#include "collectives/algorithms/ring/ring-channels.h"
#include "collectives/engines/closed-form.h"
#include "collectives/schedule/message-split.h"
#include "collectives/schedule/schedule-wiring.h"
#include "fabric/routing/routing.h"

#include <algorithm>

/**
 * @file
 * PAT all-gather and reduce-scatter (NCCL's parallel aggregated trees, all_gather.h and
 * reduce_scatter.h from 2.23, Simple only, one GPU per node): every rank's part takes its own
 * binomial tree, so that there are log2 n steps' latencies instead of a ring's n - 1, and the many
 * messages go over the short distances.
 */
namespace weir
{

namespace
{

/** NCCL's own estimate (tuning.cc): base + log2 N x h / 3.5 + n x 2.8 us. */
constexpr double LATENCY_DIVISOR = 3.5;
constexpr Time STEP = Time::Nanoseconds(2800);

/** Messages that a rank sends before it receives: as many as a connection has slots. */
constexpr std::size_t WINDOW = NCCL_STEPS;

bool
SupportsPat(CollectiveOp op, const Communicator& communicator)
{
    return (op == CollectiveOp::AllGather || op == CollectiveOp::ReduceScatter) &&
           communicator.gpusPerNode == 1 && communicator.nodes > 1;
}

/** Half a step's chunk after the other while there are few of them (enqueue.cc). */
Chunking
ChunkingOf(const AlgorithmInputs& in)
{
    constexpr Bytes SMALLEST = Bytes::KiB(64);
    const int64_t wanted = in.call.op == CollectiveOp::AllGather ? 32 : 16;
    Chunking chunking = PipelineChunking(in.protocol, in.settings.simpleBuffer);
    while (chunking.chunk > SMALLEST && chunking.chunk * in.channels * wanted > in.call.bytes)
    {
        chunking.chunk = Bytes(chunking.chunk.Count() / 2);
    }
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

/** Whom rank @p from sends to over @p distance. */
uint32_t
PeerOf(const AlgorithmInputs& in, uint32_t from, uint32_t distance)
{
    const uint32_t n = in.communicator.Size();
    return (in.call.op == CollectiveOp::AllGather ? from + distance : from + n - distance) % n;
}

Connection
Between(const AlgorithmInputs& in, uint32_t from, uint32_t to, uint32_t channel)
{
    const GpuId sender = in.communicator.gpus[from];
    const GpuId receiver = in.communicator.gpus[to];
    const auto ports = in.connector.PortsForSendRecv(sender, receiver, channel);
    const uint32_t queuePair = in.call.communicator.Index() * in.constants.MaxChannels() + channel;
    return in.connector.BetweenNodes(sender, receiver, ports, queuePair);
}

Time
Hop(const AlgorithmInputs& in, const Connection& hop)
{
    const Time table = in.constants.StepLatency(
        Algorithm::Pat, hop.kind, in.protocol, in.communicator.nodes, in.communicator.gpusPerNode);
    const Time step = table * (1 / LATENCY_DIVISOR);
    return std::max(Time(), step - ReferencePropagation(hop.kind)) + in.routing.Latency(hop.route);
}

/** The program of every rank; connection i of a block is that of the i-th distance. */
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
            // To the peer the data is at offset o, here at the other end of that path.
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
            const Connection hop = Between(in, rank, peer, channel);
            wiring.Join(rank, peer, MakeConnection(rank, peer, hop, chunking, Hop(in, hop)));
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
    for (uint32_t channel = 0; channel < in.channels; ++channel)
    {
        description.Add(channel, WirePat(in, channel, chunking), in.routing);
    }
    return description;
}

/** What one channel loads, and the sum over its distances of the slowest hop. */
struct ChannelLoad
{
    RouteId route;
    Time latency;
};

ChannelLoad
LoadOf(const AlgorithmInputs& in, const ChannelSchedule& channel)
{
    RouteSum sum;
    ChannelLoad load;
    auto hop = channel.connections.begin();
    for (const auto& each : Distances(in))
    {
        Time slowest;
        for (uint32_t rank = 0; rank < in.communicator.Size(); ++rank, ++hop)
        {
            slowest = std::max(slowest, hop->latency);
            sum.Add(hop->connection.route, static_cast<uint32_t>(each.offsets.size()));
        }
        load.latency += slowest;
    }
    load.route = in.routing.AddSum(sum);
    return load;
}

/**
 * Every pass of the outer loop takes, for every distance, its messages one after the other and one
 * hop's latency; a message takes its time on the wire and at least NCCL's 2.8 us:
 *
 *   time = base + passes x (sum of hops) + max(steps x 2.8 us, bytes / rate)
 *
 * with steps = passes x (n - 1) less the last, which nothing waits for.
 */
StreamShape
PatStreams(const AlgorithmInputs& in)
{
    const CallDescription call = DescribePat(in);
    const Bytes payload = DivideUp(in.call.bytes, int64_t{call.chunks} * in.channels);
    const Bytes chunk = std::min(call.chunk, payload);
    const int64_t passes = DivideUp(payload, chunk.Count()).Count();
    StreamShape shape;
    Time slowest;
    for (const auto& [steps, channels] : call.channels)
    {
        const ChannelLoad load = LoadOf(in, steps);
        slowest = std::max(slowest, load.latency);
        for (std::size_t i = 0; i < channels.size(); ++i)
        {
            AddLeg(shape.legs,
                   {load.route, WireBytes(in.protocol, payload), ChannelCap(in)},
                   in.routing);
        }
    }
    const Time steps = STEP * (static_cast<double>(passes) * (call.chunks - 1) - 1);
    const Time wires = AloneTime(shape.legs, in.routing);
    shape.latency = call.call.startLatency + slowest * static_cast<double>(passes) +
                    std::max(Time(), steps - wires);
    return shape;
}

} // namespace

const CollectiveAlgorithm PAT_ALGORITHM{
    Algorithm::Pat,
    SupportsPat,
    RingMaxChannels,
    DescribePat,
    ChannelGraph::None,
    nullptr,
    false,
    PatStreams,
};

} // namespace weir
