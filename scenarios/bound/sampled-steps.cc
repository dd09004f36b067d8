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

constexpr uint32_t MAX_GPUS = 32; //!< of a calibrated scenario

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

/** The plan's keys, for a job of @p gpus ranks. */
std::string
DrawPlan(RandomDraws& draws, uint32_t gpus, bool isMixture)
{
    const uint32_t tensor = draws.OneOf(std::vector<uint32_t>{1, 2, 4, 8});
    const uint32_t pipeline = draws.OneOf(std::vector<uint32_t>{1, 1, 2, 4});
    const uint32_t context = draws.With(0.1) ? 2 : 1;
    const uint32_t data = gpus / (tensor * pipeline * context);
    if (data * tensor * pipeline * context != gpus)
    {
        throw std::invalid_argument("a plan of other ranks");
    }
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
DrawJob(RandomDraws& draws, const std::string& name, uint32_t gpus)
{
    const bool isMixture = draws.With(0.2);
    return "{name: " + name + ", model: {base: " + draws.OneOf(isMixture ? MIXTURES : DENSE) +
           ", name: " + name + ", source: a sample, layers: 8}, parallel: {" +
           DrawPlan(draws, gpus, isMixture) + "}, steps: 1}";
}

/** The scenario's text, but for its fidelity. */
std::string
DrawScenario(RandomDraws& draws, Population population)
{
    const uint32_t scale = population == Population::LargerGroups ? LARGER_GROUPS : 1;
    const Machine& machine = draws.OneOf(MACHINES);
    const uint32_t nodes = draws.OneOf(std::vector<uint32_t>{1, 2, 2, 4, 4, 8}) * scale;
    const uint32_t gpus = nodes * machine.gpus;
    if (gpus > MAX_GPUS * scale || (population == Population::LargerGroups && gpus <= MAX_GPUS) ||
        (population == Population::OtherFabrics && nodes < 4))
    {
        throw std::invalid_argument("a cluster outside the population");
    }
    const bool isNetworked = nodes > 1;
    std::string text = std::string("title: sample\nsystem: {base: ") + machine.system +
                       ", nodes: " + std::to_string(nodes) +
                       (isNetworked ? DrawFabric(draws, population) : "") + "}\njobs: [";
    const bool hasNeighbour = isNetworked && draws.With(0.15);
    text += DrawJob(draws, "first", hasNeighbour ? gpus / 2 : gpus);
    if (hasNeighbour)
    {
        text += ", " + DrawJob(draws, "second", gpus / 2);
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
