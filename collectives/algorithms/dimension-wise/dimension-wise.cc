// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/call-description.h"
#include "collectives/algorithms/dimension-wise/dimension-phases.h"
#include "collectives/algorithms/point-to-point/point-to-point.h"
#include "collectives/algorithms/protocol.h"
#include "collectives/engines/closed-form.h"
#include "collectives/schedule/message-split.h"
#include "collectives/schedule/schedule-wiring.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>

/**
 * @file
 * Collectives that cross the dimensions of a network one after the other, as ASTRA-sim 2.0 composes
 * them (Won et al., ISPASS 2023): hierarchical all-reduce, reduce-scatter, all-gather and
 * all-to-all with an algorithm for each dimension, and a sparse all-reduce (Sparsity). NCCL has
 * none of them. Thread blocks, steps and messages have the costs of NCCL's rings, unless an
 * end-point delay is given.
 *
 * On every channel a rank has a thread block for each dimension, which serves the chunks in the
 * order of the PhasePlan. A message is what one step sends to one peer.
 */
namespace weir
{

namespace
{

/** A call with its grid, and the times of steps along each of its dimensions. */
class DimensionCall
{
  public:
    explicit DimensionCall(const AlgorithmInputs& in)
        : m_in(in),
          m_settings(in.settings.dimensionWise),
          m_grid(GridOf(in.communicator, in.connector.GetCluster(), m_settings))
    {
        for (uint32_t d = 0; d < Dimensions(); ++d)
        {
            m_algorithms.push_back(AlgorithmAlong(m_grid, d, m_settings, in.call.op));
            m_peers.push_back(PeersOf(m_algorithms[d], m_grid.dimensions[d].size));
        }
        CheckSettings();
        for (const GpuId gpu : in.communicator.gpus)
        {
            const std::size_t ports =
                std::max<std::size_t>(1, in.connector.PortsOf(in.communicator, gpu).count);
            m_portGroups = std::lcm(m_portGroups, static_cast<uint32_t>(ports));
        }
        m_portGroups = std::min(m_portGroups, in.channels);
        m_chunk = ChunkOf(DivideUp(in.call.bytes, in.channels));
        m_crossings.resize(Dimensions());
        for (uint32_t d = 0; d < Dimensions(); ++d)
        {
            for (const PhaseStep& step : Steps({PhaseKind::Reduce, d, 0, 1}))
            {
                if (m_crossings[d].count(step.firstPeer) == 0)
                {
                    m_crossings[d][step.firstPeer] = CrossingOf(d, step);
                }
            }
        }
        FindSharedLinks();
    }

    uint32_t Dimensions() const
    {
        return static_cast<uint32_t>(m_grid.dimensions.size());
    }

    const DimensionGrid& Grid() const
    {
        return m_grid;
    }

    uint32_t PeerCount(uint32_t dimension) const
    {
        return static_cast<uint32_t>(m_peers[dimension].size());
    }

    /** Size of a chunk of a channel's share. */
    Bytes ChunkOf(Bytes share) const
    {
        return DivideUp(share, m_settings.chunks);
    }

    std::vector<PhaseStep> Steps(const DimensionPhase& phase) const
    {
        return StepsOf(
            phase, m_algorithms[phase.dimension], m_grid.dimensions[phase.dimension].size);
    }

    /** Bytes of a chunk that a step moves. */
    static Bytes PartOf(Bytes chunk, double divisor)
    {
        return RoundedUp(chunk.ToDouble() / divisor);
    }

    /**
     * Rate at which a GPU adds the bytes received in a reducing phase, if it adds them after
     * arrival.
     */
    std::optional<Rate> AdditionRate() const
    {
        constexpr double ACCESSES = 3; // two reads and a write
        return m_settings.memoryRate ? std::optional(*m_settings.memoryRate / ACCESSES)
                                     : std::nullopt;
    }

    /**
     * Rate at which a GPU selects the elements to send of its part of a channel's sum; nothing if
     * it sends all.
     */
    std::optional<Rate> SelectionRate() const
    {
        return m_settings.sparsity ? std::optional(m_settings.sparsity->selection / m_in.channels)
                                   : std::nullopt;
    }

