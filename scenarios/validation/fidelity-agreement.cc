// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/fidelity-agreement.h"

#include "collectives/fidelity.h"
#include "scenarios/validation/fidelity-bench.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <stdexcept>

namespace weir
{

namespace
{

constexpr CollectiveOp COMPARED_OPS[] = {CollectiveOp::AllReduce,
                                         CollectiveOp::AllGather,
                                         CollectiveOp::ReduceScatter,
                                         CollectiveOp::Broadcast,
                                         CollectiveOp::AllToAll};
constexpr Algorithm COMPARED_ALGORITHMS[] = {Algorithm::Ring,
                                             Algorithm::Tree,
                                             Algorithm::Nvls,
                                             Algorithm::NvlsTree,
                                             Algorithm::PointToPoint};
constexpr double CLOSED_FORM_LIMIT = 1e-3;
constexpr double FLOW_LIMIT = 0.1;

/** The GPUs of one comparison on @p spec, which has as many nodes as it needs. */
std::vector<GpuId>
GpusOf(const ClusterSpec& spec, ComparedPlacement placement)
{
    std::vector<GpuId> gpus;
    const uint32_t step = placement == ComparedPlacement::Strided ? 2 : 1;
    for (uint32_t gpu = 0; gpu < spec.nodes * spec.node.gpus; gpu += step)
    {
        gpus.emplace_back(gpu);
    }
    return gpus;
}

/** All calls of one placement over some nodes. */
void
ComparePlacement(FidelityPoint point, ClusterSpec spec, std::vector<FidelityPoint>& points)
{
    spec.nodes = point.placement == ComparedPlacement::Strided ? 2 * point.nodes : point.nodes;
    FidelityBench bench(spec);
    auto gpus = GpusOf(spec, point.placement);
    CollectiveCall call;
    call.communicator = bench.GetPlanner().AddCommunicator(gpus);
    std::reverse(gpus.begin(), gpus.end());
    const auto reversed = bench.GetPlanner().AddCommunicator(gpus);
    for (const CollectiveOp op : COMPARED_OPS)
    {
        for (const Algorithm algorithm : COMPARED_ALGORITHMS)
        {
            for (const Bytes size :
                 {Bytes::KiB(16), Bytes::MiB(1), Bytes::MiB(16), Bytes::MiB(256)})
            {
                call.op = op;
                call.bytes = size;
                call.overrides.algorithm = algorithm;
                std::vector<CollectiveCall> calls{call};
                if (point.placement == ComparedPlacement::Concurrent)
                {
                    calls.push_back(call);
                    calls.back().communicator = reversed;
                }
                try
                {
                    bench.GetPlanner().Plan(call);
                }
                catch (const std::invalid_argument&)
                {
                    continue; // this group has no such algorithm for it
                }
                point.op = op;
                point.algorithm = algorithm;
                point.size = size;
                point.analytical = bench.Run(Fidelity::Analytical, calls);
                point.stream = bench.Run(Fidelity::Stream, calls);
                point.flow = bench.Run(Fidelity::Flow, calls);
                points.push_back(point);
            }
        }
    }
}

const char*
ToString(ComparedPlacement placement)
{
    switch (placement)
    {
    case ComparedPlacement::Packed:
        return "packed";
    case ComparedPlacement::Strided:
        return "strided";
    case ComparedPlacement::Concurrent:
        break;
    }
    return "concurrent";
}

/** The points of one row of the table. */
using Classes = std::map<std::pair<ComparedPlacement, Algorithm>, std::vector<FidelityPoint>>;

Classes
ByClass(const std::vector<FidelityPoint>& points)
{
    Classes classes;
    for (const auto& point : points)
    {
        classes[{point.placement, point.algorithm}].push_back(point);
    }
    return classes;
}

/** Median of |flow over stream|. */
double
MedianOf(const std::vector<FidelityPoint>& points)
{
    std::vector<double> errors;
    for (const auto& point : points)
    {
        errors.push_back(std::abs(point.FlowOverStream()));
    }
    std::sort(errors.begin(), errors.end());
    return errors[errors.size() / 2];
}

const FidelityPoint&
WorstOf(const std::vector<FidelityPoint>& points)
{
    return *std::max_element(
        points.begin(), points.end(), [](const FidelityPoint& a, const FidelityPoint& b) {
            return std::abs(a.FlowOverStream()) < std::abs(b.FlowOverStream());
        });
}

double
WorstClosedForm(const std::vector<FidelityPoint>& points)
{
    double worst = 0;
    for (const auto& point : points)
    {
        if (point.placement != ComparedPlacement::Concurrent)
        {
            worst = std::max(worst, std::abs(point.StreamOverAnalytical()));
        }
    }
    return worst;
}

constexpr const char* REASONS =
    "Why they differ: stream and closed form know one rate for a whole call, that of full load; "
    "in\n"
    "flow pipelines fill and drain, first chunks have links for themselves, the last chunk of a\n"
    "channel is not full, and rings of several passes wait for their blocks between two of them.\n"
    "NVLSTree: with few passes the ways up and down are busy one after the other, not at once.\n"
    "Concurrent calls: what a ring waits for latencies and blocks is in stream a delay before it\n"
    "moves at its share; in flow the other call moves meanwhile.\n";

} // namespace

std::vector<FidelityPoint>
CompareFidelities(const std::string& system,
                  const ClusterSpec& cluster,
                  const std::function<void()>& progress)
{
    std::vector<FidelityPoint> points;
    FidelityPoint point;
    point.system = system;
    for (const uint32_t nodes : {1U, 2U, 4U})
    {
        point.nodes = nodes;
        point.placement = ComparedPlacement::Packed;
        ComparePlacement(point, cluster, points);
        progress();
    }
    point.nodes = 2;
    for (const auto placement : {ComparedPlacement::Strided, ComparedPlacement::Concurrent})
    {
        point.placement = placement;
        ComparePlacement(point, cluster, points);
        progress();
    }
    return points;
}

std::string
ToText(const std::vector<FidelityPoint>& points)
{
    std::string text = "placement   algorithm       calls  flow/stream: median   worst  where\n";
    for (const auto& [key, members] : ByClass(points))
    {
        const FidelityPoint& worst = WorstOf(members);
        char line[240];
        std::snprintf(line,
                      sizeof line,
                      "%-11s %-15s %5zu            %7.1f %% %+7.1f %%  %s of %lld B, %u x %s\n",
                      ToString(key.first),
                      weir::ToString(key.second),
                      members.size(),
                      100 * MedianOf(members),
                      100 * worst.FlowOverStream(),
                      weir::ToString(worst.op),
                      static_cast<long long>(worst.size.Count()),
                      worst.nodes,
                      worst.system.c_str());
        text += line;
    }
    char line[120];
    std::snprintf(line,
                  sizeof line,
                  "stream against closed form, alone on the fabric: at most %.3f %%\n",
                  100 * WorstClosedForm(points));
    return text + line + REASONS;
}

bool
Agree(const std::vector<FidelityPoint>& points)
{
    if (WorstClosedForm(points) > CLOSED_FORM_LIMIT)
    {
        return false;
    }
    for (const auto& [key, members] : ByClass(points))
    {
        if (key.first != ComparedPlacement::Concurrent && MedianOf(members) > FLOW_LIMIT)
        {
            return false;
        }
    }
    return true;
}

} // namespace weir
