// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/indexed-heap.h"
#include "fabric/sharing/max-min.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/transport/fluid/fluid-transport.h"
#include "fabric/transport/fluid/instant-queue.h"

#include <benchmark/benchmark.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace
{

using namespace weir;
using maxmin::MaxMin;

constexpr double INFINITE = std::numeric_limits<double>::infinity();

/** An uncontended variable stops and starts again: what a collective in `stream` costs. */
void
UncontendedRestart(benchmark::State& state)
{
    const auto hops = static_cast<std::size_t>(state.range(0));
    MaxMin solver(std::vector<double>(hops, 50e9));
    std::vector<PathLink> path;
    for (std::size_t l = 0; l < hops; l++)
    {
        path.push_back({LinkId(l)});
    }
    const uint32_t v = solver.Add(path, INFINITE);
    for (auto _ : state)
    {
        solver.SetWeight(v, 1);
        solver.Solve();
        solver.SetWeight(v, 0);
        solver.Solve();
    }
}

BENCHMARK(UncontendedRestart)->Arg(4)->Arg(16)->Arg(100);

/** Two variables take turns on the same links: each time one is put on and the other taken off. */
void
UncontendedTakeTurns(benchmark::State& state)
{
    const auto hops = static_cast<std::size_t>(state.range(0));
    MaxMin solver(std::vector<double>(hops, 50e9));
    std::vector<PathLink> path;
    for (std::size_t l = 0; l < hops; l++)
    {
        path.push_back({LinkId(l)});
    }
    const uint32_t variables[] = {solver.Add(path, INFINITE), solver.Add(path, INFINITE)};
    for (auto _ : state)
    {
        for (uint32_t v : variables)
        {
            solver.SetWeight(v, 1);
            solver.Solve();
            solver.SetWeight(v, 0);
            solver.Solve();
        }
    }
    state.SetItemsProcessed(2 * state.iterations());
}

BENCHMARK(UncontendedTakeTurns)->Arg(4)->Arg(16)->Arg(100);

/** All to all over one switch. */
std::unique_ptr<MaxMin>
AllToAll(uint32_t ranks, std::vector<uint32_t>& variables)
{
    auto solver = std::make_unique<MaxMin>(std::vector<double>(2 * ranks, 50e9));
    for (uint32_t s = 0; s < ranks; s++)
    {
        for (uint32_t d = 0; d < ranks; d++)
        {
            if (s != d)
            {
                const std::vector<PathLink> path{{LinkId(s)}, {LinkId(ranks + d)}};
                variables.push_back(solver->Add(path, INFINITE));
            }
        }
    }
    return solver;
}

void
AllToAllStart(benchmark::State& state)
{
    std::vector<uint32_t> variables;
    const auto solver = AllToAll(static_cast<uint32_t>(state.range(0)), variables);
    for (auto _ : state)
    {
        for (const double weight : {1.0, 0.0})
        {
            for (uint32_t v : variables)
            {
                solver->SetWeight(v, weight);
            }
            solver->Solve();
        }
    }
    state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(variables.size()));
}

BENCHMARK(AllToAllStart)->Arg(16)->Arg(64)->Arg(256);

/** One variable leaves a busy all-to-all of irregular weights and comes back. */
void
AllToAllOneChange(benchmark::State& state)
{
    std::vector<uint32_t> variables;
    const auto solver = AllToAll(static_cast<uint32_t>(state.range(0)), variables);
    for (std::size_t i = 0; i < variables.size(); i++)
    {
        solver->SetWeight(variables[i], 1 + static_cast<double>(i * 7919 % 101) / 100);
    }
    solver->Solve();
    std::size_t i = 0;
    for (auto _ : state)
    {
        i = (i + 104729) % variables.size();
        for (const double weight : {0.0, 1.5})
        {
            solver->SetWeight(variables[i], weight);
            solver->Solve();
        }
    }
    state.SetItemsProcessed(2 * state.iterations());
}

BENCHMARK(AllToAllOneChange)->Arg(16)->Arg(64)->Arg(128);

/** One of many senders to one receiver leaves and comes back: all others change their rates. */
void
IncastOneChange(benchmark::State& state)
{
    const auto senders = static_cast<uint32_t>(state.range(0));
    MaxMin solver(std::vector<double>(senders + 1, 50e9));
    std::vector<uint32_t> variables;
    for (uint32_t s = 0; s < senders; s++)
    {
        const std::vector<PathLink> path{{LinkId(s)}, {LinkId(senders)}};
        variables.push_back(solver.Add(path, INFINITE));
        solver.SetWeight(variables.back(), 1);
    }
    solver.Solve();
    std::size_t i = 0;
    for (auto _ : state)
    {
        i = (i + 104729) % senders;
        for (const double weight : {0.0, 1.0})
        {
            solver.SetWeight(variables[i], weight);
            solver.Solve();
        }
    }
    state.SetItemsProcessed(2 * state.iterations());
}

