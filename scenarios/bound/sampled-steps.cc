// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/random-draws.h"
#include "scenarios/bound/samples.h"
#include "scenarios/bound/scenario-position.h"
#include "scenarios/readers/read-model.h"
#include "scenarios/readers/read-scenario.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/simulation/run-result.h"

#include <stdexcept>
#include <variant>
#include <vector>

namespace weir
{

namespace
{

constexpr uint32_t MAX_REPLICAS = 64;        //!< of a pipeline stage; `flow` takes long on more
constexpr uint32_t MAX_GPUS_OF_LARGER = 256; //!< for populations with more replicas
constexpr double MAX_WORK = 8192;            //!< layer passes summed over GPUs, as WorkOf counts
constexpr double MAX_CHUNKS = 500000;        //!< in a neighbor's calls, as ChunksOf counts
constexpr uint64_t MAX_RUN = 25000000;       //!< work of a run, as RunWithin counts: some seconds

const std::vector<uint32_t> FEW_NODES{1, 2, 2, 4, 4, 8};
const std::vector<uint32_t> MANY_NODES{12, 12, 16, 16, 32, 32, 64, 128};

struct Machine
{
    const char* system;
    uint32_t gpus; //!< of a node
    const char* precision{"bf16"};
};

const std::vector<Machine> MACHINES{{"hgx-h100", 8},
                                    {"hgx-h800", 8},
                                    {"hgx-h200", 8},
                                    {"hgx-b200", 8},
                                    {"dgx-a100", 8},
                                    {"hgx-a100", 8},
                                    {"dgx1-v100", 8, "fp16"},
                                    {"alps-gh200", 4},
                                    {"perlmutter", 4},
                                    {"polaris", 4}};

/** Fixed, so that new models in the catalog do not change samples. */
const std::vector<const char*> DENSE{"gpt-1.7b",
                                     "gpt-3.6b",
                                     "gpt-7.5b",
                                     "llama-2-7b",
                                     "llama-2-13b",
                                     "llama-3-8b",
                                     "gpt-22b",
                                     "gpt-39b",
                                     "llama-2-70b",
                                     "llama-3-70b",
                                     "gpt-175b",
                                     "llama-3-405b",
                                     "gpt-530b",
                                     "gpt-1t"};
const std::vector<const char*> MIXTURES{
    "mixtral-8x7b", "mixtral-8x22b", "deepseek-moe-16b", "qwen2-57b-a14b"};
const std::vector<const char*> FRAMEWORKS{"megatron-lm",
                                          "megatron-core",
                                          "nemo",
                                          "deepspeed",
                                          "fsdp",
                                          "fsdp2",
                                          "pytorch-ddp",
                                          "torchtitan",
                                          "zero-bubble"};

struct SampledCluster
{
    Machine machine;
    uint32_t nodes;