    /** The chunk's bytes over the part of its sum that a GPU holds when it selects. */
    double SelectionDivisor() const
    {
        return m_grid.dimensions[0].size;
    }

    /** Time for a GPU to select elements of its part of a chunk's sum. */
    Time Selection() const
    {
        const auto rate = SelectionRate();
        return rate ? PartOf(m_chunk, SelectionDivisor()) / *rate : Time();
    }

    /** The point of the @p peer-th peer that @p point sends to along a dimension. */
    uint32_t PeerOf(uint32_t point, uint32_t dimension, uint32_t peer) const
    {
        const uint32_t far = m_peers[dimension][peer];
        if (m_algorithms[dimension] != DimensionAlgorithm::HalvingDoubling)
        {
            return m_grid.Next(point, dimension, far);
        }
        const auto& [size, stride, kind] = m_grid.dimensions[dimension];
        const uint32_t digit = m_grid.DigitOf(point, dimension);
        return point - digit * stride + (digit ^ far) * stride;
    }

    /** Channels of equal number modulo this use the same ports. */
    uint32_t PortGroups() const
    {
        return m_portGroups;
    }

    /** Number of channels of a port group among the first @p channels. */
    uint32_t ChannelsOf(uint32_t portGroup, uint32_t channels) const
    {
        return (channels + m_portGroups - 1 - portGroup) / m_portGroups;
    }

    /** @param portGroup of the channel */
    Connection PathTo(uint32_t point, uint32_t dimension, uint32_t peer, uint32_t portGroup) const
    {
        const Message between{
            m_grid.rankAt[point], m_grid.rankAt[PeerOf(point, dimension, peer)], {}};
        if (AreInOneNode(m_in, between))
        {
            const auto& gpus = m_in.communicator.gpus;
            return m_in.connector.InsideNodeBy(gpus, gpus[between.from], gpus[between.to]);
        }
        return PathOf(m_in, between, portGroup, peer);
    }

    /** From a step's last byte on the wire to its use. */
    Time LatencyOf(const Connection& path, uint32_t dimension, uint32_t peer) const
    {
        if (m_settings.endpointDelay)
        {
            return m_in.routing.Latency(path.route) + *m_settings.endpointDelay;
        }
        const DimensionPhase first{PhaseKind::Reduce, dimension, 0, 1};
        const auto steps = Steps(first);
        const double divisor = steps[std::min<std::size_t>(peer, steps.size() - 1)].divisor;
        return HopLatency(m_in, Algorithm::Ring, path, PartOf(m_chunk, divisor));
    }

    /**
     * Cap of one channel to one peer; a block that sends to several peers concurrently divides its
     * rate.
     */
    Rate CapAlong(uint32_t dimension) const
    {
        const Rate cap = m_settings.endpointDelay ? Rate::Infinite() : ChannelCap(m_in);
        return m_algorithms[dimension] == DimensionAlgorithm::Direct ? cap / PeerCount(dimension)
                                                                     : cap;
    }

    /** Whether a step takes equally long on all ranks, so that Plan holds for each of them. */
    bool IsEven() const
    {
        return std::all_of(m_crossings.begin(), m_crossings.end(), [](const auto& ofDimension) {
            return std::all_of(ofDimension.begin(), ofDimension.end(), [](const auto& each) {
                return each.second.isEven;
            });
        });
    }

    /** Latency before all steps. */
    Time StartLatency() const
    {
        return m_settings.endpointDelay ? Time() : CallLatency(m_in, Algorithm::Ring);
    }