BENCHMARK(IncastOneChange)->Arg(16)->Arg(256)->Arg(4096);

/** Paths of four links between all pairs of ranks of two tiers, all different. */
class Paths
{
  public:
    explicit Paths(std::size_t ranks)
        : m_ranks(ranks)
    {
        DeviceId from = topology.AddDevice(DeviceKind::Host, "0");
        for (std::size_t i = 1; i <= 4 * ranks; i++)
        {
            const DeviceId to = topology.AddDevice(DeviceKind::Host, std::to_string(i));
            topology.AddLink(from, to, LinkKind::Network, Rate::Gbps(400), Time());
            from = to;
        }
    }

    PathId Intern(PathTable& table, std::size_t source, std::size_t destination)
    {
        return table.Intern(Between(source, destination));
    }

    RouteId Route(Routing& routing, std::size_t source, std::size_t destination)
    {
        return routing.AddFixed(Between(source, destination));
    }

    Topology topology;

  private:
    const std::vector<LinkId>& Between(std::size_t source, std::size_t destination)
    {
        m_links = {LinkId(source),
                   LinkId(m_ranks + source),
                   LinkId(2 * m_ranks + destination),
                   LinkId(3 * m_ranks + destination)};
        return m_links;
    }

    std::size_t m_ranks;
    std::vector<LinkId> m_links;
};

/** All pairs are met for the first time, then again. */
void
PathTableIntern(benchmark::State& state)
{
    const auto ranks = static_cast<std::size_t>(state.range(0));
    const auto rounds = static_cast<int>(state.range(1));
    Paths paths(ranks);
    for (auto _ : state)
    {
        PathTable table(paths.topology);
        for (int round = 0; round < rounds; round++)
        {
            for (std::size_t pair = 0; pair < ranks * ranks; pair++)
            {
                benchmark::DoNotOptimize(paths.Intern(table, pair / ranks, pair % ranks));
            }
        }
    }
    state.SetItemsProcessed(state.iterations() * rounds * static_cast<int64_t>(ranks * ranks));
}

BENCHMARK(PathTableIntern)->Args({256, 1})->Args({256, 10});

/** Transfers start together on paths of their own and end together: a step of a ring. */
void
TransportLockStep(benchmark::State& state)
{
    const auto ranks = static_cast<std::size_t>(state.range(0));
    Paths paths(ranks);
    Routing routing(paths.topology, FabricSpec());
    FluidTransport transport(routing);
    FlowRequest request;
    request.bytes = Bytes(1 << 20);
    Time now;
    for (auto _ : state)
    {
        for (std::size_t rank = 0; rank < ranks; rank++)
        {
            request.route = paths.Route(routing, rank, rank);
            transport.Start(request, now);
        }
        now = transport.NextEventTime();
        transport.AdvanceTo(now);
    }
    state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(ranks));
}

BENCHMARK(TransportLockStep)->Arg(64)->Arg(1024);

struct QueueItems
{
    std::vector<InstantNode>* nodes;

    InstantNode& Node(uint32_t i) const
    {
        return (*nodes)[i];
    }
};

/** A batch that is due at one instant, again and again. */
void
InstantQueueLockStep(benchmark::State& state)
{
    const auto items = static_cast<uint32_t>(state.range(0));
    std::vector<InstantNode> nodes(items);
    InstantQueue<QueueItems> queue(QueueItems{&nodes});
    int64_t now = 0;
    for (auto _ : state)
    {
        now++;
        for (uint32_t i = 0; i < items; i++)
        {
            queue.Insert(i, Time::Picoseconds(now));
        }
        while (!queue.FirstTime().IsInfinite())
        {
            benchmark::DoNotOptimize(queue.PopFirst());
        }
    }
    state.SetItemsProcessed(state.iterations() * items);
}

BENCHMARK(InstantQueueLockStep)->Arg(1024);

void
IndexedHeapRekey(benchmark::State& state)
{
    const auto items = static_cast<uint32_t>(state.range(0));
    IndexedHeap<double> heap(items);
    double key = 1;
    for (auto _ : state)
    {
        for (uint32_t i = 0; i < items; i++)
        {
            key = key * 69069 + 1;
            key -= static_cast<double>(static_cast<int64_t>(key / 65521)) * 65521;
            heap.Set(i, key);
        }
    }
    state.SetItemsProcessed(state.iterations() * items);
}

BENCHMARK(IndexedHeapRekey)->Arg(256)->Arg(4096);

} // namespace