    uint32_t Gpus() const
    {
        return nodes * machine.gpus;
    }
};

/** Whether a population contains plans of @p replicas replicas. */
bool
HasReplicas(Population population, uint32_t replicas)
{
    return population == Population::LargerGroups
               ? replicas > MAX_REPLICAS && replicas <= MAX_REPLICAS * LARGER_GROUPS
               : replicas <= MAX_REPLICAS;
}

struct RankGrid
{
    uint32_t tensor;
    uint32_t pipeline;
    uint32_t context;
    uint32_t data;
};

/** Draws the degrees of @p gpus ranks. @throws std::invalid_argument when none fit. */
RankGrid
DrawGrid(RandomDraws& draws, Population population, uint32_t gpus)
{
    constexpr int MAX_TRIES = 100;
    for (int i = 0; i < MAX_TRIES; i++)
    {
        RankGrid grid{draws.OneOf(std::vector<uint32_t>{1, 2, 4, 8}),
                      draws.OneOf(std::vector<uint32_t>{1, 1, 2, 4, 8, 8, 12, 16, 32, 64}),
                      draws.With(0.1) ? 2u : 1u,
                      0};
        const uint32_t others = grid.tensor * grid.pipeline * grid.context;
        grid.data = gpus / others;
        if (grid.data * others == gpus && HasReplicas(population, grid.data * grid.context))
        {
            return grid;
        }
    }
    throw std::invalid_argument("no plan of so many ranks");
}

/** Draws the pipeline schedule; @p virtualStages is set to the number of model chunks per stage. */
std::string
DrawSchedule(RandomDraws& draws, uint32_t& virtualStages)
{
    virtualStages = draws.With(0.3) ? draws.OneOf(std::vector<uint32_t>{2, 2, 3, 6}) : 1;
    return virtualStages > 1
               ? ", schedule: interleaved, virtualStages: " + std::to_string(virtualStages)
               : draws.OneOf(std::vector<std::string>{
                     ", schedule: 1f1b", ", schedule: gpipe", ", schedule: zb-h1"});
}

/** Draws a model, cut to @p layers layers or whole; then @p layers is set to its depth. */
std::string
DrawModel(RandomDraws& draws,
          bool isMixture,
          const std::string& name,
          const Catalog& catalog,
          uint32_t& layers)
{
    const std::string base = draws.OneOf(isMixture ? MIXTURES : DENSE);
    if (draws.With(0.25))
    {
        layers = ReadModel(YamlNode::Parse(base, "sample"), catalog).layers;
        return base;
    }
    return "{base: " + base + ", name: " + name +
           ", source: a sample, layers: " + std::to_string(layers) + "}";
}

std::string
DrawJob(RandomDraws& draws,
        Population population,
        const Machine& machine,
        const Catalog& catalog,
        const std::string& name,
        uint32_t gpus)
{
    const bool isMixture = draws.With(0.2);
    const auto [tensor, pipeline, context, data] = DrawGrid(draws, population, gpus);
    uint32_t virtualStages = 1;
    const std::string schedule = pipeline > 1 ? DrawSchedule(draws, virtualStages) : "";
    uint32_t layers =
        pipeline == 1 ? draws.OneOf(std::vector<uint32_t>{4, 8, 8, 16, 32, 64})
                      : pipeline * virtualStages * draws.OneOf(std::vector<uint32_t>{1, 1, 2, 4});
    const std::string model = DrawModel(draws, isMixture, name, catalog, layers);
    const uint32_t passes = pipeline * draws.OneOf(std::vector<uint32_t>{1, 2, 4, 8, 16});
    const uint32_t microBatch = draws.OneOf(std::vector<uint32_t>{1, 1, 1, 2, 4});
    if (static_cast<double>(layers) * passes * gpus / pipeline > MAX_WORK) // before it is read
    {
        throw std::invalid_argument("a step that takes long");
    }
    const auto sometimes = [&](double probability, const std::string& keys) {
        return draws.With(probability) ? ", " + keys : "";
    };
    std::string plan =
        "tensor: " + std::to_string(tensor) + ", pipeline: " + std::to_string(pipeline) +
        ", data: " + std::to_string(data) + ", microBatch: " + std::to_string(microBatch) +
        ", globalBatch: " + std::to_string(data * passes * microBatch) + schedule;
    plan += context > 1 ? ", context: 2" : "";
    plan += sometimes(0.25, std::string("framework: ") + draws.OneOf(FRAMEWORKS));
    plan += tensor > 1 ? sometimes(0.6, "sequenceParallel: true") : "";
    plan += tensor == 8 ? sometimes(0.05, "tensorShape: [2, 2, 2]") : "";
    plan +=
        isMixture
            ? sometimes(0.8, "expert: " + std::to_string(draws.OneOf(std::vector<int>{2, 4, 8})))
            : "";
    if (data > 1)
    {
        plan += draws.OneOf(
            std::vector<const char*>{"",
                                     "",
                                     ", overlapGradients: false",
                                     ", distributedOptimizer: true",
                                     ", distributedOptimizer: true, bucket: 80MiB",
                                     ", dataSharding: gradients",
                                     ", dataSharding: full",
                                     ", dataSharding: {state: full, ranks: 8, prefetch: 1}"});
    }
    plan += draws.OneOf(
        std::vector<const char*>{"", ", recomputation: full", ", recomputation: selective"});
    return "{name: " + name + ", model: " + model + ", parallel: {" + plan +
           "}, precision: " + machine.precision + ", steps: 1";
}

/** Draws a job that runs concurrently with the first job until that ends. */
std::string
DrawNeighbor(RandomDraws& draws,
             Population population,
             const Machine& machine,
             const Catalog& catalog,
             uint32_t gpus)
{
    const std::string mebibytes =
        std::to_string(static_cast<int>(draws.LogUniform(1, 512))) + "MiB";
    switch (draws.OneOf(std::vector<int>{0, 0, 0, 1, 1, 2}))
    {
    case 0:
        return DrawJob(draws, population, machine, catalog, "second", gpus);
    case 1: {
        const std::string every =
            draws.OneOf(std::vector<const char*>{"", ", every: 10ms", ", every: 50ms"});
        const std::string op =
            draws.OneOf(std::vector<const char*>{"all-reduce", "all-gather", "all-to-all"});
        return "{name: second, until: first, gpus: " + std::to_string(gpus) +
               ", collective: {op: " + op + ", bytes: " + mebibytes + every + "}";
    }
    default:
        return "{name: second, until: first, traffic: {pattern: permutation, bytes: " + mebibytes +
               ", every: 20ms, times: 100}";
    }
}

/** Draws background flows, failing links, or one degraded link. */
std::string
DrawEvents(RandomDraws& draws, const ClusterSpec& spec)
{
    const auto milliseconds = [&](double min, double max) {
        return std::to_string(static_cast<int>(draws.LogUniform(min, max))) + "ms";
    };
    switch (draws.OneOf(std::vector<int>{0, 1, 2}))
    {
    case 0:
        return "{kind: background, at: 0s, from: node0/gpu0, to: node" +
               std::to_string(spec.nodes - 1) +
               "/gpu0, bytes: 256MiB, every: " + milliseconds(5, 100) + ", times: 50}";
    case 1: {
        const std::string seed = std::to_string(draws.Bits() % 1000);
        const std::string repair = milliseconds(5, 500);
        const std::string failure = milliseconds(1000, 60000);
        const std::string links =
            draws.OneOf(std::vector<const char*>{"switch-to-switch", "nic-to-switch"});
        return "{kind: random-failures, at: 0s, links: " + links +
               ", meanTimeToFailure: " + failure + ", meanTimeToRepair: " + repair +
               ", seed: " + seed + "}";
    }
    default:
        break;
    }
    const Cluster cluster(spec);
    const Topology& topology = cluster.GetTopology();
    std::vector<LinkId> links; // from NICs to switches
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        const Link& link = topology.GetLink(LinkId(i));
        if (topology.GetDevice(link.from).kind == DeviceKind::Nic &&
            IsNetworkSwitch(topology.GetDevice(link.to)))
        {
            links.push_back(LinkId(i));
        }
    }
    const Link& link = topology.GetLink(draws.OneOf(links));
    return "{kind: degrade, at: 0s, from: " + topology.GetDevice(link.from).name +
           ", to: " + topology.GetDevice(link.to).name +
           ", factor: " + std::to_string(draws.LogUniform(0.05, 0.9)) + "}";
}

/**
 * Draws machine and number of nodes. For the calibrated population this is drawn once, so that
 * redrawing infeasible plans does not bias the sizes.
 */
SampledCluster
DrawCluster(RandomDraws& draws, Population population, bool isNetworked)
{
    const bool hasLargerGroups = population == Population::LargerGroups;
    return DrawFeasible([&] {
        const SampledCluster cluster{
            draws.OneOf(MACHINES),
            draws.OneOf(hasLargerGroups || draws.With(0.3) ? MANY_NODES : FEW_NODES)};
        const bool isOutside =
            isNetworked ? cluster.nodes == 1
            : hasLargerGroups
                ? cluster.Gpus() <= MAX_REPLICAS || cluster.Gpus() > MAX_GPUS_OF_LARGER
                : population == Population::OtherFabrics && cluster.nodes < 4;
        if (isOutside)
        {
            throw std::invalid_argument("a cluster outside the population");
        }
        return cluster;
    });
}

/** Draws the scenario's YAML, without its fidelity. */
std::string
DrawScenario(RandomDraws& draws,
             Population population,
             const SampledCluster& cluster,
             const Catalog& catalog)
{
    const uint32_t nodes = cluster.nodes;
    const uint32_t gpus = cluster.Gpus();
    const bool isNetworked = nodes > 1;
    const std::string system = std::string("{base: ") + cluster.machine.system +
                               ", nodes: " + std::to_string(nodes) +
                               (isNetworked ? DrawFabric(draws, population) : "") + "}";
    const bool hasNeighbor = isNetworked && draws.With(0.3);
    const bool hasEvents = isNetworked && !hasNeighbor && draws.With(0.2);
    std::string jobs = DrawJob(
        draws, population, cluster.machine, catalog, "first", hasNeighbor ? gpus / 2 : gpus);
    if (hasNeighbor)
    {
        const std::string placement =
            draws.With(0.5) ? ", placement: {kind: strided, stride: 2}}" : "}";
        jobs += placement + ", " +
                DrawNeighbor(draws, population, cluster.machine, catalog, gpus / 2) + placement;
    }
    else
    {
        jobs += "}";
    }
    const std::string events =
        hasEvents
            ? DrawEvents(draws, ReadSystem(YamlNode::Parse(system, "sample"), catalog).cluster)
            : "";
    return "title: sample\nsystem: " + system + "\njobs: [" + jobs + "]\nevents: [" + events +
           "]\nnetwork: {nccl: " + DrawNcclVersion(draws) + "}\n";
}

/**
 * Layer passes summed over GPUs in a step of all jobs; weighted more where each pass moves more
 * data.
 */
double
WorkOf(const Scenario& scenario)
{
    double work = 0;
    for (const JobSpec& job : scenario.jobs)
    {
        const ParallelPlan& plan = job.plan;
        const bool isGathered = plan.sharding.state >= ShardedState::Gradients || plan.expert > 1;
        work += std::get<Transformer>(job.network).layers * plan.MicroBatches() * plan.tensor *
                static_cast<double>(plan.data) * plan.context *
                (isGathered ? 1 + plan.data / 4.0 : 1);
    }
    return work;
}

/**
 * Chunks that the calls of collective jobs move: every rank sends one to or for every other rank. A
 * job that makes back-to-back calls until the step ends may make 100 000 of them.
 */
double
ChunksOf(const RunResult& result)
{
    double chunks = 0;
    for (const CollectiveJobResult& job : result.collectives)
    {
        chunks += static_cast<double>(job.calls.size()) * static_cast<double>(job.gpus * job.gpus);
    }
    return chunks;
}

/** Whether case @p index has contention: five of nine cases do. */
bool
WantsContention(uint64_t index)
{
    return index % 9 >= 4;
}

/** Reads the scenario @p text. @throws std::invalid_argument when it takes too long. */
Scenario
ReadStep(const std::string& text, Population population, Fidelity fidelity, const Catalog& catalog)
{
    Scenario scenario = ReadSample(text, fidelity, catalog);
    if (WorkOf(scenario) > MAX_WORK)
    {
        throw std::invalid_argument("a step that takes long");
    }
    if (population == Population::OtherMachines)
    {
        ChangeSpeeds(scenario.cluster);
    }
    return scenario;
}

SampledEstimate
Estimate(const Scenario& scenario)
{
    const RunResult result = CollectResult(*RunWithin(MAX_RUN, scenario));
    if (ChunksOf(result) > MAX_CHUNKS)
    {
        throw std::invalid_argument("a neighbor of very many calls");
    }
    return {PositionOf(scenario, result), result.StepTime()};
}

} // namespace

SampledRun
SampleStep(uint64_t seed, uint64_t index, Population population, const Catalog& catalog)
{
    RandomDraws draws(seed, index);
    const bool isCalibrated = population == Population::Calibrated;
    SampledCluster cluster = DrawCluster(draws, population, isCalibrated && WantsContention(index));
    return DrawFeasible([&] {
        if (!isCalibrated) // on some clusters no step of a shifted population is short enough
        {
            cluster = DrawCluster(draws, population, false);
        }
        SampledRun step;
        step.text = DrawScenario(draws, population, cluster, catalog);
        const auto read = [&](Fidelity fidelity) {
            return ReadStep(step.text, population, fidelity, catalog);
        };
        const Scenario stream = read(Fidelity::Stream);
        if (isCalibrated && IsContended(stream) != WantsContention(index))
        {
            throw std::invalid_argument("a step of the other kind");
        }
        if (stream.events.empty() && stream.traffics.empty()) // it ignores link load
        {
            step.estimates.push_back(Estimate(read(Fidelity::Analytical)));
        }
        step.estimates.push_back(Estimate(stream));
        step.reference = Estimate(read(Fidelity::Flow)).time;
        return step;
    });
}

} // namespace weir
