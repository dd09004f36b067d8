// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/call-description.h"

#include "collectives/engines/closed-form.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace weir
{

namespace
{

/** The lowest rate at which a block accepts the next slice, for any kind of primitive. */
Rate
BlockRate(const BlockTimes& times)
{
    return std::min_element(times.costs.begin(),
                            times.costs.end(),
                            [](const auto& a, const auto& b) { return a.rate < b.rate; })
        ->rate;
}

/**
 * Upper bound of the rate of back-to-back slices of @p slice bytes over a sub-channel: a connection
 * has at most as many slices in flight as slots, from their first byte on the wire until their
 * receiver's block is done with them. Infinite if all of @p slices have slots.
 */
Rate
WindowRate(const ChannelSchedule& channel,
           const SubChannel& subChannel,
           Bytes slice,
           uint64_t slices,
           Rate rate)
{
    Rate min = Rate::Infinite();
    for (const SubChannel::Hop& hop : subChannel.hops)
    {
        const ScheduleConnection& each = channel.connections[hop.connection];
        if (each.slots < slices && each.latency > Time())
        {
            const Time cycle = each.latency + slice / rate;
            min = std::min(min,
                           Rate::BytesPerSecond(slice.ToDouble() * each.slots / cycle.ToSeconds()));
        }
    }
    return min;
}

double
MaxWireFactor(const ChannelSchedule& channel, const SubChannel& subChannel)
{
    double max = 0;
    for (const SubChannel::Hop& hop : subChannel.hops)
    {
        max = std::max(max, channel.connections[hop.connection].wireFactor);
    }
    return max;
}

RouteId
RouteOver(const ChannelSchedule& channel, const SubChannel::Hop& hop, Routing& routing)
{
    RouteSum sum;
    sum.Add(channel.connections[hop.connection].connection.route, hop.uses);
    return routing.AddSum(sum);
}

/** The hops that a sub-channel's slices cross, still without sizes. */
Pipeline
StagesOf(const ChannelSchedule& channel, const SubChannel& subChannel, Routing& routing)
{
    Pipeline pipeline;
    pipeline.stages.resize(subChannel.path.size());
    for (const SubChannel::Hop& hop : subChannel.hops)
    {
        pipeline.stages[hop.stage].push_back(RouteOver(channel, hop, routing));
    }
    for (const uint32_t hop : subChannel.path)
    {
        pipeline.path.push_back(RouteOver(channel, subChannel.hops[hop], routing));
        pipeline.latencies.push_back(channel.connections[subChannel.hops[hop].connection].latency);
    }
    return pipeline;
}

/** Whether blocks of the same ranks run the same on two channels, over the same links. */
bool
RunTheSame(const ChannelSchedule& a, const ChannelSchedule& b, const Routing& routing)
{
    const auto areAlike = [](const auto& some, const auto& others, const auto& isAlike) {
        return std::equal(some.begin(), some.end(), others.begin(), others.end(), isAlike);
    };
    return areAlike(a.blocks,
                    b.blocks,
                    [](const ThreadBlock& x, const ThreadBlock& y) {
                        return x.rank == y.rank && x.program == y.program;
                    }) &&
           areAlike(a.connections,
                    b.connections,
                    [&](const ScheduleConnection& x, const ScheduleConnection& y) {
                        return x.fromBlock == y.fromBlock && x.toBlock == y.toBlock &&
                               routing.HaveSameLinks(x.connection.route, y.connection.route);
                    }) &&
           a.loops == b.loops && a.programs == b.programs;
}

/** NCCL's outer loop over a channel's share of the message. */
std::vector<Loop>
LoopsOver(Bytes share, Protocol protocol, const CallDescription& description)
{
    std::vector<Loop> loops = SplitIntoLoops(share,
                                             description.chunk,
                                             description.chunks,
                                             std::max(description.slices, 1U),
                                             description.lastChunks);
    for (Loop& loop : loops)
    {
        const Bytes chunk = loop.chunks.front();
        loop.slices = description.slices == 0 ? PassesOf(protocol, chunk) : loop.slices;
        loop.slice = description.wholePasses ? PassOf(protocol, chunk) : Bytes();
        if (!description.mergedChunks.empty())
        {
            loop.chunks.clear();
            for (const uint32_t count : description.mergedChunks)
            {
                loop.chunks.push_back(chunk * count);
            }
        }
    }
    return loops;
}

/**
 * Adds a pipeline, or merges it with one over the same hops. A tree and its mirror image have the
 * same links in total, and so one leg, but use them at different times.
 */
void
AddPipeline(std::vector<Pipeline>& pipelines, Pipeline pipeline)
{
    for (Pipeline& each : pipelines)
    {
        if (each.path == pipeline.path && each.stages == pipeline.stages)
        {
            each.weight += pipeline.weight;
            return;
        }
    }
    pipelines.push_back(std::move(pipeline));
}

} // namespace

void
CallDescription::Add(uint32_t channel, ChannelSchedule steps, const Routing& routing)
{
    for (Channel& each : channels)
    {
        if (RunTheSame(each.steps, steps, routing))
        {
            each.channels.push_back(channel);
            return;
        }
    }
    channels.push_back({std::move(steps), {channel}});
}

void
CallDescription::AddAll(uint32_t count, ChannelSchedule steps)
{
    channels.push_back({std::move(steps), std::vector<uint32_t>(count)});
    std::iota(channels.back().channels.begin(), channels.back().channels.end(), 0);
}

uint32_t
CallDescription::ChannelCount() const
{
    std::size_t count = 0;
    for (const Channel& each : channels)
    {
        count += each.channels.size();
    }
    return static_cast<uint32_t>(count);
}

Schedule
EmptySchedule(const AlgorithmInputs& inputs, Algorithm algorithm)
{
    Schedule schedule;
    schedule.op = inputs.call.op;
    schedule.algorithm = algorithm;
    schedule.protocol = inputs.protocol;
    schedule.startLatency = CallLatency(inputs, algorithm);
    schedule.channelCap = ChannelCap(inputs);
    return schedule;
}

ScheduleConnection
MakeConnection(const Connection& hop, const Chunking& chunking, Time latency)
{
    const uint32_t buffers = hop.kind == ConnectionKind::Network ? 2 : 1;
    return {{buffers * chunking.slots, latency}, 0, 0, hop};
}

ScheduleConnection
WithinDevice(const AlgorithmInputs& inputs)
{
    ScheduleConnection pipe;
    pipe.connection.route = inputs.routing.Nowhere();
    return pipe;
}

std::vector<Loop>
LoopsOf(const AlgorithmInputs& inputs, const CallDescription& description)
{
    const Bytes share = SplitOverChannels(inputs.call.bytes, inputs.channels).front().bytes;
    return LoopsOver(share, inputs.protocol, description);
}

Schedule
ScheduleOf(const AlgorithmInputs& inputs, CallDescription description)
{
    Schedule schedule = std::move(description.call);
    for (auto& [steps, channels] : description.channels)
    {
        if (!steps.loops.empty())
        {
            const auto copies = static_cast<uint32_t>(channels.size());
            schedule.channels.push_back({std::move(steps), copies});
        }
    }
    if (!schedule.channels.empty())
    {
        return schedule;
    }
    for (const auto& share : SplitOverChannels(inputs.call.bytes, description.ChannelCount()))
    {
        for (const auto& alike : description.channels)
        {
            const auto copies = static_cast<uint32_t>(
                std::count_if(alike.channels.begin(), alike.channels.end(), [&](uint32_t channel) {
                    return channel >= share.firstChannel &&
                           channel < share.firstChannel + share.channels;
                }));
            if (copies == 0)
            {
                continue;
            }
            schedule.channels.push_back({alike.steps, copies});
            schedule.channels.back().schedule.loops =
                LoopsOver(share.bytes, inputs.protocol, description);
        }
    }
    return schedule;
}

std::vector<StreamLeg>
LegsOf(const AlgorithmInputs& inputs, const CallDescription& description, Rate cap)
{
    const int64_t parts = int64_t{inputs.channels} * description.chunks;
    std::vector<StreamLeg> legs;
    for (const auto& [steps, channels] : description.channels)
    {
        const std::vector<ConnectionUse> uses = UsesOf(steps);
        uint32_t unit = 0; // chunks
        for (const ConnectionUse& use : uses)
        {
            unit = std::gcd(unit, use.chunks);
        }
        RouteSum sum;
        for (std::size_t c = 0; c < uses.size(); ++c)
        {
            sum.Add(steps.connections[c].connection.route, uses[c].chunks / unit);
        }
        uint32_t sent = 0; // by the busiest block
        for (const ThreadBlock& block : steps.blocks)
        {
            uint32_t own = 0;
            for (const uint32_t connection : block.send)
            {
                own += uses[connection].chunks;
            }
            sent = std::max(sent, own);
        }
        const double weight =
            static_cast<double>(channels.size()) * unit / static_cast<double>(sent);
        const Bytes payload = inputs.call.bytes / parts * unit +
                              DivideUp(Bytes(inputs.call.bytes.Count() % parts) * unit, parts);
        AddLeg(legs,
               {inputs.routing.AddSum(sum),
                WireBytes(inputs.protocol, payload) * static_cast<int64_t>(channels.size()),
                cap * weight,
                weight},
               inputs.routing);
    }
    return legs;
}

StreamShape
StepsOf(const AlgorithmInputs& inputs, const CallDescription& description)
{
    StreamShape shape;
    RouteSum sum;
    uint32_t connections = 0;
    uint32_t uses = 0;
    Rate cap = Rate::Infinite();
    for (const auto& [steps, channels] : description.channels)
    {
        const std::vector<ConnectionUse> used = UsesOf(steps, description.mergedChunks);
        const auto copies = static_cast<uint32_t>(channels.size());
        for (std::size_t c = 0; c < used.size(); ++c)
        {
            const ScheduleConnection& each = steps.connections[c];
            const uint32_t chunks = used[c].chunks;
            if (chunks > 0 && each.connection.route != inputs.routing.Nowhere())
            {
                sum.Add(each.connection.route, chunks * copies);
                connections += copies;
                uses += chunks * copies;
                cap = std::min(cap, std::min(description.call.channelCap, each.cap) / chunks);
            }
        }
    }
    const Bytes payload =
        DivideUp(inputs.call.bytes, int64_t{description.ChannelCount()} * description.chunks);
    if (uses > 0)
    {
        shape.legs.push_back({inputs.routing.AddSum(sum),
                              WireBytes(inputs.protocol, payload),
                              cap,
                              static_cast<double>(connections) / uses});
    }
    shape.latency = description.call.startLatency;
    shape.steps = ScheduleOf(inputs, description);
    return shape;
}

StreamShape
PipelinesOf(const AlgorithmInputs& inputs, const CallDescription& description)
{
    const Bytes payload =
        DivideUp(inputs.call.bytes, int64_t{inputs.channels} * description.chunks);
    const Bytes chunk = std::min(description.chunk, payload);
    const Bytes pass = description.wholePasses ? PassOf(inputs.protocol, chunk)
                                               : DivideUp(chunk, PassesOf(inputs.protocol, chunk));
    const Bytes slice = WireBytes(inputs.protocol, pass);
    const Bytes wire = WireBytes(inputs.protocol, payload);
    const Rate block = BlockRate(description.call.block);
    StreamShape shape;
    Time slowest;
    for (const auto& alike : description.channels)
    {
        const auto channels = static_cast<double>(alike.channels.size());
        for (const SubChannel& subChannel : SubChannelsOf(
                 alike.steps, description.chunks, description.subChannels, inputs.routing))
        {
            const double factor = MaxWireFactor(alike.steps, subChannel);
            const Rate cap = std::min(description.call.channelCap, subChannel.cap);
            Pipeline pipeline = StagesOf(alike.steps, subChannel, inputs.routing);
            pipeline.slice = Scaled(slice, factor);
            pipeline.bytes = Scaled(wire, factor);
            pipeline.cap = cap * factor;
            const auto slices =
                static_cast<uint64_t>(DivideUp(pipeline.bytes, pipeline.slice.Count()).Count());
            pipeline.block = std::min(block * factor,
                                      WindowRate(alike.steps,
                                                 subChannel,
                                                 pipeline.slice,
                                                 slices,
                                                 std::min(pipeline.cap, block * factor)));
            pipeline.weight = channels;
            pipeline.chunkWeight = subChannel.weight;
            RouteSum sum;
            for (const auto& stage : pipeline.stages)
            {
                for (const RouteId route : stage)
                {
                    sum.Add(route);
                }
            }
            AddLeg(shape.legs,
                   {inputs.routing.AddSum(sum),
                    pipeline.bytes * static_cast<int64_t>(alike.channels.size()),
                    std::min(pipeline.cap, pipeline.block) * channels,
                    subChannel.weight * channels},
                   inputs.routing);
            shape.levels = std::max(shape.levels, static_cast<uint32_t>(pipeline.path.size()));
            AddPipeline(shape.pipelines, std::move(pipeline));
            slowest = std::max(slowest, subChannel.latency);
        }
    }
    shape.latency = description.call.startLatency + slowest;
    if (!shape.pipelines.empty())
    {
        const Pipeline& first = shape.pipelines.front();
        shape.path = first.path;
        shape.chunks = std::max(1.0, first.bytes.ToDouble() / first.slice.ToDouble());
    }
    return shape;
}

DescribedLoads::DescribedLoads(const AlgorithmInputs& inputs, const CallDescription& description)
    : m_in(inputs),
      m_description(description)
{
    for (const auto& alike : description.channels)
    {
        m_subChannels.push_back(SubChannelsOf(
            alike.steps, description.chunks, description.subChannels, inputs.routing));
    }
}

std::vector<StreamLeg>
DescribedLoads::Legs(double payload, const IsMeant& isMeant) const
{
    struct Alike
    {
        double wireFactor;
        uint32_t uses;
        double weight;
        RouteSum sum;
    };

    std::vector<StreamLeg> legs;
    for (std::size_t i = 0; i < m_subChannels.size(); ++i)
    {
        const auto& connections = m_description.channels[i].steps.connections;
        const auto channels = static_cast<double>(m_description.channels[i].channels.size());
        for (const SubChannel& subChannel : m_subChannels[i])
        {
            std::vector<Alike> hops;
            for (const SubChannel::Hop& hop : subChannel.hops)
            {
                const ScheduleConnection& each = connections[hop.connection];
                if (!isMeant(each, hop))
                {
                    continue;
                }
                auto alike = std::find_if(hops.begin(), hops.end(), [&](const Alike& other) {
                    return other.wireFactor == each.wireFactor && other.uses == hop.uses;
                });
                if (alike == hops.end())
                {
                    hops.push_back({each.wireFactor, hop.uses, each.weight, {}});
                    alike = hops.end() - 1;
                }
                alike->sum.Add(each.connection.route);
            }
            for (const Alike& alike : hops)
            {
                const double wire = channels * alike.wireFactor * alike.uses;
                AddLeg(legs,
                       {m_in.routing.AddSum(alike.sum),
                        RoundedUp(payload * wire),
                        subChannel.cap * wire,
                        alike.weight * channels},
                       m_in.routing);
            }
        }
    }
    return legs;
}

std::vector<RouteId>
DescribedLoads::Path() const
{
    const SubChannel& first = m_subChannels.front().front();
    std::vector<RouteId> path;
    for (const uint32_t hop : first.path)
    {
        const uint32_t connection = first.hops[hop].connection;
        path.push_back(
            m_description.channels.front().steps.connections[connection].connection.route);
    }
    return path;
}

Time
DescribedLoads::LinkTime(double payload, const IsMeant& isMeant, uint32_t calls) const
{
    std::vector<StreamLeg> legs = Legs(payload, isMeant);
    for (StreamLeg& leg : legs)
    {
        leg.bytes = leg.bytes * calls;
        leg.cap = Rate::Infinite();
        leg.weight *= calls;
    }
    return UncontendedTime(legs, m_in.routing);
}

Time
DescribedLoads::SlowestHop(const IsMeant& isMeant) const
{
    Time slowest;
    for (std::size_t i = 0; i < m_subChannels.size(); ++i)
    {
        const auto& connections = m_description.channels[i].steps.connections;
        for (const SubChannel& subChannel : m_subChannels[i])
        {
            for (const SubChannel::Hop& hop : subChannel.hops)
            {
                const ScheduleConnection& each = connections[hop.connection];
                if (isMeant(each, hop))
                {
                    slowest = std::max(slowest, each.latency * hop.uses);
                }
            }
        }
    }
    return slowest;
}

} // namespace weir
