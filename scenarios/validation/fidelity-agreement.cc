// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/fidelity-agreement.h"

#include "scenarios/readers/read-system.h"
#include "scenarios/simulation/back-to-back-time.h"
#include "scenarios/validation/min-time.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <optional>
#include <random>
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
constexpr Bytes COMPARED_SIZES[] = {Bytes::KiB(16), Bytes::MiB(1), Bytes::MiB(16), Bytes::MiB(256)};

struct ComparedPair
{
    CollectiveOp op;
    Algorithm algorithm;
    CollectiveOp otherOp;
    Algorithm otherAlgorithm;
};

/** Sharded layers' parameters and gradients; rings beside trees, in and out of NVSwitches. */
constexpr ComparedPair COMPARED_PAIRS[] = {
    {CollectiveOp::AllGather, Algorithm::Ring, CollectiveOp::ReduceScatter, Algorithm::Ring},
    {CollectiveOp::AllReduce, Algorithm::Tree, CollectiveOp::AllReduce, Algorithm::Ring},
    {CollectiveOp::AllReduce, Algorithm::NvlsTree, CollectiveOp::AllGather, Algorithm::Ring}};

constexpr const char* COMPARED_SYSTEMS[] = {"hgx-h100", "dgx-a100", "alps-gh200"};

/** The GPUs of one comparison on @p spec, which has as many nodes as it needs. */
std::vector<GpuId>
GpusOf(const ClusterSpec& spec, ComparedPlacement placement, uint32_t first = 0)
{
    std::vector<GpuId> gpus;
    const bool isHalf =
        placement == ComparedPlacement::Strided || placement == ComparedPlacement::Interleaved;
    const uint32_t step = isHalf ? 2 : 1;
    for (uint32_t gpu = first; gpu < spec.nodes * spec.node.gpus; gpu += step)
    {
        gpus.emplace_back(gpu);
    }
    return gpus;
}

Time
MinOf(FidelityBench& bench, const CollectiveCall& call)
{
    const auto& gpus = bench.GetPlanner().GetCommunicator(call.communicator).gpus;
    return MinTime(bench.GetCluster(), gpus, call);
}

/** Adds @p point for @p calls at once, unless their groups have no such algorithm for them. */
void
Compare(FidelityBench& bench,
        const std::vector<CollectiveCall>& calls,
        FidelityPoint point,
        std::vector<FidelityPoint>& points)
{
    try
    {
        for (const CollectiveCall& call : calls)
        {
            bench.GetPlanner().Plan(call);
        }
    }
    catch (const std::invalid_argument&)
    {
        return;
    }
    point.analytical = bench.Run(Fidelity::Analytical, calls);
    point.stream = bench.Run(Fidelity::Stream, calls);
    point.flow = bench.Run(Fidelity::Flow, calls);
    point.least = MinOf(bench, calls.front());
    points.push_back(point);
}

/** The group of the call at the same time, if there is one. */
std::optional<CommunicatorId>
OtherGroup(FidelityBench& bench, const ClusterSpec& spec, ComparedPlacement placement)
{
    auto gpus = GpusOf(spec, placement);
    switch (placement)
    {
    case ComparedPlacement::Concurrent:
        std::reverse(gpus.begin(), gpus.end());
        return bench.GetPlanner().AddCommunicator(gpus);
    case ComparedPlacement::Interleaved:
        return bench.GetPlanner().AddCommunicator(GpusOf(spec, placement, 1));
    default:
        return std::nullopt;
    }
}