    PhasePlan Plan(bool latencies = true) const
    {
        const auto time = [this, latencies](const DimensionPhase& phase) {
            Time taken;
            for (const PhaseStep& step : Steps(phase))
            {
                const Crossing& crossing = m_crossings[phase.dimension].at(step.firstPeer);
                const Bytes bytes = PartOf(m_chunk, step.divisor);
                taken += Time::Seconds(bytes.ToDouble() * crossing.secondsPerByte) +
                         (latencies ? crossing.latency : Time());
                if (const auto rate = AdditionRate(); rate && phase.kind == PhaseKind::Reduce)
                {
                    taken += bytes * step.peers / *rate;
                }
            }
            return taken;
        };
        const auto busy = [this, &time](const DimensionPhase& phase) {
            double seconds = 0;
            for (const PhaseStep& step : Steps(phase))
            {
                seconds += PartOf(m_chunk, step.divisor).ToDouble() * step.peers *
                           m_sharedSeconds[phase.dimension];
            }
            return seconds / time(phase).ToSeconds();
        };
        return PlanPhases(m_in.call.op,
                          m_grid,
                          m_settings,
                          {time, busy, m_groups, latencies ? Selection() : Time()});
    }

    /** The traffic of the whole call as one leg; a link's multiplicity is its load. */
    StreamLeg LegOf(const PhasePlan& plan) const
    {
        std::map<std::pair<uint32_t, uint32_t>, double> bytes; // by dimension and first peer
        std::map<std::pair<uint32_t, uint32_t>, uint32_t> peers;
        double max = 0;
        for (const auto& scheduled : plan.phases)
        {
            for (const PhaseStep& step : Steps(scheduled.phase))
            {
                const std::pair key{scheduled.phase.dimension, step.firstPeer};
                bytes[key] += PartOf(m_chunk, step.divisor).ToDouble() * m_in.channels;
                peers[key] = step.peers;
                max = std::max(max, bytes[key]);
            }
        }
        constexpr double UNITS = 1 << 12; // of the busiest hop; loads are multiples of this unit
        const Bytes unit = RoundedUp(std::max(1.0, max / UNITS));
        RouteSum sum;
        double units = 0;
        double hops = 0; // of each channel
        for (const auto& [key, moved] : bytes)
        {
            const double carried = moved; // a lambda may not capture a structured binding
            ForPaths(key.first, key.second, peers[key], [&](const PathOfChannels& path) {
                const double part = path.channels / static_cast<double>(m_in.channels);
                const auto times =
                    static_cast<uint32_t>(std::max(1.0, part * carried / unit.ToDouble()) + 0.5);
                sum.Add(path.connection.route, times);
                units += times;
                hops += path.channels;
            });
        }
        return {m_in.routing.AddSum(sum), unit, Rate::Infinite(), hops / units};
    }

  private:
    /** A path to a peer, and the number of channels of one port group that use it. */
    struct PathOfChannels
    {
        Connection connection;
        uint32_t peer;
        uint32_t channels;
    };

    /**
     * Calls @p use for all points, their @p peers peers from @p firstPeer on along a dimension, and
     * all port groups.
     */
    template <typename Use>
    void ForPaths(uint32_t dimension, uint32_t firstPeer, uint32_t peers, const Use& use) const
    {
        for (uint32_t point = 0; point < m_grid.rankAt.size(); ++point)
        {
            for (uint32_t peer = firstPeer; peer < firstPeer + peers; ++peer)
            {
                for (uint32_t group = 0; group < m_portGroups; ++group)
                {
                    use(PathOfChannels{PathTo(point, dimension, peer, group),
                                       peer,
                                       ChannelsOf(group, m_in.channels)});
                }
            }
        }
    }

    /**
     * By link: the number of channels, or of parts of striped ones, that rank 0's point sends over
     * it along a dimension.
     */
    std::map<LinkId, double> ChannelsByLink(uint32_t dimension) const
    {
        std::map<LinkId, double> channels;
        for (uint32_t group = 0; group < m_portGroups; ++group)
        {
            const RouteId route = PathTo(0, dimension, 0, group).route;
            const std::size_t stripes = m_in.routing.StripeCount(route);
            for (std::size_t i = 0; i < stripes; ++i)
            {
                for (const auto& each : m_in.routing.Links(m_in.routing.Stripe(route, i)))
                {
                    channels[each.link] += static_cast<double>(ChannelsOf(group, m_in.channels)) /
                                           static_cast<double>(stripes);
                }
            }
        }
        return channels;
    }

