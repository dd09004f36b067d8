// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/pat/pat-order.h"
#include "collectives/algorithms/protocol.h"
#include "collectives/algorithms/ring/ring-channels.h"
#include "collectives/engines/closed-form.h"
#include "collectives/schedule/message-split.h"
#include "fabric/routing/routing.h"

#include <algorithm>
#include <map>

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
Supports(CollectiveOp op, const Communicator& communicator)
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

/** What one channel loads, and the sum over its distances of the slowest hop. */
struct ChannelLoad
{
    RouteId route;
    Time latency;
};

ChannelLoad
LoadOf(const AlgorithmInputs& in, uint32_t channel)
{
    RouteSum sum;
    ChannelLoad load;
    for (const auto& each : PatDistances(in.communicator.Size()))
    {
        Time slowest;
        for (uint32_t rank = 0; rank < in.communicator.Size(); ++rank)
        {
            const Connection hop = Between(in, rank, PeerOf(in, rank, each.distance), channel);
            slowest = std::max(slowest, Hop(in, hop));
            sum.Add(hop.route, static_cast<uint32_t>(each.offsets.size()));
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
Streams(const AlgorithmInputs& in)
{
    const uint32_t n = in.communicator.Size();
    const Bytes payload = DivideUp(in.call.bytes, static_cast<int64_t>(n) * in.channels);
    const Bytes chunk = std::min(ChunkingOf(in).chunk, payload);
    const int64_t passes = DivideUp(payload, chunk.Count()).Count();
    StreamShape shape;
    Time slowest;
    for (uint32_t c = 0; c < in.channels; ++c)
    {
        const ChannelLoad load = LoadOf(in, c);
        slowest = std::max(slowest, load.latency);
        AddLeg(in, shape.legs, load.route, WireBytes(in.protocol, payload), ChannelCap(in));
    }
    const Time steps = STEP * (static_cast<double>(passes) * (n - 1) - 1);
    const Time wires = AloneTime(shape.legs, in.routing);
    shape.latency = in.constants.BaseLatency(Algorithm::Pat, in.protocol) +
                    slowest * static_cast<double>(passes) + std::max(Time(), steps - wires);
    return shape;
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
BuildChannel(const AlgorithmInputs& in, uint32_t channel, const Chunking& chunking)
{
    const uint32_t n = in.communicator.Size();
    ChannelSchedule built;
    built.programs.push_back(ProgramOf(in));
    for (uint32_t rank = 0; rank < n; ++rank)
    {
        built.blocks.push_back({rank, rank, 0, {}, {}});
    }
    for (const auto& each : Distances(in))
    {
        for (uint32_t rank = 0; rank < n; ++rank)
        {
            const uint32_t peer = PeerOf(in, rank, each.distance);
            const Connection hop = Between(in, rank, peer, channel);
            const auto index = static_cast<uint32_t>(built.connections.size());
            built.connections.push_back(MakeConnection(rank, peer, hop, chunking, Hop(in, hop)));
            built.blocks[rank].send.push_back(index);
            built.blocks[peer].recv.push_back(index);
        }
    }
    return built;
}

Schedule
BuildSchedule(const AlgorithmInputs& in)
{
    const Chunking chunking = ChunkingOf(in);
    Schedule schedule = EmptySchedule(in, Algorithm::Pat);
    schedule.startLatency = in.constants.BaseLatency(Algorithm::Pat, in.protocol);
    const PrimitiveKind receive =
        in.call.op == CollectiveOp::AllGather ? PrimitiveKind::Recv : PrimitiveKind::RecvReduceCopy;
    schedule.block = BlockTimes();
    schedule.block.costs[static_cast<std::size_t>(receive)].floor = STEP;
    for (const auto& share : SplitOverChannels(in.call.bytes, in.channels))
    {
        for (uint32_t c = share.firstChannel; c < share.firstChannel + share.channels; ++c)
        {
            ChannelSchedule channel = BuildChannel(in, c, chunking);
            channel.loops = SplitIntoLoops(share.bytes, chunking.chunk, in.communicator.Size(), 1);
            AddChannel(schedule, std::move(channel), in.routing);
        }
    }
    return schedule;
}

} // namespace

const CollectiveAlgorithm PAT_ALGORITHM{
    Algorithm::Pat,
    Supports,
    RingMaxChannels,
    nullptr,
    ChannelGraph::None,
    nullptr,
    false,
    Streams,
    BuildSchedule,
};

} // namespace weir
