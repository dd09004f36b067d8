// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/random-draws.h"
#include "scenarios/bound/samples.h"
#include "scenarios/bound/scenario-position.h"
#include "scenarios/readers/check-wiring.h"
#include "scenarios/readers/read-scenario.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/simulation/run-result.h"
#include "scenarios/simulation/wire-scenario.h"

#include <cmath>
#include <stdexcept>

namespace weir
{
namespace
{

constexpr double MIN_BYTES = 8;
constexpr double MIN_SLOWED_BYTES = 32768; //!< smaller calls hardly load a link

/** GPUs of the first and of the second job; second is empty when there is no second job. */
struct JobGpus
{
    std::vector<uint32_t> first;
    std::vector<uint32_t> second;
};

/**
 * Assigns GPUs by halves of the nodes, every other node, or every other GPU, or all to one job.
 * @param areMixed only every other node or GPU
 */
JobGpus
DrawGpus(RandomDraws& draws, const CollectiveSweepSpec& machine, bool areMixed)
{
    const uint32_t nodes = machine.cluster.nodes;
    const std::vector<int> mixed{1, 2};
    const int kind = draws.OneOf(areMixed ? mixed : std::vector<int>{0, 1, 1, 1, 2, 2, 2, 3});
    JobGpus gpus;
    for (uint32_t node = 0; node < nodes; node++)
    {
        for (uint32_t local = 0; local < machine.gpusPerNode; local++)
        {
            const bool isSecond = kind == 0   ? node >= (nodes + 1) / 2
                                  : kind == 1 ? node % 2 == 1
                                  : kind == 2 ? local % 2 == 1
                                              : false;
            (isSecond ? gpus.second : gpus.first)
                .push_back(node * machine.cluster.node.gpus + local);
        }
    }
    if (gpus.first.size() < 2 || (kind != 3 && gpus.second.size() < 2))
    {
        throw std::invalid_argument("a job of fewer than two GPUs");
    }
    return gpus;
}

/** The YAML of a job that repeats @p call; @p extent is its key `calls` or `until`. */
std::string
TextOf(const std::string& name,
       const CollectiveSweepSpec& call,
       const std::string& extent,
       const std::vector<uint32_t>& gpus)
{
    const bool isCounted = extent.find("calls") == 0;
    std::string list;
    for (const uint32_t gpu : gpus)
    {
        list += (list.empty() ? "" : ", ") + std::to_string(gpu);
    }
    const auto& overrides = call.overrides;
    return "{name: " + name + ", collective: {op: " + ToString(call.op) +
           ", bytes: " + std::to_string(call.sizes.front().Count()) + "B" +
           (overrides.algorithm ? std::string(", algorithm: ") + ToString(*overrides.algorithm)
                                : "") +
           (overrides.protocol ? std::string(", protocol: ") + ToString(*overrides.protocol) : "") +
           (isCounted ? ", " + extent + "}" : "}, " + extent) + ", placement: {gpus: [" + list +
           "]}}";
}

/** Fixed, so that new systems in the catalog do not change samples. */
const std::vector<const char*> SYSTEMS{
    "a100-pcie-8", "a100-pcie-hdr", "a100-pcie-pair", "alps-gh200", "aws-p3-16xlarge",
    "azure-ndv5",  "dgx-a100",      "dgx1-v100",      "dgx2-v100",  "gb200-nvl72",
    "hgx-a100",    "hgx-b200",      "hgx-b300",       "hgx-h100",   "hgx-h200-4",
    "hgx-h200",    "hgx-h800",      "oci-a100",       "perlmutter", "polaris"};
const std::vector<uint32_t> NODES{1, 1, 1, 2, 2, 3, 4, 4, 6, 8, 8, 12, 16};
const std::vector<uint32_t> NODES_OF_LARGE_GROUPS{
    2, 4, 8, 12, 16, 16, 24, 32, 32, 48, 64, 64, 96, 128, 128, 128, 256, 256};
/** Operations that are hard to estimate are more frequent; sends and receives are exact. */
const std::vector<CollectiveOp> OPS{
    CollectiveOp::AllReduce,     CollectiveOp::AllReduce,     CollectiveOp::AllReduce,
    CollectiveOp::AllReduce,     CollectiveOp::AllReduce,     CollectiveOp::AllReduce,
    CollectiveOp::AllReduce,     CollectiveOp::AllReduce,     CollectiveOp::AllReduce,
    CollectiveOp::AllReduce,     CollectiveOp::AllReduce,     CollectiveOp::AllReduce,
    CollectiveOp::AllReduce,     CollectiveOp::AllReduce,     CollectiveOp::AllGather,
    CollectiveOp::AllGather,     CollectiveOp::AllGather,     CollectiveOp::ReduceScatter,
    CollectiveOp::ReduceScatter, CollectiveOp::ReduceScatter, CollectiveOp::Broadcast,
    CollectiveOp::Broadcast,     CollectiveOp::Reduce,        CollectiveOp::Reduce,
    CollectiveOp::AllToAll,      CollectiveOp::Gather,        CollectiveOp::Scatter,
    CollectiveOp::SendRecv,      CollectiveOp::Send};

/**
 * Algorithms to request in place of NCCL's choice; those that NCCL chooses rarely occur several
 * times.
 */
std::vector<Algorithm>
AlgorithmsOf(CollectiveOp op)
{
    switch (op)
    {
    case CollectiveOp::AllReduce:
        return {Algorithm::Ring,
                Algorithm::Tree,
                Algorithm::Tree,
                Algorithm::Nvls,
                Algorithm::Nvls,
                Algorithm::NvlsTree,
                Algorithm::NvlsTree,
                Algorithm::NvlsTree,
                Algorithm::CollNetDirect,
                Algorithm::CollNetChain};
    case CollectiveOp::AllGather:
    case CollectiveOp::ReduceScatter:
        return {Algorithm::Ring, Algorithm::Nvls, Algorithm::Pat, Algorithm::Pat};
    default:
        return {};
    }
}

struct GroupSizes
{
    const std::vector<uint32_t>& nodes;
    uint32_t scale; //!< factor on nodes
    uint32_t min;   //!< minimum number of ranks
    uint32_t max;
};

GroupSizes
SizesOf(Population population, bool isLarge)
{
    if (population == Population::LargerGroups)
    {
        return {NODES_OF_LARGE_GROUPS, LARGER_GROUPS, MAX_RANKS + 1, MAX_RANKS * LARGER_GROUPS};
    }
    return isLarge ? GroupSizes{NODES_OF_LARGE_GROUPS, 1, FEW_RANKS + 1, MAX_RANKS}
                   : GroupSizes{NODES, 1, 2, FEW_RANKS};
}

/**
 * Draws the machine and the ranks of @p call. @throws InputError or std::invalid_argument when the
 * draw is infeasible.
 */
void
DrawMachine(RandomDraws& draws,
            Population population,
            bool isLarge,
            const Catalog& catalog,
            SampledCall& call)
{
    const GroupSizes sizes = SizesOf(population, isLarge);
    const uint32_t nodes = draws.OneOf(sizes.nodes) * sizes.scale;
    const bool isNetworked = population == Population::OtherFabrics || nodes > 1;
    const std::string fabric = isNetworked ? DrawFabric(draws, population) : "";
    const std::string base = draws.OneOf(SYSTEMS);
    call.system = "{base: " + base + ", nodes: " + std::to_string(nodes) + fabric + "}";
    const YamlNode system = YamlNode::Parse(call.system, "sample");
    call.spec.cluster = ReadSystem(system, catalog).cluster;
    if (population == Population::OtherMachines)
    {
        ChangeSpeeds(call.spec.cluster);
    }
    CheckWiring(system, catalog, call.spec.cluster);
    const uint32_t all = call.spec.cluster.node.gpus;
    call.spec.gpusPerNode = draws.With(0.6) ? all : 1 + static_cast<uint32_t>(draws.Bits() % all);
    const uint32_t ranks = nodes * call.spec.gpusPerNode;
    if (ranks < sizes.min || ranks > sizes.max ||
        (population == Population::OtherFabrics && nodes < 4))
    {
        throw std::invalid_argument("a group outside the population");
    }
}

/**
 * Draws operation, overrides, NCCL version and size of @p call, of at least @p min bytes. @throws
 * std::invalid_argument when the reference would need too many packets or routes.
 */
void
DrawOperation(RandomDraws& draws, Fidelity reference, double minBytes, SampledCall& call)
{
    constexpr double MAX_BYTES = 4294967296;        // 4 GiB
    constexpr double MAX_PACKET_BYTES = 1073741824; // 1 GiB over all ranks: a second of simulation
    call.spec.op = draws.OneOf(OPS);
    const auto algorithms = AlgorithmsOf(call.spec.op);
    if (!algorithms.empty() && draws.With(0.7))
    {
        call.spec.overrides.algorithm = draws.OneOf(algorithms);
    }
    if (draws.With(0.3))
    {
        call.spec.overrides.protocol =
            draws.OneOf(std::vector<Protocol>{Protocol::Ll, Protocol::Ll128, Protocol::Simple});
    }
    call.spec.nccl.version = DrawNcclVersion(draws);
    call.spec.nccl.queuePairs = draws.OneOf(std::vector<uint32_t>{1, 1, 1, 2, 4});
    const double bytes = draws.LogUniform(minBytes, MAX_BYTES);
    const double exponent = std::floor(std::log2(bytes));
    const bool isPower = draws.With(0.5);
    call.spec.sizes = {Bytes(isPower ? static_cast<int64_t>(std::exp2(exponent))
                                     : static_cast<int64_t>(bytes) / 8 * 8)};
    const double ranks = static_cast<double>(call.spec.gpusPerNode) * call.spec.cluster.nodes;
    if ((reference == Fidelity::Packet && ranks * bytes > MAX_PACKET_BYTES) ||
        (call.spec.op == CollectiveOp::AllToAll && ranks > MAX_ALL_TO_ALL_RANKS))
    {
        throw std::invalid_argument("a call that takes long");
    }
}

/**
 * Draws the scenario, without its fidelity. @param isSlowed draw jobs that are likely to slow each
 * other
 */
std::string
DrawScenario(RandomDraws& draws, Fidelity reference, bool isSlowed, const Catalog& catalog)
{
    const double minBytes = isSlowed ? MIN_SLOWED_BYTES : MIN_BYTES;
    SampledCall first;
    DrawMachine(draws, Population::Calibrated, false, catalog, first);
    const JobGpus gpus = DrawGpus(draws, first.spec, isSlowed);
    DrawOperation(draws, reference, minBytes, first);
    SampledCall second;
    second.spec.cluster = first.spec.cluster;
    second.spec.gpusPerNode = first.spec.gpusPerNode;
    DrawOperation(draws, reference, minBytes, second);
    const auto calls = [&] {
        return "calls: " + std::to_string(draws.OneOf(std::vector<int>{1, 2, 3, 5}));
    };
    std::string jobs = TextOf("first", first.spec, calls(), gpus.first);
    if (!gpus.second.empty())
    {
        const std::string extent = draws.With(0.7) ? "until: first" : calls();
        jobs += ", " + TextOf("second", second.spec, extent, gpus.second);
    }
    return "title: sample\nsystem: " + first.system + "\njobs: [" + jobs +
           "]\nnetwork: {nccl: {version: " + first.spec.nccl.version +
           ", queuePairs: " + std::to_string(first.spec.nccl.queuePairs) + "}}\n";
}

/** The estimate of the scenario @p text in a fidelity. */
SampledEstimate
Estimate(const std::string& text, Fidelity fidelity, Fidelity reference, const Catalog& catalog)
{
    const Scenario scenario = ReadSample(text, fidelity, catalog);
    const auto simulation = RunWithin(MAX_WORK_OF_JOBS, scenario);
    return {PositionOfCalls(scenario, *simulation, reference),
            CollectResult(*simulation).collectives.front().MeanTime()};
}

/**
 * The most slices that the reference may move for a call of a large group: some seconds of
 * simulation.
 */
double
MaxSlicesOf(Fidelity reference)
{
    constexpr double MANY_IN_PACKETS = 0x1p18;
    return reference == Fidelity::Packet ? MANY_IN_PACKETS : MANY_SLICES;
}

/** Whether case @p index has a large group: half of the cases that are not jobs. */
bool
IsLarge(uint64_t index)
{
    return index % SCENARIOS_PER_JOBS == 1;
}

} // namespace

Scenario
ReadSample(const std::string& text, Fidelity fidelity, const Catalog& catalog)
{
    YamlNode node = YamlNode::Parse(text, "sample");
    node.Set("network.fidelity", ToString(fidelity));
    return ReadScenario(node, catalog);
}

std::unique_ptr<Simulation>
RunWithin(uint64_t maxWork, const Scenario& scenario)
{
    auto simulation = WireScenario(scenario);
    const bool isFluid = FormOf(scenario.fidelity) == FlowForm::Fluid;
    uint64_t work = 0;
    while (simulation->Engines().Step())
    {
        work += isFluid ? 1 + simulation->GetTransport().ActiveFlows() : 1;
        if (work > maxWork)
        {
            throw std::invalid_argument("a run that takes long");
        }
    }
    if (!simulation->IsFinished())
    {
        throw std::invalid_argument("a run that never ends");
    }
    return simulation;
}

SampledRun
SampleJobs(uint64_t seed, uint64_t index, Fidelity reference, const Catalog& catalog)
{
    constexpr double SLOWED = 0.4; // share of cases; random draws would give few
    RandomDraws draws(seed, index);
    const bool isSlowed = draws.With(SLOWED);
    return DrawFeasible([&] {
        SampledRun run;
        run.text = DrawScenario(draws, reference, isSlowed, catalog);
        for (const Fidelity fidelity : EstimatesOf(reference))
        {
            run.estimates.push_back(Estimate(run.text, fidelity, reference, catalog));
            if (isSlowed && !IsConcurrent(run.estimates.back().position))
            {
                throw std::invalid_argument("a job that no other slows");
            }
        }
        run.reference = Estimate(run.text, reference, reference, catalog).time;
        return run;
    });
}

Time
TimeOfJobs(const std::string& text, Fidelity fidelity, const Catalog& catalog, uint64_t maxWork)
{
    const auto simulation = RunWithin(maxWork, ReadSample(text, fidelity, catalog));
    return CollectResult(*simulation).collectives.front().MeanTime();
}

SampledCall
SampleCall(uint64_t seed,
           uint64_t index,
           Population population,
           Fidelity reference,
           const Catalog& catalog)
{
    RandomDraws draws(seed, index);
    const bool isLarge = population == Population::Calibrated && IsLarge(index);
    return DrawFeasible([&] {
        SampledCall call;
        DrawMachine(draws, population, isLarge, catalog, call);
        DrawOperation(draws, reference, MIN_BYTES, call);
        const auto run = [&](Fidelity fidelity) {
            call.spec.fidelity = fidelity;
            return RunCollectiveSweep(call.spec).front();
        };
        for (const Fidelity fidelity : EstimatesOf(reference))
        {
            CollectivePoint point = run(fidelity);
            call.estimates.push_back({std::move(point.position), point.time});
            const auto& features = call.estimates.back().position.features;
            if (isLarge && features.at(CallPositions::SLICES) > std::log2(MaxSlicesOf(reference)))
            {
                throw std::invalid_argument("a call that takes long");
            }
        }
        const SampledEstimate& last = call.estimates.back();
        call.reference = last.position.unsampled.empty() ? run(reference).time : last.time;
        return call;
    });
}

} // namespace weir
