// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/sampled-steps.h"

#include "scenarios/bound/random-draws.h"
#include "scenarios/bound/sampled-fabric.h"
#include "scenarios/bound/step-position.h"
#include "scenarios/readers/read-scenario.h"
#include "scenarios/simulation/run-scenario.h"
#include "scenarios/yaml/input-error.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace weir
{

namespace
{

constexpr uint32_t MAX_GPUS = 1024;   //!< of a calibrated scenario
constexpr uint32_t MAX_REPLICAS = 64; //!< of a pipeline stage there: `flow` takes long on more
constexpr uint32_t MAX_GPUS_OF_LARGER = 256; //!< where there are more replicas

const std::vector<uint32_t> FEW_NODES{1, 2, 2, 4, 4, 8};
const std::vector<uint32_t> MANY_NODES{8, 8, 12, 12, 12, 16, 16, 16, 16, 32, 32, 64, 128};

struct Machine
{
    const char* system;
    uint32_t gpus; //!< of a node
};

const std::vector<Machine> MACHINES{{"hgx-h100", 8},
                                    {"hgx-h800", 8},
                                    {"hgx-h200", 8},
                                    {"hgx-b200", 8},
                                    {"dgx-a100", 8},
                                    {"hgx-a100", 8},
                                    {"dgx1-v100", 8},
                                    {"alps-gh200", 4},
                                    {"perlmutter", 4},
                                    {"polaris", 4}};

const std::vector<const char*> DENSE{
    "gpt-1.7b", "gpt-3.6b", "gpt-7.5b", "llama-2-7b", "llama-2-13b", "llama-3-8b", "gpt-22b"};
const std::vector<const char*> MIXTURES{"mixtral-8x7b", "deepseek-moe-16b"};

/** Whether a population has plans of so many replicas. */
bool
HasReplicas(Population population, uint32_t replicas)
{
    return population == Population::LargerGroups
               ? replicas > MAX_REPLICAS && replicas <= MAX_REPLICAS * LARGER_GROUPS
               : replicas <= MAX_REPLICAS;
}

/** How ranks are divided. */
struct RankGrid
{
    uint32_t tensor;
    uint32_t pipeline;
    uint32_t context;
    uint32_t data;
};

/** A grid of @p gpus ranks. @throws std::invalid_argument when none is found. */
RankGrid
DrawGrid(RandomDraws& draws, Population population, uint32_t gpus)
{
    constexpr int MAX_TRIES = 100;
    for (int i = 0; i < MAX_TRIES; i++)
    {
        RankGrid grid{draws.OneOf(std::vector<uint32_t>{1, 2, 4, 8}),
                      draws.OneOf(std::vector<uint32_t>{1, 1, 2, 4, 8}),
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

/** The plan's keys, for a job of @p gpus ranks. */
std::string
DrawPlan(RandomDraws& draws, Population population, uint32_t gpus, bool isMixture)
{
    const auto [tensor, pipeline, context, data] = DrawGrid(draws, population, gpus);
    const uint32_t passes = pipeline * draws.OneOf(std::vector<uint32_t>{1, 2, 4});
    std::string text =
        "tensor: " + std::to_string(tensor) + ", pipeline: " + std::to_string(pipeline) +
        ", data: " + std::to_string(data) + ", globalBatch: " + std::to_string(data * passes);
    if (context > 1)
    {
        text += ", context: 2";
    }
    if (tensor > 1 && draws.With(0.6))
    {
        text += ", sequenceParallel: true";
    }
    if (pipeline > 1)
    {
        text += draws.OneOf(std::vector<const char*>{", schedule: 1f1b",
                                                     ", schedule: gpipe",
                                                     ", schedule: zb-h1",
                                                     ", schedule: interleaved, virtualStages: 2"});
    }
    if (isMixture && draws.With(0.8))
    {
        text += ", expert: " + std::to_string(draws.OneOf(std::vector<int>{2, 4, 8}));
    }
    if (data > 1)
    {
        text += draws.OneOf(std::vector<const char*>{"",
                                                     "",
                                                     ", distributedOptimizer: true",
                                                     ", distributedOptimizer: true, bucket: 80MiB",
                                                     ", dataSharding: gradients",
                                                     ", dataSharding: full"});
    }
    return text + draws.OneOf(std::vector<const char*>{"", ", recomputation: full"});
}

std::string
DrawJob(RandomDraws& draws, Population population, const std::string& name, uint32_t gpus)
{
    const bool isMixture = draws.With(0.2);
    return "{name: " + name + ", model: {base: " + draws.OneOf(isMixture ? MIXTURES : DENSE) +
           ", name: " + name + ", source: a sample, layers: 8}, parallel: {" +
           DrawPlan(draws, population, gpus, isMixture) + "}, steps: 1}";
}

/** The scenario's text, but for its fidelity. */
std::string
DrawScenario(RandomDraws& draws, Population population)
{
    const bool hasLargerGroups = population == Population::LargerGroups;
    const Machine& machine = draws.OneOf(MACHINES);
    const uint32_t nodes =
        draws.OneOf(hasLargerGroups || draws.With(0.35) ? MANY_NODES : FEW_NODES);
    const uint32_t gpus = nodes * machine.gpus;
    if (gpus > (hasLargerGroups ? MAX_GPUS_OF_LARGER : MAX_GPUS) ||
        (population == Population::OtherFabrics && nodes < 4))
    {
        throw std::invalid_argument("a cluster outside the population");
    }
    const bool isNetworked = nodes > 1;
    std::string text = std::string("title: sample\nsystem: {base: ") + machine.system +
                       ", nodes: " + std::to_string(nodes) +
                       (isNetworked ? DrawFabric(draws, population) : "") + "}\njobs: [";
    const bool hasNeighbor = isNetworked && draws.With(0.15);
    text += DrawJob(draws, population, "first", hasNeighbor ? gpus / 2 : gpus);
    if (hasNeighbor)
    {
        text += ", " + DrawJob(draws, population, "second", gpus / 2);
    }
    return text + "]\n";
}

Time
TimeOf(const std::string& text,
       Population population,
       Fidelity fidelity,
       const Catalog& catalog,
       RegimePosition* position)
{
    Scenario scenario = ReadScenario(
        YamlNode::Parse(text + "network: {fidelity: " + ToString(fidelity) + "}\n", "sample"),
        catalog);
    if (population == Population::OtherMachines)
    {
        ChangeSpeeds(scenario.cluster);
    }
    PlainLoop loop;
    const RunResult result = RunScenario(scenario, loop, [](Time) {});
    if (!result.waiting.empty())
    {
        throw std::invalid_argument("a run that never ends");
    }
    if (position != nullptr)
    {
        *position = PositionOf(scenario, result);
    }
    return result.StepTime();
}

} // namespace

SampledStep
SampleStep(uint64_t seed, uint64_t index, Population population, const Catalog& catalog)
{
    RandomDraws draws(seed, index);
    return DrawnUntilPossible([&] {
        SampledStep step;
        step.text = DrawScenario(draws, population);
        step.analytical =
            TimeOf(step.text, population, Fidelity::Analytical, catalog, &step.analyticalPosition);
        step.stream =
            TimeOf(step.text, population, Fidelity::Stream, catalog, &step.streamPosition);
        step.flow = TimeOf(step.text, population, Fidelity::Flow, catalog, nullptr);
        return step;
    });
}

} // namespace weir
