// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/sampled-jobs.h"

#include "scenarios/bound/concurrent-position.h"
#include "scenarios/bound/random-draws.h"
#include "scenarios/bound/sampled-calls.h"
#include "scenarios/bound/sampled-fabric.h"
#include "scenarios/readers/read-scenario.h"
#include "scenarios/simulation/run-result.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace weir
{

namespace
{

constexpr uint64_t MAX_WORK_OF_JOBS = 2000000; //!< as RunWithin counts: tenths of a second

/** GPUs of the first job and of the other; the latter empty: there is none. */
struct JobGpus
{
    std::vector<uint32_t> first;
    std::vector<uint32_t> second;
};

/** Halves of the nodes, every other node, every other GPU, or one job of them all. */
JobGpus
DrawGpus(RandomDraws& draws, const CollectiveSweepSpec& machine)
{
    const uint32_t nodes = machine.cluster.nodes;
    const int kind = draws.OneOf(std::vector<int>{0, 1, 1, 1, 2, 2, 2, 3});
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

/** The job of @p call, for so long as @p extent says. */
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

/** The scenario, but for its fidelity. */
std::string
DrawScenario(RandomDraws& draws, Fidelity reference, const Catalog& catalog)
{
    SampledCall first;
    DrawMachine(draws, Population::Calibrated, catalog, first);
    const JobGpus gpus = DrawGpus(draws, first.spec);
    DrawOperation(draws, reference, first);
    SampledCall second;
    second.spec.cluster = first.spec.cluster;
    second.spec.gpusPerNode = first.spec.gpusPerNode;
    DrawOperation(draws, reference, second);
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

/** What a fidelity makes of the scenario of @p text. */
SampledEstimate
Estimate(const std::string& text, Fidelity fidelity, Fidelity reference, const Catalog& catalog)
{
    YamlNode node = YamlNode::Parse(text, "sample");
    node.Set("network.fidelity", ToString(fidelity));
    const Scenario scenario = ReadScenario(node, catalog);
    const auto simulation = RunWithin(MAX_WORK_OF_JOBS, scenario);
    return {PositionOfCalls(scenario, *simulation, reference),
            CollectResult(*simulation).collectives.front().MeanTime()};
}

} // namespace

SampledRun
SampleJobs(uint64_t seed, uint64_t index, Fidelity reference, const Catalog& catalog)
{
    RandomDraws draws(seed, index);
    return DrawnUntilPossible([&] {
        SampledRun run;
        run.text = DrawScenario(draws, reference, catalog);
        for (const Fidelity fidelity : EstimatesOf(reference))
        {
            run.estimates.push_back(Estimate(run.text, fidelity, reference, catalog));
        }
        run.reference = Estimate(run.text, reference, reference, catalog).time;
        return run;
    });
}

} // namespace weir