/** All calls of one placement over some nodes. */
void
ComparePlacement(FidelityPoint point, ClusterSpec spec, std::vector<FidelityPoint>& points)
{
    spec.nodes = point.placement == ComparedPlacement::Strided ? 2 * point.nodes : point.nodes;
    FidelityBench bench(spec);
    CollectiveCall call;
    call.communicator = bench.GetPlanner().AddCommunicator(GpusOf(spec, point.placement));
    const auto other = OtherGroup(bench, spec, point.placement);
    for (const CollectiveOp op : COMPARED_OPS)
    {
        for (const Algorithm algorithm : COMPARED_ALGORITHMS)
        {
            for (const Bytes size : COMPARED_SIZES)
            {
                call.op = point.op = op;
                call.bytes = point.size = size;
                call.overrides.algorithm = point.algorithm = algorithm;
                std::vector<CollectiveCall> calls{call};
                if (other)
                {
                    calls.push_back(call);
                    calls.back().communicator = *other;
                }
                Compare(bench, calls, point, points);
            }
        }
    }
}

/** Different calls of one group at once. */
void
ComparePairs(FidelityPoint point, ClusterSpec spec, std::vector<FidelityPoint>& points)
{
    spec.nodes = point.nodes;
    FidelityBench bench(spec);
    CollectiveCall call;
    call.communicator = bench.GetPlanner().AddCommunicator(GpusOf(spec, point.placement));
    for (const ComparedPair& pair : COMPARED_PAIRS)
    {
        for (const Bytes size : COMPARED_SIZES)
        {
            call.bytes = point.size = size;
            call.op = point.op = pair.op;
            call.overrides.algorithm = point.algorithm = pair.algorithm;
            CollectiveCall other = call;
            other.op = point.otherOp = pair.otherOp;
            other.overrides.algorithm = point.otherAlgorithm = pair.otherAlgorithm;
            Compare(bench, {call, other}, point, points);
        }
    }
}

/** Calls that follow each other, of operations in which ranks need not wait for all others. */
void
CompareRows(FidelityPoint point, ClusterSpec spec, std::vector<FidelityPoint>& points)
{
    constexpr uint32_t CALLS = 20; // nccl-tests' default
    spec.nodes = point.nodes;
    FidelityBench bench(spec);
    CollectiveCall call;
    call.communicator = bench.GetPlanner().AddCommunicator(GpusOf(spec, point.placement));
    for (const CollectiveOp op : {CollectiveOp::Broadcast, CollectiveOp::Reduce})
    {
        for (const Bytes size : COMPARED_SIZES)
        {
            call.op = point.op = op;
            call.bytes = point.size = size;
            point.analytical = bench.RunRow(Fidelity::Analytical, call, CALLS);
            point.stream = bench.RunRow(Fidelity::Stream, call, CALLS);
            point.flow = bench.RunRow(Fidelity::Flow, call, CALLS);
            point.least = MinOf(bench, call);
            points.push_back(point);
        }
    }
}

/** Of systems with more channels than ports, too: there channels share what they cross. */
constexpr const char* SAMPLED_SYSTEMS[] = {"hgx-h100", "dgx-a100", "oci-a100", "alps-gh200"};