    /** Finds groups of dimensions that share a link of each rank, and their loads on it. */
    void FindSharedLinks()
    {
        m_sharedSeconds.assign(Dimensions(), 0);
        std::vector<std::map<LinkId, double>> channels;
        for (uint32_t d = 0; d < Dimensions(); ++d)
        {
            m_groups.push_back(d);
            channels.push_back(ChannelsByLink(d));
            for (uint32_t lower = 0; lower < d; ++lower)
            {
                for (const auto& [link, ofLower] : channels[lower])
                {
                    const auto shared = channels[d].find(link);
                    if (shared == channels[d].end())
                    {
                        continue;
                    }
                    const double rate =
                        m_in.routing.GetTopology().GetLink(link).rate.ToBytesPerSecond();
                    m_groups[d] = m_groups[lower];
                    m_sharedSeconds[d] = std::max(m_sharedSeconds[d], shared->second / rate);
                    m_sharedSeconds[lower] = std::max(m_sharedSeconds[lower], ofLower / rate);
                }
            }
        }
    }

    void CheckSettings() const
    {
        const CollectiveOp op = m_in.call.op;
        if (m_settings.sparsity && (op != CollectiveOp::AllReduce || Dimensions() < 2))
        {
            throw std::invalid_argument(std::string("found a sparse ") + ToString(op) + " over " +
                                        std::to_string(Dimensions()) +
                                        " dimensions, expected an all-reduce over two or more");
        }
        const auto& dispatch = m_settings.dispatch;
        if (!dispatch)
        {
            return;
        }
        if (op != CollectiveOp::AllToAll ||
            std::count(m_algorithms.begin(), m_algorithms.end(), DimensionAlgorithm::Direct) !=
                static_cast<std::ptrdiff_t>(m_algorithms.size()))
        {
            throw std::invalid_argument(
                std::string("found a dispatch with ") + ToString(op) +
                ", expected all-to-all with the direct algorithm in each dimension");
        }
        if (dispatch->experts % dispatch->groups != 0 ||
            dispatch->groupsOfToken > dispatch->groups ||
            uint64_t{dispatch->expertsOfToken} * dispatch->groups >
                uint64_t{dispatch->experts} * dispatch->groupsOfToken)
        {
            throw std::invalid_argument(
                "found " + std::to_string(dispatch->expertsOfToken) + " of " +
                std::to_string(dispatch->experts) + " experts in " +
                std::to_string(dispatch->groupsOfToken) + " of " +
                std::to_string(dispatch->groups) +
                " groups, expected groups of equal size with enough experts for a token");
        }
        const uint32_t ranks = m_in.communicator.Size();
        if (dispatch->experts % ranks != 0)
        {
            throw std::invalid_argument("found a dispatch to " + std::to_string(dispatch->experts) +
                                        " experts, expected a multiple of the " +
                                        std::to_string(ranks) + " ranks");
        }
    }

    /** The time of a step that starts at some peer and that all ranks take concurrently. */
    struct Crossing
    {
        double secondsPerByte{0}; //!< per byte that one channel sends to one peer
        Time latency;             //!< of the slowest hop
        bool isEven{true};        //!< whether it is the same for all ranks
    };

    Crossing CrossingOf(uint32_t dimension, const PhaseStep& step) const
    {
        constexpr Bytes SAMPLE = Bytes::GiB(1); // from one channel to one peer
        Crossing crossing;
        std::vector<StreamLeg> legs;
        ForPaths(dimension, step.firstPeer, step.peers, [&](const PathOfChannels& path) {
            legs.push_back({path.connection.route,
                            SAMPLE * path.channels,
                            CapAlong(dimension) * path.channels,
                            static_cast<double>(path.channels)});
            crossing.latency =
                std::max(crossing.latency, LatencyOf(path.connection, dimension, path.peer));
        });
        const UncontendedRates rates(legs, m_in.routing);
        const Time slowest = rates.SlowestLeg().time;
        constexpr double ROUNDING = 1e-3;
        crossing.isEven = std::all_of(legs.begin(), legs.end(), [&](const StreamLeg& leg) {
            return rates.TimeOf(leg) > slowest * (1 - ROUNDING);
        });
        crossing.secondsPerByte = slowest.ToSeconds() / SAMPLE.ToDouble();
        return crossing;
    }

