// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/regime-traffic.h"

#include "fabric/kinds/graph-fabric.h"
#include "fabric/routing/routing-policies.h"
#include "fabric/routing/routing.h"
#include "fabric/topology/cluster-spec.h"
#include "scenarios/bound/random-draws.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weir
{

namespace
{

constexpr uint32_t LEAVES = 4;
constexpr uint32_t HOSTS = 32;
const Rate RATE = Rate::Gbps(100);
const Time LATENCY = Time::Microseconds(1);

/** Log-uniform in [@p min, @p max). */
Bytes
DrawSize(RandomDraws& draws, double min, double max)
{
    return Bytes(static_cast<int64_t>(min * std::pow(max / min, draws.Unit())));
}

/** Simultaneous messages of 16 KiB to 1 MiB from several senders to one host. */
RegimeTraffic
DrawIncast(RandomDraws& draws)
{
    RegimeTraffic traffic{"incast", false, {}};
    const auto order = draws.Shuffled(HOSTS);
    const uint32_t senders = 4 + draws.Below(HOSTS / 2);
    for (uint32_t i = 1; i <= senders; i++)
    {
        traffic.messages.push_back({Time(), order[i], order[0], DrawSize(draws, 16384, 1048576)});
    }
    return traffic;
}

/** Each host sends 64 KiB to 4 MiB to another host. */
RegimeTraffic
DrawPermutation(RandomDraws& draws)
{
    RegimeTraffic traffic{"permutation", false, {}};
    const auto order = draws.Shuffled(HOSTS);
    for (uint32_t i = 0; i < HOSTS; i++)
    {
        traffic.messages.push_back(
            {Time(), order[i], order[(i + 1) % HOSTS], DrawSize(draws, 65536, 4194304)});
    }
    return traffic;
}

RegimeTraffic
DrawAllToAll(RandomDraws& draws)
{
    RegimeTraffic traffic{"all-to-all", true, {}};
    const Bytes size = DrawSize(draws, 16384, 131072);
    for (uint32_t step = 1; step < HOSTS; step++)
    {
        for (uint32_t i = 0; i < HOSTS; i++)
        {
            traffic.messages.push_back({Time(), i, (i + step) % HOSTS, size});
        }
    }
    return traffic;
}

/** Ring all-reduce: reduce-scatter and all-gather; a host forwards a chunk after receiving it. */
RegimeTraffic
DrawRing(RandomDraws& draws)
{
    RegimeTraffic traffic{"ring", true, {}};
    const Bytes chunk = DrawSize(draws, 16384, 524288);
    for (uint32_t step = 0; step < 2 * (HOSTS - 1); step++)
    {
        for (uint32_t i = 0; i < HOSTS; i++)
        {
            PlannedMessage message{Time(), i, (i + 1) % HOSTS, chunk};
            if (step > 0)
            {
                message.after = {(step - 1) * HOSTS + (i + HOSTS - 1) % HOSTS};
            }
            traffic.messages.push_back(message);
        }
    }
    return traffic;
}

/** Tree all-reduce: chunks go up a binary tree and down again; chunks on an edge are sequential. */
RegimeTraffic
DrawTree(RandomDraws& draws)
{
    constexpr uint32_t CHUNKS = 12;
    RegimeTraffic traffic{"tree", true, {}};
    const Bytes chunk = DrawSize(draws, 32768, 524288);
    const uint32_t edges = HOSTS - 1; // between host i and host (i - 1) / 2
    const auto up = [&](uint32_t c, uint32_t i) { return c * 2 * edges + (HOSTS - 1 - i); };
    const auto down = [&](uint32_t c, uint32_t i) { return c * 2 * edges + edges + (i - 1); };
    for (uint32_t c = 0; c < CHUNKS; c++)
    {
        for (uint32_t i = HOSTS - 1; i > 0; i--)
        {
            PlannedMessage message{Time(), i, (i - 1) / 2, chunk};
            for (const uint32_t child : {2 * i + 1, 2 * i + 2})
            {
                if (child < HOSTS)
                {
                    message.after.push_back(up(c, child));
                }
            }
            if (c > 0)
            {
                message.after.push_back(up(c - 1, i));
            }
            traffic.messages.push_back(message);
        }
        for (uint32_t i = 1; i < HOSTS; i++)
        {
            const uint32_t parent = (i - 1) / 2;
            PlannedMessage message{Time(), parent, i, chunk};
            if (parent > 0)
            {
                message.after = {down(c, parent)};
            }
            else
            {
                message.after = {up(c, 1), up(c, 2)};
            }
            if (c > 0)
            {
                message.after.push_back(down(c - 1, i));
            }
            traffic.messages.push_back(message);
        }
    }
    return traffic;
}

/** @p count messages with exponential gaps of mean @p gap seconds and sizes drawn by @p size. */
template <typename Size>
RegimeTraffic
DrawPoisson(RandomDraws& draws, std::string name, uint32_t count, double gap, const Size& size)
{
    RegimeTraffic traffic{std::move(name), false, {}};
    double start = 0;
    for (uint32_t i = 0; i < count; i++)
    {
        start -= gap * std::log(1 - draws.Unit());
        const uint32_t from = draws.Below(HOSTS);
        const uint32_t to = (from + 1 + draws.Below(HOSTS - 1)) % HOSTS;
        traffic.messages.push_back({Time::Seconds(start), from, to, size()});
    }
    return traffic;
}

/** Starts messages when they are due and records their arrival times. */
class Sender : public PassiveEngine, public FlowClient
{
  public:
    Sender(const RegimeTraffic& traffic, Routing& routing, Transport& transport)
        : starts(traffic.messages.size()),
          ends(traffic.messages.size()),
          m_messages(traffic.messages),
          m_transport(transport),
          m_waitsFor(traffic.messages.size()),
          m_followers(traffic.messages.size())
    {
        for (uint32_t i = 0; i < m_messages.size(); i++)
        {
            const PlannedMessage& message = m_messages[i];
            RouteRequest route;
            route.source = route.outNic = DeviceId(message.from);
            route.destination = route.inNic = DeviceId(message.to);
            // One connection per pair of hosts in a collective, otherwise one per message.
            route.sourcePort =
                static_cast<uint16_t>(traffic.isCollective ? message.from * 64 + message.to : i);
            m_routes.push_back(routing.Add(route));
            m_waitsFor[i] = static_cast<uint32_t>(message.after.size());
            for (const uint32_t earlier : message.after)
            {
                m_followers[earlier].push_back(i);
            }
            if (message.after.empty())
            {
                m_order.push_back(i);
            }
        }
    }

    Time NextEventTime() override
    {
        return m_next < m_order.size() ? m_messages[m_order[m_next]].start : Time::Infinite();
    }

    void AdvanceTo(Time now) override
    {
        for (; NextEventTime() <= now; m_next++)
        {
            Send(m_order[m_next], now);
        }
    }

    void OnFlowDone(uint64_t token, Time now) override
    {
        ends[token] = now;
        for (const uint32_t each : m_followers[token])
        {
            if (--m_waitsFor[each] == 0)
            {
                Send(each, now);
            }
        }
    }

    std::vector<Time> starts;
    std::vector<Time> ends;

  private:
    void Send(uint32_t i, Time now)
    {
        starts[i] = now;
        FlowRequest request;
        request.route = m_routes[i];
        request.bytes = m_messages[i].bytes;
        request.form = m_messages[i].form;
        request.client = this;
        request.token = i;
        m_transport.Start(request, now);
    }

    const std::vector<PlannedMessage>& m_messages;
    Transport& m_transport;
    std::vector<RouteId> m_routes;
    std::vector<uint32_t> m_waitsFor;
    std::vector<std::vector<uint32_t>> m_followers;
    std::vector<uint32_t> m_order; //!< messages that wait for no other, by start
    std::size_t m_next{0};
};

/** Host devices come first. */
Topology
LeafSpineTopology(uint32_t spines)
{
    Topology topology;
    for (uint32_t i = 0; i < HOSTS; i++)
    {
        topology.AddDevice(DeviceKind::Host, "host" + std::to_string(i));
    }
    std::vector<DeviceId> above;
    for (uint32_t i = 0; i < spines; i++)
    {
        above.push_back(topology.AddDevice(DeviceKind::SpineSwitch, "spine" + std::to_string(i)));
    }
    for (uint32_t i = 0; i < LEAVES; i++)
    {
        const DeviceId leaf =
            topology.AddDevice(DeviceKind::LeafSwitch, "leaf" + std::to_string(i));
        for (uint32_t host = i * HOSTS / LEAVES; host < (i + 1) * HOSTS / LEAVES; host++)
        {
            topology.AddDuplexLink(DeviceId(host), leaf, LinkKind::Network, RATE, LATENCY);
        }
        for (const DeviceId spine : above)
        {
            topology.AddDuplexLink(leaf, spine, LinkKind::Network, RATE, LATENCY);
        }
    }
    return topology;
}

} // namespace

std::vector<RegimeTraffic>
DrawRegimeTraffic(uint64_t seed, const SizeDistribution& sizes)
{
    constexpr uint32_t MESSAGES = 200;
    RandomDraws draws(seed);
    const double gap = sizes.Mean() / RATE.ToBytesPerSecond() / HOSTS; // seconds, at full load
    const auto size = [&] { return sizes.Quantile(draws.Unit()); };
    return {DrawIncast(draws),
            DrawPermutation(draws),
            DrawAllToAll(draws),
            DrawRing(draws),
            DrawTree(draws),
            DrawPoisson(draws, "load 30 %", MESSAGES, gap / 0.3, size),
            DrawPoisson(draws, "load 60 %", MESSAGES, gap / 0.6, size)};
}

RegimeTraffic
DrawEvenTraffic(uint64_t seed)
{
    constexpr uint32_t MESSAGES = 240;
    constexpr double MAX_BYTES = 2e6;
    RandomDraws draws(seed);
    // 50 % load: each host sends MAX_BYTES / 2 per message, in twice the time of its transmission.
    const double gap = MAX_BYTES / RATE.ToBytesPerSecond() / HOSTS;
    return DrawPoisson(draws, "even", MESSAGES, gap, [&] {
        return Bytes(1 + static_cast<int64_t>(draws.Unit() * MAX_BYTES));
    });
}

std::vector<double>
PlayTraffic(const RegimeTraffic& traffic,
            uint32_t spines,
            bool isSprayed,
            const TransportSpec& spec)
{
    const Topology topology = LeafSpineTopology(spines);
    FabricSpec fabric;
    fabric.kind = GraphFabric();
    if (isSprayed)
    {
        fabric.routing = SprayRouting();
    }
    Routing routing(topology, fabric);
    const auto transport = MakeTransport(routing, spec);
    Sender sender(traffic, routing, *transport);
    EngineSet engines;
    engines.Add(*transport);
    engines.Add(sender);
    engines.RunToEnd();
    if (traffic.isCollective)
    {
        return {std::max_element(sender.ends.begin(), sender.ends.end())->ToSeconds()};
    }
    std::vector<double> durations;
    for (std::size_t i = 0; i < sender.ends.size(); i++)
    {
        durations.push_back((sender.ends[i] - sender.starts[i]).ToSeconds());
    }
    return durations;
}

} // namespace weir
