// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/nvls/nvls-tree-time.h"

#include "collectives/algorithms/nvls/nvls-tree-schedule.h"
#include "collectives/engines/closed-form.h"
#include "collectives/schedule/message-split.h"
#include "fabric/routing/routing.h"

#include <algorithm>

namespace weir
{

NvlsTreeLegs::NvlsTreeLegs(const AlgorithmInputs& inputs, const NvlsTreeCall& tree, uint32_t calls)
    : m_in(inputs),
      m_tree(tree),
      m_calls(calls)
{
}

std::vector<StreamLeg>
NvlsTreeLegs::Inside(double payload, bool reduction, bool store) const
{
    return m_tree.inside.Legs(m_in, payload, reduction, store);
}

StreamLeg
NvlsTreeLegs::LegOf(RouteId route, const NvlsTreePaths& paths, double payload) const
{
    const auto channels = static_cast<double>(paths.channels.size());
    return {route, RoundedUp(payload * channels * m_tree.portFactor), Rate::Infinite(), channels};
}

std::vector<StreamLeg>
NvlsTreeLegs::Between(double payload) const
{
    std::vector<StreamLeg> legs;
    for (const auto& paths : m_tree.paths)
    {
        for (const auto& places : paths.places)
        {
            RouteSum sum;
            for (const auto& place : places)
            {
                if (place.nodes.parent != BinaryTreePlace::NONE)
                {
                    sum.Add(place.toParent.route);
                    sum.Add(place.fromParent.route);
                }
            }
            legs.push_back(LegOf(m_in.routing.AddSum(sum), paths, payload));
        }
    }
    return legs;
}

namespace
{

uint32_t
DepthOf(const std::vector<NvlsTreePaths::Place>& places, uint32_t node)
{
    uint32_t depth = 0;
    for (; places[node].nodes.parent != BinaryTreePlace::NONE; node = places[node].nodes.parent)
    {
        ++depth;
    }
    return depth;
}

} // namespace

std::vector<StreamLeg>
NvlsTreeLegs::Level(double payload, bool up, uint32_t depth) const
{
    std::vector<StreamLeg> legs;
    for (const auto& paths : m_tree.paths)
    {
        for (const auto& places : paths.places)
        {
            RouteSum sum;
            bool isEmpty = true;
            for (uint32_t node = 0; node < places.size(); ++node)
            {
                if (DepthOf(places, node) == depth)
                {
                    sum.Add((up ? places[node].toParent : places[node].fromParent).route);
                    isEmpty = false;
                }
            }
            if (!isEmpty)
            {
                legs.push_back(LegOf(m_in.routing.AddSum(sum), paths, payload));
            }
        }
    }
    return legs;
}

Time
NvlsTreeLegs::TimeOf(std::vector<StreamLeg> legs) const
{
    for (auto& leg : legs)
    {
        leg.bytes = leg.bytes * m_calls;
        leg.cap = leg.cap * m_calls;
        leg.weight *= m_calls;
    }
    return AloneTime(legs, m_in.routing);
}

namespace
{

/** The slowest hop of some trees, by its latency. */
Time
SlowestHop(const AlgorithmInputs& in, const NvlsTreeCall& tree, bool up)
{
    Time slowest;
    for (const auto& paths : tree.paths)
    {
        for (const auto& place : paths.places.front())
        {
            if (place.nodes.parent != BinaryTreePlace::NONE)
            {
                slowest =
                    std::max(slowest, NvlsTreeHop(in, up ? place.toParent : place.fromParent));
            }
        }
    }
    return slowest;
}

} // namespace

Time
NvlsTreeMoving(const AlgorithmInputs& in,
               const NvlsTreeCall& tree,
               double payload,
               double first,
               uint32_t calls)
{
    const NvlsTreeLegs legs(in, tree, calls);
    const Time reduction = legs.TimeOf(legs.Inside(first, true, false));
    const Time store = legs.TimeOf(legs.Inside(first, false, true));
    const Time both = legs.TimeOf(legs.Inside(first, true, true));
    const Time sync = tree.inside.sync;
    const auto nodes = static_cast<uint32_t>(tree.inside.nodes.size());
    const Time upHop = SlowestHop(in, tree, true);
    const Time downHop = SlowestHop(in, tree, false);
    Time firstStore = reduction + sync;
    Time down; // the last level
    for (uint32_t depth = 1; depth <= DoubleTreeDepth(nodes); ++depth)
    {
        down = downHop + legs.TimeOf(legs.Level(first, false, depth));
        firstStore += upHop + legs.TimeOf(legs.Level(first, true, depth)) + down;
    }

    const double passes = std::max(1.0, payload / first);
    const double ahead = std::min(passes, firstStore / (reduction + sync));
    const Time pace =
        std::max({both + sync * std::max(0.0, 2 - both / store), reduction + sync, store + sync});
    const Time network = legs.TimeOf(legs.Between(first));
    const Time apart = in.channels > 1 ? std::min(store * 0.5, down) : Time();
    return firstStore - apart +
           std::max(pace * (passes - ahead) + (store + sync) * ahead,
                    network * (passes - 1) + store + sync);
}

} // namespace weir