/** Calls of sizes, channels and protocols drawn at random, from 4 KiB to 256 MiB. */
void
CompareSampled(FidelityPoint point,
               ClusterSpec spec,
               uint64_t seed,
               std::vector<FidelityPoint>& points)
{
    constexpr int CALLS = 20;
    constexpr uint64_t CHANNELS = 32; // what a group does not have is left out
    std::mt19937_64 random(seed);
    const auto drawn = [&random](uint64_t choices) { return random() % choices; };
    spec.nodes = point.nodes;
    FidelityBench bench(spec);
    CollectiveCall call;
    call.communicator = bench.GetPlanner().AddCommunicator(GpusOf(spec, point.placement));
    for (int i = 0; i < CALLS; ++i)
    {
        const double bits = 12 + 16 * (static_cast<double>(drawn(1 << 20)) / (1 << 20));
        call.bytes = point.size = Bytes(static_cast<int64_t>(std::exp2(bits)));
        call.op = point.op = COMPARED_OPS[drawn(4)]; // those of rings
        const bool isTree = call.op == CollectiveOp::AllReduce && drawn(3) == 0;
        call.overrides.algorithm = point.algorithm = isTree ? Algorithm::Tree : Algorithm::Ring;
        constexpr Protocol PROTOCOLS[] = {Protocol::Ll, Protocol::Ll128, Protocol::Simple};
        call.overrides.protocol = PROTOCOLS[drawn(3)];
        call.overrides.channels = static_cast<uint32_t>(1 + drawn(CHANNELS));
        Compare(bench, {call}, point, points);
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
        return "concurrent";
    case ComparedPlacement::Interleaved:
        return "interleaved";
    case ComparedPlacement::InRow:
        return "back to back";
    case ComparedPlacement::Sampled:
        return "sampled";
    case ComparedPlacement::Beside:
        break;
    }
    return "beside";
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

/** The call beside a point's own, for a table. */
std::string
OtherCall(const FidelityPoint& point)
{
    return point.placement == ComparedPlacement::Beside
               ? std::string(" beside ") + weir::ToString(point.otherAlgorithm) + " " +
                     weir::ToString(point.otherOp)
               : "";
}

const FidelityPoint&
WorstOf(const std::vector<FidelityPoint>& points)
{
    return *std::max_element(
        points.begin(), points.end(), [](const FidelityPoint& a, const FidelityPoint& b) {
            return std::abs(a.FlowOverStream()) < std::abs(b.FlowOverStream());
        });
}

/** Whether a call has the fabric to itself. */
bool
IsAlone(const FidelityPoint& point)
{
    return point.placement == ComparedPlacement::Packed ||
           point.placement == ComparedPlacement::Strided ||
           point.placement == ComparedPlacement::Sampled;
}

double
WorstClosedForm(const std::vector<FidelityPoint>& points)
{
    double worst = 0;
    for (const auto& point : points)
    {
        if (IsAlone(point))
        {
            worst = std::max(worst, std::abs(point.StreamOverAnalytical()));
        }
    }
    return worst;
}

/** The call that comes nearest to what its bytes allow. */
double
MinMargin(const std::vector<FidelityPoint>& points)
{
    double margin = std::numeric_limits<double>::infinity();
    for (const auto& point : points)
    {
        margin = std::min(margin, point.OverLeast());
    }
    return margin;
}

constexpr const char* FIDELITY_REASONS =
    "Why they differ: stream and closed form know one rate for a whole ring, that of full load;\n"
    "in flow first chunks have links for themselves, the last chunk of a channel is not full, and\n"
    "rings of several passes wait for their blocks between two of them. Trees and chains are "
    "played\n"
    "until their passes are alike; those that are left may still drift.\n"
    "At the same time: a stream is spread over what its chunks wait for, and another call is on a\n"
    "link as often as it is itself; in flow calls in step meet more often, and others less.\n";

/** A placement on so many nodes. */
struct Stage
{
    ComparedPlacement placement;
    uint32_t nodes;
};

constexpr Stage STAGES[] = {{ComparedPlacement::Packed, 1},
                            {ComparedPlacement::Packed, 2},
                            {ComparedPlacement::Packed, 4},
                            {ComparedPlacement::Strided, 2},
                            {ComparedPlacement::Concurrent, 2},
                            {ComparedPlacement::Interleaved, 2},
                            {ComparedPlacement::Beside, 2},
                            {ComparedPlacement::InRow, 1},
                            {ComparedPlacement::InRow, 2},
                            {ComparedPlacement::InRow, 4}};
constexpr uint32_t SAMPLED_NODES[] = {1, 2, 4, 8};

} // namespace

FidelityBench::FidelityBench(const ClusterSpec& spec)
    : m_simulation(spec)
{
}

Time
FidelityBench::Run(Fidelity fidelity, const std::vector<CollectiveCall>& calls)
{
    EngineSet& engines = m_simulation.Engines();
    const Time start = engines.Now();
    for (const auto& call : calls)
    {
        m_simulation.GetEngine(fidelity).Start(call, this, 0, start);
    }
    engines.RunToEnd();
    return m_last - start;
}

