// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/fabric-agreement.h"

#include "fabric/kinds/clos-fabric.h"
#include "fabric/kinds/dimensions.h"
#include "fabric/kinds/dragonfly.h"
#include "fabric/routing/routing-policies.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/validation/fidelity-agreement.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

namespace weir
{

namespace
{

constexpr uint32_t NODES = 16;
constexpr Bytes SIZE = Bytes::MiB(64);
constexpr const char* SYSTEM = "alps-gh200"; //!< whose nodes are put on other fabrics

constexpr const char* ROUTINGS[] = {"ecmp", "valiant", "adaptive", "flowlet", "spray"};

struct NamedFabric
{
    std::string name;
    Polymorphic<FabricKind> kind;
};

/** A dragonfly or dragonfly+. */
template <typename Kind>
Kind
GroupsOf(uint32_t routers, uint32_t nicsPerRouter, NicPlacement placement)
{
    Kind kind;
    kind.routersPerGroup = routers;
    kind.nicsPerRouter = nicsPerRouter;
    kind.globalLinks = 2;
    kind.nicPlacement = placement;
    return kind;
}

/** For nodes of four NICs: two groups, two groups with a router for each rail, four groups, ... */
std::vector<NamedFabric>
ComparedFabrics()
{
    Torus torus;
    torus.nicsPerRouter = 4;
    torus.sizes = {4, 4};
    FatTree fatTree;
    fatTree.leafRadix = 24;
    fatTree.oversubscription = 2;
    LeafSpine leafSpine;
    leafSpine.leafRadix = 16;
    return {{"dragonfly, 2 groups", GroupsOf<Dragonfly>(4, 8, NicPlacement::Packed)},
            {"dragonfly, rails", GroupsOf<Dragonfly>(8, 2, NicPlacement::Rails)},
            {"dragonfly, 4 groups", GroupsOf<Dragonfly>(4, 4, NicPlacement::Packed)},
            {"dragonfly+", GroupsOf<DragonflyPlus>(4, 4, NicPlacement::Packed)},
            {"torus 4 x 4", torus},
            {"fat tree 2:1", fatTree},
            {"leaf-spine", leafSpine}};
}

struct ComparedCall
{
    const char* name;
    CollectiveOp op;
    std::optional<Algorithm> algorithm;
};

constexpr ComparedCall COMPARED_CALLS[] = {
    {"ring all-reduce", CollectiveOp::AllReduce, Algorithm::Ring},
    {"tree all-reduce", CollectiveOp::AllReduce, Algorithm::Tree},
    {"all-to-all", CollectiveOp::AllToAll, std::nullopt}};

void
CompareOn(const ClusterSpec& cluster, FabricPoint point, std::vector<FabricPoint>& points)
{
    FidelityBench bench(cluster);
    std::vector<GpuId> gpus;
    for (uint32_t gpu = 0; gpu < cluster.nodes * cluster.node.gpus; gpu++)
    {
        gpus.emplace_back(gpu);
    }
    CollectiveCall call;
    call.communicator = bench.GetPlanner().AddCommunicator(gpus);
    call.bytes = SIZE;
    for (const ComparedCall& each : COMPARED_CALLS)
    {
        call.op = each.op;
        call.overrides.algorithm = each.algorithm;
        point.call = each.name;
        point.analytical = bench.Run(Fidelity::Analytical, {call});
        point.stream = bench.Run(Fidelity::Stream, {call});
        point.flow = bench.Run(Fidelity::Flow, {call});
        points.push_back(point);
    }
}

double
FlowOverStream(const FabricPoint& point)
{
    return point.flow / point.stream - 1;
}

double
StreamOverAnalytical(const FabricPoint& point)
{
    return point.stream / point.analytical - 1;
}

constexpr const char* REASONS =
    "Routing by load: stream and closed form divide all that a call has in flight so that the "
    "most\n"
    "loaded links are as little loaded as paths allow; in flow each slice chooses once, by the "
    "loads\n"
    "that it finds, stays there while others choose, and takes a detour only for a gain (UGAL).\n"
    "Trees: the passes that fill a pipeline are played as in flow; those that are left take the "
    "period\n"
    "of the last of them, or what their bytes take the slowest link.\n"
    "Flowlets keep the first path that they found: which, depends on who begins first.\n";

} // namespace

std::vector<FabricPoint>
CompareOnFabrics(const Catalog& catalog, const ShowSuite& progress)
{
    const ClusterSpec base = ReadSystem(YamlNode::Parse(SYSTEM, "fidelity"), catalog).cluster;
    const RoutingPolicyRegistry policies = RoutingPolicies();
    std::vector<FabricPoint> points;
    const auto fabrics = ComparedFabrics();
    std::size_t done = 0;
    for (const NamedFabric& fabric : fabrics)
    {
        for (const char* routing : ROUTINGS)
        {
            progress({done++, fabrics.size() * std::size(ROUTINGS), "fabrics and routing"});
            if (!fabric.kind->CanRoute(**policies.Find(routing)))
            {
                continue;
            }
            ClusterSpec cluster;
            cluster.nodes = NODES;
            cluster.node = base.node;
            cluster.node.transport =
                NetTransport::Infiniband; // messages cost nothing: links decide
            cluster.fabric.kind = fabric.kind;
            cluster.fabric.link = base.fabric.link;
            cluster.fabric.routing = *policies.Find(routing);
            CompareOn(cluster, {fabric.name, routing, "", Time(), Time(), Time()}, points);
        }
    }
    return points;
}

std::string
ToText(const std::vector<FabricPoint>& points)
{
    std::string text =
        "fabric               routing    call                 closed form     stream  "
        "      flow   flow/stream\n";
    double worst = 0;
    for (const FabricPoint& point : points)
    {
        char line[200];
        std::snprintf(line,
                      sizeof line,
                      "%-20s %-10s %-18s %10.1f us %7.1f us %7.1f us %+9.1f %%\n",
                      point.fabric.c_str(),
                      point.routing.c_str(),
                      point.call.c_str(),
                      point.analytical.ToMicroseconds(),
                      point.stream.ToMicroseconds(),
                      point.flow.ToMicroseconds(),
                      100 * FlowOverStream(point));
        text += line;
        worst = std::max(worst, std::abs(StreamOverAnalytical(point)));
    }
    char line[120];
    std::snprintf(line, sizeof line, "stream against closed form: at most %.3f %%\n", 100 * worst);
    return text + line + REASONS;
}

std::vector<CaseOutcome>
CasesOf(const std::vector<FabricPoint>& points)
{
    const std::string flow = "fabrics: flow/stream";
    std::vector<CaseOutcome> cases;
    for (const FabricPoint& point : points)
    {
        const std::string name = point.call + ", " + point.fabric + ", " + point.routing;
        cases.push_back({name,
                         {flow, flow + " " + point.routing},
                         point.stream.ToSeconds(),
                         point.flow.ToSeconds()});
        cases.push_back({name,
                         {"fabrics: stream/closed form"},
                         point.analytical.ToSeconds(),
                         point.stream.ToSeconds()});
    }
    return cases;
}

} // namespace weir
