// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/fidelity.h"
#include "scenarios/readers/read-scenario.h"
#include "scenarios/simulation/run-scenario.h"
#include "scenarios/validation/agreement.h"

#include <string>

namespace weir
{

namespace
{

struct ComparedMachine
{
    const char* name;
    const char* system;
};

/** Machines with 64 GPUs each. */
constexpr ComparedMachine MACHINES[] = {
    {"hgx-h100", "{base: hgx-h100, nodes: 8}"},
    {"dgx-a100, 4 ports", "{base: dgx-a100, nodes: 8, node: {nic: {count: 4}}}"},
    {"hgx-h100, 2:1",
     "{base: hgx-h100, nodes: 8, fabric: {kind: leaf-spine, leafRadix: 16, oversubscription: 2}}"}};

struct ComparedPlan
{
    const char* name;
    const char* model;
    const char* parallel;
    int steps{1}; //!< several where steps overlap
};

constexpr const char* DENSE =
    "{base: llama-2-13b, name: dense, source: an example, layers: 8, heads: 64, kvHeads: 64, "
    "hidden: 8192, ffn: 22016}";
constexpr const char* MIXTURE =
    "{base: mixtral-8x7b, name: mixture, source: an example, layers: 8}";
constexpr const char* FINE =
    "{base: deepseek-moe-16b, name: fine mixture, source: an example, layers: 8}";

constexpr ComparedPlan PLANS[] = {
    {"tensor 8, data 8", DENSE, "{tensor: 8, data: 8, sequenceParallel: true, globalBatch: 32}"},
    {"tensor 16 over nodes, data 4",
     DENSE,
     "{tensor: 16, data: 4, sequenceParallel: true, globalBatch: 16, bucket: 80MiB}"},
    {"tensor 32 over nodes, data 2, ZeRO-1",
     DENSE,
     "{tensor: 32, data: 2, globalBatch: 4, distributedOptimizer: true}"},
    {"tensor [4, 4, 4]",
     DENSE,
     "{tensor: 64, tensorShape: [4, 4, 4], microBatch: 16, globalBatch: 16}"},
    {"tensor 4, pipeline 4, data 4, interleaved, ZeRO-1",
     DENSE,
     "{tensor: 4, pipeline: 4, data: 4, sequenceParallel: true, schedule: interleaved, "
     "virtualStages: 2, globalBatch: 64, distributedOptimizer: true}"},
    {"tensor 2, pipeline 4, data 8, zero bubble",
     DENSE,
     "{tensor: 2, pipeline: 4, data: 8, schedule: zb-1p, globalBatch: 64, recomputation: full}"},
    {"pipeline 8, data 8, zero bubble, post-validated",
     DENSE,
     "{pipeline: 8, data: 8, schedule: zb-2p, postValidation: true, globalBatch: 128, "
     "recomputation: full}",
     4},
    {"full sharding, 64",
     DENSE,
     "{data: 64, globalBatch: 64, recomputation: full, dataSharding: {state: full, prefetch: 2}}"},
    {"full sharding, 8 x 8",
     DENSE,
     "{data: 64, globalBatch: 64, recomputation: full, dataSharding: {state: full, ranks: 8}}"},
    {"full sharding, tensor 16 over nodes",
     DENSE,
     "{tensor: 16, data: 4, sequenceParallel: true, globalBatch: 8, dataSharding: full}"},
    {"ZeRO-2, pipeline 2",
     DENSE,
     "{tensor: 4, pipeline: 2, data: 8, globalBatch: 64, dataSharding: gradients}"},
    {"context 16 over nodes, tensor 2, data 2",
     DENSE,
     "{tensor: 2, context: 16, data: 2, sequenceParallel: true, globalBatch: 4}"},
    {"context 16, all-gather, full sharding",
     DENSE,
     "{tensor: 2, context: 16, contextExchange: all-gather, data: 2, sequenceParallel: true, "
     "globalBatch: 4, dataSharding: full}"},
    {"experts 8, tensor 2, pipeline 2",
     MIXTURE,
     "{tensor: 2, pipeline: 2, data: 16, sequenceParallel: true, expert: 8, expertTensor: 1, "
     "globalBatch: 128, distributedOptimizer: true}"},
    {"experts 8 over nodes, tensor 4",
     MIXTURE,
     "{tensor: 4, data: 16, sequenceParallel: true, expert: 8, globalBatch: 32}"},
    {"experts 32 over nodes, full sharding",
     FINE,
     "{data: 64, expert: 32, globalBatch: 128, dataSharding: full}"},
    {"experts 8, full sharding, 16 x 4",
     FINE,
     "{data: 64, expert: 8, globalBatch: 128, dataSharding: {state: full, ranks: 16}}"},
    {"experts 16 over nodes, pipeline 2, zero bubble",
     FINE,
     "{pipeline: 2, data: 32, expert: 16, schedule: zb-h1, globalBatch: 256, "
     "distributedOptimizer: true}"}};

Time
StepOf(const ComparedMachine& machine,
       const ComparedPlan& plan,
       Fidelity fidelity,
       const Catalog& catalog)
{
    const std::string text = std::string("{title: agreement, system: ") + machine.system +
                             ", jobs: [{name: job, model: " + plan.model +
                             ", parallel: " + plan.parallel +
                             ", steps: " + std::to_string(plan.steps) +
                             "}], network: {fidelity: " + ToString(fidelity) + "}}";
    return RunScenario(ReadScenario(YamlNode::Parse(text, "agreement"), catalog)).StepTime();
}

} // namespace

std::vector<CaseOutcome>
ComparePlans(const Catalog& catalog, const ShowSuite& progress)
{
    std::vector<CaseOutcome> cases;
    for (const ComparedMachine& machine : MACHINES)
    {
        for (const ComparedPlan& plan : PLANS)
        {
            const Time analytical = StepOf(machine, plan, Fidelity::Analytical, catalog);
            cases.push_back(CaseOf(plan.name + (" on " + std::string(machine.name)),
                                   {machine.name},
                                   StepOf(machine, plan, Fidelity::Stream, catalog),
                                   analytical));
            progress({cases.size(), std::size(MACHINES) * std::size(PLANS)});
        }
    }
    return cases;
}

} // namespace weir