Time
FidelityBench::RunRow(Fidelity fidelity, const CollectiveCall& call, uint32_t calls)
{
    return BackToBackTimer(m_simulation, fidelity).PerCall(call, calls);
}

void
FidelityBench::OnCollectiveDone(uint64_t token, Time now)
{
    m_last = now;
}

std::vector<FidelityPoint>
CompareFidelities(const Catalog& catalog, const ShowSuite& progress)
{
    std::vector<FidelityPoint> points;
    std::size_t done = 0;
    const auto show = [&] {
        progress({++done,
                  std::size(COMPARED_SYSTEMS) * std::size(STAGES) +
                      std::size(SAMPLED_SYSTEMS) * std::size(SAMPLED_NODES),
                  "calls"});
    };
    const auto pointOf = [](const char* system, Stage stage) {
        FidelityPoint point;
        point.system = system;
        point.placement = stage.placement;
        point.nodes = stage.nodes;
        return point;
    };
    for (const char* system : COMPARED_SYSTEMS)
    {
        const auto cluster = ReadSystem(YamlNode::Parse(system, "fidelity"), catalog).cluster;
        for (const Stage& stage : STAGES)
        {
            const auto compare = stage.placement == ComparedPlacement::Beside  ? ComparePairs
                                 : stage.placement == ComparedPlacement::InRow ? CompareRows
                                                                               : ComparePlacement;
            compare(pointOf(system, stage), cluster, points);
            show();
        }
    }
    uint64_t seed = 1;
    for (const char* system : SAMPLED_SYSTEMS)
    {
        const auto cluster = ReadSystem(YamlNode::Parse(system, "fidelity"), catalog).cluster;
        for (const uint32_t nodes : SAMPLED_NODES)
        {
            const auto point = pointOf(system, {ComparedPlacement::Sampled, nodes});
            CompareSampled(point, cluster, seed++, points);
            show();
        }
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
                      "%-11s %-15s %5zu            %7.1f %% %+7.1f %%  %s%s of %lld B, %u x %s\n",
                      ToString(key.first),
                      weir::ToString(key.second),
                      members.size(),
                      100 * MedianOf(members),
                      100 * worst.FlowOverStream(),
                      weir::ToString(worst.op),
                      OtherCall(worst).c_str(),
                      static_cast<long long>(worst.size.Count()),
                      worst.nodes,
                      worst.system.c_str());
        text += line;
    }
    char line[200];
    std::snprintf(line,
                  sizeof line,
                  "stream against closed form, alone on the fabric: at most %.3f %%\n"
                  "the fastest call takes %.3f of what its bytes need at least at a GPU or node\n",
                  100 * WorstClosedForm(points),
                  MinMargin(points));
    return text + line + FIDELITY_REASONS;
}

std::vector<CaseOutcome>
CasesOf(const std::vector<FidelityPoint>& points)
{
    const std::string flow = "flow/stream";
    std::vector<CaseOutcome> cases;
    for (const FidelityPoint& point : points)
    {
        const std::string group =
            std::string(" ") + ToString(point.placement) + " " + weir::ToString(point.algorithm);
        const std::string name =
            std::string(weir::ToString(point.algorithm)) + " " + weir::ToString(point.op) +
            OtherCall(point) + " of " + std::to_string(point.size.Count()) + " B, " +
            ToString(point.placement) + ", " + std::to_string(point.nodes) + " x " + point.system;
        const Time fastest = std::min({point.analytical, point.stream, point.flow});
        cases.push_back(
            {name, {flow, flow + group}, point.stream.ToSeconds(), point.flow.ToSeconds()});
        cases.push_back(
            {name, {"fastest/least time"}, point.least.ToSeconds(), fastest.ToSeconds()});
        if (IsAlone(point))
        {
            cases.push_back({name,
                             {"stream/closed form"},
                             point.analytical.ToSeconds(),
                             point.stream.ToSeconds()});
        }
    }
    return cases;
}

} // namespace weir