    const AlgorithmInputs& m_in;
    const DimensionWiseSettings& m_settings;
    DimensionGrid m_grid;
    std::vector<DimensionAlgorithm> m_algorithms;          //!< by dimension
    std::vector<std::vector<uint32_t>> m_peers;            //!< similarly
    std::vector<std::map<uint32_t, Crossing>> m_crossings; //!< similarly, by first peer
    std::vector<uint32_t> m_groups;      //!< by dimension; equal where dimensions share a link
    std::vector<double> m_sharedSeconds; //!< by dimension: time of that link per byte of a channel
    Bytes m_chunk;                       //!< size of a channel's chunk
    uint32_t m_portGroups{1};
};

/** Writes the schedule of channels that use the same ports. */
class DimensionWriter
{
  public:
    DimensionWriter(const AlgorithmInputs& in,
                    const DimensionCall& call,
                    const PhasePlan& plan,
                    uint32_t portGroup)
        : m_in(in),
          m_call(call),
          m_plan(plan),
          m_portGroup(portGroup)
    {
    }

    /** To be called once. @param share of the channel */
    ChannelSchedule Write(Bytes share)
    {
        ScheduleWiring wiring(m_channel);
        const auto points = static_cast<uint32_t>(m_call.Grid().rankAt.size());
        m_loop.chunks.assign(1, Bytes());
        m_chunk = m_call.ChunkOf(share);
        for (uint32_t point = 0; point < points; ++point)
        {
            for (uint32_t d = 0; d < m_call.Dimensions(); ++d)
            {
                m_channel.blocks.push_back({m_call.Grid().rankAt[point], 0, d, {}, {}});
            }
        }
        for (uint32_t d = 0; d < m_call.Dimensions(); ++d)
        {
            for (uint32_t peer = 0; peer < m_call.PeerCount(d); ++peer)
            {
                for (uint32_t point = 0; point < points; ++point)
                {
                    Join(wiring, point, d, peer);
                }
            }
        }
        JoinDimensions(wiring, points);
        m_adders.resize(m_call.Dimensions());
        for (uint32_t block = 0; m_call.AdditionRate() && block < m_channel.blocks.size(); ++block)
        {
            m_adders[block % m_call.Dimensions()] = wiring.Join(block, block, Adder());
        }
        for (uint32_t d = 0; d < m_call.Dimensions(); ++d)
        {
            m_channel.programs.push_back(ProgramOf(d));
        }
        m_channel.loops.push_back(std::move(m_loop));
        return std::move(m_channel);
    }

  private:
    static constexpr int32_t TOKEN = 0; //!< the chunk of zero bytes

    uint32_t BlockOf(uint32_t point, uint32_t dimension) const
    {
        return point * m_call.Dimensions() + dimension;
    }

    void Join(ScheduleWiring& wiring, uint32_t point, uint32_t dimension, uint32_t peer)
    {
        const Connection path = m_call.PathTo(point, dimension, peer, m_portGroup);
        ScheduleConnection pipe = MakeConnection(
            path, PipelineChunking(m_in.protocol), m_call.LatencyOf(path, dimension, peer));
        pipe.cap = m_call.CapAlong(dimension);
        wiring.Join(BlockOf(point, dimension),
                    BlockOf(m_call.PeerOf(point, dimension, peer), dimension),
                    pipe);
    }

    /** A block's connection to itself for the bytes that it adds. */
    ScheduleConnection Adder() const
    {
        ScheduleConnection pipe = WithinDevice(m_in);
        pipe.cap = *m_call.AdditionRate();
        return pipe;
    }

    /** Joins the blocks of dimensions that hand chunks over with those that they hand them to. */
    void JoinDimensions(ScheduleWiring& wiring, uint32_t points)
    {
        for (const auto& scheduled : m_plan.phases)
        {
            const std::pair key{scheduled.phase.dimension, scheduled.after};
            if (key.second != PhasePlan::NONE && key.second != key.first)
            {
                m_handovers[key];
            }
        }
        for (uint32_t point = 0; point < points; ++point)
        {
            for (auto& [key, ends] : m_handovers)
            {
                ScheduleConnection pipe = WithinDevice(m_in);
                pipe.slots = 2 * static_cast<uint32_t>(m_plan.phases.size());
                if (const auto rate = m_call.SelectionRate(); rate && key.first == 0)
                {
                    pipe.cap = *rate; // it selects from one chunk after the other
                }
                ends = wiring.Join(BlockOf(point, key.first), BlockOf(point, key.second), pipe);
            }
        }
    }

    /**
     * The chunk that a dimension's blocks pass to the next ones: a signal of zero bytes, or
     * after the first dimension of a sparse all-reduce the bytes to select from.
     */
    int32_t HandedOver(uint32_t dimension)
    {
        return m_call.SelectionRate() && dimension == 0 ? ClassOf(m_call.SelectionDivisor())
                                                        : TOKEN;
    }

    /** The chunk of the loop for the @p divisor-th part of a chunk. */
    int32_t ClassOf(double divisor)
    {
        const auto [it, isNew] =
            m_classes.emplace(divisor, static_cast<int32_t>(m_loop.chunks.size()));
        if (isNew)
        {
            m_loop.chunks.push_back(DimensionCall::PartOf(m_chunk, divisor));
        }
        return it->second;
    }

    static void Add(
        Program& program, PrimitiveKind kind, int32_t chunk, uint32_t peer, uint32_t recvs = 1)
    {
        Primitive step{kind, chunk, static_cast<uint16_t>(peer), static_cast<uint16_t>(peer)};
        step.recvs = static_cast<uint16_t>(recvs);
        program.primitives.push_back(step);
    }

    /** The program of every rank's block of a dimension. */
    Program ProgramOf(uint32_t dimension)
    {
        Program program;
        for (const auto& scheduled : m_plan.phases)
        {
            if (scheduled.phase.dimension != dimension)
            {
                continue;
            }
            if (scheduled.before != PhasePlan::NONE && scheduled.before != dimension)
            {
                Add(program,
                    PrimitiveKind::Recv,
                    HandedOver(scheduled.before),
                    m_handovers.at({scheduled.before, dimension}).second);
            }
            AddSteps(program, scheduled.phase);
            if (scheduled.after != PhasePlan::NONE && scheduled.after != dimension)
            {
                Add(program,
                    PrimitiveKind::Send,
                    HandedOver(dimension),
                    m_handovers.at({dimension, scheduled.after}).first);
            }
        }
        return program;
    }

    void AddSteps(Program& program, const DimensionPhase& phase)
    {
        const PrimitiveKind keep =
            phase.kind == PhaseKind::Reduce ? PrimitiveKind::RecvReduceCopy : PrimitiveKind::Recv;
        const PrimitiveKind relay = phase.kind == PhaseKind::Reduce ? PrimitiveKind::RecvReduceSend
                                                                    : PrimitiveKind::RecvCopySend;
        const bool adds = m_call.AdditionRate() && phase.kind == PhaseKind::Reduce;
        const auto [toAdder, fromAdder] = m_adders[phase.dimension];
        const auto steps = m_call.Steps(phase);
        for (std::size_t i = 0; i < steps.size(); ++i)
        {
            const PhaseStep& step = steps[i];
            const int32_t chunk = ClassOf(step.divisor);
            const bool sendsOn = i > 0 && steps[i - 1].firstPeer == step.firstPeer; // around a ring
            if (sendsOn && !adds)
            {
                program.primitives.back().kind = relay;
            }
            for (uint32_t peer = 0; peer < step.peers && (!sendsOn || adds); ++peer)
            {
                Add(program, PrimitiveKind::Send, chunk, step.firstPeer + peer);
            }
            Add(program, keep, chunk, step.firstPeer, step.peers);
            for (uint32_t peer = 0; peer < step.peers && adds; ++peer)
            {
                Add(program, PrimitiveKind::Send, chunk, toAdder);
                Add(program, PrimitiveKind::Recv, chunk, fromAdder);
            }
        }
    }

    const AlgorithmInputs& m_in;
    const DimensionCall& m_call;
    const PhasePlan& m_plan;
    uint32_t m_portGroup;
    ChannelSchedule m_channel;
    Loop m_loop;
    Bytes m_chunk;
    std::map<double, int32_t> m_classes; //!< by divisor
    std::map<std::pair<uint32_t, uint32_t>, std::pair<uint16_t, uint16_t>>
        m_handovers; //!< by both dimensions: index of the connection in the lists of both blocks
    std::vector<std::pair<uint16_t, uint16_t>> m_adders; //!< by dimension, as above
};

bool
Supports(CollectiveOp op, const Communicator& communicator)
{
    return op == CollectiveOp::AllReduce || op == CollectiveOp::AllGather ||
           op == CollectiveOp::ReduceScatter || op == CollectiveOp::AllToAll;
}

/**
 * Simple, on all channels; on one channel per port where an end-point delay replaces NCCL's costs.
 */
void
Choose(AlgorithmInputs& in)
{
    const auto& overrides = in.call.overrides;
    if (overrides.protocol.value_or(Protocol::Simple) != Protocol::Simple)
    {
        throw std::invalid_argument(std::string("found dimension-wise with protocol ") +
                                    ToString(*overrides.protocol) + ", expected simple");
    }
    if (in.traffic)
    {
        throw std::invalid_argument(
            "found dimension-wise all-to-all with unequal message sizes, expected equal ones");
    }
    in.protocol = Protocol::Simple;
    const std::size_t ports =
        in.connector.PortsOf(in.communicator, in.communicator.gpus.front()).count;
    in.channels = overrides.channels.value_or(in.settings.dimensionWise.endpointDelay
                                                  ? std::max<uint32_t>(1, ports)
                                                  : RingMaxChannels(in));
}

StreamShape
Streams(const AlgorithmInputs& in)
{
    const DimensionCall call(in);
    StreamShape shape;
    const PhasePlan plan = call.Plan();
    // Without latencies chunks arrive in another order, which may take longer.
    shape.moving = std::min(call.Plan(false).end, plan.end);
    shape.latency = call.StartLatency() + plan.end - shape.moving;
    shape.legs.push_back(call.LegOf(plan));
    shape.blocks = in.channels * call.Dimensions();
    shape.levels =
        call.IsEven() ? 0 : 1; // ranks with slow links delay few others, so the call is played
    return shape;
}

CallDescription
Describe(const AlgorithmInputs& in)
{
    const DimensionCall call(in);
    const PhasePlan plan = call.Plan();
    CallDescription description;
    description.call = EmptySchedule(in, Algorithm::DimensionWise);
    description.call.startLatency = call.StartLatency();
    description.call.channelCap = Rate::Infinite(); // each connection has its own cap
    for (const auto& share : SplitOverChannels(in.call.bytes, in.channels))
    {
        for (uint32_t group = 0; group < call.PortGroups(); ++group)
        {
            std::vector<uint32_t> channels;
            for (uint32_t i = 0; i < share.channels; ++i)
            {
                const uint32_t channel = share.firstChannel + i;
                if (channel % call.PortGroups() == group)
                {
                    channels.push_back(channel);
                }
            }
            if (!channels.empty())
            {
                description.channels.push_back(
                    {DimensionWriter(in, call, plan, group).Write(share.bytes), channels});
            }
        }
    }
    return description;
}

} // namespace

const CollectiveAlgorithm DIMENSION_WISE_ALGORITHM{
    Algorithm::DimensionWise,
    Supports,
    RingMaxChannels,
    Describe,
    Streams,
    ChannelGraph::None,
    true,
    Choose,
};

} // namespace weir
